"""A reading as chips: what the agent understood, piece by piece, each of which the user can take away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from app.agent.language.notation import PREFIX, written
from app.agent.language.readings import NoteSet, Reading, Step
from app.errors import QueryError
from app.index.query import parse
from app.index.query_text import written as query_text
from app.index.query_tree import And
from app.vault.path import NotePath

_NAMES = {
    "find": "notes",
    "count": "count",
    "list_tasks": "tasks",
    "open": "open",
    "read": "read",
    "tags_of": "tags",
    "properties_of": "properties",
    "meaning": "search by meaning",
    "what_supports": "evidence",
    "vault_info": "this vault",
}


@dataclass(frozen=True, slots=True)
class Chip:
    """One piece of a reading; `without` is the request that asks for the same without it, if there is one."""

    label: str
    without: str = ""


def chips(reading: Reading) -> tuple[Chip, ...]:
    """The chips of a reading, in order."""
    return tuple(chip for at, step in enumerate(reading.steps) for chip in _of_step(reading, at, step))


def _of_step(reading: Reading, at: int, step: Step) -> Iterator[Chip]:
    yield Chip(_NAMES.get(step.action, step.action.replace("_", " ")))

    def changed(target: NoteSet | None) -> str:
        steps = (*reading.steps[:at], replace(step, target=target), *reading.steps[at + 1 :])
        return f"{PREFIX} {written(replace(reading, steps=steps))}"

    if (target := step.target) is not None:
        for path in target.notes if len(target.notes) <= 8 else ():
            rest = tuple(one for one in target.notes if one != path)
            yield Chip(NotePath.on_disk(path).name, changed(replace(target, notes=rest)) if rest else "")
        if len(target.notes) > 8:
            yield Chip(f"{len(target.notes)} notes")
        parts = conditions(target.query)
        for part in parts:
            others = " ".join(one for one in parts if one is not part)
            removable = len(parts) > 1 or bool(target.notes or target.source)
            label = f"−{part[1:]}" if part.startswith("-") else part
            yield Chip(label, changed(replace(target, query=others)) if removable else "")
        if target.is_everything:
            yield Chip("all")
        if target.source:
            yield Chip(
                "these" if target.pick is None else f"number {target.pick}" if target.pick > 0 else "the last"
            )
        if target.order:
            yield Chip(f"order: {target.order}", changed(replace(target, order="")))
        if target.limit:
            yield Chip(f"at most {target.limit}", changed(replace(target, limit=None)))
    for name, value in step.arguments.items():
        if isinstance(value, NoteSet):
            yield Chip(f"{name}: {', '.join(NotePath.on_disk(path).name for path in value.notes)}")
        elif isinstance(value, tuple):
            yield from (Chip(f"{name}: {one}") for one in value)
        else:
            text = " ".join(str(value).split())
            yield Chip(f"{name}: {text if len(text) <= 40 else f'{text[:39]}…'}")


def conditions(query: str) -> tuple[str, ...]:
    """The parts of a search that must all hold, each as the search language writes it."""
    if not query:
        return ()
    try:
        node = parse(f"{query} ")
    except QueryError:
        return (query,)
    if node is None:
        return ()
    items = node.items if isinstance(node, And) else (node,)
    return tuple(query_text(item).strip() for item in items)

"""For random vaults and queries, a search finds what a naive scan of all notes finds."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest

from app.index.query_ast import (
    And,
    FieldFilter,
    Node,
    Not,
    Or,
    PhraseTerm,
    PropertyFilter,
    RegexTerm,
    WordTerm,
)
from app.index.query_serializer import serialize_query
from tests.index.conftest import MakeVault

WORDS = ("tea", "teapot", "cup", "rain", "garden", "old", "知识", "笔记")
TAGS = ("kitchen", "kitchen/pots", "weather")
STATES = ("done", "open")


def note(dice: random.Random) -> str:
    """A strategy for notes: paragraphs of lines, a property, a tag, tasks."""
    lines = ["---", f"state: {dice.choice(STATES)}", "---"] if dice.random() < 0.5 else []
    for _ in range(dice.randint(1, 4)):
        lines += [" ".join(dice.choices(WORDS, k=dice.randint(1, 4))) for _ in range(dice.randint(1, 3))]
        lines.append("")
    if dice.random() < 0.5:
        lines.append(f"#{dice.choice(TAGS)}")
    if dice.random() < 0.4:
        lines.append(f"- [{dice.choice(' x')}] {dice.choice(WORDS)}")
    return "\n".join(lines) + "\n"


def query(dice: random.Random, depth: int = 0, *, inside: bool = False) -> Node:
    """A strategy for queries: a random tree; within a line or paragraph only words."""
    kind = dice.randrange(4 if depth > 2 else 7)
    if kind < 2:
        return WordTerm(dice.choice(WORDS), prefix=dice.random() < 0.2)
    if kind == 2:
        return PhraseTerm(" ".join(dice.choices(WORDS, k=2)))
    if kind == 3:
        if inside:
            return RegexTerm(dice.choice(("te.", "^old", "[cr]up", "知.")))
        return dice.choice(
            [
                FieldFilter("tag", WordTerm(dice.choice(TAGS))),
                FieldFilter("file", WordTerm(dice.choice(("1", "note")))),
                PropertyFilter("state", WordTerm(dice.choice(STATES))),
                FieldFilter("task-todo", PhraseTerm("")),
                FieldFilter("line", query(dice, 3, inside=True)),
                FieldFilter("block", And((query(dice, 3, inside=True), query(dice, 3, inside=True)))),
            ]
        )
    items = (query(dice, depth + 1, inside=inside), query(dice, depth + 1, inside=inside))
    return Not(items[0]) if kind == 6 else And(items) if kind == 4 else Or(items)


def says(node: Node, text: str) -> bool:
    """Return whether a part of a text contains the words of a node."""
    match node:
        case WordTerm() | PhraseTerm():
            return pattern(node).search(text.lower()) is not None
        case RegexTerm(regex):
            return re.search(regex, text, re.MULTILINE | re.IGNORECASE) is not None
        case And(items):
            return all(says(item, text) for item in items)
        case Or(items):
            return any(says(item, text) for item in items)
        case Not(item):
            return not says(item, text)
        case _:
            raise AssertionError(node)


def pattern(leaf: WordTerm | PhraseTerm) -> re.Pattern[str]:
    """Return a pattern: Latin words match whole words, letters of a script without spaces match anywhere."""
    tokens = re.findall(r"[a-z]+|[\u4e00-\u9fff]", leaf.text)
    body = tokens[0]
    for left, right in pairwise(tokens):
        wide = not (left.isascii() and right.isascii())
        body += (r"[\W_]*" if wide else r"[\W_]+") + right
    before = r"(?<![a-z0-9])" if tokens[0].isascii() else ""
    longer = isinstance(leaf, WordTerm) and leaf.prefix
    after = r"(?![a-z0-9])" if tokens[-1].isascii() and not longer else ""
    return re.compile(before + body + after)


def matches(node: Node, name: str, text: str) -> bool:
    """Return whether a note matches the query, by reading it."""

    def inner(item: Node) -> bool:
        return matches(item, name, text)

    match node:
        case And(items):
            return all(map(inner, items))
        case Or(items):
            return any(map(inner, items))
        case Not(item):
            return not inner(item)
        case FieldFilter("tag", WordTerm(tag)):
            return re.search(rf"#{tag}(/|\s|$)", text) is not None
        case FieldFilter("file", WordTerm(part)):
            return part in f"{name}.md"
        case FieldFilter("task-todo", _):
            return "- [ ]" in text
        case FieldFilter("line", item):
            return any(says(item, line) for line in text.split("\n"))
        case FieldFilter("block", item):
            return any(says(item, block) for block in re.split(r"\n\s*\n", text) if block.strip())
        case PropertyFilter(_, WordTerm(state)):
            return f"state: {state}" in text
        case _:
            return says(node, f"{name}\n{text}")


@pytest.mark.parametrize("seed", range(3))
async def test_a_search_finds_what_reading_every_note_finds(make_vault: MakeVault, seed: int) -> None:
    dice = random.Random(seed)
    texts = {f"note {number}": note(dice) for number in range(40)}
    vault = await make_vault({f"{name}.md": text for name, text in texts.items()})
    some = 0
    for _ in range(150):
        node = query(dice)
        said = serialize_query(node)
        wanted = sorted(name for name, text in texts.items() if matches(node, name, text))
        found = {path.stem_path for path in await vault.index.matching(said)}
        assert sorted(found) == wanted, said
        some += 0 < len(wanted) < len(texts)
    assert some > 100  # Most queries distinguish between notes.

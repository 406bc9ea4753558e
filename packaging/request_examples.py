"""Examples for the request model: requests with programs that copy their values from the request.

    python packaging/request_examples.py --output examples.json [--verbose]

There are two sources. Conversations with their readings (the seen half of the evaluation set, and
`packaging/requests/conversations_*.txt`) run against the agent on the sample vault, with the right reading of
each request, so that "it" and "these" have the referents that they had for the writer. Templates
(`packaging/requests/en*.txt` and `de*.txt`) are filled with names of the sample vault.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.agent.language import program as P
from app.agent.language.actions import ACTIONS
from app.agent.language.choices import is_clear
from app.agent.language.dates import DateParser
from app.agent.language.dialog import DialogState
from app.agent.language.notation import PREFIX, parse, serialize
from app.agent.language.program import RequestItem, Span, Symbol, item_text, plain_number
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.request_model import item_inputs, state_symbols
from app.settings import Settings
from app.vault.path import NotePath, name_key
from app.workspace.opening import open_workspace
from tests.evaluation import requests as evaluation

_ATOM = re.compile(
    r"\s*(?P<neg>-)?(?P<body>\((?:[^()\"]|\"[^\"]*\")*\)|\[[^\]]*\]|[\w-]+:(?:\"[^\"]*\"|\([^)]*\)|[^\s()]+)|"
    r"[\w-]+:(?=\s|$)|\"[^\"]*\"|[^\s()]+)"
)
_PROPERTY = re.compile(r"\[(?P<name>[^:\]]+)(?::(?P<op><=|>=|<|>)?(?P<value>.*))?\]")
_MAX_SPAN = 30


class Unaligned(Exception):
    """A value that does not stand in the request."""


@dataclass
class Example:
    """A request as the model sees it, with its program."""

    text: str
    state: list[str]
    items: list[object]
    program: list[object]
    outcome: str


class Aligner:
    """Align the readings of one request."""

    def __init__(self, request: Request, items: Sequence[RequestItem], state: DialogState) -> None:
        self._request = request
        self._items = items
        self._state = state
        self._reader = P.ProgramReader(request, items)

    def program(self, reading: Reading, parts: dict[str, list[str]]) -> list[Symbol]:
        """Return the program of a reading; raise `Unaligned` if a value can't be copied."""
        found: list[Symbol] = []
        for index, step in enumerate(reading.steps):
            if found:
                found.append(P.NEXT)
            found += self._step(step, parts if step is reading.last else {}, follows=index > 0)
        return found

    def _step(self, step: PipelineStep, parts: dict[str, list[str]], *, follows: bool) -> Iterator[Symbol]:
        yield step.action
        if step.target is not None:
            yield from self._set(step.target, follows=follows)
        for role, value in step.arguments.items():
            role = evaluation._bare(role)
            yield f"{role}="
            yield from self._value(step.action, role, value, follows=follows)
        for role, pieces in parts.items():
            yield f"{role}="
            yield from self._parts(pieces)

    # Sets

    def _set(self, notes: NoteSet, *, follows: bool) -> Iterator[Symbol]:
        if notes.unknown:
            raise Unaligned(f"note {notes.unknown}")
        if notes.source:
            yield f"n{notes.pick}" if notes.pick else "these"
        elif notes.notes:
            yield from self._notes(notes.notes)
        if notes.query:
            yield from self._query(notes.query)
        if not (notes.source or notes.notes or notes.query):
            yield "all"
        if notes.order:
            if notes.order.lstrip("-") in P.ORDERS:
                yield f"order:{notes.order}"
            else:
                yield "order:-prop" if notes.order.startswith("-") else "order:prop"
                yield self._property(notes.order.lstrip("-"))
        if notes.limit:
            if f"l{notes.limit}" not in P.LIMITS:
                raise Unaligned(f"limit {notes.limit}")
            yield f"l{notes.limit}"

    def _notes(self, paths: tuple[str, ...]) -> Iterator[Symbol]:
        state = self._state
        if len(paths) > 1 and set(paths) == set(state.them):
            yield "these"
            return
        last = state.last.last.target if state.last else None
        if len(paths) > 1 and last is not None and set(paths) == set(last.notes):
            yield "target"
            return
        for path in paths:
            if span := self._mention(path):
                yield "@"
                yield span
                continue
            this, it = state.this[:1], state.it[:1]
            says_this = any(item.tokens[0].key in _THIS for item in self._items)
            if path in this and (says_this or path not in it):
                yield "this"
            elif path in it:
                yield "it"
            elif last is not None and last.notes == (path,):
                yield "target"
            elif path in state.them[:9]:
                place = state.them.index(path) + 1
                ends = {t.tokens[0].key for t in self._items} & _LAST
                yield "n-1" if ends and place == len(state.them) else f"n{place}"
            elif state.them and path == state.them[-1]:
                yield "n-1"
            elif span := self._similar(path):
                yield "@"
                yield span
            else:
                raise Unaligned(f"note {path}")

    def _mention(self, path: str) -> Span | None:
        for index, item in enumerate(self._items):
            notes = item.mention.notes
            if notes is not None and notes.notes == (path,):
                return index, index
        name = name_key(NotePath.on_disk(path).name)
        return self._find(lambda text: name_key(text) == name)

    def _similar(self, path: str) -> Span | None:
        best = None
        for span in self._spans(6):
            if any(item.tokens[0].kind == "mark" for item in self._items[span[0] : span[1] + 1]):
                continue
            found = self._reader._named(span)
            if found is not None and path in (*found.notes, *found.candidates[:1]):
                score = (bool(found.notes), span[1] - span[0])
                if best is None or score > best[0]:
                    best = (score, span)
        return best[1] if best else None

    def _query(self, query: str) -> Iterator[Symbol]:
        atoms = list(_atoms(query))
        groups: list[Symbol] = []
        for field in ("modified", "created"):
            own = [atom for atom in atoms if atom.startswith(f"{field}:")]
            if own and (span := self.dates(" ".join(own), field)):
                groups += [f"{field}:", span]
                atoms = [atom for atom in atoms if atom not in own]
        for atom in list(atoms):
            first = re.fullmatch(r"\[(\w+):>=(.*)\]", atom)
            last = first and next((a for a in atoms if a.startswith(f"[{first[1]}:<=")), None)
            if not first or not last:
                continue
            wanted = (first[2], last[len(first[1]) + 4 : -1])
            for span in self._spans(3):
                if self._reader._property_value(span, during=True) == wanted:
                    groups += ["prop", self._property(first[1]), "during", span]
                    atoms = [one for one in atoms if one not in (atom, last)]
                    break
        yield from self._conditions(atoms)
        yield from groups

    def _conditions(self, atoms: list[str]) -> Iterator[Symbol]:
        known: list[str] = []
        last = self._state.last.last.target if self._state.last else None
        if last is not None and last.query:
            known = [atom for atom in _atoms(last.query) if atom != "OR"]
        symbols: list[list[Symbol]] = []
        from_last: list[str] = []
        for atom in atoms:
            try:
                symbols.append(list(self._atom(atom)))
            except Unaligned:
                key = atom.casefold().rstrip("/")
                if key in [one.casefold().rstrip("/") for one in known] and "OR" not in atoms:
                    from_last.append(atom)
                else:
                    raise
        if from_last:
            if len(from_last) != len(known):
                kept = {one.casefold().rstrip("/") for one in from_last}
                rest = [a for a in known if a.casefold().rstrip("/") not in kept]
                if any(one.casefold().rstrip("/") not in [a.casefold().rstrip("/") for a in atoms] for one in rest):
                    raise Unaligned(f"part of the last search {from_last}")
            yield "prev"
            inside = {one.casefold().rstrip("/") for one in known}
            symbols = [list(self._atom(a)) for a in atoms if a.casefold().rstrip("/") not in inside]
        merged = _merged(symbols)
        for part in merged:
            yield from part

    def _atom(self, atom: str) -> Iterator[Symbol]:
        if atom == "OR":
            yield "OR"
            return
        if atom.startswith("-"):
            yield "-"
            atom = atom[1:]
        if atom.startswith("("):
            inner = list(_atoms(atom[1:-1]))
            if inner[1::2] != ["OR"] * (len(inner) // 2):
                raise Unaligned(f"group {atom}")
            for one in inner:
                yield from self._atom(one)
            return
        if match := _PROPERTY.fullmatch(atom):
            yield from self._comparison(match)
            return
        if atom in P.FLAGS:
            yield atom
            return
        field, colon, value = atom.partition(":")
        if not colon or field not in {name.rstrip(":") for name in (*P.FIELDS, *P.LINK_FIELDS)}:
            yield "word"
            text = atom.strip('"')
            yield self._need(lambda t: name_key(t) == name_key(text), f"word {text}")
            return
        value = value.strip('"').strip()
        yield f"{field}:"
        match field:
            case "links-to" | "linked-from":
                paths = [str(p) for p in self._request.vocabulary.notes(value)]
                if not paths:
                    yield self._need(lambda t: name_key(t) == name_key(value), f"link {value}")
                else:
                    found = list(self._notes((paths[0],)))
                    yield found[-1]
            case "tag":
                yield self._need(
                    lambda t: value in (self._request.vocabulary.find_similar_tag(t) or t, t.lstrip("#"))
                    or name_key(t) == name_key(value),
                    f"tag {value}",
                    value,
                )
            case "path":
                folder = value.rstrip("/")
                yield self._need(
                    lambda t: folder.casefold() == (self._request.vocabulary.find_similar_folder(t) or t).casefold(),
                    f"folder {value}",
                    folder,
                )
            case "type":
                yield self._need(
                    lambda t: self._reader._sets.type_of(t) == value or name_key(t) == value, f"type {value}", value
                )
            case "rel":
                yield next(
                    (
                        (at, at)
                        for at, item in enumerate(self._items)
                        if item.mention.kind == "rel" and item.mention.value == value
                    ),
                    None,
                ) or _fail(f"relation {value}")
            case "modified" | "created":
                yield self._date(field, value)
            case _:
                yield self._need(lambda t: name_key(t) == name_key(value), f"{field} {value}")

    def _date(self, field: str, value: str) -> Span:
        raise Unaligned(f"date {field}:{value}")

    def dates(self, atoms: str, field: str) -> Span | None:
        """Return the span of the words that mean a period."""
        dates: DateParser = self._request.dates
        tokens = [token for item in self._items for token in item.tokens]
        best = None
        for span in self._spans(6):
            part = self._reader._tokens(span)
            found = dates.parse_span(part, 0)
            if found is not None and found.end == len(part) and _same_period(found.query(field), atoms, field):
                if best is None or span[1] - span[0] < best[1] - best[0]:
                    best = span
        del tokens
        return best

    def _comparison(self, match: re.Match[str]) -> Iterator[Symbol]:
        name, comparison, value = match["name"], match["op"] or "=", match["value"]
        yield "prop"
        yield self._property(name)
        if value is None:
            yield "exists"
            return
        yield comparison
        yield self._property_value(value)

    def _property(self, name: str) -> Symbol:
        if name in P.NAMED_PROPERTIES:
            return f"p:{name}"
        return self._need(
            lambda t: (self._request.vocabulary.find_property(t) or t).casefold() == name.casefold(),
            f"property {name}",
            name,
        )

    def _property_value(self, value: str) -> Symbol:
        value = value.strip('"')
        if value in ("true", "false"):
            return value
        for span in self._spans(4):
            got = self._reader._property_value(span, during=False)
            texts = {str(part) for part in (got if isinstance(got, tuple) else (got,))}
            if value in texts or value.casefold() == self._text(span).casefold():
                return span
        raise Unaligned(f"value {value}")

    # Arguments

    def _value(self, action: str, role: str, value: object, *, follows: bool) -> Iterator[Symbol]:
        last = self._state.last.last.arguments if self._state.last else {}
        try:
            yield from list(self._own_value(action, role, value, follows=follows))
        except Unaligned:
            if role in last and evaluation._plain(last[role]) == evaluation._plain(value):
                yield "same"
                return
            raise

    def _own_value(self, action: str, role: str, value: object, *, follows: bool) -> Iterator[Symbol]:
        if isinstance(value, NoteSet):
            yield from self._set(value, follows=follows)
            return
        if role in ("tag", "new_tag"):
            for tag in value if isinstance(value, tuple) else (value,):
                yield self._need(
                    lambda t, tag=tag: tag in (t.lstrip("#"), self._request.vocabulary.find_tag(t.lstrip("#")))
                    or name_key(t.lstrip("#")) == name_key(str(tag)),
                    f"tag {tag}",
                    str(tag),
                )
            return
        text = str(value)
        if role in ("state", "scope"):
            yield text
            return
        if text == "":
            yield "empty"
            return
        if role == "key":
            yield self._property(text)
            return
        if role in ("value", "confidence"):
            if text in ("true", "false"):
                span = self._find(lambda t: t.casefold() == text)
                yield span or text
                return
            span = self._value_span(text)
            if span is None and text == self._request.dates.today.isoformat():
                yield "now"
                return
            yield span or _fail(f"value {text}")
            return
        if text.startswith("- [ ] "):
            yield "task"
            text = text[6:]
        if role == "type":
            for at, item in enumerate(self._items):
                if item.mention.kind == "rel" and item.mention.value == text:
                    yield at, at
                    return
            yield self._need(
                lambda t: name_key(t) == name_key(text) or self._reader._sets.type_of(t) == text, f"type {text}", text
            )
            return
        if role == "folder":
            folder = text.rstrip("/")
            yield self._need(
                lambda t: folder.casefold()
                == (self._request.vocabulary.find_similar_folder(t) or t).strip("/").casefold(),
                f"folder {text}",
                folder,
            )
            return
        yield self._exactly(text) or _fail(f"{role} {text}")

    def _value_span(self, text: str) -> Span | None:
        number = plain_number(text)
        for span in self._spans(_MAX_SPAN):
            own = self._text(span)
            if own.casefold() == text.casefold():
                return span
            if number is not None and (mine := plain_number(own)) is not None and float(mine) == float(number):
                return span
        for span in self._spans(5):
            part = self._reader._tokens(span)
            date = self._request.dates.parse_span(part, 0)
            if date is not None and date.end == len(part) and date.first and date.first.isoformat() == text:
                return span
        return None

    def _parts(self, pieces: list[str]) -> Iterator[Symbol]:
        spans = []
        for piece in pieces:
            span = self._exactly(piece)
            if span is None:
                span = self._find(lambda t, piece=piece: _squeezed(piece) in _squeezed(t))
            if span is None:
                raise Unaligned(f"part {piece}")
            spans.append(span)
        yield min(span[0] for span in spans), max(span[1] for span in spans)

    # Words

    def _exactly(self, text: str) -> Span | None:
        """Return the span with a text, including its last mark; else the span without the marks around it."""
        return self._find(lambda own: own == text) or self._find(lambda own: _squeezed(own) == _squeezed(text))

    def _need(self, fits, what: str, value: str = "") -> Span:
        span = self._find(fits)
        if span is None and value:
            span = next(
                (
                    (at, at)
                    for at, item in enumerate(self._items)
                    if item.mention.kind in ("kind", "tag", "prop") and name_key(item.mention.value) == name_key(value)
                ),
                None,
            )
        return span or _fail(what)

    def _find(self, fits) -> Span | None:
        return next((span for span in self._spans(_MAX_SPAN) if fits(self._text(span))), None)

    def _spans(self, longest: int) -> Iterator[Span]:
        count = len(self._items)
        for length in range(1, min(longest, count) + 1):
            for start in range(count - length + 1):
                yield start, start + length - 1

    def _text(self, span: Span) -> str:
        return item_text(self._request, self._items, span)


_THIS = frozenset(("this", "here", "current", "open", "dieser", "diese", "dieses", "diesem", "hier"))
_LAST = frozenset(("last", "bottom", "final", "letzte", "letzten", "letztes"))


def _fail(what: str) -> Span:
    raise Unaligned(what)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip().strip("\"'“”.!?,;:")).casefold()


def _atoms(query: str) -> Iterator[str]:
    position = 0
    while position < len(query.rstrip()):
        match = _ATOM.match(query, position)
        if match is None:
            raise Unaligned(f"query {query}")
        yield (match["neg"] or "") + match["body"]
        position = match.end()


def _merged(symbols: list[list[Symbol]]) -> list[list[Symbol]]:
    """Join words that stand next to each other in the request."""
    merged: list[list[Symbol]] = []
    for part in symbols:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last[0] == part[0] == "word"
            and len(last) == len(part) == 2
            and last[1][1] + 1 == part[1][0]
        ):
            merged[-1] = ["word", (last[1][0], part[1][1])]
        else:
            merged.append(part)
    return merged


def _same_period(found: str, wanted: str, field: str) -> bool:
    def plain(text: str) -> frozenset[str]:
        text = text.replace("created:", "modified:")
        if match := re.fullmatch(r"modified:(\d{4})-(\d\d)", text):
            import calendar

            last = calendar.monthrange(int(match[1]), int(match[2]))[1]
            return frozenset((f"modified:>={match[1]}-{match[2]}-01", f"modified:<={match[1]}-{match[2]}-{last}"))
        if match := re.fullmatch(r"modified:(\d{4})", text):
            return frozenset((f"modified:>={match[1]}-01-01", f"modified:<={match[1]}-12-31"))
        if match := re.fullmatch(r"modified:(\d{4})-W(\d\d)", text):
            from datetime import date, timedelta

            first = date.fromisocalendar(int(match[1]), int(match[2]), 1)
            return frozenset((f"modified:>={first}", f"modified:<={first + timedelta(days=6)}"))
        if match := re.fullmatch(r"modified:<(\d{4})", text):
            return frozenset((f"modified:<={int(match[1]) - 1}-12-31",))
        return frozenset(text.split())

    return plain(found) == plain(wanted)


def examples_of(file: Path, failures: Counter[str], verbose: bool) -> list[Example]:
    """Return the aligned examples of a file."""
    return asyncio.run(_examples(file, failures, verbose))


async def _examples(file: Path, failures: Counter[str], verbose: bool) -> list[Example]:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATA", "CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder, name))
        root = Path(folder, "vault")
        evaluation.fill(root)
        settings = Settings()
        settings.embeddings.enabled = False
        approver = evaluation._Approver()
        workspace = await open_workspace(root, settings, approver, ask_pending=False, brief=True)
        found: list[Example] = []
        try:
            await workspace.index.scan()
            evaluation.set_times(root, workspace)
            run = evaluation.Evaluation(root, workspace, approver)
            agent = run._agent
            for talk in evaluation.conversations(file):
                conversation = workspace.agent.create().id
                written_before = workspace.journal.commits(1)
                for request in talk:
                    approver.yes = request is not talk[-1]
                    state = agent._states.get((conversation, ""), DialogState()).on_screen(evaluation.OPEN_NOTE)
                    run._state = state
                    best = None
                    why = ""
                    forced = None
                    for gold in request.gold:
                        try:
                            example, reading, made = _example(agent, run, request.text, state, gold)
                        except (Unaligned, IndexError) as error:
                            why = why or f"{gold}: {error}"
                            continue
                        forced = forced or reading
                        if best is None:
                            best = example, made
                    if best is not None and best[1] is not None and is_clear(best[1]) and not any(
                        [await _fits(run, best[1], gold) for gold in request.gold if gold not in P.OUTCOMES]
                    ):
                        failures["differs"] += 1
                        if verbose:
                            print(f"DIFFERS {request.text}\n     {request.gold}\n     {serialize(best[1])}")
                    elif best is not None:
                        found.append(best[0])
                    else:
                        failures[why.rpartition(": ")[2].split()[0] if why else "?"] += 1
                        if verbose:
                            print(f"UNALIGNED {request.text}\n     {why}")
                    if request is not talk[-1]:
                        line = serialize(forced) if forced is not None else ""
                        if not line:
                            for gold in request.gold:
                                prepared, _ = evaluation._prepared(gold)
                                try:
                                    reading = parse(prepared, run._resolve, ACTIONS)
                                except (LookupError, ValueError, TypeError):
                                    reading = None
                                if reading is not None:
                                    line = serialize(reading)
                                    break
                        await run._turn(conversation, f"{PREFIX} {line}" if line else request.text)
                if workspace.journal.commits(1) != written_before:
                    await run._reset()
        finally:
            await workspace.close()
    return found


async def _fits(run: evaluation.Evaluation, reading: Reading, gold: str) -> bool:
    try:
        return await run._same(reading, gold)
    except IndexError:  # the notes of the answer before are others than the writer expected
        return False


def _example(agent, run, text: str, state: DialogState, gold: str) -> tuple[Example, Reading | None, Reading | None]:
    request = agent._interpreter.request_of(text, state, agent._vocabulary_of(agent._words()), agent.actions(), evaluation.NOW)
    items = P.request_items(request)
    outcome = ""
    reading = made = None
    if gold.strip() in P.OUTCOMES:
        program: list[Symbol] = [gold.strip()]
        outcome = gold.strip()
    elif gold.strip() == "help":
        program = ["help"]
    elif gold.startswith("meaning"):
        program = ["question"]
    else:
        line, parts = evaluation._prepared(gold)
        reading = parse(line, run._resolve, ACTIONS)
        if reading is None:
            raise Unaligned(f"gold {gold}")
        aligner = Aligner(request, items, state)
        program = aligner.program(_with_dates(reading), parts)
        made = P.ProgramReader(request, items).read(program)
        if made is None:
            raise Unaligned(f"reading {program}")
    return (
        Example(
            text,
            state_symbols(state),
            item_inputs(request, items),
            [list(symbol) if isinstance(symbol, tuple) else symbol for symbol in program],
            outcome,
        ),
        reading,
        made,
    )


def _with_dates(reading: Reading) -> Reading:
    return reading


def main() -> int:
    """Write the examples of the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    failures: Counter[str] = Counter()
    found: list[Example] = []
    for file in given.files:
        found += examples_of(file, failures, given.verbose)
    given.output.write_text(json.dumps([vars(example) for example in found], ensure_ascii=False))
    print(len(found), "examples", dict(failures))
    return 0


if __name__ == "__main__":
    sys.exit(main())

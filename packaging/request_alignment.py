"""Align a reading with its request: write it as a program that copies its values from the request's items."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from app.agent.language.grammar.note_facts import FACTS
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.conditions import (
    condition_slots,
    conditions_on_kind,
    last_property,
    opposite_conditions,
    top_level_parts,
)
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.model.item_spans import RequestItem, item_text
from app.agent.language.model.known_conditions import known_conditions
from app.agent.language.model.program import ProgramReader
from app.agent.language.model.symbols import (
    CONDITION,
    FIELDS,
    FLAGS,
    LAST_PROPERTY,
    LIMITS,
    LINK_FIELDS,
    NEXT,
    ORDERS,
    OVERDUE,
    SIDES,
    USES,
    Span,
    Symbol,
)
from app.agent.language.words.dates import Days
from app.agent.language.words.tokens import plain_number
from app.agent.language.words.vocabulary import NAMED_PROPERTIES
from app.vault.path import NotePath, name_key

ROLES_BY_ARGUMENT: Mapping[str, str] = {"content": "text", "tags": "tag"}
"""The roles of arguments that have another name in the evaluation sets."""
_ATOM = re.compile(
    r"\s*(?P<neg>-)?(?P<body>\((?:[^()\"]|\"[^\"]*\")*\)|\[[^\]]*\]|[\w-]+:(?:\"[^\"]*\"|\([^)]*\)|[^\s()]+)|"
    r"[\w-]+:(?=\s|$)|\"[^\"]*\"|[^\s()]+)"
)
_PROPERTY = re.compile(r"\[(?P<name>[^:\]]+)(?::(?P<op><=|>=|<|>)?(?P<value>.*))?\]")
_KIND = re.compile(r"(?:tag|path|type):")
_DAYS = re.compile(r"\(?file:\d{4}(-\d\d){0,2}(?: OR file:\d{4}(-\d\d){0,2})*\)?")
_ISO_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TASK = re.compile(r"(?:- )?\[ \] ")
_MAX_SPAN = 30


class UnalignedError(Exception):
    """The reading can't be written as a program that copies its values from the request."""


class Aligner:
    """Align the readings of one request.

    Args:
        request: The request.
        items: Its items.
        state: The state of the conversation before it.
        selects_conditions: Whether a condition without words in the request may be a known condition.
    """

    def __init__(
        self,
        request: Request,
        items: Sequence[RequestItem],
        state: DialogState,
        *,
        selects_conditions: bool = False,
    ) -> None:
        self._request = request
        self._items = items
        self._state = state
        self._reader = ProgramReader(request, items)
        self._sets = request.set_parser()
        self._key = ""
        self._positions: dict[str, Span] = {}
        if selects_conditions:
            first = len(items) + len(request.vocabulary.fields)
            for at, condition in enumerate(known_conditions(request), first):
                self._positions.setdefault(_plain_condition(condition.text), (at, at))

    def program(self, reading: Reading, parts: dict[str, list[str]]) -> list[Symbol]:
        """Return the program of a reading.

        Args:
            reading: The reading.
            parts: The texts that an argument of the last step contains, by role; the program copies all words
                from the first to the last of them.

        Raises:
            UnalignedError: A value can't be copied from the request.
        """
        symbols: list[Symbol] = []
        for step in reading.steps:
            if symbols:
                symbols.append(NEXT)
            symbols += self._step(step, parts if step is reading.last else {})
        return symbols

    def _step(self, step: PipelineStep, parts: dict[str, list[str]]) -> Iterator[Symbol]:
        if (task := self._task(step, parts)) is not None:
            yield from task
            return
        yield step.action
        if step.target is not None:
            yield from self.symbols(step.target)
        arguments = step.arguments
        folder = str(arguments.get("folder", "")).rstrip("/")
        if re.fullmatch(r"\d{4}-\d\d-\d\d", str(arguments.get("name", ""))) and (
            folder == self._request.vocabulary.daily_folder
        ):
            arguments = {role: arguments[role] for role in arguments if role != "folder"}
        if span := self._path_of(step):
            yield "name="
            yield span
            arguments = {role: arguments[role] for role in arguments if role not in ("name", "folder")}
        self._key = str(arguments.get("key", ""))
        for role, value in arguments.items():
            role = ROLES_BY_ARGUMENT.get(role, role)
            yield f"{role}="
            yield from self._value(role, value)
        for role, pieces in parts.items():
            yield f"{role}="
            yield from self._parts(pieces)

    def _task(self, step: PipelineStep, parts: dict[str, list[str]]) -> list[Symbol] | None:
        """Return the symbols of a step that checks or clears a task's box; None for another step."""
        if step.action != "replace" or step.target is None:
            return None
        old, text = (parts.get(role) or [str(step.arguments.get(role, ""))] for role in ("old", "text"))
        action = {"[x]": "complete_task", "[ ]": "reopen_task"}.get("".join(re.findall(r"\[[x ]\]", text[0])))
        days = [_ISO_DAY.findall(" ".join(part)) for part in (old, text)]
        if action != "complete_task" and days[1] and days[0] != days[1] and self._is_of_task(old, text):
            return self._rescheduled(step.target, old, days[1][-1])
        if action is None:
            return None
        words = set(re.findall(r"\w+", " ".join(old).casefold())) - {"x"}
        spans = [
            span
            for span in self._spans(8)
            if (own := set(re.findall(r"\w+", self.text(span).casefold()))) and own <= words
        ]
        if not spans:
            raise UnalignedError(f"task {old}")
        path = step.target.notes[0] if step.target.notes else ""
        mention = self._mention(path) if path else None
        target: list[Symbol] = ["@", mention] if mention and mention not in spans else []
        last = self._state.last.last if self._state.last else None
        if not target and path in self._state.it[:1] and (last is None or last.action != "list_tasks"):
            target = ["it"]
        return [action, *target, "query=", max(spans, key=self._content_length)]

    def _span_of_days(self, days: str) -> Span | None:
        """Return the first span that names a day or period ahead, or None."""
        spans = self._spans(5)
        return next((s for s in spans if self._sets.days_ahead(self._reader.spans.tokens(s)) == days), None)

    def _rescheduled(self, notes: NoteSet, old: list[str], day: str) -> list[Symbol] | None:
        """Return the symbols of a step that moves a task to another day; None if the day has no words."""
        due = self._span_of_days(day)
        if due is None:
            return None
        path = notes.notes[0] if notes.notes else ""
        mention = self._mention(path) if path else None
        words = set(re.findall(r"[^\W\d]\w*", " ".join(old).casefold()))
        spans = [
            span
            for span in self._spans(8)
            if (span[1] < due[0] or span[0] > due[1])
            and (own := set(re.findall(r"\w+", self.text(span).casefold())))
            and own <= words
        ]
        target: list[Symbol] = ["@", mention] if mention and mention not in spans else []
        if not target and path in self._state.it[:1] and not spans:
            target = ["it"]
        query: list[Symbol] = ["query=", max(spans, key=self._content_length)] if spans and not target else []
        return ["reschedule_task", *target, "due=", due, *query]

    def _content_length(self, span: Span) -> tuple[int, int]:
        """Return the number of letters in a span's words without function words, and the span's length."""
        plain = self._request.language.function_words()
        words = [token.key for token in self._reader.spans.tokens(span) if token.key not in plain]
        return sum(map(len, words)), span[1] - span[0]

    @staticmethod
    def _is_of_task(old: list[str], text: list[str]) -> bool:
        """Return whether a replaced text may be that of a task rather than of a sentence with a date."""
        joined = " ".join(old)
        is_date_only = _ISO_DAY.sub("", " ".join(text)).strip(" 📅") == ""
        return is_date_only or "[ ]" in joined or "📅" in joined or _ISO_DAY.sub("", joined).strip() == ""

    def _path_of(self, step: PipelineStep) -> Span | None:
        """Return the span that names a new note with its folder ("Concepts/Parallax")."""
        name, folder = (str(step.arguments.get(role, "")) for role in ("name", "folder"))
        if step.action != "create_note" or not (name and folder):
            return None
        return self._find(lambda own: _squeezed(own) == _squeezed(f"{folder.rstrip('/')}/{name}"))

    def with_task_words(self, program: list[Symbol]) -> Iterator[list[Symbol]]:
        """Yield the programs that name a rescheduled task by words of the request, the longest first."""
        if program[0] != "reschedule_task" or "query=" in program:
            return
        due = program[program.index("due=") + 1]
        taken = {
            at for symbol in program if isinstance(symbol, tuple) for at in range(symbol[0], symbol[1] + 1)
        }
        spans = [
            span
            for span in self._spans(5)
            if taken.isdisjoint(range(span[0], span[1] + 1)) and self._content_length(span)[0]
        ]
        for span in sorted(spans, key=self._content_length, reverse=True):
            yield ["reschedule_task", "due=", due, "query=", span]

    # Sets

    def symbols(self, notes: NoteSet) -> Iterator[Symbol]:
        """Yield the symbols of a set of notes.

        Raises:
            UnalignedError: The set can't be expressed with the request's items.
        """
        if notes.unknown:
            raise UnalignedError(f"note {notes.unknown}")
        if notes.source:
            yield f"n{notes.pick}" if notes.pick else "these"
        elif notes.notes:
            yield from self._notes(notes.notes)
        if notes.query:
            yield from self._query(notes.query)
        if not (notes.source or notes.notes or notes.query):
            yield "all"
        if notes.order:
            if notes.order.lstrip("-") in ORDERS:
                yield f"order:{notes.order}"
            else:
                yield "order:-prop" if notes.order.startswith("-") else "order:prop"
                yield self._property(notes.order.lstrip("-"))
        if notes.limit:
            if f"l{notes.limit}" not in LIMITS:
                raise UnalignedError(f"limit {notes.limit}")
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
        if len(paths) > 1 and set(paths) == set(state.recent) and not self._mention(paths[0]):
            yield "both"
            return
        if set(paths) == set(state.others) and len(state.them) > len(paths) and self._says_others():
            yield "others"
            return
        excluded = [path for path in state.them if path not in paths]
        if len(paths) > 1 and set(paths) < set(state.them) and len(excluded) <= 2 < len(state.them):
            yield "these"
            for path in excluded:
                yield "-"
                yield from self._notes((path,))
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
            elif len(paths) == 1 and (span := self._value_span_of_note()):
                # "The Pessoa" is the only note with this author, which the caller checks.
                yield from ("these",) if path in state.them else ()
                yield "value:"
                yield span
            else:
                raise UnalignedError(f"note {path}")

    def _value_span_of_note(self) -> Span | None:
        """Return the only item that names a property's text; None without one."""
        spans = [(at, at) for at, item in enumerate(self._items) if item.mention.kind == "value"]
        return spans[0] if len(spans) == 1 else None

    def _says_others(self) -> bool:
        return any(token.key in _OTHERS for item in self._items for token in item.tokens)

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
            named = self._reader.sets.named(span)
            if named is not None and path in (*named.notes, *named.candidates[:1]):
                score = (bool(named.notes), span[1] - span[0])
                if best is None or score > best[0]:
                    best = (score, span)
        return best[1] if best else None

    def _query(self, query: str) -> Iterator[Symbol]:
        atoms = list(_atoms(query))
        groups: list[Symbol] = []
        days = [atom for atom in atoms if _DAYS.fullmatch(atom)]
        if len(days) == 1 and (span := self._days(days[0])):
            groups += ["day:", span]
            atoms.remove(days[0])
        for field in ("modified", "created"):
            own = [atom for atom in atoms if atom.startswith(f"{field}:")]
            if own and (span := self._period(" ".join(own), field)):
                groups += [f"{field}:", span]
                atoms = [atom for atom in atoms if atom not in own]
        names = dict.fromkeys(match["name"] for atom in atoms if (match := _PROPERTY.fullmatch(atom)))
        for name in names:
            own = [atom for atom in atoms if (match := _PROPERTY.fullmatch(atom)) and match["name"] == name]
            bounds = _bounds(own)
            is_year = len(own) == 1 and re.search(r":\d{4}\]", own[0])
            if bounds is None or ((None in bounds or is_year) and self._is_alignable(own)):
                continue
            for span in self._spans(6):
                if self._reader.spans.period(span, name) == bounds:
                    groups += ["prop", self._property(name), "during", span]
                    atoms = [atom for atom in atoms if atom not in own]
                    break
        yield from self._conditions(atoms)
        yield from groups

    def _days(self, condition: str) -> Span | None:
        """Return the shortest span for which the reader writes this condition on the names of daily notes."""
        for span in self._spans(6):
            if self._sets.names_of_days(self._reader.spans.tokens(span)) == condition:
                return span
        return None

    def _is_alignable(self, atoms: Sequence[str]) -> bool:
        try:
            return all(list(self._atom(atom)) for atom in atoms)
        except UnalignedError:
            return False

    def _conditions(self, atoms: list[str]) -> Iterator[Symbol]:
        if self._positions:
            for part in _merged([list(self._said_or_known(atom)) for atom in atoms]):
                yield from part
            return
        known: list[str] = []
        last = self._state.last.last.target if self._state.last else None
        if last is not None and last.query:
            known = [atom for atom in _atoms(last.query) if atom != "OR"]
        symbols: list[list[Symbol]] = []
        from_last: list[str] = []
        is_among = False
        opposite = opposite_conditions(last.query) if last is not None else []
        if opposite and _folded(opposite) == _folded(atoms):
            yield "unlike"
            return
        for atom in atoms:
            try:
                symbols.append(list(self._atom(atom)))
            except UnalignedError:
                key = atom.casefold().rstrip("/")
                if key in _folded(known) and "OR" not in atoms:
                    from_last.append(atom)
                elif len(atoms) > 1 and len(self._state.them) > 1 and not _KIND.match(atom):
                    is_among = True  # the listed notes may imply it
                elif len(atoms) == 1 or "OR" in atoms or not _KIND.match(atom):
                    raise
                # Else the other conditions may imply it: only people have a year of birth.
        if is_among and symbols and "OR" not in atoms:
            yield "these"
            yield from (symbol for part in _merged(symbols) for symbol in part)
            return
        if is_among:
            raise UnalignedError(f"conditions {atoms}")
        if from_last and last is not None and (new := self._swapped(last.query, atoms)):
            try:
                own = [list(self._atom(atom)) for atom in new]
            except UnalignedError:
                own = []
            if own:
                yield "swap"
                yield from (symbol for part in _merged(own) for symbol in part)
                return
        kinds = conditions_on_kind(last.query) if last is not None else []
        folded = _folded(from_last)
        if from_last and len(from_last) != len(known) and folded == _folded(kinds):
            yield "kind"
        elif from_last:
            if len(from_last) != len(known) and _folded(known) - folded - _folded(atoms):
                raise UnalignedError(f"part of the last search {from_last}")
            yield "prev"
            inside = _folded(known)
            symbols = [list(self._atom(a)) for a in atoms if a.casefold().rstrip("/") not in inside]
        merged = _merged(symbols)
        for part in merged:
            yield from part

    def _said_or_known(self, atom: str) -> Iterator[Symbol]:
        """Yield the symbols of a condition that the request names, or else of a known one."""
        try:
            yield from list(self._atom(atom))
        except UnalignedError:
            if position := self._positions.get(_plain_condition(atom)):
                yield from (CONDITION, position)
            elif atom.startswith("-") and (position := self._positions.get(_plain_condition(atom[1:]))):
                yield from ("-", CONDITION, position)
            elif atom.startswith("("):
                for part in _atoms(atom[1:-1]):
                    yield from self._said_or_known(part)
            else:
                raise

    def _swapped(self, last: str, atoms: Sequence[str]) -> list[str]:
        """Return the conditions that replace some of the last search's; empty if the others do not stay."""
        if "OR" in atoms or " OR " in re.sub(r"\([^)]*\)", "", last):
            return []
        known = top_level_parts(last)
        new = [atom for atom in atoms if atom.casefold() not in [part.casefold() for part in known]]
        slots = {slot for atom in new for slot in condition_slots(atom)}
        kept = _folded([part for part in known if not slots & condition_slots(part)])
        wanted = _folded([atom for atom in atoms if atom not in new])
        return new if kept and kept == wanted and len(kept) < len(known) else []

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
                raise UnalignedError(f"group {atom}")
            for part in inner:
                yield from self._atom(part)
            return
        if match := _PROPERTY.fullmatch(atom):
            yield from self._comparison(match)
            return
        if atom in FLAGS:
            yield atom
            return
        field, colon, value = atom.partition(":")
        if not colon or field not in {name.rstrip(":") for name in (*FIELDS, *LINK_FIELDS)}:
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
                    symbols = list(self._notes((paths[0],)))
                    yield symbols[-1]
            case "tag":
                if value == self._last_tag() and not self._find(
                    lambda t: value in (self._request.vocabulary.find_similar_tag(t), t.lstrip("#"))
                ):
                    yield "same"
                    return
                yield self._need(
                    lambda t: (
                        value in (self._request.vocabulary.find_similar_tag(t) or t, t.lstrip("#"))
                        or name_key(t) == name_key(value)
                    ),
                    f"tag {value}",
                    value,
                )
            case "path":
                folder = value.rstrip("/")
                last = self._state.last.last.arguments if self._state.last else {}
                is_last = str(last.get("folder", "")).rstrip("/").casefold() == folder.casefold()
                if is_last and not self._find(lambda t: folder.casefold() in t.casefold()):
                    yield "same"
                    return
                yield self._need(
                    lambda t: (
                        folder.casefold() == (self._request.vocabulary.find_similar_folder(t) or t).casefold()
                    ),
                    f"folder {value}",
                    folder,
                )
            case "type":
                yield self._need(
                    lambda t: self._sets.type_of(t) == value or name_key(t) == value, f"type {value}", value
                )
            case "rel" | "backlinks":
                yield next(
                    (
                        (at, at)
                        for at, item in enumerate(self._items)
                        if item.mention.kind == "rel" and item.mention.value == value
                    ),
                    None,
                ) or _fail(f"relation {value}")
            case "modified" | "created":
                raise UnalignedError(f"date {atom}")
            case _:
                yield self._need(lambda t: name_key(t) == name_key(value), f"{field} {value}")

    def _last_tag(self) -> str:
        last = self._state.last.last.arguments if self._state.last else {}
        tag = last.get("tag")
        return str(tag[0] if isinstance(tag, tuple) and tag else tag or "")

    def _period(self, atoms: str, field: str) -> Span | None:
        """Return the shortest span that names the period of the conditions on a date."""
        for span in self._spans(6):
            part = self._reader.spans.tokens(span)
            days = self._request.dates.parse_span(part, 0)
            if (
                days is not None
                and days.end == len(part)
                and _is_period(days.query(field), atoms, self._request.dates.today)
            ):
                return span
        return None

    def _comparison(self, match: re.Match[str]) -> Iterator[Symbol]:
        name, comparison, value = match["name"], match["op"] or "=", match["value"]
        property_symbol = self._named_property(name)
        is_value = property_symbol is None and comparison == "=" and value is not None
        if is_value and (named := self._value_name(name, value.strip('"'))):
            yield "value:"
            yield named
            return
        yield "prop"
        yield property_symbol or self._implied_property(name)
        if value is None:
            yield "exists"
            return
        yield comparison
        try:
            yield self._property_value(value)
        except UnalignedError:
            if name != "confidence" or not re.fullmatch(r"0?\.\d+", value):
                raise
            yield self._property_value(f"{float(value) * 100:g}")

    def _property(self, name: str) -> Symbol:
        return self._named_property(name) or self._implied_property(name)

    def _named_property(self, name: str) -> Symbol | None:
        """Return the symbol of a property that the request names or that has a symbol of its own."""
        if name in NAMED_PROPERTIES:
            return f"p:{name}"
        for span in self._spans(3):
            if str(self._reader.sets.property_name(span)).casefold() == name.casefold():
                return span
        return None

    def _implied_property(self, name: str) -> Symbol:
        last = self._state.last.last.target if self._state.last else None
        if last is not None and str(last_property(last.query)).casefold() == name.casefold():
            return LAST_PROPERTY
        names = [form.name.casefold() for form in self._request.vocabulary.fields]
        if name.casefold() not in names:
            raise UnalignedError(f"property {name}")
        at = len(self._items) + names.index(name.casefold())
        return at, at

    def _value_name(self, name: str, value: str) -> Symbol | None:
        """Return the span or the reference that names a property's text; None without one."""
        for span in self._spans(4):
            vocabulary, text = self._request.vocabulary, self.text(span)
            condition = vocabulary.find_value(text) or vocabulary.find_value_in_part(text) or ""
            mention = self._items[span[0]].mention
            if f"[{name}:{value}]".casefold() in condition.replace('"', "").casefold() or (
                span[0] == span[1]
                and mention.notes is not None
                and [name_key(NotePath.on_disk(path).name) for path in mention.notes.notes]
                == [name_key(value)]
            ):
                return span
        if name_key(value) in map(name_key, self._state.values):
            return "same"
        names = [name_key(NotePath.on_disk(path).name) for path in self._state.it[:1]]
        return "it" if name_key(value) in names and not self._is_in_last_search(name, value) else None

    def _is_in_last_search(self, name: str, value: str) -> bool:
        last = self._state.last.last.target if self._state.last else None
        return last is not None and f"[{name}:{value}]".casefold() in last.query.replace('"', "").casefold()

    def _property_value(self, value: str) -> Symbol:
        value = value.strip('"')
        if value in ("true", "false"):
            return value
        for span in self._spans(4):
            parsed = self._reader.spans.property_value(span)
            texts = {str(part) for part in (parsed if isinstance(parsed, tuple) else (parsed,))}
            texts |= {text[:4] for text in texts if text.endswith("-01-01")}
            if value in texts or value.casefold() == self.text(span).casefold():
                return span
        if value == self._request.dates.today.isoformat():
            return "now"  # "expired", "overdue"
        raise UnalignedError(f"value {value}")

    # Arguments

    def _value(self, role: str, value: object) -> Iterator[Symbol]:
        last = self._state.last.last.arguments if self._state.last else {}
        try:
            yield from list(self._own_value(role, value))
        except UnalignedError:
            if role not in last or _plain(last[role]) != _plain(value):
                raise
            yield "same"

    def _own_value(self, role: str, value: object) -> Iterator[Symbol]:
        if isinstance(value, NoteSet):
            yield from self.symbols(value)
            return
        if role in ("tag", "new_tag"):
            tags = value if isinstance(value, tuple) else re.split(r",\s*", str(value))
            for tag in tags:
                if (at := self._positions.get(f"tag:{tag}".casefold())) and not self._find(
                    lambda t, tag=tag: name_key(t.lstrip("#")) == name_key(str(tag))
                ):
                    yield from (CONDITION, at)
                    continue
                yield self._need(
                    lambda t, tag=tag: (
                        tag in (t.lstrip("#"), self._request.vocabulary.find_tag(t.lstrip("#")))
                        or name_key(t.lstrip("#")) == name_key(str(tag))
                    ),
                    f"tag {tag}",
                    str(tag),
                )
            return
        text = str(value)
        if role in ("state", "scope"):
            yield text
            return
        if role == "side" and text in SIDES:
            yield text
            return
        if role == "uses":
            yield f"uses{text}" if f"uses{text}" in USES else _fail(f"uses {text}")
            return
        if role == "about":
            yield text if text in FACTS else self._property(text)
            return
        if role == "due":
            yesterday = self._request.dates.today - timedelta(days=1)
            if text.startswith("..") or (text.endswith(f"..{yesterday}") and text < "1971"):
                yield OVERDUE if text.endswith(str(yesterday)) else _fail(f"due {text}")
                return
            yield self._span_of_days(text) or _fail(f"due {text}")
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
            known = self._positions.get(_plain_condition(f"[{self._key}:{text.strip('[]')}]"))
            if span is None and known is not None:
                yield from (CONDITION, known)
                return
            yield span or _fail(f"value {text}")
            return
        if task := _TASK.match(text):
            yield "task"
            text = text[task.end() :]
        if role == "type":
            for at, item in enumerate(self._items):
                if item.mention.kind == "rel" and item.mention.value == text:
                    yield at, at
                    return
            yield self._need(
                lambda t: name_key(t) == name_key(text) or self._sets.type_of(t) == text, f"type {text}", text
            )
            return
        if role == "name" and re.fullmatch(r"\d{4}-\d\d-\d\d", text) and not self._text_span(text):
            yield "day"
            yield self._day(text)
            return
        if role == "folder":
            folder = text.rstrip("/")
            yield self._need(
                lambda t: (
                    folder.casefold()
                    == (self._request.vocabulary.find_similar_folder(t) or t).strip("/").casefold()
                ),
                f"folder {text}",
                folder,
            )
            return
        yield self._text_span(text) or _fail(f"{role} {text}")

    def _day(self, text: str) -> Span:
        for span in self._spans(4):
            if self._reader.spans.day_ahead(span) == text:
                return span
        return _fail(f"day {text}")

    def _value_span(self, text: str) -> Span | None:
        number = plain_number(text)
        for span in self._spans(_MAX_SPAN):
            own = self.text(span)
            if own.casefold() == text.casefold():
                return span
            if (
                number is not None
                and (mine := self._reader.spans.number(span)) is not None
                and float(mine) == float(number)
            ):
                return span
        for span in self._spans(5):
            part = self._reader.spans.tokens(span)
            days = self._request.dates.parse_span(part, 0)
            if days is not None and days.end == len(part) and days.first and days.first.isoformat() == text:
                return span
            if self._sets.days_ahead(part) == text:
                return span
        return None

    def _parts(self, pieces: list[str]) -> Iterator[Symbol]:
        spans = []
        if any(map(_TASK.match, pieces)):
            yield "task"
            pieces = [_TASK.sub("", piece) for piece in pieces]
        for piece in pieces:
            span = self._text_span(piece)
            if span is None:
                span = self._find(lambda t, piece=piece: _squeezed(piece) in _squeezed(t))
            if span is None:
                raise UnalignedError(f"part {piece}")
            spans.append(span)
        yield min(span[0] for span in spans), max(span[1] for span in spans)

    # Words

    def _text_span(self, text: str) -> Span | None:
        """Return the span with exactly this text; else one that differs in case, spaces or outer marks."""
        return self._find(lambda own: own == text) or self._find(
            lambda own: _squeezed(own) == _squeezed(text)
        )

    def _need(self, fits, what: str, value: str = "") -> Span:
        span = self._find(fits)
        if span is None and value:
            span = next(
                (
                    (at, at)
                    for at, item in enumerate(self._items)
                    if item.mention.kind in ("kind", "tag", "prop")
                    and name_key(item.mention.value) == name_key(value)
                ),
                None,
            )
        return span or _fail(what)

    def _find(self, fits) -> Span | None:
        return next((span for span in self._spans(_MAX_SPAN) if fits(self.text(span))), None)

    def _spans(self, longest: int) -> Iterator[Span]:
        count = len(self._items)
        for length in range(1, min(longest, count) + 1):
            for start in range(count - length + 1):
                yield start, start + length - 1

    def text(self, span: Span) -> str:
        """Return the text of a span of items."""
        return item_text(self._request, self._items, span)


_THIS = frozenset(("this", "here", "current", "open", "dieser", "diese", "dieses", "diesem", "hier"))
_OTHERS = frozenset(("other", "others", "rest", "remaining", "andere", "anderen", "restlichen"))
_LAST = frozenset(("last", "bottom", "final", "letzte", "letzten", "letztes"))


def _fail(what: str) -> Span:
    raise UnalignedError(what)


def _folded(atoms: Sequence[str]) -> set[str]:
    return {atom.casefold().rstrip("/") for atom in atoms}


def _plain_condition(atom: str) -> str:
    """Return a text that is the same for two spellings of a condition."""
    return atom.casefold().replace('"', "").rstrip("/")


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip().strip("\"'“”.!?,;:")).casefold()


def _atoms(query: str) -> Iterator[str]:
    position = 0
    while position < len(query.rstrip()):
        match = _ATOM.match(query, position)
        if match is None:
            raise UnalignedError(f"query {query}")
        yield (match["neg"] or "") + match["body"]
        position = match.end()


def _merged(symbols: list[list[Symbol]]) -> list[list[Symbol]]:
    """Join search words that are next to each other in the request."""
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


def _plain(value: object) -> object:
    return frozenset(map(str, value)) if isinstance(value, tuple) else str(value)


def _bounds(atoms: Sequence[str]) -> Days | None:
    """Return the days between which conditions on one property lie; None for other conditions."""
    first: date | None = None
    last: date | None = None
    for atom in atoms:
        match = _PROPERTY.fullmatch(atom)
        if (
            match
            and not match["op"]
            and re.fullmatch(r"\d{4}-\d\d", match["value"] or "")
            and len(atoms) == 1
        ):
            first = date.fromisoformat(f"{match['value']}-01")
            return first, first.replace(day=calendar.monthrange(first.year, first.month)[1])
        if match and not match["op"] and re.fullmatch(r"\d{4}", match["value"] or "") and len(atoms) == 1:
            return date(int(match["value"]), 1, 1), date(int(match["value"]), 12, 31)
        year = match and re.fullmatch(r"(\d{4})(-\d\d-\d\d)?", match["value"] or "")
        if not match or not year or not match["op"]:
            return None
        start = date.fromisoformat(year[0]) if year[2] else date(int(year[1]), 1, 1)
        end = start if year[2] else date(int(year[1]), 12, 31)
        match match["op"]:
            case ">=":
                first = start
            case ">":
                first = end + timedelta(days=1)
            case "<":
                last = start - timedelta(days=1)
            case _:
                last = end
    return (first, last) if first or last else None


def _is_period(conditions: str, wanted: str, today: date) -> bool:
    def plain(text: str) -> frozenset[str]:
        text = text.replace("created:", "modified:")
        if match := re.fullmatch(r"modified:(\d{4})-(\d\d)", text):
            last = calendar.monthrange(int(match[1]), int(match[2]))[1]
            text = f"modified:>={match[1]}-{match[2]}-01 modified:<={match[1]}-{match[2]}-{last}"
        elif match := re.fullmatch(r"modified:(\d{4})", text):
            text = f"modified:>={match[1]}-01-01 modified:<={match[1]}-12-31"
        elif match := re.fullmatch(r"modified:(\d{4})-W(\d\d)", text):
            first = date.fromisocalendar(int(match[1]), int(match[2]), 1)
            text = f"modified:>={first} modified:<={first + timedelta(days=6)}"
        elif match := re.fullmatch(r"modified:<(\d{4})", text):
            text = f"modified:<={int(match[1]) - 1}-12-31"
        elif match := re.fullmatch(r"modified:<(\d{4})-(\d\d)", text):
            text = f"modified:<{match[1]}-{match[2]}-01"
        elif match := re.fullmatch(r"modified:>=(\d{4})(-\d\d)?", text):
            text = f"modified:>={match[1]}{match[2] or '-01'}-01"
        text = re.sub(
            r":<(\d{4}-\d\d-\d\d)",
            lambda match: f":<={date.fromisoformat(match[1]) - timedelta(days=1)}",
            text,
        )
        parts = frozenset(text.split())
        # Nothing was modified after today.
        return frozenset(
            part for part in parts if len(parts) == 1 or part[:11] != "modified:<=" or part[11:] < str(today)
        )

    return plain(conditions) == plain(wanted)

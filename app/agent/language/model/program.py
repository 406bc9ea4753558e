"""Programs: readings as sequences of symbols that copy their values from the words of a request.

The request model writes a program, and `ProgramReader` turns it into a reading. A symbol is a word of the
notation ("add_tag", "links-to:", "tag="), a reference to the conversation ("it", "these", "n2"), a span of
the request's items, or a property or condition that the request implies: the positions after the last item
stand for the vocabulary's `fields`, and those after the fields for the `known_conditions`. "same" is the
value of the same role in the last step; after "value:" it is the text of the property that the last step
showed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise

from app.agent.language.grammar.frames import FrameParser
from app.agent.language.grammar.mentions import EntityMention
from app.agent.language.grammar.note_facts import FACTS
from app.agent.language.grammar.note_references import NAMED_FIT, ParsedSet, without_possessive
from app.agent.language.grammar.note_sets import NoteSetParser, is_search
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.list_orders import within_list
from app.agent.language.lookups.periods import moved_in_time, within_period
from app.agent.language.meaning.actions import ROLE_KINDS, TASK_ACTIONS, Action
from app.agent.language.meaning.conditions import (
    conditions_on_kind,
    last_property,
    opposite_conditions,
    replaced_conditions,
    top_level_parts,
)
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading, parenthesize
from app.agent.language.model.known_conditions import known_conditions
from app.agent.language.words.dates import Days
from app.agent.language.words.lexicon import BUILT_IN_PROPERTIES, Language
from app.agent.language.words.task_texts import OPEN_TASK
from app.agent.language.words.tokens import Token, plain_number, span_text, written_text
from app.index.query_serializer import quote_text, quote_value
from app.vault.path import NotePath
from app.vault.reference import parse_reference

NEXT, END = "|", "</s>"
OUTCOMES = ("model", "question", "none", "ask")
"""Programs without a step.

"model" needs a language model, "question" is about the content of the notes, "none" asks for nothing that the
agent can do, and "ask" is unclear.
"""
REFERENCES = ("it", "this", "these", "all", "prev", "kind", "swap", "unlike", "target", "others", "both")
"""References to the conversation.

"prev" means the notes and conditions of the last step, "kind" only its conditions on kinds of notes, "swap"
its conditions except those that the new ones replace, "unlike" its kinds with its only other condition
negated, and "target" only its notes. "others" are the listed notes that are not among its notes, "both" the
last two single notes.
"""
NTH = tuple(f"n{ordinal}" for ordinal in (1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2))
FLAGS = ("orphan:", "unresolved:", "untagged:", 'task:""', 'task-todo:""', 'task-done:""', 'backlinks:""')
FIELDS = (
    "tag:",
    "path:",
    "type:",
    "value:",
    "file:",
    "day:",
    "word",
    "rel:",
    "backlinks:",
    "modified:",
    "created:",
)
LINK_FIELDS = ("links-to:", "linked-from:")
CONDITION = "cond"
"""A known condition follows."""
COMPARISONS = ("=", "<", "<=", ">", ">=", "during", "exists")
ORDERS = (
    *("modified", "created", "name", "words", "links", "backlinks", "outgoing", "dated"),
    *("confidence", "born", "died", "year", "date"),
)
PROPERTY_ORDERS = ("order:prop", "order:-prop")
_PROPERTY_KEYS = frozenset(("confidence", "born", "died", "year", "date"))
"""The orders that are properties."""
LAST_PROPERTY = "p:same"
"""The only property in the conditions of the last step."""
LITERALS = ("true", "false", "open", "done", "last", "today", "same", "empty", "now", "day")
SIDES = ("supports", "contradicts")
USES = ("uses1", "uses2", "uses3")
OVERDUE = "overdue"
LIMITS = tuple(f"l{number}" for number in (*range(1, 11), -1, -2, -3))

Span = tuple[int, int]
Symbol = str | Span


@dataclass(frozen=True, slots=True)
class RequestItem:
    """One item of a request: a mention, or a single word or mark."""

    tokens: tuple[Token, ...]
    mention: EntityMention


def request_items(request: Request) -> tuple[RequestItem, ...]:
    """Return the items of a request in order, including the marks."""
    mentions_by_token = {id(mention.tokens[0]): mention for mention in request.mentions(request.tokens)}
    items: list[RequestItem] = []
    position = 0
    while position < len(request.tokens):
        token = request.tokens[position]
        mention = mentions_by_token.get(id(token), EntityMention("word", (token,)))
        items.append(RequestItem(mention.tokens, mention))
        position += len(mention.tokens)
    return tuple(items)


class ProgramReader:
    """Turn programs into readings.

    Args:
        request: The request.
        items: Its items.
    """

    def __init__(self, request: Request, items: Sequence[RequestItem]) -> None:
        self._request = request
        self._items = items
        self._language: Language = request.language
        self._vocabulary = request.vocabulary
        self._dialog = request.dialog
        self._sets: NoteSetParser = request.set_parser()
        self._frames: FrameParser = request.frame_parser(follows=False)
        self._known_conditions = known_conditions(request)

    def read(self, program: Sequence[Symbol], score: float = 1.0) -> Reading | None:
        """Return the reading of a program, with the given score; None if the program is not valid."""
        if not all(self._is_valid(symbol, before) for before, symbol in pairwise(("", *program))):
            return None
        steps: list[PipelineStep] = []
        step_symbols: list[Symbol] = []
        for symbol in (*program, NEXT):
            if symbol == NEXT:
                step = self._step(step_symbols, follows=bool(steps)) if step_symbols else None
                if step is None:
                    return None
                steps.append(step)
                step_symbols = []
            elif symbol != END:
                step_symbols.append(symbol)
        return Reading(tuple(steps), score, language=self._language.code)

    def _is_valid(self, symbol: Symbol, before: Symbol) -> bool:
        """Return whether a span consists of items, or is one property where a program names a property."""
        if not isinstance(symbol, tuple) or symbol[1] < len(self._items):
            return True
        if symbol[0] != symbol[1]:
            return False
        at = symbol[0] - len(self._items) - len(self._vocabulary.fields)
        if at >= 0:
            return before == CONDITION and at < len(self._known_conditions)
        return before in ("prop", "key=", "about=", *PROPERTY_ORDERS)

    # Steps

    def _step(self, symbols: Sequence[Symbol], *, follows: bool) -> PipelineStep | None:
        action = self._request.allowed.get(str(symbols[0]))
        if action is None:
            return None
        position = 1
        while position < len(symbols) and not _is_role(symbols[position]):
            position += 1
        conditions = symbols[1:position]
        if list(conditions) == ["it"] and self._says_both(is_change=action.writes):
            conditions = ["both"]
        notes = self._notes(conditions, follows=follows) if conditions else None
        if conditions and notes is None:
            return None
        arguments: dict[str, object] = {}
        while position < len(symbols):
            role = str(symbols[position])[:-1]
            position += 1
            values: list[Symbol] = []
            while position < len(symbols) and not _is_role(symbols[position]):
                values.append(symbols[position])
                position += 1
            value = (
                self._known_value(values[1:], str(arguments.get("key", "")))
                if role == "value" and values[:1] == [CONDITION]
                else self._argument(action, role, values, follows=follows)
            )
            if role == "value" and values and isinstance(values[0], tuple):
                key = arguments.get("key")
                if self._is_due(key):
                    value = self._sets.days_ahead(self.tokens(values[0])) or value
                if str(key).casefold() != "minutes" and self._has_time_unit(values[0]):
                    value = self._written(values[0])
            if value is None:
                return None
            arguments[role] = value
        if action.id == "create_note":
            arguments = _with_folder(arguments)
            if "day" in symbols and "folder" not in arguments and self._vocabulary.daily_folder:
                arguments = {**arguments, "folder": self._vocabulary.daily_folder}
        if notes is None and action.implies_note:
            notes = self._sets.implied_notes()
        if notes is None and action.id in TASK_ACTIONS:
            notes = self._sets.notes_of_tasks()
        step = PipelineStep(action.id, notes, arguments)
        required = [role for role in action.needs if role != "target"]
        if any(role not in arguments for role in required) or ("target" in action.needs and notes is None):
            return None
        return step

    def _says_both(self, *, is_change: bool) -> bool:
        """Return whether the request is about the last two single notes: "what did both cost?".

        A change is about both only if the last request created both.
        """
        tokens, recent = self._request.tokens, self._dialog.recent
        last = self._dialog.last.steps if self._dialog.last is not None else ()
        if is_change and [step.action for step in last] != ["create_note", "create_note"]:
            return False
        return len(recent) == 2 and self._language.has_phrase(tokens, "both")

    def _is_due(self, key: object) -> bool:
        """Return whether a property holds future days, for example "due"."""
        return str(key).casefold() in self._language.words("due_properties")

    # Sets of notes

    def _notes(self, symbols: Sequence[Symbol], *, follows: bool) -> NoteSet | None:
        paths: list[str] = []
        parts: list[str] = []
        excluded: list[str] = []
        replaced: list[str] = []
        result = NoteSet()
        is_negated = is_alternative = is_everything = False
        position = 0

        def add(query: str) -> None:
            nonlocal is_negated, is_alternative
            query = f"-{query}" if is_negated else query
            if is_alternative and parts:
                inner = parts[-1][1:-1] if parts[-1].startswith("(") else parts[-1]
                parts[-1] = f"({inner} OR {query})"
            else:
                parts.append(query)
            is_negated = is_alternative = False

        while position < len(symbols):
            symbol = symbols[position]
            position += 1
            following = symbols[position] if position < len(symbols) else None
            if isinstance(symbol, tuple):
                return None
            if is_negated and (symbol in ("@", "it", "this", "target") or symbol in NTH):
                left_out = self._notes(
                    [symbol, *([following] if symbol == "@" and following else [])], follows=False
                )
                if left_out is None or not left_out.notes:
                    return None
                excluded += left_out.notes
                position += symbol == "@"
                is_negated = False
            elif symbol == "@":
                if not isinstance(following, tuple):
                    return None
                named = self.named(following)
                if named is None:
                    return None
                if not named.notes:
                    return self._tagged(following) or named
                paths += [path for path in named.notes if path not in paths]
                position += 1
            elif symbol in ("it", "this"):
                if follows and symbol == "it":
                    result = replace(result, source="previous")
                    continue
                path = self._first_existing(self._dialog.it if symbol == "it" else self._dialog.this)
                if not path:
                    return NoteSet(unknown=" ")
                paths.append(path)
            elif symbol == "these":
                if follows:
                    result = replace(result, source="previous")
                elif self._dialog.them or self._dialog.it:
                    paths += self._dialog.them or self._dialog.it[:1]
                else:
                    return NoteSet(unknown=" ")
            elif symbol in NTH:
                ordinal = int(symbol[1:])
                if follows:
                    result = replace(result, source="previous", pick=ordinal)
                    continue
                results = self._dialog.them
                if not -len(results) <= ordinal <= len(results):
                    return NoteSet(unknown=" ")
                paths.append(results[ordinal - 1 if ordinal > 0 else ordinal])
            elif symbol == "prev":
                last = self._dialog.last.last.target if self._dialog.last else None
                if last is None:
                    return None
                paths += last.notes
                if last.query:
                    parts.append(parenthesize(last.query))
            elif symbol == "kind":
                last = self._dialog.last.last.target if self._dialog.last else None
                if last is None or not (kinds := conditions_on_kind(last.query)):
                    return None
                parts += kinds
            elif symbol == "swap":
                last = self._dialog.last.last.target if self._dialog.last else None
                if last is None or not last.query:
                    return None
                replaced = top_level_parts(last.query)
                if "OR" in replaced:
                    return None
            elif symbol == "unlike":
                last = self._dialog.last.last.target if self._dialog.last else None
                if last is None or not (opposite := opposite_conditions(last.query)):
                    return None
                parts += opposite
            elif symbol in ("others", "both"):
                referenced = self._dialog.others if symbol == "others" else self._dialog.recent
                if not referenced or (symbol == "both" and len(referenced) < 2):
                    return NoteSet(unknown=" ")
                paths += referenced
            elif symbol == "target":
                target = self._dialog.last.last.target if self._dialog.last else None
                if target is None or not target.notes:
                    return NoteSet(unknown=" ")
                paths += target.notes
            elif symbol == "all":
                is_everything = True
            elif symbol == "-":
                is_negated = True
            elif symbol == "OR":
                is_alternative = True
            elif symbol in FLAGS:
                add(symbol)
            elif symbol == CONDITION:
                condition = self._known_condition(following)
                if condition is None or (is_negated and condition.startswith("-")):
                    return None
                add(condition)
                position += 1
            elif symbol in FIELDS:
                if symbol == "tag:" and following == "same":
                    query = self._last_tag()
                elif symbol == "path:" and following == "same":
                    query = self._last_folder()
                elif symbol == "value:" and following in ("it", "same"):
                    query = self._value_of(following)
                elif isinstance(following, tuple):
                    query = self._condition(symbol, following)
                    if symbol in ("modified:", "created:") and self._vocabulary.means_daily_notes(parts):
                        query = self._sets.names_of_days(self.tokens(following)) or query
                else:
                    return None
                if not query:
                    return None
                add(query)
                position += 1
            elif symbol in LINK_FIELDS:
                name = self._link_end(following)
                if name is None:
                    return None
                add(f"{symbol}{quote_text(name)}")
                position += 1
            elif symbol == "prop":
                condition, position = self._comparison(symbols, position)
                if condition is None:
                    return None
                add(condition)
            elif symbol in PROPERTY_ORDERS:
                name = self.property_name(following) if following is not None else None
                if name is None or not self._is_known(name):
                    return None
                result = replace(result, order=f"{symbol[6:-4]}{name}")
                position += 1
            elif symbol.startswith("order:"):
                if symbol[6:].lstrip("-") in _PROPERTY_KEYS and not self._is_known(symbol[6:].lstrip("-")):
                    return None
                result = replace(result, order=symbol.removeprefix("order:"))
            elif symbol in LIMITS:
                result = replace(result, limit=int(symbol[1:]))
            else:
                return None
        if replaced:
            parts = replaced_conditions(replaced, parts)
        if len(symbols) == 2 and symbols[0] in ("modified:", "created:") and isinstance(symbols[1], tuple):
            parts = self._moved_in_time(symbols[1]) or parts
        if paths:
            paths = [path for path in paths if path not in excluded]
            if not paths:
                return None
        elif excluded:
            parts += [f"-path:{quote_text(path)}" for path in excluded]
        parts = parts if "OR" in parts else [*dict.fromkeys(parts)]
        query = " ".join(self._vocabulary.without_templates(parts))
        if query and not is_search(query):
            return None
        if not (query or paths or result.source or is_everything or result.order):
            return None
        return within_list(self._request, replace(result, query=query, notes=tuple(dict.fromkeys(paths))))

    def _known_condition(self, symbol: Symbol | None) -> str | None:
        """Return the known condition at a position; None for another symbol."""
        at = symbol[0] - len(self._items) - len(self._vocabulary.fields) if isinstance(symbol, tuple) else -1
        return self._known_conditions[at].text if 0 <= at < len(self._known_conditions) else None

    def _known_value(self, symbols: Sequence[Symbol], key: str) -> str | None:
        """Return the text of a known condition on the property `key`; None for other symbols."""
        text = self._known_condition(symbols[0]) if len(symbols) == 1 else None
        match = re.fullmatch(r'\[([^:\]]+):"?([^"<>\]]+)"?\]', text or "")
        return match[2] if match and match[1].casefold() == key.casefold() else None

    def _moved_in_time(self, span: Span) -> list[str]:
        """Return the last search's conditions for another period ("and this week?"), or none."""
        last = self._dialog.last.last.target if self._dialog.last else None
        inside = {id(token) for token in self.tokens(span)}
        rest = {token.key for token in self._request.tokens if token.is_word and id(token) not in inside}
        linking = {word for phrase in self._language.phrases("refine", "same") for word in phrase.first}
        for name in ("determiners", "result_pronouns", "fillers"):
            linking |= self._language.words(name)
        if last is None or not last.query or not rest <= linking:
            return []
        bounds = self.period(span)
        return moved_in_time(self._request, bounds) if bounds is not None else []

    def _last_tag(self) -> str:
        """Return the condition on the last change's first tag, a renamed one by its new name, or no text."""
        last = self._dialog.last.last.arguments if self._dialog.last else {}
        tag = last.get("new_tag") or last.get("tag")
        tag = tag[0] if isinstance(tag, tuple) and tag else tag
        return f"tag:{quote_value(str(tag))}" if tag else ""

    def _last_folder(self) -> str:
        """Return the condition on the folder of the last move or creation; empty without one."""
        last = self._dialog.last.last.arguments if self._dialog.last else {}
        folder = str(last.get("folder", "")).rstrip("/")
        return f"path:{quote_value(f'{folder}/')}" if folder else ""

    def _value_of(self, symbol: Symbol) -> str:
        """Return a condition on property values: the name of "it" ("his books"), or the text just shown.

        The condition is empty if no note has such a value.
        """
        if symbol == "it":
            path = self._first_existing(self._dialog.it)
            texts = [NotePath.on_disk(path).name] if path else []
        else:
            texts = list(self._dialog.values)
        conditions = [condition for text in texts if (condition := self._vocabulary.find_value(text))]
        return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})" if conditions else ""

    def _first_existing(self, paths: Sequence[str]) -> str:
        return self._dialog.first_existing(paths, self._vocabulary.has_file)

    def named(self, span: Span) -> NoteSet | None:
        """Return the note that a span of items names, perhaps unknown; None if it can't be a name."""
        tokens = self.tokens(span)
        mention = self._single_mention(span)
        if mention is not None and mention.kind == "note" and mention.notes is not None:
            return mention.notes
        parsed = (
            self._sets.find_named(tokens) or self._periodic_note(tokens) or self._sets.find_similar(tokens)
        )
        return parsed.notes if parsed is not None else None

    def _tagged(self, span: Span) -> NoteSet | None:
        """Return the notes with the nested tag that a noun names: "the cat" is a "pet/cat"."""
        ignored = self._language.words("determiners") | self._language.words("note_nouns")
        words = [token for token in self.tokens(span) if token.key not in ignored]
        tag = self._vocabulary.find_nested_tag(without_possessive(words[0]).key) if len(words) == 1 else None
        return NoteSet(query=f"tag:{quote_value(tag)}") if tag else None

    def _periodic_note(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Return the note of a day, week, month or year such as "March 9" or "from March 9", or None."""
        for start in range(min(2, len(tokens))):
            span = self._request.dates.parse_span(tokens, start)
            if span is None or span.end != len(tokens):
                continue
            if paths := self._vocabulary.notes(self._vocabulary.period_name(span.note_name)):
                return ParsedSet(NoteSet(notes=paths[:1]), NAMED_FIT, has_head=True)
        return None

    def _link_end(self, symbol: Symbol | None) -> str | None:
        if isinstance(symbol, tuple):
            notes = self.named(symbol)
            if notes is None or len(notes.notes) != 1:
                return self._text(symbol) or None
            return str(NotePath.on_disk(notes.notes[0]).stem_path)
        if symbol is None:
            return None
        notes = self._notes([symbol], follows=False)
        if notes is None or len(notes.notes) != 1:
            return None
        return str(NotePath.on_disk(notes.notes[0]).stem_path)

    def _condition(self, field: str, span: Span) -> str:
        tokens = self.tokens(span)
        mention = self._single_mention(span)
        text = self._text(span).removeprefix(field)
        if field in ("tag:", "path:", "type:"):
            if value := self._value(field, text):
                return value
            if all(token.key in self._language.words("result_pronouns") for token in tokens):
                return ""  # "the empty ones" are in no folder "ones"
        known: str | None
        match field:
            case "tag:":
                tag = self._vocabulary.find_similar_tag(text) or (mention.value if mention else "") or text
                return f"tag:{quote_value(tag.removeprefix('#'))}"
            case "path:":
                folder = self._folder(text) or (
                    mention.value if mention is not None and mention.kind == "kind" else text
                )
                named_tag = self._vocabulary.find_tag(text)
                if named_tag and not self._vocabulary.find_folder(folder):
                    return f"tag:{quote_value(named_tag)}"  # "which company": companies have a tag
                return f"path:{quote_value(folder + '/')}"
            case "type:":
                known = self._sets.type_of(text)
                return f"type:{quote_value(known or text)}"
            case "value:":
                condition = self._vocabulary.find_value(text) or self._vocabulary.find_value_in_part(text)
                if condition:
                    return condition
                named = mention.notes if mention is not None else None
                if named is not None and len(named.notes) == 1:
                    return f"links-to:{quote_text(str(NotePath.on_disk(named.notes[0]).stem_path))}"
                return self._vocabulary.find_misspelled_value(text) or self._words(tokens)
            case "file:":
                return f"file:{quote_value(text)}"
            case "day:":
                return self._sets.names_of_days(tokens)
            case "rel:" | "backlinks:":
                kind = mention.value if mention is not None and mention.kind == "rel" else ""
                return f"{field}{kind}" if kind else ""
            case "modified:" | "created:":
                days = self._request.dates.parse_span(tokens, 0)
                return days.query(field[:-1]) if days is not None else ""
            case _:
                is_category = mention is not None and mention.kind == "kind"
                category = self._vocabulary.find_category(text) if is_category else None
                return category or self._words(tokens)

    def _folder(self, text: str) -> str | None:
        """Return the folder that a text names, also by a synonym or misspelled, or None."""
        forms = self._vocabulary.singular_forms(text.casefold())
        named = (self._vocabulary.find_folder(form) for form in forms)
        return self._vocabulary.find_similar_folder(text) or next(filter(None, named), None)

    def _value(self, field: str, text: str) -> str | None:
        """Return the search for a property's text; None without one, or if the text is a name of the field.

        That is a tag for "tag:", a folder for "path:" and a type for "type:".
        """
        known = {
            "tag:": self._vocabulary.find_tag,
            "path:": self._vocabulary.find_folder,
            "type:": self._vocabulary.find_type,
        }
        return None if known[field](text) else self._vocabulary.find_value(text)

    def _words(self, tokens: Sequence[Token]) -> str:
        fillers = self._language.words("determiners") | self._language.words("topic_fillers")
        words: list[str] = []
        for token in tokens:
            if token.kind == "mark" or (token.is_word and token.key in fillers and len(tokens) > 1):
                continue
            if token.kind == "quoted":
                words.append(quote_text(token.value))
            elif token.kind == "link":
                words.append(quote_text(parse_reference(token.value).target))
            else:
                is_plain = re.fullmatch(r"\w[\w-]*", token.value) and token.value != "OR"
                words.append(token.value if is_plain else quote_text(token.value))
        return " ".join(words)

    def _comparison(self, symbols: Sequence[Symbol], position: int) -> tuple[str | None, int]:
        """Return the condition on a property at a position, or None, and the position after it."""
        if position + 1 >= len(symbols):
            return None, position
        name = self.property_name(symbols[position])
        comparison = symbols[position + 1]
        position += 2
        if name is None or comparison not in COMPARISONS:
            return None, position
        is_unused = name == "confidence" and self._vocabulary.find_property(name) is None
        if is_unused or not self._is_known(name):
            return None, position  # the words do not refer to a property
        if comparison == "exists":
            is_negated = position > 3 and symbols[position - 4] == "-"
            term = None if is_negated else self._sets.term_condition(name, self._request.tokens)
            return term or f"[{name}]", position
        if position >= len(symbols):
            return None, position
        symbol = symbols[position]
        position += 1
        bounds = self.period(symbol, name) if isinstance(symbol, tuple) else None
        if isinstance(symbol, tuple) and comparison in ("=", ">=") and self._is_range_of_years(symbol):
            comparison = "during"
        is_range = bounds is not None and None not in bounds and bounds[0] != bounds[1]
        if isinstance(symbol, tuple) and comparison == "=" and is_range and not self.number(symbol):
            comparison = "during"  # "visited last year"
        if comparison == "during" or (bounds is not None and None in bounds):  # "before the year 1750"
            return (within_period(name, bounds) if bounds else None), position
        value = self.property_value(symbol)
        if value is None:
            return None, position
        text = value[1] if isinstance(value, tuple) and comparison in (">", "<=") else value
        text = text[0] if isinstance(text, tuple) else text
        if name == "confidence" and text.isdecimal() and int(text) > 1:
            if int(text) > 100:
                return None, position
            text = f"{int(text) / 100:g}"  # "between 50 and 80 percent"
        if comparison == "=" and isinstance(symbol, tuple):
            synonyms = self._language.table("value_synonyms").get(self._text(symbol).casefold(), ())
            known = self._vocabulary.find_text_of(name, self._text(symbol), synonyms)
            text = quote_value(known) if known is not None else text
        return f"[{name}:{'' if comparison == '=' else comparison}{text}]", position

    def property_name(self, symbol: Symbol) -> str | None:
        """Return the property that a symbol means, or its text if no note has it; None for another symbol."""
        if isinstance(symbol, tuple):
            if symbol[0] >= len(self._items):
                return self._vocabulary.fields[symbol[0] - len(self._items)].name
            mention = self._single_mention(symbol)
            text = self._text(symbol)
            known = self._vocabulary.find_property(text)
            if known is None and mention is not None and mention.kind in ("prop", "kind"):
                known = mention.value
            return known or text
        if symbol == LAST_PROPERTY:
            target = self._dialog.last.last.target if self._dialog.last else None
            return last_property(target.query if target is not None else "")
        if not symbol.startswith("p:"):
            return None
        name = symbol[2:]
        synonyms = self._language.table("properties").get(name, ())
        known = next(filter(None, map(self._vocabulary.find_property, (name, *synonyms))), None)
        return known or name

    def _is_known(self, name: str) -> bool:
        """Return whether a property is built in or occurs in the vault."""
        return name in BUILT_IN_PROPERTIES or self._vocabulary.find_property(name) is not None

    def property_value(self, symbol: Symbol) -> str | tuple[str, str] | None:
        """Return a symbol's value, or the first and the last day of a period; None for an invalid symbol."""
        if not isinstance(symbol, tuple):
            today = self._request.dates.today.isoformat()
            return today if symbol == "now" else symbol if symbol in LITERALS else None
        text = self._text(symbol)
        if (number := self.number(symbol)) is not None:
            return number
        if (years := self._years(self.tokens(symbol))) is not None and years[0] == years[1]:
            return str(years[0])
        days = self._request.dates.parse_span(self.tokens(symbol), 0)
        if days is not None and days.first is not None:
            last = days.last or days.first
            first = days.first.isoformat()
            return (first, last.isoformat()) if last != days.first else first
        return quote_value(text)

    def day_ahead(self, span: Span) -> str | None:
        """Return the day that a span names ("today's"), in the future if the words leave it open, or None."""
        tokens = [without_possessive(token) for token in self.tokens(span)]
        plain = [replace(token, key=token.key.removesuffix("s")) for token in tokens]
        return self._sets.days_ahead(tokens) or self._sets.days_ahead(plain)

    def number(self, span: Span) -> str | None:
        """Parse a span as a number in digits or words ("70 %", "one half", "two hours": 120), or None."""
        if (number := plain_number(self._text(span))) is not None:
            return number
        words = [token.key for token in self.tokens(span)]
        amounts = {**self._language.table("amounts"), **self._language.table("durations")}
        if (amount := amounts.get(" ".join(words))) is not None:
            return str(amount)
        multiples = {**self._language.table("multiples"), **self._language.table("time_units")}
        is_percent = len(words) == 2 and words[1] in self._language.words("percent")
        is_multiple = len(words) == 2 and words[1] in multiples
        if len(words) != 1 + is_percent + is_multiple:
            return None
        word = words[0][:-1] if re.fullmatch(r"(\d|10)s", words[0]) else words[0]  # "all 9s"
        value = self._request.dates.parse_number(word)
        if value is None:
            return None
        if is_multiple:
            return str(value * int(multiples[words[1]]))
        return f"{value / 100:g}" if is_percent else str(value)

    def _has_time_unit(self, span: Span) -> bool:
        """Return whether a span is a duration with its unit ("two hours", "5s")."""
        words = [token.key for token in self.tokens(span)]
        if " ".join(words) in self._language.table("durations") or re.fullmatch(r"\d+s", words[0]):
            return True
        return len(words) == 2 and words[1] in self._language.table("time_units")

    def period(self, span: Span, name: str = "") -> Days | None:
        """Parse a span as a period: its first and last day, None for an open side; None for other text.

        Periods of a property that holds future days, such as "due", lie ahead.
        """
        tokens = self.tokens(span)
        before = self._language.match_prefix(tokens, 0, "dates", "before")
        since = self._language.match_prefix(tokens, 0, "dates", "since")
        years = self._years(tokens[max(before, since) :])
        is_before_year = before > 0 and years is not None
        if self._is_due(name) and not is_before_year and (ahead := self._sets.days_ahead(tokens)) is not None:
            days_ahead = [date.fromisoformat(day) for day in ahead.split("..")]
            return days_ahead[0], days_ahead[-1]
        if years is not None:
            first, last = date(years[0], 1, 1), date(years[1], 12, 31)
            if before:
                return None, first - timedelta(days=1)
            if since:
                is_exclusive = tokens[0].key in self._language.table("years").get("exclusive", ())
                return (last + timedelta(days=1) if is_exclusive else first), None
            return first, last
        days = self._request.dates.parse_span(tokens, 0)
        if days is None or days.end < len(tokens):
            return None
        whole = self._request.dates.parse_ahead(tokens) if name not in ("", "modified", "created") else None
        is_same = whole is not None and (whole.first, whole.end) == (days.first, days.end)
        # What ends "this year" may end after today.
        return days.first, whole.last if whole is not None and is_same else days.last

    def _is_range_of_years(self, span: Span) -> bool:
        """Return whether a span means all of several years ("in the 17th century"), not only their start."""
        years = self._years(self.tokens(span))
        before = self._items[span[0] - 1].tokens[-1:] if span[0] else ()
        since = self._language.match_prefix(before, 0, "dates", "since") if before else 0
        return years is not None and years[0] < years[1] and not since

    def _years(self, tokens: Sequence[Token]) -> tuple[int, int] | None:
        """Return the first and the last year of a year, a decade or a century; None for other words."""
        words = [token.key.replace("'", "") for token in tokens if token.kind != "mark"]
        table = self._language.table("years")
        ignored = self._language.words("determiners").union(table.get("before", ()))
        while words and words[0] in ignored:
            words = words[1:]
        if len(words) == 1 and (match := re.fullmatch(r"((?:1\d|20)\d\d)[-–]((?:1\d|20)\d\d)", words[0])):
            return (int(match[1]), int(match[2])) if match[1] < match[2] else None
        if len(words) == 1 and (match := re.fullmatch(r"(1\d|20)(\d\d)(s?)", words[0])):
            first = int(match[1] + match[2])
            return first, first + (0 if not match[3] else 99 if match[2] == "00" else 9)
        decade = table.get("decades", {}).get(words[0]) if 1 <= len(words) <= 2 else None
        if decade is not None and words[1:] in ([], *([noun] for noun in table.get("year_nouns", ()))):
            return decade, decade + 9
        if len(words) == 2 and words[1] in self._language.words("century_nouns"):
            century = table.get("centuries", {}).get(words[0]) or int(re.sub(r"\D", "", words[0]) or 0)
            if 10 <= century <= 21:
                return century * 100 - 100, century * 100 - 1
        return None

    # Arguments

    def _argument(
        self, action: Action, role: str, values: Sequence[Symbol], *, follows: bool
    ) -> object | None:
        if not values:
            return None
        if values == ["same"]:
            last = self._dialog.last.last.arguments if self._dialog.last else {}
            return last.get(role)
        if role in ("to", "other"):
            if values[0] == "@":
                values = values[1:]
            if not values:
                return None
            if isinstance(values[0], tuple):
                return self.named(values[0])
            return self._notes(values, follows=follows)
        if role == "value" and isinstance(values[0], tuple):
            tokens = self.tokens(values[0])
            if len(tokens) == 1 and tokens[0].kind == "link":
                return self._request.text[tokens[0].start : tokens[0].end]
        if role in ("tag", "new_tag"):
            return self._tags(role, values)
        first = values[0]
        if first == CONDITION:
            return None
        if role in ("key", "about") and first not in FACTS:
            name = self.property_name(first)
            return name if role == "key" or (name is not None and self._is_known(name)) else None
        if not isinstance(first, tuple):
            if first == "task" and len(values) == 2 and isinstance(values[1], tuple):
                return f"{OPEN_TASK}{self._written(values[1])}"
            if first == "day" and len(values) == 2 and isinstance(values[1], tuple):
                return self.day_ahead(values[1])
            if first == "empty":
                return ""
            if first == "now":
                return self._request.dates.today.isoformat()
            if first in USES:
                return int(first.removeprefix("uses"))
            if first == OVERDUE:
                return f"..{self._request.dates.today - timedelta(days=1)}"
            return first.removeprefix("p:")
        if role == "due":
            is_new = action.id == "reschedule_task"
            tokens = self.tokens(first)
            return self._request.dates.due_days(tokens) if is_new else self._sets.days_ahead(tokens)
        if role == "uses":
            number = self.number(first)
            return int(number) if number is not None and number.isdecimal() else None
        if (
            role == "value"
            and (mention := self._single_mention(first)) is not None
            and mention.kind == "date"
        ):
            return self._plain_argument(role, first)
        if role not in ROLE_KINDS:
            return None
        frame = next((frame for frame in self._request.frames if frame.action == action.id), None)
        if role == "query":
            start, end = first
            is_task = action.id in TASK_ACTIONS
            while (
                is_task
                and start < end
                and self._items[start].tokens[0].key in self._language.words("determiners")
            ):
                start += 1
            return self._text((start, end)).rstrip(" .,!?")
        if role in ("text", "old", "content") and [token.kind for token in self.tokens(first)] == ["link"]:
            return span_text(self._request.text, self.tokens(first))  # a link is written with its brackets
        if role in ("text", "content"):
            return self._written(first)
        if role in ("old", "name", "new_name", "heading"):
            return self._text(first)
        bound = self._frames.fill(action, frame, role, self.tokens(first)) if frame is not None else None
        if bound is not None and role in bound and (role != "value" or self.number(first) is None):
            return bound[role]
        return self._plain_argument(role, first)

    def _plain_argument(self, role: str, span: Span) -> object:
        text = self._written(span) if role == "value" else self._text(span)
        if role in ("value", "confidence"):
            number = self.number(span)
            if number is not None:
                return float(number) if "." in number else int(number)
            days = self._request.dates.parse_span(self.tokens(span), 0)
            if days is not None and days.first is not None and days.first == days.last:
                return days.first.isoformat()
        if role == "type":
            mention = self._single_mention(span)
            if mention is not None and mention.kind == "rel":
                return mention.value
            return self._sets.type_of(text) or text
        if role == "folder":
            return self._vocabulary.find_similar_folder(text) or text
        return text

    def _tags(self, role: str, values: Sequence[Symbol]) -> object | None:
        tags: list[str] = []
        for before, value in pairwise(("", *values)):
            if value == CONDITION:
                continue
            if before == CONDITION:
                known = self._known_condition(value)
                if known is None or not known.startswith("tag:"):
                    return None
                tags.append(known.removeprefix("tag:").strip('"'))
                continue
            if not isinstance(value, tuple):
                return None
            text = self._text(value).removeprefix("#")
            own = self._vocabulary.find_own_tag(text) if role == "tag" else None
            tags.append(own or text)
        return tuple(dict.fromkeys(tags)) or None

    # Words

    def tokens(self, span: Span) -> tuple[Token, ...]:
        """Return the tokens of a span of items."""
        return tuple(token for item in self._items[span[0] : span[1] + 1] for token in item.tokens)

    def _single_mention(self, span: Span) -> EntityMention | None:
        return self._items[span[0]].mention if span[0] == span[1] else None

    def _text(self, span: Span) -> str:
        return item_text(self._request, self._items, span)

    def _written(self, span: Span) -> str:
        """Return the text of a span, with the full stop of a final initial."""
        text, tokens = self._text(span), self.tokens(span)
        return (
            written_text(self._request.text, tokens)
            if text == span_text(self._request.text, tokens)
            else text
        )


def item_text(request: Request, items: Sequence[RequestItem], span: Span) -> str:
    """Return the text of a span without enclosing quotes or brackets and without a possessive ending."""
    tokens = tuple(token for item in items[span[0] : span[1] + 1] for token in item.tokens)
    if len(tokens) == 1 and tokens[0].kind in ("quoted", "link", "tag"):
        value = tokens[0].value
        return parse_reference(value).target if tokens[0].kind == "link" else value
    text = span_text(request.text, tokens).strip()
    return re.sub(r"['’]s$", "", text)


def _is_role(symbol: Symbol) -> bool:
    return isinstance(symbol, str) and len(symbol) > 2 and symbol.endswith("=") and symbol not in COMPARISONS


def _with_folder(arguments: dict[str, object]) -> dict[str, object]:
    """Split the name of a new note that begins with a folder ("Concepts/Parallax")."""
    folder, slash, name = str(arguments.get("name", "")).rpartition("/")
    if not slash or not folder.strip() or not name.strip() or "folder" in arguments:
        return arguments
    return {**arguments, "name": name.strip(), "folder": folder.strip()}

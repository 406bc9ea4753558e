"""Sets of notes in programs, and the conditions and properties that select them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.agent.language.grammar.note_references import NAMED_FIT, ParsedSet, without_possessive
from app.agent.language.grammar.note_sets import NoteSetParser, is_search
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.list_orders import within_list
from app.agent.language.lookups.periods import moved_in_time, within_period
from app.agent.language.meaning.conditions import (
    conditions_on_kind,
    last_property,
    opposite_conditions,
    replaced_conditions,
    top_level_parts,
)
from app.agent.language.meaning.readings import NoteSet, parenthesize
from app.agent.language.model.item_spans import ItemSpans, RequestItem
from app.agent.language.model.known_conditions import known_conditions
from app.agent.language.model.symbols import (
    COMPARISONS,
    CONDITION,
    FIELDS,
    FLAGS,
    LAST_PROPERTY,
    LIMITS,
    LINK_FIELDS,
    NTH,
    PROPERTY_ORDERS,
    Span,
    Symbol,
)
from app.agent.language.words.lexicon import BUILT_IN_PROPERTIES, Language
from app.agent.language.words.tokens import Token
from app.index.query_serializer import quote_text, quote_value
from app.vault.path import NotePath
from app.vault.reference import parse_reference

_PROPERTY_ORDER_NAMES = frozenset(("confidence", "born", "died", "year", "date"))
"""The orders that are properties."""
_NOTE_REFERENCES = frozenset(("it", "this", "these", "others", "both", "target"))
_EXCLUDABLE = frozenset(("@", "it", "this", "target", *NTH))
_WITH_OPERAND = frozenset(("@", CONDITION, *FIELDS, *LINK_FIELDS, *PROPERTY_ORDERS))
_CONDITION_REFERENCES = frozenset(("prev", "kind", "swap", "unlike"))


@dataclass(slots=True)
class _SetParts:
    """The parts of a set of notes that were read so far."""

    notes: list[str] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    """Conditions of the last step, of which the new ones replace some."""
    result: NoteSet = field(default_factory=NoteSet)
    """The order of the set, its limit, and what it takes from the step before."""
    unknown: NoteSet | None = None
    """What the set is instead if it names or refers to notes that are not known."""
    is_everything: bool = False
    is_negated: bool = False
    is_alternative: bool = False

    def add(self, condition: str | None) -> bool:
        """Add a condition: negated after "-", as an alternative to the last one after "OR".

        Return False without a condition, and for the negation of a negated one.
        """
        if not condition or (self.is_negated and condition.startswith("-")):
            return False
        condition = f"-{condition}" if self.is_negated else condition
        if self.is_alternative and self.conditions:
            last = self.conditions[-1]
            inner = last[1:-1] if last.startswith("(") else last
            self.conditions[-1] = f"({inner} OR {condition})"
        else:
            self.conditions.append(condition)
        self.is_negated = self.is_alternative = False
        return True

    def add_referenced(self, symbol: str, last: NoteSet) -> bool:
        """Add what a reference means of the last step's set; return False if it means nothing."""
        match symbol:
            case "prev":
                self.notes += last.notes
                self.conditions += [parenthesize(last.query)] if last.query else []
                return True
            case "swap":
                self.replaced = top_level_parts(last.query) if last.query else []
                return bool(self.replaced) and "OR" not in self.replaced
            case _:
                own = conditions_on_kind(last.query) if symbol == "kind" else opposite_conditions(last.query)
                self.conditions += own
                return bool(own)


class ProgramSets:
    """Read the sets of notes, conditions and properties of programs for one request.

    Args:
        request: The request.
        items: Its items.
        spans: The values of the spans of items.
    """

    def __init__(self, request: Request, items: Sequence[RequestItem], spans: ItemSpans) -> None:
        self._request = request
        self._items = items
        self._language: Language = request.language
        self._vocabulary = request.vocabulary
        self._dialog = request.dialog
        self._sets: NoteSetParser = request.set_parser()
        self._spans = spans
        self._known_conditions = known_conditions(request)

    def notes(self, symbols: Sequence[Symbol], *, follows: bool) -> NoteSet | None:
        """Return the notes that the symbols select; None if they select none.

        The set is unknown if they refer to notes that the conversation does not have. If the step `follows`
        another one of the program, "it" and "these" mean the notes of that step.
        """
        parts = _SetParts()
        position = 0
        while position < len(symbols):
            symbol = symbols[position]
            if symbol == "prop":
                condition, position = self._comparison(symbols, position + 1)
                is_valid = parts.add(condition)
            else:
                operands = symbols[position + 1 : position + 2] if symbol in _WITH_OPERAND else ()
                is_valid = self._add(parts, symbol, operands, follows=follows)
                position += 1 + len(operands)
            if not is_valid:
                return parts.unknown
        conditions = replaced_conditions(parts.replaced, parts.conditions)
        match symbols:
            case [("modified:" | "created:"), (int(), int()) as days]:
                conditions = self._moved_in_time(days) or conditions
        notes = [path for path in parts.notes if path not in parts.excluded]
        if parts.notes and not notes:
            return None
        if not notes:
            conditions = [*conditions, *(f"-path:{quote_text(path)}" for path in parts.excluded)]
        conditions = conditions if "OR" in conditions else [*dict.fromkeys(conditions)]
        query = " ".join(self._vocabulary.without_templates(conditions))
        if query and not is_search(query):
            return None
        result = replace(parts.result, query=query, notes=tuple(dict.fromkeys(notes)))
        is_selected = query or notes or result.source or result.order or parts.is_everything
        return within_list(self._request, result) if is_selected else None

    def _add(self, parts: _SetParts, symbol: Symbol, operands: Sequence[Symbol], *, follows: bool) -> bool:
        """Add what a symbol and its operand mean to a set; return False if they mean nothing."""
        operand = operands[0] if operands else None
        if parts.is_negated and symbol in _EXCLUDABLE:
            left_out = self.notes([symbol, *operands], follows=False)
            parts.excluded += left_out.notes if left_out is not None else ()
            parts.is_negated = False
            return left_out is not None and bool(left_out.notes)
        match symbol:
            case tuple():
                return False
            case "@":
                return self._add_named(parts, operand)
            case "all":
                parts.is_everything = True
            case "-":
                parts.is_negated = True
            case "OR":
                parts.is_alternative = True
            case "it" | "these" if follows:
                parts.result = replace(parts.result, source="previous")
            case _ if follows and symbol in NTH:
                parts.result = replace(parts.result, source="previous", pick=int(symbol[1:]))
            case _ if symbol in _NOTE_REFERENCES or symbol in NTH:
                referenced = self._referenced_notes(symbol)
                parts.notes += referenced
                parts.unknown = None if referenced else NoteSet(unknown=" ")
                return bool(referenced)
            case _ if symbol in _CONDITION_REFERENCES:
                last = self._dialog.last.last.target if self._dialog.last else None
                return last is not None and parts.add_referenced(symbol, last)
            case _ if symbol in FLAGS:
                return parts.add(symbol)
            case _ if symbol == CONDITION or symbol in FIELDS or symbol in LINK_FIELDS:
                return parts.add(self._stated_condition(symbol, operand, parts.conditions))
            case _ if symbol.startswith("order:"):
                order = self._order(symbol, operand)
                parts.result = replace(parts.result, order=order or "")
                return order is not None
            case _ if symbol in LIMITS:
                parts.result = replace(parts.result, limit=int(symbol[1:]))
            case _:
                return False
        return True

    def _add_named(self, parts: _SetParts, span: Symbol | None) -> bool:
        """Add the notes that a span of items names to a set; return False if it names none."""
        named = self.named(span) if isinstance(span, tuple) else None
        if named is None or not isinstance(span, tuple):
            return False
        parts.notes += [path for path in named.notes if path not in parts.notes]
        parts.unknown = None if named.notes else self._tagged(span) or named
        return bool(named.notes)

    def _referenced_notes(self, symbol: str) -> Sequence[str]:
        """Return the notes of the conversation that a reference means, or none."""
        dialog = self._dialog
        match symbol:
            case "it" | "this":
                path = self._first_existing(dialog.it if symbol == "it" else dialog.this)
                return [path] if path else []
            case "these":
                return dialog.them or dialog.it[:1]
            case "others":
                return dialog.others
            case "both":
                return dialog.recent if len(dialog.recent) > 1 else ()
            case "target":
                last = dialog.last.last.target if dialog.last else None
                return last.notes if last is not None else ()
            case _:
                ordinal = int(symbol[1:])
                at = ordinal - 1 if ordinal > 0 else len(dialog.them) + ordinal
                return dialog.them[at : at + 1] if at >= 0 else ()

    def _stated_condition(self, symbol: str, following: Symbol | None, before: Sequence[str]) -> str | None:
        """Return the condition of a symbol and the next one, after the conditions `before`, or None."""
        if symbol == CONDITION:
            return self.known_condition(following)
        if symbol in LINK_FIELDS:
            name = self._link_end(following)
            return f"{symbol}{quote_text(name)}" if name is not None else None
        match symbol, following:
            case "tag:", "same":
                return self._last_tag()
            case "path:", "same":
                return self._last_folder()
            case "value:", "it" | "same":
                return self._value_of(following)
        if not isinstance(following, tuple):
            return None
        if symbol in ("modified:", "created:") and self._vocabulary.means_daily_notes(before):
            return self._sets.names_of_days(self._spans.tokens(following)) or self._condition(
                symbol, following
            )
        return self._condition(symbol, following)

    def _order(self, symbol: str, following: Symbol | None) -> str | None:
        """Return the order that a symbol and the next one mean; None for an unknown property."""
        if symbol not in PROPERTY_ORDERS:
            name = symbol.removeprefix("order:").lstrip("-")
            is_known = name not in _PROPERTY_ORDER_NAMES or self.is_known(name)
            return symbol.removeprefix("order:") if is_known else None
        known = self.property_name(following) if following is not None else None
        return f"{symbol[6:-4]}{known}" if known is not None and self.is_known(known) else None

    def known_condition(self, symbol: Symbol | None) -> str | None:
        """Return the known condition at a position; None for another symbol."""
        at = symbol[0] - len(self._items) - len(self._vocabulary.fields) if isinstance(symbol, tuple) else -1
        return self._known_conditions[at].text if 0 <= at < len(self._known_conditions) else None

    def known_value(self, symbols: Sequence[Symbol], key: str) -> str | None:
        """Return the text of a known condition on the property `key`; None for other symbols."""
        text = self.known_condition(symbols[0]) if len(symbols) == 1 else None
        match = re.fullmatch(r'\[([^:\]]+):"?([^"<>\]]+)"?\]', text or "")
        return match[2] if match and match[1].casefold() == key.casefold() else None

    def _moved_in_time(self, span: Span) -> list[str]:
        """Return the last search's conditions for another period ("and this week?"), or none."""
        last = self._dialog.last.last.target if self._dialog.last else None
        inside = {id(token) for token in self._spans.tokens(span)}
        rest = {token.key for token in self._request.tokens if token.is_word and id(token) not in inside}
        linking = {word for phrase in self._language.phrases("refine", "same") for word in phrase.first}
        for name in ("determiners", "result_pronouns", "fillers"):
            linking |= self._language.words(name)
        if last is None or not last.query or not rest <= linking:
            return []
        bounds = self._spans.period(span)
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
        tokens = self._spans.tokens(span)
        mention = self._spans.mention(span)
        if mention is not None and mention.kind == "note" and mention.notes is not None:
            return mention.notes
        parsed = (
            self._sets.find_named(tokens) or self._periodic_note(tokens) or self._sets.find_similar(tokens)
        )
        return parsed.notes if parsed is not None else None

    def _tagged(self, span: Span) -> NoteSet | None:
        """Return the notes with the nested tag that a noun names: "the cat" is a "pet/cat"."""
        ignored = self._language.words("determiners") | self._language.words("note_nouns")
        words = [token for token in self._spans.tokens(span) if token.key not in ignored]
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
        """Return the name of the note that a symbol means, or the text of a span; None without one."""
        if symbol is None:
            return None
        notes = self.named(symbol) if isinstance(symbol, tuple) else self.notes([symbol], follows=False)
        if notes is not None and len(notes.notes) == 1:
            return str(NotePath.on_disk(notes.notes[0]).stem_path)
        return (self._spans.text(symbol) or None) if isinstance(symbol, tuple) else None

    def _condition(self, field: str, span: Span) -> str:
        tokens = self._spans.tokens(span)
        mention = self._spans.mention(span)
        text = self._spans.text(span).removeprefix(field)
        if field in ("tag:", "path:", "type:"):
            if value := self._value(field, text):
                return value
            if all(token.key in self._language.words("result_pronouns") for token in tokens):
                return ""  # "the empty ones" are in no folder "ones"
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
                return f"type:{quote_value(self._sets.type_of(text) or text)}"
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
        if is_unused or not self.is_known(name):
            return None, position  # the words do not refer to a property
        if comparison == "exists":
            is_negated = position > 3 and symbols[position - 4] == "-"
            term = None if is_negated else self._sets.term_condition(name, self._request.tokens)
            return term or f"[{name}]", position
        if position >= len(symbols):
            return None, position
        symbol = symbols[position]
        position += 1
        bounds = self._spans.period(symbol, name) if isinstance(symbol, tuple) else None
        if isinstance(symbol, tuple) and comparison in ("=", ">=") and self._spans.is_range_of_years(symbol):
            comparison = "during"
        is_range = bounds is not None and None not in bounds and bounds[0] != bounds[1]
        if isinstance(symbol, tuple) and comparison == "=" and is_range and not self._spans.number(symbol):
            comparison = "during"  # "visited last year"
        if comparison == "during" or (bounds is not None and None in bounds):  # "before the year 1750"
            return (within_period(name, bounds) if bounds else None), position
        value = self._spans.property_value(symbol)
        if value is None:
            return None, position
        text = value[1] if isinstance(value, tuple) and comparison in (">", "<=") else value
        text = text[0] if isinstance(text, tuple) else text
        if name == "confidence" and text.isdecimal() and int(text) > 1:
            if int(text) > 100:
                return None, position
            text = f"{int(text) / 100:g}"  # "between 50 and 80 percent"
        if comparison == "=" and isinstance(symbol, tuple):
            synonyms = self._language.table("value_synonyms").get(self._spans.text(symbol).casefold(), ())
            known = self._vocabulary.find_text_of(name, self._spans.text(symbol), synonyms)
            text = quote_value(known) if known is not None else text
        return f"[{name}:{'' if comparison == '=' else comparison}{text}]", position

    def property_name(self, symbol: Symbol) -> str | None:
        """Return the property that a symbol means, or its text if no note has it; None for another symbol."""
        if isinstance(symbol, tuple):
            if symbol[0] >= len(self._items):
                return self._vocabulary.fields[symbol[0] - len(self._items)].name
            mention = self._spans.mention(symbol)
            text = self._spans.text(symbol)
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

    def is_known(self, name: str) -> bool:
        """Return whether a property is built in or occurs in the vault."""
        return name in BUILT_IN_PROPERTIES or self._vocabulary.find_property(name) is not None

"""Parse short lines that set properties of the note in talk: "rating 4", "room is S7 then"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.actions import WITHOUT_NOTES
from app.agent.language.meaning.conditions import property_value
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import BUILT_IN_PROPERTIES, Language
from app.agent.language.words.text_lists import split_tokens
from app.agent.language.words.tokens import Token, span_text
from app.index.query_serializer import quote_value
from app.vault.path import name_key

_SCORE = 0.97
_ACTION = "set_property"
_MAX_VALUE_WORDS = 4
_MAX_PLAIN_WORDS = 2
_LISTS = frozenset(("find", "count", "backlinks", "outgoing", "related", "similar", "mentions", "meaning"))
_NO_VALUES = frozenset(("tags", "type", "aliases", "cssclasses"))


@dataclass(frozen=True, slots=True)
class PropertyLine:
    """A property with its value.

    `is_plain` is whether the value can hardly be anything else, `is_hedged` whether the user is not sure,
    `is_known` whether only the property and one of its known texts are given, `is_led` whether a word
    such as "is" is before the value, and `is_present` whether this word is about the present value of a
    property that the line names itself, not by a synonym.
    """

    key: str
    value: object
    is_plain: bool
    is_hedged: bool
    is_known: bool
    is_led: bool
    is_present: bool


def parse_property_line(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the change of "rating 4" about the note in talk, and what else it may mean; none for others.

    After a list of notes, such a line narrows the list.
    """
    if (narrowed := _narrowed_list(request, tokens)) is not None:
        return [narrowed]
    asks = bool(tokens) and tokens[0].key in request.language.words("asking_words")
    if asks or _ACTION not in request.allowed or not (about := _note_in_talk(request)):
        return []
    steps, notes, is_certain = about
    words = without_marks_at_end(tokens)
    lines = _lines(request, words)
    follows = bool(steps)
    if not lines and (follows or _is_new(request)):
        stated = stated_values(request, words)
        lines = [_stated_line(key, value) for key, value in stated]
    if not lines:
        return []
    changes = [
        PipelineStep(
            _ACTION,
            NoteSet(source="previous") if at or follows else notes,
            {"key": line.key, "value": line.value},
        )
        for at, line in enumerate(lines)
    ]
    is_hedged = any(line.is_hedged for line in lines)
    is_certain = is_certain and not is_hedged and all(line.is_plain for line in lines)
    code = request.language.code
    change = Reading((*steps, *changes), _SCORE, language=code, verb_words=1, is_certain=is_certain)
    if is_certain or is_hedged or steps or "find" not in request.allowed:
        return [change]
    search = Reading((PipelineStep("find", NoteSet(query=_query(lines))),), _SCORE, language=code)
    return [change, search]


def _stated_line(key: str, value: object) -> PropertyLine:
    """Return the line of a value that a request states plainly about a new note."""
    return PropertyLine(
        key, value, is_plain=True, is_hedged=False, is_known=False, is_led=False, is_present=True
    )


def _is_new(request: Request) -> bool:
    """Return whether the last request created the note in talk."""
    last = request.dialog.last
    return last is not None and last.steps[0].action == "create_note"


def _narrowed_list(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the listed notes with the values of a line such as "status done"; None for other requests."""
    dialog = request.dialog
    step = dialog.last.last if dialog.last is not None and len(dialog.last.steps) == 1 else None
    if step is None or step.action != "find" or step.target is None or dialog.question is not None:
        return None
    if dialog.asked:
        return None  # after an answer from the notes
    is_whole = not (step.target.source or step.target.limit or step.target.pick)
    lines = _lines(request, without_marks_at_end(tokens)) if is_whole and len(dialog.results) > 1 else []
    if not lines or not all(line.is_known and not line.is_hedged for line in lines):
        return None
    narrowed = step.target.with_query(_query(lines))
    return Reading((replace(step, target=narrowed),), _SCORE, language=request.language.code)


def _query(lines: Sequence[PropertyLine]) -> str:
    return " ".join(f"[{quote_value(line.key)}:{quote_value(str(line.value))}]" for line in lines)


def parse_asked_value(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the change of the property that the last request asked for: "make that 1:50"; or None."""
    dialog, language = request.dialog, request.language
    last = dialog.last.last if dialog.last is not None and len(dialog.last.steps) == 1 else None
    key = str(last.arguments.get("about", "")) if last is not None else ""
    is_settled = dialog.question is None and not dialog.asked
    if last is None or last.action != "properties_of" or not key or not is_settled:
        return None
    if last.target is None or not last.target.is_single or _ACTION not in request.allowed:
        return None
    words = without_marks_at_end(tokens)
    start = language.match_prefix(words, 0, "property_values", "asked_leads")
    value, is_hedged = _without_hedges(request, words[start:])
    value = value[: end_phrase(request, value, 1, len(value))]
    bound = bound_value(request, value) if start else None
    if bound is None or len(value) > _MAX_VALUE_WORDS:
        return None
    # The values are the texts of the property: none for a number.
    has_digits = not dialog.values or any(char.isdigit() for text in dialog.values for char in text)
    if has_digits and not any(char.isdigit() for char in str(bound)):
        return None  # "make it private"
    if not has_digits and not language.match_prefix(words[start - 1 :], 0, "property_values", "asked_cues"):
        return None
    step = PipelineStep(_ACTION, last.target, {"key": key, "value": bound})
    return Reading((step,), _SCORE, language=language.code, verb_words=1, is_certain=not is_hedged)


def parse_lines(request: Request, tokens: Sequence[Token]) -> list[tuple[str, object]]:
    """Return the properties of "born 2 August 2012, house Heron" with their values; none for other words."""
    return [(line.key, line.value) for line in _lines(request, tokens, is_new=True)]


def stated_lines(request: Request) -> list[PropertyLine]:
    """Return the properties that a request such as "cost is 15, not 14" states, and their values; or none."""
    return _lines(request, before_denial(request), is_new=True)


def stated_values(request: Request, tokens: Sequence[Token]) -> list[tuple[str, object]]:
    """Return the properties that words state, with their values: "rating 4, 2 seats, not hired, in planning".

    A value without its property is one that only one property of the vault has. Return no properties if any
    words may be anything else.
    """
    if lines := parse_lines(request, tokens):
        return lines
    for part in split_tokens(request.language, tokens):
        own = parse_lines(request, part) or _value_alone(request, part)
        if not own:
            return []
        lines += own
    return lines if len(dict(lines)) == len(lines) else []


def _value_alone(request: Request, tokens: Sequence[Token]) -> list[tuple[str, object]]:
    """Return the property of "2 seats", "not hired" or a known value ("in planning"); none for others."""
    language = request.language
    denials = language.words("negations").union(language.table("task_changes")["denials"])
    around = order_words(language)[1].union(
        language.table("property_values")["copulas"], language.table("doubts")["place_cues"]
    )
    end = len(tokens)
    while end > 1 and (before := end_phrase(request, tokens, 1, end)) < end:
        end = before
    for start in range(end):
        words = tuple(tokens[start:end])
        is_denied = len(words) > 1 and words[0].key in denials
        if found := _known_value(request, words[is_denied:], is_denied=is_denied):
            return [found]
        if is_denied or tokens[start].key not in around:
            break
    return []


def _known_value(request: Request, words: tuple[Token, ...], *, is_denied: bool) -> tuple[str, object] | None:
    """Return the checkbox, the property after a number, or the property of the value that words name."""
    names = request.vocabulary

    def find(part: tuple[Token, ...]) -> str:
        return next(filter(None, map(names.find_property, _spellings(request, part))), "")

    if (key := find(words)) and names.is_checkbox(key):
        return key, "false" if is_denied else "true"
    if is_denied:
        return None
    number = bound_value(request, words[:1]) if len(words) > 1 else None
    if isinstance(number, int | float):
        return (key, number) if (key := find(words[1:])) else None
    text = span_text(request.text, words)
    conditions = names.conditions_on(text) or filter(None, [names.find_value_in_part(text)])
    values = {own for condition in conditions if (own := property_value(condition)) is not None}
    value = next(iter(values)) if len(values) == 1 else None
    return value if value is not None and name_key(value[0]) not in _NO_VALUES else None


def before_denial(request: Request) -> tuple[Token, ...]:
    """Return the words of a request before ", not 14"."""
    words = without_marks_at_end(request.tokens)
    negations = request.language.words("negations")
    ends = (at for at, pair in enumerate(pairwise(words)) if pair[0].key == "," and pair[1].key in negations)
    return words[: next(ends, len(words))]


def order_words(language: Language) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of orders that set a property, and other words around its name and value."""
    table = language.table("property_values")
    frames = [own for own in language.frames if own.action in (_ACTION, "set_confidence")]
    orders = {word for frame in frames for phrase in frame.say for word in phrase.first}
    orders -= language.words("narrating")
    orders |= {word for name in ("set", "set_known", "keep_others") for word in table[name]}
    for path in ("line_cues", "line_ends", "asked_leads"):
        orders |= {word for phrase in language.phrases("property_values", path) for word in phrase.words}
    around = language.words("determiners") | language.words("courtesies")
    around |= {
        word for name in ("possessives", "nouns", "line_leads", "new_values", "ends") for word in table[name]
    }
    around |= {word for name in ("this", "it") for phrase in language.phrases(name) for word in phrase.words}
    denied = language.words("negations") | language.words("asking_words")
    return frozenset(orders - language.words("negations")), frozenset(around - denied)


def _note_in_talk(request: Request) -> tuple[tuple[PipelineStep, ...], NoteSet, bool] | None:
    """Return the note that a line without a name is about, and whether that is certain; else None.

    The note may be one that an open question offers to create: its creation comes first.
    """
    dialog = request.dialog
    for question in filter(None, (dialog.question, *reversed(dialog.unanswered))):
        first = question.options[0].reading if question.options else None
        if first is None or first.missing:
            continue
        if first.steps[0].action == "create_note" and "create_note" in request.allowed:
            return first.steps, NoteSet(source="previous"), False
        if first.last.target is not None and first.last.target.is_single:
            offered = [option.reading.steps[0].action for option in question.options]
            is_certain = "create_note" not in offered and _is_about(dialog, first.last.target.notes)
            return (), NoteSet(notes=first.last.target.notes), is_certain
        if question is dialog.question:
            return None  # a search
    last = dialog.last.last if dialog.last is not None else None
    if last is None or last.action in _LISTS | WITHOUT_NOTES or (dialog.asked and not dialog.subject):
        return None
    if not (dialog.is_about_one or last.action in ("undo", "redo") or dialog.made):
        return None
    it = dialog.subject if dialog.asked else dialog.it
    path = dialog.first_existing(it, request.vocabulary.has_file)
    is_certain = not (dialog.asked or dialog.is_doubtful)
    return ((), NoteSet(notes=(path,)), is_certain) if path else None


def _is_about(dialog: DialogState, notes: tuple[str, ...]) -> bool:
    """Return whether the conversation and its unanswered questions are about the same single note."""
    asked = {own.notes for sets in dialog.asked_about for own in sets if own.is_single}
    return dialog.focus == notes and asked == {notes} and not dialog.has_list


def _lines(request: Request, tokens: Sequence[Token], *, is_new: bool = False) -> list[PropertyLine]:
    """Return the properties of "start 2027-06-10, end 2027-06-15" with their values; none for other words."""
    lines: list[PropertyLine] = []
    for part in split_tokens(request.language, tokens):
        line = _line(request, part, is_new=is_new)
        if line is None and lines and (longer := _with_value(request, lines[-1], part)) is not None:
            lines[-1] = longer
            continue
        if line is None or line.key in [known.key for known in lines]:
            return []
        lines.append(line)
    return lines


def _with_value(request: Request, line: PropertyLine, part: Sequence[Token]) -> PropertyLine | None:
    """Return the line of a list property with one more value: "attendees Ann and Bob"; None for others."""
    bound = bound_value(request, part) if len(part) <= _MAX_VALUE_WORDS else None
    is_name = isinstance(bound, str) and bound[:1].isupper() and not _is_other(request, part)
    if not is_name or not request.vocabulary.is_list(line.key):
        return None
    values = line.value if isinstance(line.value, tuple) else (line.value,)
    return replace(line, value=(*values, bound), is_known=False)


def _line(request: Request, tokens: Sequence[Token], *, is_new: bool) -> PropertyLine | None:
    language, table = request.language, request.language.table("property_values")
    leads = language.words("determiners").union(
        table["possessives"], table["line_leads"], table["new_values"]
    )
    start = 0
    while start < len(tokens) - 1 and tokens[start].key in leads:
        start += 1
    key, after, is_own_name = _property(request, tokens, start)
    if not key:
        return None
    end_of_name = after
    if after < len(tokens) - 1 and tokens[after].key in language.table("doubts")["places"]:
        after += 1  # "deadline here is Monday"
    end = len(tokens)
    while end > after + 1 and (start_of_end := end_phrase(request, tokens, after + 1, end)) < end:
        end = start_of_end
    cue = language.match_prefix(tokens, after, "property_values", "line_cues")
    whole = span_text(request.text, tuple(tokens[after:end])) if after < end else ""
    if cue > after and request.vocabulary.find_text_of(key, whole):
        cue = after  # "status to read" with the known value "to read"
    value, is_hedged = _without_hedges(request, tokens[cue:end])
    is_hedged = is_hedged or any(token.key in table["modals"] for token in tokens[after:cue])
    if not value or len(value) > _MAX_VALUE_WORDS or (cue == after and not is_own_name):
        return None
    is_new_value = any(token.key in table["new_values"] for token in tokens[:start])
    first = tokens[start].key
    has_verb = first in language.verbs() or first in language.function_words()
    allows_verb = is_new or _follows_change(request)
    if has_verb and cue == after and not (allows_verb and is_own_name):
        return None  # "read Emma"; but "with Ann" after a change
    rest = value[language.after_determiners(value, 0, len(value) - 1) :]
    if request.vocabulary.find_text_of(key, span_text(request.text, tuple(rest))):
        value = rest  # "wants a half"
    bound = bound_value(request, value)
    if bound is None or _is_other(request, value):
        return None
    states = {"true", "false", *table["checked"], *table["unchecked"]}
    is_box = request.vocabulary.is_checkbox(key)
    if is_box and str(bound).casefold() not in states:
        return None
    is_plain = is_box or _is_plain(request, key, bound, value)  # "paid yes"
    if cue == after and not is_plain:
        return None  # "the rating I gave it"
    if is_new_value and isinstance(bound, str) and not ISO_DAY.fullmatch(bound):
        return None  # "new project Heron" is a note
    is_known = cue == after and isinstance(bound, str) and bool(request.vocabulary.find_text_of(key, bound))
    is_led = cue > after or is_new_value
    is_past = cue > after and language.match_prefix(tokens, after, "property_values", "past_cues") == cue
    is_past = is_past and not language.has_phrase(tokens[end:], "property_values", "final_ends")
    named = next(
        filter(None, map(request.vocabulary.find_property, _spellings(request, tokens[start:end_of_name]))),
        "",
    )
    is_present = is_led and not is_past and named == key
    return PropertyLine(key, bound, is_plain, is_hedged, is_known, is_led, is_present)


def end_phrase(request: Request, tokens: Sequence[Token], first: int, end: int) -> int:
    """Return the start of a phrase such as "now" or "in the end" before `end`; `end` without one."""
    matches = request.language.matches_phrase
    starts = (at for at in range(first, end) if matches(tokens[at:end], "property_values", "line_ends"))
    return next(starts, end)


def _follows_change(request: Request) -> bool:
    """Return whether the last request was a change."""
    return request.dialog.last is not None and request.writes(request.dialog.last)


def _property(request: Request, tokens: Sequence[Token], start: int) -> tuple[str, int, bool]:
    """Return the vault's property that words name, their end, and whether it has this name; or no text."""
    find = request.vocabulary.find_property
    for end in (start + 2, start + 1):
        part = tuple(tokens[start:end])
        if len(part) != end - start or any(not token.is_word for token in part):
            continue
        names = _spellings(request, part)
        if (known := next(filter(None, map(find, names)), "")) and known not in _NO_VALUES:
            return known, end, name_key(known) in map(name_key, names)
        synonym = request.language.property_name(part[0].key, find) if len(part) == 1 else None
        is_noun = part[0].key not in request.language.function_words() | request.language.verbs()
        if synonym and is_noun and synonym not in _NO_VALUES and find(synonym):
            is_known = part[0].key in request.language.table("property_values")["line_nouns"]
            return synonym, end, is_known or synonym in BUILT_IN_PROPERTIES
    return "", start, False


def _spellings(request: Request, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the names of a property that words may mean: "word count", "word-count", "wordcount"."""
    text = span_text(request.text, tuple(tokens)).removesuffix("'s")
    return text, *(text.replace(" ", mark) for mark in ("_", "-", ""))


def _without_hedges(request: Request, tokens: Sequence[Token]) -> tuple[Sequence[Token], bool]:
    """Return the words of a value without "probably", and whether there is such a word."""
    table = request.language.table("property_values")
    words = [token for token in tokens if token.key not in table["line_hedges"]]
    return (words, True) if len(words) < len(tokens) else (tokens, False)


def bound_value(request: Request, tokens: Sequence[Token]) -> object | None:
    """Return the number, day or text that some words give to a property; None for other words."""
    frame = next((own for own in request.frames if own.action == _ACTION and "key" in own.roles), None)
    if frame is None or not tokens:
        return None
    frames = request.frame_parser(follows=False)
    bound = frames.fill(request.allowed[_ACTION], frame, "value", tokens)
    return bound["value"] if bound is not None else None


def _is_other(request: Request, value: Sequence[Token]) -> bool:
    """Return whether the words after a property are no value: "status of H4", "rating 7 notes"."""
    language = request.language
    nouns = language.words("note_nouns") | language.words("single_nouns")
    if value[0].kind == "quoted":
        return False
    is_led = value[0].key in language.function_words() and language.match_prefix(
        value, 0, "property_values", "line_prepositions"
    )
    has_sign = any(token.kind == "mark" and token.key in ("<", ">", "?") for token in value)
    return bool(is_led) or has_sign or any(token.key in nouns for token in value)


def _is_plain(request: Request, key: str, bound: object, value: Sequence[Token]) -> bool:
    """Return whether a value is a number, a day, a known value of the property or a short name."""
    if not isinstance(bound, str) or ISO_DAY.fullmatch(bound) or request.is_marked(bound):
        return True
    names = request.vocabulary
    if names.known_link(key, bound) or names.find_text_of(key, bound):
        return True
    words = [token for token in value if token.is_word]
    if len(words) > _MAX_PLAIN_WORDS or any(
        token.key in request.language.function_words() for token in words
    ):
        return False
    return not names.links_of(key) or bound[:1].isupper()

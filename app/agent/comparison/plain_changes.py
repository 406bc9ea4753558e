"""Recognize changes that run although only the request model expects them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.agent.language.changes.property_lines import before_denial, order_words
from app.agent.language.doubts.stated_amounts import says_add
from app.agent.language.grammar.note_facts import (
    PropertiesOf,
    is_about_owner,
    own_property,
    present_values,
)
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading, as_tuple
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import BUILT_IN_PROPERTIES
from app.agent.language.words.tokens import Token, span_text
from app.agent.language.words.vault_words import name_parts, property_label
from app.vault.path import NotePath, name_key

_PLAIN_CHANGES = frozenset(("remove_tag", "rename_tag", "set_type"))
_MAX_COMPARED_NOTES = 50
_MAX_WORDS_WITHOUT_NAME = 4
_MAX_TEXT_WORDS = 2
_ENDS_OF_REASONS = frozenset((",", ":", ";", "–", "-", "."))
VALUE_ACTIONS = ("set_property", "set_confidence")


def is_plain_change(request: Request, found: Reading, properties_of: PropertiesOf | None) -> bool:
    """Return whether a change is one step that can hardly be meant for something else.

    It gives a stated value to a property that the notes have, changes tags or quoted texts, or removes a text
    that the conversation has added.

    Args:
        request: The request.
        found: The change with the found notes in place of its searches.
        properties_of: Returns the properties of the note at a path.
    """
    step, target = found.last, found.last.target
    if len(found.steps) > 1 or target is None or properties_of is None or _means_open_note(request, target):
        return False
    values = [value for name, value in step.arguments.items() if name != "key"]
    if not all(_states(request, value) for value in values):
        return False
    if step.action == "replace":
        return all(request.is_marked(str(value)) for value in values)
    if step.action == "remove_text":
        return _removes_own_text(request, step, target)
    if step.action != "set_property":
        return step.action in _PLAIN_CHANGES
    key, paths = name_key(str(step.arguments["key"])), target.notes
    has_property = 0 < len(paths) <= _MAX_COMPARED_NOTES and all(
        key in map(name_key, properties_of(path)) for path in paths
    )
    return has_property and _states_key(request, key)


def _removes_own_text(request: Request, step: PipelineStep, target: NoteSet) -> bool:
    """Return whether a step removes one of the texts that the conversation has added to the same note."""
    added = {
        str(text).casefold()
        for own in request.dialog.changes
        if {*target.notes} & {*own.notes}
        for text in as_tuple(own.arguments.get("text", ()))
    }
    return str(step.arguments["old"]).casefold() in added


def only_states_value(request: Request, found: Reading, properties_of: PropertiesOf) -> bool:
    """Return whether a request gives a fitting value to a property of the note in talk, and nothing else.

    All words of "mood was 4" and "mark this as read" are the property, its value, the note, or words of such
    orders. "Mood 4" has none of these words and may be a search.

    Args:
        request: The request.
        found: The change.
        properties_of: Returns the properties of the note at a path.
    """
    step, target = found.last, found.last.target
    is_value = step.action in VALUE_ACTIONS and len(found.steps) == 1
    if not is_value or target is None or not target.is_single or is_question(request):
        return False
    path, key = target.notes[0], name_key(str(step.arguments.get("key", "confidence")))
    present = present_values(properties_of, target.notes, key)
    stated = _added_value(step, present)
    named = _name_words(request, target, key)
    if not named and target.notes != request.dialog.it[:1]:
        return False  # the note on the screen after a request about another note
    if not (present if named else is_about_owner(request.dialog, properties_of, path, key)):
        return False
    if stated is None or name_key(NotePath.on_disk(path).name) == name_key(property_label(str(stated))):
        return False  # the name is that of the value
    words = _after_reason(request, before_denial(request), target, key)
    value = _value_words(request, words, stated)
    if _is_doubtful(request, words, stated, present):
        return False
    if value and _is_shift(request, words[: words.index(value[0])]):
        return False  # "rent is up 3"
    others = [token for token in words if token not in (*named, *value)]
    keys = [token for token in others if _is_of_key(request, token, key)]
    orders, around = order_words(request.language)
    if not any(token.key in orders for token in others) or not (named or value or stated is True):
        return False
    if not len({token.key for token in keys}) == len(keys) > 0:
        return False  # "set watts to 60 watts"
    if not (_fits(request, key, stated, present) or _is_plain_text(value, stated, present, orders | around)):
        return False
    return all(
        token in keys
        # "Set it back to open and priority 1" has another value.
        or (token.key in orders | around and not _is_value(request, token, properties_of(path)))
        for token in others
    )


def _name_words(request: Request, target: NoteSet, key: str) -> list[Token]:
    """Return the words that name the note of a change, and not only its property."""
    return [
        token
        for own in request.mentions(before_denial(request))
        if own.notes is not None
        and own.notes.notes == target.notes
        and not all(_is_of_key(request, token, key) for token in own.tokens)
        for token in own.tokens
    ]


def _is_doubtful(
    request: Request, words: tuple[Token, ...], stated: object, present: Sequence[object]
) -> bool:
    """Return whether words may be about another time, or about an amount instead of a value."""
    language = request.language
    days = [token for own in request.mentions(words) if own.kind == "date" for token in own.tokens]
    modals = language.table("property_values")["modals"]
    if any(token.key in modals and token not in days for token in words):
        return True  # "price may go up to 25"
    past = {word for own in language.phrases("property_values", "past_cues") for word in own.words}
    is_past = not past.isdisjoint(token.key for token in words)
    if present and is_past and not language.has_phrase(words, "property_values", "final_ends"):
        return True  # "price was 500" may be about a former price
    # "Add 2 hours" may be an amount.
    return bool(present) and says_add(request) and isinstance(stated, int | float)


def _after_reason(request: Request, words: tuple[Token, ...], target: NoteSet, key: str) -> tuple[Token, ...]:
    """Return the order of "I decided to go: set status to planned", without the reason for it.

    A reason is no order, condition, denial or report of what others said, and has neither a value nor another
    note or property.
    """
    at = max((at for at, token in enumerate(words) if token.key in _ENDS_OF_REASONS), default=-1)
    reason, order = words[: max(at, 0)], words[at + 1 :]
    language = request.language
    sets = {*language.table("property_values")["set"], *language.table("property_values")["marks"]}
    if not reason or not order or order[0].key not in sets or reason[0].key in language.verbs():
        return words
    keys = {token.key for token in reason}
    changes, reports = language.table("task_changes"), language.table("doubts")["reporting_verbs"]
    others = {*changes["denials"], *changes["conditions"], *reports, *language.words("negations")}
    is_other = not keys.isdisjoint(others)
    is_plain = not is_other and all(
        own.kind == "word"
        or (own.notes is not None and own.notes.notes == target.notes)
        or (own.kind == "prop" and name_key(own.value) == key)
        or (own.kind == "date" and not any(char.isdigit() for token in own.tokens for char in token.key))
        for own in request.mentions(reason)
    )
    return order if is_plain else words


def _is_shift(request: Request, words: tuple[Token, ...]) -> bool:
    """Return whether words before a value end with a part of a cue: "up" without "to"."""
    cues = {word for own in request.language.phrases("property_values", "line_cues") for word in own.words}
    matches = request.language.matches_phrase
    return bool(words and words[-1].key in cues) and not any(
        matches(words[at:], "property_values", "line_cues") for at in range(len(words))
    )


def _is_value(request: Request, token: Token, known: Mapping[str, object]) -> bool:
    """Return whether a word is a known text of one of a note's properties."""
    texts = (request.vocabulary.find_text_of(key, token.value) for key in known)
    return any(text is not None and name_key(text) == name_key(token.value) for text in texts)


def _is_plain_text(
    value: Sequence[Token], stated: object, present: Sequence[object], others: frozenset[str]
) -> bool:
    """Return whether a new value is a short text, like the present ones, and has no words of an order."""
    are_texts = bool(present) and all(
        isinstance(own, str) and not own.startswith("[[") and not ISO_DAY.match(own)
        for own in (stated, *present)
    )
    is_short = 0 < len(value) <= _MAX_TEXT_WORDS
    return are_texts and is_short and all(own.key.isalpha() and own.key not in others for own in value)


def _added_value(step: PipelineStep, present: list[object]) -> object | None:
    """Return the value of a change, or the only one that it adds to a list; None for other changes."""
    value = step.arguments.get("value", step.arguments.get("confidence"))
    items = [item for old in present for item in (old if isinstance(old, list | tuple) else ())]
    if not isinstance(value, tuple):
        is_list = any(isinstance(old, list | tuple) for old in present)
        return None if value in (None, "") or (is_list and items) else _as_checkbox(value)
    added = [item for item in value if item not in items]
    return added[0] if len(added) == 1 and len(value) == len(items) + 1 else None


def _as_checkbox(value: object) -> object:
    return True if str(value).casefold() == "true" else value


def _fits(request: Request, key: str, value: object, present: list[object]) -> bool:
    """Return whether a value is a known one of a property, or a number, day or name as in other notes."""
    names = request.vocabulary
    if key in BUILT_IN_PROPERTIES and names.is_list(key):
        return True
    if isinstance(value, bool):
        return names.is_checkbox(key)
    label = property_label(str(value))
    if names.find_text_of(key, label) or (str(value).startswith("[[") and names.known_link(key, label)):
        return True
    is_day, is_number = ISO_DAY.fullmatch(label) is not None, isinstance(value, int | float)
    are_alike = all(ISO_DAY.match(str(old)) if is_day else isinstance(old, int | float) for old in present)
    return (is_day or is_number) and are_alike and not names.is_checkbox(key)


def _value_words(request: Request, words: tuple[Token, ...], value: object) -> tuple[Token, ...]:
    """Return the words that state a value: a text, a number or a day."""
    label = property_label(str(value)).casefold().removesuffix(".0")
    for at in range(len(words)):
        for end in range(len(words), at, -1):
            if span_text(request.text, words[at:end]).strip("\"'“”").casefold() == label:
                return words[at:end]
    dates = [own.tokens for own in request.mentions(words) if own.kind in ("date", "value")]
    return dates[0] if len(dates) == 1 and ISO_DAY.fullmatch(label) else ()


def _is_of_key(request: Request, token: Token, key: str) -> bool:
    """Return whether a word is a property's name, a part of it, or a synonym."""
    known = request.vocabulary.find_property(token.value)
    is_synonym = bool(own_property((key,), token.key)) or (known is not None and name_key(known) == key)
    return token.is_word and (is_synonym or token.key in name_parts(key))


def _means_open_note(request: Request, target: NoteSet) -> bool:
    """Return whether a request says "this one" for another note than that of a change."""
    tokens, language = request.tokens, request.language
    says_this = language.has_phrase(tokens, "this")
    return says_this and target.notes != request.dialog.this


def _states(request: Request, value: object) -> bool:
    """Return whether a request contains a value; "and Ann" may mean another one than the last."""
    text = request.text.casefold()
    return all(
        isinstance(part, bool)
        or bool(ISO_DAY.fullmatch(str(part)))
        or property_label(str(part)).casefold().removesuffix(".0") in text
        for part in as_tuple(value)
    )


def _states_key(request: Request, key: str) -> bool:
    """Return whether a request names a property and no other one, or is so short that its value does."""
    words = [token for token in request.tokens if token.is_word]
    named = sum(mention.kind == "prop" for mention in request.mentions(request.tokens))
    has_parts = any(token.kind == "mark" and token.key in (",", ";") for token in request.tokens)
    if named > 1 or has_parts:
        return False  # "status edited, wordcount 1520"
    return named == 1 or key in request.text.casefold() or len(words) <= _MAX_WORDS_WITHOUT_NAME

"""Recognize changes that run although only the request model expects them."""

from __future__ import annotations

from app.agent.language.grammar.note_facts import PropertiesOf
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, Reading, as_tuple
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.vocabulary import property_label
from app.vault.path import name_key

_PLAIN_CHANGES = frozenset(("remove_tag", "rename_tag", "set_type"))
_MAX_COMPARED_NOTES = 50
_MAX_WORDS_WITHOUT_NAME = 4


def is_plain_change(request: Request, found: Reading, properties_of: PropertiesOf | None) -> bool:
    """Return whether a change is one step that can hardly be meant for something else.

    It gives a stated value to a property that the notes have, or changes tags or quoted texts.

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
    if step.action != "set_property":
        return step.action in _PLAIN_CHANGES
    key, paths = name_key(str(step.arguments["key"])), target.notes
    has_property = 0 < len(paths) <= _MAX_COMPARED_NOTES and all(
        key in map(name_key, properties_of(path)) for path in paths
    )
    return has_property and _states_key(request, key)


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

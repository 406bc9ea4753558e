"""Decide whether a reading accounts for all words of its request."""

from __future__ import annotations

import re

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import TOOL_PREFIX
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Reading, as_tuple, note_sets_of

_SENTENCE_MARK = re.compile(r"[;!?]|[.,]\s")
_NAME_ROLES = ("name", "new_name", "folder", "new_tag", "new_key", "new_heading", "parent")


def accounts_for_all(request: Request, reading: Reading) -> bool:
    """Return whether the reading accounts for everything in the request, including unknown words.

    Dates, numbers, relations and properties may take another form and are ignored. A tool's example always
    passes. Any other reading fails if an unquoted name contains sentence punctuation. A change that fails
    this check needs a question.
    """
    if all(step.action.startswith(TOOL_PREFIX) for step in reading.steps):
        return True
    language = request.language
    serialized = serialize(reading).casefold()
    if has_marks_in_names(request, reading):
        return False
    known = language.vocabulary() | language.function_words()
    notes = {path for note_set in note_sets_of(reading) for path in note_set.notes}
    keys = {str(step.arguments["key"]) for step in reading.steps if "key" in step.arguments}
    find_property = request.vocabulary.find_property
    for mention in request.mentions(request.tokens):
        words = [token.value.casefold() for token in mention.tokens]
        if all(word in serialized for word in words) or all(token.key in known for token in mention.tokens):
            continue
        if all(language.property_name(token.key, find_property) in keys for token in mention.tokens):
            continue  # a word for the property, even if a note has a similar name
        named = mention.notes.notes if mention.notes is not None else ()
        if (named and set(named) <= notes) or (mention.value and mention.value.casefold() in serialized):
            continue
        if mention.kind in ("date", "rel", "num", "prop"):
            continue  # written in another form: a fraction for a percentage, a day for "yesterday"
        return False
    return True


def has_marks_in_names(request: Request, reading: Reading) -> bool:
    """Return whether a name that is not quoted in the request contains sentence punctuation."""
    return any(_SENTENCE_MARK.search(name) for name in _unquoted_names(request, reading))


def _unquoted_names(request: Request, reading: Reading) -> list[str]:
    """Return the names in a reading that are not quoted in the request."""
    names = [
        str(name)
        for step in reading.steps
        for role in _NAME_ROLES
        for name in as_tuple(step.arguments.get(role, ()))
    ]
    quoted = {token.value for token in request.tokens if token.kind in ("quoted", "link")}
    return [name for name in names if name not in quoted]

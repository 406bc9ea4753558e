"""Find the property of a linked note that answers a question: "his email?" about the keeper of a tool."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.agent.language.grammar.note_facts import (
    KINDS_OF_NAMES,
    NoteFact,
    PropertiesOf,
    asked_kinds,
    fact_in,
    folders_named,
    is_content,
    names_in,
    notes_asked_about,
    says_sum,
    value_reading,
)
from app.agent.language.grammar.questions import is_question
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import as_tuple
from app.agent.language.words.tokens import Token
from app.agent.language.words.vault_words import property_label
from app.vault.path import NotePath, name_key

MAX_WORDS = 12
"""The maximum number of words of a question about the note in talk that does not refer to it."""


def find_fact_of_link(request: Request, properties_of: PropertiesOf) -> NoteFact | None:
    """Return the property of the note that a word of a question links to: "what does the supplier charge?".

    The word may also be the folder of the linked notes, which then answer: "which plots is it for?".

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
    """
    asked = notes_asked_about(request, MAX_WORDS)
    if asked is None or len(asked[0]) != 1 or not _asks(request, asked[1]):
        return None
    path, meant = asked[0][0], []
    end = request.language.match_prefix(asked[1], 0, "fact_questions", "choices")
    is_last = not any(is_content(request, token) for token in asked[1][end + 1 :])
    folders = folders_named(request, asked[1][end]) if 0 < end < len(asked[1]) and is_last else set()
    for name, value in properties_of(path).items():
        notes = _linked_notes(request, value)
        left = [token for token in asked[1] if name not in names_in(request, token, {name_key(name): name})]
        is_list = end > 0 and asked[1][end : end + 1] != left[end : end + 1]  # "which suppliers deliver?"
        if len(notes) == 1 and len(left) < len(asked[1]) and not is_list:
            fact = fact_in(request, notes, left, properties_of)
            # "Who is the supplier?" does not ask for the supplier's contact.
            if fact and (fact.is_named or KINDS_OF_NAMES.isdisjoint(asked_kinds(request, left))):
                return _aside(request, path, fact)
        if notes and folders and folders.issuperset(note.rpartition("/")[0] for note in notes):
            meant.append(name)
    return NoteFact(value_reading(request, (path,), meant[0]), is_named=True) if len(meant) == 1 else None


def find_linked_fact(
    request: Request, properties_of: PropertiesOf, linking: Sequence[str] = ()
) -> NoteFact | None:
    """Return the only property of the notes one link away that answers a question about a note, or None.

    The notes of the last answer come first, then those that the note's properties link to, then those with a
    property that links to the note.

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
        linking: The notes that link to the note.
    """
    asked = notes_asked_about(request, MAX_WORDS)
    if asked is None or len(asked[0]) != 1 or not _asks(request, asked[1]):
        return None
    (path,), words, _ = asked
    start = request.language.match_prefix(words, 0, "fact_questions", "choices")
    language = request.language
    nouns = language.words("note_nouns") - language.words("determiners") - language.words("result_pronouns")
    asks_for_notes = any(token.key in nouns for token in words)
    if asks_for_notes or (0 < start < len(words) and request.vocabulary.has_kind(words[start].key)):
        return None  # "what vegan things are there?", "which customers get the newsletter?"
    said = named_notes(request, request.dialog.values)
    if len(said) == 1 and said != (path,) and (fact := fact_in(request, said, words, properties_of)):
        return _aside(request, path, fact)
    sums = request.language.table("scopes")["sums"] if says_sum(request) else ()
    words = [token for token in words if token.key not in sums]
    links = {(name, ""): _linked_notes(request, value) for name, value in properties_of(path).items()}
    for groups in (links, _by_property(request, properties_of, path, linking)):
        found = []
        for (name, _), group in groups.items():
            notes, left = _with_word_in_name(request, group, words)
            fact = (
                fact_in(request, notes, left, properties_of) if len(notes) == 1 or (sums and notes) else None
            )
            # The property with the link answers only "who covers for her?", which does not name it.
            is_link = fact is not None and fact.reading.last.arguments["about"] == name
            if fact is not None and fact.is_named is not is_link:
                found.append(fact)
        if found:
            return _aside(request, path, found[0]) if len(found) == 1 else None
    return None


def _aside(request: Request, path: str, fact: NoteFact) -> NoteFact:
    """Return the fact of a linked note, after which the conversation stays about the note in talk."""
    target, dialog = fact.reading.last.target, request.dialog
    is_aside = target is not None and target.is_single and path in (*dialog.it[:1], *dialog.this[:1])
    return replace(fact, reading=replace(fact.reading, is_aside=is_aside))


def _with_word_in_name(
    request: Request, notes: tuple[str, ...], words: Sequence[Token]
) -> tuple[tuple[str, ...], Sequence[Token]]:
    """Return the notes with a word of a question in their names, and the other words; else all of them."""
    plain = request.language.function_words()
    names = {path: {*name_key(NotePath.on_disk(path).name).split()} - plain for path in notes}
    named = tuple(path for path, own in names.items() if any(token.key in own for token in words))
    said = {word for path in named for word in names[path]}
    return (named, [token for token in words if token.key not in said]) if named else (notes, words)


def _asks(request: Request, words: Sequence[Token]) -> bool:
    """Return whether a request asks for a value, perhaps without a verb: "his email"."""
    return is_question(request) or request.language.match_prefix(words, 0, "own_values", "leads") > 0


def _linked_notes(request: Request, value: object) -> tuple[str, ...]:
    """Return the notes that the links in a property's value mean."""
    return named_notes(request, (property_label(str(text)) for text in as_tuple(value) if "[[" in str(text)))


def named_notes(request: Request, names: Iterable[str]) -> tuple[str, ...]:
    """Return the notes with some names."""
    found = (request.vocabulary.notes(name) for name in names)
    return tuple(dict.fromkeys(paths[0] for paths in found if len(paths) == 1))


def _by_property(
    request: Request, properties_of: PropertiesOf, path: str, linking: Sequence[str]
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the notes with a property that links to a note, by that property and their folder."""
    groups: dict[tuple[str, str], tuple[str, ...]] = {}
    for other in linking:
        for name, value in properties_of(other).items():
            if path in _linked_notes(request, value):
                group = name, other.rpartition("/")[0]
                groups[group] = (*groups.get(group, ()), other)
    return groups

"""Find the property that answers a question about one note: "how much was it?", "Lotte's birthday?"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import Token, span_text
from app.agent.language.words.vault_words import name_parts
from app.answering.question import stems
from app.vault.path import name_key

FACTS = ("words", "size", "created", "modified")
"""Facts about a note that `properties_of` returns besides properties."""
_SCORE = 0.9
_MAX_ELLIPTIC_WORDS = 5
_MAX_OTHER_WORDS = 2
_MAX_COMPARED_NOTES = 50
_MIN_SIMILARITY, _MIN_FUZZY_LENGTH = 85.0, 5
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")
_SHOWN_BY_OTHER_ACTIONS = frozenset(("tags", "aliases", "type", "cssclasses", "ai"))

PropertiesOf = Callable[[str], Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class NoteFact:
    """A property of a note that may answer a question.

    `is_named` is True if the question contains the property's name or a synonym, False if the property only
    has the kind of value that the question asks for.
    """

    reading: Reading
    is_named: bool


def find_fact(request: Request, properties_of: PropertiesOf) -> NoteFact | None:
    """Return the only property that may answer a question about a note or the listed ones, or None.

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
    """
    language = request.language
    words = [token for token in request.tokens if token.kind != "mark"]
    if (
        "properties_of" not in request.allowed
        or not words
        or language.match_prefix(words, 0, "reason_questions")
    ):
        return None
    paths, rest, is_elliptic = _notes_in(request, words)
    if not paths:
        return None
    asked = {
        kind: start
        for kind in languages()[0].table("facts")
        if (start := language.match_prefix(rest, 0, "fact_questions", kind))
    }
    properties = _common_properties(paths, properties_of)
    known = {
        name_key(name): name
        for name, value in properties.items()
        if not asked or any(_is_of_kind(kind, value) for kind in asked)
    }
    named = {name for token in rest for name in _names(request, token.key, known)}
    others = [
        token for token in rest if not _names(request, token.key, known) and _is_content(request, token)
    ]
    has_number = any(char.isdigit() for token in others for char in token.key)
    max_others = 0 if is_elliptic else _MAX_OTHER_WORDS  # another word may name another thing
    if len(named) == 1 and len(others) <= max_others and not has_number:
        return NoteFact(_reading(request, paths, named.pop()), is_named=True)
    if named:
        return None
    for kind, start in asked.items():
        if any(_is_content(request, token) for token in rest[start:]):
            continue
        names = languages()[0].table("facts")[kind]
        fitting = [
            key
            for key, name in known.items()
            if key in names or (kind == "dates" and _DAY.fullmatch(str(properties[name])))
        ]
        if len(fitting) == 1:
            return NoteFact(_reading(request, paths, known[fitting[0]]), is_named=False)
    return None


def _common_properties(paths: Sequence[str], properties_of: PropertiesOf) -> dict[str, object]:
    """Return the properties of at least half of some notes, each with one of its values."""
    values: dict[str, list[object]] = {}
    for path in paths:
        for name, value in properties_of(path).items():
            if value not in (None, "", []) and name_key(name) not in _SHOWN_BY_OTHER_ACTIONS:
                values.setdefault(name, []).append(value)
    return {name: found[0] for name, found in values.items() if 2 * len(found) >= len(paths)}


def _is_of_kind(kind: str, value: object) -> bool:
    """Return whether a value may answer a kind of question: "when?" asks for no checkbox."""
    is_day = _DAY.fullmatch(str(value)) is not None
    if kind in ("dates", "ends"):
        return not isinstance(value, bool | list) and any(char.isdigit() for char in str(value))
    if kind == "persons":
        return isinstance(value, str | list) and not is_day
    return not isinstance(value, bool) and (kind == "ages" or not is_day)


def may_answer(request: Request, name: str, value: object) -> bool:
    """Return whether a property may answer a question, which names it or asks for its kind of value.

    "How long does it bake?" does not ask for the number of words, and "where did he publish it?" for no day.

    Args:
        request: The request.
        name: The property, or a fact about the note.
        value: The property's value; None if the note lacks it.
    """
    words, key = [token for token in request.tokens if token.kind != "mark"], name_key(name)
    is_day = _DAY.fullmatch(str(value)) is not None
    kinds = [
        kind
        for kind in languages()[0].table("facts")
        if any(request.language.match_prefix(words, at, "fact_questions", kind) > at for at in range(2))
    ]
    if is_day and kinds and not {"dates", "ages"} & {*kinds}:
        return False
    named = [token for token in words if _names(request, token.key, {key: name})]
    if name in FACTS:
        start = max(request.language.match_prefix(words, 0, "fact_questions", kind) for kind in kinds or [""])
        return not any(_is_content(request, token) for token in words[start:] if token not in named)
    fits = any(key in languages()[0].table("facts")[kind] for kind in kinds) or (is_day and "dates" in kinds)
    return value is not None and (bool(named) or fits)


def split_questions(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a question at "and" or a comma: "who wrote it and when was it published?"."""
    tokens, language = without_marks_at_end(request.tokens), request.language
    for at in range(1, len(tokens) - 1):
        start = at + (tokens[at].key == ",")
        end = max(start, language.match_prefix(tokens, start, "and"))
        if at < end < len(tokens):
            yield span_text(request.text, tokens[:at]), span_text(request.text, tokens[end:])


def join_facts(
    parts: tuple[Request, Request], properties_of: PropertiesOf, dialog: DialogState
) -> Reading | None:
    """Return the reading that answers two questions about the same note, or None.

    Either of the questions names the note, or it is the note that the conversation is about.
    """
    for first, second in (parts, parts[::-1]):
        known = find_fact(first, properties_of)
        target = known.reading.last.target if known is not None else None
        if known is None or target is None:
            continue
        about_note = replace(dialog, focus=target.notes, open_note=target.notes[0], asked="", is_lost=False)
        other = find_fact(replace(second, dialog=about_note), properties_of)
        if other is None or other.reading.last.target != target or other.reading.last == known.reading.last:
            continue
        facts = (known, other) if first is parts[0] else (other, known)
        return replace(known.reading, steps=tuple(fact.reading.last for fact in facts))
    return None


def says_sum(request: Request) -> bool:
    """Return whether a request asks for the sum of values: "how much is that in total?"."""
    # "In total" is no token of most requests, to which it adds nothing.
    words = re.findall(r"\w+", request.text.casefold())
    return not {*request.language.table("scopes")["sums"]}.isdisjoint(words)


def may_be_summed(about: str) -> bool:
    """Return whether the sum of a property is meaningful: not of years, rates or numbers of things."""
    facts, key = languages()[0].table("facts"), name_key(about)
    is_amount = any(key in facts[kind] for kind in ("prices", "durations", "quantities"))
    summed = {word for language in languages() for word in language.table("scopes")["summed"]}
    is_amount = is_amount or not name_parts(key).isdisjoint(summed)  # "distance-km"
    return about == "words" or (is_amount and key not in facts["unsummed"])


def _reading(request: Request, paths: tuple[str, ...], name: str) -> Reading:
    step = PipelineStep("properties_of", NoteSet(notes=paths), {"about": name})
    return Reading((step,), _SCORE, language=request.language.code)


def _notes_in(request: Request, words: Sequence[Token]) -> tuple[tuple[str, ...], list[Token], bool]:
    """Return the note that a question is about, the listed notes, or none; and the other words.

    The last value is True if no word of the question means the notes.
    """
    mentions = [
        mention
        for mention in request.mentions(words)
        # "The author" is a property rather than the note "Author Template".
        if mention.kind == "note"
        and not (mention.is_near and all(_is_property(request, token.key) for token in mention.tokens))
    ]
    notes = {mention.notes.notes for mention in mentions if mention.notes is not None}
    if mentions:
        taken = {id(token) for mention in mentions for token in mention.tokens}
        rest = [token for token in words if id(token) not in taken]
        paths = notes.pop() if len(notes) == 1 else ()
        return (paths if len(paths) == 1 else ()), rest, False
    dialog, sets, language = request.dialog, request.set_parser(), request.language
    ordinal = sets.ordinal_in(words)
    if ordinal is not None and dialog.them:
        is_listed = 0 < abs(ordinal) <= len(dialog.them)
        path = dialog.them[ordinal - 1 if ordinal > 0 else ordinal] if is_listed else ""
        return ((path,) if path else ()), list(words), False
    means_it = any(language.has_phrase(words, name) for name in ("it", "this"))
    means_them = any(token.key in language.table("doubts")["possible_plurals"] for token in words)
    is_list = len(dialog.them) > 1 and not dialog.asked and not (dialog.focus and not dialog.has_list)
    if is_list and (means_them or says_sum(request)):
        sums = language.table("scopes")["sums"]
        return dialog.them, [token for token in words if token.key not in sums], False
    it = dialog.subject if dialog.asked else dialog.it
    if dialog.is_lost or not it or not (means_it or len(words) <= _MAX_ELLIPTIC_WORDS):
        return (), list(words), False
    return it[:1], list(words), not means_it


def _is_property(request: Request, word: str) -> bool:
    """Return whether a word names a property of the vault: "author", "directed"."""
    find_property = request.vocabulary.find_property
    names = request.language.properties_of_verb(word)
    return bool(
        find_property(word)
        or request.language.property_name(word, find_property)
        or any(map(find_property, names))
    )


def _names(request: Request, word: str, known: Mapping[str, str]) -> set[str]:
    """Return the properties that a word names, in part, by a synonym or misspelled.

    Args:
        request: The request.
        word: The word as a key.
        known: The properties of the note by key.
    """
    if word in request.language.function_words() and word not in known:
        return set()
    language = request.language
    synonyms = language.implied_properties((word,))
    stem = stems(word, language.code)
    names: set[str] = set()
    for key, name in known.items():
        parts = name_parts(key)
        is_similar = len(word) >= _MIN_FUZZY_LENGTH and fuzz.ratio(word, key) >= _MIN_SIMILARITY
        if word in parts or synonyms & parts or is_similar or stem == stems(key, language.code):
            names.add(name)
    return names


def _is_content(request: Request, token: Token) -> bool:
    language = request.language
    return token.key not in language.function_words() | language.words("question_words")


def own_property(properties: Iterable[str], key: str) -> str:
    """Return the only property of a note that is `key` or a synonym; an empty text without one."""
    known, key = {name_key(name): name for name in properties}, name_key(key)
    if key in known:
        return known[key]
    tables = [language.table("properties") for language in languages()]
    names = {name for table in tables for name, words in table.items() if key in (name, *words)}
    synonyms = {word for table in tables for name in names for word in (name, *table.get(name, ()))}
    found = [name for own, name in known.items() if own in synonyms]
    return found[0] if len(found) == 1 else ""


def present_values(properties_of: PropertiesOf, notes: Sequence[str], key: object) -> list[object]:
    """Return the values that a property has in each of some notes."""
    wanted = name_key(str(key))
    items = (item for path in notes for item in properties_of(path).items())
    return [value for name, value in items if name_key(name) == wanted]


def is_about_owner(dialog: DialogState, properties_of: PropertiesOf, path: str, key: str) -> bool:
    """Return whether a note in talk is the only one that a value without a note may be for.

    That is the only one with the property, also among the notes of an answer, a list or an unanswered
    question, or else the only note in talk.

    Args:
        dialog: The state of the conversation.
        properties_of: Returns the properties of the note at a path.
        path: The note.
        key: The property.
    """
    in_talk = {*dialog.it[:1], *dialog.this[:1]}
    others = {own.notes[0] for sets in dialog.asked_about for own in sets if own.is_single}
    is_listed = bool(dialog.has_list or dialog.asked) or path not in dialog.it[:1]
    others |= {*dialog.results} if is_listed else set()
    if len(others) > _MAX_COMPARED_NOTES or path not in in_talk:
        return False
    if dialog.asked and dialog.subject and path not in dialog.subject:
        return False  # the conversation is about another note
    if not present_values(properties_of, (path,), key):
        return in_talk == {path} and not is_listed
    return not present_values(properties_of, tuple((in_talk | others) - {path}), key)

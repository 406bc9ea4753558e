"""Find the property that answers a question about one note: "how much was it?", "Lotte's birthday?"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rapidfuzz import fuzz

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import Token
from app.agent.language.words.vault_words import name_parts, name_words
from app.answering.question import parse_question, stems, stop_words
from app.vault.path import name_key

FACTS = ("words", "size", "created", "modified")
"""Facts about a note that `properties_of` returns besides properties."""
_SCORE = 0.9
_MAX_ELLIPTIC_WORDS = 5
_MAX_OTHER_WORDS = 2
_MAX_COMPARED_NOTES = 50
_MIN_SIMILARITY, _MIN_FUZZY_LENGTH = 85.0, 5
_MIN_PREFIX_LENGTH = 6
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d.*)?")
_LONG_NUMBER = re.compile(r"\d{9}")
KINDS_OF_NAMES = frozenset(("persons", "places", "owners", "holders", "origins", "substitutes", "contacts"))
"""Kinds of values that are names or links."""
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
    asked = notes_asked_about(request)
    if asked is None:
        return None
    paths, rest, is_elliptic = asked
    # Another word may name another thing.
    return fact_in(request, paths, rest, properties_of, 0 if is_elliptic else _MAX_OTHER_WORDS)


def notes_asked_about(
    request: Request, max_words: int = _MAX_ELLIPTIC_WORDS
) -> tuple[tuple[str, ...], list[Token], bool] | None:
    """Return the note or listed notes of a question, its other words, and whether no word means the notes.

    None if a question is about no note, or asks for a reason or for words of a person.

    Args:
        request: The request.
        max_words: The maximum number of words of a question about the note in talk that does not refer to it.
    """
    words = [token for token in request.tokens if token.kind != "mark"]
    if (
        "properties_of" not in request.allowed
        or not words
        or request.language.match_prefix(words, 0, "reason_questions")
        or request.language.match_prefix(words, 0, "fact_questions", "reports")
    ):
        return None
    paths, rest, is_elliptic = _notes_in(request, words, max_words)
    endings = (
        at
        for at in range(2, len(rest))
        if request.language.matches_phrase(rest[at:], "fact_questions", "endings")
    )
    return (paths, rest[: next(endings, None)], is_elliptic) if paths else None


def fact_in(
    request: Request,
    paths: tuple[str, ...],
    words: Sequence[Token],
    properties_of: PropertiesOf,
    max_others: int = 0,
) -> NoteFact | None:
    """Return the only property of some notes that words ask for, or None.

    Args:
        request: The request.
        paths: The notes.
        words: The words of the question that do not name the notes.
        properties_of: Returns the properties of the note at a path.
        max_others: The maximum number of content words that name no property.
    """
    properties = _common_properties(paths, properties_of)
    words = _without_kind_of(request, paths, words)
    asked, parsed = asked_kinds(request, words), parse_question(request.text)
    known = {
        name_key(name): name
        for name, value in properties.items()
        if not asked or any(_is_of_kind(kind, value) for kind in asked) or parsed.is_answered_by(str(value))
    }
    own = asked.get("starts", 0)  # "how long has he been here?" does not name his hours
    named = [*(set[str]() for _ in words[:own]), *(names_in(request, token, known) for token in words[own:])]
    names = {name for found in named for name in found}
    others = [
        token for token, found in zip(words, named, strict=True) if not found and is_content(request, token)
    ]
    has_number = any(char.isdigit() for token in others for char in token.key)
    if asks_if := request.tokens[0].key in request.language.table("doubts")["asking_verbs"]:
        names = {name for name in names if isinstance(properties[name], bool)} or names  # "is the fee paid?"
    if len(names) == 1 and len(others) <= max_others and not has_number:
        name = names.pop()
        name = _settled(name, properties) if asks_if else name
        return NoteFact(value_reading(request, paths, name), is_named=True)
    if names:
        return None
    says_price = any(token.key in _names_of("prices") for token in others)
    if not asked and says_price and len(others) <= max_others + 2:  # "what's the day rate?"
        asked, words = {"prices": 0}, []
    for kind, start in asked.items():
        if any(is_content(request, token) for token in words[start:]):
            continue
        fitting = {key: _fit(kind, key) for key, name in known.items() if _is_of_kind(kind, properties[name])}
        days = [key for key in fitting if kind == "dates" and _DAY.fullmatch(str(properties[known[key]]))]
        best = max(fitting.values(), default=0)
        likeliest = days or [key for key, fit in fitting.items() if best and fit == best]
        if len(likeliest) == 1:
            return NoteFact(value_reading(request, paths, known[likeliest[0]]), is_named=False)
    return None


def _settled(name: str, properties: Mapping[str, object]) -> str:
    """Return a property, or the checkbox that says whether its amount is paid: "is the rent in?"."""
    is_amount = not isinstance(properties[name], bool) and _fit("prices", name_key(name)) > 0
    boxes = (own for own, value in properties.items() if isinstance(value, bool))
    paid = [own for own in boxes if _fit("settled", name_key(own))]
    return paid[0] if is_amount and len(paid) == 1 else name


def _without_kind_of(request: Request, paths: Sequence[str], words: Sequence[Token]) -> list[Token]:
    """Return words without one for the folder of some notes: "this plot"."""
    folders = {path.rpartition("/")[0] for path in paths}
    return [token for token in words if folders.isdisjoint(folders_named(request, token))]


def folders_named(request: Request, token: Token) -> set[str]:
    """Return the folders that a word names, perhaps in the singular."""
    find = request.vocabulary.find_folder, request.vocabulary.find_folder_of_one
    return {folder for one in find if (folder := one(token.key))}


def asked_kinds(request: Request, words: Sequence[Token]) -> dict[str, int]:
    """Return the kinds of values that most words ask for, each with their number: "where is it from?"."""
    kinds = languages()[0].table("facts")
    ends = {kind: request.language.match_prefix(words, 0, "fact_questions", kind) for kind in kinds}
    return {kind: end for kind, end in ends.items() if end and end == max(ends.values())}


@cache
def _names_of(kind: str) -> frozenset[str]:
    """Return the names of properties that answer a kind of question, in any language."""
    return frozenset(name for language in languages() for name in language.table("facts").get(kind, ()))


def _fit(kind: str, key: str) -> int:
    """Return how well a property fits a kind of question: 2 by its name, 1 by a word of it, or else 0."""
    names, words = _names_of(kind), name_words(key)
    is_partial = kind not in ("durations", "quantities") and not names.isdisjoint(words)
    return 2 if "-".join(words) in names else int(is_partial)


def _common_properties(paths: Sequence[str], properties_of: PropertiesOf) -> dict[str, object]:
    """Return the properties of at least half of some notes, each with one of its values."""
    values: dict[str, list[object]] = {}
    for path in paths:
        for name, value in properties_of(path).items():
            if value not in (None, "", []) and name_key(name) not in _SHOWN_BY_OTHER_ACTIONS:
                values.setdefault(name, []).append(value)
    return {name: found[0] for name, found in values.items() if 2 * len(found) >= len(paths)}


def _is_of_kind(kind: str, value: object) -> bool:
    """Return whether a value may answer a kind of question: "when?" asks for no checkbox, "who?" no day."""
    text = str(value)
    has_digit, is_link = any(map(str.isdigit, text)), "[[" in text
    if kind in KINDS_OF_NAMES:
        return isinstance(value, str | list) and (is_link or not (text[:1].isdigit() or _DAY.fullmatch(text)))
    if kind in ("dates", "ends", "starts"):
        is_long = _LONG_NUMBER.search(text.replace(" ", "")) is not None  # a telephone number
        return has_digit and not is_long and not is_link and not isinstance(value, bool | list)
    return not isinstance(value, bool) and not is_link and (kind == "ages" or _DAY.fullmatch(text) is None)


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
    kinds = [kind for at in range(2) for kind in asked_kinds(request, words[at:])]
    if is_day and kinds and not {"dates", "ages", "starts", "ends"} & {*kinds}:
        return False
    named = [token for token in words if names_in(request, token, {key: name})]
    if name in FACTS:
        start = max(request.language.match_prefix(words, 0, "fact_questions", kind) for kind in kinds or [""])
        return not any(is_content(request, token) for token in words[start:] if token not in named)
    says_price = any(token.key in _names_of("prices") for token in words)
    kinds += ["prices"] if says_price and not kinds else []
    fits = any(_fit(kind, key) for kind in kinds) or (is_day and "dates" in kinds)
    fits |= "[[" in str(value) and any(folders_named(request, token) for token in words[1:2])  # "which plots"
    return value is not None and (bool(named) or fits)


def says_sum(request: Request) -> bool:
    """Return whether a request asks for the sum of values: "how much is that in total?"."""
    # "In total" is no token of most requests, to which it adds nothing.
    words = re.findall(r"\w+", request.text.casefold())
    return not {*request.language.table("scopes")["sums"]}.isdisjoint(words)


def may_be_summed(about: str) -> bool:
    """Return whether the sum of a property is meaningful: not of years, rates or numbers of things."""
    key = name_key(about)
    is_amount = any(key in _names_of(kind) for kind in ("prices", "durations", "quantities"))
    summed = {word for language in languages() for word in language.table("scopes")["summed"]}
    is_amount = is_amount or not name_parts(key).isdisjoint(summed)  # "distance-km"
    return about == "words" or (is_amount and key not in _names_of("unsummed"))


def value_reading(request: Request, paths: tuple[str, ...], name: str) -> Reading:
    """Return the reading that shows a property of notes."""
    step = PipelineStep("properties_of", NoteSet(notes=paths), {"about": name})
    return Reading((step,), _SCORE, language=request.language.code)


def _notes_in(
    request: Request, words: Sequence[Token], max_words: int
) -> tuple[tuple[str, ...], list[Token], bool]:
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
    says_number = len(dialog.them) in {language.table("numbers").get(token.key) for token in words}
    is_list = not dialog.asked and (dialog.has_list or not dialog.focus or says_number)
    is_list, means_them = is_list and len(dialog.them) > 1, means_them or says_number
    if is_list and (means_them or says_sum(request)):
        sums = language.table("scopes")["sums"]
        return dialog.them, [token for token in words if token.key not in sums], False
    is_here = language.has_phrase(words, "this") and not language.has_phrase(words, "it")
    it = dialog.this if is_here else dialog.subject if dialog.asked else dialog.it
    if dialog.is_lost or not it or not (means_it or len(words) <= max_words):
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


def names_in(request: Request, token: Token, known: Mapping[str, str]) -> set[str]:
    """Return the properties that a word names, in part, by a synonym or misspelled.

    Args:
        request: The request.
        token: The word.
        known: The properties of the note by key.
    """
    language, word = request.language, token.key
    before = max(
        (own for own in request.tokens if own.end <= token.start), key=lambda own: own.end, default=None
    )
    is_noun = before is not None and before.key in language.words("personal_pronouns")  # "his number"
    if word in known:
        return {known[word]}
    if not (is_content(request, token) or is_noun):
        return set()
    synonyms = language.implied_properties((word,))
    stem = stems(word, language.code)
    names: set[str] = set()
    for key, name in known.items():
        parts = name_parts(key)
        is_similar = len(word) >= _MIN_FUZZY_LENGTH and fuzz.ratio(word, key) >= _MIN_SIMILARITY
        is_form = any(
            stem == stems(part, language.code) or (len(word) >= _MIN_PREFIX_LENGTH and part.startswith(word))
            for part in parts
        )
        if word in parts or synonyms & parts or is_similar or is_form:
            names.add(name)
    return names


def is_content(request: Request, token: Token) -> bool:
    """Return whether a word is no function word, question word or stop word."""
    language = request.language
    plain = language.function_words() | language.words("question_words") | stop_words(language.code)
    return token.key not in plain


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

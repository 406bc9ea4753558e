"""Parse requests for a note of a kind that the vault knows: "new person: Inga Solberg", "create a movie X".

A kind has a folder or a template.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.agent.language.changes.property_lines import parse_lines
from app.agent.language.changes.template_notes import (
    creation_of,
    daily_note,
    is_daily,
    reading_from_template,
    template_of,
)
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.conditions import property_value
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.tokens import Token, span_text
from app.vault.path import NotePath

_SCORE = 0.98
_MAX_KIND_WORDS = 5
"""The number of words in which a request names the kind of a new note: "make me a new movie note"."""
_MAX_LISTED_NAME_WORDS = 8


@dataclass(frozen=True, slots=True)
class _Details:
    """The name, the places and the properties or the text of a new note, as far as a request states them."""

    name: tuple[Token, ...]
    places: tuple[tuple[Token, ...], ...]
    rest: tuple[Token, ...]


def parse_listed_note_of_kind(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the creation of "new person: Inga Solberg, lecturer" or "new recipe Dosa: ferment the rice".

    The note has its name before the comma or the colon, and the folder and the template of its kind. What
    follows are its properties if all of it names some, or else its text. Without a colon, it is no text:
    "new recipe Dosa in Breakfast, course main".
    """
    language = request.language
    if daily := _daily_note_with_details(request, tokens):
        return [daily]
    tokens = _without_note(request, tokens)
    start = language.match_prefix(tokens, 0, "template_notes", "kind_leads")
    if not 0 < start < len(tokens) - 1 or "create_note" not in request.allowed:
        return []
    found = next(filter(None, (_kind_at(request, tokens, start, size) for size in (2, 1))), None)
    if found is None:
        return []
    folder, template, end = found
    after = tokens[end:]
    has_colon = any(token.key == ":" for token in after)
    details = _listed_details(request, after) if has_colon else _plain_details(request, after)
    if details is None or not details.name or len(details.name) > _MAX_LISTED_NAME_WORDS:
        return []
    if any(token.kind == "mark" for token in details.name):
        return []
    values: dict[str, object] = {"name": span_text(request.text, details.name).strip('"“”„')}
    if folder:
        values["folder"] = folder
    rest = details.rest
    lines = parse_lines(request, rest) if rest else []
    for place in details.places:
        if named := request.vocabulary.find_folder(span_text(request.text, place)):
            values["folder"] = named
        elif (value := property_value(_condition_at(request, place))) is not None:
            lines.append(value)
        else:
            return []  # "new job for them: …"
    if rest and not lines and not has_colon:
        return []
    changes = _changes(request, NoteSet(source="previous"), lines, rest)
    # "Status proposed, deciders Ines and Marta" may be properties.
    is_certain = bool(lines) or not rest
    code = language.code
    steps = (PipelineStep("create_note", None, values), *changes)
    plain = Reading(steps, _SCORE, (), "", code, verb_words=1, is_certain=is_certain)
    if not template:
        return [plain]
    created = {**values, "template": NotePath.on_disk(template).stem_path}
    return [replace(plain, steps=(PipelineStep("create_note", None, created), *changes)), plain]


def _daily_note_with_details(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the changes of "create a log entry for today: hours 6, mood good"; None for other requests.

    A note of the day that is missing is created first.
    """
    end = next((at for at, token in enumerate(tokens) if token.key in (":", ",")), len(tokens))
    rest = tokens[end + 1 :]
    phrases = [own for frame in request.frames if frame.action == "create_note" for own in frame.say]
    is_creation = bool(rest) and any(tokens[0].key in phrase.first for phrase in phrases)
    is_place = end > 1 and _is_place(request, tokens[1])  # "add to the diary: honey"
    created = daily_note(request, tokens[:end]) if is_creation and not is_place else None
    if created is None:
        return None
    path = "{folder}/{name}.md".format(**created.arguments).lstrip("/")
    is_present = request.vocabulary.has_file(path)
    notes = NoteSet(notes=(path,)) if is_present else NoteSet(source="previous")
    steps = _changes(request, notes, parse_lines(request, rest), rest)
    steps = steps if is_present else [created, *steps]
    if any(step.action not in request.allowed for step in steps):
        return None
    return Reading(tuple(steps), _SCORE, language=request.language.code, verb_words=1, is_certain=False)


def _changes(
    request: Request, notes: NoteSet, lines: Sequence[tuple[str, object]], rest: tuple[Token, ...]
) -> list[PipelineStep]:
    """Return the steps that write the properties of a note, or else the rest of the request as its text."""
    if rest and not lines:
        return [PipelineStep("append", notes, {"text": _text_of(request, rest)})]
    return [PipelineStep("set_property", notes, {"key": key, "value": value}) for key, value in lines]


def parse_note_of_kind(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the creation of a note from the template of its kind, and without it; empty for other requests.

    The kind is the word in "a movie note called Dune" or "a new trip called Lisbon".
    """
    language = request.language
    tokens = _without_note(request, tokens)
    nouns = language.words("note_nouns") | language.words("single_nouns")
    for at, size in itertools.product(range(1, _MAX_KIND_WORDS), (2, 1)):
        words, end = tokens[at : at + size], at + size
        if len(words) < size or not all(_is_noun_of_kind(request, token) for token in words):
            continue
        if not (path := template_of(request, span_text(request.text, words))):
            continue
        has_noun = end < len(tokens) and tokens[end].key in nouns
        note = language.phrases("single_nouns")[0].text
        noun = () if has_noun else (replace(words[0], key=note, value=note),)
        rest = (*tokens[:at], *noun, *tokens[end:])
        creation = creation_of(request, rest)
        is_denied = any(token.key in language.words("negations") for token in tokens[:at])
        if creation is None or "name" not in creation.arguments or is_denied:
            return []
        plain = Reading((creation,), _SCORE, language=language.code, verb_words=1)
        return [reading_from_template(request, creation, path), plain]
    return []


def _without_note(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens of "make a note for a new trip" as those of "make a new trip"."""
    for at in range(min(len(tokens), _MAX_KIND_WORDS)):
        if (end := request.language.match_prefix(tokens, at, "template_notes", "notes_for")) > at:
            return (*tokens[:at], *tokens[end - 2 :])  # with the words "a new"
    return tokens


def _kind_at(
    request: Request, tokens: tuple[Token, ...], start: int, size: int
) -> tuple[str, str, int] | None:
    """Return the folder and the template of the kind that some words name, and the end of its words, or None.

    A word for a note may follow: "board game note".
    """
    language, words = request.language, tokens[start : start + size]
    nouns = language.words("note_nouns") | language.words("single_nouns")
    other = nouns - {"document"} | language.words("task_nouns")
    if len(words) < size or not all(token.is_word and token.key not in other for token in words):
        return None
    name = span_text(request.text, words)
    similar = request.vocabulary.find_similar_folder(name) if size == 1 else None
    folder = similar or request.vocabulary.find_folder_of_one(words[-1].key)
    template = template_of(request, name)
    end = start + size
    end += end < len(tokens) and tokens[end].key in nouns
    return (folder or "", template, end) if template or (size == 1 and folder) else None


def _is_noun_of_kind(request: Request, token: Token) -> bool:
    """Return whether a word may name a kind of notes: "movie", but not "note" or "diary"."""
    language = request.language
    nouns = language.words("note_nouns") | language.words("single_nouns")
    is_noun = token.value[:1].islower() or language.has_capital_nouns
    return token.is_word and is_noun and token.key not in nouns and not is_daily(request, token)


def _has_no_name(request: Request, tokens: Sequence[Token]) -> bool:
    """Return whether words between a kind and a colon are no name: "from that", a verb at the end."""
    language = request.language
    words = language.function_words() | language.verbs() | {*language.table("template_notes")["final_verbs"]}
    return bool(tokens) and all(token.key in words and token.value.islower() for token in tokens)


def _listed_details(request: Request, tokens: tuple[Token, ...]) -> _Details | None:
    """Return the details of "in Pupils: Hugo Lind, class 8C" or "Dosa: ferment the rice"; None for others."""
    colon = next(at for at, token in enumerate(tokens) if token.key == ":")
    between, after = tokens[:colon], tokens[colon + 1 :]
    if not after:
        return None
    if _has_no_name(request, between):
        between = ()  # "new story from that: Roadworks"
    if between and not _is_place(request, between[0]):
        return _Details(between, (), after)
    comma = next((at for at, token in enumerate(after) if token.key in (",", ";")), len(after))
    name, rest = after[:comma], after[comma + 1 :]
    places = (between[1:],) if between else ()
    for at in range(1, len(name) - 1):
        if name[at].value.islower() and _is_place(request, name[at]) and _is_known(request, name[at + 1 :]):
            name, places = name[:at], (*places, name[at + 1 :])
            break
    if rest and rest[-1].key in request.language.table("template_notes")["nouns"]:
        rest = ()  # "use the template", which is offered anyway
    return _Details(name, places, rest)


def _plain_details(request: Request, tokens: tuple[Token, ...]) -> _Details | None:
    """Return the details of "Hugo Lind in Pupils, class 8C" or "Dosa with course main"; None for others.

    The name is quoted or begins with a capital letter.
    """
    language = request.language
    start = language.match_prefix(tokens, 0, "template_notes", "named")
    if start == len(tokens) or not (tokens[start].kind == "quoted" or tokens[start].value[:1].isupper()):
        return None
    parts: list[list[Token]] = [[]]
    at = start
    while at < len(tokens):
        after = language.match_prefix(tokens, at, "with_properties")
        if tokens[at].key in (",", ";") or (after > at and tokens[at].value.islower()):
            rest = tokens[max(after, at + 1) :]
            break
        is_place = at > start and tokens[at].value.islower() and _is_place(request, tokens[at])
        if is_place:
            parts.append([])
        else:
            parts[-1].append(tokens[at])
        at += 1
    else:
        rest = ()
    name, *places = map(tuple, parts)
    has_details = bool(places or rest) and all(places)
    return _Details(name, tuple(places), rest) if has_details else None


def _is_place(request: Request, token: Token) -> bool:
    return token.key in request.language.table("doubts")["place_cues"]


def _is_known(request: Request, place: tuple[Token, ...]) -> bool:
    """Return whether words name a folder, or a value such as the class of a pupil."""
    text = span_text(request.text, place)
    return request.vocabulary.find_folder(text) is not None or bool(_condition_at(request, place))


def _condition_at(request: Request, place: Sequence[Token]) -> str:
    """Return the condition on the value that words name: `[class:8C]` for "8C"; or no text."""
    return request.vocabulary.find_value(span_text(request.text, tuple(place))) or ""


def _text_of(request: Request, tokens: tuple[Token, ...]) -> str:
    return request.text[tokens[0].start :].strip()

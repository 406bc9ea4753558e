"""Parse requests for a new note: "create a supplier called Attic in Suppliers, rating 4, tagged hire".

A note of a kind that the vault knows gets the folder and the template of this kind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from app.agent.language.changes.note_details import NoteDetails, note_details, piece_at
from app.agent.language.changes.property_lines import parse_lines
from app.agent.language.changes.template_notes import daily_note, is_daily, reading_from_template, template_of
from app.agent.language.grammar.request import Request, request_tokens
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.lexicon import Language
from app.agent.language.words.text_lists import split_tokens
from app.agent.language.words.tokens import Token, span_text

_SCORE = 0.98
_MAX_NAME_WORDS = 8
_MAX_SMALL_NAME_WORDS = 3
"""The number of words in a name without quotes that begins with a small letter."""
_MAX_LEAD_WORDS = 5
"""The number of words before "a note for a new …"."""
_ENDS = (",", ";", ":", ".")
_DASH = re.compile(r"(?<=\s)[-–—](?=\s)")
_PARENTHESIS = re.compile(r"(?<=\s)\(([^()]+)\)(?=\s*$)")


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of notes: its folder, type and template, as far as it has them, and the end of its words.

    `is_plain` is whether the words only mean a note, and `is_known` whether the vault has the kind.
    """

    end: int
    values: dict[str, object] = field(default_factory=dict)
    template: str = ""
    is_plain: bool = False
    is_known: bool = True


def parse_new_note(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the creation of a note with all that the request states about it; empty for other requests.

    With a template for the kind, the creation without it is another reading. If some words may be anything,
    all that follows the name is the text of the note in the first reading, and only these words in the next.
    """
    divided = _with_semicolons(request) if tokens == request.tokens else request
    readings = _creations(divided, divided.tokens) if divided.text != request.text else []
    has_text = any("text" in step.arguments for own in readings for step in own.steps)
    is_certain = bool(readings) and readings[0].is_certain and not has_text
    return readings if is_certain else _creations(request, tokens)


def _with_semicolons(request: Request) -> Request:
    """Return a request with semicolons for "-" and parentheses: "new supplier: Attic - rating 4"."""
    text = _DASH.sub(";", _PARENTHESIS.sub(lambda match: f";{match[1]} ", request.text))
    return replace(request, text=text, tokens=request_tokens(text, request.language))


def _creations(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the creations that a request means (see `parse_new_note`), with its dashes as they are."""
    if "create_note" not in request.allowed or _is_denied(request, tokens):
        return []
    if daily := _daily_note_with_details(request, tokens):
        return [daily]
    tokens = _with_kind_first(request, _without_note(request, tokens))
    if len(tokens) > 1 and tokens[-1].key in request.language.table("new_notes")["particles"]:
        tokens = tokens[:-1]
    tokens = _without_last_words(request, tokens)
    start = request.language.match_prefix(tokens, 0, "new_notes", "leads")
    kind = _kind_at(request, tokens, start) if start else None
    if kind is None:
        return []
    named = _name_at(request, tokens, kind)
    if named is None:
        return []
    name, end, is_certain = named
    tail = _without_template(request, tokens[end:])
    details = note_details(request, tail)
    if details is None or (details.rest and kind.is_plain):
        return []
    says_note = _is_new(request, tokens[:end]) or request.language.match_prefix(tail, 0, "with_properties")
    if not kind.is_known and not (details.lines and says_note):
        return []
    # "Boats called Ann and Bea" are two.
    is_one = kind.is_plain or request.vocabulary.find_folder_of_one(tokens[kind.end - 1].key)
    is_several = not is_one and len(split_tokens(request.language, tokens[kind.end - 1 : end])) > 1
    is_certain = is_certain and kind.is_known and not details.rest and not is_several
    return [replace(own, is_certain=is_certain) for own in _all_readings(request, name, kind, tail, details)]


def _all_readings(
    request: Request, name: str, kind: _Kind, tail: tuple[Token, ...], details: NoteDetails
) -> list[Reading]:
    """Return the creations in which words that may be anything are the text, the likeliest first."""
    texts = [span_text(request.text, part) for part in details.rest]
    texts += filter(None, [str(details.values.get("text", ""))])
    kept = replace(details, values=details.values | ({"text": ", ".join(texts)} if texts else {}))
    readings = _readings(request, name, kind, kept)
    if not details.rest or details.values:
        return readings
    start = next(at for at, token in enumerate(tail) if token.kind != "mark")
    whole = NoteDetails({"text": request.text[tail[start].start :].strip()})
    return [*_readings(request, name, kind, whole), *(readings if details.lines else ())]


def _is_denied(request: Request, tokens: tuple[Token, ...]) -> bool:
    """Return whether a word such as "no" is right before some tokens: "no new boat called Gannet"."""
    at = request.tokens.index(tokens[0])
    denials = request.language.words("negations").union(request.language.table("task_changes")["denials"])
    return at > 0 and request.tokens[at - 1].key in denials


def _readings(request: Request, name: str, kind: _Kind, details: NoteDetails) -> list[Reading]:
    """Return the creation of a note with its details; of a kind with a template, from this and without it."""
    values = {"name": name, **kind.values, **details.values}
    plain = PipelineStep("create_note", None, values)
    known_link = request.vocabulary.known_link
    linked = [
        (key, (known_link(key, value) or value) if isinstance(value, str) else value)
        for key, value in details.lines
    ]
    lines = _property_steps(NoteSet(source="previous"), linked)
    code = request.language.code
    readings = [Reading((plain, *lines), _SCORE, language=code, verb_words=1)]
    if kind.template:
        created = reading_from_template(request, plain, kind.template)
        readings.insert(0, replace(created, steps=(created.steps[0], *lines, *created.steps[1:])))
    return readings


def _property_steps(notes: NoteSet, lines: Sequence[tuple[str, object]]) -> list[PipelineStep]:
    return [PipelineStep("set_property", notes, {"key": key, "value": value}) for key, value in lines]


def _daily_note_with_details(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the changes of "create a log entry for today: hours 6, mood good"; None for other requests.

    A note of the day that is missing is created first.
    """
    end = next((at for at, token in enumerate(tokens) if token.key in (":", ",")), len(tokens))
    rest = tokens[end + 1 :]
    phrases = [own for frame in request.frames if frame.action == "create_note" for own in frame.say]
    is_creation = bool(rest) and any(tokens[0].key in phrase.first for phrase in phrases)
    is_place = (
        end > 1 and tokens[1].key in request.language.table("doubts")["place_cues"]
    )  # "add to the diary"
    created = daily_note(request, tokens[:end]) if is_creation and not is_place else None
    if created is None:
        return None
    path = "{folder}/{name}.md".format(**created.arguments).lstrip("/")
    is_present = request.vocabulary.has_file(path)
    notes = NoteSet(notes=(path,)) if is_present else NoteSet(source="previous")
    lines = parse_lines(request, rest)
    text = request.text[rest[0].start :].strip()
    steps = _property_steps(notes, lines) or [PipelineStep("append", notes, {"text": text})]
    steps = steps if is_present else [created, *steps]
    if any(step.action not in request.allowed for step in steps):
        return None
    return Reading(tuple(steps), _SCORE, language=request.language.code, verb_words=1, is_certain=False)


def _without_note(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens of "make a note for a new trip" as those of "make a new trip"."""
    for at in range(min(len(tokens), _MAX_LEAD_WORDS)):
        if (end := request.language.match_prefix(tokens, at, "new_notes", "notes_for")) > at:
            return (*tokens[:at], *tokens[end - 2 :])  # with the words "a new"
    return tokens


def _without_last_words(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens without "please" or "then" at the end, but with those of "Now and then" or a text."""
    language = request.language
    if any(own.key == ":" for own in tokens) or language.has_phrase(tokens, "new_notes", "text"):
        return tokens
    last, small = language.table("new_notes")["last_words"], language.function_words()
    while len(tokens) > 2 and tokens[-1].value in last and tokens[-2].key not in small:
        tokens = tokens[:-1]
    return tokens


def _with_kind_first(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens of "add Ann Lee as a new member" as those of "a new member: Ann Lee"."""
    language, small = request.language, _small_words(request.language)
    for at in range(2, len(tokens) - 1):
        end = language.match_prefix(tokens, at, "new_notes", "as_kind")
        if end == at or end >= len(tokens) or tokens[0].key not in language.verbs():
            continue
        start = next((own for own in range(1, at) if tokens[own].key not in small), at)
        if start == at or any(token.kind == "mark" for token in tokens[:at]):
            return tokens
        rest = tokens[end + 1 :]
        rest = rest[1:] if rest and rest[0].key in language.table("new_notes")["particles"] else rest
        colon = replace(tokens[end], kind="mark", key=":", value=":")
        return (*tokens[at + 1 : end + 1], colon, *tokens[start:at], *rest)
    return tokens


def _kind_at(request: Request, tokens: tuple[Token, ...], start: int) -> _Kind | None:
    """Return the kind that words name: "supplier", "board game note" or "note"; None for others."""
    language, names = request.language, request.vocabulary
    nouns = language.words("note_nouns") | language.words("single_nouns")
    for size in (2, 1):
        words = tokens[start : start + size]
        if len(words) < size or not all(_is_noun_of_kind(request, token) for token in words):
            continue
        name = span_text(request.text, words)
        last = words[-1].key
        folder = (names.find_similar_folder(name) if size == 1 else None) or names.find_folder_of_one(last)
        template = template_of(request, name)
        type_ = names.find_type(last) if size == 1 and not folder and not template else None
        end = start + size
        end += end < len(tokens) and tokens[end].key in nouns
        if template or folder or type_:
            values: dict[str, object] = {"folder": folder} if folder else {"type": type_} if type_ else {}
            return _Kind(end, values, template)
    if start >= len(tokens) or not tokens[start].is_word:
        return None
    if tokens[start].key in language.words("result_pronouns"):
        return None  # "a new one" may be a task
    if tokens[start].key in language.words("single_nouns"):
        return _Kind(start + 1, is_plain=True)
    return _Kind(start + 1, is_known=False) if _is_noun_of_kind(request, tokens[start]) else None


def _is_noun_of_kind(request: Request, token: Token) -> bool:
    """Return whether a word may name a kind of notes: "movie", but not "note", "diary" or "task"."""
    language = request.language
    other = language.words("note_nouns") | language.words("single_nouns") | language.words("task_nouns")
    is_noun = token.value[:1].islower() or language.has_capital_nouns
    return token.is_word and is_noun and token.key not in other and not is_daily(request, token)


def _without_template(request: Request, tail: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the words after a name without ", use the template", which is offered anyway."""
    language = request.language
    if not tail or tail[-1].key not in language.table("template_notes")["nouns"]:
        return tail
    starts = (at for at in range(len(tail)) if language.matches_phrase(tail[at:], "template_notes", "leads"))
    marks = (at for at in reversed(range(len(tail))) if tail[at].kind == "mark")
    return tail[: next(starts, next(marks, len(tail)))]


def _small_words(language: Language) -> frozenset[str]:
    """Return the words that begin no name: function words, verbs and particles."""
    return language.function_words() | language.verbs() | {*language.table("new_notes")["particles"]}


def _name_start(request: Request, tokens: tuple[Token, ...], kind: _Kind) -> tuple[int, bool]:
    """Return where the name begins after the words for the kind, and whether words between are skipped."""
    small = _small_words(request.language)
    colon = next((at for at in range(kind.end, len(tokens)) if tokens[at].key == ":"), 0)
    between = tokens[kind.end : colon] if colon and not kind.is_plain else ()
    if between and all(token.key in small and token.value.islower() for token in between):
        return colon + 1, True  # "new story from that: Roadworks"
    nouns = request.language.words("note_nouns")
    start = request.language.match_prefix(tokens, kind.end, "template_notes", "about")
    if not kind.is_plain and tokens[kind.end - 1].key in nouns and start < len(tokens):
        # "A new company note for Mosfilm", but not "a new meeting note for Tuesday"
        is_name = tokens[start].value[:1].isupper() or tokens[start].kind in ("quoted", "link")
        if is_name and request.dates.days_ahead(tokens[start:]) is None:
            return start, False
    return request.language.match_prefix(tokens, kind.end, "new_notes", "links"), False


def _name_at(request: Request, tokens: tuple[Token, ...], kind: _Kind) -> tuple[str, int, bool] | None:
    """Return the name after the words for the kind, its end, and whether it is certain; None without one.

    A name without quotes is certain if none of its words has another meaning, or after a colon.
    """
    language, small = request.language, _small_words(request.language)
    start, skips_words = _name_start(request, tokens, kind)
    if start >= len(tokens):
        return None
    if tokens[start].kind in ("quoted", "link"):
        return tokens[start].value.strip(), start + 1, not skips_words
    ends = (at for at in range(start + 1, len(tokens)) if _ends_name(request, tokens, start, at, kind))
    words = tokens[start : next(ends, len(tokens))]
    is_bare, has_colon = start == kind.end, tokens[start - 1].key == ":"
    is_lower = words[0].value[:1].islower() or language.has_capital_nouns
    is_small = words[0].key in small and words[0].value.islower()
    if not words[0].is_word or is_small or len(words) > _MAX_NAME_WORDS:
        return None
    if kind.is_plain and has_colon and not _is_new(request, tokens[:start]):
        return None  # "add an entry: repaired the gate" is a text
    if not has_colon and language.has_phrase(words, "with_properties"):
        return None
    linking = language.words("determiners").union(language.table("doubts")["place_cues"])
    has_linking = any(own.key in linking and own.value.islower() for own in words)
    if words[-1].key in linking and words[-1].value.islower():
        return None
    if is_bare and (has_linking or (is_lower and not (kind.is_plain and _is_short_name(words, small)))):
        return None
    has_mark = not {*"-–—("}.isdisjoint(own[0] for own in span_text(request.text, words).split())
    is_certain = has_colon or not (has_linking or has_mark or (is_bare and words[0].value.islower()))
    return span_text(request.text, words), start + len(words), is_certain and not skips_words


def _is_new(request: Request, tokens: Sequence[Token]) -> bool:
    return any(own.key in request.language.words("new_words") for own in tokens)


def _is_short_name(words: Sequence[Token], small: Collection[str]) -> bool:
    return len(words) <= _MAX_SMALL_NAME_WORDS and not any(own.key in small for own in words)


def _ends_name(request: Request, tokens: tuple[Token, ...], start: int, at: int, kind: _Kind) -> bool:
    """Return whether the name that begins at `start` ends before the token at `at`."""
    token = tokens[at]
    if token.kind == "mark":
        return token.key in _ENDS
    if token.key in request.language.table("new_notes")["particles"] and token.value.islower():
        return True
    if token.value[:1].isupper() or not token.is_word:
        return False
    if any(piece_at(request, tokens, at)):
        return True
    if token.key in request.language.table("doubts")["place_cues"] and not kind.is_plain:
        end = next((own for own in range(at, len(tokens)) if tokens[own].kind == "mark"), len(tokens))
        place = tokens[request.language.after_determiners(tokens, at + 1, end) : end]
        return bool(request.vocabulary.conditions_on(span_text(request.text, place)))  # "Hugo Lind in 8C"
    after = request.language.match_prefix(tokens, at, "with_properties")
    return bool(after > at and parse_lines(request, tokens[after:])) or bool(
        tokens[start].value[:1].isupper() and parse_lines(request, tokens[at:])
    )

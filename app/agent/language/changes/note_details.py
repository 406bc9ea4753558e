"""Read the details that a request states about a new note: ", rating 4, tagged hire, in Suppliers"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from app.agent.language.changes.property_lines import stated_values
from app.agent.language.grammar.request import Request
from app.agent.language.words.tokens import Token, span_text

_MAX_FOLDER_WORDS = 4


@dataclass(frozen=True, slots=True)
class NoteDetails:
    """The details that a request states about a note, besides its name.

    `values` are the folder, tags, type and text, `lines` the properties with their values,
    and `rest` the words that may be anything.
    """

    values: dict[str, object] = field(default_factory=dict)
    lines: list[tuple[str, object]] = field(default_factory=list)
    rest: list[tuple[Token, ...]] = field(default_factory=list)


def piece_at(request: Request, tokens: tuple[Token, ...], at: int) -> Iterator[tuple[str, object, int]]:
    """Yield the folder, tags, type or text that a phrase at some token introduces, and its end."""
    language = request.language
    frame = next((own for own in request.frames if own.action == "create_note" and "text" in own.roles), None)
    if frame is None:
        return
    for role in ("text", "tag", "folder", "type"):
        own = language.phrases("new_notes", role)
        phrases = own or frame.roles.get(role, ())
        matches = (phrase.longest_match(tokens, at) for phrase in phrases)
        for match in sorted(filter(None, matches), key=lambda match: -match.end):
            words = tokens[match.gap_start : match.gap_end] if match.gap_start >= 0 else tokens[match.end :]
            found = _READERS[role](request, words) if words else None
            if found is not None:
                value, size = found
                yield role, value, match.end if match.gap_start >= 0 else match.end + size
                break


def _read_text(request: Request, words: tuple[Token, ...]) -> tuple[object, int] | None:
    if words[0].kind == "quoted":
        return words[0].value, 1
    return request.text[words[0].start :].strip(), len(words)


def _read_folder(request: Request, words: tuple[Token, ...]) -> tuple[object, int] | None:
    language = request.language
    start = language.after_determiners(words, 0, len(words) - 1)
    for end in range(min(len(words), start + _MAX_FOLDER_WORDS), start, -1):
        part = words[start:end]
        name = part[0].value if len(part) == 1 else span_text(request.text, part)
        if folder := request.vocabulary.find_folder(name):
            has_noun = end < len(words) and words[end].key in language.words("introduces_folder")
            return folder, end + has_noun
    follows_noun = request.tokens[request.tokens.index(words[0]) - 1].key in language.words(
        "introduces_folder"
    )
    return (words[start].value, start + 1) if follows_noun and words[start].kind != "mark" else None


def _read_tags(request: Request, words: tuple[Token, ...]) -> tuple[object, int] | None:
    """Return the words up to the end of the list, of which each is a tag."""
    tags: list[str] = []
    at = 0
    while at < len(words) and words[at].kind in ("word", "tag", "quoted"):
        tags.append(words[at].value)
        at += 1
        after = request.language.match_prefix(words, at, "and")
        after = at + 1 if after == at and at < len(words) and words[at].key in (",", "+") else after
        is_last = after + 1 >= len(words) or words[after + 1].key in (".", "+")
        if (
            after == at
            or after >= len(words)
            or not (is_last or request.vocabulary.find_tag(words[after].value))
        ):
            break
        at = after
    return (tuple(tags), at) if tags else None


def _read_type(request: Request, words: tuple[Token, ...]) -> tuple[object, int] | None:
    return (words[0].value, 1) if words[0].kind in ("word", "quoted") else None


_READERS: dict[str, Callable[[Request, tuple[Token, ...]], tuple[object, int] | None]] = {
    "text": _read_text,
    "folder": _read_folder,
    "tag": _read_tags,
    "type": _read_type,
}


def note_details(request: Request, tokens: tuple[Token, ...]) -> NoteDetails | None:
    """Return what words state about a note, such as ", rating 4, in Suppliers".

    After a colon, the words are a text if they state no properties. Return None if two of the words
    differ.
    """
    language = request.language
    particles = language.table("new_notes")["particles"]
    details = NoteDetails()
    at = 1 if tokens and tokens[0].key in particles else 0
    while at < len(tokens):
        after = max(
            language.match_prefix(tokens, at, "and"), language.match_prefix(tokens, at, "with_properties")
        )
        if tokens[at].kind == "mark" or at < after < len(tokens):
            at = max(at + 1, after)
            continue
        piece = next(piece_at(request, tokens, at), None)
        if piece is not None:
            role, value, end = piece
            stated = []
        else:
            ends = (own for own in range(at + 1, len(tokens)) if _ends_piece(request, tokens, own))
            role, value, end = "", None, next(ends, len(tokens))
            stated = stated_values(request, tokens[at:end])
            if not stated and at and tokens[at - 1].key == ":":
                role, value, end = "text", request.text[tokens[at].start :].strip(), len(tokens)
            elif not stated:
                end = next((own for own in range(at + 1, end) if tokens[own].key == ","), end)
                stated = stated_values(request, tokens[at:end])
        if role in details.values or {key for key, _ in stated} & {key for key, _ in details.lines}:
            return None
        if role:
            details.values[role] = value
        elif not stated:
            details.rest.append(tokens[at:end])
        details.lines.extend(stated)
        at = end
    return details


def _ends_piece(request: Request, tokens: tuple[Token, ...], at: int) -> bool:
    """Return whether a list of properties ends before the token at `at`."""
    if tokens[at].kind == "mark":
        is_value = tokens[at].key == ":" and request.vocabulary.find_property(tokens[at - 1].key)
        return tokens[at].key in (".", ";", ":") and not is_value
    return tokens[at].kind != "mark" and tokens[at - 1].kind == "mark" and any(piece_at(request, tokens, at))

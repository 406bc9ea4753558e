"""What stands in a slot: the value, and how well the words fit the kind of thing that the slot takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from app.agent.note_names import UNKNOWN, NoteMeant, NoteNames
from app.agent.wording import Token
from app.vault.reference import parse_reference


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_FILLERS = _words("the my this that a an note page file document called named titled in to tag")
_JOINS = frozenset(("and", "or", "&", "+", "both", "either", "plus"))
_QUERY_LEAD = re.compile(
    r"(?:(?:the|a|my)\s+(?:words?|phrase|terms?|expression|string|text|name|keyword)|(?:words?"
    r"|phrase)(?=\s+[\"“]))"
    r"\s+(?=\S)"
    r"|where (?:i|we) (?:mention|write about|talk about|wrote about|mentioned|discuss)\s+(?=\S)"
    r"|(?:(?:any|some|all|every|the|other|more|my|of|places?|each)\s+)*(?:notes?|pages?|files?|mentions?"
    r"|references?"
    r"|something|anything|everything|everywhere|information|info|stuff|thoughts|occurrences?|material"
    r"|passages?|one)"
    r"\s+(?:of mine\s+|i have\s+)?(?:about|of|on|for|regarding|concerning|mentioning|containing|covering"
    r"|discussing"
    r"|with|to do with|(?:that|which|where)\s+(?:i\s+)?(?:mentions?|contains?|talks? about|says?"
    r"|discuss(?:es)?|are about"
    r"|deals? with|includes?|covers?))\s+(?=\S)",
    re.IGNORECASE,
)
_TEXT_LEAD = _words(
    "a an the my this that following new line text word words sentence paragraph phrase bullet point "
    "remark comment saying says reading reads which item entry thought reminder exactly literally "
    "just quote only"
)
_LONGEST_NAME = 12
_LONGEST_FOLDER = 6
_LONGEST_GUESS = 3
_LONGEST_ASIDE = 6


@dataclass(frozen=True, slots=True)
class SlotValue:
    """A slot's content: `text`, the note `meant` where it takes one, and `fit` from 0 to 1.

    A `strict` one must turn out to be a note, or the reading is none.
    """

    slot: str
    text: str
    fit: float
    meant: NoteMeant | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """The tokens in a slot, and the request that they are of."""

    request: str
    tokens: tuple[Token, ...]

    @property
    def raw(self) -> str:
        """The characters from the first token to the last."""
        return self.request[self.tokens[0].start : self.tokens[-1].end]

    @property
    def marked(self) -> Token | None:
        """The one quoted text or wikilink, when there is nothing beside it but words like "the note"."""
        marked = [token for token in self.tokens if token.kind in ("quoted", "link")]
        rest = [token for token in self.tokens if token.kind not in ("quoted", "link", "mark")]
        alone = len(marked) == 1 and all(token.key in _FILLERS for token in rest)
        return marked[0] if alone else None

    @property
    def has_marked(self) -> bool:
        """Whether a quoted text or a wikilink is among the tokens."""
        return any(token.kind in ("quoted", "link") for token in self.tokens)

    @property
    def has_rest(self) -> bool:
        """Whether it goes on in another line."""
        return any(token.kind == "rest" for token in self.tokens)


def read_slot(slot: str, span: Span, names: NoteNames) -> SlotValue | None:
    """The value of `slot`, under the name that arguments know it by; None if it can't stand there."""
    kind = _STRICTER.get(slot, slot)
    reader = _READERS.get(slot) or _READERS.get(kind) or _read_text
    found = reader(span, names)
    if found is None:
        return None
    text, fit, meant = found
    return SlotValue(kind, text, fit, meant, strict=slot == "known")


_Read = tuple[str, float, NoteMeant | None]
_STRICTER: Mapping[str, str] = {
    "known": "name",
    "here": "name",
    "clear": "name",
    "quoted_name": "new_name",
    "hashtag": "tag",
    "hashtag2": "new_tag",
    "new_hashtag": "new_tag",
    "quoted": "old",
    "hashtags": "tags",
    "type": "value",
    "known_folder": "folder",
}


def _read_note(span: Span, names: NoteNames) -> _Read | None:
    if marked := span.marked:
        text = parse_reference(marked.value).target if marked.kind == "link" else marked.value
        meant = names.exactly(text)
        return text, 1.0 if meant.paths else 0.6, meant
    if span.has_rest or len(span.tokens) > _LONGEST_NAME:
        return None
    meant = names.exactly(span.raw)
    if meant.paths:
        return span.raw, 1.0, meant
    if names.is_pronoun(span.raw):
        return "", 0.9, UNKNOWN
    if span.has_marked:
        return None
    unlikely = any(token.kind == "tag" or token.key == ":" for token in span.tokens)
    return span.raw, 0.15 if unlikely else 0.35, UNKNOWN


def _read_known(span: Span, names: NoteNames) -> _Read | None:
    if names.is_pronoun(span.raw) or (
        len(span.tokens) > _LONGEST_GUESS and not names.exactly(span.raw).paths
    ):
        return None
    return _read_note(span, names)


def _read_clear(span: Span, names: NoteNames) -> _Read | None:
    found = _read_note(span, names)
    return found if found and found[2] and found[2].paths else None


def _read_here(span: Span, names: NoteNames) -> _Read | None:
    return _read_note(span, names) if names.is_pronoun(span.raw) else None


def _read_new_name(span: Span, _names: NoteNames) -> _Read | None:
    if span.has_rest:
        return None
    if marked := span.marked:
        return marked.value, 1.0, None
    return None if span.has_marked else (span.raw, 0.8, None)


def _read_quoted(span: Span, _names: NoteNames) -> _Read | None:
    marked = span.marked
    return (marked.value, 1.0, None) if marked and len(span.tokens) == 1 else None


def _read_tag(span: Span, _names: NoteNames) -> _Read | None:
    words = [token for token in span.tokens if token.kind != "mark" and token.key not in _JOINS]
    hashes = all(token.kind == "tag" for token in words)
    if span.has_rest or not words:
        return None
    if len(words) == 1 and len(span.tokens) == 1:
        token = words[0]
        return token.value.lstrip("#"), 1.0 if hashes else 0.95 if token.kind == "quoted" else 0.8, None
    joined = len(words) < len(span.tokens)
    several = joined and len(words) <= 5 and _alternating(span.tokens)
    return (span.raw, 0.95 if hashes else 0.6, None) if several else None


def _alternating(tokens: tuple[Token, ...]) -> bool:
    """Whether no two words stand side by side: "a, b and c", not "a b and c"."""
    plain = [token.kind != "mark" and token.key not in _JOINS for token in tokens]
    return not any(one and other for one, other in pairwise(plain))


def _read_hashtag(span: Span, _names: NoteNames) -> _Read | None:
    if len(span.tokens) == 1 and span.tokens[0].kind == "tag":
        return span.tokens[0].value.lstrip("#"), 1.0, None
    if all(token.kind in ("tag", "mark") or token.key in _JOINS for token in span.tokens):
        return span.raw, 0.95, None
    return None


def _read_tags(span: Span, _names: NoteNames) -> _Read | None:
    words = [token for token in span.tokens if token.kind != "mark" and token.key not in _JOINS]
    if span.has_rest or not words or len(words) > 6:
        return None
    if all(token.kind == "tag" for token in words):
        return span.raw, 1.0, None
    if marked := span.marked:
        return marked.value, 0.9, None
    return (span.raw, 0.8, None) if _alternating(span.tokens) else None


def _read_hashtags(span: Span, names: NoteNames) -> _Read | None:
    found = _read_tags(span, names)
    return found if found and found[1] == 1.0 else None


def _read_folder(span: Span, names: NoteNames) -> _Read | None:
    if span.has_rest or len(span.tokens) > _LONGEST_FOLDER:
        return None
    marked = span.marked
    text = (marked.value if marked else span.raw).strip().strip("/")
    if span.has_marked and not marked:
        return None
    if known := names.folder(text):
        return known, 1.0, None
    return text, 0.9 if marked else 0.65 if "/" in text else 0.5, None


def _read_known_folder(span: Span, names: NoteNames) -> _Read | None:
    found = _read_folder(span, names)
    return found if found and found[1] == 1.0 else None


def _read_text(span: Span, _names: NoteNames) -> _Read | None:
    *before, last = span.tokens
    # 'a line saying "…"': what is quoted is the text.
    if last.kind == "quoted" and all(token.kind == "mark" or token.key in _TEXT_LEAD for token in before):
        return last.value, 1.0 if not before else 0.95, None
    return span.raw, 0.7, None


def _read_aside(span: Span, _names: NoteNames) -> _Read | None:
    plain = all(token.kind in ("word", "mark") for token in span.tokens)
    return (span.raw, 0.5, None) if plain and len(span.tokens) <= _LONGEST_ASIDE else None


def _read_query(span: Span, _names: NoteNames) -> _Read | None:
    if span.has_rest:
        return None
    tokens = _without_lead(span)
    if len(tokens) < len(span.tokens):
        found = _read_query(Span(span.request, tokens), _names)
        return (found[0], 0.85, None) if found else None
    if len(span.tokens) == 1:
        token = span.tokens[0]
        if token.kind == "quoted":
            return f'"{token.value}"', 1.0, None
        if token.kind == "tag":
            return f"tag:{token.value}", 0.8, None
        if token.kind == "link":
            return f'"{parse_reference(token.value).target}"', 0.9, None
    return span.raw, 0.7, None


def _without_lead(span: Span) -> tuple[Token, ...]:
    """The tokens after "the word", "any mention of", "something about" and the like."""
    lead = _QUERY_LEAD.match(span.raw)
    if lead is None:
        return span.tokens
    start = span.tokens[0].start + lead.end()
    return tuple(token for token in span.tokens if token.start >= start) or span.tokens


def _read_heading(span: Span, _names: NoteNames) -> _Read | None:
    if span.has_rest or len(span.tokens) > _LONGEST_NAME:
        return None
    if marked := span.marked:
        return marked.value, 1.0, None
    return None if span.has_marked else (span.raw.lstrip("# "), 0.72, None)


def _read_key(span: Span, _names: NoteNames) -> _Read | None:
    if len(span.tokens) != 1 or span.tokens[0].kind != "word":
        return None
    return span.tokens[0].value, 0.8, None


def _read_value(span: Span, _names: NoteNames) -> _Read | None:
    if span.has_rest or len(span.tokens) > _LONGEST_NAME:
        return None
    token = span.tokens[0]
    if len(span.tokens) == 1 and token.kind == "quoted":
        return token.value, 1.0, None
    return span.raw, 0.75, None


_READERS: Mapping[str, Callable[[Span, NoteNames], _Read | None]] = {
    "name": _read_note,
    "other": _read_note,
    "known": _read_known,
    "here": _read_here,
    "clear": _read_clear,
    "title": _read_new_name,
    "new_name": _read_new_name,
    "quoted_name": _read_quoted,
    "quoted": _read_quoted,
    "tag": _read_tag,
    "new_tag": _read_tag,
    "hashtag": _read_hashtag,
    "hashtag2": _read_hashtag,
    "new_hashtag": _read_hashtag,
    "tags": _read_tags,
    "hashtags": _read_hashtags,
    "folder": _read_folder,
    "known_folder": _read_known_folder,
    "query": _read_query,
    "heading": _read_heading,
    "key": _read_key,
    "any": _read_aside,
    "value": _read_value,
    "type": _read_value,
}

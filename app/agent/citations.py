"""Check the citations in a model's answer against the current notes, and mark those that fail.

A citation is a wikilink to a passage (`[[Note#span=…]]`, `[[Note#^block]]`), or a wikilink to a note after a
quotation of at least three words. It is valid if the passage exists and the note contains the quoted text,
character for character. A valid citation becomes a link to the exact passage. The marks below follow an
invalid citation, or a statement that cites no passage.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from app.vault.markdown.masking import mask_text
from app.vault.markdown.scan import scan
from app.vault.note import Span
from app.vault.path import NotePath
from app.vault.reference import Reference, parse_reference
from app.vault.span_reference import find_fragment, fragment_of, is_span

NOT_FOUND = "==citation not found=="
NOT_IN_NOTES = "==not in your notes=="
NO_PASSAGE = "==no passage cited=="

_LINK = re.compile(r"\[\[([^\[\]\n]{1,400})\]\]")
_QUOTE = re.compile(r"[\"“”„«»]([^\"“”„«»\n]{3,600})[\"“”„«»][^\"“”„«»\[\]\n]{0,40}\Z")
_BLOCK = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
_NEW_BLOCK = re.compile(r"\n(?=[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|\|))")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]*_]*[ \t\n]+(?!\[\[|\(\[\[|==)")
_LEAD = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_NO_CLAIM = re.compile(r"[ \t>]*(?:#{1,6}[ \t].*|\|.*|[-*_=\s]*)", re.DOTALL)
_WORD = re.compile(r"\w+")
_MIN_WORDS = 3
_MAX_QUOTE_DISTANCE = 700

_PASSAGE, _FAILED = "\x02", "\x03"  # placeholders after a checked citation while claims are marked

NoteReader = Callable[[str], tuple[NotePath, str] | None]
"""Returns the note that a wikilink's target resolves to and its text; None for a missing or hidden note."""


@dataclass(frozen=True, slots=True)
class _Citation:
    """A checked link in an answer; it is neither valid nor invalid if it cites no passage."""

    text: str
    is_valid: bool = False
    is_invalid: bool = False


class CitationChecker:
    """Checks the citations in a model's answers.

    Args:
        read: Reads the current text of a note.
    """

    def __init__(self, read: NoteReader) -> None:
        self._read = read

    def check(self, answer: str, *, claims: bool) -> str:
        """Check the citations in an answer and return it with links and marks.

        Args:
            answer: A model's answer in Markdown.
            claims: Whether the answer reports what the notes say; if so, mark statements without a citation.
        """
        # Only the app sets marks: a model's own marks prove nothing.
        for mark in (NOT_FOUND, NOT_IN_NOTES, NO_PASSAGE):
            answer = answer.replace(mark, mark.strip("="))
        linked = self._link_citations(answer)
        return _mark_claims(linked) if claims else linked.replace(_PASSAGE, "").replace(_FAILED, "")

    def _link_citations(self, answer: str) -> str:
        """Return the answer with checked links, each citation followed by `_PASSAGE` or `_FAILED`."""
        masked = mask_text(answer)
        parts: list[str] = []
        position = 0
        for match in _LINK.finditer(answer):
            if masked[match.start()] != "[":
                continue
            before = answer[max(position, match.start() - _MAX_QUOTE_DISTANCE) : match.start()]
            citation = self._citation(match[1], before)
            mark = f" {NOT_FOUND}{_FAILED}" if citation.is_invalid else _PASSAGE if citation.is_valid else ""
            parts += (answer[position : match.start()], citation.text, mark)
            position = match.end()
        return "".join((*parts, answer[position:]))

    def _citation(self, inner: str, before: str) -> _Citation:
        link = parse_reference(f"[[{inner}]]")
        fragment = f"^{link.block}" if link.block else link.heading or ""
        cites = is_span(fragment) or fragment.startswith(("^", "span="))
        quote = _QUOTE.search(before)
        quoted = quote[1].strip() if quote and len(_WORD.findall(quote[1])) >= _MIN_WORDS else ""
        note = self._read(link.target) if link.target else None
        if note is None:
            return (
                _Citation(link.alias or link.name, is_invalid=True)
                if cites or quoted
                else _Citation(f"[[{inner}]]")
            )
        path, text = note
        span = find_fragment(text, scan(text), fragment) if cites else None
        if cites and span is None:
            return _Citation(_link(path, "", link), is_invalid=True)
        if quoted and (span is None or quoted not in text[span.start : span.end]):
            at = text.find(quoted)
            if at < 0:
                return _Citation(_link(path, "", link), is_invalid=True)
            span, fragment = Span(at, at + len(quoted)), ""
        if span is None:
            return _Citation(f"[[{inner}]]")
        return _Citation(_link(path, fragment or fragment_of(text, span), link), is_valid=True)


def _link(path: NotePath, fragment: str, link: Reference) -> str:
    target = path.stem_path if path.folder else path.name
    return f"[[{target}{'#' if fragment else ''}{fragment}|{link.alias or path.name}]]"


def _mark_claims(answer: str) -> str:
    """Return the answer with a mark after every claim without a citation."""
    masked = mask_text(answer)
    parts: list[str] = []
    position = 0
    for block in _BLOCK.finditer(answer):
        cuts = [
            block.start(),
            *(cut.end() for cut in _NEW_BLOCK.finditer(answer, *block.span())),
            block.end(),
        ]
        for start, end in pairwise(cuts):
            parts += (answer[position:start], _mark_block(answer[start:end], masked[start:end]))
            position = end
    return "".join((*parts, answer[position:])).replace(_PASSAGE, "").replace(_FAILED, "")


def _mark_block(block: str, masked: str) -> str:
    if not masked.strip("\0\n ") or _NO_CLAIM.fullmatch(block):
        return block
    lead = _LEAD.match(block)
    start = lead.end() if lead else 0
    ends = [match.end() for match in _SENTENCE_END.finditer(masked, start)]
    parts = [block[:start]]
    for begin, end in zip([start, *ends], [*ends, len(block)], strict=True):
        sentence = block[begin:end]
        text = sentence.rstrip()
        parts.append(text)
        if _is_uncited_claim(text):
            parts.append(f" {NO_PASSAGE if _LINK.search(text) else NOT_IN_NOTES}")
        parts.append(sentence[len(text) :])
    return "".join(parts)


def _is_uncited_claim(sentence: str) -> bool:
    """Return whether a sentence makes a claim without a citation, valid or not."""
    if _PASSAGE in sentence or _FAILED in sentence:
        return False
    statement = _LINK.sub("x", sentence).rstrip('*_ )"”’»')
    return len(_WORD.findall(statement)) >= _MIN_WORDS and not statement.endswith(("?", ":"))

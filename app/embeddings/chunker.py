"""Split notes by heading into chunks for a sentence-embedding model, with title and headings as context.

The model reads 256 word pieces; a chunk is estimated to have at most `MAX_CHUNK_PIECES`, so that almost
none are truncated. Text that readers don't see (link brackets, comments, HTML tags) is omitted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.vault.note import Heading, ParsedNote

MAX_CHUNK_PIECES = 200
_MAX_CONTEXT_HEADINGS = 3
_MAX_CONTEXT_PIECES = 60

_HIDDEN_MARKUP = re.compile(
    r"%%.*?%%|<!--.*?-->|</?[A-Za-z][^<>\n]{0,300}>|(?m:^[ \t]*(?:```|~~~).*$)", re.DOTALL
)
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[([^\[\]\n]*)\]\([^()\n]*\)")
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_MARKS = re.compile(r"(?m)^[ \t]*(?:>[ \t]?)+|\*\*|__|==|~~|`")
_SPACES = re.compile(r"[ \t\f\v]+")
_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")
_WORD = re.compile(r"[A-Za-z]+|\d+|[^\W\d_]|\S")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note.

    `heading` is the heading above it ("" before the first), `text` the text to embed with its context, `line`
    the first line in the note (from 1), and `hash` the hash of `text`.
    """

    heading: str
    text: str
    line: int
    hash: str


def split_chunks(title: str, text: str, parsed: ParsedNote) -> tuple[Chunk, ...]:
    """Split the note named `title` into chunks, in order, without the frontmatter.

    A note without readable text has one chunk, its title, so that semantic search can still find it.
    """
    chunks: list[Chunk] = []
    for section in _sections(text, parsed):
        context = _context(title, section.trail)
        max_pieces = MAX_CHUNK_PIECES - estimate_pieces(context)
        for line, body in _pack_paragraphs(text, section, max_pieces):
            chunks.append(_chunk(section.heading, f"{context}\n{body}", line))
    return tuple(chunks) or (_chunk("", title, 1),)


def estimate_pieces(text: str) -> int:
    """Estimate the number of word pieces in `text` without loading the model's vocabulary."""
    return sum(1 + (len(word) - 1) // (7 if word[0].isalpha() else 3) for word in _WORD.findall(text))


def markdown_to_text(text: str) -> str:
    """Convert Markdown to plain text: links become their text; markup, comments and HTML tags are removed."""
    text = _HIDDEN_MARKUP.sub(" ", text)
    text = _EMBED.sub(lambda match: match[1] or "", text)
    text = _WIKILINK.sub(lambda match: match[2] or match[1].replace("#", " "), text)
    text = _MARKDOWN_LINK.sub(r"\1", text)
    return _SPACES.sub(" ", _MARKS.sub("", text)).strip()


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    trail: tuple[str, ...]
    start: int
    end: int


def _chunk(heading: str, text: str, line: int) -> Chunk:
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Chunk(heading, text, line, digest)


def _context(title: str, trail: tuple[str, ...]) -> str:
    names = [title, *(name for name in trail[-_MAX_CONTEXT_HEADINGS:] if name.casefold() != title.casefold())]
    context = " › ".join(markdown_to_text(name) for name in names)
    while estimate_pieces(context) > _MAX_CONTEXT_PIECES:
        context = context[: len(context) * 3 // 4]
    return context


def _sections(text: str, parsed: ParsedNote) -> Iterator[_Section]:
    """Yield the text before the first heading, then each heading's text up to the next heading."""
    headings = [heading for heading in parsed.headings if heading.span.start >= parsed.body_start]
    starts = [heading.span.start for heading in headings] + [len(text)]
    yield _Section("", (), parsed.body_start, starts[0])
    open_headings: list[Heading] = []
    for heading, end in zip(headings, starts[1:], strict=True):
        open_headings = [above for above in open_headings if above.level < heading.level] + [heading]
        yield _Section(heading.text, tuple(h.text for h in open_headings), heading.span.end, end)


def _pack_paragraphs(text: str, section: _Section, max_pieces: int) -> Iterator[tuple[int, str]]:
    """Yield joined paragraphs of a section with up to `max_pieces` word pieces, and their first lines."""
    buffered: list[str] = []
    first_line, buffered_pieces = 1, 0
    line = 1 + text.count("\n", 0, section.start)
    counted_to = section.start
    for paragraph in _PARAGRAPH.finditer(text, section.start, section.end):
        line += text.count("\n", counted_to, paragraph.start())
        counted_to = paragraph.start()
        for part in _parts(markdown_to_text(paragraph[0]), max_pieces):
            size = estimate_pieces(part)
            if buffered and buffered_pieces + size > max_pieces:
                yield first_line, "\n".join(buffered)
                buffered, buffered_pieces = [], 0
            if not buffered:
                first_line = line
            buffered.append(part)
            buffered_pieces += size
    if buffered:
        yield first_line, "\n".join(buffered)


def _parts(paragraph: str, max_pieces: int) -> Iterator[str]:
    """Yield a paragraph that fits; split others at sentences, words or, as a last resort, anywhere."""
    if not paragraph:
        return
    if estimate_pieces(paragraph) <= max_pieces:
        yield paragraph
        return
    buffered = ""
    for piece in _small_pieces(paragraph, max_pieces):
        joined = f"{buffered} {piece}" if buffered else piece
        if buffered and estimate_pieces(joined) > max_pieces:
            yield buffered
            joined = piece
        buffered = joined
    if buffered:
        yield buffered


def _small_pieces(paragraph: str, max_pieces: int) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(paragraph):
        if not sentence or sentence.isspace():
            continue
        if estimate_pieces(sentence) <= max_pieces:
            yield sentence.strip()
            continue
        for word in sentence.split():
            # A "word" this long is text without spaces or encoded data; a piece has at least one character.
            yield from (word[at : at + max_pieces] for at in range(0, len(word), max_pieces))

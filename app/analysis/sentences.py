"""Split the prose of Markdown notes into plain sentences, including Chinese and Japanese."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.masking import mask_text

_WIKI = re.compile(r"!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
_EMBED = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[[^\[\]\n]*\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_MARKS = re.compile(r"(?<!\w)[*_~=]{1,3}(?=\S)|(?<=\S)[*_~=]{1,3}(?!\w)|\*\*|~~|==|`+")
_FIELD = re.compile(r"[\[(][\w -]{1,40}::[^\])]*[\])]|^[\w -]{1,40}::.*$", re.MULTILINE)
_HTML = re.compile(r"</?[A-Za-z][^<>\n]{0,200}>")
_LEAD = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?(?:\[![\w-]+\][+-]?)?")
_HEADING = re.compile(r"[ \t>]{0,8}#{1,6}(?:[ \t]|$)")
_RELATION = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+[\w\"'-]{1,40}:?[ \t]+\[\[[^\]\n]*\]\]")
_RULE = re.compile(r"[ \t]*(?:[-*_=][ \t]*){3,}|[ \t]*\|?[ \t:|-]*-{2,}[ \t:|-]*")
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]+[ \t]*$")
_TAG = re.compile(r"(?<!\S)#(?=[^\s\d#])")
# Latin punctuation ends a sentence only before a space and a likely start; Chinese and Japanese punctuation
# always does.
_END = re.compile(
    r"(?<=[.!?…])[\"'”’»)\]]*[ \t]+(?=[\"'“‘«(\[]*[^\W_a-z]|[\"'“‘«(\[]*\d)|(?<=[。！？｡])[」』”’）]*"
)
_ENDED = re.compile(r"[.!?…。！？｡][\"'”’»)\]」』）*_]*$")
_DANGLING = " \t,;:、，；：–—-"
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|cf|e\.g|i\.e|etc|approx|Fig|No|Nr|ca|vol|pp|p|al|Jr|Sr|z\.B|d\.h|bzw)"
    r"|\b[A-Z])\.$"
)


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a note's prose, in order, without Markdown markup; none is empty.

    Properties, headings, code blocks, math, comments, relations, fields, horizontal rules and embeds are
    dropped; the text of links is kept.
    """
    return tuple(sentence for paragraph in paragraphs(text) for sentence in _split(paragraph))


def join_sentences(items: Iterable[str]) -> str:
    """Join sentences into one text; each gets final punctuation, which list items often lack."""
    return " ".join(with_full_stop(item) for item in items)


def with_full_stop(sentence: str) -> str:
    """Return `sentence` without trailing space, with a period added if it has no final punctuation.

    The period replaces commas, semicolons, colons and dashes at the end. A blank sentence becomes empty.
    """
    bare = sentence.rstrip()
    if not bare or _ENDED.search(bare):
        return bare
    bare = bare.rstrip(_DANGLING) or bare
    return bare + ("。" if bare[-1] > "\u2e7f" else ".")


def first_prose_line(text: str, line: int) -> tuple[int, str] | None:
    """Return the number and the text of the first line of prose at or after `line`; None if there is none.

    Line numbers start at 1. The text has no markup. Properties, headings, blank lines, relations, fields,
    horizontal rules, embeds, code, math and comments are skipped.
    """
    # Not `splitlines`, which also splits at characters that do not end a line in a note.
    lines = _without_hidden(text, 0).split("\n")
    start = text.count("\n", 0, read_frontmatter(text).body_start)
    for number in range(max(line - 1, start), len(lines)):
        if prose := _prose_of_line(lines[number].rstrip("\r")):
            return number + 1, prose
    return None


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and list items of a note's prose, each on one line, without Markdown markup."""
    start = read_frontmatter(text).body_start
    prose = _without_hidden(text, start)
    pending_lines: list[str] = []
    for line in prose.splitlines():
        is_blank = not line.strip()
        lead = _LEAD.match(line)
        starts_item = bool(lead and lead.end() and not line[: lead.end()].isspace())
        if pending_lines and (is_blank or starts_item or _HEADING.match(line)):
            yield _join_lines(pending_lines)
            pending_lines = []
        if text_line := _prose_of_line(line):
            pending_lines.append(text_line)
    if pending_lines:
        yield _join_lines(pending_lines)


def _prose_of_line(line: str) -> str:
    """Return the prose of a line without markup; empty if there is none."""
    if not line.strip() or _HEADING.match(line) or _RULE.fullmatch(line) or _RELATION.match(line):
        return ""
    lead = _LEAD.match(line)
    return _strip_markup(line[lead.end() if lead else 0 :])


def _without_hidden(text: str, start: int) -> str:
    """Return the text from `start` with code blocks, math and comments blanked.

    Inline code stays, except in a line that consists of it or contains a delimiter of math or comments.
    """
    hidden = mask_text(text, start)
    lines = []
    at = start
    for line in text[start:].split("\n"):
        blanked = re.sub(r"[\0\n]", " ", hidden[at : at + len(line)])
        at += len(line) + 1
        has_hidden_syntax = any(mark in line for mark in ("%%", "<!--", "-->", "$"))
        lines.append(blanked if has_hidden_syntax or not blanked.strip() else line)
    return "\n".join(lines)


def _strip_markup(line: str) -> str:
    text = _EMBED.sub(" ", _FIELD.sub(" ", line))
    text = _WIKI.sub(lambda link: link[2] or _wikilink_text(link[1]), text)
    text = _LINK.sub(lambda link: link[1], text)
    text = _TAG.sub("", _HTML.sub(" ", _BLOCK_ID.sub("", text)))
    text = _MARKS.sub("", text).replace("|", " ").replace("\\", "")
    return " ".join(text.split())


def _wikilink_text(target: str) -> str:
    """Return the displayed text of a wikilink: the name without folders, or the heading."""
    name, _, heading = target.partition("#")
    return (name.rpartition("/")[2] or heading).strip()


def _join_lines(lines: list[str]) -> str:
    joined = lines[0]
    for line in lines[1:]:
        # Chinese and Japanese lines are joined without a space.
        is_cjk = joined[-1] > "\u2e7f" and line[0] > "\u2e7f"
        joined += line if is_cjk else f" {line}"
    return joined


def _split(paragraph: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.start()]
        if _ABBREVIATION.search(piece):
            continue
        sentence = paragraph[start : end.end()].strip()
        if sentence:
            yield sentence
        start = end.end()
    if rest := paragraph[start:].strip():
        yield rest

"""The single decision on whether models and external programs may see a note.

A note is public only if its properties were read and do not make it private, or if they provably can't: text
without an `ai` key and without the words "ai" and "private" together can't mean `ai: private`. Every other
note is private or, with a reason for the user, unknown. Both kinds are hidden from models and external
programs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from app.vault.markdown.frontmatter import Frontmatter, block_extent, read_frontmatter
from app.vault.markdown.yaml_tree import Mapping, Node, Scalar, Sequence
from app.vault.note import PUBLIC, Privacy, PrivacyVerdict

HEAD_BYTES = 256 * 1024
"""The number of bytes read to classify a note; properties are far smaller."""

_FIRST_BYTES = 1024
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff")
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u00ad\u180e"
_MAY_BE_BLOCK = re.compile(
    rf"[\s{_INVISIBLE}]*(?:[-\u2010-\u2015\u2212]{{2}}|[\u2013-\u2015]|\+{{3}}|```|~~~|\{{)"
)
# Escapes that can spell a letter or join the parts of a word.
_ESCAPE = re.compile(r"\\(?:[xuU][0-9a-fA-F]{2}|[\r\n])")
_WORD = re.compile(r"(?<!\w)ai(?!\w)")
_KEY = re.compile(r"(?<!\w)ai(?!\w)[\s\"'*]*[:=]")
_BARE_LINE = re.compile(r"^\W*ai\W*[:=]\W*priv", re.MULTILINE)
_REFUSALS = frozenset(
    ["false", "no", "none", "never", "off", "hidden", "hide", "secret", "deny", "denied", "forbidden"]
)
_PRIVATE = PrivacyVerdict(Privacy.PRIVATE)
_NOT_UTF8 = "it is not UTF-8 text, so its properties can't be read"


def classify_privacy(content: bytes, *, complete: bool = True) -> PrivacyVerdict:
    """Determine the privacy of a note from its bytes.

    Args:
        content: The note, or its beginning.
        complete: Whether `content` is the whole note.
    """
    head = content[:HEAD_BYTES]
    complete = complete and len(content) <= HEAD_BYTES
    if head.startswith(_OTHER_ENCODINGS):
        return _unknown(_NOT_UTF8)
    if not _MAY_BE_BLOCK.match(head[:_FIRST_BYTES].decode("utf-8", "replace")):
        head, complete = head[:_FIRST_BYTES], complete and len(head) <= _FIRST_BYTES
    try:
        return classify_text(head.decode("utf-8"), complete=complete)
    except UnicodeDecodeError as error:
        if not complete and error.end == len(head) and error.reason == "unexpected end of data":
            return classify_text(head[: error.start].decode("utf-8"), complete=False)
        readable = len(head[: error.start].decode("utf-8"))
        return classify_text(head.decode("utf-8", "replace"), complete=complete, readable=readable)


def is_private(content: bytes, *, complete: bool = True) -> bool:
    """Return whether a note is hidden from models and programs; see `classify_privacy`."""
    return classify_privacy(content, complete=complete).hides


def classify_text(
    text: str,
    *,
    complete: bool = True,
    readable: int | None = None,
    frontmatter: Frontmatter | None = None,
) -> PrivacyVerdict:
    """Determine the privacy of a note from its text.

    Args:
        text: The note's text, or its beginning.
        complete: Whether `text` is the whole note.
        readable: The number of characters before the first undecodable one; None if there is none.
        frontmatter: The result of `read_frontmatter` for the text, if already known.
    """
    if "\0" in text[:_FIRST_BYTES]:
        return _unknown(_NOT_UTF8)
    if not _MAY_BE_BLOCK.match(text):
        first_paragraph = re.split(r"\n\s*\n", text[:_FIRST_BYTES], maxsplit=1)[0]
        if readable is not None and readable < len(first_paragraph):
            return _unknown(_NOT_UTF8)
        return _PRIVATE if _BARE_LINE.search(_fold(first_paragraph)) else PUBLIC
    content, end = block_extent(text)
    if content is None:
        reason = (
            "its properties have no closing ---"
            if text.lstrip().startswith("---")
            else "its properties can't be read"
        )
        return _classify_raw(text, reason, provable=complete and (readable is None or readable >= len(text)))
    block = text[content.start : content.end]
    if readable is not None and readable < end:
        return _classify_raw(block, _NOT_UTF8, provable=False)
    if block.isascii() and not _WORD.search(block.lower()) and not _ESCAPE.search(block):
        return PUBLIC
    parsed = frontmatter or read_frontmatter(text)
    if parsed.problem is not None:
        return _classify_raw(block, "its properties can't be read")
    if parsed.tree is None and parsed.properties:
        return _classify_raw(block, "its properties are JSON that is not YAML")
    return _classify_values(parsed.tree)


def _unknown(reason: str) -> PrivacyVerdict:
    return PrivacyVerdict(Privacy.UNKNOWN, reason)


def _classify_raw(block: str, reason: str, *, provable: bool = True) -> PrivacyVerdict:
    """Determine the privacy from the words in unreadable properties; public only if `provable`."""
    folded = _fold(block)
    mentions_private = "priv" in folded
    if mentions_private and _KEY.search(folded):
        return _PRIVATE
    if (
        not provable
        or _ESCAPE.search(block)
        or _KEY.search(folded)
        or (mentions_private and _WORD.search(folded))
    ):
        return _unknown(reason)
    return PUBLIC


def _classify_values(tree: Mapping | None) -> PrivacyVerdict:
    """Determine the privacy from parsed properties; all values of a duplicate key count."""
    values = (
        [_fold(text).strip() for node in _values_of_ai(tree) for text in _iter_texts(node)] if tree else []
    )
    if any("priv" in value for value in values):
        return _PRIVATE
    if any(value in _REFUSALS for value in values):
        return _unknown("the value of its “ai” property is unknown (use “private” or “public”)")
    return PUBLIC


def _values_of_ai(node: Node) -> Iterator[Node]:
    """Yield the values of every key `ai`, in any case and at any depth."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            if _fold(entry.key.text).strip() == "ai":
                yield entry.value
            else:
                yield from _values_of_ai(entry.value)
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _values_of_ai(item)


def _iter_texts(node: Node) -> Iterator[str]:
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _iter_texts(item)
    else:
        for entry in node.entries:
            yield entry.key.text
            yield from _iter_texts(entry.value)


def _fold(text: str) -> str:
    """Normalize case and width, and drop invisible characters."""
    if text.isascii():
        return text.lower()
    visible = "".join(
        letter for letter in unicodedata.normalize("NFKC", text) if unicodedata.category(letter) != "Cf"
    )
    return unicodedata.normalize("NFKC", visible.casefold())

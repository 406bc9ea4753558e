"""Normalization of text for comparison, and segmentation of text for the full-text index.

SQLite's `unicode61` finds words between spaces and punctuation. In scripts without spaces, each letter gets a
separator, so that any part of the text can be searched as a phrase. The separator is a control character,
which is removed before a line is displayed.
"""

from __future__ import annotations

import re
import unicodedata

SEPARATOR = "\x1f"
# Thai and Lao, Myanmar, Khmer, Han radicals, marks, kana, Bopomofo and Hangul letters, Han, Hangul syllables,
# compatibility forms, half-width kana, the supplementary Han planes.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u30ff\u3100-\u319f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_RUN = re.compile(f"[{UNSPACED}]+")
_EDGE = re.compile(f"(?<=[^\\W{UNSPACED}])(?=[{UNSPACED}])")
_FOREIGN = re.compile(f"[^\\W\x00-\x7f{UNSPACED}]+")
_TOKEN = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]+")


class _CaseFoldTable(dict[int, str]):
    """A cache of each character's folded form, which is always one character."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        base = unicodedata.normalize("NFD", letter)[0] if not _UNSPACED.match(letter) else letter
        small = base.casefold()
        self[code] = folded = small if len(small) == 1 else base.lower()[:1]
        return folded


_FOLDED = _CaseFoldTable()
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
# Tables that map non-spaces and word characters to `x`, to count words without creating strings.
_SPACES = bytes(32 if chr(code).isspace() else 120 for code in range(128)).ljust(256)
_LETTERS = bytes(120 if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
# UTF-8 bytes of characters with one form; for the last two, `_is_plain_utf8` checks the next byte.
_ONE_FORM = bytes((*range(0xC0), *range(0xE3, 0xEA), 0xE2, 0xF0))


class _FormTable(dict[int, str]):
    """A cache of how a non-ASCII character counts: as a letter, a word of its own, or a space."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = shape = " x " if _UNSPACED.match(letter) else "x" if _TOKEN.match(letter) else " "
        return shape


_SHAPES = _FormTable()


def fold(text: str) -> str:
    """Return the text in lower case without accents and with the same length, so that offsets stay valid."""
    if text.isascii():
        return text.lower()
    data = text.encode("utf-8", "surrogatepass")
    if _is_plain_utf8(data):
        return data.lower().decode("utf-8", "surrogatepass")
    # Most letters of most texts are ASCII; translating all of them in Python would take far longer.
    return _FOREIGN.sub(lambda run: run[0].translate(_FOLDED), text).lower()


def _is_plain_utf8(data: bytes) -> bool:
    """Return whether UTF-8 text beyond ASCII has only symbols (quotes, dashes, emoji) and Han or kana."""
    if data.translate(None, _ONE_FORM):
        return False
    return data.count(b"\xe2") == data.count(b"\xe2\x80") and data.count(b"\xf0") == data.count(b"\xf0\x9f")


def segment(text: str) -> str:
    """Return the text in NFC with separators around the letters of scripts without spaces."""
    if text.isascii():
        return text.replace(SEPARATOR, " ") if SEPARATOR in text else text
    normalized = unicodedata.normalize("NFC", text.replace(SEPARATOR, " "))
    normalized = normalized.encode("utf-8", "replace").decode("utf-8")
    if not _UNSPACED.search(normalized):
        return normalized
    return _RUN.sub(lambda run: SEPARATOR.join(run[0]) + SEPARATOR, _EDGE.sub(SEPARATOR, normalized))


def unsegment(text: str) -> str:
    """Return the text without the separators."""
    return text.replace(SEPARATOR, "")


def tokenize(text: str) -> list[str]:
    """Split a text into the words of the full-text index, in NFC, without folding them."""
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


def count_words(text: str) -> int:
    """Return the number of words; each letter of a script without spaces counts as one.

    In ASCII text, words end only at spaces; in other text, also at any symbol.
    """
    if text.isascii():
        shape = text.encode("ascii").translate(_SPACES)
    else:
        spelled = _NOT_ASCII.sub(lambda run: run[0].translate(_SHAPES), text)
        shape = spelled.encode("ascii").translate(_LETTERS)
    return shape.count(b" x") + shape.startswith(b"x")


def can_extend(words: list[str]) -> bool:
    """Return whether these words can be the prefix of longer ones.

    A single letter is not treated as a prefix; letters of scripts without spaces are complete words.
    """
    return not is_unspaced(words[-1][-1]) and (len(words) > 1 or len(words[0]) > 1)


def is_unspaced(letter: str) -> bool:
    """Return whether the letter belongs to a script without spaces."""
    return _UNSPACED.match(letter) is not None

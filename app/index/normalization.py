"""One form of text to compare words by, letter for letter, and the form in which words are indexed.

SQLite's `unicode61` finds words between spaces and punctuation. Scripts that write no spaces get a
separator around each letter, so that any part of their text can be asked for as a phrase; the separator
is a control character that is taken out again when a line is shown.
"""

from __future__ import annotations

import re
import unicodedata

SEPARATOR = "\x1f"
# Thai to Myanmar, Khmer, kana and Han, Hangul, compatibility forms, half-width kana, the further Han planes.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u30ff\u3100-\u319f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_RUN = re.compile(f"[{UNSPACED}]+")
_EDGE = re.compile(f"(?<=[^\\W{UNSPACED}])(?=[{UNSPACED}])")
_FOREIGN = re.compile(f"[^\\W\x00-\x7f{UNSPACED}]+")
_TOKEN = re.compile(f"[{UNSPACED}]|[^\\W_{UNSPACED}]+")


class _Folded(dict[int, str]):
    """Each character's folded form, always one character, found once."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        base = unicodedata.normalize("NFD", letter)[0] if not _UNSPACED.match(letter) else letter
        small = base.casefold()
        self[code] = folded = small if len(small) == 1 else base.lower()[:1]
        return folded


_FOLDED = _Folded()
_NOT_ASCII = re.compile("[^\x00-\x7f]+")
# What is not a space, and what is a letter of a word, as `x`: words are then counted without making any.
_SPACES = bytes(32 if chr(code).isspace() else 120 for code in range(128)).ljust(256)
_LETTERS = bytes(120 if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
# Bytes of UTF-8 whose characters have one form only, those with the last two if they go on as `_plain` says.
_ONE_FORM = bytes((*range(0xC0), *range(0xE3, 0xEA), 0xE2, 0xF0))


class _Shapes(dict[int, str]):
    """What a character beyond ASCII is to the count of words: a letter, a word of its own, or nothing."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = shape = " x " if _UNSPACED.match(letter) else "x" if _TOKEN.match(letter) else " "
        return shape


_SHAPES = _Shapes()


def fold(text: str) -> str:
    """The text in small letters without accents; as many characters as before, so that places stay."""
    if text.isascii():
        return text.lower()
    data = text.encode("utf-8", "surrogatepass")
    if _is_plain_utf8(data):
        return data.lower().decode("utf-8", "surrogatepass")
    # Most letters of most texts are plain; going through all of them in Python would take far longer.
    return _FOREIGN.sub(lambda run: run[0].translate(_FOLDED), text).lower()


def _is_plain_utf8(data: bytes) -> bool:
    """Whether a text in UTF-8 has, beyond ASCII, only signs (quotes, dashes, emoji) and Han or kana."""
    if data.translate(None, _ONE_FORM):
        return False
    return data.count(b"\xe2") == data.count(b"\xe2\x80") and data.count(b"\xf0") == data.count(b"\xf0\x9f")


def segment(text: str) -> str:
    """The text in NFC with separators around the letters of scripts that write no spaces."""
    if text.isascii():
        return text.replace(SEPARATOR, " ") if SEPARATOR in text else text
    normal = unicodedata.normalize("NFC", text.replace(SEPARATOR, " "))
    normal = normal.encode("utf-8", "replace").decode("utf-8")
    if not _UNSPACED.search(normal):
        return normal
    return _RUN.sub(lambda run: SEPARATOR.join(run[0]) + SEPARATOR, _EDGE.sub(SEPARATOR, normal))


def unsegment(text: str) -> str:
    """The text without the separators."""
    return text.replace(SEPARATOR, "")


def tokenize(text: str) -> list[str]:
    """The words of a text as the index has them, in the text's own letters."""
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


def count_words(text: str) -> int:
    """How many words; each letter of a script without spaces counts as one.

    Plain text has words between its spaces, any other those that `tokens` finds.
    """
    if text.isascii():
        shape = text.encode("ascii").translate(_SPACES)
    else:
        spelled = _NOT_ASCII.sub(lambda run: run[0].translate(_SHAPES), text)
        shape = spelled.encode("ascii").translate(_LETTERS)
    return shape.count(b" x") + shape.startswith(b"x")


def can_extend(words: list[str]) -> bool:
    """Whether these words can be the beginning of longer ones.

    A single letter is not taken for one; letters of scripts without spaces are words of their own.
    """
    return not is_unspaced(words[-1][-1]) and (len(words) > 1 or len(words[0]) > 1)


def is_unspaced(letter: str) -> bool:
    """Whether the letter belongs to a script that writes no spaces."""
    return _UNSPACED.match(letter) is not None

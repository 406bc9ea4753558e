"""Characters that are invisible or whose effect differs from their appearance."""

from __future__ import annotations

_NAMES = {
    0x00: "NUL",
    0x07: "BEL",
    0x08: "BS",
    0x0A: "LF",
    0x0B: "VT",
    0x0C: "FF",
    0x0D: "CR",
    0x1B: "ESC",
    0x7F: "DEL",
    0x85: "NEL",
    0xA0: "NBSP",
    0xAD: "SHY",
    0x034F: "CGJ",
    0x061C: "ALM",
    0x180E: "MVS",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LSEP",
    0x2029: "PSEP",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x202F: "NNBSP",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x3000: "IDSP",
    0xFEFF: "ZWNBSP",
}
# Printable by their Unicode category, yet invisible.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")


def is_hidden(character: str) -> bool:
    """Return whether a character is invisible or does something other than it appears to."""
    if character in _BLANKS or not (character.isprintable() or character == " "):
        return True
    code = ord(character)
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x180B <= code <= 0x180F


def character_label(character: str) -> str:
    """Return a hidden character's name: its abbreviation, its code point, or the byte it stands for."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02X}"
    return _NAMES.get(code, f"U+{code:04X}")


def escape_hidden(text: str, allowed: str = "") -> str:
    """Return `text` with hidden characters, except those in `allowed`, replaced by their names in ⟨⟩."""
    return "".join(f"⟨{character_label(c)}⟩" if c not in allowed and is_hidden(c) else c for c in text)

"""Globs over vault paths, matched in linear time because rules may come from an untrusted vault.

`*` and `?` match within a part of a path, `**` matches across parts, and `[abc]`, `[a-c]`, `[!abc]` and
`{a,b}` match alternatives. A glob without a slash, except at its end, matches the name at any depth. If its
last part has no wildcard, it also matches everything below; if it ends in a slash, it matches only what is
below. An empty glob matches everything. Case and Unicode forms are ignored, and a note's `.md` may be
omitted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

import re2

from app.vault.path import NotePath, name_key

_WILDCARDS = frozenset("*?[{")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _GlobPattern(Protocol):
    """A compiled pattern of re2, which has no type hints."""

    def fullmatch(self, text: str) -> object: ...


class Glob:
    """A compiled glob over vault paths."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_everything = text.strip("/") in ("", "**", "**/*")
        self._pattern = _path_pattern(_normalize(text))

    def matches(self, path: NotePath) -> bool:
        """Return whether the glob matches `path`, with or without a note's suffix."""
        return self.matches_text(path.text) or self.matches_text(path.stem_path)

    def matches_text(self, path: str) -> bool:
        """Return whether the glob matches this path as it is written."""
        return self.is_everything or self._pattern.fullmatch(_normalize(path)) is not None


@lru_cache(maxsize=1024)
def word_matches(glob: str, word: str) -> bool:
    """Return whether `glob` matches `word`, a name without slashes, ignoring case."""
    return bool(re2.compile(f"(?s){_translate(_normalize(glob), within='.')}").fullmatch(_normalize(word)))


def includes_words(glob: str, other: str) -> bool:
    """Return whether `glob` matches every word that the glob `other` matches; False if that is uncertain."""
    if glob == "*" or _normalize(glob) == _normalize(other):
        return True
    return not _WILDCARDS.intersection(other) and word_matches(glob, other)


def _normalize(text: str) -> str:
    """Return the form for comparison; each undecodable byte of a file name (a surrogate) becomes U+FFFD."""
    return _SURROGATE.sub("\ufffd", name_key(text))


def _path_pattern(glob: str) -> _GlobPattern:
    is_folder = glob.endswith("/")
    bare = glob.strip("/")
    pattern = _translate(bare, within="[^/]")
    if "/" not in bare and not glob.startswith("/"):
        pattern = f"(?:.*/)?{pattern}"
    if is_folder:
        pattern += "/.*"
    elif not _WILDCARDS & set(bare.rpartition("/")[2]):
        pattern += "(?:/.*)?"
    compiled: _GlobPattern = re2.compile(f"(?s){pattern}")
    return compiled


def _translate(glob: str, within: str) -> str:
    """Translate a glob to a regular expression; unclosed brackets match literally.

    `within` is the expression for one character, as matched by `?`; `*` matches any number of them.
    """
    pattern, position, open_braces = "", 0, 0
    while position < len(glob):
        letter = glob[position]
        if glob.startswith("**/", position) and (position == 0 or glob[position - 1] == "/"):
            pattern, position = pattern + "(?:.*/)?", position + 3
            continue
        if glob.startswith("**", position):
            pattern, position = pattern + ".*", position + 2
            continue
        if letter == "[" and (end := glob.find("]", position + 2)) > 0:
            pattern, position = pattern + _character_class(glob[position + 1 : end]), end + 1
            continue
        if letter == "{" and "}" in glob[position:]:
            pattern, open_braces = pattern + "(?:", open_braces + 1
        elif letter == "}" and open_braces:
            pattern, open_braces = pattern + ")", open_braces - 1
        elif letter == "," and open_braces:
            pattern += "|"
        else:
            pattern += {"*": f"{within}*", "?": within}.get(letter) or re2.escape(letter)
        position += 1
    return pattern + ")" * open_braces


def _character_class(text: str) -> str:
    """Translate the inside of brackets; a `-` at either end is literal."""
    is_inverted = text[0] in "!^"
    letters = text[is_inverted:]
    hyphen = "-" if letters.startswith("-") or letters.endswith("-") else ""
    members = "".join(f"\\x{{{ord(letter):x}}}" for letter in letters.replace("-", "") + hyphen)
    ranges = "".join(
        f"\\x{{{ord(low):x}}}-\\x{{{ord(high):x}}}"
        for low, dash, high in zip(letters, letters[1:], letters[2:], strict=False)
        if dash == "-" and low <= high
    )
    return f"[{'^/' if is_inverted else ''}{members}{ranges}]"

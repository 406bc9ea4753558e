"""Globs of rules, as linear-time patterns: a vault may bring rules, and a hostile one must cost nothing.

`*` and `?` stay within a part of a path, `**` crosses parts, `[abc]` and `{a,b}` choose. A glob without a
slash means that name at any depth; one whose last part has no wildcard means also all that is under it;
one that ends in a slash means all that is under it. Case and Unicode forms do not matter, and the `.md` of
a note may be left out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Protocol

import re2

from app.vault.path import NotePath, name_key

_WILD = frozenset("*?[{")
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Pattern(Protocol):
    """A compiled pattern of re2, which has no type hints."""

    def fullmatch(self, text: str) -> object: ...


class Glob:
    """A compiled glob over vault paths."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.is_everything = text.strip("/") in ("", "**", "**/*")
        self._pattern = _path_pattern(_form(text))

    def matches(self, path: NotePath) -> bool:
        """Whether the glob means `path`."""
        if self.is_everything:
            return True
        return any(self._pattern.fullmatch(_form(form)) for form in (path.text, path.stem_path))


@lru_cache(maxsize=1024)
def word_matches(glob: str, word: str) -> bool:
    """Whether `glob` means `word`, a name without slashes, whatever the case."""
    return bool(re2.compile(f"(?s){_translate(_form(glob), within='.')}").fullmatch(_form(word)))


def _form(text: str) -> str:
    """The form to compare in; undecodable bytes of a file name (surrogates) become one mark."""
    return _SURROGATE.sub("\ufffd", name_key(text))


def _path_pattern(glob: str) -> _Pattern:
    below = glob.endswith("/")
    bare = glob.strip("/")
    pattern = _translate(bare, within="[^/]")
    if "/" not in bare and not glob.startswith("/"):
        pattern = f"(?:.*/)?{pattern}"
    if below:
        pattern += "/.*"
    elif not _WILD & set(bare.rpartition("/")[2]):
        pattern += "(?:/.*)?"
    compiled: _Pattern = re2.compile(f"(?s){pattern}")
    return compiled


def _translate(glob: str, within: str) -> str:
    """The regular expression of a glob; every text is one, what is not closed stands for itself."""
    pattern, at, open_braces = "", 0, 0
    while at < len(glob):
        letter = glob[at]
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            pattern, at = pattern + "(?:.*/)?", at + 3
            continue
        if glob.startswith("**", at):
            pattern, at = pattern + ".*", at + 2
            continue
        if letter == "[" and (end := glob.find("]", at + 2)) > 0:
            pattern, at = pattern + _choice(glob[at + 1 : end]), end + 1
            continue
        if letter == "{" and "}" in glob[at:]:
            pattern, open_braces = pattern + "(?:", open_braces + 1
        elif letter == "}" and open_braces:
            pattern, open_braces = pattern + ")", open_braces - 1
        elif letter == "," and open_braces:
            pattern += "|"
        else:
            pattern += {"*": f"{within}*", "?": within}.get(letter) or re2.escape(letter)
        at += 1
    return pattern + ")" * open_braces


def _choice(letters: str) -> str:
    inverted = letters[0] in "!^"
    members = "".join(f"\\x{{{ord(one):x}}}" for one in letters[inverted:].replace("-", ""))
    ranges = "".join(
        f"\\x{{{ord(low):x}}}-\\x{{{ord(high):x}}}"
        for low, dash, high in zip(letters, letters[1:], letters[2:], strict=False)
        if dash == "-" and low <= high
    )
    return f"[{'^/' if inverted else ''}{members}{ranges}]"

"""The names of pages in a Logseq vault: how files are named, and the page properties `alias::` and `title::`.

Logseq stores the page "A/B" as `A___B.md` and other characters percent-encoded (`:file/name-format
:triple-lowbar`). A graph whose configuration does not state that uses the older format, which encodes `/` as
`%2F` and reads every `.` as `/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

_CONFIGURATION = "logseq/config.edn"
_FOLDERS = ("pages", "journals")
_MAX_CONFIGURATION_CHARS = 2**20
_FORMAT = re.compile(r"^[^;\n]*:file/name-format\s+:(?P<name>[\w-]+)", re.MULTILINE)
_TRIPLE_LOWBAR = "triple-lowbar"
_ENCODED = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_PROPERTY = re.compile(r"(?P<bullet>[-*] )?[ \t]*(?P<name>[\w-]+):: *(?P<value>.*)")
_LISTED = re.compile(r"\[\[(?P<page>(?:(?!\[\[).)+?)\]\]|(?P<text>[^,\s][^,]*)")


@dataclass(frozen=True, slots=True)
class PageNames:
    """How a Logseq vault names its files; `is_legacy` is the format of graphs before version 0.8.9."""

    is_legacy: bool = False

    def decode(self, name: str) -> str:
        """Return the page that a file with this name, without its suffix, stores."""
        if self.is_legacy:
            name = name.replace(".", "/")
        elif "___" not in name and "%" not in name:
            return name
        decoded = _ENCODED.sub(_decode, name.replace("___", "/"))
        return "/".join(filter(None, decoded.split("/"))) or name


def page_names(root: Path) -> PageNames | None:
    """Return how the Logseq vault at `root` names its files, or None if it is no such vault.

    A vault is one of Logseq if it has Logseq's configuration or, for copies without it, both of its folders
    for pages.
    """
    try:
        with (root / _CONFIGURATION).open(encoding="utf-8", errors="replace") as file:
            stated = _FORMAT.search(file.read(_MAX_CONFIGURATION_CHARS))
    except OSError:
        return PageNames() if all((root / folder).is_dir() for folder in _FOLDERS) else None
    return PageNames(is_legacy=stated is None or stated["name"] != _TRIPLE_LOWBAR)


def stated_names(text: str) -> tuple[str | None, tuple[str, ...]]:
    """Return the title and the aliases in the properties at the beginning of a page's text."""
    title: str | None = None
    aliases: tuple[str, ...] = ()
    for name, value in _page_properties(text):
        if name == "title" and value:
            title = value
        elif name == "alias":
            listed = (match["page"] or match["text"] for match in _LISTED.finditer(value))
            aliases = tuple(dict.fromkeys(alias.strip().lstrip("#") for alias in listed))
    return title, aliases


def _page_properties(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names, in lower case, and values of the properties in a page's first block."""
    first = start = len(text) - len(text.lstrip("\ufeff\r\n"))
    while (match := _PROPERTY.match(text, start)) and (start == first or not match["bullet"]):
        yield match["name"].lower(), match["value"].strip()
        start = match.end() + 1


def _decode(match: re.Match[str]) -> str:
    """Return the characters that a run of percent-encoded bytes stands for, or the run if it is not UTF-8."""
    try:
        return unquote(match[0], errors="strict")
    except UnicodeDecodeError:
        return match[0]

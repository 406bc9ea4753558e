"""NotePath: the place of a file in the vault, relative, confined and in one Unicode form.

A path is checked as text here; `store.py` checks again at the disk, where symbolic links live.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from app.errors import InvalidPathError

NOTE_SUFFIXES = (".md", ".markdown")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
_LONGEST_PART = 255


def name_key(name: str) -> str:
    """The form in which names are compared: NFC, case folded."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def slug(name: str) -> str:
    """A name as an address would say it: lower case, `-` for all that is no letter or digit.

    Empty for a name that has neither.
    """
    return re.sub(r"[\W_]+", "-", name_key(name)).strip("-")


@dataclass(frozen=True, slots=True, order=True)
class NotePath:
    """A path relative to the vault's root, with `/` between its parts.

    `text` keeps the form on disk (some file systems keep NFD names); `key` is the form to compare by.
    Make one with `NotePath.parse` from anything a person, a model or a file may say, and with
    `NotePath.on_disk` from a name that the file system itself gave.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> NotePath:
        """The path that `text` names, in NFC, for a file that every platform can keep.

        Raises:
            InvalidPathError: the text is empty, absolute, has a drive, `..`, a control or reserved
                character, a device name, a part that ends in a dot or a space, or is too long.
        """
        normal = unicodedata.normalize("NFC", text)
        if not normal or normal.startswith(("/", "\\")):
            raise InvalidPathError(f"{text!r} is not a path inside the vault.", path=text)
        for part in normal.split("/"):
            _check_part(part, text)
        return cls(normal)

    @classmethod
    def on_disk(cls, text: str) -> NotePath:
        """The path of a file that exists, as the file system spells it; only containment is checked."""
        parts = text.split("/")
        if not text or text.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\0" in text:
            raise InvalidPathError(f"{text!r} is not a path inside the vault.", path=text)
        return cls(text)

    @property
    def name(self) -> str:
        """The last part without a note's suffix: what a wikilink says."""
        return without_suffix(self.text.rpartition("/")[2])

    @property
    def file_name(self) -> str:
        """The last part, with its suffix."""
        return self.text.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The parts before the last; empty at the root."""
        return self.text.rpartition("/")[0]

    @property
    def suffix(self) -> str:
        """The suffix in lower case, with its dot; empty if there is none."""
        last = self.file_name
        at = last.rfind(".")
        return last[at:].lower() if 0 < at < len(last) - 1 else ""

    @property
    def is_note(self) -> bool:
        """Whether the suffix is one of a note's."""
        return self.suffix in NOTE_SUFFIXES

    @property
    def stem_path(self) -> str:
        """The path without a note's suffix: how a folder-qualified wikilink says it."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def key(self) -> str:
        """The whole path in the form to compare by."""
        return name_key(self.text)

    @property
    def is_hidden(self) -> bool:
        """Whether a part starts with a dot: such folders are never indexed and never written by a tool."""
        return any(part.startswith(".") for part in self.text.split("/"))

    def is_under(self, folder: str) -> bool:
        """Whether it lies in `folder` or below, by whole parts; the empty folder is the root."""
        return not folder or self.key.startswith(name_key(folder.strip("/")) + "/")

    def __str__(self) -> str:
        return self.text


def without_suffix(file_name: str) -> str:
    """The name of a file, without the suffix of a note."""
    stem, dot, suffix = file_name.rpartition(".")
    return stem if dot and f".{suffix.lower()}" in NOTE_SUFFIXES else file_name


def note_path(folder: str, name: str) -> NotePath:
    """The path of a note called `name` in `folder` (empty for the root), with `.md`.

    Raises:
        InvalidPathError: as `NotePath.parse`, or the name holds a character that no link could say.
    """
    bare = name[:-3] if name.lower().endswith(".md") else name
    if re.search(r"[\[\]#^|]", bare):
        raise InvalidPathError(f"A note can't be called {name!r}: no link could say # ^ [ ] |.", path=name)
    return NotePath.parse(f"{folder}/{bare}.md" if folder else f"{bare}.md")


def _check_part(part: str, whole: str) -> None:
    problem = ""
    if part in ("", ".", ".."):
        problem = "it has an empty part, '.' or '..'"
    elif bad := _FORBIDDEN.search(part):
        problem = f"{bad[0]!r} is not allowed in a file name"
    elif part != part.strip(" ") or part.endswith("."):
        problem = "a part starts or ends with a space, or ends with a dot"
    elif part.split(".")[0].strip().lower() in _DEVICES:
        problem = f"{part!r} is a device name on Windows"
    elif len(part.encode("utf-8", "surrogatepass")) > _LONGEST_PART:
        problem = f"a part is longer than {_LONGEST_PART} bytes"
    if problem:
        raise InvalidPathError(f"{whole!r} can't be a path in the vault: {problem}.", path=whole)

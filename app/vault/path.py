"""Paths of files in the vault: relative to its root and confined to it.

This module checks a path as text; the store checks it again on disk, where symbolic links matter.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from app.encoding import fold_case
from app.errors import InvalidPathError

NOTE_SUFFIXES = (".md", ".markdown")
_FORBIDDEN_CHARACTERS = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICE_NAMES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"]
)
_MAX_PART_BYTES = 255


def name_key(name: str) -> str:
    """Return the form for comparing names: NFC, case folded."""
    return fold_case(name)


def slug(name: str) -> str:
    """Return a name as a URL slug: lower case, with one `-` between runs of letters and digits.

    The result is empty if the name contains neither.
    """
    return re.sub(r"[\W_]+", "-", name_key(name)).strip("-")


@dataclass(frozen=True, slots=True, order=True)
class NotePath:
    """A path relative to the vault's root, with `/` between its parts.

    `text` keeps the form on disk (some file systems keep NFD names); `key` is the form for comparison. Use
    `NotePath.parse` for untrusted text from a user, a model or a file, and `NotePath.on_disk` for names
    that the file system returned.
    """

    text: str

    @classmethod
    def parse(cls, text: str) -> NotePath:
        """Parse a path, in NFC, that every platform can store.

        Raises:
            InvalidPathError: The text is empty or absolute, contains a control or reserved character, or a
                part that is empty, `.`, `..`, a device name or too long, starts or ends with a space, or ends
                with a dot.
        """
        normal = unicodedata.normalize("NFC", text)
        if not normal or normal.startswith(("/", "\\")):
            raise InvalidPathError(f"{text!r} is not a path inside the vault.", path=text)
        for part in normal.split("/"):
            _check_part(part, text)
        return cls(normal)

    @classmethod
    def on_disk(cls, text: str) -> NotePath:
        """Return the path of an existing file as the file system spells it; check only containment.

        Raises:
            InvalidPathError: The text is empty or absolute, or contains a NUL or an empty, `.` or `..` part.
        """
        parts = text.split("/")
        if not text or text.startswith("/") or any(part in ("", ".", "..") for part in parts) or "\0" in text:
            raise InvalidPathError(f"{text!r} is not a path inside the vault.", path=text)
        return cls(text)

    @property
    def name(self) -> str:
        """The last part without a note's suffix, as in a wikilink."""
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
        dot_index = last.rfind(".")
        return last[dot_index:].lower() if 0 < dot_index < len(last) - 1 else ""

    @property
    def is_note(self) -> bool:
        """True if the file has a note's suffix."""
        return self.suffix in NOTE_SUFFIXES

    @property
    def stem_path(self) -> str:
        """The path without a note's suffix, as in a wikilink with a folder."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def key(self) -> str:
        """The whole path in the form for comparison."""
        return name_key(self.text)

    @property
    def is_hidden(self) -> bool:
        """True if a part starts with a dot: such files are not indexed, and no change set may touch them."""
        return any(part.startswith(".") for part in self.text.split("/"))

    def is_under(self, folder: str) -> bool:
        """Return whether the path is in `folder` or below it; the empty folder is the root."""
        return not folder or self.key.startswith(name_key(folder.strip("/")) + "/")

    def __str__(self) -> str:
        return self.text


def without_suffix(file_name: str) -> str:
    """Return a file name without a note's suffix."""
    stem, dot, suffix = file_name.rpartition(".")
    return stem if dot and f".{suffix.lower()}" in NOTE_SUFFIXES else file_name


def note_path(folder: str, name: str) -> NotePath:
    """Return the path of the note `name` in `folder` (empty for the root), with the suffix `.md`.

    Raises:
        InvalidPathError: The path is not valid for `NotePath.parse`, or the name contains a character that
            links can't contain.
    """
    bare = name[:-3] if name.lower().endswith(".md") else name
    if re.search(r"[\[\]#^|]", bare):
        raise InvalidPathError(f"A note can't be named {name!r}: links can't contain # ^ [ ] |.", path=name)
    return NotePath.parse(f"{folder}/{bare}.md" if folder else f"{bare}.md")


def _check_part(part: str, path: str) -> None:
    problem = ""
    if part in ("", ".", ".."):
        problem = "it has an empty part, '.' or '..'"
    elif forbidden := _FORBIDDEN_CHARACTERS.search(part):
        problem = f"{forbidden[0]!r} is not allowed in a file name"
    elif part != part.strip(" ") or part.endswith("."):
        problem = "a part starts or ends with a space, or ends with a dot"
    elif part.split(".")[0].strip().lower() in _DEVICE_NAMES:
        problem = f"{part!r} is a device name on Windows"
    elif len(part.encode("utf-8", "surrogatepass")) > _MAX_PART_BYTES:
        problem = f"a part is longer than {_MAX_PART_BYTES} bytes"
    if problem:
        raise InvalidPathError(f"{path!r} can't be a path in the vault: {problem}.", path=path)

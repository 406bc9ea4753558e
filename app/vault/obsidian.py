"""Obsidian's settings for a vault, read so that both apps write to the same places.

The files are `daily-notes.json`, `templates.json`, `app.json` and `bookmarks.json` in `.obsidian`. An
unreadable file counts as missing and is named in `problems`. Nothing is written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from app.errors import NotFoundError, ScriptoriumError
from app.vault.path import NotePath

_FOLDER = ".obsidian"
_TEMPLATES = ("Templates", "Vorlagen")
"""The folders that may have the templates of a vault whose settings name none."""
_MAX_FILE_BYTES = 4 * 1024 * 1024
_MAX_BOOKMARKS = 2000
_MAX_DEPTH = 20


class _Files(Protocol):
    """The files of a vault."""

    def read(self, path: NotePath) -> bytes:
        """Return a file's content."""
        ...

    @property
    def root(self) -> Path:
        """The vault's folder."""
        ...


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A bookmarked file (or a place in it), folder or search.

    Attributes:
        kind: "file", "folder" or "search".
        target: A path in the vault, or a query.
        fragment: A heading in the file, or `^block`.
        title: The title; empty for the default name.
        group: The names of the enclosing groups, joined by " / ".
    """

    kind: str
    target: str
    fragment: str = ""
    title: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class ObsidianSettings:
    """The settings that apply to both apps; unset values are empty.

    `attachment_folder` is as Obsidian writes it: `/` for the root, `./` or `./Sub` for the note's folder.
    """

    daily_folder: str = ""
    daily_format: str = ""
    daily_template: str = ""
    templates_folder: str = ""
    date_format: str = ""
    time_format: str = ""
    attachment_folder: str = ""
    bookmarks: tuple[Bookmark, ...] = ()
    problems: tuple[str, ...] = ()
    default_templates: str = _TEMPLATES[0]
    """The folder of the templates that no setting names."""


def templates_folder(chosen: str, obsidian: ObsidianSettings) -> str:
    """Return the folder of the vault's templates: the user's choice, else Obsidian's, else the default."""
    return (chosen or obsidian.templates_folder or obsidian.default_templates).strip("/ ")


def stored_obsidian_settings(store: _Files) -> ObsidianSettings:
    """Return Obsidian's settings for a vault; a file that can't be read is reported as a problem."""
    names = (name for name in _TEMPLATES if (store.root / name).is_dir())
    default = next(names, _TEMPLATES[0])
    # The built-in agent asks several times per request, and to look for each file takes longer.
    if not os.path.lexists(store.root / _FOLDER) and store.root.is_dir():
        return ObsidianSettings(default_templates=default)

    def read(path: NotePath) -> bytes | None:
        try:
            return store.read(path)
        except NotFoundError:
            return None
        except ScriptoriumError:
            return b""  # It exists but can't be read: reported as a problem.

    return replace(read_obsidian(read), default_templates=default)


def read_obsidian(read: Callable[[NotePath], bytes | None]) -> ObsidianSettings:
    """Read Obsidian's settings for a vault, with at most 2,000 bookmarks.

    Args:
        read: Returns the bytes of a file in the vault, or None if it does not exist.
    """
    problems: list[str] = []
    daily = _load(read, "daily-notes.json", problems)
    templates = _load(read, "templates.json", problems)
    app = _load(read, "app.json", problems)
    bookmarks = _load(read, "bookmarks.json", problems)
    parsed = _bookmarks(bookmarks.get("items"), ())
    return ObsidianSettings(
        daily_folder=_get_text(daily, "folder").strip("/"),
        daily_format=_get_text(daily, "format"),
        daily_template=_get_text(daily, "template").strip("/"),
        templates_folder=_get_text(templates, "folder").strip("/"),
        date_format=_get_text(templates, "dateFormat"),
        time_format=_get_text(templates, "timeFormat"),
        attachment_folder=_get_text(app, "attachmentFolderPath"),
        bookmarks=tuple(bookmark for bookmark, _ in zip(parsed, range(_MAX_BOOKMARKS), strict=False)),
        problems=tuple(problems),
    )


def _load(read: Callable[[NotePath], bytes | None], name: str, problems: list[str]) -> Mapping[str, object]:
    content = read(NotePath.on_disk(f"{_FOLDER}/{name}"))
    if content is None:
        return {}
    try:
        if len(content) > _MAX_FILE_BYTES:
            raise ValueError("it is too large")
        value = json.loads(content.decode("utf-8-sig"))
        if not isinstance(value, dict):
            raise ValueError("it is not a JSON object")
    except (ValueError, RecursionError) as error:
        problems.append(f"{_FOLDER}/{name} can't be read ({error}), so it is ignored.")
        return {}
    return value


def _get_text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value.strip() if isinstance(value, str) else ""


def _bookmarks(items: object, groups: tuple[str, ...]) -> Iterator[Bookmark]:
    if not isinstance(items, list) or len(groups) > _MAX_DEPTH:
        return
    for item in items:
        if not isinstance(item, dict):
            continue
        kind, title = _get_text(item, "type"), _get_text(item, "title")
        if kind == "group":
            yield from _bookmarks(item.get("items"), (*groups, title))
        elif kind in ("file", "folder", "search"):
            target = _get_text(item, "query" if kind == "search" else "path")
            if target:
                fragment = _get_text(item, "subpath").removeprefix("#")
                yield Bookmark(kind, target, fragment, title, " / ".join(groups))

"""Daily notes, random notes and templates; all functions run in the service thread."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from app.desktop.notes.folders import NoteFolders, note_folders
from app.desktop.runtime.translation import translate
from app.errors import InvalidPathError, NotFoundError, ScriptoriumError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.markdown.text import BOM, decode
from app.vault.moment_format import format_moment
from app.vault.note_templates import Expanded, expand
from app.vault.path import NOTE_SUFFIXES, NotePath

if TYPE_CHECKING:
    from app.workspace import VaultService


@dataclass(frozen=True, slots=True)
class DailyNote:
    """The note of a day.

    Attributes:
        path: Its path.
        created: Whether it is new.
        cursor: The template's cursor position, as an offset in its text.
        problem: A secondary problem, such as a missing template; empty if there is none.
    """

    path: NotePath
    created: bool
    cursor: int | None = None
    problem: str = ""


async def daily_note(vault: VaultService, now: datetime) -> DailyNote:
    """Find the note of a day, or create it from the template.

    Raises:
        InvalidPathError: The name format yields no valid file name.
        StorageError: Writing failed; nothing was written.
    """
    places = note_folders(vault)
    path = daily_path(places, now)
    if (existing := vault.notes.existing_path(path)) is not None:
        return DailyNote(existing, created=False)
    expanded, problem = Expanded("", None), ""
    if places.daily_template:
        try:
            expanded = _expanded(vault, places, _template(vault, places.daily_template), path.name, now)
        except ScriptoriumError as error:
            text = translate("DailyNotes", "The template “{0}” was not used: {1}")
            problem = text.format(places.daily_template, error.message)
    outcome = await vault.call(Call.save(path, None, expanded.text.encode("utf-8"), Caller.user()))
    if not outcome.success:
        if (existing := vault.notes.existing_path(path)) is not None:
            return DailyNote(existing, created=False)
        raise ScriptoriumError(outcome.message)
    return DailyNote(path, True, expanded.cursor, problem)


def daily_path(places: NoteFolders, day: datetime) -> NotePath:
    """Return the path of the note of a day.

    Raises:
        InvalidPathError: The format yields no name that is valid on every system.
    """
    name = format_moment(day, places.daily_format).strip("/ ")
    try:
        return NotePath.parse("/".join(part for part in (places.daily_folder, f"{name}.md") if part))
    except InvalidPathError as error:
        text = translate(
            "DailyNotes", "“{0}” is not a valid file name. Change the name format “{1}” in the settings."
        )
        raise InvalidPathError(text.format(name, places.daily_format), path=name) from error


def list_templates(vault: VaultService) -> tuple[NotePath, ...]:
    """Return the templates of the vault by name; empty if it has none."""
    folder = note_folders(vault).templates
    notes = vault.notes.records(folder) if folder else ()
    return tuple(sorted((note.path for note in notes), key=lambda path: path.key))


def template_text(vault: VaultService, template: NotePath, title: str, now: datetime) -> Expanded:
    """Return the text of a template for the note with this `title`.

    Raises:
        NotFoundError, StorageError: It does not exist, or can't be read.
    """
    return _expanded(vault, note_folders(vault), template, title, now)


def random_note(vault: VaultService, but: NotePath | None = None) -> NotePath | None:
    """Return a random note other than this one; None if there is no other."""
    paths = [path for path in vault.notes.paths() if path != but]
    return random.choice(paths) if paths else None


def _expanded(
    vault: VaultService, places: NoteFolders, template: NotePath, title: str, now: datetime
) -> Expanded:
    text = decode(vault.notes.read(template)).removeprefix(BOM)
    return expand(text, title, now, date_format=places.date_format, time_format=places.time_format)


def _template(vault: VaultService, name: str) -> NotePath:
    """Return the note that a setting names, with or without its extension.

    Raises:
        NotFoundError: There is none.
    """
    for ending in ("", *NOTE_SUFFIXES):
        path = NotePath(f"{name}{ending}")
        if path.is_note and vault.notes.exists(path):
            return path
    raise NotFoundError(translate("DailyNotes", "There is no such note."), name=name)

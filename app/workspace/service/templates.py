"""Daily notes and templates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from app.errors import InvalidPathError, NotFoundError, ScriptoriumError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.markdown.text import BOM, decode
from app.vault.moment_format import format_moment
from app.vault.note_templates import ExpandedTemplate, expand
from app.vault.path import NOTE_SUFFIXES, NotePath
from app.workspace.note_folders import NoteFolders, note_folders

if TYPE_CHECKING:
    from app.toolkit.runner import ToolRunner
    from app.workspace.service.notes import NoteService
    from app.workspace.service.settings import SettingsService


@dataclass(frozen=True, slots=True)
class DailyNote:
    """The note for a day.

    Attributes:
        path: Its path.
        created: Whether it is new.
        cursor: The cursor position that the template sets, as an offset in the note's text, or None.
        problem: A secondary problem, such as a missing template; empty if there is none.
    """

    path: NotePath
    created: bool
    cursor: int | None = None
    problem: str = ""


class TemplateService:
    """The templates of the vault, and the notes that are created from them."""

    def __init__(self, notes: NoteService, settings: SettingsService, runner: ToolRunner) -> None:
        self._notes = notes
        self._settings = settings
        self._runner = runner

    async def daily_note(self, now: datetime) -> DailyNote:
        """Find the note for a day, or create it from the template.

        Raises:
            InvalidPathError: The name format yields no valid file name.
            ScriptoriumError: Writing failed; nothing was written.
        """
        folders = self._folders()
        path = daily_path(folders, now)
        if (existing := self._notes.existing_path(path)) is not None:
            return DailyNote(existing, created=False)
        expansion, problem = ExpandedTemplate("", None), ""
        if folders.daily_template:
            try:
                expansion = self._expand(folders, self._find_template(folders.daily_template), path.name, now)
            except ScriptoriumError as error:
                problem = f"The template “{folders.daily_template}” was not used: {error.message}"
        outcome = await self._runner.run(Call.save(path, None, expansion.text.encode("utf-8"), Caller.user()))
        if not outcome.success:
            if (existing := self._notes.existing_path(path)) is not None:
                return DailyNote(existing, created=False)
            raise ScriptoriumError(outcome.message)
        return DailyNote(path, True, expansion.cursor, problem)

    def paths(self) -> tuple[NotePath, ...]:
        """Return the notes in the template folder and its subfolders, by path."""
        folder = self._folders().templates
        notes = self._notes.records(folder) if folder else ()
        return tuple(sorted((note.path for note in notes), key=lambda path: path.key))

    def expand_template(self, template: NotePath, title: str, now: datetime) -> ExpandedTemplate:
        """Return the text of a template for the note with this `title`.

        Raises:
            NotFoundError, StorageError: It does not exist, can't be read, or is not UTF-8.
        """
        return self._expand(self._folders(), template, title, now)

    def _folders(self) -> NoteFolders:
        return note_folders(self._settings.current.editor, self._notes.obsidian_settings())

    def _expand(
        self, folders: NoteFolders, template: NotePath, title: str, now: datetime
    ) -> ExpandedTemplate:
        text = decode(self._notes.read(template)).removeprefix(BOM)
        return expand(text, title, now, date_format=folders.date_format, time_format=folders.time_format)

    def _find_template(self, name: str) -> NotePath:
        """Return the note that a setting names, with or without its extension.

        Raises:
            NotFoundError: There is none.
        """
        for ending in ("", *NOTE_SUFFIXES):
            path = NotePath(f"{name}{ending}")
            if path.is_note and self._notes.exists(path):
                return path
        raise NotFoundError("There is no such note.", name=name)


def daily_path(folders: NoteFolders, day: datetime) -> NotePath:
    """Return the path of the note for a day.

    Raises:
        InvalidPathError: The format yields no name that is valid on every system.
    """
    name = format_moment(day, folders.daily_format).strip("/ ")
    try:
        return NotePath.parse("/".join(part for part in (folders.daily_folder, f"{name}.md") if part))
    except InvalidPathError as error:
        message = (
            f"“{name}” is not a valid file name. "
            f"Change the name format “{folders.daily_format}” in the settings."
        )
        raise InvalidPathError(message, path=name) from error

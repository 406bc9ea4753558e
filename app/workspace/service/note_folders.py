"""The folders of daily notes, templates and attachments: by the user's settings, else by Obsidian's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.vault.note_templates import DATE_FORMAT, TIME_FORMAT
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.settings import EditorSettings
    from app.workspace.service.notes import NoteService


@dataclass(frozen=True, slots=True)
class NoteFolders:
    """Folders are vault paths, "" for the root; `attachments` may also be `./` or `./Sub`."""

    daily_folder: str
    daily_format: str
    daily_template: str
    templates: str
    date_format: str
    time_format: str
    attachments: str
    problems: tuple[str, ...]

    def attachment_folder(self, note: NotePath) -> str:
        """Return the folder for attachments of `note`."""
        wanted = self.attachments
        if wanted == "." or wanted.startswith("./"):
            parts = (note.folder, wanted.removeprefix(".").strip("/"))
            return "/".join(part for part in parts if part)
        return wanted.strip("/")


def note_folders(own: EditorSettings, notes: NoteService) -> NoteFolders:
    """Return the folders of a vault by the user's settings and the notes' vault."""
    shared = notes.obsidian_settings()
    return NoteFolders(
        daily_folder=(own.daily_folder or shared.daily_folder).strip("/ "),
        daily_format=own.daily_format or shared.daily_format or DATE_FORMAT,
        daily_template=(own.daily_template or shared.daily_template).strip("/ "),
        templates=(own.templates_folder or shared.templates_folder or "Templates").strip("/ "),
        date_format=shared.date_format or DATE_FORMAT,
        time_format=shared.time_format or TIME_FORMAT,
        attachments=(own.attachment_folder or shared.attachment_folder or "Attachments").strip(),
        problems=shared.problems,
    )

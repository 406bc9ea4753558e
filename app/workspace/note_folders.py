"""The folders of daily notes, templates and attachments: the user's settings, else Obsidian's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.toolkit.services import PathInSettings
from app.translatable_text import TranslatableText
from app.vault.note_templates import DATE_FORMAT, TIME_FORMAT
from app.vault.obsidian import ObsidianSettings, templates_folder
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.settings import EditorSettings

_TEMPLATES = TranslatableText("Approval", "the templates folder")
_DAILY_FOLDER = TranslatableText("Approval", "the folder of daily notes")
_DAILY_TEMPLATE = TranslatableText("Approval", "the template of daily notes")
_ATTACHMENTS = TranslatableText("Approval", "the attachment folder")


@dataclass(frozen=True, slots=True)
class NoteFolders:
    """The folders and formats in effect, and problems in Obsidian's settings.

    Folders are vault paths, "" for the root; `attachments` may also be `./` or `./Sub`.
    """

    daily_folder: str
    daily_format: str
    daily_template: str
    templates: str
    date_format: str
    time_format: str
    attachments: str
    problems: tuple[str, ...]

    def attachment_folder(self, note: NotePath) -> str:
        """Return the folder for the attachments of `note`."""
        folder = self.attachments
        if folder == "." or folder.startswith("./"):
            parts = (note.folder, folder.removeprefix(".").strip("/"))
            return "/".join(part for part in parts if part)
        return folder.strip("/")


def note_folders(settings: EditorSettings, obsidian: ObsidianSettings) -> NoteFolders:
    """Return the folders from the user's settings, else the vault's Obsidian settings, else defaults."""
    return NoteFolders(
        daily_folder=(settings.daily_folder or obsidian.daily_folder).strip("/ "),
        daily_format=settings.daily_format or obsidian.daily_format or DATE_FORMAT,
        daily_template=(settings.daily_template or obsidian.daily_template).strip("/ "),
        templates=templates_folder(settings.templates_folder, obsidian),
        date_format=obsidian.date_format or DATE_FORMAT,
        time_format=obsidian.time_format or TIME_FORMAT,
        attachments=(settings.attachment_folder or obsidian.attachment_folder or "Attachments").strip(),
        problems=obsidian.problems,
    )


def paths_in_settings(settings: EditorSettings, obsidian: ObsidianSettings) -> tuple[PathInSettings, ...]:
    """Return the folders and the note that the user's or Obsidian's settings name.

    Without defaults, the root, and folders next to notes.
    """
    attachments = (settings.attachment_folder or obsidian.attachment_folder).strip()
    named = (
        (settings.templates_folder or obsidian.templates_folder, _TEMPLATES, True),
        (settings.daily_folder or obsidian.daily_folder, _DAILY_FOLDER, True),
        (settings.daily_template or obsidian.daily_template, _DAILY_TEMPLATE, False),
        ("" if attachments.startswith(".") else attachments, _ATTACHMENTS, True),
    )
    return tuple(
        PathInSettings(path, use, is_folder) for text, use, is_folder in named if (path := text.strip("/ "))
    )

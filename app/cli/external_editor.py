"""Edit a proposed text in the user's own editor."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import tempfile
from pathlib import Path

from app.cli.terminal_input import Terminal, ignore_interrupts
from app.permissions.partial_approval import FileDraft
from app.vault.editable_text import EditableText, NotEditableError

_DEFAULT_EDITOR = "notepad" if sys.platform == "win32" else "vi"


class EditingError(Exception):
    """The text could not be edited; the message states the reason."""


async def edit_in_editor(file: FileDraft, tty: Terminal) -> None:
    """Open the new text of `file` in $VISUAL or $EDITOR, and put the result into the draft.

    Args:
        file: A file that is created, changed or moved.
        tty: The terminal for the editor.

    Raises:
        EditingError: The editor can't be started or failed, the temporary file can't be used, or the old or
            new content is not text; the draft is unchanged.
    """
    try:
        editable = EditableText.of(file.after or b"")
        text = await _edit_text(editable.text, file.change.path.file_name, tty)
        file.edit(editable.encode(text))
    except NotEditableError as error:
        raise EditingError(f"This file can't be edited: {error}.") from error


def _editor_command() -> list[str]:
    setting = os.environ.get("VISUAL") or os.environ.get("EDITOR") or _DEFAULT_EDITOR
    try:
        return shlex.split(setting) or [_DEFAULT_EDITOR]
    except ValueError as error:
        raise EditingError(f"The editor command {setting!r} is invalid: {error}.") from error


async def _edit_text(text: str, name: str, tty: Terminal) -> str:
    command = _editor_command()
    try:
        with tempfile.TemporaryDirectory(prefix="scriptorium-") as folder:
            file = Path(folder) / name
            file.write_bytes(text.encode("utf-8"))
            await _run_editor(command, file, tty)
            return file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise EditingError(f"The file that {command[0]} saved is not UTF-8 text.") from error
    except OSError as error:
        raise EditingError(f"The temporary file can't be used: {error.strerror or error}.") from error


async def _run_editor(command: list[str], file: Path, tty: Terminal) -> None:
    try:
        with ignore_interrupts():
            process = await asyncio.create_subprocess_exec(
                *command, str(file), stdin=tty.source, stdout=tty.out, stderr=tty.out
            )
            status = await process.wait()
    except OSError as error:
        raise EditingError(f"{command[0]} can't be started: {error.strerror or error}.") from error
    if status:
        raise EditingError(f"{command[0]} exited with status {status}.")

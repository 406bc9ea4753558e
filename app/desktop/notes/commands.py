"""The menu commands for notes.

Commands that change notes go through the gate, like any tool call, except that creating a note needs no
approval, just like saving one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.notes.changes_dialog import ChangesDialog, read_commit, read_session
from app.desktop.notes.history_dialog import HistoryDialog
from app.desktop.notes.undo import undo
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.theme.theme import ThemeSource
from app.desktop.tool_form.form import ToolFormDialog
from app.desktop.tool_form.result_dialog import ResultDialog
from app.desktop.widgets import dialogs
from app.permissions.caller import Caller
from app.permissions.tool_label import tool_label
from app.toolkit.call import Call
from app.vault.path import NotePath
from app.workspace.service.edits import Created, Failed, NameTaken, name_problem

if TYPE_CHECKING:
    from app.toolkit.outcome import ToolOutcome
    from app.workspace import VaultService


_AGENT_REQUESTS = {
    "related": "Find notes related to [[{0}]]",
    "summarize": "Summarize [[{0}]]",
    "relate": "Relate [[{0}]] to [[",
    "merge": "Merge into [[{0}]] the note [[",
}
# File types that open in another program without confirmation, because they can only be viewed or played.
_SAFE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".pdf", ".mp3", ".ogg", ".mp4", ".webm")


async def _call_as_user(name: str, arguments: Mapping[str, object], vault: VaultService) -> ToolOutcome:
    return await vault.call(Call.of(name, arguments, Caller.user()))


def failure_message(outcome: ToolOutcome) -> str:
    """Return why a call failed, with up to five suggestions for a name that is unknown or ambiguous."""
    candidates = (outcome.error or {}).get("candidates") or (outcome.error or {}).get("suggestions")
    if isinstance(candidates, list | tuple) and candidates:
        names = ", ".join(map(str, candidates[:5]))
        return translate("NoteCommands", "{0} Did you mean: {1}?").format(outcome.message, names)
    return outcome.message


def _attachment_paths(vault: VaultService) -> frozenset[str]:
    return frozenset(file.path.text for file in vault.notes.files())


class NoteCommands(QObject):
    """Runs the commands on notes of one vault for `window`.

    Signals:
        open_requested: The path of a note to open, and a fragment.
        created: The path of a new note.
        ask_requested: A prompt for the agent.
        attach_requested: The path of a note to attach to the prompt.
        center_requested: The path of a note to center in the graph.
        failed: A message for the user.
    """

    open_requested = Signal(str, str)
    created = Signal(str)
    ask_requested = Signal(str)
    attach_requested = Signal(str)
    center_requested = Signal(str)
    failed = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, window: QWidget) -> None:
        super().__init__(window)
        self._client = client
        self._theme = theme
        self._window = window

    def run_command(self, command: str, path: str, target_folder: str = "") -> None:
        """Start a command on the note or folder at `path`; `target_folder` is for "move" only."""
        if command == "open":
            self.open_requested.emit(path, "")
        elif command == "reveal":
            self._reveal(path)
        elif command == "copy-link":
            tasks.start(self._copy_link(path), owner=self._window, action=self.tr("copy the link"))
        elif command in _AGENT_REQUESTS:
            request = self._ask_agent(_AGENT_REQUESTS[command], path)
            tasks.start(request, owner=self._window, action=self.tr("ask the agent"))
        elif command == "ask":
            self.attach_requested.emit(path)
        elif command == "graph":
            self.center_requested.emit(path)
        elif command == "history":
            dialog = HistoryDialog(NotePath(path), self._client, self._theme, self._window)
            tasks.start(dialogs.run_dialog(dialog), action=self.tr("show the history"))
        else:
            tasks.start(
                self._change(command, path, target_folder),
                owner=self._window,
                action=self.tr("change the note"),
            )

    async def _call_tool(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Call a tool as the user; emit `failed` if it fails, but not if the user denies the change."""
        outcome: ToolOutcome = await self._client.run(partial(_call_as_user, tool, arguments))
        if not outcome.success and not outcome.denied:
            self.failed.emit(outcome.message)

    def create(self, name: str, folder: str = "") -> None:
        """Start creating a note; see `create_note`."""
        tasks.start(self.create_note(name, folder), owner=self._window, action=self.tr("create the note"))

    def follow_link(self, name: str) -> None:
        """Open the target of a link, or ask whether to create it: a click alone writes nothing."""
        tasks.start(self._follow(name), owner=self._window, action=self.tr("follow the link"))

    async def _follow(self, name: str) -> None:
        if (path := await self.find(name)) is not None:
            self.open_requested.emit(path, "")

    async def create_note(self, name: str, folder: str = "") -> None:
        """Create a note and emit `created`.

        If the name is taken, offer to open the existing note. If the user declines, or the note can't be
        created, ask for another name.
        """
        match await self._client.run(lambda vault: vault.edits.create_named(name, folder)):
            case Created(path):
                self.created.emit(path.text)
            case NameTaken(path):
                title = self.tr("A note named “{0}” already exists").format(path.name)
                text = self.tr("It is at {0}. Nothing was created.").format(path.text)
                if await dialogs.confirm(self._window, title, text, self.tr("Open")):
                    self.open_requested.emit(path.text, "")
                elif (other_name := await self._ask_name(folder, name)) is not None:
                    await self.create_note(other_name, folder)
            case Failed(reason):
                new_name = await self._ask_name(folder, name, reason)
                if new_name is not None:
                    await self.create_note(new_name, folder)

    async def _ask_name(self, folder: str, name: str = "", problem: str = "") -> str | None:
        """Ask for the name of a new note in `folder`, explaining invalid names while the user types."""
        label = self.tr("Name of the note in {0}:").format(folder) if folder else self.tr("Name:")
        check = partial(name_problem, folder=folder)
        return await dialogs.prompt_text(
            self._window,
            self.tr("New note"),
            label,
            name,
            accept_label=self.tr("Create"),
            problem=problem,
            check=check,
        )

    async def find(self, name: str) -> str | None:
        """Return the path of the note that `name` (a path or link target) resolves to, or None.

        The path of a note is returned unchanged, even if the note does not exist. A file that is not a note
        opens in another program, after confirmation unless its type is known to be safe. For an unresolved
        name, the user is asked whether to create the note; `created` then carries its path.
        """
        if NotePath(name).is_note:
            return name
        path: NotePath | None = await self._client.run(lambda vault: vault.notes.find(name))
        if path is None and name in await self._client.run(_attachment_paths):
            path = NotePath(name)
        if path is not None and not path.is_note:
            await self._open_outside(Path(self._client.root) / path.text)
            return None
        if path is not None:
            return path.text
        title = self.tr("There is no note named “{0}”").format(name)
        text = self.tr("You can create it now. Unresolved links to this name will then point to it.")
        if await dialogs.confirm(self._window, title, text, self.tr("Create")):
            await self.create_note(name)
        return None

    async def _open_outside(self, file: Path) -> None:
        title = self.tr("Open “{0}” in another program?").format(file.name)
        text = self.tr("A file of this type may run code. Open it only if you trust it.")
        is_safe = file.suffix.lower() in _SAFE_SUFFIXES
        if is_safe or await dialogs.confirm(self._window, title, text, self.tr("Open")):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))

    async def show_entry(self, number: int, *, offer_undo: bool = False) -> None:
        """Show the change recorded by the audit log entry `number`, or offer to undo it.

        Raises:
            NotFoundError: There is no such entry.
        """
        entry = await self._client.run(lambda vault: vault.history.entry(number))
        # All saves of a writing session are shown as one activity.
        is_session = entry.is_session_save
        if offer_undo:
            await undo(self._client, self._theme, self._window, entry, whole_turn=is_session)
        elif (commit := entry.commit) is not None:
            title, files = await self._client.run(
                lambda vault: read_session(vault, entry.turn) if is_session else read_commit(vault, commit)
            )
            await dialogs.run_dialog(ChangesDialog(title, files, self._theme, self._window))

    async def call_with_form(self, name: str) -> None:
        """Ask for a tool's arguments, call it, and show its result.

        After an error, or when the user wants to call the tool again, the form opens with the same arguments.
        Emits `failed` if the tool is turned off.
        """
        tools = await self._client.run(lambda vault: vault.tools.tools(Caller.user()))
        tool = next((candidate for candidate in tools if candidate.name == name), None)
        if tool is None:
            self.failed.emit(self.tr("{0} is turned off.").format(tool_label(name)))
            return
        arguments, problem = dict[str, object](), ""
        while True:
            form = ToolFormDialog(tool, self._client, self._theme, self._window, arguments, problem)
            if await dialogs.run_dialog(form) != int(QDialog.DialogCode.Accepted):
                return
            arguments, problem = form.arguments, ""
            outcome: ToolOutcome = await self._client.run(partial(_call_as_user, name, arguments))
            if outcome.success:
                if not await self._show_result(name, outcome):
                    return
            elif outcome.error is not None:
                problem = failure_message(outcome)
            else:
                return

    async def _show_result(self, name: str, outcome: ToolOutcome) -> bool:
        """Show the result of a tool; return whether to call it again."""
        dialog = ResultDialog(name, outcome, self._theme, self._window)
        dialog.note_requested.connect(self.open_requested)
        next_step = dialog.next_step(await dialogs.run_dialog(dialog))
        if next_step in ("undo", "diff"):
            await self.show_entry(outcome.entry, offer_undo=next_step == "undo")
        return next_step == "again"

    async def rename_tag(self, tag: str) -> None:
        """Ask for the tag's new name and rename it in every note."""
        new_tag = await dialogs.prompt_text(
            self._window,
            self.tr("Rename #{0}").format(tag),
            self.tr("New name in all notes:"),
            tag,
            accept_label=self.tr("Rename"),
        )
        if new_tag is not None and new_tag.lstrip("#") != tag:
            await self._call_tool("rename_tag", {"tag": tag, "new_tag": new_tag.lstrip("#")})

    async def _change(self, command: str, path: str, target_folder: str) -> None:
        if command == "new-note":
            name = await self._ask_name(path)
            if name is not None:
                await self.create_note(name, path)
        elif command == "rename":
            await self._rename(NotePath(path))
        elif command == "move":
            await self._call_tool("move_note", {"name": path, "folder": target_folder})
        elif command == "delete":
            await self._call_tool("delete_note", {"name": path})

    async def _rename(self, path: NotePath) -> None:
        """Rename a note, asking for its new name until the rename succeeds, is denied or is canceled."""
        typed, problem = path.name, ""
        check = partial(name_problem, folder=path.folder)
        while True:
            title, label = self.tr("Rename “{0}”").format(path.name), self.tr("Links to it will be updated.")
            accept = self.tr("Rename")
            new_name = await dialogs.prompt_text(
                self._window, title, label, typed, accept_label=accept, problem=problem, check=check
            )
            if new_name is None or new_name == path.name:
                return
            arguments = {"name": path.text, "new_name": new_name}
            outcome: ToolOutcome = await self._client.run(partial(_call_as_user, "move_note", arguments))
            if outcome.success or outcome.denied:
                return
            typed, problem = new_name, failure_message(outcome)

    async def _copy_link(self, path: str) -> None:
        QGuiApplication.clipboard().setText(f"[[{await self._shortest_target(path)}]]")

    async def _ask_agent(self, prompt: str, path: str) -> None:
        self.ask_requested.emit(prompt.format(await self._shortest_target(path)))

    async def _shortest_target(self, path: str) -> str:
        """Return the shortest link target that resolves to this note alone."""
        note = NotePath(path)
        return await self._client.run(lambda vault: vault.notes.shortest(note, None))

    def _reveal(self, path: str) -> None:
        root = Path(self._client.root)
        file = root / path if path else root
        folder = file if file.is_dir() else file.parent
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

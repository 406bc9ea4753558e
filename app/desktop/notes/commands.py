"""The commands on notes in the menus.

Each goes through the gate, like any tool call; only creating an empty note needs no approval, like a save.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QWidget

from app.desktop.audit.changes_dialog import ChangesDialog, read_commit, read_session
from app.desktop.audit.undo import undo
from app.desktop.bridge import VaultClient
from app.desktop.notes.history_dialog import HistoryDialog
from app.desktop.runtime import tasks
from app.desktop.theme.theme import ThemeSource
from app.desktop.tool_form.completions import NameCompleter
from app.desktop.tool_form.form import ToolFormDialog, humanize
from app.desktop.tool_form.result_dialog import ResultDialog
from app.desktop.widgets import dialogs
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.path import NotePath
from app.workspace.service.edits import Created, Failed, NameTaken, name_problem

if TYPE_CHECKING:
    from app.toolkit.outcome import ToolOutcome
    from app.workspace import VaultService


_AGENT_REQUESTS = {
    "related": "Find notes related to [[{0}]]",
    "summarise": "Summarise [[{0}]]",
    "relate": "Relate [[{0}]] to [[",
    "merge": "Merge into [[{0}]] the note [[",
}
# Files that open in another program without a question, since they can only be viewed or played.
_SAFE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".pdf", ".mp3", ".ogg", ".mp4", ".webm")


async def _call_as_user(name: str, arguments: Mapping[str, object], vault: VaultService) -> ToolOutcome:
    return await vault.call(Call.of(name, arguments, Caller.user()))


def failure_message(outcome: ToolOutcome) -> str:
    """Return why a call failed, with suggestions for a misspelled name."""
    candidates = (outcome.error or {}).get("candidates") or (outcome.error or {}).get("suggestions")
    if isinstance(candidates, list | tuple) and candidates:
        return f"{outcome.message} Near it: {', '.join(map(str, candidates[:5]))}."
    return outcome.message


def _attachments(vault: VaultService) -> frozenset[str]:
    return frozenset(file.path.text for file in vault.notes.files())


class NoteCommands(QObject):
    """Runs the commands on notes of one vault for `window`.

    `open_requested` carries a note's path, `made` that of a new note; `ask_requested` a prompt for the agent,
    `give_requested` a note for it; `center_requested` a note to center in the graph; `failed` one sentence
    for the user.
    """

    open_requested = Signal(str, str)
    made = Signal(str)
    ask_requested = Signal(str)
    give_requested = Signal(str)
    center_requested = Signal(str)
    failed = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, window: QWidget) -> None:
        super().__init__(window)
        self._client = client
        self._theme = theme
        self._window = window

    def run_command(self, what: str, about: str, more: str = "") -> None:
        """Run command `what` on the note or folder `about`; `more` is the target folder of a move."""
        if what == "open":
            self.open_requested.emit(about, "")
        elif what == "reveal":
            self._reveal(about)
        elif what == "copy-link":
            tasks.start(self._copy_link(about), owner=self._window, what=self.tr("copy the link"))
        elif what in _AGENT_REQUESTS:
            request = self._request(_AGENT_REQUESTS[what], about)
            tasks.start(request, owner=self._window, what=self.tr("ask the agent"))
        elif what == "ask":
            self.give_requested.emit(about)
        elif what == "graph":
            self.center_requested.emit(about)
        elif what == "history":
            dialog = HistoryDialog(NotePath(about), self._client, self._theme, self._window)
            tasks.start(dialogs.run_dialog(dialog), what=self.tr("show the history"))
        else:
            tasks.start(self._change(what, about, more), owner=self._window, what=self.tr("change the note"))

    async def run(self, tool: str, arguments: Mapping[str, object]) -> ToolOutcome:
        """Call a tool as the user; emit `failed` with the message of an error."""
        outcome: ToolOutcome = await self._client.run(
            lambda vault: vault.call(Call.of(tool, arguments, Caller.user()))
        )
        if not outcome.success and not outcome.denied:
            self.failed.emit(outcome.message)
        return outcome

    def make(self, name: str, folder: str = "") -> None:
        """Create a note and open it."""
        tasks.start(self.new_note(name, folder), owner=self._window, what=self.tr("create the note"))

    def follow_link(self, name: str) -> None:
        """Open the target of a link, or ask whether to create it: a click alone writes nothing."""
        tasks.start(self._follow(name), owner=self._window, what=self.tr("follow the link"))

    async def _follow(self, name: str) -> None:
        if (found := await self.find(name)) is not None:
            self.open_requested.emit(found, "")

    async def new_note(self, name: str, folder: str = "") -> None:
        """Create a note and open it; if a note has the name already, offer to open that one."""
        match await self._client.run(lambda vault: vault.edits.create_named(name, folder)):
            case Created(path):
                self.made.emit(path.text)
            case NameTaken(path):
                title = self.tr("A note named “{0}” already exists").format(path.name)
                text = self.tr("It is at {0}. Nothing was created.").format(path.text)
                if await dialogs.confirm(self._window, title, text, self.tr("Open")):
                    self.open_requested.emit(path.text, "")
                elif (other := await self._ask_name(folder, name)) is not None:
                    await self.new_note(other, folder)
            case Failed(reason):
                again = await self._ask_name(folder, name, reason)
                if again is not None:
                    await self.new_note(again, folder)

    async def _ask_name(self, folder: str, name: str = "", problem: str = "") -> str | None:
        """Ask for the name of a new note in `folder`, explaining invalid names during typing."""
        place = self.tr("Name of the note in {0}:").format(folder) if folder else self.tr("Name:")
        check = partial(name_problem, folder=folder)
        return await dialogs.prompt_text(
            self._window,
            self.tr("New note"),
            place,
            name,
            accept=self.tr("Create"),
            problem=problem,
            check=check,
        )

    async def find(self, name: str) -> str | None:
        """Return the path of the note that `name` (a path or link target) resolves to; None if there is none.

        Another file of the vault is opened in the system's program for it. For an unresolved name, the user
        is asked whether to create the note.
        """
        if NotePath(name).is_note:
            return name
        found: NotePath | None = await self._client.run(lambda vault: vault.notes.find(name))
        if found is None and name in await self._client.run(_attachments):
            found = NotePath(name)
        if found is not None and not found.is_note:
            await self._open_outside(Path(self._client.root) / found.text)
            return None
        if found is not None:
            return found.text
        title = self.tr("There is no note named “{0}”").format(name)
        text = self.tr("You can create it now. Unresolved links to this name will then lead to it.")
        if await dialogs.confirm(self._window, title, text, self.tr("Create")):
            await self.new_note(name)
        return None

    async def _open_outside(self, file: Path) -> None:
        title = self.tr("Open “{0}” in another program?").format(file.name)
        text = self.tr("A file of this type can run code. Open it only if you trust it.")
        harmless = file.suffix.lower() in _SAFE_SUFFIXES
        if harmless or await dialogs.confirm(self._window, title, text, self.tr("Open")):
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))

    async def show_entry(self, number: int, *, undo_it: bool = False) -> None:
        """Show the change of a call by its number in the audit log, or offer to undo it."""
        entry = await self._client.run(lambda vault: vault.history.entry(number))
        session = entry.is_of_session  # The activity stands for all saves of the session.
        if undo_it:
            await undo(self._client, self._theme, self._window, entry, whole_turn=session)
        elif (commit := entry.commit) is not None:
            title, files = await self._client.run(
                lambda vault: read_session(vault, entry.turn) if session else read_commit(vault, commit)
            )
            await dialogs.run_dialog(ChangesDialog(title, files, self._theme, self._window))

    async def call_with_form(self, name: str) -> None:
        """Ask for a tool's arguments, call it, and show its result."""
        offered = await self._client.run(lambda vault: vault.tools.tools(Caller.user()))
        tool = next((each for each in offered if each.name == name), None)
        if tool is None:
            self.failed.emit(self.tr("{0} is turned off.").format(humanize(name)))
            return
        names, arguments, problem = NameCompleter(self._client), dict[str, object](), ""
        while True:
            form = ToolFormDialog(tool, names, self._theme, self._window, arguments, problem)
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
        sheet = ResultDialog(name, outcome, self._theme, self._window)
        sheet.note_requested.connect(self.open_requested)
        wanted = sheet.next_step(await dialogs.run_dialog(sheet))
        if wanted in ("undo", "diff"):
            await self.show_entry(outcome.entry, undo_it=wanted == "undo")
        return wanted == "again"

    async def rename_tag(self, tag: str) -> None:
        """Ask for the tag's new name and rename it in every note."""
        new = await dialogs.prompt_text(
            self._window,
            self.tr("Rename #{0}").format(tag),
            self.tr("New name in all notes:"),
            tag,
            accept=self.tr("Rename"),
        )
        if new is not None and new.lstrip("#") != tag:
            await self.run("rename_tag", {"tag": tag, "new_tag": new.lstrip("#")})

    async def _change(self, what: str, about: str, more: str) -> None:
        if what == "new-note":
            name = await self._ask_name(about)
            if name is not None:
                await self.new_note(name, about)
        elif what == "rename":
            await self._rename(NotePath(about))
        elif what == "move":
            await self.run("move_note", {"name": about, "folder": more})
        elif what == "delete":
            await self.run("delete_note", {"name": about})

    async def _rename(self, path: NotePath) -> None:
        """Ask for the note's new name until it is valid or the user cancels."""
        typed, problem = path.name, ""
        check = partial(name_problem, folder=path.folder)
        while True:
            title, label = self.tr("Rename “{0}”").format(path.name), self.tr("Links to it are updated.")
            accept = self.tr("Rename")
            new = await dialogs.prompt_text(
                self._window, title, label, typed, accept=accept, problem=problem, check=check
            )
            if new is None or new == path.name:
                return
            arguments = {"name": path.text, "new_name": new}
            outcome: ToolOutcome = await self._client.run(partial(_call_as_user, "move_note", arguments))
            if outcome.success or outcome.denied:
                return
            typed, problem = new, failure_message(outcome)

    async def _copy_link(self, about: str) -> None:
        QGuiApplication.clipboard().setText(f"[[{await self._shortest(about)}]]")

    async def _request(self, words: str, about: str) -> None:
        self.ask_requested.emit(words.format(await self._shortest(about)))

    async def _shortest(self, about: str) -> str:
        """Return the shortest link target that resolves to this note alone."""
        path = NotePath(about)
        return await self._client.run(lambda vault: vault.notes.shortest(path, None))

    def _reveal(self, about: str) -> None:
        root = Path(self._client.root)
        place = root / about if about else root
        folder = place if place.is_dir() else place.parent
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))

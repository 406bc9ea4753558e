"""Ask for approval at the terminal: yes, no, an edit, some files, or all requests of a kind."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from rich.text import Text

from app.cli.approval_kinds import ApprovalKind, kinds_for_request
from app.cli.approval_prompt import format_file_change, format_request
from app.cli.console import CliConsole
from app.cli.external_editor import EditingError, edit_in_editor
from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied, Effect
from app.permissions.partial_approval import ApprovalDraft, FileDraft, SelectionState
from app.permissions.request_labels import change_name
from app.vault.changes import Delete

if TYPE_CHECKING:
    from app.cli.terminal_input import Terminal

_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_HELP = {
    "y": "approve exactly what is shown",
    "n": "deny; text after the n is sent to the caller (n not this note)",
    "e": "edit the text in $VISUAL or $EDITOR, and review it again (e 2: edit file 2)",
    "f": "choose files by number (f 1 3-5); the others are left out",
    "a": "approve this and all later requests of this kind in this run",
    "?": "show this help",
}


class TerminalApprover:
    """Asks the user at a terminal, one request at a time.

    Args:
        tty: The terminal for answers.
        console: The output for requests.
    """

    def __init__(self, tty: Terminal, console: CliConsole) -> None:
        self._tty = tty
        self._console = console
        self._approved_kinds: frozenset[ApprovalKind] = frozenset()
        self._lock = asyncio.Lock()

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Show the request and ask for a decision, unless an earlier answer covers it.

        Enter, Ctrl-C and Ctrl-D deny the request.
        """
        async with self._lock:
            if self._covers(request):
                explanation = "covered by an earlier answer in the terminal: approve all of this kind"
                return Approved(request.proposal, words=explanation)
            draft = ApprovalDraft(request)
            for line in format_request(draft):
                self._console.print_message(line)
            try:
                return await self._ask(draft)
            except asyncio.CancelledError:
                self._console.print_message("\nThe request timed out or was canceled. Nothing was done.")
                raise

    def _covers(self, request: ApprovalRequest) -> bool:
        """Return whether earlier answers cover all kinds of the request; False if it offers no grants."""
        return bool(request.offers) and kinds_for_request(request) <= self._approved_kinds

    async def _ask(self, draft: ApprovalDraft) -> Decision:
        letters = _answer_keys(draft)
        while True:
            answer = await self._tty.read_line(f"\n{_question_text(draft)} [{','.join(letters)}] (no) ")
            if answer is None:
                return Denied()
            letter, rest = answer[:1].lower(), answer[1:].strip()
            if letter and letter not in letters:
                self._print_help(letters)
                continue
            match letter:
                case "y" | "a" if draft.proposal() is None:
                    self._console.print_message(
                        "Your edit leaves nothing to write. Edit again, or deny with n."
                    )
                case "y" if not rest or rest == "es":
                    return draft.approved()
                case "a" if not rest:
                    self._approved_kinds |= kinds_for_request(draft.request)
                    return draft.approved()
                case "e":
                    await self._edit(draft, rest)
                case "f":
                    self._choose_files(draft, rest or await self._tty.read_line("File numbers: ") or "")
                case "" | "n":
                    reason = rest.removeprefix("o").strip() if letter else ""
                    return Denied(reason)
                case _:
                    self._print_help(letters)

    def _print_help(self, letters: tuple[str, ...]) -> None:
        for letter in letters:
            self._console.print_message(Text.assemble((f"  {letter}  ", "bold"), _HELP[letter]))

    async def _edit(self, draft: ApprovalDraft, number_text: str) -> None:
        """Open a file's text in the editor and show the resulting change, or the problem."""
        files = [file for file in draft.files if not isinstance(file.change, Delete)]
        file = files[0] if len(files) == 1 and not number_text else _file_by_number(draft, number_text)
        if file is None or file not in files:
            self._console.print_message(
                "Enter the number of a file to edit, for example: e 2. A deleted file has no text."
            )
            return
        try:
            await edit_in_editor(file, self._tty)
        except EditingError as error:
            self._console.print_message(f"{error} The proposal is unchanged.")
            return
        for line in format_file_change(file, draft.files.index(file) + 1, len(draft.files)):
            self._console.print_message(line)

    def _choose_files(self, draft: ApprovalDraft, text: str) -> None:
        """Select the files with these numbers, exclude the others and list all files."""
        chosen = _parse_numbers(text, len(draft.files))
        if chosen is None:
            self._console.print_message(f"Enter numbers from 1 to {len(draft.files)}, for example: f 1 3-5.")
            return
        for number, file in enumerate(draft.files, 1):
            is_chosen = number in chosen
            if is_chosen != (file.selection_state is not SelectionState.NONE):
                file.set_selected(is_chosen)
            mark = "✓" if is_chosen else " "
            self._console.print_message(f"  {mark} {number:>3}  {change_name(file.change)}")


def _answer_keys(draft: ApprovalDraft) -> tuple[str, ...]:
    """Return the answer keys that apply to a request."""
    letters = ["y", "n"]
    if any(not isinstance(file.change, Delete) for file in draft.files):
        letters.append("e")
    if len(draft.files) > 1:
        letters.append("f")
    if draft.request.offers:
        letters.append("a")
    return (*letters, "?")


def _question_text(draft: ApprovalDraft) -> str:
    if isinstance(draft.request.proposal, Effect):
        return "Approve this?"
    chosen = sum(file.selection_state is not SelectionState.NONE for file in draft.files)
    if chosen < len(draft.files):
        return f"Write {chosen} of these {len(draft.files)} files?"
    return "Write this?" if chosen == 1 else f"Write these {chosen} files?"


def _file_by_number(draft: ApprovalDraft, number_text: str) -> FileDraft | None:
    chosen = _parse_numbers(number_text, len(draft.files))
    return draft.files[min(chosen) - 1] if chosen and len(chosen) == 1 else None


def _parse_numbers(text: str, maximum: int) -> set[int] | None:
    """Parse numbers and ranges from 1 to `maximum`, such as "1 3-5"; None if none or any is invalid."""
    numbers: set[int] = set()
    for word in text.replace(",", " ").split():
        match = _RANGE.fullmatch(word)
        if match is None:
            return None
        first = int(match[1])
        last = int(match[2] or first)
        if not 1 <= first <= last <= maximum:
            return None
        numbers |= set(range(first, last + 1))
    return numbers or None

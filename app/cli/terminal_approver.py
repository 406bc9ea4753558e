"""Asks at the terminal: shows the exact change, and takes yes, no, an edit, some files, or all of a kind."""

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
    "y": "yes: exactly what is shown",
    "n": "no; words after it go to the caller (n not this note)",
    "e": "edit the text in $VISUAL or $EDITOR, look at it again, and approve exactly that (e 2: of file 2)",
    "f": "choose files: their numbers (f 1 3-5), the others are left out",
    "a": "yes, and to all more of this kind in this run",
    "?": "this help",
}


class TerminalApprover:
    """Asks one question after the other.

    Args:
        tty: Where somebody answers.
        screen: Where questions are shown.
    """

    def __init__(self, tty: Terminal, screen: CliConsole) -> None:
        self._tty = tty
        self._screen = screen
        self._allowed: frozenset[ApprovalKind] = frozenset()
        self._one_at_a_time = asyncio.Lock()

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Show the request and ask until there is an answer; Enter, Ctrl-C and Ctrl-D are no."""
        async with self._one_at_a_time:
            if self._covers(request):
                words = "covered by an earlier answer at the terminal: all of this kind"
                return Approved(request.proposal, words=words)
            draft = ApprovalDraft(request)
            for line in format_request(draft):
                self._screen.print_message(line)
            try:
                return await self._ask(draft)
            except asyncio.CancelledError:
                self._screen.print_message("\nNo answer in time, or it was withdrawn: nothing is done.")
                raise

    def _covers(self, request: ApprovalRequest) -> bool:
        """Whether "all of this kind" was said before; it never holds where rules forbid a standing yes."""
        return bool(request.offers) and kinds_for_request(request) <= self._allowed

    async def _ask(self, draft: ApprovalDraft) -> Decision:
        letters = _answer_keys(draft)
        while True:
            answer = await self._tty.read_line(f"\n{_write_question(draft)} [{','.join(letters)}] (no) ")
            if answer is None:
                return Denied()
            letter, rest = answer[:1].lower(), answer[1:].strip()
            if letter and letter not in letters:
                self._help(letters)
                continue
            match letter:
                case "y" | "a" if draft.proposal() is None:
                    self._screen.print_message("After your edit nothing is left to write. n says no.")
                case "y" if not rest or rest == "es":
                    return draft.approved()
                case "a" if not rest:
                    self._allowed |= kinds_for_request(draft.request)
                    return draft.approved()
                case "e":
                    await self._edit(draft, rest)
                case "f":
                    self._choose(draft, rest or await self._tty.read_line("Numbers of the files: ") or "")
                case "" | "n":
                    words = rest.removeprefix("o").strip() if letter else ""
                    return Denied(words)
                case _:
                    self._help(letters)

    def _help(self, letters: tuple[str, ...]) -> None:
        for letter in letters:
            self._screen.print_message(Text.assemble((f"  {letter}  ", "bold"), _HELP[letter]))

    async def _edit(self, draft: ApprovalDraft, which: str) -> None:
        """Have a file's text edited, and show what would be written now."""
        files = [file for file in draft.files if not isinstance(file.change, Delete)]
        file = files[0] if len(files) == 1 and not which else _file(draft, which)
        if file is None or file not in files:
            self._screen.print_message(
                "Say which file, such as: e 2. One that is deleted has no text to edit."
            )
            return
        try:
            await edit_in_editor(file, self._tty)
        except EditingError as error:
            self._screen.print_message(f"{error} The proposal is as it was.")
            return
        for line in format_file_change(file, draft.files.index(file) + 1, len(draft.files)):
            self._screen.print_message(line)

    def _choose(self, draft: ApprovalDraft, text: str) -> None:
        """Keep the files with these numbers, leave the others out, and list both."""
        chosen = _parse_numbers(text, len(draft.files))
        if chosen is None:
            self._screen.print_message(f"Numbers from 1 to {len(draft.files)}, such as: f 1 3-5.")
            return
        for number, file in enumerate(draft.files, 1):
            wanted = number in chosen
            if wanted != (file.selection_state is not SelectionState.NONE):
                file.set_ticked(wanted)
            mark = "✓" if wanted else " "
            self._screen.print_message(f"  {mark} {number:>3}  {_path(file)}")


def _answer_keys(draft: ApprovalDraft) -> tuple[str, ...]:
    """The answers that make sense for a request."""
    letters = ["y", "n"]
    if any(not isinstance(file.change, Delete) for file in draft.files):
        letters.append("e")
    if len(draft.files) > 1:
        letters.append("f")
    if draft.request.offers:
        letters.append("a")
    return (*letters, "?")


def _write_question(draft: ApprovalDraft) -> str:
    if isinstance(draft.request.proposal, Effect):
        return "Do this?"
    chosen = sum(file.selection_state is not SelectionState.NONE for file in draft.files)
    if chosen < len(draft.files):
        return f"Write {chosen} of these {len(draft.files)}?"
    return "Write this?" if chosen == 1 else f"Write these {chosen} files?"


def _path(file: FileDraft) -> str:
    return change_name(file.change)


def _file(draft: ApprovalDraft, which: str) -> FileDraft | None:
    chosen = _parse_numbers(which, len(draft.files))
    return draft.files[min(chosen) - 1] if chosen and len(chosen) == 1 else None


def _parse_numbers(text: str, most: int) -> set[int] | None:
    """Numbers and ranges, such as "1 3-5"; None where there is anything else."""
    found: set[int] = set()
    for word in text.replace(",", " ").split():
        match = _RANGE.fullmatch(word)
        if match is None:
            return None
        first = int(match[1])
        last = int(match[2] or first)
        if not 1 <= first <= last <= most:
            return None
        found |= set(range(first, last + 1))
    return found or None

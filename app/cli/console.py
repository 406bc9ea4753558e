"""Where a command writes: results to standard output, all else to standard error, each as it can show it.

On a terminal there are colours (unless NO_COLOR is set) and the width is kept, and characters that a note
may hide in its text are named, since some of them command the terminal. Into a pipe goes the plain text.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from app.vault.invisible_chars import label

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPE_WIDTH = 10_000


class CliConsole:
    """The two streams of a command.

    Args:
        out: For results.
        err: For what is told beside them.
    """

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self._consoles: dict[int, Console] = {}
        self._progress = 0

    @property
    def is_terminal(self) -> bool:
        """Whether results are read by a person at once."""
        return self.out.isatty()

    @property
    def is_interactive(self) -> bool:
        """Whether a person sees what is told beside the results."""
        return self.err.isatty()

    def show(self, *parts: RenderableType) -> None:
        """Write a result with its styles."""
        self._console(self.out).print(*parts, soft_wrap=not self.is_terminal)

    def text(self, text: str) -> None:
        """Write a text exactly; on a terminal what hides in it is named, and its last line ended."""
        if self.is_terminal:
            text = escape_controls(text) if text.endswith("\n") else escape_controls(text) + "\n"
        self.out.write(text)
        self.out.flush()

    def print_rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Write rows for other programs: cells between tabs."""
        for row in rows:
            self.out.write("\t".join(" ".join(cell.split()) for cell in row) + "\n")
        self.out.flush()

    def print_message(self, *parts: RenderableType) -> None:
        """Say something beside the results."""
        self.end_progress()
        self._console(self.err).print(*parts, soft_wrap=True)

    def show_progress(self, text: str) -> None:
        """Say how far it is, on one line that the next one takes the place of; only to a terminal."""
        if not self.is_interactive:
            return
        line = text[: self.width - 1]
        self.err.write(f"\r{line.ljust(self._progress)}")
        self.err.flush()
        self._progress = len(line)

    def end_progress(self) -> None:
        """Take the line of `progress` away."""
        if self._progress:
            self.err.write("\r" + " " * self._progress + "\r")
            self.err.flush()
            self._progress = 0

    @property
    def width(self) -> int:
        """How many characters a line of the terminal has."""
        return self._console(self.err).width

    def _console(self, stream: TextIO) -> Console:
        if id(stream) not in self._consoles:
            from rich.console import Console

            width = None if stream.isatty() else _PIPE_WIDTH
            self._consoles[id(stream)] = Console(
                file=stream,
                markup=False,
                highlight=False,
                emoji=False,
                width=width,
                force_terminal=None if stream.isatty() else False,
                no_color=True if os.environ.get("NO_COLOR") else None,
            )
        return self._consoles[id(stream)]


def escape_controls(text: str) -> str:
    """`text` for a terminal: every character that hides or commands is named in ⟨⟩; tabs and lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else _label_character(c) for c in text)


def _label_character(character: str) -> str:
    return f"⟨{label(character)}⟩"


def use_utf8() -> None:
    """Let the streams take every text: UTF-8 for pipes, a lone surrogate as the byte that it was."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            errors = "backslashreplace" if stream.isatty() else "surrogateescape"
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors=errors)

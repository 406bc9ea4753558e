"""The output of a command: results to standard output, everything else to standard error.

A terminal gets colors (unless NO_COLOR is set), lines wrapped to its width, and names in place of hidden
characters in notes, since some of these control the terminal. A pipe gets the plain text.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from app.vault.invisible_chars import character_label

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_PIPE_WIDTH = 10_000


class CliConsole:
    """The two output streams of a command.

    Args:
        out: The stream for results.
        err: The stream for messages.
    """

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self._consoles: dict[int, Console] = {}
        self._progress_width = 0

    @property
    def is_terminal(self) -> bool:
        """True if results go to a terminal."""
        return self.out.isatty()

    @property
    def is_interactive(self) -> bool:
        """True if messages go to a terminal."""
        return self.err.isatty()

    def show(self, *parts: RenderableType) -> None:
        """Print a styled result; the caller escapes its hidden characters with `escape_controls`."""
        self._console(self.out).print(*parts, soft_wrap=not self.is_terminal)

    def print_text(self, text: str) -> None:
        """Print text verbatim; on a terminal, escape hidden characters and add a final newline."""
        if self.is_terminal:
            text = escape_controls(text) if text.endswith("\n") else escape_controls(text) + "\n"
        self.out.write(text)
        self.out.flush()

    def print_rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Print rows for other programs, as tab-separated cells, each on one line."""
        for row in rows:
            self.out.write("\t".join(" ".join(cell.split()) for cell in row) + "\n")
        self.out.flush()

    def print_message(self, *parts: RenderableType) -> None:
        """Print a message to standard error, after erasing the progress line.

        The caller escapes its hidden characters with `escape_controls`.
        """
        self.end_progress()
        self._console(self.err).print(*parts, soft_wrap=True)

    def show_progress(self, text: str) -> None:
        """Show progress on one line, which the next update replaces; only on a terminal."""
        if not self.is_interactive:
            return
        line = text[: self.width - 1]
        self.err.write(f"\r{line.ljust(self._progress_width)}")
        self.err.flush()
        self._progress_width = len(line)

    def end_progress(self) -> None:
        """Erase the progress line."""
        if self._progress_width:
            self.err.write("\r" + " " * self._progress_width + "\r")
            self.err.flush()
            self._progress_width = 0

    @property
    def width(self) -> int:
        """The width of the terminal for messages, in characters."""
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
    """Return `text` for a terminal, with hidden characters named in ⟨⟩; keep tabs and newlines."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else f"⟨{character_label(c)}⟩" for c in text)


def use_utf8() -> None:
    """Make the streams accept any text.

    Pipes get UTF-8, with lone surrogates as their original bytes. Terminals get escapes for characters that
    their encoding lacks.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            errors = "backslashreplace" if stream.isatty() else "surrogateescape"
            encoding = stream.encoding if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors=errors)

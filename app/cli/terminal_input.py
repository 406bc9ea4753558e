"""Line input from a terminal that does not block the event loop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

if sys.platform != "win32":
    import termios

_MAX_LINE_BYTES = 65_536
_TERMINAL = "CONIN$" if sys.platform == "win32" else "/dev/tty"


class Terminal:
    """An interactive terminal.

    Args:
        source: The descriptor to read lines from.
        out: The stream for prompts.
    """

    def __init__(self, source: int, out: TextIO) -> None:
        self.source = source
        self.out = out

    @staticmethod
    def is_available() -> bool:
        """Return whether there seems to be a terminal, without opening it."""
        if not sys.stderr.isatty():
            return False
        return (sys.stdin is not None and sys.stdin.isatty()) or os.access(_TERMINAL, os.R_OK | os.W_OK)

    @classmethod
    def find(cls) -> Terminal | None:
        """Return the terminal, even if standard input is a pipe; None if no user would see a prompt."""
        if not sys.stderr.isatty():
            return None
        if sys.stdin is not None and sys.stdin.isatty():
            return cls(sys.stdin.fileno(), sys.stderr)
        try:
            return cls(os.open(_TERMINAL, os.O_RDWR), sys.stderr)
        except OSError:
            return None

    async def read_line(self, prompt: str) -> str | None:
        """Read a line, without surrounding whitespace; None for Ctrl-C or Ctrl-D, or if reading fails.

        Except on Windows, input that was typed before the prompt is discarded.
        """
        self._discard_input()
        self.out.write(prompt)
        self.out.flush()
        if sys.platform == "win32":
            return await self._read_in_thread()
        return await self._read_in_loop()

    def _discard_input(self) -> None:
        if sys.platform != "win32":
            with suppress(termios.error):
                termios.tcflush(self.source, termios.TCIFLUSH)

    async def _read_in_loop(self) -> str | None:
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            if not typed.done():
                try:
                    typed.set_result(os.read(self.source, _MAX_LINE_BYTES))
                except OSError:
                    typed.set_result(b"")

        loop.add_reader(self.source, read)
        try:
            with _end_line_on_interrupt(typed, loop):
                content = await typed
        finally:
            loop.remove_reader(self.source)
        if not content:
            self.out.write("\n")
            return None
        return content.decode("utf-8", "replace").strip()

    async def _read_in_thread(self) -> str | None:
        """Read in a thread, for platforms on which the loop can't wait for the terminal.

        The thread ends with the process.
        """
        with open(self.source, encoding="utf-8", errors="replace", closefd=False) as stream:
            try:
                line = await asyncio.to_thread(stream.readline)
            except KeyboardInterrupt:
                return None
        return line.strip() if line else None


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Let only the foreground program, for example an editor, receive Ctrl-C.

    Outside the main thread this has no effect.
    """
    try:
        previous_handler = signal.signal(signal.SIGINT, lambda number, frame: None)
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)


@contextmanager
def _end_line_on_interrupt(typed: asyncio.Future[bytes], loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Make Ctrl-C end the line, as if there were no input."""

    def end() -> None:
        if not typed.done():
            typed.set_result(b"")

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(end)

    try:
        previous_handler = signal.signal(signal.SIGINT, on_interrupt)
    except ValueError:  # Not the main thread: Ctrl-C is handled elsewhere.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous_handler)

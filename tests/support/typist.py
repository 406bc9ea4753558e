"""A scripted user at a pseudo-terminal, who waits for each prompt and types an answer."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

if sys.platform != "win32":
    import fcntl
    import struct
    import termios


class Typist:
    """Reads the terminal's output, and types each of `answers` after its prompt has appeared.

    Args:
        master: The other end of the terminal.
        answers: Pairs of a prompt and its answer.
    """

    def __init__(self, master: int, answers: Sequence[tuple[str, str]]) -> None:
        self._master = master
        self._answers = list(answers)
        self._at = 0
        self.shown = ""
        asyncio.get_running_loop().add_reader(master, self._read)

    def _read(self) -> None:
        self.shown += os.read(self._master, 65_536).decode("utf-8", "replace")
        while self._answers and (at := self.shown.find(self._answers[0][0], self._at)) >= 0:
            words, answer = self._answers.pop(0)
            self._at = at + len(words)
            os.write(self._master, answer.encode())

    @property
    def plain(self) -> str:
        """The output without control sequences."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.shown).replace("\r\n", "\n")

    def close(self) -> None:
        """Stop reading."""
        asyncio.get_running_loop().remove_reader(self._master)


@contextmanager
def terminal(columns: int = 100) -> Iterator[tuple[int, TextIO]]:
    """Open a pseudo-terminal and yield the user's end and the program's file."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    try:
        with os.fdopen(slave, "w", encoding="utf-8", buffering=1) as stream:
            yield master, stream
    finally:
        os.close(master)

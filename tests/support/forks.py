"""Run functions that kill their own process, each in a fork of a small process.

A fork copies its parent's page tables, and a process that has run thousands of tests is large.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Forks:
    """A process that runs functions in sequence, each in its own child."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-m", __name__], cwd=ROOT, stdin=pipe, stdout=pipe)

    def killed(self, work: Callable[..., object], *arguments: object) -> bool:
        """Run a function in a child and return whether a signal ended the child; `work` must be picklable.

        Raises:
            AssertionError: The function failed; its traceback is on stderr.
        """
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None and answers is not None
        pickle.dump((work, arguments), requests)
        requests.flush()
        status = pickle.load(answers)
        if os.WIFSIGNALED(status):
            return True
        assert os.WEXITSTATUS(status) == 0, "the child failed: see its traceback"
        return False

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        assert self._process.wait(30) == 0
        self._process.stdout.close()


def _serve() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # The output of a function must not be taken for an answer.
    while True:
        try:
            work, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        child = os.fork()
        if child == 0:
            _run_child(work, arguments)
        pickle.dump(os.waitpid(child, 0)[1], answers)
        answers.flush()


def _run_child(work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    try:
        work(*arguments)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    _serve()

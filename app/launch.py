"""Command lines that start this program: its workers, and its command for other programs.

From source, the program is `python -m app`. The installer provides a frozen executable without a Python
interpreter. All code that starts the program or names its command uses this module.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing.context import SpawnContext
from pathlib import Path

from app import paths

APP_ID = "io.github.scriptorium.Scriptorium"
"""The id of the desktop file, the AppStream component, the Flatpak and the macOS bundle."""
EMBEDDING_WORKER = "--embedding-worker"
"""The first argument that makes the frozen program an embedding worker."""
FUNCTION_WORKER = "--function-worker"
"""The first argument that makes the frozen program a worker that calls the app's functions."""
_CONSOLE_PROGRAM = "scriptorium-cli.exe"
_SOURCES = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """A program with its first arguments, the folder it runs in, and variables added to its environment."""

    words: tuple[str, ...]
    folder: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the environment of this process with the added variables."""
        return {**os.environ, **self.variables}


def is_frozen() -> bool:
    """Return whether this is the frozen program, which has no Python interpreter."""
    return bool(getattr(sys, "frozen", False))


def console_program() -> str:
    """Return the path of the frozen program that has standard input and output.

    On Windows, the windowed program has neither, so a console program is installed next to it.
    """
    if sys.platform == "win32":
        console = Path(sys.executable).with_name(_CONSOLE_PROGRAM)
        if console.is_file():
            return str(console)
    return sys.executable


def own_program() -> LaunchCommand:
    """Return the command that starts this program as a child process with standard input and output."""
    if is_frozen():
        return LaunchCommand((console_program(),))
    return LaunchCommand((sys.executable, "-m", "app"), None, {"PYTHONPATH": str(_SOURCES)})


def embedding_worker(python: str = "") -> LaunchCommand:
    """Return the command that starts an embedding worker.

    Args:
        python: Another interpreter that has sentence-transformers installed. It runs the worker's sources,
            which the frozen program includes as files. Empty for this program.
    """
    words = (python or sys.executable, "-m", "app.embeddings.worker")
    if not is_frozen():
        # The folder that contains the package, so that the worker runs the same code wherever the app was
        # started.
        return LaunchCommand(words, _SOURCES)
    if not python:
        return LaunchCommand((console_program(), EMBEDDING_WORKER))
    return LaunchCommand(words, paths.resources_folder().parent / "worker-source")


def function_worker() -> LaunchCommand:
    """Return the command that starts a worker that calls the app's functions."""
    if is_frozen():
        return LaunchCommand((console_program(), FUNCTION_WORKER))
    return LaunchCommand((sys.executable, "-m", "app.processes.function_worker"), _SOURCES)


def model_conversion() -> LaunchCommand:
    """Return the command that converts the multilingual model; only needed when running from source."""
    return LaunchCommand((sys.executable, "-m", "app.embeddings.multilingual"), _SOURCES)


def worker_processes() -> SpawnContext:
    """Return the multiprocessing context of this program's worker processes.

    In the frozen program, a worker is a copy of the running executable and communicates through pipes of its
    own. On Windows, even the windowed program can therefore be a worker, and no console opens.
    """
    return multiprocessing.get_context("spawn")


def installed_command() -> tuple[str, ...]:
    """Return the command that starts this app, for the configuration of other programs.

    Paths are absolute, because other programs may not search the same folders.
    """
    if is_frozen():
        if os.environ.get("FLATPAK_ID") == APP_ID:
            return ("flatpak", "run", APP_ID)
        # A terminal that is itself an AppImage sets the variables of its own image.
        image, mounted = os.environ.get("APPIMAGE"), os.environ.get("APPDIR")
        if image and mounted and Path(sys.executable).is_relative_to(mounted):
            return (image,)
        return (console_program(),)
    # The path is not resolved, because an environment's scripts are next to its Python.
    script = Path(sys.executable).parent / ("scriptorium.exe" if os.name == "nt" else "scriptorium")
    if script.is_file():
        return (str(script),)
    if program := shutil.which("scriptorium"):
        return (str(Path(program).absolute()),)
    return (sys.executable, "-m", "app")

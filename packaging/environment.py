"""The project's own environment in `.venv`; this module uses only the standard library.

The environment is created with uv if available, else with venv and pip, and updated only if its contents
should change: a stamp stores hashes of the project file, the constraints, the C core's sources, the
dependency groups, the Python and the checkout's path.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv"
BINARIES = FOLDER / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BINARIES / ("python.exe" if os.name == "nt" else "python")
BYTECODE = FOLDER / "bytecode"  # of the checks
CONSTRAINTS = ROOT / "packaging" / "constraints.txt"
# The system libraries that Qt needs, with their Debian packages.
LIBRARIES = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libbrotlidec.so.1": "libbrotli1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}


def ensure(groups: tuple[str, ...] = ()) -> None:
    """Create or update the environment with the app and the named dependency groups, if necessary.

    Raises:
        SystemExit: This Python is too old or too new.
        subprocess.CalledProcessError: The installation failed.
    """
    if not (3, 11) <= sys.version_info[:2] < (3, 15):
        sys.exit(f"Scriptorium needs Python 3.11 to 3.14; this is {sys.version.split()[0]}.")
    stamp, digest = FOLDER / ".scriptorium-stamp", _digest(groups)
    recorded = stamp.read_text().split("\n") if PYTHON.exists() and stamp.exists() else []
    if digest in recorded:
        return
    print("Setting up Scriptorium …", flush=True)
    _install(groups)
    # An environment with more groups than requested is also valid.
    stamp.write_text("\n".join({digest, _digest(())}))


def _digest(groups: tuple[str, ...]) -> str:
    core_sources = [
        ROOT / "packaging" / "build_core.py",
        *sorted((ROOT / "app" / "graph" / "core").glob("*.[ch]")),
    ]
    parts = [each.read_bytes() for each in (ROOT / "pyproject.toml", CONSTRAINTS, *core_sources)]
    parts += [",".join(groups).encode(), sys.version.encode(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _install(groups: tuple[str, ...]) -> None:
    shutil.rmtree(BYTECODE, ignore_errors=True)
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8")).get("dependency-groups", {})
    pip_arguments = [
        "-c",
        str(CONSTRAINTS),
        "-e",
        str(ROOT),
        *(spec for group in groups for spec in table[group]),
    ]
    if uv := shutil.which("uv"):
        subprocess.check_call([uv, "venv", "-q", "--allow-existing", "--python", sys.executable, str(FOLDER)])
        # Compile the modules now, as pip does: compiling large ones while the app runs would block its event
        # loops. The checks keep their bytecode in a folder of their own.
        compiled = [] if groups else ["--compile-bytecode"]
        subprocess.check_call(
            [uv, "pip", "install", "-q", *compiled, "--python", str(PYTHON), *pip_arguments]
        )
        return
    if not PYTHON.exists():
        venv.create(FOLDER, with_pip=True)
    subprocess.check_call(
        [str(PYTHON), "-m", "pip", "install", "-q", "--disable-pip-version-check", *pip_arguments]
    )


def missing_libraries() -> list[str]:
    """Return the Debian packages of missing libraries that Qt needs; empty on systems other than Linux."""
    if not sys.platform.startswith("linux"):
        return []
    import ctypes

    missing = []
    for library, package in LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing

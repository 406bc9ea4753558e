"""Add the checkout to the desktop's menu, so that a double-click starts it: `start.py --desktop-entry`.

Linux gets a desktop file and icons in the user's data folder, Windows a shortcut in the Start menu, macOS a
small application in the user's Applications folder. Only the standard library is used.
"""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import environment

ID = "io.github.scriptorium.Scriptorium"
ICONS = environment.ROOT / "resources" / "icons"
CONTAINERS = environment.ROOT / "packaging" / "desktop" / "icons"
DESKTOP_FILE = environment.ROOT / "packaging" / "desktop" / "linux" / f"{ID}.desktop"
_RESERVED = " \t\n\"'\\><~|&;$*?#()`"
_SIZES = (16, 32, 48, 128, 256)


def add() -> Path:
    """Add or update the entry, and return its path.

    Raises:
        OSError: A file could not be written.
        subprocess.CalledProcessError: PowerShell could not create the shortcut.
    """
    if sys.platform == "win32":
        return _windows(Path(os.environ["APPDATA"], "Microsoft", "Windows", "Start Menu", "Programs"))
    if sys.platform == "darwin":
        return _mac(Path.home() / "Applications")
    return _linux(Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"))


def _linux(data: Path) -> Path:
    """Write the packages' desktop file with this checkout's program, and copy the icons."""
    program = _quote(str(environment.BINARIES / "scriptorium"))
    lines = []
    for line in DESKTOP_FILE.read_text("utf-8").splitlines():
        key, _, value = line.partition("=")
        if key == "Exec":
            line = f"Exec={program} {value.partition(' ')[2]}"
        elif key == "TryExec":
            line = f"TryExec={environment.BINARIES / 'scriptorium'}"
        lines.append(line)
    icons = data / "icons" / "hicolor"
    _copy(ICONS / "scriptorium-256.svg", icons / "scalable" / "apps" / f"{ID}.svg")
    for size in _SIZES:
        _copy(ICONS / f"{size}.png", icons / f"{size}x{size}" / "apps" / f"{ID}.png")
    entry = data / "applications" / f"{ID}.desktop"
    entry.parent.mkdir(parents=True, exist_ok=True)
    entry.write_text("\n".join(lines) + "\n", "utf-8")
    if updater := shutil.which("update-desktop-database"):
        subprocess.call([updater, "-q", str(entry.parent)])
    return entry


def _quote(word: str) -> str:
    """Quote a word of a desktop file's Exec line: first for the line, then for the file's own escapes."""
    word = word.replace("%", "%%")
    if any(character in _RESERVED for character in word):
        for character in '\\"`$':
            word = word.replace(character, f"\\{character}")
        word = f'"{word}"'
    return word.replace("\\", "\\\\")


def _windows(menu: Path) -> Path:
    """Create a shortcut with PowerShell: the standard library can't write one."""
    shortcut = menu / "Scriptorium.lnk"
    script = (
        "$link = (New-Object -ComObject WScript.Shell).CreateShortcut($env:LINK);"
        "$link.TargetPath = $env:TARGET; $link.Arguments = '-m app';"
        "$link.WorkingDirectory = $env:FOLDER; $link.IconLocation = $env:ICON; $link.Save()"
    )
    values = {
        "LINK": str(shortcut),
        "TARGET": str(environment.BINARIES / "pythonw.exe"),
        "FOLDER": str(environment.ROOT),
        "ICON": str(CONTAINERS / "scriptorium.ico"),
    }
    subprocess.check_call(["powershell", "-NoProfile", "-Command", script], env=os.environ | values)
    return shortcut


def _mac(applications: Path) -> Path:
    """Create an application whose program is a script that starts the checkout."""
    bundle = applications / "Scriptorium (checkout).app"
    contents = bundle / "Contents"
    _copy(CONTAINERS / "scriptorium.icns", contents / "Resources" / "scriptorium.icns")
    (contents / "MacOS").mkdir(parents=True, exist_ok=True)
    program = contents / "MacOS" / "scriptorium"
    words = " ".join(f"'{word}'" for word in (str(environment.PYTHON).replace("'", "'\\''"), "-m", "app"))
    program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', "utf-8")
    program.chmod(0o755)
    info = {
        "CFBundleIdentifier": f"{ID}.Checkout",
        "CFBundleName": "Scriptorium",
        "CFBundleExecutable": "scriptorium",
        "CFBundleIconFile": "scriptorium.icns",
        "CFBundlePackageType": "APPL",
        "NSHighResolutionCapable": True,
    }
    (contents / "Info.plist").write_bytes(plistlib.dumps(info))
    return bundle


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)

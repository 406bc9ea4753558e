"""The checkout in the desktop's menu."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def menu_entry(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "packaging"))
    import menu_entry

    yield menu_entry
    for name in ("menu_entry", "environment"):
        sys.modules.pop(name, None)


def test_linux_gets_a_desktop_file_that_starts_the_checkout(menu_entry, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    folder = tmp_path / 'a "b" $c 100%'
    folder.mkdir()
    program = folder / "scriptorium"
    program.touch(mode=0o755)
    monkeypatch.setattr(menu_entry.environment, "BINARIES", folder)
    entry = menu_entry.add()
    assert entry == tmp_path / "applications" / "io.github.scriptorium.Scriptorium.desktop"
    lines = dict(line.split("=", 1) for line in entry.read_text().splitlines() if "=" in line)
    assert lines["Exec"].endswith(" open %F") and lines["TryExec"] == str(program)
    icons = tmp_path / "icons" / "hicolor"
    for place in ("16x16", "256x256"):
        assert (icons / place / "apps" / f"{lines['Icon']}.png").is_file()
    assert (icons / "scalable" / "apps" / f"{lines['Icon']}.svg").is_file()
    if validate := shutil.which("desktop-file-validate"):
        assert subprocess.run([validate, str(entry)], capture_output=True, check=False).stdout == b""


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("/opt/x", "/opt/x"),
        ("/a b", '"/a b"'),
        ("/100%", "/100%%"),
        ('/a"$`', '"/a\\\\"\\\\$\\\\`"'),
        ("/a\\b", '"/a\\\\\\\\b"'),
    ],
)
def test_a_path_is_quoted_as_the_specification_says(menu_entry, word: str, quoted: str) -> None:
    assert menu_entry._quote(word) == quoted


def test_macos_gets_an_application_with_the_icon(menu_entry, monkeypatch, tmp_path: Path) -> None:
    bundle = menu_entry._mac(tmp_path)
    info = plistlib.loads((bundle / "Contents" / "Info.plist").read_bytes())
    program = bundle / "Contents" / "MacOS" / info["CFBundleExecutable"]
    assert os.access(program, os.X_OK)
    assert (bundle / "Contents" / "Resources" / info["CFBundleIconFile"]).is_file()
    syntax = subprocess.run(["sh", "-n", str(program)], capture_output=True, check=False)
    assert syntax.returncode == 0


def test_windows_gets_a_shortcut_without_a_console(menu_entry, monkeypatch, tmp_path: Path) -> None:
    calls: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(menu_entry.subprocess, "check_call", lambda words, env: calls.append((words, env)))
    assert menu_entry._windows(tmp_path) == tmp_path / "Scriptorium.lnk"
    ((words, env),) = calls
    assert words[0] == "powershell" and "$env:TARGET" in words[-1]
    assert env["TARGET"].endswith("pythonw.exe") and Path(env["ICON"]).is_file()

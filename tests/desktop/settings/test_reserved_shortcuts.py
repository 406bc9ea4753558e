"""Keys that text fields, the editor, panels and menus need are not recorded as shortcuts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence

from app.desktop.settings import reserved_shortcuts
from app.desktop.settings.reserved_shortcuts import PANEL_KEYS, rejection
from app.desktop.shell.command_registry import COMMANDS

_DESKTOP = Path(reserved_shortcuts.__file__).parents[1]
_READERS = ("command_registry.py", "reserved_shortcuts.py")
# Dialogs are windows of their own, in which the commands have no shortcuts.
_DIALOG_KEYS = {"Alt+A", "Alt+Left", "Alt+Right"}


@pytest.mark.parametrize(
    ("keys", "reason"),
    [
        ("A", "writing"),
        ("Shift+A", "writing"),
        ("Return", "writing"),
        ("Tab", "writing"),
        ("Space", "writing"),
        ("Del", "writing"),
        ("Ctrl+C", "Text fields"),
        ("Ctrl+Z", "Text fields"),
        ("Ctrl+Right", "Text fields"),
        ("Ctrl+I", "editor"),
        ("Alt+Up", "editor"),
        ("Ctrl+&", "editor"),
        ("Ctrl+{", "editor"),
        ("F3", "panel"),
        ("Ctrl+M", "panel"),
        ("Alt+F", "menu"),
    ],
)
def test_a_needed_key_is_rejected_with_a_sentence(keys: str, reason: str, qapp) -> None:
    sentence = rejection(QKeySequence(keys))
    assert reason in sentence and keys in sentence and sentence.endswith(".")


@pytest.mark.parametrize(
    "keys", ["F7", "Shift+F7", "Ctrl+Alt+X", "Ctrl+Shift+S", "Alt+X", "Meta+X", "Ctrl+1"]
)
def test_other_keys_can_be_shortcuts(keys: str, qapp) -> None:
    assert rejection(QKeySequence(keys)) == ""


def test_every_default_can_be_recorded(qapp) -> None:
    defaults = [keys for command in COMMANDS for keys in command.shortcuts]
    assert [keys for keys in defaults if rejection(QKeySequence(keys))] == []


def test_the_shortcuts_of_panels_are_known() -> None:
    pattern = re.compile(r'"((?:Shift\+)?F\d+|(?:(?:Ctrl|Alt|Meta|Shift)\+)+[^"\s(]+)"')
    found = {
        keys
        for file in _DESKTOP.rglob("*.py")
        if file.name not in _READERS
        for keys in pattern.findall(file.read_text("utf-8"))
    }
    assert found - _DIALOG_KEYS == PANEL_KEYS

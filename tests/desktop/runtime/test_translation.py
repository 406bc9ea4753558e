from __future__ import annotations

import ast
import functools
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import app.desktop
from app.desktop.shell.command_registry import COMMANDS, MENUS, PANELS

_FILES = sorted(Path(app.desktop.__file__).parent.rglob("*.py"))
_MARKERS = ("translate", "QT_TRANSLATE_NOOP")
_TEXT_SETTERS = frozenset(
    (
        "setText",
        "setToolTip",
        "setPlaceholderText",
        "setAccessibleName",
        "setAccessibleDescription",
        "addAction",
        "add_button",
        "set_message",
        "set_heading",
        "_tool",
        "EmptyState",
        "confirm",
        "choose",
        "show_message",
        "QCheckBox",
        "QLabel",
        "QPushButton",
        "QRadioButton",
        "SearchField",
        "ThemedButton",
    )
)
_NAMES = ("Scriptorium",)


@functools.cache
def _calls() -> tuple[tuple[str, str, ast.Call], ...]:
    """Return the position, function name and node of every call that could have a text."""
    found = []
    names = {"tr", *_MARKERS, *_TEXT_SETTERS}
    for file in _FILES:
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
                if name in names:
                    found.append((f"{file.name}:{node.lineno}", name, node))
    return tuple(found)


def _text_argument(name: str, call: ast.Call) -> ast.expr | None:
    if name == "tr" and call.args:
        return call.args[0]
    return call.args[1] if name in _MARKERS and len(call.args) == 2 else None


def _literal(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    program = Path(sys.executable).with_name("pyside6-lupdate")
    command = shutil.which("pyside6-lupdate", path=str(program.parent)) or shutil.which("pyside6-lupdate")
    if command is None:
        pytest.skip("pyside6-lupdate is not installed")
    folder = tmp_path_factory.mktemp("translation")
    listing = folder / "files"
    listing.write_text("\n".join(map(str, _FILES)), "utf-8")
    result = folder / "desktop.ts"
    subprocess.run([command, f"@{listing}", "-ts", str(result)], check=True, capture_output=True, timeout=60)
    return frozenset(node.text or "" for node in ET.parse(result).getroot().iter("source"))


def test_lupdate_finds_every_text_that_is_translated(extracted: frozenset[str]) -> None:
    missing = [
        f"{place}: {text}"
        for place, name, call in _calls()
        if (text := _literal(_text_argument(name, call))) is not None and text not in extracted
    ]
    assert not missing


def test_lupdate_finds_the_titles_of_menus_commands_and_panels(extracted: frozenset[str]) -> None:
    titles = {*MENUS, *(command.title for command in COMMANDS), *(panel.title for panel in PANELS)}
    assert titles <= extracted


def test_tr_is_only_called_with_literals() -> None:
    variable = [
        place
        for place, name, call in _calls()
        if name == "tr" and _literal(_text_argument(name, call)) is None
    ]
    assert not variable


def test_no_widget_is_given_an_untranslated_text() -> None:
    bare = [
        f"{place}: {text}"
        for place, name, call in _calls()
        if name in _TEXT_SETTERS
        for text in map(_literal, call.args)
        if text is not None and text[:1].isupper() and text not in _NAMES and "+" not in text
    ]
    assert not bare

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app.desktop.help.handbook import GROUPS
from app.desktop.runtime.translation import PluralText, translate_text
from app.desktop.shell.command_registry import COMMANDS, MENUS, PANELS
from app.desktop.widgets.model_form import model_texts
from app.settings import Settings
from app.tools import CATEGORIES
from app.translatable_text import TranslatableText

_ROOT = Path(__file__).resolve().parents[3]
_PLURAL_TEXTS = ("PluralText", "TranslatableText")
_MARKERS = ("translate", "QT_TRANSLATE_NOOP", *_PLURAL_TEXTS)
_COUNTED = re.compile(r"\{\d\} (?:more |other )?([a-z]{2,}s)\b")
_NOT_COUNTED = ("has", "is", "was", "writes", "owns", "needs", "wants")
_ALWAYS_MANY = ("{0} × {1} pixels", "This folder has at least {0} files that are not notes.")
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
        "_tool_button",
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
_NOTES = PluralText("Test", "{0} note", "{0} notes")
_NAMES = ("Scriptorium",)


@functools.cache
def _extraction() -> ModuleType:
    spec = importlib.util.spec_from_file_location("translations", _ROOT / "packaging" / "translations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@functools.cache
def _calls() -> tuple[tuple[str, str, ast.Call], ...]:
    """Return the position, function name and node of every call that could have a text."""
    return tuple(call for file in _extraction().source_files() for call in _calls_in(file))


@functools.cache
def _calls_in(file: Path) -> tuple[tuple[str, str, ast.Call], ...]:
    calls = []
    names = {"tr", *_MARKERS, *_TEXT_SETTERS}
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
            if name in names:
                calls.append((f"{file.name}:{node.lineno}", name, node))
    return tuple(calls)


def _text_argument(name: str, call: ast.Call) -> ast.expr | None:
    if name == "tr" and call.args:
        return call.args[0]
    has_text = name in _MARKERS and len(call.args) in (2, 3)
    return call.args[1] if has_text else None


def _literal(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@pytest.fixture(scope="module")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    result = tmp_path_factory.mktemp("translation") / "desktop.ts"
    try:
        _extraction().extract(result)
    except FileNotFoundError as error:
        pytest.skip(str(error))
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


def test_lupdate_finds_the_texts_of_the_settings_and_the_names_of_groups(extracted: frozenset[str]) -> None:
    texts = {*model_texts(Settings), *(category.name for category in CATEGORIES), *GROUPS}
    assert {"Interface zoom", "Size of all text and controls; 1 is normal.", "High contrast"} < texts
    assert texts <= extracted


def test_texts_of_the_core_are_literals() -> None:
    variable = [
        place
        for place, name, call in _calls()
        if name == "TranslatableText" and not all(map(_literal, call.args))
    ]
    assert not variable


def test_times_are_formatted_by_the_locale() -> None:
    window = _ROOT / "app" / "desktop"
    assert [file.name for file in window.rglob("*.py") if "strftime" in file.read_text("utf-8")] == []


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


def _plural_calls() -> tuple[tuple[str, ast.Call], ...]:
    # Each worker calls this while it collects the tests, so it parses no other files.
    files = [
        file
        for file in _extraction().source_files()
        if any(f"{name}(" in file.read_text("utf-8") for name in _PLURAL_TEXTS)
    ]
    return tuple(
        (place, call)
        for file in files
        for place, name, call in _calls_in(file)
        if name in _PLURAL_TEXTS and len(call.args) == 3 and not place.startswith("translation.py")
    )


@pytest.mark.parametrize(("place", "call"), [pytest.param(*each, id=each[0]) for each in _plural_calls()])
def test_each_counted_text_has_a_singular_and_a_plural(place: str, call: ast.Call) -> None:
    context, one, many = map(_literal, call.args[:3])
    assert context, place
    assert one, place
    assert many, place
    values = ("A", "B")
    none, single, two = (PluralText(context, one, many).format(count, *values) for count in (0, 1, 2))
    assert single == one.format("1", *values)
    assert not re.search(r"\b1 (?:more |other )?[a-z]{2,}s\b", single)
    assert (none, two) == (many.format("0", *values), many.format("2", *values))
    text = TranslatableText(context, one, many)
    assert [translate_text(text.fill(count, *values)) for count in (0, 1, 2)] == [none, single, two]
    assert [text.fill(count, *values).english for count in (0, 1, 2)] == [none, single, two]
    assert "{0}" in many
    assert single != two.replace("2", "1", 1)
    assert "(s)" not in one + many


def test_no_other_text_counts_things() -> None:
    counted = [
        f"{place}: {text}"
        for place, name, call in _calls()
        if not (name in _PLURAL_TEXTS and len(call.args) == 3)
        and (text := _literal(_text_argument(name, call))) is not None
        if text not in _ALWAYS_MANY
        if "(s)" in text or any(noun not in _NOT_COUNTED for noun in _COUNTED.findall(text))
    ]
    assert not counted


def test_a_large_number_is_grouped() -> None:
    assert _NOTES.format(2000) == "2,000 notes"
    assert TranslatableText("Test", "{0} note", "{0} notes").fill(2000).english == "2,000 notes"


class _Polish(QTranslator):
    """A language with three plural forms."""

    def translate(self, context: str, text: str, comment: str | None = None, number: int = -1) -> str:
        if (context, text, comment) != ("Test", "{0} note", "{0} notes"):
            return ""
        few = 2 <= number % 10 <= 4 and not 12 <= number % 100 <= 14
        return "{0} notatka" if number == 1 else "{0} notatki" if few else "{0} notatek"


@pytest.mark.usefixtures("qapp")
def test_a_translation_has_the_plural_forms_of_its_language() -> None:
    polish = _Polish()
    assert QCoreApplication.installTranslator(polish)
    try:
        texts = [_NOTES.format(count) for count in (1, 3, 5)]
        text_of_core = TranslatableText("Test", "{0} note", "{0} notes").fill(3).capitalized()
        nested = translate_text(TranslatableText.verbatim("").fill(text_of_core))
    finally:
        QCoreApplication.removeTranslator(polish)
    assert texts == ["1 notatka", "3 notatki", "5 notatek"]
    assert nested == "3 notatki"

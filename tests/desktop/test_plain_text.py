"""Text from models and notes is displayed verbatim: no label or tool tip interprets it as HTML."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QToolTip, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

import app.desktop
from app.desktop.theme.stylesheet import stylesheet
from app.desktop.theme.theme import ThemeSource

HTML = '<b>bold</b> <img src="/no/such/file.png">'
DESKTOP = Path(app.desktop.__file__).parent


@pytest.fixture
def styled(qtbot: QtBot) -> Iterator[QWidget]:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    before = application.styleSheet()
    window = QWidget()
    qtbot.addWidget(window)
    application.setStyleSheet(stylesheet(ThemeSource("light", window).theme))
    yield window
    QToolTip.hideText()
    application.setStyleSheet(before)


def tips() -> list[QLabel]:
    widgets = QApplication.topLevelWidgets()
    return [widget for widget in widgets if isinstance(widget, QLabel) and widget.inherits("QTipLabel")]


def test_a_label_shows_html_as_text(styled: QWidget) -> None:
    column = QVBoxLayout(styled)
    label, rich = QLabel(HTML), QLabel("<b>ours</b>")
    rich.setTextFormat(Qt.TextFormat.RichText)
    column.addWidget(label)
    column.addWidget(rich)
    styled.show()
    QCoreApplication.processEvents()
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert rich.textFormat() is Qt.TextFormat.RichText


@pytest.mark.qt_log_ignore("plugin does not support")
def test_a_tool_tip_shows_html_as_text(styled: QWidget, qtbot: QtBot) -> None:
    styled.show()
    QToolTip.showText(QPoint(20, 20), HTML, styled)
    qtbot.waitUntil(lambda: bool(tips()))
    assert [tip.textFormat() for tip in tips()] == [Qt.TextFormat.PlainText]


def test_a_message_box_shows_html_as_text(styled: QWidget) -> None:
    box = QMessageBox(styled)
    box.setText(HTML)
    box.show()
    labels = [label for label in box.findChildren(QLabel) if label.text()]
    assert labels and all(label.textFormat() is Qt.TextFormat.PlainText for label in labels)


def test_rich_text_is_set_only_where_its_html_is_made() -> None:
    """A module that makes a label rich escapes its text; these modules do."""
    allowed = {
        "graph/overlays/legend.py",
        "help/dialog.py",
        "notes/editor/drawing_worker.py",
        "notes/export.py",
        "notes/preview.py",
        "widgets/diff/view.py",
        "widgets/markdown_label.py",
        "notes/reading_view.py",
    }
    users = set()
    for path in DESKTOP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("RichText", "MarkdownText", "setHtml"):
                users.add(path.relative_to(DESKTOP).as_posix())
    assert users <= allowed

"""Invariants of the live editor under random keys, clicks and compositions."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage, QInputMethodEvent, QTextCharFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.desktop.notes.editor.drawings import NOT_DRAWABLE, Drawing, DrawingRequest
from app.desktop.notes.editor.line_scanner import scan_lines
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.editor.mode import EditorMode
from app.desktop.notes.editor.note_rows import PART_LENGTH
from app.desktop.notes.editor.style import EditorStyle
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.notes.editor.text_layout import space_above
from app.desktop.theme.colors import LIGHT
from app.desktop.widgets.utf16 import utf16_length
from tests.benchmarks.editor_texts import TOUR, one_long_line

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
ACTIONS = 600
KEYS, MODIFIER = Qt.Key, Qt.KeyboardModifier
TYPED = [
    "a",
    "**",
    "- [ ] x",
    "[[A]]",
    "`",
    "$$",
    "# ",
    "> ",
    "|",
    "---",
    "===",
    "```",
    "%%",
    "(",
    '"',
    "1. ",
    "![[x.png|40]]",
    "![a](x.png)",
]
PASTED = "pasted **b** 👩‍👩‍👧‍👦\n```\ncode\n"


def check(editor: LiveEditor) -> None:
    """Check that the displayed lines match the document and a new scan of it."""
    flow = editor.flow
    assert flow.lines == editor.text().split("\n")
    assert [row.scan for row in flow.rows] == scan_lines(flow.lines)
    assert len(flow.rows) == len(flow.lines) == len(flow.heights)
    for row in flow.rows:
        if row.hidden and row.fragments is not None:
            assert row.height == 0
    check_shown(flow)


def check_shown(flow: TextFlow) -> None:
    """Check that the layout equals a new layout."""
    for line in {0, len(flow.rows) // 2, len(flow.rows) - 1, max(0, flow.active[0])}:
        row = flow.rows[line]
        if row.fragments is None or len(flow.lines[line]) > PART_LENGTH:
            continue
        shown = [fragment.layout.text() for fragment in row.fragments]
        row.fragments = None
        assert [fragment.layout.text() for fragment in flow.row(line).fragments or []] == shown


def act(editor: LiveEditor, rng: random.Random) -> None:
    """Perform one random user action."""
    choice = rng.random()
    if choice < 0.34:
        QTest.keyClicks(editor, rng.choice(TYPED))
    elif choice < 0.44:
        QTest.keyClick(editor, KEYS.Key_Return, rng.choice([MODIFIER.NoModifier, MODIFIER.ShiftModifier]))
    elif choice < 0.54:
        QTest.keyClick(editor, rng.choice([KEYS.Key_Backspace, KEYS.Key_Delete]))
    elif choice < 0.60:
        QTest.keyClick(editor, rng.choice([KEYS.Key_Z, KEYS.Key_Z, KEYS.Key_Y]), MODIFIER.ControlModifier)
    elif choice < 0.64:
        QGuiApplication.clipboard().setText(PASTED)
        QTest.keyClick(editor, rng.choice([KEYS.Key_V, KEYS.Key_X]), MODIFIER.ControlModifier)
    elif choice < 0.70:
        modifiers = rng.choice([MODIFIER.ShiftModifier, MODIFIER.ShiftModifier | MODIFIER.ControlModifier])
        QTest.keyClick(
            editor, rng.choice([KEYS.Key_Left, KEYS.Key_Right, KEYS.Key_Up, KEYS.Key_Down]), modifiers
        )
    elif choice < 0.76:
        command = rng.choice(["bold", "italic", "code", "link", "comment", "list-bullet", "list-number"])
        editor.run_command(command)
    elif choice < 0.80:
        editor.run_command(rng.choice(["list-task", "line-up", "line-down", "fold", "unfold", "heading-2"]))
    elif choice < 0.83:
        QTest.keyClick(editor, KEYS.Key_Tab, rng.choice([MODIFIER.NoModifier, MODIFIER.ShiftModifier]))
    elif choice < 0.86:
        compose(editor, rng)
    elif choice < 0.92:
        area = editor.viewport().rect()
        point = QPoint(rng.randrange(area.width()), rng.randrange(area.height()))
        QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, MODIFIER.NoModifier, point)
    elif choice < 0.93:
        editor.set_mode(rng.choice(list(EditorMode)))
    else:
        editor.go_to_line(rng.randrange(len(editor.flow.lines)) + 1)
        for _ in range(2):
            QTest.keyClick(
                editor,
                rng.choice([KEYS.Key_Down, KEYS.Key_Up, KEYS.Key_Right, KEYS.Key_End, KEYS.Key_PageDown]),
            )


def compose(editor: LiveEditor, rng: random.Random) -> None:
    """Compose text with an input method, and commit it or not."""
    text = editor.text()
    had_selection = editor.textCursor().hasSelection()
    kind = QInputMethodEvent.AttributeType.TextFormat
    composing = QInputMethodEvent("にほん", [QInputMethodEvent.Attribute(kind, 0, 3, QTextCharFormat())])
    QApplication.sendEvent(editor, composing)
    assert had_selection or editor.text() == text
    check(editor)
    done = QInputMethodEvent("", [])
    done.setCommitString(rng.choice(["日本", "🌷", ""]))
    QApplication.sendEvent(editor, done)
    assert editor.flow.preedit is None


def show_picture(editor: LiveEditor, request: DrawingRequest) -> None:
    """Answer a request for a picture; formulas and diagrams stay source."""
    image = QImage(90, 60, QImage.Format.Format_ARGB32)
    is_picture = request.kind == "image"
    editor.show_drawing(request, Drawing(90, 60, 60, image) if is_picture else NOT_DRAWABLE)


@pytest.mark.parametrize("seed", range(5))
def test_random_edits_keep_the_layout_consistent_and_are_undone(
    make_editor: Callable[..., LiveEditor], seed: int
) -> None:
    rng = random.Random(seed)
    editor = make_editor(TOUR)
    editor.drawing_requested.connect(partial(show_picture, editor))
    for number in range(ACTIONS):
        act(editor, rng)
        check(editor)
        if number % 20 == 0:
            QApplication.processEvents()
    for _ in range(5_000):
        if not editor.document().isUndoAvailable():
            break
        editor.undo()
    assert editor.text() == TOUR
    check(editor)


@pytest.mark.parametrize("marker", ["", "# "])
def test_the_only_line_of_a_note_is_split_and_joined(qapp, marker: str) -> None:
    text = marker + "word " * 2 * PART_LENGTH
    flow = TextFlow(EditorStyle(LIGHT))
    flow.load([text])
    flow.row(0)
    halves = [text[: len(text) // 2], text[len(text) // 2 :]]
    for removed, lines in ((1, halves), (2, [text])):
        flow.splice(0, removed, lines)
        assert flow.lines == lines and len(flow.rows) == len(flow.heights) == len(lines)
        for at, line in enumerate(lines):
            row = flow.row(at)
            height = row.height
            assert "".join(part.layout.text() for part in row.fragments or []) == line
            assert (row.fragments or [])[0].y == space_above(flow, at, row) and height == flow.heights[at]


def test_random_edits_of_a_very_long_line_keep_its_parts(make_editor: Callable[..., LiveEditor]) -> None:
    rng = random.Random(3)
    editor = make_editor(one_long_line()[:30_000].replace("garden", "ga🌷den", 100))
    for _ in range(80):
        flow = editor.flow
        longest = max(range(len(flow.lines)), key=lambda at: len(flow.lines[at]))
        cursor = editor.textCursor()
        block = editor.document().findBlockByNumber(longest)
        line = block.text()
        cursor.setPosition(block.position() + utf16_length(line[: rng.randint(0, len(line))]))
        editor.setTextCursor(cursor)
        editor.viewport().repaint()
        key = rng.choice([KEYS.Key_Return, KEYS.Key_Backspace, KEYS.Key_Delete, KEYS.Key_A, KEYS.Key_Z])
        modifiers = MODIFIER.ControlModifier if key == KEYS.Key_Z else MODIFIER.NoModifier
        QTest.keyClick(editor, key, modifiers)
        editor.viewport().repaint()
        assert editor.text().split("\n") == flow.lines
        for line, row in zip(flow.lines, flow.rows, strict=True):
            if row.fragments and len(line) > PART_LENGTH:
                assert "".join(part.layout.text() for part in row.fragments) == line
                assert row.fragments[0].start == 0 and row.fragments[-1].end == len(line)
                for part in row.fragments:
                    column = min(part.start + 5, part.end)
                    assert part.column_of(part.offset_of(column)) == column

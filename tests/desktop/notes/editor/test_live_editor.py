"""The live editor: display, keys and clicks, and what does not count as a change."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QGuiApplication, QImage, QRegion, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.desktop.notes.editor import hit_test, painting, row_layout
from app.desktop.notes.editor.completion import CompletionItem, CompletionRequest, find_request
from app.desktop.notes.editor.drawings import Drawing, DrawingRequest
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.editor.mode import EditorMode
from app.desktop.notes.editor.preferences import EditorPreferences
from app.desktop.notes.editor.style import EditorStyle
from app.desktop.notes.editor.text_cursor import difference, position_after_change
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.theme.colors import LIGHT
from app.desktop.widgets.utf16 import utf16_length
from tests.benchmarks.editor_texts import TOUR, prose
from tests.support.editor_requests import wait_for_requests

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
KEYS, MODIFIER, LEFT = Qt.Key, Qt.KeyboardModifier, Qt.MouseButton.LeftButton
Make = Callable[..., LiveEditor]
_TEXT = st.text(st.sampled_from("ab🧭鄭 \n"), max_size=40)
ROOT = Path(__file__).resolve().parents[4]


def shown(editor: LiveEditor, line: int) -> str:
    return " ".join(fragment.layout.text() for fragment in editor.flow.row(line).fragments or [])


def select(editor: LiveEditor, start: int, end: int) -> None:
    cursor = editor.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)


def to_end(editor: LiveEditor) -> None:
    editor.moveCursor(QTextCursor.MoveOperation.End)


def point_of(editor: LiveEditor, x: float, y: float) -> QPoint:
    """Convert a point of the document to the viewport."""
    layout = editor._layout
    return QPoint(round(x + layout.left), round(y + layout.top - editor.verticalScrollBar().value()))


# Display


def test_a_line_shows_its_markup_only_while_it_has_the_cursor(make_editor: Make) -> None:
    editor = make_editor("# Head\n\nSome **bold** [[Note|words]]\n\nend")
    assert shown(editor, 2) == "Some bold words"
    editor.go_to_line(3)
    assert shown(editor, 2) == "Some **bold** [[Note|words]]"
    editor.go_to_line(5)
    assert shown(editor, 2) == "Some bold words"
    assert shown(editor, 0) == "Head"


def test_source_mode_shows_every_line_as_it_is_written(make_editor: Make) -> None:
    editor = make_editor(TOUR)
    editor.set_mode(EditorMode.SOURCE)
    for line, text in enumerate(editor.flow.lines):
        assert shown(editor, line) == text


def test_a_block_shows_its_source_as_a_whole(make_editor: Make) -> None:
    editor = make_editor("start\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nend")
    assert shown(editor, 2) == "a b" and shown(editor, 3) == ""
    editor.go_to_line(5)
    assert [shown(editor, line) for line in (2, 3, 4)] == ["| a | b |", "| - | - |", "| 1 | 2 |"]


@pytest.mark.parametrize("mode", [EditorMode.LIVE, EditorMode.SOURCE])
@pytest.mark.parametrize("marker", ["- ", "10. ", "- [ ] ", "\t- "])
def test_wrapped_lines_of_an_item_start_below_its_text(make_editor: Make, mode, marker: str) -> None:
    editor = make_editor(f"- above\n{marker}{'many words ' * 30}")
    editor.set_mode(mode)
    editor.go_to_line(2)
    layout = editor.flow.row(1).fragments[0].layout
    assert layout.text().startswith(marker) and layout.lineCount() > 2
    text = layout.lineAt(0).cursorToX(len(marker))[0]
    assert text > 0
    assert [layout.lineAt(n).x() for n in range(layout.lineCount())] == [
        0,
        *[text] * (layout.lineCount() - 1),
    ]
    last = layout.lineAt(1)
    assert last.x() + last.width() <= layout.lineAt(0).width() + 0.1
    assert last.xToCursor(text) == last.textStart()


def test_an_edit_of_a_very_long_row_lays_out_its_table_again(qapp: QApplication) -> None:
    flow = TextFlow(EditorStyle(LIGHT))
    long_row = f"| {'word ' * 500}| b |"
    flow.load(["| a | b |", "| --- | --- |", "| c | d |", long_row])
    flow.row(2)
    flow.splice(3, 1, [f"{long_row} e |"])
    assert flow.rows[2].fragments is None


def test_down_reaches_every_visible_line(make_editor: Make) -> None:
    editor = make_editor(TOUR)
    seen = {editor.textCursor().blockNumber()}
    for _ in range(150):
        QTest.keyClick(editor, KEYS.Key_Down)
        seen.add(editor.textCursor().blockNumber())
    hidden = {line for line, row in enumerate(editor.flow.rows) if row.hidden}
    missed = set(range(len(editor.flow.lines))) - seen - hidden
    assert not {line for line in missed if editor.flow.row(line).height}


def test_folding_hides_what_belongs_to_a_heading_and_the_cursor_unfolds_it(make_editor: Make) -> None:
    editor = make_editor("# A\ntext\n## B\nmore\n# C\nend")
    editor.set_folded(0, True)
    assert [row.hidden for row in editor.flow.rows] == [False, True, True, True, False, False]
    assert editor.textCursor().blockNumber() == 0
    QTest.keyClick(editor, KEYS.Key_Down)
    assert editor.textCursor().blockNumber() == 4
    editor.go_to_line(4)
    assert not any(row.hidden for row in editor.flow.rows)


def test_a_folded_callout_is_folded_again_after_source_mode(make_editor: Make) -> None:
    editor = make_editor("first\n\n> [!note]- Folded\n> hidden\n\nend")
    assert editor.flow.rows[3].hidden
    editor.set_mode(EditorMode.SOURCE)
    assert not editor.flow.rows[3].hidden
    editor.set_mode(EditorMode.LIVE)
    assert editor.flow.rows[3].hidden


def test_a_folded_callout_opens_by_a_click_on_its_title(make_editor: Make) -> None:
    editor = make_editor("start\n\n> [!note]- Title\n> inside\n\nend")
    editor.viewport().repaint()
    assert editor.flow.rows[3].hidden and shown(editor, 2) == "Title"
    area = hit_test.caret_rect(editor.flow, 2, 14)
    QTest.mouseClick(
        editor.viewport(), LEFT, MODIFIER.NoModifier, point_of(editor, area.x() + 4, area.center().y())
    )
    assert not editor.flow.rows[3].hidden
    assert editor.text() == "start\n\n> [!note]- Title\n> inside\n\nend"


def test_the_outline_has_headings_of_both_kinds(make_editor: Make) -> None:
    editor = make_editor("# One\n\nTwo\n---\n\n```\n# no\n```\n### Three")
    assert [(one.level, one.text, one.line) for one in editor.outline()] == [
        (1, "One", 0),
        (2, "Two", 2),
        (3, "Three", 8),
    ]


def test_the_cursor_stays_out_of_properties_that_a_form_shows(make_editor: Make) -> None:
    text = "---\na: 1\n---\n# Head\ntext"
    editor = make_editor()
    form = QLabel("form")
    editor.set_header(form)
    editor.load(text)
    assert editor.textCursor().blockNumber() == 3 and not editor.flow.row(0).height
    for key in (KEYS.Key_Up, KEYS.Key_Left, KEYS.Key_Backspace, KEYS.Key_PageUp):
        QTest.keyClick(editor, key)
        assert editor.textCursor().blockNumber() == 3 and editor.text() == text
    QTest.keyClick(editor, KEYS.Key_Home, MODIFIER.ControlModifier)
    assert editor.textCursor().blockNumber() == 3
    editor.go_to_line(2)
    assert shown(editor, 1) == "a: 1" and form.isHidden()
    editor.go_to_line(5)
    assert shown(editor, 1) == "" and form.isVisible()
    editor.set_mode(EditorMode.SOURCE)
    assert form.isHidden() and shown(editor, 0) == "---"


# No changes


def test_moving_resizing_and_changing_modes_do_not_edit(make_editor: Make) -> None:
    editor = make_editor(TOUR)
    seen: list[object] = []
    editor.edited.connect(lambda: seen.append("edited"))
    editor.textChanged.connect(lambda: seen.append("text"))
    editor.undoAvailable.connect(lambda on: seen.append(("undo", on)))
    for key in [KEYS.Key_Down] * 70 + [KEYS.Key_Right] * 40 + [KEYS.Key_PageUp] * 3 + [KEYS.Key_End]:
        QTest.keyClick(editor, key)
    for mode in (EditorMode.SOURCE, EditorMode.LIVE):
        editor.set_mode(mode)
        QApplication.processEvents()
    editor.resize(500, 400)
    QApplication.processEvents()
    editor.set_folded(4, True)
    editor.set_spelling(lambda _: [])
    assert editor.find("Allium")
    assert not seen
    assert not editor.document().isModified() and not editor.document().isUndoAvailable()
    assert editor.text() == TOUR


@pytest.mark.parametrize(
    "text", ["a\r\nb", "trailing  \n\n", "no-break\u00a0space", "tab\there", "\u2028 sep"]
)
def test_the_document_is_the_exact_source(make_editor: Make, text: str) -> None:
    editor = make_editor(text)
    assert editor.text() == text.replace("\r\n", "\n")


def test_scrolling_moves_lines_by_the_step_alone(make_editor: Make) -> None:
    editor = make_editor(prose(200_000))
    bar, flow, layout = editor.verticalScrollBar(), editor.flow, editor._layout
    bar.setValue(bar.maximum() // 2)
    editor.viewport().repaint()
    for step in [-60] * 60 + [60] * 40 + [-7] * 60:
        line, _ = flow.heights.line_at(bar.value() + 350 - layout.top)
        before = flow.heights.top(line) - bar.value()
        bar.setValue(bar.value() + step)
        editor.viewport().repaint()
        assert abs(flow.heights.top(line) - bar.value() - before + step) <= 1


@pytest.mark.parametrize("where", ["above", "in view"])
def test_a_drawing_that_arrives_late_moves_nothing_above_it(make_editor: Make, where: str) -> None:
    lines = [f"line {number}" for number in range(200)]
    lines[60] = f"![[late {where}.png]]"
    lines[62] = f"a $x^{len(where)}$ formula"
    editor = make_editor("\n".join(lines))
    requests: list[DrawingRequest] = []
    editor.drawing_requested.connect(requests.append)
    bar = editor.verticalScrollBar()
    bar.setValue(round(editor.flow.heights.top(55)))
    editor.viewport().repaint()
    wait_for_requests(editor)
    assert {one.kind for one in requests} == {"image", "inline-math"}
    if where == "above":
        bar.setValue(round(editor.flow.heights.top(70)))
        editor.viewport().repaint()
    top, _ = editor.flow.heights.line_at(bar.value() - editor._layout.top + 30)
    before = editor.flow.heights.top(top) - bar.value()
    image = QImage(300, 200, QImage.Format.Format_ARGB32)
    for request in requests:
        editor.show_drawing(request, Drawing(300, 200, 200, image))
        editor.viewport().repaint()
    assert abs(editor.flow.heights.top(top) - bar.value() - before) <= 1
    assert editor.flow.row(60).drawing is not None and editor.flow.row(60).height >= 200


def test_pages_pass_a_drawing_that_is_higher_than_the_view(make_editor: Make) -> None:
    editor = make_editor("first\n\n![[x.png]]\n\nlast\n" + "\n" * 60, height=300)
    requests: list[DrawingRequest] = []
    editor.drawing_requested.connect(requests.append)
    editor.viewport().repaint()
    wait_for_requests(editor)
    editor.refresh_files()
    editor.viewport().repaint()
    wait_for_requests(editor)
    editor.show_drawing(requests[-1], Drawing(500, 800, 800, QImage(500, 800, QImage.Format.Format_ARGB32)))
    editor.viewport().repaint()
    editor.go_to_line(1)
    assert editor.flow.row(2).height > 800
    QTest.keyClick(editor, KEYS.Key_PageDown)
    assert editor.textCursor().blockNumber() == 2
    seen, line = [editor.verticalScrollBar().value()], 2
    while line == 2:
        QTest.keyClick(editor, KEYS.Key_PageDown)
        line = editor.textCursor().blockNumber()
        seen.append(editor.verticalScrollBar().value())
    assert line == 3 and len(seen) >= 4
    steps = [after - before for before, after in pairwise(seen)]
    assert all(0 < step <= editor.viewport().height() for step in steps[:-1])
    editor.go_to_line(3)
    QTest.keyClick(editor, KEYS.Key_PageUp)
    assert editor.textCursor().blockNumber() == 0


def test_a_formula_is_never_wider_than_its_cell_or_line(make_editor: Make) -> None:
    text = "first\n\n| a | b |\n|---|---|\n| $x_1$ | y |\n\nin $x_2$ a line"
    editor = make_editor(width=300)
    requests: list[DrawingRequest] = []
    editor.drawing_requested.connect(requests.append)
    editor.load(text)
    editor.viewport().repaint()
    image = QImage(900, 90, QImage.Format.Format_ARGB32)
    wait_for_requests(editor)
    assert len(requests) == 2
    for request in requests:
        editor.show_drawing(request, Drawing(900, 90, 60, image))
        editor.viewport().repaint()
    for line in (4, 6):
        (fragment,) = (one for one in editor.flow.row(line).fragments if one.drawings)
        ((_, drawing),) = fragment.drawings
        room = fragment.cell[1] if fragment.cell else editor.flow.width
        assert 20 < drawing.width < room and abs(drawing.width / drawing.height - 10) < 0.01


@pytest.mark.parametrize(
    "text", ["first\n\n| a |\n|---|\n| $q_1$ |\n\nend", "first\n\n\n\nin $q_2$ a line\n\nend"]
)
def test_a_deep_formula_takes_no_space_above_it(make_editor: Make, text: str) -> None:
    editor = make_editor()
    requests: list[DrawingRequest] = []
    editor.drawing_requested.connect(requests.append)
    editor.load(text)
    editor.viewport().repaint()
    wait_for_requests(editor)
    (request,) = requests
    editor.show_drawing(request, Drawing(40, 80, 40, QImage(40, 80, QImage.Format.Format_ARGB32)))
    editor.viewport().repaint()
    row = editor.flow.row(4)
    (fragment,) = row.fragments
    line = fragment.layout.lineAt(0)
    base = fragment.y + line.y() + line.ascent()
    assert 40 <= base < 40 + editor.flow.style.line_height, "as high as the formula above the base line"
    assert base + 40 <= row.height < base + 40 + editor.flow.style.line_height, "and as deep as it below"


def test_drawing_a_formula_shows_no_warning() -> None:
    code = (
        "from app.desktop.notes.editor import drawing_worker as worker\n"
        "from app.desktop.notes.editor.drawings import DrawingRequest\n"
        "assert worker._draw_formula(DrawingRequest('math', 'x^2', points=12.0)).image is not None\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "ziamath" not in run.stderr


# Editing


@given(_TEXT, _TEXT)
def test_a_difference_turns_one_text_into_the_other(old_text: str, new_text: str) -> None:
    start, end, replacement = difference(old_text, new_text)
    assert old_text[:start] + replacement + old_text[end:] == new_text


@given(_TEXT, _TEXT, st.text(max_size=3))
def test_a_position_outside_a_change_stays_at_its_text(before: str, after: str, inserted: str) -> None:
    old, new = f"{before}---{after}", f"{before}-{inserted}-{after}"
    start, end, _ = difference(old, new)
    for position in range(len(old) + 1):
        moved = position_after_change(old, new, utf16_length(old[:position]))
        if position <= start:
            assert moved == utf16_length(old[:position])
        elif position >= end:
            assert moved == utf16_length(new) - utf16_length(old[position:])
        assert 0 <= moved <= utf16_length(new)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(old=_TEXT, new=_TEXT)
def test_an_external_change_is_one_undo_step(make_editor: Make, old: str, new: str) -> None:
    editor = make_editor(old)
    editor.replace_document(new)
    assert editor.text() == new
    editor.undo()
    assert editor.text() == old
    editor.close()


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("- one", "- one\n- "),
        ("  * one", "  * one\n  * "),
        ("9. nine", "9. nine\n10. "),
        ("- [x] done 🧭", "- [x] done 🧭\n- [ ] "),
        ("- ", ""),
        ("- a\n  - ", "- a\n- "),
        ("> quoted", "> quoted\n> "),
        ("> - item", "> - item\n> - "),
        ("> ", ""),
        ("plain", "plain\n"),
        ("```\n    x", "```\n    x\n    "),
    ],
)
def test_enter_continues_lists_and_quotes(make_editor: Make, line: str, after: str) -> None:
    editor = make_editor(line)
    to_end(editor)
    QTest.keyClick(editor, KEYS.Key_Return)
    assert editor.text() == after
    editor.undo()
    assert editor.text() == line


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("1. a|\n2. b\n3. c", "1. a\n2. \n3. b\n4. c"),
        ("> 4) a|b\n> 5) c\n\n1. d", "> 4) a\n> 5) b\n> 6) c\n\n1. d"),
        ("1. a|\n   1. x\n   2. y\n\n2. b\n- c\n2. d", "1. a\n2. \n   1. x\n   2. y\n\n3. b\n- c\n2. d"),
        ("1. a\n   1. x|\n   2. y\n2. b", "1. a\n   1. x\n   2. \n   3. y\n2. b"),
        ("1. a|\n2. b\n\ntext\n2. c", "1. a\n2. \n3. b\n\ntext\n2. c"),
        ("1. a|\n1. b\n1. c", "1. a\n1. \n1. b\n1. c"),
        ("8. a|\n9. b\n   more\n10. c", "8. a\n9. \n9. b\n   more\n10. c"),
        ("- a|\n2. b", "- a\n- \n2. b"),
    ],
)
def test_an_item_in_the_middle_renumbers_its_list_alone(make_editor: Make, before: str, after: str) -> None:
    text = before.replace("|", "")
    editor = make_editor(text)
    cursor = editor.textCursor()
    cursor.setPosition(before.index("|"))
    editor.setTextCursor(cursor)
    QTest.keyClick(editor, KEYS.Key_Return)
    assert editor.text() == after
    editor.undo()
    assert editor.text() == text


@pytest.mark.parametrize(
    ("before", "line", "after"),
    [
        ("1. a\n2. b\n3. c", 2, "1. a\n2. c\n3. b"),
        ("5. a\n6. b\ntext\n2. c", 0, "5. b\n6. a\ntext\n2. c"),
        ("```\n1. a\n2. b\n```", 1, "```\n2. b\n1. a\n```"),
        ("- a\n- b", 0, "- b\n- a"),
    ],
)
def test_moving_a_line_renumbers_its_list(make_editor: Make, before: str, line: int, after: str) -> None:
    editor = make_editor(before)
    editor.go_to_line(line + 1)
    editor.run_command("line-up" if line == 2 else "line-down")
    assert editor.text() == after
    assert editor.textCursor().block().text()[-1] == before.split("\n")[line][-1]
    editor.undo()
    assert editor.text() == before


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("1. a\n2. b|\n3. c", KEYS.Key_Tab, "1. a\n   1. b\n2. c"),
        ("1. a\n   1. x\n2. b|\n3. c", KEYS.Key_Tab, "1. a\n   1. x\n   2. b\n2. c"),
        ("1. a|\n2. b\n3. c", KEYS.Key_Tab, "  1. a\n1. b\n2. c"),
        ("1. o\n   1. x|\n   2. y\n2. p", KEYS.Key_Backtab, "1. o\n2. x\n   1. y\n3. p"),
        ("1. a\n1. b|\n1. c", KEYS.Key_Tab, "1. a\n   1. b\n1. c"),
        ("1. a\n2. |\n3. c\n4. d", KEYS.Key_Return, "1. a\n\n2. c\n3. d"),
        ("1. a\n   1. x\n   2. |\n2. b", KEYS.Key_Return, "1. a\n   1. x\n2. \n3. b"),
        ("- a\n- b|\n1. c", KEYS.Key_Tab, "- a\n  - b\n1. c"),
    ],
)
def test_an_item_that_leaves_its_list_renumbers_both_lists(
    make_editor: Make, before: str, key: KEYS, after: str
) -> None:
    text = before.replace("|", "")
    editor = make_editor(text)
    cursor = editor.textCursor()
    cursor.setPosition(before.index("|"))
    editor.setTextCursor(cursor)
    QTest.keyClick(editor, key)
    assert editor.text() == after
    editor.undo()
    assert editor.text() == text


def test_shift_enter_is_a_plain_line_end(make_editor: Make) -> None:
    editor = make_editor("- one")
    to_end(editor)
    QTest.keyClick(editor, KEYS.Key_Return, MODIFIER.ShiftModifier)
    assert editor.text() == "- one\n"


def test_tab_indents_items_and_shift_tab_unindents_them(make_editor: Make) -> None:
    editor = make_editor("1. one\n2. two\n3. three")
    select(editor, editor.text().index("two"), len(editor.text()))
    QTest.keyClick(editor, KEYS.Key_Tab)
    assert editor.text() == "1. one\n   1. two\n   2. three"
    QTest.keyClick(editor, KEYS.Key_Backtab)
    assert editor.text() == "1. one\n2. two\n3. three"
    editor.undo()
    editor.undo()
    assert not editor.document().isUndoAvailable()


def test_tab_goes_through_a_table_aligns_it_and_adds_a_row(make_editor: Make) -> None:
    editor = make_editor("| a | bb |\n|---|:-:|\n| 日本 | 1 |")
    QTest.keyClick(editor, KEYS.Key_Tab)
    assert editor.text() == "| a    | bb  |\n| ---- | :-: |\n| 日本 |  1  |"
    assert editor.textCursor().selectedText() == "bb"
    for _ in range(3):
        QTest.keyClick(editor, KEYS.Key_Tab)
    assert editor.text().endswith("|  1  |\n|      |     |")
    QTest.keyClicks(editor, "new")
    assert editor.text().endswith("|  1  |\n| new     |     |")
    QTest.keyClick(editor, KEYS.Key_Backtab)
    assert editor.textCursor().selectedText() == "1"


class PaintedRegion(QObject):
    """Collects what a widget paints."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.region = QRegion()
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.region = self.region.united(event.region())
        return False


@pytest.mark.parametrize("line", ["# A heading of words", "plain words", "```py\nsome code\n```"])
def test_the_caret_is_painted_where_it_moves_and_blinks(make_editor: Make, line: str, qtbot) -> None:
    editor = make_editor(f"{line}\n\nend")
    editor.go_to_line(2 if "```" in line else 1)
    painted = PaintedRegion(editor.viewport())

    def is_painted(*areas: QRect) -> bool:
        return all(QRegion(area).subtracted(painted.region).isEmpty() for area in areas)

    for key in (KEYS.Key_End, KEYS.Key_Left, KEYS.Key_Left, KEYS.Key_Home):
        QApplication.processEvents()
        painted.region = QRegion()
        before = editor.caret_in_view()
        QTest.keyClick(editor, key)
        assert editor.caret_in_view() != before
        qtbot.waitUntil(lambda before=before: is_painted(before, editor.caret_in_view()))
    QTest.keyClick(editor, KEYS.Key_End)
    QApplication.processEvents()
    painted.region = QRegion()
    editor.viewport().update(editor.cursorRect())  # as Qt does it for a caret that blinks
    qtbot.waitUntil(lambda: is_painted(editor.caret_in_view()))


@pytest.mark.parametrize("height", range(300, 345, 9))
def test_no_edge_of_the_view_cuts_a_caret_that_moved(make_editor: Make, height: int, qtbot) -> None:
    editor = make_editor("# A heading\n\nwords\n" * 30, height=height)
    rect = editor.viewport().rect()
    for key in [KEYS.Key_Down] * 40 + [KEYS.Key_Up] * 40 + [KEYS.Key_Down, KEYS.Key_Return] * 20:
        QTest.keyClick(editor, key)
        editor.viewport().repaint()
        caret = editor.caret_in_view()
        assert caret.top() >= 0 and caret.bottom() < rect.height(), editor.textCursor().blockNumber()


def test_a_caret_at_the_edge_of_the_view_is_not_repainted_forever(make_editor: Make, qtbot) -> None:
    editor = make_editor("# A heading\n" + "line\n" * 100)
    editor.verticalScrollBar().setValue(25)  # the caret is visible in part
    QApplication.processEvents()
    paints: list[QEvent] = []

    class Counter(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint:
                paints.append(event)
            return False

    counter = Counter(editor)
    editor.viewport().installEventFilter(counter)
    editor.viewport().update(editor.cursorRect())
    for _ in range(50):
        QApplication.processEvents()
    assert len(paints) <= 5


def test_the_start_of_the_note_is_shown_with_its_header(make_editor: Make) -> None:
    editor = make_editor("---\nkey: value\n---\n" + "line\n" * 200)
    header = QLabel("form")
    header.setFixedHeight(120)
    editor.set_header(header)
    to_end(editor)
    assert editor.verticalScrollBar().value() > 0
    QTest.keyClick(editor, KEYS.Key_Home, MODIFIER.ControlModifier)
    assert editor.textCursor().blockNumber() == 3
    assert editor.verticalScrollBar().value() == 0 == header.y()


@pytest.mark.parametrize("text", ["> > [!tip]- In\n> > b", "> - a\n>   - b", "> # H\n> text"])
def test_the_fold_mark_is_left_of_the_quote_bars(make_editor: Make, text: str) -> None:
    editor = make_editor(f"{text}\n\nend")
    to_end(editor)
    assert editor.flow.fold_range(0) is not None
    center = painting.fold_mark_center(editor.flow, editor.flow.row(0))
    assert center.x() + 5 < 0
    event_at = point_of(editor, center.x(), center.y())
    QTest.mouseClick(editor.viewport(), LEFT, MODIFIER.NoModifier, event_at)
    assert editor.flow.rows[0].is_folded != text.startswith("> > [!tip]-")


def test_a_line_that_becomes_a_comment_is_not_replaced_by_the_next_key(make_editor: Make) -> None:
    editor = make_editor("a word")
    to_end(editor)
    QTest.keyClick(editor, KEYS.Key_Slash, MODIFIER.ControlModifier)
    assert editor.text() == "%% a word %%"
    QTest.keyClicks(editor, "s")
    assert editor.text() == "%% a words %%"
    QTest.keyClick(editor, KEYS.Key_Slash, MODIFIER.ControlModifier)
    QTest.keyClicks(editor, "!")
    assert editor.text() == "a words!"


@pytest.mark.parametrize("prefix", ["", "> "])
def test_tab_makes_a_table_of_a_header_row(make_editor: Make, prefix: str) -> None:
    editor = make_editor(f"before\n\n{prefix}| a | bb |")
    to_end(editor)
    QTest.keyClick(editor, KEYS.Key_Tab)
    QTest.keyClicks(editor, "1")
    lines = ("before", "", f"{prefix}| a   | bb  |", f"{prefix}| --- | --- |", f"{prefix}| 1    |     |")
    assert editor.text() == "\n".join(lines)
    editor.undo()
    editor.undo()
    assert editor.text() == f"before\n\n{prefix}| a | bb |"


@pytest.mark.parametrize("line", ["| a", "|", "||", "| a \\|"])
def test_tab_makes_no_table_of_a_line_that_is_no_header_row(make_editor: Make, line: str) -> None:
    editor = make_editor(line)
    to_end(editor)
    QTest.keyClick(editor, KEYS.Key_Tab)
    assert "---" not in editor.text()


@pytest.mark.parametrize(
    ("text", "chosen", "key", "modifiers", "after"),
    [
        ("a word b", "word", KEYS.Key_B, MODIFIER.ControlModifier, "a **word** b"),
        ("a **word** b", "word", KEYS.Key_B, MODIFIER.ControlModifier, "a word b"),
        ("a **word** b", "**word**", KEYS.Key_B, MODIFIER.ControlModifier, "a word b"),
        ("a **word** b", "word", KEYS.Key_I, MODIFIER.ControlModifier, "a ***word*** b"),
        ("a ***word*** b", "word", KEYS.Key_I, MODIFIER.ControlModifier, "a **word** b"),
        ("a word b", "word", KEYS.Key_QuoteLeft, MODIFIER.ControlModifier, "a `word` b"),
        ("a word b", "word", KEYS.Key_K, MODIFIER.ControlModifier, "a [word]() b"),
        (
            "see https://a.example",
            "https://a.example",
            KEYS.Key_K,
            MODIFIER.ControlModifier,
            "see [](https://a.example)",
        ),
        ("a word b", "word", KEYS.Key_Slash, MODIFIER.ControlModifier, "a %% word %% b"),
        ("a %% word %% b", "%% word %%", KEYS.Key_Slash, MODIFIER.ControlModifier, "a word b"),
        ("a\nb", "a\nb", KEYS.Key_8, MODIFIER.ControlModifier | MODIFIER.ShiftModifier, "- a\n- b"),
        ("- a\n- b", "a\n- b", KEYS.Key_7, MODIFIER.ControlModifier | MODIFIER.ShiftModifier, "1. a\n2. b"),
        (
            "1. a\n2. b",
            "a\n2. b",
            KEYS.Key_9,
            MODIFIER.ControlModifier | MODIFIER.ShiftModifier,
            "- [ ] a\n- [ ] b",
        ),
        ("- [ ] a", "a", KEYS.Key_9, MODIFIER.ControlModifier | MODIFIER.ShiftModifier, "a"),
        ("one\ntwo\nthree", "two", KEYS.Key_Up, MODIFIER.AltModifier, "two\none\nthree"),
        ("one\ntwo\nthree", "one\ntwo", KEYS.Key_Down, MODIFIER.AltModifier, "three\none\ntwo"),
        ("- [ ] a", "a", KEYS.Key_Return, MODIFIER.ControlModifier, "- [x] a"),
    ],
)
def test_formatting_keys(
    make_editor: Make, text: str, chosen: str, key: Qt.Key, modifiers, after: str
) -> None:
    editor = make_editor(text)
    start = text.index(chosen)
    select(editor, start, start + len(chosen))
    QTest.keyClick(editor, key, modifiers)
    assert editor.text() == after
    editor.undo()
    assert editor.text() == text and not editor.document().isUndoAvailable()


@pytest.mark.parametrize(
    ("typed", "after"),
    [
        ("[[A]]", "[[A]]"),
        ("(x)", "(x)"),
        ('say "hi"', 'say "hi"'),
        ("it's", "it's"),
        ("`c`", "`c`"),
        ("```", "```"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("f(", "f()"),
    ],
)
def test_smart_pairs_insert_the_closing_character(make_editor: Make, typed: str, after: str) -> None:
    editor = make_editor("")
    QTest.keyClicks(editor, typed)
    assert editor.text() == after


def test_backspace_deletes_an_empty_pair_and_a_mark_goes_around_a_selection(make_editor: Make) -> None:
    editor = make_editor("")
    QTest.keyClicks(editor, "[(")
    QTest.keyClick(editor, KEYS.Key_Backspace)
    QTest.keyClick(editor, KEYS.Key_Backspace)
    assert editor.text() == ""
    editor.load("word")
    editor.selectAll()
    QTest.keyClicks(editor, "=")
    QTest.keyClicks(editor, "=")
    assert editor.text() == "==word=="


def test_boxes_and_indents_grow_with_the_size_of_the_text(make_editor: Make) -> None:
    editor = make_editor("start\n\n- [ ] task\n\t- item")
    editor.go_to_line(1)
    points = editor.flow.style.font.pointSizeF()

    def measures() -> list[float]:
        row = editor.flow.row(2)
        return [row_layout.checkbox(editor.flow, row).width(), row.indent, editor.flow.row(3).indent]

    sizes = measures()
    editor.set_preferences(EditorPreferences(points=2 * points))
    assert measures() == pytest.approx([2 * one for one in sizes], rel=0.05)


def test_a_checkbox_is_toggled_by_a_click_in_both_modes(make_editor: Make) -> None:
    text = "start\n\n- [ ] **a** task\n- [x] done"
    editor = make_editor(text)
    editor.viewport().repaint()
    box = row_layout.checkbox(editor.flow, editor.flow.row(2)).center()
    top = editor.flow.heights.top(2)
    QTest.mouseClick(editor.viewport(), LEFT, MODIFIER.NoModifier, point_of(editor, box.x(), top + box.y()))
    assert editor.text() == text.replace("[ ]", "[x]")
    assert editor.textCursor().blockNumber() == 0
    editor.undo()
    assert editor.text() == text and not editor.document().isUndoAvailable()
    editor.set_mode(EditorMode.SOURCE)
    editor.viewport().repaint()
    mark = hit_test.caret_rect(editor.flow, 3, 3)
    QTest.mouseClick(
        editor.viewport(), LEFT, MODIFIER.NoModifier, point_of(editor, mark.x() + 3, mark.center().y())
    )
    assert editor.text() == text.replace("[x]", "[ ]")


def test_copied_text_includes_its_markup(make_editor: Make) -> None:
    text = "**bold** start\nplain\n- [[Note|words]]\nend"
    editor = make_editor(text)
    editor.go_to_line(4)
    select(editor, 2, text.index("]]"))
    # The cursor's line shows its markup, so the selected text is the copied text.
    editor.flow.set_active(1, 1)
    editor.copy()
    assert QGuiApplication.clipboard().text() == text[: text.index("]]") + 2]
    QTest.keyClick(editor, KEYS.Key_X, MODIFIER.ControlModifier)
    assert editor.text() == "\nend"


def test_the_editor_claims_its_keys_before_the_window_does(make_editor: Make) -> None:
    from PySide6.QtGui import QAction

    editor = make_editor("word")
    hidden: list[int] = []
    action = QAction(editor.window())
    action.setShortcut("Ctrl+B")
    action.triggered.connect(lambda: hidden.append(1))
    editor.window().addAction(action)
    editor.selectAll()
    QTest.keyClick(editor, KEYS.Key_B, MODIFIER.ControlModifier)
    assert editor.text() == "**word**" and not hidden


def test_a_read_only_editor_changes_nothing(make_editor: Make) -> None:
    text = "- [ ] task\n\nword"
    editor = make_editor(text)
    editor.setReadOnly(True)
    editor.selectAll()
    for key, modifiers in (
        (KEYS.Key_B, MODIFIER.ControlModifier),
        (KEYS.Key_A, MODIFIER.NoModifier),
        (KEYS.Key_Up, MODIFIER.AltModifier),
    ):
        QTest.keyClick(editor, key, modifiers)
    editor.toggle_task(0)
    QTest.keyClick(editor, KEYS.Key_X, MODIFIER.ControlModifier)
    QTest.keyClick(editor, KEYS.Key_V, MODIFIER.ControlModifier)
    assert editor.text() == text


# Completion


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("see [[Ro", CompletionRequest("note", "Ro")),
        ("![[im", CompletionRequest("embed", "im")),
        ("[[Note#He", CompletionRequest("heading", "He", "Note")),
        ("[[#He", CompletionRequest("heading", "He")),
        ("[[^id", CompletionRequest("block", "id", missing="#")),
        ("[[Note#^id", CompletionRequest("block", "id", "Note")),
        ("a #ta", CompletionRequest("tag", "ta")),
        ("a #", CompletionRequest("tag", "")),
        ("due @to", CompletionRequest("date", "to")),
        ("/ta", CompletionRequest("command", "ta")),
        ("## he", None),
        ("#", None),
        ("and/or", None),
        ("me@home", None),
        ("[[done]] more", None),
        ("in `code [[x", None),
    ],
)
def test_the_completion_context_is_recognized(before: str, expected: CompletionRequest | None) -> None:
    assert find_request(before) == expected


def answering(editor: LiveEditor, *labels: str) -> None:
    items = [CompletionItem(label, label) for label in labels]
    editor.completion_requested.connect(lambda request: editor.offer(request, items))


def test_a_name_is_completed_after_an_emoji(make_editor: Make) -> None:
    editor = make_editor("🧭 see ")
    answering(editor, "Longitude")
    to_end(editor)
    QTest.keyClicks(editor, "[[Lon")
    assert editor._popup.is_open
    QTest.keyClick(editor, KEYS.Key_Return)
    assert editor.text() == "🧭 see [[Longitude]]" and editor.textCursor().atEnd()
    assert not editor._popup.is_open


@pytest.mark.parametrize("key", [KEYS.Key_Return, KEYS.Key_Tab])
def test_arrows_choose_a_completion(make_editor: Make, key: Qt.Key) -> None:
    editor = make_editor("")
    answering(editor, "one", "two", "three")
    QTest.keyClicks(editor, "x [[")
    QTest.keyClick(editor, KEYS.Key_Down)
    QTest.keyClick(editor, KEYS.Key_Down)
    QTest.keyClick(editor, KEYS.Key_Up)
    QTest.keyClick(editor, key)
    assert editor.text() == "x [[two]]"


def test_a_click_chooses_a_completion(make_editor: Make) -> None:
    editor = make_editor("")
    editor.completion_requested.connect(lambda r: editor.offer(r, [CompletionItem("shown", "inserted")]))
    QTest.keyClicks(editor, "[[")
    popup = editor._popup
    area = popup.visualRect(popup.model().index(0, 0))
    QTest.mouseClick(popup.viewport(), LEFT, MODIFIER.NoModifier, area.center())
    assert editor.text() == "[[inserted]]" and editor.hasFocus()


def test_escape_closes_completion_until_the_next_trigger(make_editor: Make) -> None:
    editor = make_editor("")
    answering(editor, "name")
    QTest.keyClicks(editor, "[[n")
    QTest.keyClick(editor, KEYS.Key_Escape)
    QTest.keyClicks(editor, "am")
    assert not editor._popup.is_open
    QTest.keyClicks(editor, "]] [[")
    assert editor._popup.is_open


def test_undo_opens_no_completion(make_editor: Make) -> None:
    editor = make_editor("")
    answering(editor, "name")
    QTest.keyClicks(editor, "a [[na")
    QTest.keyClick(editor, KEYS.Key_Escape)
    QTest.keyClicks(editor, "]] b")
    while editor.document().isUndoAvailable():
        QTest.keyClick(editor, KEYS.Key_Z, MODIFIER.ControlModifier)
        assert not editor._popup.is_open
    QTest.keyClick(editor, KEYS.Key_Y, MODIFIER.ControlModifier)
    assert not editor._popup.is_open


@pytest.mark.parametrize("line", [1, 20, 34])
def test_completion_is_never_over_the_line_that_is_typed(make_editor: Make, line: int) -> None:
    editor = make_editor("\n" * 34, height=700)
    answering(editor, *(f"name {number}" for number in range(30)))
    editor.go_to_line(line)
    QTest.keyClicks(editor, "[[")
    popup: QRect = editor._popup.geometry()
    assert editor._popup.is_open
    assert not popup.intersects(editor.caret_area()) and editor.rect().contains(popup)


def test_dates_and_commands_are_completed_by_the_editor(make_editor: Make) -> None:
    editor = make_editor("")
    QTest.keyClicks(editor, "due @tod")
    QTest.keyClick(editor, KEYS.Key_Return)
    assert editor.text() == f"due {date.today().isoformat()}"
    editor.load("")
    QTest.keyClicks(editor, "/table")
    QTest.keyClick(editor, KEYS.Key_Return)
    assert editor.text() == "|  |  |\n| --- | --- |\n|  |  |"
    editor.undo()
    assert editor.text() == "/table"


# Finding


def test_matches_are_marked_on_the_scroll_bar(make_editor: Make) -> None:
    editor = make_editor("\n".join(f"line {number}" for number in range(400)))
    block = editor.document().findBlockByNumber
    editor.show_matches([block(0).position(), block(200).position(), block(200).position() + 2])
    positions = editor._match_bar.positions
    assert len(positions) == 2 and positions[0] == 0 and abs(positions[1] - 0.5) < 0.05
    editor.show_matches([])
    assert not editor._match_bar.positions


# Links


def test_a_link_is_followed_by_ctrl_and_click_alone(make_editor: Make) -> None:
    editor = make_editor("start\n\nsee [[Note#Part|words]] here")
    editor.viewport().repaint()
    followed: list[tuple[str, str]] = []
    editor.link_followed.connect(lambda kind, target: followed.append((kind, target)))
    area = hit_test.caret_rect(editor.flow, 2, 17)
    point = point_of(editor, area.x() + 2, area.center().y())
    QTest.mouseClick(editor.viewport(), LEFT, MODIFIER.NoModifier, point)
    editor.go_to_line(1)
    assert not followed
    QTest.mouseClick(editor.viewport(), LEFT, MODIFIER.ControlModifier, point)
    assert followed == [("note", "Note#Part")]


# Screen readers, and the destruction of editors

_ACCESSIBLE = """
from PySide6.QtGui import QAccessible, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.utf16 import utf16_length
QAccessible.setActive(True)
editor = LiveEditor(ThemeSource("light"))
editor.resize(600, 400)
editor.load("# Head\\n\\nSome **bold** words")
editor.show()
QTest.qWaitForWindowExposed(editor)
editor.go_to_line(3)
found = QAccessible.queryAccessibleInterface(editor)
text = found.textInterface()
assert text.text(0, text.characterCount()) == "# Head\\n\\nSome **bold** words", text.text(0, 99)
assert text.cursorPosition() == editor.textCursor().position()
area, caret = text.characterRect(text.cursorPosition()), editor.caret_area()
origin = editor.mapToGlobal(caret.topLeft())
assert abs(area.x() - origin.x()) <= 2 and abs(area.y() - origin.y()) <= 4, (area, origin)
print("read")
"""
_TORN_DOWN = """
import gc, sys
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.desktop.notes.editor.text_flow import TextFlow
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.theme.theme import ThemeSource
from tests.benchmarks.editor_texts import TOUR
theme = ThemeSource("light")
for number in range(150):
    editor = LiveEditor(theme)
    editor.load(TOUR)
    editor.show()
    if number % 3:
        QTest.keyClicks(editor, "abc [[")
        app.processEvents()
    if number % 2:
        editor.deleteLater()
    else:
        editor.close()
    del editor
    if number % 10 == 0:
        gc.collect()
        app.processEvents()
gc.collect()
app.processEvents()
print("gone")
"""


def run(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_screen_reader_reads_text_cursor_and_line() -> None:
    assert "read" in run(_ACCESSIBLE)


def test_150_editors_are_created_and_destroyed() -> None:
    assert "gone" in run(_TORN_DOWN)

"""A diff shows every hidden character and every line once, and paints only the visible rows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.desktop.theme.colors import DARK, LIGHT
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.diff.hex_dump import hex_dump
from app.desktop.widgets.diff.row_layout import DiffMode, layout_rows
from app.desktop.widgets.diff.selection import Selection, TextPosition, copied_text, word_at
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.diff.wrapping import _breaks_at_edge, find_breaks
from app.encoding import is_binary
from app.vault import escaped_line as escaped_line_module
from app.vault.diff import compare
from app.vault.escaped_line import CHIP_SIGN, NOTE_SIGN, QUIET_SIGN, cell_width, escape_line
from app.vault.invisible_chars import escape_hidden

BEFORE = b"".join(b"line %d\n" % n for n in range(60))
AFTER = BEFORE.replace(b"line 10\n", b"line ten\n").replace(b"line 50\n", b"")


def labels(line: bytes, **more: bool) -> list[tuple[str, str]]:
    shown = escape_line(line, **more)
    return [(shown.text[start:end], kind) for start, end, kind in shown.signs]


# Hidden characters


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("\u202e", "RLO"),
        ("\u2066", "LRI"),
        ("\u200b", "ZWSP"),
        ("\u200d", "ZWJ"),
        ("\u00ad", "SHY"),
        ("\ufeff", "ZWNBSP"),
        ("\u00a0", "NBSP"),
        ("\x00", "NUL"),
        ("\x1b", "ESC"),
        ("\r", "CR"),
        ("\u2028", "LSEP"),
        ("\u3164", "U+3164"),
        ("\u115f", "U+115F"),
        ("\u034f", "CGJ"),
        ("\U000e0041", "U+E0041"),
        ("\ue000", "U+E000"),
        ("\ufe0f", "U+FE0F"),
        ("\U000e0100", "U+E0100"),
        ("\u2800", "U+2800"),
        ("\x85", "NEL"),
    ],
)
def test_hidden_characters_get_a_label(text: str, label: str) -> None:
    assert labels(f"a{text}b\n".encode()) == [(label, CHIP_SIGN)]
    assert label in escape_hidden(f"a{text}b")


def test_bytes_that_are_not_utf8_are_shown_one_by_one() -> None:
    assert labels(b"a\xffb\xc3\n") == [("\\xFF", CHIP_SIGN), ("\\xC3", CHIP_SIGN)]


def test_a_byte_order_mark_is_distinguished_from_one_in_the_middle() -> None:
    assert labels("\ufeffx\n".encode(), is_first=True) == [("BOM", CHIP_SIGN)]
    assert labels("\ufeffx\n".encode()) == [("ZWNBSP", CHIP_SIGN)]


def test_trailing_spaces_tabs_and_line_ends_are_signs() -> None:
    assert labels(b"word  \n") == [("··", QUIET_SIGN)]
    assert labels(b"\tx\n") == [("→   ", QUIET_SIGN)]
    assert labels(b"x\r\n") == [("CR", NOTE_SIGN)]
    assert [text.replace("\u00a0", " ") for text, _ in labels(b"x", is_last=True)] == ["no newline at end"]
    assert labels(b"a word\n", is_last=True) == []


def test_an_emoji_keeps_its_variation_selector_and_a_letter_does_not() -> None:
    assert labels("☺\ufe0f\n".encode()) == []
    assert labels("\U0001f3f3\ufe0f\n".encode()) == []
    assert labels("a\ufe0f\n".encode()) == [("U+FE0F", CHIP_SIGN)]
    assert labels("☺\ufe0f\ufe0f\n".encode()) == [("U+FE0F", CHIP_SIGN)]


def test_ordinary_text_of_any_script_has_no_labels() -> None:
    asian = ("中文，标点。", "日本語のテキスト", "한국어")
    for text in ("plain", "Ünïcödé – “quotes” …", "русский", *asian, "שלום", "مرحبا"):
        assert labels(f"{text}\n".encode()) == [], text


@given(st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b"")))
def test_no_byte_is_lost(raw: bytes) -> None:
    shown = escape_line(raw + b"\n")
    chips = [shown.text[start:end] for start, end, kind in shown.signs if kind == CHIP_SIGN]
    body = raw.decode("utf-8", "surrogateescape").removesuffix("\r")
    assert shown.text.isprintable() or "\u00a0" in shown.text
    assert len(chips) >= sum(not c.isprintable() and c != "\t" for c in body)


@given(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=40))
def test_places_map_to_the_same_character(text: str) -> None:
    shown = escape_line(f"{text}\n".encode())
    signs = {place for start, end, _ in shown.signs for place in range(start, end)}
    for index, character in enumerate(text):
        place = shown.displayed_index(index)
        assert shown.text[place] == character or place in signs


@given(st.text("a \t\u200b\u00a0中é", max_size=60), st.integers(1, 7))
def test_a_line_escaped_in_chunks_is_the_same(text: str, size: int) -> None:
    line = f"{text}\n".encode()
    expected = escape_line(line)
    chunk_chars = escaped_line_module._CHUNK_CHARS
    escaped_line_module._CHUNK_CHARS = size
    try:
        assert escape_line(line) == expected
    finally:
        escaped_line_module._CHUNK_CHARS = chunk_chars


# Wrapping


@given(st.text("ab 中é", min_size=1, max_size=80), st.integers(4, 20))
def test_lines_of_data_break_by_their_width_however_long(text: str, columns: int) -> None:
    line = escape_line(f"{text}|\n".encode())
    starts = [*_breaks_at_edge(line.text, columns), len(line.text)]
    widths = [sum(map(cell_width, line.text[start:end])) for start, end in pairwise(starts)]
    assert max(widths) <= columns and all(width >= columns - 1 for width in widths[:-1])


@given(st.text("ab 中é\u0301", max_size=80), st.integers(4, 20))
def test_a_line_breaks_into_rows_that_fit_and_join_to_the_line(text: str, columns: int) -> None:
    line = escape_line(f"{text}|\n".encode())
    starts = [*find_breaks(line, columns), len(line.text)]
    assert starts[0] == 0
    assert starts == sorted(set(starts)) or len(line.text) == 0
    for start, end in pairwise(starts):
        assert sum(map(cell_width, line.text[start:end])) <= columns


def test_prose_breaks_at_spaces_and_data_at_the_edge() -> None:
    assert find_breaks(escape_line(b"one two three\n"), 9) == [0, 8]
    assert find_breaks(escape_line(b"x" * 25 + b"\n"), 10) == [0, 10, 20]


# Rows


@pytest.mark.parametrize("mode", [DiffMode.UNIFIED, DiffMode.SIDE_BY_SIDE])
def test_every_changed_line_has_its_row_and_the_rest_folds(mode: DiffMode) -> None:
    diff_rows = layout_rows(compare(BEFORE, AFTER), mode)
    removed = [row.before for row in diff_rows.rows if row.hunk >= 0 and row.before is not None]
    added = [row.after for row in diff_rows.rows if row.hunk >= 0 and row.after is not None]
    assert (removed, added) == ([10, 50], [10])
    shown = sum(row.folded or 1 for row in diff_rows.rows if row.hunk < 0)
    assert shown == 58
    assert [row.folded for row in diff_rows.rows if row.folded] == [7, 33, 6]


@pytest.mark.parametrize("mode", [DiffMode.UNIFIED, DiffMode.SIDE_BY_SIDE])
@pytest.mark.parametrize(
    ("after", "shown"),
    [
        (BEFORE + b"more\n", [57, 58, 59]),
        (b"more\n" + BEFORE, [0, 1, 2]),
        (BEFORE.replace(b"line 0\n", b"zero\n"), [1, 2, 3]),
        (BEFORE.replace(b"line 59\n", b""), [56, 57, 58]),
    ],
)
def test_a_change_at_an_end_shows_its_context(after: bytes, shown: list[int], mode: DiffMode) -> None:
    rows = layout_rows(compare(BEFORE, after), mode).rows
    assert [row.before for row in rows if row.hunk < 0 and not row.folded] == shown


def test_a_text_without_changes_shows_its_ends() -> None:
    rows = layout_rows(compare(BEFORE, BEFORE), DiffMode.UNIFIED).rows
    assert [row.folded for row in rows] == [0, 0, 0, 54, 0, 0, 0]


def test_a_fold_opens() -> None:
    diff = compare(BEFORE, AFTER)
    fold = next(row for row in layout_rows(diff, DiffMode.UNIFIED).rows if row.folded == 33)
    rows = layout_rows(diff, DiffMode.UNIFIED, {fold.before}).rows
    assert [row.folded for row in rows if row.folded] == [7, 6]


@given(
    st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n"]), max_size=30).map(b"".join),
    st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n"]), max_size=30).map(b"".join),
    st.sampled_from([DiffMode.UNIFIED, DiffMode.SIDE_BY_SIDE]),
)
def test_no_line_is_left_out_or_shown_twice(before: bytes, after: bytes, mode: DiffMode) -> None:
    diff = compare(before, after)
    seen_before: list[int] = []
    seen_after: list[int] = []
    for row in layout_rows(diff, mode).rows:
        if row.before is not None:
            seen_before += range(row.before, row.before + (row.folded or 1))
        if row.after is not None:
            seen_after += range(row.after, row.after + (row.folded or 1))
    assert seen_before == list(range(len(diff.before)))
    assert seen_after == list(range(len(diff.after)))


# The view


@pytest.fixture
def view(qtbot: QtBot) -> DiffView:
    diff_view = DiffView(ThemeSource("light"))
    diff_view.resize(900, 500)
    qtbot.addWidget(diff_view)
    diff_view.show()
    return diff_view


def test_f8_walks_the_changes_and_announces_them(view: DiffView) -> None:
    view.show_contents(BEFORE, AFTER)
    canvas = view.canvas
    assert canvas.current == 0
    QTest.keyClick(canvas, Qt.Key.Key_F8)
    assert canvas.current == 1
    assert canvas.accessibleDescription() == "Change 2 of 2\n− line 50"
    QTest.keyClick(canvas, Qt.Key.Key_F8)
    assert canvas.current == 1
    QTest.keyClick(canvas, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert canvas.accessibleDescription() == "Change 1 of 2\n− line 10\n+ line ten"


def test_a_click_on_a_check_box_and_space_exclude_a_hunk(view: DiffView, qtbot: QtBot) -> None:
    view.show_contents(BEFORE, AFTER, selectable=True)
    excluded: list[frozenset[int]] = []
    view.excluded_hunks_changed.connect(excluded.append)
    canvas = view.canvas
    top = int(canvas._row_tops[canvas.diff_rows.first_rows[0]]) - canvas.verticalScrollBar().value()
    QTest.mouseClick(canvas.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(12, top + 8))
    QTest.keyClick(canvas, Qt.Key.Key_F8)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    assert excluded == [frozenset({0}), frozenset({0, 1}), frozenset({0})]


def test_without_check_boxes_space_does_nothing(view: DiffView) -> None:
    view.show_contents(BEFORE, AFTER)
    excluded: list[frozenset[int]] = []
    view.excluded_hunks_changed.connect(excluded.append)
    QTest.keyClick(view.canvas, Qt.Key.Key_Space)
    assert excluded == []


def test_a_change_is_copied_with_its_hidden_characters_named(view: DiffView) -> None:
    view.show_contents(b"pay me\n", "pay \u202eme\n".encode())
    QTest.keyClick(view.canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "− pay me\n+ pay ⟨RLO⟩me"


def test_a_long_change_is_copied_whole_and_announced_in_part(view: DiffView) -> None:
    lines = ["\u202e" + "x" * 3_000 + "\u202e", *(f"line {n}" for n in range(40))]
    view.show_contents(b"pay me\n", "".join(f"{line}\n" for line in lines).encode())
    QTest.keyClick(view.canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[1] == "+ ⟨RLO⟩" + "x" * 3_000 + "⟨RLO⟩"
    assert copied[2:] == [f"+ line {n}" for n in range(40)]
    announced = view.canvas.accessibleDescription().splitlines()
    assert announced[2].startswith("+ ⟨RLO⟩xxx") and announced[2].endswith("x… (3,006 characters)")
    assert announced[-1] == "+ line 18"


def test_unchanged_lines_stay_visible_in_the_next_diff(view: DiffView) -> None:
    view.show_contents(BEFORE, AFTER)
    view._unfold_button.click()
    view.show_contents(BEFORE, AFTER + b"the end\n")
    assert view._unfold_button.isChecked()
    assert view.canvas.diff_rows is not None
    assert not any(row.folded for row in view.canvas.diff_rows.rows)


def test_wide_views_show_both_sides_until_the_user_chooses(view: DiffView) -> None:
    view.show_contents(BEFORE, AFTER)
    assert view.canvas.diff_rows.mode is DiffMode.SIDE_BY_SIDE
    view.resize(600, 500)
    assert view.canvas.diff_rows.mode is DiffMode.UNIFIED
    view.set_mode(DiffMode.SIDE_BY_SIDE)
    view.resize(500, 500)
    assert view.canvas.diff_rows.mode is DiffMode.SIDE_BY_SIDE


def test_binary_content_is_dumped_and_not_selectable(view: DiffView) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
    assert is_binary(png)
    view.show_contents(png, png + b"more", selectable=True)
    assert b"".join(view.diff.after) == hex_dump(png + b"more")
    assert not view._selectable


def test_large_texts_are_compared_in_a_thread(gui, wait_until, qapp) -> None:
    before = b"".join(b"line %d\n" % n for n in range(60_000))
    after = before.replace(b"line 30000\n", b"changed\n")

    async def main() -> None:
        view = DiffView(ThemeSource("light"))
        view.show_contents(before, after)
        assert view.diff is None
        view.show_contents(b"a\n", b"b\n")
        assert view.diff.added == 1
        view.show_contents(before, after)
        await wait_until(lambda: view.diff is not None and len(view.diff.before) == 60_000)
        assert (view.diff.added, view.diff.removed) == (1, 1)
        assert len(view.canvas.diff_rows.rows) < 20

    gui(main())


def colors_of(view: DiffView) -> set[str]:
    picture = view.canvas.viewport().grab().toImage()
    return {
        picture.pixelColor(x, y).name() for x in range(0, picture.width(), 2) for y in range(picture.height())
    }


def test_both_sides_are_painted_in_the_colors_of_the_theme(qtbot: QtBot) -> None:
    source = ThemeSource("light")
    view = DiffView(source)
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show_contents(b"the old word\n", b"the new word\n")
    view.show()
    assert {LIGHT.removed_bg, LIGHT.added_bg, LIGHT.removed_word, LIGHT.added_word} <= colors_of(view)
    source.set("dark")
    assert {DARK.removed_bg, DARK.added_bg, DARK.removed_word, DARK.added_word} <= colors_of(view)


def test_a_line_of_megabytes_is_painted_where_it_differs(qtbot: QtBot, gui, wait_until) -> None:
    before = b"word " * 400_000 + b"\n"
    after = before[:1_000_000] + b"CHANGED" + before[1_000_000:]

    async def main() -> None:
        view = DiffView(ThemeSource("light"))
        view.resize(900, 400)
        view.show()
        view.show_contents(before, after)
        await wait_until(lambda: view.canvas.diff_rows is not None)
        assert LIGHT.added_word in colors_of(view)
        view.close()

    gui(main())


# Selecting and copying


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=40))
def test_a_copied_line_names_its_hidden_characters(text: str) -> None:
    line = escape_line(f"{text}\n".encode())
    copied = copied_text(line, 0, len(line.text))
    chips = [line.text[start:end] for start, end, kind in line.signs if kind == CHIP_SIGN]
    for chip in chips:
        assert f"⟨{chip}⟩" in copied
    if not chips:
        assert copied == text


@given(st.text("ab 中\t\u200b", max_size=30), st.data())
def test_copies_of_two_parts_join_to_the_copy_of_the_line(text: str, data: st.DataObject) -> None:
    line = escape_line(f"{text}\n".encode())
    inside = {place for start, end, _ in line.signs for place in range(start + 1, end)}
    cut = data.draw(st.sampled_from([n for n in range(len(line.text) + 1) if n not in inside]))
    expected = copied_text(line, 0, len(line.text))
    assert copied_text(line, 0, cut) + copied_text(line, cut, len(line.text)) == expected


def test_a_selection_over_rows_copies_lines_and_mentions_folds() -> None:
    diff_rows = layout_rows(compare(BEFORE, AFTER), DiffMode.UNIFIED)
    first = next(index for index, row in enumerate(diff_rows.rows) if row.before == 48)
    selection = Selection(("before", "after"), TextPosition(first + 2, 4), TextPosition(first, 2))
    assert selection.text(diff_rows) == "ne 48\nline 49\nline"
    everything = Selection(("before", "after"), TextPosition(0, 0), TextPosition(len(diff_rows.rows) - 1, 0))
    assert everything.text(diff_rows).splitlines()[0] == "…"


def test_a_word_is_a_run_of_letters_of_spaces_or_of_signs() -> None:
    line = escape_line(b"see [[The note]]  now\n")
    assert [line.text[slice(*word_at(line, at))] for at in (0, 4, 6, 17, 18)] == [
        "see",
        "[[",
        "The",
        "  ",
        "now",
    ]


def text_point(view: DiffView, row: int, cells: float) -> QPoint:
    canvas = view.canvas
    x = canvas._panes()[-1].text_x + cells * canvas._grid.cell
    return QPoint(round(x), int(canvas._row_tops[row]) - canvas.verticalScrollBar().value() + 8)


def test_text_is_selected_with_the_mouse_and_copied(view: DiffView) -> None:
    view.show_contents(b"one\ntwo words\nthree\n", b"one\nnew words\nthree\n")
    viewport, left = view.canvas.viewport(), Qt.MouseButton.LeftButton
    QTest.mousePress(viewport, left, pos=text_point(view, 1, 4.1))
    QTest.mouseMove(viewport, text_point(view, 2, 2.9))
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(text_point(view, 2, 2.9)),
        viewport.mapToGlobal(QPointF(0, 0)),
        left,
        left,
        Qt.KeyboardModifier.NoModifier,
    )
    QCoreApplication.sendEvent(viewport, move)
    QTest.mouseRelease(viewport, left, pos=text_point(view, 2, 2.9))
    QTest.keyClick(view.canvas, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "words\nthr"
    assert LIGHT.selection in colors_of(view)
    QTest.mouseDClick(viewport, left, pos=text_point(view, 1, 5.5))
    assert view.canvas.selected_text() == "words"
    QTest.keyClick(view.canvas, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.canvas.selected_text() == "one\nnew words\nthree"
    QTest.mouseClick(viewport, left, pos=text_point(view, 0, 1))
    assert view.canvas.selected_text() == ""


def test_a_wide_text_of_megabytes_is_rewrapped_in_a_thread(gui, wait_until, qtbot: QtBot) -> None:
    text = b"".join(b"%d " % n + b"word " * 120 + b"\n" for n in range(3000))

    async def main() -> None:
        view = DiffView(ThemeSource("light"))
        qtbot.addWidget(view)
        view.resize(700, 400)
        view.show()
        view.show_contents(None, text)
        await wait_until(lambda: view.canvas.diff_rows is not None)
        before, diff_rows = view.canvas._columns, view.canvas.diff_rows
        view.resize(500, 400)
        assert view.canvas._columns == before
        await wait_until(lambda: view.canvas._columns < before)
        assert view.canvas.diff_rows is diff_rows and diff_rows.is_ready(view.canvas._columns)

    gui(main())

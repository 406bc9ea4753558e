"""Pictures in the middle of a line of text, in the live preview."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QTextCursor

from app.desktop.notes.editor import hit_test, row_layout
from app.desktop.notes.editor.drawing_worker import draw
from app.desktop.notes.editor.drawings import NOT_DRAWABLE, Drawing, DrawingRequest
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.editor.mode import EditorMode
from app.desktop.notes.editor.rows import EditorRow, RowFragment
from tests.support.editor_requests import wait_for_requests

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Make = Callable[..., LiveEditor]
OBJECT = "\ufffc"


def picture(width: int, height: int) -> QImage:
    image = QImage(width, height, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.red)
    return image


def show_pictures(editor: LiveEditor, width: int = 300, height: int = 200) -> None:
    """Answer every request, now and later: with a picture of this size for `x.png`, the only file."""

    def load(target: str) -> QImage | None:
        return picture(width, height) if target == "x.png" else None

    editor.drawing_requested.connect(lambda request: editor.show_drawing(request, draw(request, load)))


def drawn(row: EditorRow) -> list[tuple[RowFragment, Drawing, QRectF]]:
    """Return the pictures in a row's text, with their fragments and rectangles."""
    return [
        (fragment, drawing, box)
        for fragment in row.fragments or ()
        for (_, drawing), box in zip(fragment.drawings, hit_test.drawing_boxes(fragment), strict=True)
    ]


def paint_until_idle(editor: LiveEditor) -> None:
    """Paint until the editor requests nothing more."""
    for _ in range(3):
        editor.viewport().repaint()
        wait_for_requests(editor)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("some ![[x.png|120]] words", f"some {OBJECT} words"),
        ("some ![a|120](x.png) words", f"some {OBJECT} words"),
        ('some ![120](<x.png> "title") words', f"some {OBJECT} words"),
        ("some [![a|120](x.png)](https://a.example/b) words", f"some {OBJECT} words"),
        ("some [![[x.png|120]]](<Other note.md>) words", f"some {OBJECT} words"),
        ("**bold ![[x.png|120]]** words", f"bold {OBJECT} words"),
        ("- ![[x.png|120]]", OBJECT),
        ("- [x] done ![[x.png|120]]", f"done {OBJECT}"),
        ("> quoted ![[x.png|120]]", f"quoted {OBJECT}"),
        ("> [!note] Title ![[x.png|120]]", f"Title {OBJECT}"),
        ("## Head ![[x.png|120]]", f"Head {OBJECT}"),
        ("[^1]: Note ![[x.png|120]]", f"1 Note {OBJECT}"),
        ("🧭 emoji ![[x.png|120]]", f"🧭 emoji {OBJECT}"),
    ],
)
def test_a_picture_is_drawn_in_a_line_without_the_cursor(make_editor: Make, line: str, text: str) -> None:
    editor = make_editor()
    show_pictures(editor)
    editor.load(f"first\n\n{line}\n\nend")
    paint_until_idle(editor)
    row = editor.flow.row(2)
    ((fragment, drawing, box),) = drawn(row)
    assert fragment.layout.text() == text and (drawing.width, drawing.height) == (120, 80)
    assert QRectF(0, 0, editor.flow.width, row.height).contains(box)
    editor.go_to_line(3)
    row = editor.flow.row(2)
    assert not drawn(row) and row.fragments[0].layout.text() == line
    editor.go_to_line(1)
    editor.set_mode(EditorMode.SOURCE)
    assert not drawn(editor.flow.row(2)) and editor.flow.row(2).height < 80


def test_a_column_of_a_table_is_as_wide_as_its_pictures(make_editor: Make) -> None:
    editor = make_editor()
    show_pictures(editor)
    editor.load("first\n\n| a | b |\n|---|---|\n| ![[x.png\\|200]] | ![a\\|90](x.png) |\n| c | d |\n\nend")
    paint_until_idle(editor)
    row = editor.flow.row(4)
    pictures = drawn(row)
    assert [drawing.width for _, drawing, _ in pictures] == [200, 90]
    for fragment, drawing, box in pictures:
        left, width = fragment.cell
        assert QRectF(left, 0, width, row.height).contains(box) and width < drawing.width + 40
    assert [fragment.cell for fragment in editor.flow.row(5).fragments] == [
        one.cell for one, _, _ in pictures
    ]


def test_pictures_grow_with_the_text(make_editor: Make) -> None:
    editor = make_editor()
    show_pictures(editor)
    editor.load("first\n\nin ![[x.png|120]] a line\n\n![[x.png]]\n\nend")
    paint_until_idle(editor)
    ((_, small, _),) = drawn(editor.flow.row(2))
    alone = editor.flow.row(4).drawing
    editor._theme.set("light", 1.5)
    paint_until_idle(editor)
    ((_, large, _),) = drawn(editor.flow.row(2))
    assert (small.width, large.width) == (120, 180)
    assert alone is not None and (alone.width, alone.height) == (300, 200)
    zoomed = editor.flow.row(4).drawing
    assert zoomed is not None and (zoomed.width, zoomed.height) == (450, 300)


@pytest.mark.parametrize("line", ["in ![[gone.png|120]] a line", "in ![[x.txt]] a line"])
def test_an_embed_that_is_no_picture_is_shown_as_a_link(make_editor: Make, line: str) -> None:
    editor = make_editor()
    show_pictures(editor)
    embed = line[3 : line.index("]]") + 2]
    editor.load(f"first\n\n{line}\n\n{embed}\n\nend")
    paint_until_idle(editor)
    in_line, alone = editor.flow.row(2), editor.flow.row(4)
    assert alone.drawing is None and not drawn(in_line)
    assert in_line.fragments[0].layout.text() == f"in {alone.fragments[0].layout.text()} a line"


def test_a_picture_that_is_wider_than_the_rest_of_its_line_begins_the_next(make_editor: Make) -> None:
    editor = make_editor(width=500)
    show_pictures(editor, 3000, 1000)
    editor.load("first\n\nsome words ![[x.png|380]] and ![[x.png]] more\n\nend")
    paint_until_idle(editor)
    row = editor.flow.row(2)
    layout = row.fragments[0].layout
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    shown = [layout.text()[one.textStart() :][: one.textLength()].strip() for one in lines]
    assert shown == ["some words", f"{OBJECT} and", OBJECT, "more"]
    boxes = [box for _, _, box in drawn(row)]
    assert boxes[0].width() == 380 and boxes[1].width() > 380
    for box, above, own in zip(boxes, (lines[0], lines[1]), (lines[1], lines[2]), strict=True):
        assert box.right() <= editor.flow.width
        assert box.top() >= row.fragments[0].y + above.y() + above.height(), "below the line before it"
        assert box.bottom() <= row.fragments[0].y + own.y() + own.height()
    assert row.height >= row.fragments[0].y + lines[-1].y() + lines[-1].height()


def test_a_point_on_a_picture_is_before_or_after_its_source(make_editor: Make) -> None:
    editor = make_editor()
    show_pictures(editor)
    line = "see ![[x.png|120]] here"
    editor.load(f"first\n\n{line}\n\nend")
    paint_until_idle(editor)
    flow = editor.flow
    ((_, _, box),) = drawn(flow.row(2))
    top = flow.heights.top(2)
    for part, column in ((0.2, 4), (0.8, line.index(" here"))):
        point = QPointF(box.left() + part * box.width(), top + box.top() + 3)
        assert hit_test.position_at(flow, point.x(), point.y()) == (2, column)
        link = editor.link_at_point(point)
        assert link is not None and link.target == "x.png"
    assert editor.link_at_point(QPointF(box.right() + 60, top + box.top() + 3)) is None


def test_a_click_on_a_picture_in_a_link_follows_the_link(make_editor: Make) -> None:
    editor = make_editor()
    show_pictures(editor)
    editor.load("first\n\nsee [![a|120](x.png)](https://a.example) here\n\nend")
    paint_until_idle(editor)
    ((_, _, box),) = drawn(editor.flow.row(2))
    top = editor.flow.heights.top(2)
    for part in (0.2, 0.8):
        link = editor.link_at_point(QPointF(box.left() + part * box.width(), top + box.center().y()))
        assert link is not None and link.target == "https://a.example"


def test_a_selected_picture_is_tinted_and_copied_with_its_markup(make_editor: Make) -> None:
    editor = make_editor()
    show_pictures(editor)
    line = "see ![[x.png|120]] here"
    editor.load(f"first\n\n{line}\n\nend")
    paint_until_idle(editor)
    ((_, _, box),) = drawn(editor.flow.row(2))
    middle = box.center().toPoint() + QPointF(editor._layout.left, editor._layout.top).toPoint()
    middle.setY(middle.y() + round(editor.flow.heights.top(2)))
    plain = editor.viewport().grab().toImage().pixelColor(middle)
    cursor = editor.textCursor()
    cursor.setPosition(7 + 4)
    cursor.setPosition(7 + line.index(" here"), QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    editor.flow.set_active(0, 0)  # as while the mouse button is down
    assert editor.viewport().grab().toImage().pixelColor(middle) != plain == Qt.GlobalColor.red
    editor.copy()
    assert QGuiApplication.clipboard().text() == "![[x.png|120]]"


def test_a_line_with_the_cursor_keeps_its_pictures_below_the_source(make_editor: Make) -> None:
    editor = make_editor(width=500)
    show_pictures(editor)
    editor.load("first\n\na ![[x.png|220]] b ![[x.png|180]] c ![[x.png|30]] d ![[x.png|150]]\n\nend")
    paint_until_idle(editor)
    before = editor.flow.row(2).height
    editor.go_to_line(3)
    row = editor.flow.row(2)
    boxes = [box for box, _ in row.pictures]
    assert [box.width() for box in boxes] == [220, 180, 150], "the small picture is left out"
    source = row.fragments[0]
    for at, box in enumerate(boxes):
        assert QRectF(0, source.y + source.height, editor.flow.width, row.height).contains(box)
        assert not any(box.intersects(other) for other in boxes[:at])
    assert row.height > before * 0.7
    editor.go_to_line(1)
    assert not editor.flow.row(2).pictures and editor.flow.row(2).height == before


def test_the_check_box_is_aligned_with_the_text_next_to_a_picture(make_editor: Make) -> None:
    editor = make_editor()
    show_pictures(editor)
    editor.load("first\n\n- [ ] task ![[x.png]]\n\nend")
    paint_until_idle(editor)
    row = editor.flow.row(2)
    line = row.fragments[0].layout.lineAt(0)
    box = row_layout.checkbox(editor.flow, row)
    text = QRectF(row.indent, row.fragments[0].y + line.y(), 99, line.height())
    assert text.top() > 180 and text.top() < box.center().y() < text.bottom()


WORDS = " ".join(f"word{number}" for number in range(200))


@pytest.mark.parametrize("index", [20, 180], ids=["above the view", "below the view"])
def test_a_late_picture_in_a_paragraph_higher_than_the_view_moves_nothing(
    make_editor: Make, index: int
) -> None:
    words = WORDS.split()
    words[index] = f"![[late {index}.png]]"
    editor = make_editor(width=400, height=200)
    requests: list[DrawingRequest] = []
    editor.drawing_requested.connect(requests.append)
    editor.load("\n".join(["first", "", " ".join(words), "", *["more"] * 40]))
    paint_until_idle(editor)
    flow, bar = editor.flow, editor.verticalScrollBar()
    middle = hit_test.caret_rect(flow, 2, flow.lines[2].index("word95")).top()
    bar.setValue(round(middle + editor._layout.top) - 9)
    paint_until_idle(editor)
    at, first_shown = hit_test.position_at(flow, 0, middle + 3)

    def y_of(at: int, column: int) -> float:
        return hit_test.caret_rect(flow, at, column).top() - bar.value()

    before = y_of(2, first_shown)
    assert at == 2
    (request,) = requests
    editor.show_drawing(request, Drawing(300, 200, 200, picture(300, 200)))
    editor.viewport().repaint()
    assert drawn(flow.row(2))
    assert abs(y_of(2, first_shown) - before) <= 1


def test_a_picture_that_can_not_be_drawn_changes_nothing(make_editor: Make) -> None:
    editor = make_editor()
    requests: list[DrawingRequest] = []
    editor.drawing_requested.connect(requests.append)
    editor.load("first\n\nin ![[x.png]] a line\n\nend")
    paint_until_idle(editor)
    (request,) = requests
    height = editor.flow.row(2).height
    editor.show_drawing(request, NOT_DRAWABLE)
    paint_until_idle(editor)
    assert editor.flow.row(2).height == height and not drawn(editor.flow.row(2)) and len(requests) == 1

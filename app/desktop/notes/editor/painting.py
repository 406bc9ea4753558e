"""Paint the rows of a note: backgrounds, bullets, checkboxes, drawings and text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF, QTextCharFormat, QTextLayout

from app.desktop.notes.editor import hit_test, row_layout, text_layout
from app.desktop.notes.editor.line_scanner import LineKind
from app.desktop.notes.editor.note_rows import Position
from app.desktop.notes.editor.rows import EditorRow, RowFragment
from app.desktop.notes.editor.text_flow import TextFlow
from app.vault.markdown.render_rules import callout_kind

_CALLOUT_TINT = 0.1
_SELECTED_OPACITY = 0.6
FOLD_MARK_X = -16.0


class Highlight(NamedTuple):
    """A range with a background: a selection or a search match."""

    start: Position
    end: Position
    color: QColor


def paint(
    flow: TextFlow,
    painter: QPainter,
    top: float,
    bottom: float,
    highlights: Sequence[Highlight] = (),
    hovered: int = -1,
) -> None:
    """Paint the rows between `top` and `bottom`; the hovered line shows its fold mark if it can be folded."""
    index, y = flow.heights.line_at(top)
    while index < len(flow.rows) and y < bottom:
        row = flow.row(index)
        if row.height:
            painter.save()
            _paint_background(flow, painter, row, y)
            if has_fold_mark(flow, index, row, index == hovered):
                center = fold_mark_center(flow, row) + QPointF(0, y)
                _paint_triangle(flow, painter, center, is_folded=flow.is_folded(row))
            painter.restore()
            _paint_text(flow, painter, index, row, y, top, bottom, highlights)
        y += row.height
        index += 1


def _paint_text(
    flow: TextFlow,
    painter: QPainter,
    index: int,
    row: EditorRow,
    y: float,
    top: float,
    bottom: float,
    highlights: Sequence[Highlight],
) -> None:
    clip = QRectF(0, top, flow.width, bottom - top)
    fragments = row.fragments or []
    painter.setPen(_text_color(flow, row))
    for fragment in fragments:
        if y + fragment.y > bottom:
            break
        is_above = fragment.cell is None and y + fragment.y + fragment.height < top
        if len(fragments) > 4 and is_above:
            continue
        selections = [
            selected
            for highlight in highlights
            if (selected := _format_range(index, fragment, highlight)) is not None
        ]
        fragment.layout.draw(painter, QPointF(fragment.x, y + fragment.y), selections, clip)
        _paint_inline_drawings(painter, fragment, y, selections)


def _paint_inline_drawings(
    painter: QPainter, fragment: RowFragment, y: float, selections: Sequence[QTextLayout.FormatRange]
) -> None:
    """Paint the formulas and pictures in the text, tinted where they are highlighted."""
    for (offset, drawing), box in zip(fragment.drawings, hit_test.drawing_boxes(fragment), strict=True):
        if drawing.image is None:
            continue
        area = box.translated(0, y)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for selection in selections:
            if selection.start <= offset < selection.start + selection.length:
                painter.fillRect(area, selection.format.background())
                painter.setOpacity(_SELECTED_OPACITY)
        painter.drawImage(area, drawing.image)
        painter.restore()


def _text_color(flow: TextFlow, row: EditorRow) -> QColor:
    if row.scan.kind is LineKind.CALLOUT and not row.active:
        return flow.style.callout_color(callout_kind(row.scan.detail))
    if row.scan.kind is not LineKind.CALLOUT and row.scan.quotes and not any(row.scan.quotes):
        return flow.style.muted
    return flow.style.text


def _format_range(index: int, fragment: RowFragment, highlight: Highlight) -> QTextLayout.FormatRange | None:
    """Return the part of a highlight that is in a fragment."""
    (first, first_column), (last, last_column), color = highlight
    if not first <= index <= last:
        return None
    start = fragment.offset_of(first_column) if index == first else 0
    end = fragment.offset_of(last_column) if index == last else len(fragment.layout.text()) + 1
    if end <= start:
        return None
    text_format = QTextCharFormat()
    text_format.setBackground(color)
    if index != last and fragment.cell is None:
        text_format.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
    return text_layout.format_range(start, end - start, text_format)


def _paint_background(flow: TextFlow, painter: QPainter, row: EditorRow, y: float) -> None:
    """Paint what is behind and next to a row's text: bars, boxes, drawings, and the bullet or checkbox."""
    _paint_quotes(flow, painter, row, y)
    kind = row.scan.kind
    x = text_layout.QUOTE_INDENT * flow.style.zoom * len(row.scan.quotes)
    if kind in text_layout.BOXED and row.fragments:
        painter.fillRect(_band(x, flow.width - x, y, row.height), flow.style.code_background)
    if row.drawing is not None:
        _paint_drawing(flow, painter, row, y)
    for box, drawing in row.pictures:
        if drawing.image is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(box.translated(0, y), drawing.image)
    if row.active:
        return
    if kind is LineKind.RULE:
        painter.setPen(QPen(flow.style.border, 2))
        middle = y + row.height / 2
        painter.drawLine(QPointF(x, middle), QPointF(flow.width, middle))
    elif row.fragments and row.fragments[0].cell is not None:
        _paint_cells(flow, painter, row, y)
    elif kind is LineKind.LIST_ITEM and row.fragments:
        _paint_bullet(flow, painter, row, y)
    elif kind is LineKind.TASK and row.fragments:
        _paint_checkbox(flow, painter, row, y)


def _paint_quotes(flow: TextFlow, painter: QPainter, row: EditorRow, y: float) -> None:
    """Paint a bar for each enclosing quote, and the background of callouts."""
    indent = text_layout.QUOTE_INDENT * flow.style.zoom
    for depth, name in enumerate(row.scan.quotes):
        x = depth * indent
        color = flow.style.callout_color(callout_kind(name)) if name else flow.style.border
        painter.fillRect(_band(x, 3.5, y, row.height), color)
        if name:
            tint = QColor(color)
            tint.setAlphaF(_CALLOUT_TINT)
            painter.fillRect(_band(x + 3.5, flow.width - x - 3.5, y, row.height), tint)


def _band(x: float, width: float, y: float, height: float) -> QRectF:
    """Return part of a row's area with whole pixels at its top and bottom, to avoid overlaps and gaps."""
    top = math.floor(y + 0.5)
    return QRectF(x, top, width, math.floor(y + height + 0.5) - top)


def _paint_drawing(flow: TextFlow, painter: QPainter, row: EditorRow, y: float) -> None:
    drawing = row.drawing
    if drawing is None or drawing.image is None:
        return
    box = row_layout.picture_box(flow, row)
    offset = row.height - box.height() - 8 if row.active else box.y()
    box.moveTop(y + offset)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(box, drawing.image)


def _paint_cells(flow: TextFlow, painter: QPainter, row: EditorRow, y: float) -> None:
    painter.setPen(QPen(flow.style.border, 1))
    for fragment in row.fragments or ():
        x, width = fragment.cell or (0.0, 0.0)
        painter.drawRect(QRectF(x + 0.5, y + 0.5, width, row.height))


def _paint_bullet(flow: TextFlow, painter: QPainter, row: EditorRow, y: float) -> None:
    style, bullet = flow.style, row.scan.detail
    fragment = (row.fragments or [])[0]
    x, middle = row.indent, y + fragment.first_line_middle
    if bullet in "-*+":
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(style.muted)
        radius = 2.6 * style.zoom
        painter.drawEllipse(QPointF(x - 12 * style.zoom, middle), radius, radius)
    else:
        painter.setPen(style.muted)
        painter.setFont(style.font)
        area = QRectF(x - 90, middle - style.line_height / 2, 84, style.line_height)
        painter.drawText(area, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, bullet)


def _paint_checkbox(flow: TextFlow, painter: QPainter, row: EditorRow, y: float) -> None:
    style = flow.style
    box = row_layout.checkbox(flow, row).translated(0, y)
    is_done = row.scan.detail in "xX"
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(style.accent if is_done else style.muted, 1.4))
    painter.setBrush(style.accent if is_done else style.panel)
    painter.drawRoundedRect(box, 3, 3)
    unit = box.width() / 14
    center = box.center()
    if is_done:
        painter.setPen(QPen(style.accent_text, 2 * unit))
        check = ((-3.5, 0.5), (-1.0, 3.0), (4.0, -3.0))
        painter.drawPolyline(QPolygonF([center + QPointF(dx * unit, dy * unit) for dx, dy in check]))
    elif row.scan.detail == "-":
        painter.setPen(QPen(style.muted, 1.4 * unit))
        halves = QPointF(3 * unit, 3 * unit), QPointF(3 * unit, -3 * unit)
        painter.drawLines([QLineF(center - half, center + half) for half in halves])
    elif not row.scan.detail.isspace():
        painter.setPen(style.muted)
        painter.setFont(style.mono)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, row.scan.detail)


def has_fold_mark(flow: TextFlow, index: int, row: EditorRow, is_hovered: bool) -> bool:
    """Return whether a foldable line shows its fold mark: it is folded, hovered or a foldable callout."""
    is_marked = is_hovered or row.is_folded or (row.scan.kind is LineKind.CALLOUT and bool(row.scan.fold))
    return is_marked and flow.fold_range(index) is not None


def fold_mark_center(flow: TextFlow, row: EditorRow) -> QPointF:
    """Return the center of a row's fold mark, relative to the row's top left corner."""
    fragment = row.fragments[0] if row.fragments else None
    middle = row.height / 2
    if fragment is not None and fragment.layout.lineCount():
        middle = fragment.first_line_middle
    # In quotes, the mark is to the left of the outermost bar, because it can't be seen on a bar.
    is_nested_item = row.scan.kind in (LineKind.LIST_ITEM, LineKind.TASK) and not row.scan.quotes
    x = text_layout.LIST_INDENT * flow.style.zoom * row.scan.level if is_nested_item else 0.0
    return QPointF(x + FOLD_MARK_X, middle)


def _paint_triangle(flow: TextFlow, painter: QPainter, center: QPointF, *, is_folded: bool) -> None:
    """Paint a small triangle that points right for folded lines, else down."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(flow.style.accent if is_folded else flow.style.faint)
    painter.translate(center)
    size = 4.5 * flow.style.zoom
    if not is_folded:
        painter.rotate(90)
    painter.drawPolygon(
        QPolygonF([QPointF(-size * 0.6, -size), QPointF(size * 0.8, 0), QPointF(-size * 0.6, size)])
    )
    painter.restore()

"""Where the parts that float over the canvas lie, so that none covers another however narrow the view is."""

from __future__ import annotations

from PySide6.QtCore import QSize

from app.desktop.graph_view.camera import Insets
from app.desktop.graph_view.neighbour_list import NeighbourList
from app.desktop.graph_view.parts import Parts
from app.desktop.graph_view.side_sheet import SideSheet

EDGE = 12
_NARROWEST_FIND, _WIDEST_FIND = 120, 220
_NARROW, _LOW = 430, 320
_LEAST_BESIDE = 200


def place_parts(view: Parts, size: QSize) -> None:
    """Lay the parts out in a view of that size, and tell the canvas what they leave free."""
    width, height = size.width(), size.height()
    view.canvas.setGeometry(0, 0, width, height)
    view.annotations.setGeometry(view.canvas.rect())
    view.toolbar.set_narrow(width < _NARROW)
    top = _place_top(view, width)
    foot = EDGE + view.annotations.foot
    beside = _side_width(view, width)
    free = width - (beside + EDGE if beside else 0)
    below = _place_legend(view, free, height, foot)
    _place_side(view, top, size)
    _place_map(view, free, height - below - foot)
    _place_note(view, free, height - below - foot)
    above = 0 if height < _LOW else view.toolbar.height() - EDGE // 2
    view.canvas.keep_clear(Insets(0, above, beside, below + view.annotations.foot))


def _place_top(view: Parts, width: int) -> int:
    """The tools, the search and the local graph's bar along the upper edge; where they end."""
    for widget in (view.toolbar, view.local_bar):
        widget.resize(widget.sizeHint())
    bar, find = view.toolbar, view.find_box
    bar.move(width - bar.width() - EDGE, EDGE)
    line = bar.height() + EDGE // 2
    beside = width - bar.width() - 3 * EDGE
    own_line = beside < _NARROWEST_FIND
    find.setFixedWidth(max(80, width - 2 * EDGE) if own_line else min(_WIDEST_FIND, beside))
    find.move(EDGE, EDGE + (line if own_line else 0))
    bottom = EDGE + line * (2 if own_line else 1)
    local = view.local_bar
    if local.isHidden():
        return bottom
    free = width - 2 * (max(find.width(), bar.width()) + 2 * EDGE)
    local.resize(min(local.width(), width - 2 * EDGE), local.height())
    on_first = local.width() <= free and not own_line
    local.move((width - local.width()) // 2, EDGE if on_first else bottom)
    return bottom if on_first else bottom + line


def _place_legend(view: Parts, width: int, height: int, foot: int) -> int:
    """The legend along the lower edge; how high it is. Where there is little room it starts folded."""
    legend = view.legend
    legend.setVisible(legend.count > 0)
    if not legend.count:
        return 0
    legend.arrange(width - 2 * EDGE, small=width < _NARROW or height < _LOW)
    legend.move(EDGE, height - legend.height() - foot)
    return legend.height() if not legend.is_small else 0


def _side(view: Parts) -> SideSheet | NeighbourList | None:
    """The sheet or the list of links, whichever is shown."""
    return next((part for part in (view.sheet, view.neighbours) if not part.isHidden()), None)


def _side_width(view: Parts, width: int) -> int:
    """How much of the width the part at the right takes from the graph; none where it covers it."""
    side = _side(view)
    wide = 0 if side is None else min(side.wished_width, width - 2 * EDGE)
    return wide if width - wide >= _LEAST_BESIDE else 0


def _place_side(view: Parts, top: int, size: QSize) -> None:
    """The sheet or the list of links along the right edge."""
    side = _side(view)
    if side is not None:
        wide = min(side.wished_width, size.width() - 2 * EDGE)
        side.setGeometry(size.width() - wide - EDGE, top, wide, max(80, size.height() - top - EDGE))
        side.raise_()


def _place_map(view: Parts, right: int, bottom: int) -> None:
    if not view.minimap.isHidden():
        view.minimap.move(right - view.minimap.width() - EDGE, bottom - view.minimap.height() - EDGE // 2)


def _place_note(view: Parts, width: int, bottom: int) -> None:
    if not view.note.isHidden():
        view.note.resize(min(view.note.sizeHint().width(), width - 2 * EDGE), view.note.sizeHint().height())
        view.note.move((width - view.note.width()) // 2, bottom - view.note.height() - EDGE)

"""Places the overlays of the canvas so that none covers another, even in a narrow view."""

from __future__ import annotations

from PySide6.QtCore import QSize

from app.desktop.graph.camera import Insets
from app.desktop.graph.overlays.neighbor_list import NeighborList
from app.desktop.graph.settings_panel import GraphSettingsPanel
from app.desktop.graph.view_components import ViewComponents

EDGE_MARGIN = 12
_MIN_FIND_WIDTH, _MAX_FIND_WIDTH = 120, 220
_NARROW_WIDTH, _LOW_HEIGHT = 430, 320
_MIN_GRAPH_WIDTH = 200


def place_overlays(view: ViewComponents, size: QSize) -> None:
    """Place the overlays in a view of that size, and report the free area to the canvas."""
    width, height = size.width(), size.height()
    view.canvas.setGeometry(0, 0, width, height)
    view.annotations.setGeometry(view.canvas.rect())
    view.toolbar.set_narrow(width < _NARROW_WIDTH)
    top = _place_top(view, width)
    foot = EDGE_MARGIN + view.annotations.axis_height
    beside = _side_width(view, width)
    free = width - (beside + EDGE_MARGIN if beside else 0)
    below = _place_legend(view, free, height, foot)
    _place_side(view, top, size)
    _place_map(view, free, height - below - foot)
    _place_note(view, free, height - below - foot)
    above = 0 if height < _LOW_HEIGHT else view.toolbar.height() - EDGE_MARGIN // 2
    view.canvas.keep_clear(Insets(0, above, beside, below + view.annotations.axis_height))


def _place_top(view: ViewComponents, width: int) -> int:
    """Place tools, search box and local graph bar along the upper edge; return their lower edge."""
    for widget in (view.toolbar, view.local_bar):
        widget.resize(widget.sizeHint())
    bar, find = view.toolbar, view.find_box
    bar.move(width - bar.width() - EDGE_MARGIN, EDGE_MARGIN)
    line = bar.height() + EDGE_MARGIN // 2
    beside = width - bar.width() - 3 * EDGE_MARGIN
    own_line = beside < _MIN_FIND_WIDTH
    find.setFixedWidth(max(80, width - 2 * EDGE_MARGIN) if own_line else min(_MAX_FIND_WIDTH, beside))
    find.move(EDGE_MARGIN, EDGE_MARGIN + (line if own_line else 0))
    bottom = EDGE_MARGIN + line * (2 if own_line else 1)
    local = view.local_bar
    if local.isHidden():
        return bottom
    free = width - 2 * (max(find.width(), bar.width()) + 2 * EDGE_MARGIN)
    local.resize(min(local.width(), width - 2 * EDGE_MARGIN), local.height())
    on_first = local.width() <= free and not own_line
    local.move((width - local.width()) // 2, EDGE_MARGIN if on_first else bottom)
    return bottom if on_first else bottom + line


def _place_legend(view: ViewComponents, width: int, height: int, foot: int) -> int:
    """Place the legend along the lower edge and return its height; it starts folded if room is short."""
    legend = view.legend
    legend.setVisible(legend.count > 0)
    if not legend.count:
        return 0
    legend.arrange(width - 2 * EDGE_MARGIN, small=width < _NARROW_WIDTH or height < _LOW_HEIGHT)
    legend.move(EDGE_MARGIN, height - legend.height() - foot)
    return legend.height() if not legend.is_small else 0


def _visible_side(view: ViewComponents) -> GraphSettingsPanel | NeighborList | None:
    """Return the settings panel or the list of neighbors, whichever is visible."""
    return next((part for part in (view.sheet, view.neighbors) if not part.isHidden()), None)


def _side_width(view: ViewComponents, width: int) -> int:
    """Return the width that the side panel takes from the graph; 0 if it covers the graph."""
    side = _visible_side(view)
    wide = 0 if side is None else min(side.preferred_width, width - 2 * EDGE_MARGIN)
    return wide if width - wide >= _MIN_GRAPH_WIDTH else 0


def _place_side(view: ViewComponents, top: int, size: QSize) -> None:
    """Place the settings panel or the list of neighbors along the right edge."""
    side = _visible_side(view)
    if side is not None:
        wide = min(side.preferred_width, size.width() - 2 * EDGE_MARGIN)
        side.setGeometry(
            size.width() - wide - EDGE_MARGIN, top, wide, max(80, size.height() - top - EDGE_MARGIN)
        )
        side.raise_()


def _place_map(view: ViewComponents, right: int, bottom: int) -> None:
    if not view.minimap.isHidden():
        view.minimap.move(
            right - view.minimap.width() - EDGE_MARGIN, bottom - view.minimap.height() - EDGE_MARGIN // 2
        )


def _place_note(view: ViewComponents, width: int, bottom: int) -> None:
    if not view.note.isHidden():
        view.note.resize(
            min(view.note.sizeHint().width(), width - 2 * EDGE_MARGIN), view.note.sizeHint().height()
        )
        view.note.move((width - view.note.width()) // 2, bottom - view.note.height() - EDGE_MARGIN)

"""Place the canvas's overlays; in a narrow view, a side panel covers the others."""

from __future__ import annotations

from PySide6.QtCore import QSize

from app.desktop.graph.camera import Insets
from app.desktop.graph.overlays.neighbor_list import NeighborList
from app.desktop.graph.settings_panel import GraphSettingsPanel
from app.desktop.graph.view_components import ViewComponents

EDGE_MARGIN = 12
_MIN_FIND_WIDTH, _MAX_FIND_WIDTH = 120, 220
_NARROW_WIDTH = 430
_LOW_HEIGHT = 320
_MIN_GRAPH_WIDTH = 200


def place_overlays(view: ViewComponents, size: QSize) -> None:
    """Place the overlays in a view of this size, and tell the canvas how much of its edges they cover."""
    width, height = size.width(), size.height()
    view.canvas.setGeometry(0, 0, width, height)
    view.annotations.setGeometry(view.canvas.rect())
    view.toolbar.set_narrow(width < _NARROW_WIDTH)
    top = _place_top(view, width)
    bottom_margin = EDGE_MARGIN + view.annotations.axis_height
    side_width = _side_width(view, width)
    graph_width = width - (side_width + EDGE_MARGIN if side_width else 0)
    legend_height = _place_legend(view, graph_width, height, bottom_margin)
    _place_side(view, top, size)
    _place_map(view, graph_width, height - legend_height - bottom_margin)
    _place_toast(view, graph_width, height - legend_height - bottom_margin)
    top_inset = 0 if height < _LOW_HEIGHT else view.toolbar.height() - EDGE_MARGIN // 2
    view.canvas.keep_clear(Insets(0, top_inset, side_width, legend_height + view.annotations.axis_height))


def _place_top(view: ViewComponents, width: int) -> int:
    """Place the toolbar, search box and local graph bar along the upper edge; return their lower edge."""
    for widget in (view.toolbar, view.local_bar):
        widget.resize(widget.sizeHint())
    toolbar, find = view.toolbar, view.find_box
    toolbar.move(width - toolbar.width() - EDGE_MARGIN, EDGE_MARGIN)
    row_height = toolbar.height() + EDGE_MARGIN // 2
    free_width = width - toolbar.width() - 3 * EDGE_MARGIN
    has_own_row = free_width < _MIN_FIND_WIDTH
    find.setFixedWidth(max(80, width - 2 * EDGE_MARGIN) if has_own_row else min(_MAX_FIND_WIDTH, free_width))
    find.move(EDGE_MARGIN, EDGE_MARGIN + (row_height if has_own_row else 0))
    bottom = EDGE_MARGIN + row_height * (2 if has_own_row else 1)
    local_bar = view.local_bar
    if local_bar.isHidden():
        return bottom
    middle_width = width - 2 * (max(find.width(), toolbar.width()) + 2 * EDGE_MARGIN)
    local_bar.resize(min(local_bar.width(), width - 2 * EDGE_MARGIN), local_bar.height())
    is_in_first_row = local_bar.width() <= middle_width and not has_own_row
    local_bar.move((width - local_bar.width()) // 2, EDGE_MARGIN if is_in_first_row else bottom)
    return bottom if is_in_first_row else bottom + row_height


def _place_legend(view: ViewComponents, width: int, height: int, bottom_margin: int) -> int:
    """Place the legend along the lower edge; return its height, 0 if it is collapsed or empty."""
    legend = view.legend
    legend.setVisible(legend.count > 0)
    if not legend.count:
        return 0
    legend.arrange(width - 2 * EDGE_MARGIN, small=width < _NARROW_WIDTH or height < _LOW_HEIGHT)
    legend.move(EDGE_MARGIN, height - legend.height() - bottom_margin)
    return legend.height() if legend.is_expanded else 0


def _visible_side(view: ViewComponents) -> GraphSettingsPanel | NeighborList | None:
    """Return the visible settings panel or list of neighbors; None if both are hidden."""
    return next((part for part in (view.settings_panel, view.neighbors) if not part.isHidden()), None)


def _side_width(view: ViewComponents, width: int) -> int:
    """Return the width that a side panel takes from the graph; 0 if it covers the graph or none is shown."""
    side = _visible_side(view)
    side_width = 0 if side is None else min(side.preferred_width, width - 2 * EDGE_MARGIN)
    return side_width if width - side_width >= _MIN_GRAPH_WIDTH else 0


def _place_side(view: ViewComponents, top: int, size: QSize) -> None:
    """Place the settings panel or the list of neighbors along the right edge."""
    side = _visible_side(view)
    if side is not None:
        side_width = min(side.preferred_width, size.width() - 2 * EDGE_MARGIN)
        side.setGeometry(
            size.width() - side_width - EDGE_MARGIN,
            top,
            side_width,
            max(80, size.height() - top - EDGE_MARGIN),
        )
        side.raise_()


def _place_map(view: ViewComponents, right: int, bottom: int) -> None:
    if not view.minimap.isHidden():
        view.minimap.move(
            right - view.minimap.width() - EDGE_MARGIN, bottom - view.minimap.height() - EDGE_MARGIN // 2
        )


def _place_toast(view: ViewComponents, width: int, bottom: int) -> None:
    if not view.toast.isHidden():
        view.toast.resize(
            min(view.toast.sizeHint().width(), width - 2 * EDGE_MARGIN), view.toast.sizeHint().height()
        )
        view.toast.move((width - view.toast.width()) // 2, bottom - view.toast.height() - EDGE_MARGIN)

"""The look of what floats over the canvas: panels that let a little of the graph through."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.desktop.colors import Theme
from app.desktop.graph_view.look import rgb

_PANELS = ("graphToolbar", "graphLegend", "graphLocalBar", "graphNeighbours", "graphSheet", "graphMinimap")


def style(view: QWidget, theme: Theme) -> None:
    """Give the overlays of `view` their surface; all else is the window's style sheet."""
    red, green, blue = rgb(theme.raised)
    surface = f"background: rgba({red}, {green}, {blue}, 232); border: 1px solid {theme.border};"
    panels = ", ".join(f"QFrame#{name}" for name in _PANELS)
    view.setStyleSheet(
        f"""
        {panels} {{ {surface} border-radius: 8px; }}
        QFrame#graphSheet {{ background: rgba({red}, {green}, {blue}, 246); }}
        QScrollArea#graphSheetArea, QWidget#graphSheetPage {{ background: transparent; border: none; }}
        QToolButton#graphSectionHead {{
            font-weight: 600; text-align: left; padding: 5px 4px; border: 1px solid transparent;
            border-radius: 4px; color: {theme.text};
        }}
        QToolButton#graphSectionHead:checked {{ background: transparent; }}
        QToolButton#graphSectionHead:hover {{ background: {theme.hover}; }}
        QToolButton#graphSectionHead:focus, QToolButton#graphArrangement:focus {{
            border-color: {theme.accent};
        }}
        QToolButton#graphArrangement {{
            text-align: left; padding: 4px 6px; border: 1px solid {theme.border}; border-radius: 6px;
            color: {theme.text};
        }}
        QToolButton#graphArrangement:hover {{ background: {theme.hover}; }}
        QToolButton#graphArrangement:checked {{
            background: {theme.accent_soft}; border-color: {theme.accent};
        }}
        QToolButton#graphArrangement:disabled {{ color: {theme.faint}; }}
        QListView#graphNeighbourList, QListView#graphFindings {{ background: transparent; border: none; }}
        QLabel#graphNote {{
            background: {theme.text}; color: {theme.window}; border-radius: 8px; padding: 7px 14px;
        }}
        QFrame#graphNeighbours QLabel {{ border: none; background: transparent; }}
        QLineEdit#graphFind {{ {surface} color: {theme.text}; border-radius: 8px; padding: 6px 8px; }}
        QLineEdit#graphFind:focus {{ border: 1px solid {theme.accent}; }}
        QFrame#graphLegend QToolButton {{
            border: 1px solid transparent; border-radius: 4px; padding: 2px 6px; color: {theme.muted};
            text-align: left;
        }}
        QFrame#graphLegend QToolButton:hover {{ background: {theme.hover}; color: {theme.text}; }}
        QFrame#graphLegend QToolButton:focus {{ border-color: {theme.accent}; }}
        QFrame#graphLegend QLabel, QFrame#graphLocalBar QLabel {{ border: none; background: transparent; }}
        """
    )

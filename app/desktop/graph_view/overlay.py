"""The look of what floats over the canvas: panels that let a little of the graph through."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.desktop.colors import Theme
from app.desktop.graph_view.look import rgb


def style(view: QWidget, theme: Theme) -> None:
    """Give the overlays of `view` their surface; all else is the window's style sheet."""
    red, green, blue = rgb(theme.raised)
    surface = f"background: rgba({red}, {green}, {blue}, 225); border: 1px solid {theme.border};"
    view.setStyleSheet(
        f"""
        QFrame#graphToolbar, QFrame#graphLegend, QFrame#graphLocalBar, QFrame#graphNeighbours {{
            {surface} border-radius: 8px;
        }}
        QListView#graphNeighbourList {{ background: transparent; border: none; }}
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

"""Style sheet rules for the widgets over the graph."""

from __future__ import annotations

from app.desktop.theme.colors import Theme

_PANELS = ("graphToolbar", "graphLegend", "graphLocalBar", "graphNeighbors", "graphSheet", "graphMinimap")


def graph_overlay_style(t: Theme) -> str:
    """Return the rules in the colors of theme `t`; `4u` means 4 pixels times the zoom."""
    red, green, blue = (int(t.raised[start : start + 2], 16) for start in (1, 3, 5))
    surface = f"background: rgba({red}, {green}, {blue}, 232); border: 1u solid {t.border};"
    panels = ", ".join(f"QFrame#{name}" for name in _PANELS)
    return f"""
{panels} {{ {surface} border-radius: 8u; }}
QFrame#graphSheet {{ background: rgba({red}, {green}, {blue}, 246); }}
QScrollArea#graphSheetArea, QWidget#graphSheetPage {{ background: transparent; border: none; }}
QToolButton#graphSectionHead {{ font-weight: 600; text-align: left; padding: 5u 4u;
  border: 1u solid transparent; border-radius: 4u; color: {t.text}; }}
QToolButton#graphSectionHead:checked {{ background: transparent; }}
QToolButton#graphSectionHead:hover {{ background: {t.hover}; }}
QToolButton#graphSectionHead:focus, QToolButton#graphArrangement:focus {{ border-color: {t.accent}; }}
QToolButton#graphArrangement {{ text-align: left; padding: 4u 6u; border: 1u solid {t.border};
  border-radius: 6u; color: {t.text}; }}
QToolButton#graphArrangement:hover {{ background: {t.hover}; }}
QToolButton#graphArrangement:checked {{ background: {t.accent_soft}; border-color: {t.accent}; }}
QToolButton#graphArrangement:disabled {{ color: {t.faint}; }}
QListView#graphNeighborList, QListView#graphFindings {{ background: transparent; border: none; }}
QLabel#graphNote {{ background: {t.text}; color: {t.window}; border-radius: 8u; padding: 7u 14u; }}
QFrame#graphNeighbors QLabel {{ border: none; background: transparent; }}
QLineEdit#graphFind {{ {surface} color: {t.text}; border-radius: 8u; padding: 6u 8u; }}
QLineEdit#graphFind:focus {{ border: 1u solid {t.accent}; }}
QFrame#graphLegend QToolButton {{ border: 1u solid transparent; border-radius: 4u; padding: 2u 6u;
  color: {t.muted}; text-align: left; }}
QFrame#graphLegend QToolButton:hover {{ background: {t.hover}; color: {t.text}; }}
QFrame#graphLegend QToolButton:focus {{ border-color: {t.accent}; }}
QFrame#graphLegend QLabel, QFrame#graphLocalBar QLabel {{ border: none; background: transparent; }}
"""

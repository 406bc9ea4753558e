"""Find clipped parts of a window: text without room, and widgets cut off by their parents."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QComboBox, QLabel, QToolButton, QWidget

from app.desktop.widgets.panel import ElidedButton, ElidedLabel, WrappedButton

# Styles round the sizes of what they draw.
_TOLERANCE_PX = 1


def clipped(root: QWidget) -> list[str]:
    """Return a line for each visible widget in `root` that is cut off or has no room for its text."""
    problems = []
    for widget in root.findChildren(QWidget):
        if widget.isVisible() and (why := _describe_cut_off(widget) or _describe_missing_room(widget)):
            problems.append(f"{_name(widget)}: {why}")
    return problems


def _describe_cut_off(widget: QWidget) -> str:
    parent = widget.parentWidget()
    if parent is None or widget.isWindow() or isinstance(parent.parentWidget(), QAbstractScrollArea):
        return ""
    if isinstance(parent, QAbstractScrollArea | QComboBox):
        return ""
    over = max(-widget.x(), widget.geometry().right() - parent.rect().right())
    return f"{over} pixels are outside {_name(parent)}" if over > _TOLERANCE_PX and widget.width() > 0 else ""


def _describe_missing_room(widget: QWidget) -> str:
    if isinstance(widget, ElidedLabel | ElidedButton):
        return ""
    if isinstance(widget, WrappedButton) or (isinstance(widget, QLabel) and widget.wordWrap()):
        lacks = widget.heightForWidth(widget.width()) - widget.height()
        return f"{lacks} pixels of height are missing" if widget.text() and lacks > _TOLERANCE_PX else ""
    has_text = isinstance(widget, QLabel | QAbstractButton | QComboBox)
    is_small = isinstance(widget, QToolButton) and not widget.text()
    if not has_text or is_small:
        return ""
    lacks = widget.minimumSizeHint().width() - widget.width()
    return f"{lacks} pixels of width are missing" if lacks > _TOLERANCE_PX else ""


def _name(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QLabel | QAbstractButton) else widget.accessibleName()
    return f"{type(widget).__name__} {text[:40]!r}" if text else f"{type(widget).__name__}"

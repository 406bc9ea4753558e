"""Plain-text labels, and a scroll area that limits the height of its content."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QWidget

_HEADING_SCALE = 1.3
_MAX_HEIGHT = 108


def plain_label(text: str, tone: str = "", parent: QWidget | None = None) -> QLabel:
    """Return a label that shows `text` verbatim, never as rich text."""
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if tone:
        label.setProperty("tone", tone)
    return label


def wrapped_label(text: str = "", tone: str = "", parent: QWidget | None = None) -> QLabel:
    """Return a label that shows `text` verbatim and wraps it; the text can't be selected."""
    label = QLabel(text, parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    if tone:
        label.setProperty("tone", tone)
    return label


def show_text(label: QLabel, text: str, tone: str = "muted") -> None:
    """Show `text` in a tone; hide the label if the text is empty."""
    label.setProperty("tone", tone)
    label.style().polish(label)
    label.setText(text)
    label.setVisible(bool(text))


def heading_label(text: str, factor: float = _HEADING_SCALE, parent: QWidget | None = None) -> QLabel:
    """Return a plain label in the heading font, `factor` times the size of the interface font."""
    label = plain_label(text, parent=parent)
    label.setWordWrap(True)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * factor)
    font.setWeight(QFont.Weight.DemiBold)
    label.setFont(font)
    return label


class CappedArea(QScrollArea):
    """A scroll area as tall as its content, up to `max_height` pixels."""

    def __init__(
        self, content: QWidget, max_height: int = _MAX_HEIGHT, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._max_height = max_height
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setProperty("clear", True)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)
        content.installEventFilter(self)
        self._fit_height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Adjust the height when the content changes."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fit_height()
        return super().eventFilter(watched, event)

    def _fit_height(self) -> None:
        content = self.widget()
        if content is not None:
            width = self.viewport().width()
            height_for_width = content.heightForWidth(width) if content.hasHeightForWidth() else -1
            height = min(self._max_height, max(height_for_width, 0) or content.sizeHint().height())
            if self.height() != height or self.minimumHeight() != height:
                self.setFixedHeight(height)

"""A label for Markdown, as tall as its text, with clickable links."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QTextBrowser, QWidget

from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.url_parts import split_address
from app.vault.markdown.render import render
from app.vault.markdown.render_values import NoteTarget, RenderColors


class MarkdownLabel(QTextBrowser):
    """Shows Markdown, such as an agent's message; `link_clicked` carries a wikilink's target and fragment.

    `tag_clicked` carries a tag. Nothing is loaded from the network: images are omitted, and web links are not
    opened.
    """

    link_clicked = Signal(str, str)
    tag_clicked = Signal(str)

    def __init__(self, theme: ThemeSource, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = text
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Tables and code can be wider than the panel.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setProperty("clear", True)
        self.document().setDocumentMargin(0)
        self.anchorClicked.connect(self._follow)
        theme.changed.connect(self._draw)
        if text:
            self._draw()
        else:
            self.setFixedHeight(1)

    def set_text(self, text: str) -> None:
        """Replace the Markdown."""
        if text != self._text:
            self._text = text
            self._draw()

    def text(self) -> str:
        """Return the displayed Markdown."""
        return self._text

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Match the height to the text at the new width."""
        super().resizeEvent(event)
        self._fit_height()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Ignore the wheel, so that the parent scrolls; this label is as tall as its text."""
        event.ignore()

    def sizeHint(self) -> QSize:
        """Return a nominal width and the height of the text."""
        return QSize(200, self.height())

    def _draw(self) -> None:
        self.setHtml(render(self._text, _resolve_as_note, RenderColors.of(self._theme.theme)))
        self._fit_height()

    def _fit_height(self) -> None:
        width = max(40, self.viewport().width())
        self.document().setTextWidth(width)
        size = self.document().size()
        bar_height = self.horizontalScrollBar().sizeHint().height() if size.width() > width else 0
        self.setFixedHeight(max(1, round(size.height()) + bar_height))

    def _follow(self, url: QUrl) -> None:
        scheme, path, fragment = split_address(url)
        if scheme == "tag":
            self.tag_clicked.emit(path)
        elif scheme in ("note", "unresolved"):
            self.link_clicked.emit(path, fragment)


def _resolve_as_note(target: str) -> NoteTarget | None:
    """Treat every wikilink as resolved; its target is looked up when it is opened."""
    return NoteTarget(target)

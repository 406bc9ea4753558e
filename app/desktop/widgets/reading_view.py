"""The reading view: rendered Markdown with clickable links; nothing is loaded from the network."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QTextBrowser, QTextEdit, QWidget

from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.page_images import fit_image, with_image_sizes
from app.desktop.widgets.url_parts import split_address
from app.vault.markdown.render_page import MONOSPACE

_TEXT_WIDTH = 760
_TOP_MARGIN = 16
_RESIZE_DELAY_MS = 120
# Qt keeps an image size that the page sets, even if the view is narrower.
_DRAWING_SIZE = re.compile(r'(<img src="drawing:[^"]*") width="\d+" height="\d+"')


@dataclass(frozen=True)
class Rendered:
    """A note's HTML and its images, by address (`vault:` or `drawing:`)."""

    html: str
    images: dict[str, QImage]


class ReadingView(QTextBrowser):
    """Shows rendered notes.

    Signals:
        note_clicked: The path of a note, and a fragment.
        unresolved_clicked: The name of a note that does not exist.
        tag_clicked: A tag.
        web_clicked: A web or email address.
        hovered: The path of the note whose link is under the pointer (empty for none), and the pointer's
            position.
        task_clicked: The number of a task among those with the same text, and the text.
        fold_clicked: The name of a callout.
    """

    note_clicked = Signal(str, str)
    unresolved_clicked = Signal(str)
    tag_clicked = Signal(str)
    web_clicked = Signal(str)
    hovered = Signal(str, QPoint)
    task_clicked = Signal(int, str)
    fold_clicked = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._address: str | None = None
        self._images: dict[str, QImage] = {}
        self._loaded_urls: set[QUrl] = set()
        self._resize_timer = QTimer(self)
        self._resize_timer.setSingleShot(True)
        self._resize_timer.setInterval(_RESIZE_DELAY_MS)
        self._resize_timer.timeout.connect(self._fit_images)
        self._pointer = QPoint()
        self._header: QWidget | None = None
        self._text_width = _TEXT_WIDTH
        self._text_zoom = theme.zoom
        self._code_style = ""
        self.verticalScrollBar().valueChanged.connect(self._place_header)
        self.setAccessibleName(self.tr("Note"))
        self.setOpenLinks(False)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setMouseTracking(True)
        self.anchorClicked.connect(self._follow)
        self.highlighted.connect(self._hover)
        theme.changed.connect(self._apply_theme)
        self._apply_theme(theme.theme)

    def show_rendered(self, rendered: Rendered, address: str) -> None:
        """Show the document at `address`; keep the scroll position if it is already shown."""
        scroll_value = self.verticalScrollBar().value() if address == self._address else 0
        self._address = address
        self._images = rendered.images
        self._loaded_urls = set()
        html = _DRAWING_SIZE.sub(r"\1", rendered.html)
        if self._code_style:
            html = html.replace(f"font-family:{MONOSPACE};", self._code_style)
        self.setHtml(with_image_sizes(html))
        self._place_header()
        self.verticalScrollBar().setValue(scroll_value)

    def set_text_style(self, text: QFont, code: QFont, width: int, zoom: float) -> None:
        """Set the look of the text; the code font takes effect with the next note.

        Args:
            text: The text font.
            code: The code font.
            width: The text width in pixels at 100% zoom; 0 for the view's width.
            zoom: The text size relative to its default; images grow with it.
        """
        self.setFont(text)
        self._text_zoom = zoom
        families = ",".join(f"'{family}'" for family in code.families() if "'" not in family)
        self._code_style = f"font-family:{families},{MONOSPACE};font-size:{code.pointSizeF():g}pt;"
        self._text_width = width
        self._place_text()

    def set_header(self, header: QWidget) -> None:
        """Show a widget above the text that scrolls with it."""
        if header is not self._header:
            header.installEventFilter(self)
        self._header = header
        if header.parentWidget() is not self:
            header.setParent(self)
            header.show()
        self._place_header()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the height of the header."""
        if watched is self._header and event.type() == QEvent.Type.LayoutRequest:
            self._place_header()
        return super().eventFilter(watched, event)

    def _place_header(self) -> None:
        """Position the header and the text below it, unless another view has the header."""
        header, bar = self._header, self.verticalScrollBar()
        height = 0
        if header is not None and header.parentWidget() is self:
            width = self.width() - (bar.width() if bar.isVisible() else 0)
            height = max(header.sizeHint().height(), header.heightForWidth(width))
            header.setGeometry(0, -bar.value(), width, height)
        frame = self.document().rootFrame()
        frame_format = frame.frameFormat()
        top = self.document().documentMargin() + max(0, height - _TOP_MARGIN)
        if frame_format.topMargin() != top:
            frame_format.setTopMargin(top)
            frame.setFrameFormat(frame_format)

    def go_to(self, fragment: str) -> None:
        """Scroll a heading or `^block` to the top."""
        self.scrollToAnchor(fragment)

    def mark(self, span: tuple[int, int] | None) -> None:
        """Highlight a range of the page, in UTF-16 units, and scroll to it; None removes the highlight."""
        if span is None:
            self.setExtraSelections([])
            return
        selection = QTextEdit.ExtraSelection()
        cursor = QTextCursor(self.document())
        cursor.setPosition(span[0])
        cursor.setPosition(span[1], QTextCursor.MoveMode.KeepAnchor)
        selection.cursor = cursor
        selection.format.setBackground(QColor(self._theme.theme.mark_bg))
        self.setExtraSelections([selection])
        start = QTextCursor(cursor)
        start.setPosition(span[0])
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect(start).top() - self.viewport().height() // 3)

    def loadResource(self, kind: int, url: QUrl | str) -> Any:  # noqa: ANN401 (Qt's own signature)
        """Return an image that was loaded with the note; never load anything else."""
        if int(kind) != QTextDocument.ResourceType.ImageResource.value:
            return None
        url = QUrl(url)
        image = self._image(url)
        if image is None:
            return QImage()
        self._loaded_urls.add(url)
        return image

    def _image(self, url: QUrl) -> QImage | None:
        """Return an image scaled to its size on the page; None if it was not loaded with the note."""
        scheme, path, options = split_address(url)
        image = self._images.get(f"{scheme}:{path}")
        if image is None:
            return None
        if scheme == "drawing":
            return self._scale_to_text(image)
        return fit_image(image, options, self._available_width(), self._text_zoom, self.devicePixelRatioF())

    def _available_width(self) -> int:
        """Return the width of the text in pixels."""
        return int(self.viewport().width() - 2 * self.document().documentMargin())

    def _scale_to_text(self, image: QImage) -> QImage:
        """Return a drawing scaled down to the text width; Qt itself scales without smoothing."""
        ratio = self.devicePixelRatioF()
        if (image_ratio := image.devicePixelRatio()) > ratio:
            width = max(1, round(image.width() * ratio / image_ratio))
            image = image.scaledToWidth(width, Qt.TransformationMode.SmoothTransformation)
            image.setDevicePixelRatio(ratio)
        available_width = round(self._available_width() * ratio)
        if 0 < available_width < image.width():
            image = image.scaledToWidth(available_width, Qt.TransformationMode.SmoothTransformation)
            image.setDevicePixelRatio(ratio)
        return image

    def _fit_images(self) -> None:
        """Scale the images for the current width."""
        document = self.document()
        for url in self._loaded_urls:
            document.addResource(QTextDocument.ResourceType.ImageResource.value, url, self._image(url))
        document.markContentsDirty(0, document.characterCount())

    def resizeEvent(self, event: object) -> None:
        """Keep the text in a column of readable width."""
        self._place_text()
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._place_header()
        if self._loaded_urls:
            self._resize_timer.start()

    def _place_text(self) -> None:
        width = round(self._text_width * self._theme.zoom) or self.width()
        margin = max(24, (self.width() - width) // 2)
        self.setViewportMargins(margin, _TOP_MARGIN, margin, _TOP_MARGIN)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll to the start or end with the keys that move the cursor there in the editor."""
        bar = self.verticalScrollBar()
        if event.matches(QKeySequence.StandardKey.MoveToStartOfDocument):
            bar.setValue(bar.minimum())
        elif event.matches(QKeySequence.StandardKey.MoveToEndOfDocument):
            bar.setValue(bar.maximum())
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Store the pointer's position, for previews."""
        self._pointer = event.globalPosition().toPoint()
        super().mouseMoveEvent(event)

    def _follow(self, url: QUrl) -> None:
        scheme, path, fragment = split_address(url)
        if scheme == "note":
            self.note_clicked.emit(path, fragment)
        elif scheme == "unresolved":
            self.unresolved_clicked.emit(path)
        elif scheme == "tag":
            self.tag_clicked.emit(path)
        elif scheme == "task":
            self.task_clicked.emit(int(path), fragment)
        elif scheme == "fold":
            self.fold_clicked.emit(path)
        elif scheme in ("http", "https", "mailto"):
            self.web_clicked.emit(url.toString())
        elif fragment:
            self.go_to(fragment)

    def _hover(self, url: QUrl) -> None:
        scheme, path, _ = split_address(url)
        self.hovered.emit(path if scheme == "note" else "", self._pointer)

    def _apply_theme(self, theme: Theme) -> None:
        palette = self.palette()
        palette.setColor(palette.ColorRole.Base, QColor(theme.panel))
        self.setPalette(palette)

"""Colours for Markdown source: headings, links, tags, code, properties. Line by line, as Qt wants it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import SIGNAL, SLOT, QElapsedTimer, QObject, QTimer
from PySide6.QtGui import QColor, QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.desktop.theme import Theme
from app.desktop.utf16 import place_in_units, units

_TEXT, _PROPERTIES, _CODE, _COMMENT = 0, 1, 2, 3
_LONGEST_LINE = 20_000
_AT_ONCE = 100
_SLICE_MS = 4
# How Qt tells a highlighter of changes: the one way to set it aside for a while.
_CHANGES = SIGNAL("contentsChange(int,int,int)")
_REFORMAT = SLOT("_q_reformatBlocks(int,int,int)")
_HEADING = re.compile(r"^(#{1,6})\s+\S.*$")
_FENCE = re.compile(r"^\s{0,3}(```+|~~~+)")
_PROPERTY = re.compile(r"^(\s*-?\s*)([\w .\-/]+)(:)")
_QUOTE = re.compile(r"^\s{0,3}>+")
_LIST = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s(?:\[[ xX]\]\s)?")
_SPANS = (
    ("code", re.compile(r"(`+)(?!`)[^`]*?\1(?!`)")),
    ("link", re.compile(r"!?\[\[[^\[\]\n]+\]\]")),
    ("link", re.compile(r"!?\[[^\[\]\n]*\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)")),
    ("tag", re.compile(r"(?<![\w#/&])#[\w\-/]*[^\W\d][\w\-/]*")),
    ("bold", re.compile(r"(\*\*|__)(?=\S)(?:(?!\1).)+?(?<=\S)\1")),
    ("italic", re.compile(r"(?<![*\w])\*(?=[^\s*])[^*\n]+?(?<=[^\s*])\*(?!\*)")),
    ("mark", re.compile(r"==(?=\S)[^=\n]+==")),
    ("field", re.compile(r"(?:^|(?<=[\[(]))[\w][\w \-]*::")),
    ("faint", re.compile(r"%%.*?%%|<!--.*?-->|\s\^[A-Za-z0-9-]+$")),
)


class MarkdownHighlighter(QSyntaxHighlighter):
    """Highlights a source view in the colours of a theme.

    The first lines of a note are coloured at once, the rest of a long one in slices between events, so
    that a large note never holds the window up. Qt counts colours as a change of the text: `colouring` is
    true while that is the only change.
    """

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self.colouring = False
        self._formats: dict[str, QTextCharFormat] = {}
        self._line = ""
        self._coloured = _AT_ONCE
        self._slices = QTimer(self)
        self._slices.setInterval(0)
        self._slices.timeout.connect(self._go_on)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Use the colours of `theme`."""
        self._formats = {
            "heading": _format(theme.text, bold=True),
            "mark#": _format(theme.faint),
            "code": _format(theme.text, background=theme.code_bg),
            "link": _format(theme.link),
            "tag": _format(theme.tag),
            "bold": _format(theme.text, bold=True),
            "italic": _format(theme.text, italic=True),
            "mark": _format(theme.text, background=theme.mark_bg),
            "field": _format(theme.muted, bold=True),
            "faint": _format(theme.faint),
            "key": _format(theme.muted, bold=True),
            "muted": _format(theme.muted),
        }
        self._coloured = 0
        self._slices.start()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """The document gets another text meanwhile: its beginning is coloured then, the rest in slices.

        Qt would ask for the colours of each line at once; to be told that there is no hurry takes longer
        than the text itself.
        """
        document = self.document()
        QObject.disconnect(document, _CHANGES, self, _REFORMAT)
        try:
            yield
        finally:
            QObject.connect(document, _CHANGES, self, _REFORMAT)
            self._coloured = 0
            self._slices.start()
            self._colour(_AT_ONCE)

    def _go_on(self) -> None:
        """Colour lines that have none yet for a few milliseconds."""
        self._colour(None)

    def _colour(self, most: int | None) -> None:
        """Colour the next lines: at most so many, else as many as a slice of time allows."""
        clock = QElapsedTimer()
        clock.start()
        first = self._coloured
        block = self.document().findBlockByNumber(first)
        self.colouring = True
        while block.isValid() and clock.elapsed() < _SLICE_MS and self._coloured - first != most:
            self._coloured += 1
            self.rehighlightBlock(block)
            block = block.next()
        self.colouring = False
        if not block.isValid():
            self._slices.stop()

    def highlightBlock(self, text: str) -> None:
        """Colour one line; the block's state says what it stands in."""
        if self._slices.isActive() and self.currentBlock().blockNumber() >= self._coloured:
            return
        self._line = text
        before = self.previousBlockState()
        first = self.currentBlock().blockNumber() == 0
        if len(text) > _LONGEST_LINE:
            self.setCurrentBlockState(max(before, _TEXT))
        elif first and text.lstrip("\ufeff").rstrip() == "---":
            self._all(text, "faint", _PROPERTIES)
        elif before == _PROPERTIES:
            self._property(text)
        elif _FENCE.match(text):
            self._all(text, "code", _TEXT if before == _CODE else _CODE)
        elif before == _CODE:
            self._all(text, "code", _CODE)
        elif before == _COMMENT or text.strip() == "%%":
            closes = before == _COMMENT and "%%" in text
            self._all(text, "faint", _TEXT if closes else _COMMENT)
        else:
            self._prose(text)

    def _paint(self, start: int, end: int, form: QTextCharFormat) -> None:
        """Give the characters from `start` to `end` of the line a format; Qt counts otherwise than Python."""
        at = place_in_units(self._line, start)
        self.setFormat(at, units(self._line[start:end]), form)

    def _all(self, text: str, name: str, state: int) -> None:
        self._paint(0, len(text), self._formats[name])
        self.setCurrentBlockState(state)

    def _property(self, text: str) -> None:
        if text.rstrip() in ("---", "..."):
            self._all(text, "faint", _TEXT)
            return
        self.setCurrentBlockState(_PROPERTIES)
        self._paint(0, len(text), self._formats["muted"])
        if match := _PROPERTY.match(text):
            self._paint(match.start(2), match.end(2), self._formats["key"])
        self._spans(text, ("link", "tag"))

    def _prose(self, text: str) -> None:
        self.setCurrentBlockState(_TEXT)
        if match := _HEADING.match(text):
            self._paint(0, len(text), self._formats["heading"])
            self._paint(0, len(match[1]), self._formats["mark#"])
        for pattern in (_QUOTE, _LIST):
            if match := pattern.match(text):
                self._paint(0, match.end(), self._formats["faint"])
        self._spans(text, ())

    def _spans(self, text: str, only: tuple[str, ...]) -> None:
        taken = bytearray(len(text))
        for name, pattern in _SPANS:
            if only and name not in only:
                continue
            for match in pattern.finditer(text):
                start, end = match.span()
                if not any(taken[start:end]):
                    self._paint(start, end, self._formats[name])
                    if name in ("code", "link"):
                        taken[start:end] = b"\1" * (end - start)


def _format(color: str, *, background: str = "", bold: bool = False, italic: bool = False) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(QColor(color))
    if background:
        made.setBackground(QColor(background))
    if bold:
        made.setFontWeight(QFont.Weight.DemiBold)
    made.setFontItalic(italic)
    return made

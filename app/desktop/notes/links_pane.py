"""The links of a note: backlinks, outgoing links, related notes and unlinked mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.desktop.notes.loader import NoteContext
from app.desktop.runtime.time_sliced_queue import TimeSlicedQueue
from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.plain_labels import wrapped_label
from app.index.records import LinkRecord, Mention
from app.toolkit.related import RelatednessReason, RelatedNote
from app.vault.markdown.relations import relation_phrase
from app.vault.note import LINKS_TO

_MAX_ROWS = 200
_FIRST_ROWS = 8
_MAX_CONTEXT_CHARS = 240


class LinksPane(QScrollArea):
    """Lists links in sections.

    The first rows of each section are added immediately, the others in slices between the window's events.

    Signals:
        open_requested: The path of a note, and a fragment.
        create_requested: The name of a note to create.
        link_requested: A `Mention` to turn into a link.
    """

    open_requested = Signal(str, str)
    create_requested = Signal(str)
    link_requested = Signal(object)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Links to and from this note"))
        self._mentions: tuple[Mention, ...] = ()
        self._related: tuple[RelatedNote, ...] = ()
        self._mentions_section = QWidget()
        self._related_section = QWidget()
        self._queues = {
            section: TimeSlicedQueue(lambda add: add(), self)  # type: ignore[operator]
            for section in ("incoming", "outgoing", "related", "mentions")
        }
        self._scroll_position = 0

    @property
    def is_complete(self) -> bool:
        """True if the pane has added all rows."""
        return all(queue.is_empty for queue in self._queues.values())

    def show_links(self, context: NoteContext) -> None:
        """Show the links of a note, keeping the other sections until their data arrive."""
        incoming, outgoing = _unique_sources(context.backlinks), _unique_targets(context.outgoing)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(24, 8, 24, 16)
        column.setSpacing(4)
        _add_heading(column, self.tr("Linked from"), len(incoming), self.tr("No links to this note yet."))
        position = self.verticalScrollBar().value() if self.is_complete else self._scroll_position
        self._fill("incoming", column, (partial(self._incoming_row, link) for link in incoming))
        _add_omitted_count(column, len(incoming))
        _add_heading(column, self.tr("Links to"), len(outgoing), self.tr("No links in this note yet."))
        self._fill("outgoing", column, (partial(self._outgoing_row, link) for link in outgoing))
        _add_omitted_count(column, len(outgoing))
        self._related_section, self._mentions_section = QWidget(), QWidget()
        column.addWidget(self._related_section)
        column.addWidget(self._mentions_section)
        column.addStretch(1)
        self._scroll_position = position
        self.setWidget(page)
        self.show_related(self._related)
        self.show_mentions(self._mentions)
        self.verticalScrollBar().setValue(position)

    def show_related(self, related: tuple[RelatedNote, ...]) -> None:
        """Show the related notes, with the reasons for each."""
        self._related = related
        section = QWidget()
        column = QVBoxLayout(section)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        _add_heading(column, self.tr("Related"), len(related), "")
        self._fill("related", column, (partial(self._related_row, note) for note in related))
        self._related_section = self._replace_section(self._related_section, section)

    def show_mentions(self, mentions: tuple[Mention, ...]) -> None:
        """Show unlinked mentions of the note."""
        self._mentions = mentions
        section = QWidget()
        column = QVBoxLayout(section)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        _add_heading(column, self.tr("Unlinked mentions"), len(mentions), "")
        self._fill("mentions", column, (partial(self._mention_row, mention) for mention in mentions))
        _add_omitted_count(column, len(mentions))
        self._mentions_section = self._replace_section(self._mentions_section, section)

    def forget(self) -> None:
        """Drop the related notes and mentions before another note is shown."""
        self._mentions, self._related = (), ()

    def _fill(self, section: str, column: QVBoxLayout, factories: Iterable[Callable[[], QWidget]]) -> None:
        """Add a list of rows to `column`: the first ones now, the rest in slices, up to `_MAX_ROWS`."""
        part = QWidget()
        rows = QVBoxLayout(part)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(column.spacing())
        column.addWidget(part)
        remaining = islice(factories, _MAX_ROWS)
        for create_row in islice(remaining, _FIRST_ROWS):
            rows.addWidget(create_row())
        self._queues[section].clear()
        self._queues[section].add_later(partial(self._add, rows, create_row) for create_row in remaining)

    def _add(self, rows: QVBoxLayout, create_row: Callable[[], QWidget]) -> None:
        """Add a row, restoring the scroll position."""
        rows.addWidget(create_row())
        if self._scroll_position and (page := self.widget()) is not None:
            page.adjustSize()
            self.verticalScrollBar().setValue(self._scroll_position)

    def _replace_section(self, previous: QWidget, section: QWidget) -> QWidget:
        """Replace a section, and return the one that is now shown."""
        page = self.widget()
        if page is None or (layout := page.layout()) is None:
            return previous
        layout.replaceWidget(previous, section)
        previous.hide()
        previous.deleteLater()
        return section

    def _related_row(self, related: RelatedNote) -> QWidget:
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 2, 0, 4)
        column.setSpacing(0)
        header = QHBoxLayout()
        header.setSpacing(6)
        path = related.path.text
        reasons = " · ".join(self._reason_label(reason) for reason in related.reasons)
        button = QPushButton(related.path.name.replace("&", "&&"))
        button.setProperty("role", "link")
        button.setMinimumWidth(1)
        button.setToolTip(path)
        button.setAccessibleDescription(reasons)
        button.clicked.connect(lambda: self.open_requested.emit(path, ""))
        score_label = QLabel(f"{related.score:.0%}")
        score_label.setProperty("tone", "faint")
        score_label.setToolTip(self.tr("Overall relatedness"))
        header.addWidget(button)
        header.addStretch(1)
        header.addWidget(score_label)
        column.addLayout(header)
        column.addWidget(_context_label(reasons))
        return row

    def _reason_label(self, reason: RelatednessReason) -> str:
        if reason.kind == "SHARED_TAG":
            return self.tr("shares #{0}").format(reason.tag)
        if reason.kind == "SEMANTICALLY_RELATED":
            return self.tr("similar in meaning ({0})").format(f"{reason.score:.2f}")
        return self.tr("links here") if reason.kind == "BACKLINK_FROM" else self.tr("linked from here")

    def _incoming_row(self, link: LinkRecord) -> QWidget:
        path = link.source.text
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 2, 0, 4)
        column.setSpacing(0)
        header = QHBoxLayout()
        header.setSpacing(6)
        button = QPushButton(link.source.name.replace("&", "&&"))
        button.setProperty("role", "link")
        button.setMinimumWidth(1)
        button.setToolTip(path)
        button.clicked.connect(lambda: self.open_requested.emit(path, f"line={link.line}"))
        header.addWidget(button)
        if link.type != LINKS_TO:
            header.addWidget(self._badge(link))
        header.addStretch(1)
        column.addLayout(header)
        column.addWidget(_context_label(link.context))
        return row

    def _outgoing_row(self, link: LinkRecord) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        theme: Theme = self._theme.theme
        if link.target is not None:
            path = link.target.text
            button = QPushButton(link.target.name.replace("&", "&&"))
            button.setToolTip(path)
            button.clicked.connect(lambda: self.open_requested.emit(path, ""))
        else:
            button = QPushButton(link.target_text.replace("&", "&&"))
            button.setIcon(icon(theme, "circle-dashed", theme.unresolved))
            button.setToolTip(self.tr("This note does not exist. Click to create it."))
            button.clicked.connect(lambda: self.create_requested.emit(link.target_text))
        button.setProperty("role", "link")
        button.setMinimumWidth(1)
        layout.addWidget(button)
        if link.type != LINKS_TO:
            layout.addWidget(self._badge(link))
        if link.ambiguous:
            ambiguous_label = QLabel(self.tr("ambiguous"))
            ambiguous_label.setProperty("tone", "warning")
            layout.addWidget(ambiguous_label)
        layout.addStretch(1)
        return row

    def _mention_row(self, mention: Mention) -> QWidget:
        row = QWidget()
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 2, 0, 4)
        column.setSpacing(0)
        header = QHBoxLayout()
        name_button = QPushButton(mention.source.name.replace("&", "&&"))
        name_button.setProperty("role", "link")
        name_button.setMinimumWidth(1)
        name_button.setToolTip(mention.source.text)
        name_button.clicked.connect(
            lambda: self.open_requested.emit(mention.source.text, f"line={mention.line}")
        )
        link_button = QPushButton(self.tr("Link"))
        link_button.setProperty("role", "quiet")
        text = self.tr("Link in {0}, line {1}").format(mention.source.name, mention.line)
        link_button.setAccessibleName(text)
        link_button.clicked.connect(lambda: self.link_requested.emit(mention))
        header.addWidget(name_button)
        header.addStretch(1)
        header.addWidget(link_button)
        column.addLayout(header)
        column.addWidget(_context_label(mention.text))
        return row

    def _badge(self, link: LinkRecord) -> QLabel:
        theme: Theme = self._theme.theme
        color = theme.edge_colors.get(link.type, theme.muted)
        confidence = "" if link.confidence is None else f" {link.confidence:.0%}"
        badge = QLabel(relation_phrase(link.type) + confidence)
        badge.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        badge.setStyleSheet(
            f"color: {color}; border: 1px solid {color}; border-radius: 7px; padding: 0 6px; font-size: 8pt;"
        )
        return badge


def _add_heading(column: QVBoxLayout, title: str, count: int, empty: str) -> None:
    """Add a heading with its count, or with the text `empty` below it, or nothing if both are missing."""
    if not count and not empty:
        return
    heading = QLabel(f"{title} · {count}" if count else title)
    heading.setProperty("textSize", "strong")
    heading.setContentsMargins(0, 10, 0, 2)
    column.addWidget(heading)
    if not count:
        label = QLabel(empty)
        label.setProperty("tone", "faint")
        column.addWidget(label)


def _context_label(text: str) -> QLabel:
    label = wrapped_label(" ".join(text.split())[:_MAX_CONTEXT_CHARS], "muted")
    label.setContentsMargins(4, 0, 0, 0)
    # A long address has no break opportunity: it is clipped instead of widening the whole pane.
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    label.setSizePolicy(policy)
    return label


def _unique_targets(links: Iterable[LinkRecord]) -> list[LinkRecord]:
    """Return the first link of each type to each target; links without a target are omitted."""
    seen: dict[tuple[str, str], LinkRecord] = {}
    for link in links:
        target = link.target.text if link.target else link.target_text
        if target:
            seen.setdefault((target, link.type), link)
    return list(seen.values())


def _unique_sources(links: Iterable[LinkRecord]) -> list[LinkRecord]:
    """Return the first link of each type from each note."""
    seen: dict[tuple[str, str], LinkRecord] = {}
    for link in links:
        seen.setdefault((link.source.text, link.type), link)
    return list(seen.values())


def _add_omitted_count(column: QVBoxLayout, count: int) -> None:
    if count > _MAX_ROWS:
        label = QLabel(translate("LinksPane", "and {0} more").format(f"{count - _MAX_ROWS:,}"))
        label.setProperty("tone", "faint")
        column.addWidget(label)

"""The details of a suggestion: both notes, the relation, its reasons and the decision buttons."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.desktop.suggestions.queries import RelationDraft, SuggestedRelation
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.vault.markdown.relations import relation_phrase
from app.vault.note import KNOWN_RELATIONS
from app.vault.path import NotePath

_COMPACT_HEIGHT = 190


class _NoteCard(QWidget):
    """A note: its name, a button that opens it, its folder and a preview."""

    open_requested = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.path = ""
        self.name = ElidedLabel()
        self.name.setProperty("textSize", "strong")
        self.open_button = ThemedButton(theme, "arrow-square-out", self.tr("Open the note"), size=16)
        self.open_button.clicked.connect(lambda: self.open_requested.emit(self.path))
        self.folder = ElidedLabel(tone="faint")
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setProperty("plain", "true")
        self.text.setTabChangesFocus(True)
        header = QHBoxLayout()
        header.setSpacing(4)
        header.addWidget(self.name)
        header.addWidget(self.open_button)
        header.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(header)
        column.addWidget(self.folder)
        column.addWidget(self.text, 1)

    def show_note(self, path: str) -> None:
        """Show the note's name and folder; `show_text` adds the preview."""
        if path != self.path:
            self.text.clear()
        self.path = path
        note = NotePath.on_disk(path)
        self.name.setText(note.name)
        self.name.setToolTip(path)
        self.folder.setText(note.folder or self.tr("Vault root"))
        self.text.setAccessibleName(self.tr("Preview of {0}").format(note.name))

    def set_compact(self, compact: bool) -> None:
        """Hide the note's folder and preview if `compact`, else show them."""
        self.folder.setVisible(not compact)
        self.text.setVisible(not compact)

    def show_text(self, text: str) -> None:
        """Show `text` as the preview."""
        if text != self.text.toPlainText():
            self.text.setPlainText(text)


class SuggestionDetails(QWidget):
    """The details of one suggestion.

    The signal `accepted` carries a `RelationDraft`, `incomplete` the reason why the relation can't be added
    yet, `rejected` and `graph_requested` the `SuggestedRelation`, `open_requested` a path.
    """

    accepted = Signal(object)
    incomplete = Signal(str)
    rejected = Signal(object)
    graph_requested = Signal(object)
    open_requested = Signal(str)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self.suggestion: SuggestedRelation | None = None
        self.cards = _NoteCard(theme), _NoteCard(theme)
        for card in self.cards:
            card.open_requested.connect(self.open_requested)
        self.type = QComboBox()
        self.type.setEditable(True)
        self.type.addItems([relation_phrase(name) for name in KNOWN_RELATIONS])
        self.type.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.type.setToolTip(self.tr("Relation type; you can enter your own"))
        self.type.setAccessibleName(self.tr("Relation type"))
        self.type.setMinimumContentsLength(12)
        self.swap_button = ThemedButton(theme, "arrows-left-right", self.tr("Reverse direction"), size=16)
        self.swap_button.clicked.connect(self._swap_notes)
        self.confidence = QDoubleSpinBox()
        self.confidence.setRange(0.0, 1.0)
        self.confidence.setSingleStep(0.05)
        self.confidence.setToolTip(self.tr("Confidence in the relation, from 0 to 1; saved with it"))
        self.confidence.setAccessibleName(self.tr("Confidence in the relation"))
        self.reasoning_label = wrapped_label(tone="muted")
        self.accept_button = QPushButton(self.tr("Add the relation…"))
        self.accept_button.setProperty("role", "primary")
        self.accept_button.setToolTip(self.tr("Preview the change and approve it (Ctrl+Enter)"))
        self.accept_button.clicked.connect(self.accept_current)
        self.reject_button = QPushButton(self.tr("Dismiss"))
        self.reject_button.setToolTip(self.tr("Never suggest a relation between these notes again (Delete)"))
        self.reject_button.clicked.connect(lambda: self._emit_suggestion(self.rejected))
        self.graph_button = ThemedButton(
            theme, "share-network", self.tr("Select both notes in the graph (G)")
        )
        self.graph_button.clicked.connect(lambda: self._emit_suggestion(self.graph_requested))
        self._build()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the notes' folders and previews if the panel is too short for them."""
        super().resizeEvent(event)
        for card in self.cards:
            card.set_compact(self.height() < _COMPACT_HEIGHT * self._theme.zoom)

    def show_suggestion(self, suggestion: SuggestedRelation) -> None:
        """Show a suggestion; if it is already shown, keep the user's changes to it."""
        if self.suggestion is not None and self.suggestion == suggestion:
            return
        self.suggestion = suggestion
        self._show_notes(*suggestion.pair)
        self.type.setCurrentText(relation_phrase(suggestion.type))
        self.confidence.setValue(suggestion.score)
        reasoning = suggestion.reasoning[:1].upper() + suggestion.reasoning[1:]
        self.reasoning_label.setText(self.tr("Reason: {0}").format(reasoning))

    def show_texts(self, texts: dict[str, str]) -> None:
        """Show the previews of the notes; `texts` maps paths to them."""
        for card in self.cards:
            if card.path in texts:
                card.show_text(texts[card.path])

    def accept_current(self) -> None:
        """Emit the relation as edited by the user, or the reason why it is incomplete.

        Do nothing if there is no suggestion or a decision is being processed.
        """
        # The keyboard shortcut calls this method even while the button is disabled.
        if self.suggestion is None or not self.accept_button.isEnabled():
            return
        kind = self.type.currentText().strip()
        if not kind:
            self.incomplete.emit(self.tr("The relation has no type. Choose a type or enter your own."))
            self.type.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        source, target = (card.path for card in self.cards)
        self.accepted.emit(RelationDraft(source, target, kind, round(self.confidence.value(), 2)))

    def set_busy(self, busy: bool) -> None:
        """Disable the accept and dismiss buttons while a decision is being processed."""
        self.accept_button.setEnabled(not busy)
        self.reject_button.setEnabled(not busy)

    def _swap_notes(self) -> None:
        first, second = self.cards
        texts = {card.path: card.text.toPlainText() for card in self.cards}
        self._show_notes(second.path, first.path)
        self.show_texts(texts)

    def _show_notes(self, source: str, target: str) -> None:
        self.cards[0].show_note(source)
        self.cards[1].show_note(target)

    def _emit_suggestion(self, signal: SignalInstance) -> None:
        if self.suggestion is not None:
            signal.emit(self.suggestion)

    def _build(self) -> None:
        relation = QHBoxLayout()
        relation.setSpacing(6)
        relation.addWidget(self.type)
        relation.addWidget(self.swap_button)
        relation.addWidget(self.confidence)
        relation.addStretch(1)
        notes = QHBoxLayout()
        notes.setSpacing(16)
        for card in self.cards:
            card.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            notes.addWidget(card, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.accept_button, self.reject_button, self.graph_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        column.addLayout(relation)
        column.addLayout(notes, 1)
        column.addWidget(self.reasoning_label)
        column.addLayout(buttons)

"""The setting for the semantic search model: the built-in models as choices, or another one by name."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QLabel,
    QLineEdit,
    QProgressBar,
    QRadioButton,
    QVBoxLayout,
)

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.shell.language_proposal import language_name
from app.desktop.widgets.model_form import Editor
from app.desktop.widgets.plain_labels import wrapped_label
from app.embeddings import multilingual
from app.embeddings.languages import LanguagesMeasured, VaultLanguages
from app.embeddings.model_config import MULTILINGUAL, SHIPPED_MODEL
from app.embeddings.sync_scheduler import EmbeddingFailed, EmbeddingProgressed
from app.events import Event
from app.workspace import ModelPreparing, ModelSwitched, VaultService

_OTHER = ""
_RADIO_INDENT = 26
_MAX_SHOWN_LANGUAGES = 4
_MIN_SHARE = 0.01


class SentenceModelEditor(Editor):
    """Three choices, the languages of the open vault, and the progress of a switch.

    Args:
        client: The open vault, or None.
        value: The name of the chosen model.
        zoom: The zoom of the interface.
    """

    def __init__(self, client: VaultClient | None, value: str, zoom: float = 1.0) -> None:
        card = QFrame()
        card.setObjectName("card")
        super().__init__(card, self._name)
        self._client = client
        # Align with the text of a radio button.
        self._indent = round(_RADIO_INDENT * zoom)
        self._buttons: dict[str, QRadioButton] = {}
        self._group = QButtonGroup(self)
        column = QVBoxLayout(card)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(4)
        self._add(
            SHIPPED_MODEL,
            self.tr("English"),
            self.tr("23 MB · English only, fastest · installed"),
            column,
        )
        self._multilingual = self._add(
            MULTILINGUAL,
            self.tr("Multilingual"),
            self._describe_multilingual(""),
            column,
        )
        self._instructions = self._add_label(column)
        self._instructions.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._add(
            _OTHER,
            self.tr("Another model"),
            self.tr("A sentence-transformers model (optional extra): name on Hugging Face, or folder"),
            column,
        )
        self.line = QLineEdit()
        self.line.setPlaceholderText("sentence-transformers/paraphrase-multilingual-mpnet-base-v2")
        self.line.setAccessibleName(self.tr("Name of another model"))
        column.addWidget(self.line)
        column.addSpacing(8)
        self.state = self._add_label(column, indented=False)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("Progress of the semantic search model"))
        self.bar.hide()
        column.addWidget(self.bar)
        self.languages = self._add_label(column, indented=False)
        choice = value if value in self._buttons else _OTHER
        self._buttons[choice].setChecked(True)
        self.line.setText("" if choice else value)
        self.line.setVisible(choice == _OTHER)
        self._group.buttonClicked.connect(self._choose)
        self.line.editingFinished.connect(self._emit_typed_name)
        self._start_loading()
        if client is not None:
            client.events.batch.connect(self._handle_events)

    def button(self, name: str) -> QRadioButton:
        """Return the button of a built-in model; for an empty name, that of “Another model”."""
        return self._buttons[name]

    def _add(self, name: str, title: str, description: str, column: QVBoxLayout) -> QLabel:
        button = QRadioButton(title)
        button.setAccessibleDescription(description)
        self._buttons[name] = button
        self._group.addButton(button)
        column.addWidget(button)
        label = self._add_label(column)
        label.setText(description)
        label.show()
        return label

    def _add_label(self, column: QVBoxLayout, *, indented: bool = True) -> QLabel:
        label = wrapped_label(tone="muted")
        label.setIndent(self._indent if indented else 0)
        label.hide()
        column.addWidget(label)
        return label

    def _describe_multilingual(self, state: str) -> str:
        """Return the description of the multilingual model, with its state if known."""
        states = {
            "ready": self.tr("installed"),
            "convertible": self.tr("converted on this computer when selected (about 10 seconds)"),
            "missing": self.tr("not installed"),
        }
        text = self.tr("75 MB · about 100 languages, searches across languages; slower to index")
        return f"{text} · {states[state]}" if state in states else text

    def _name(self) -> str:
        """Return the name of the chosen model; the English one if the name field is empty."""
        chosen = next((name for name, button in self._buttons.items() if button.isChecked()), SHIPPED_MODEL)
        return chosen or self.line.text().strip() or SHIPPED_MODEL

    def _choose(self) -> None:
        is_other = self._buttons[_OTHER].isChecked()
        self.line.setVisible(is_other)
        if is_other:
            self.line.setFocus()
        if not is_other or self.line.text().strip():
            self.emit_value()

    def _emit_typed_name(self) -> None:
        if self._buttons[_OTHER].isChecked() and self.line.text().strip():
            self.emit_value()

    def _start_loading(self) -> None:
        tasks.start(self._load_state(), owner=self, action=self.tr("look for the multilingual model"))

    async def _load_state(self) -> None:
        state = await asyncio.to_thread(multilingual.state)
        self._multilingual.setText(self._describe_multilingual(state))
        is_missing = state == "missing"
        self._instructions.setText(multilingual.installation_instructions() if is_missing else "")
        self._instructions.setVisible(is_missing)
        button = self._buttons[MULTILINGUAL]
        button.setEnabled(not is_missing or button.isChecked())
        if self._client is not None:
            switching, languages = await self._client.run(_switch_and_languages)
            self._show_languages(languages)
            if switching and self.state.isHidden():
                self._show_state(self.tr("The previous model stays in use until every note is indexed."))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, ModelPreparing):
                self._show_progress(
                    self.tr("Converting the multilingual model"), round(100 * event.share), 100
                )
                if event.share >= 1.0:
                    self._start_loading()
            elif isinstance(event, EmbeddingProgressed):
                self._show_embedding(event)
            elif isinstance(event, EmbeddingFailed):
                self.bar.hide()
                self._show_state(event.reason)
            elif isinstance(event, ModelSwitched):
                self.bar.hide()
                self._show_state(self.tr("In use. All notes are indexed."))
            elif isinstance(event, LanguagesMeasured):
                self._show_languages(event.languages)

    def _show_embedding(self, event: EmbeddingProgressed) -> None:
        if event.is_over:
            self.bar.hide()
            if not event.switching:
                self._show_state("")
            return
        text = PluralText(
            "SentenceModelEditor", "{1} of {0} note indexed", "{1} of {0} notes indexed"
        ).format(event.total, f"{event.done:,}")
        if event.switching:
            text = self.tr("{0}. The previous model stays in use until indexing is complete.").format(text)
        self._show_progress(text, event.done, event.total)

    def _show_progress(self, text: str, done: int, total: int) -> None:
        self._show_state(text)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.bar.show()

    def _show_state(self, text: str) -> None:
        self.state.setText(text)
        self.state.setVisible(bool(text))

    def _show_languages(self, languages: VaultLanguages | None) -> None:
        """Show the languages of the open vault."""
        if languages is None or not languages.shares:
            return
        shares = [(code, share) for code, share in languages.shares if share >= _MIN_SHARE]
        names = ", ".join(
            f"{language_name(code)} {share:.0%}" for code, share in shares[:_MAX_SHOWN_LANGUAGES]
        )
        self.languages.setText(self.tr("Languages in this vault: {0}").format(names))
        self.languages.show()


async def _switch_and_languages(vault: VaultService) -> tuple[str, VaultLanguages | None]:
    return vault.semantic.switching_to, vault.semantic.languages

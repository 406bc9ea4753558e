"""The bar above a note: path, state and actions."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget

from app.desktop.notes.editor.mode import ViewMode
from app.desktop.shell.command_registry import COMMANDS_BY_ID, command_title
from app.desktop.shell.keymap import Keymap
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.vault.note import Privacy, PrivacyVerdict
from app.vault.path import NotePath

MENU_COMMANDS = (
    "note-history",
    "note-rename",
    "note-graph",
    "note-related",
    "note-ask",
    "note-copy-link",
    "note-reveal",
    "note-delete",
)


class NoteHeader(QWidget):
    """Shows the path and state of a note.

    `action_requested` carries the argument of one of `MENU_COMMANDS`.

    Args:
        theme: The current theme.
        keymap: The shortcuts in the tooltips.
        parent: The parent.
    """

    mode_toggled = Signal()
    links_toggled = Signal()
    save_requested = Signal()
    action_requested = Signal(str)

    def __init__(self, theme: ThemeSource, keymap: Keymap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keymap = keymap
        self._mode = ViewMode.LIVE
        self._editable = True
        self.setObjectName("panelTitle")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._path_label = ElidedLabel(parent=self)
        self._state = QLabel(self)
        self._state.setProperty("tone", "faint")
        self._privacy = QLabel(self)
        self._privacy.setTextFormat(Qt.TextFormat.PlainText)
        self._privacy.setProperty("badge", True)
        self._privacy.hide()
        self._save_button = ThemedButton(theme, "floppy-disk", "", self)
        self._mode_button = ThemedButton(theme, "code", "", self)
        self._links_button = ThemedButton(theme, "link", "", self)
        self._links_button.setCheckable(True)
        self._more_button = ThemedButton(theme, "dots-three", self.tr("More"), self)
        self._save_button.clicked.connect(self.save_requested)
        self._mode_button.clicked.connect(self.mode_toggled)
        self._links_button.clicked.connect(self.links_toggled)
        self._more_button.clicked.connect(self._show_menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 4, 4)
        row.setSpacing(2)
        row.addWidget(self._path_label)
        row.addWidget(self._privacy)
        row.addWidget(self._state)
        row.addStretch(1)
        for button in (self._save_button, self._mode_button, self._links_button, self._more_button):
            row.addWidget(button)
        self._save_button.hide()
        self.show_keymap(keymap)

    def show_keymap(self, keymap: Keymap) -> None:
        """Show these shortcuts in the tooltips."""
        self._keymap = keymap
        self._save_button.set_label(keymap.tooltip("save-note"))
        self._links_button.set_label(keymap.tooltip("note-links"))
        self.show_mode(self._mode, self._editable)

    def show_path(self, path: NotePath) -> None:
        """Show the path of the note."""
        parts = [*path.folder.split("/"), path.name] if path.folder else [path.name]
        self._path_label.setText("  ›  ".join(parts))
        self._path_label.setToolTip(str(path))

    def show_privacy(self, verdict: PrivacyVerdict) -> None:
        """Show whether the note is hidden from agents, and why if its privacy is unknown."""
        explanation = self.tr("Agents and other programs can't see this note.")
        label, tooltip = self.tr("Private"), explanation
        if verdict.privacy is Privacy.UNKNOWN:
            label = self.tr("Hidden")
            tooltip = self.tr("The privacy of this note is unknown: {0}.").format(verdict.reason)
            tooltip = f"{tooltip} {explanation}"
        self._privacy.setText(label)
        self._privacy.setToolTip(tooltip)
        self._privacy.setAccessibleDescription(tooltip)
        self._privacy.setVisible(verdict.hides)

    def show_state(self, text: str, *, dirty: bool) -> None:
        """Show `text` as the note's state, with the Save button if it is `dirty`."""
        self._state.setText(text)
        self._save_button.setVisible(dirty)

    def show_mode(self, mode: ViewMode, editable: bool) -> None:
        """Show the next view mode on the mode button, and whether the note is editable."""
        self._mode, self._editable = mode, editable
        symbols = {ViewMode.LIVE: "code", ViewMode.SOURCE: "book-open", ViewMode.READING: "pencil-simple"}
        read_only = "" if editable else self.tr(" (read-only)")
        labels = {
            ViewMode.LIVE: self.tr("Show source"),
            ViewMode.SOURCE: self.tr("Read"),
            ViewMode.READING: self.tr("Live preview"),
        }
        self._mode_button.set_symbol(symbols[mode])
        self._mode_button.set_label(self._keymap.tooltip("edit-note", labels[mode]) + read_only)

    def show_links(self, shown: bool) -> None:
        """Show whether the links pane is open."""
        self._links_button.setChecked(shown)

    def _show_menu(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for command_id in MENU_COMMANDS:
            if command_id == "note-delete":
                menu.addSeparator()
            action = COMMANDS_BY_ID[command_id].argument
            menu.addAction(command_title(command_id), partial(self.action_requested.emit, action))
        menu.popup(self._more_button.mapToGlobal(self._more_button.rect().bottomLeft()))

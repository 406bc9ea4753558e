"""Apply the settings to one editor, and connect it to pasting and spell checking."""

from __future__ import annotations

import re
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QTextCursor
from PySide6.QtWidgets import QMenu

from app.desktop.bridge import VaultClient
from app.desktop.notes.document import NoteDocument
from app.desktop.notes.editor.live_editor import LiveEditor
from app.desktop.notes.editor.mode import ViewMode
from app.desktop.notes.editor.preferences import EditorPreferences
from app.desktop.notes.paste import PasteHandler
from app.desktop.notes.spelling import Spelling
from app.desktop.widgets.utf16 import from_utf16_offset, utf16_length
from app.settings import EditorSettings
from app.vault.path import NotePath
from app.workspace import SettingsChanged

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def editor_preferences(settings: EditorSettings) -> EditorPreferences:
    """Return the preferences of an editor that the settings contain."""
    return EditorPreferences(
        family=settings.font,
        points=settings.font_size,
        code_family=settings.code_font,
        code_points=settings.code_size,
        line_width=settings.line_width,
        auto_pairs=settings.auto_pairs,
    )


class EditorSetup(QObject):
    """Applies the Editor settings to one editor, now and whenever they change.

    `failed` carries a message for the user about content that could not be pasted.
    """

    failed = Signal(str)

    def __init__(
        self, client: VaultClient, editor: LiveEditor, document: NoteDocument, spelling: Spelling | None
    ) -> None:
        super().__init__(editor)
        self._client = client
        self._editor = editor
        self._document = document
        self._spelling = spelling
        paste = PasteHandler(client, editor, self._path)
        paste.failed.connect(self.failed)
        editor.paste_handler = paste.handle_paste
        client.events.batch.connect(self._receive)
        self._apply()
        if spelling is not None:
            spelling.changed.connect(self._update_spelling)
            editor.context_menu_opening.connect(self._add_suggestions)
            self._update_spelling()
            spelling.load_dictionaries()

    @property
    def default_mode(self) -> ViewMode:
        """The view mode of a note for which the user has not chosen one."""
        return ViewMode(self._client.settings.editor.default_mode)

    def _path(self) -> NotePath | None:
        page = self._document.page
        return None if page is None else page.path

    def _apply(self) -> None:
        preferences = editor_preferences(self._client.settings.editor)
        if preferences != self._editor.preferences:
            self._editor.set_preferences(preferences)

    def _receive(self, events: tuple[object, ...]) -> None:
        if any(isinstance(event, SettingsChanged) for event in events):
            self._apply()

    def _update_spelling(self) -> None:
        if self._spelling is not None:
            checker = self._spelling.checker
            self._editor.set_spelling(checker.check if checker.is_ready else None)

    def _add_suggestions(self, menu: QMenu, position: int) -> None:
        """Add suggestions and “Add … to the dictionary” at the top of a misspelled word's menu."""
        spelling = self._spelling
        cursor = QTextCursor(self._editor.document())
        cursor.setPosition(position)
        line = cursor.block().text()
        column = from_utf16_offset(line, cursor.positionInBlock())
        words = _WORD.finditer(line)
        match = next((word for word in words if word.start() <= column <= word.end()), None)
        if spelling is None or match is None or self._editor.isReadOnly() or not spelling.checker.is_ready:
            return
        if (match.start(), match.end()) not in spelling.checker.check(line):
            return
        start = cursor.block().position() + utf16_length(line[: match.start()])
        end = start + utf16_length(match[0])
        actions: list[QAction] = []
        for suggestion in spelling.checker.suggest(match[0]):
            action = QAction(suggestion, menu)
            action.triggered.connect(partial(self._editor.replace, start, end, suggestion))
            actions.append(action)
        if not actions:
            no_suggestions = QAction(self.tr("No suggestions"), menu)
            no_suggestions.setEnabled(False)
            actions.append(no_suggestions)
        learn_action = QAction(self.tr("Add “{0}” to the dictionary").format(match[0]), menu)
        learn_action.triggered.connect(partial(spelling.learn, match[0]))
        separator = QAction(menu)
        separator.setSeparator(True)
        first_action = menu.actions()[0] if menu.actions() else None
        menu.insertActions(first_action, [*actions, learn_action, separator])  # type: ignore[arg-type]

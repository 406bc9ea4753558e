"""Apply the settings and the system's services to one editor: appearance, pasting, spelling."""

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
from app.vault.path import NotePath
from app.workspace import SettingsChanged

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class EditorSetup(QObject):
    """Applies the Editor settings to one editor, also when they change.

    `failed` carries one sentence for the user.
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
        editor.paste_handler = paste.take
        client.events.batch.connect(self._receive)
        self._apply()
        if spelling is not None:
            spelling.changed.connect(self._check_again)
            editor.context_menu_opening.connect(self._add_suggestions)
            self._check_again()
            spelling.begin()

    @property
    def default_mode(self) -> ViewMode:
        """Return the view mode of a note for which the user has not chosen one."""
        return ViewMode(self._client.settings.editor.default_mode)

    def _path(self) -> NotePath | None:
        page = self._document.page
        return None if page is None else page.path

    def _apply(self) -> None:
        chosen = self._client.settings.editor
        wanted = EditorPreferences(
            family=chosen.font,
            points=chosen.font_size,
            code_family=chosen.code_font,
            code_points=chosen.code_size,
            line_width=chosen.line_width,
            auto_pairs=chosen.auto_pairs,
        )
        if wanted != self._editor.preferences:
            self._editor.set_preferences(wanted)

    def _receive(self, events: tuple[object, ...]) -> None:
        if any(isinstance(event, SettingsChanged) for event in events):
            self._apply()

    def _check_again(self) -> None:
        if self._spelling is not None:
            checker = self._spelling.checker
            self._editor.set_spelling(checker.check if checker.ready else None)

    def _add_suggestions(self, menu: QMenu, position: int) -> None:
        """Add spelling suggestions at the top of the menu of a misspelled word."""
        spelling = self._spelling
        place = QTextCursor(self._editor.document())
        place.setPosition(position)
        line = place.block().text()
        at = from_utf16_offset(line, place.positionInBlock())
        found = next((m for m in _WORD.finditer(line) if m.start() <= at <= m.end()), None)
        if spelling is None or found is None or self._editor.isReadOnly() or not spelling.checker.ready:
            return
        if (found.start(), found.end()) not in spelling.checker.check(line):
            return
        start = place.block().position() + utf16_length(line[: found.start()])
        end = start + utf16_length(found[0])
        actions: list[QAction] = []
        for word in spelling.checker.suggest(found[0]):
            action = QAction(word, menu)
            action.triggered.connect(partial(self._editor.replace, start, end, word))
            actions.append(action)
        if not actions:
            nothing = QAction(self.tr("No suggestions"), menu)
            nothing.setEnabled(False)
            actions.append(nothing)
        learn = QAction(self.tr("Add “{0}” to the dictionary").format(found[0]), menu)
        learn.triggered.connect(partial(spelling.learn, found[0]))
        separator = QAction(menu)
        separator.setSeparator(True)
        before = menu.actions()[0] if menu.actions() else None
        menu.insertActions(before, [*actions, learn, separator])  # type: ignore[arg-type]

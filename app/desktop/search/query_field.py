"""A query field with completion of names and operators."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QEvent, QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QCompleter, QListView

from app.desktop.runtime import tasks
from app.desktop.search.operator_help import operator_label
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.count_delegate import CountDelegate
from app.desktop.widgets.panel import SearchField
from app.desktop.widgets.utf16 import from_utf16_offset, to_utf16_offset
from app.index.query_completion import CompletionTarget, QuerySuggestion, completion_target_at

_LABEL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
_MAX_ROWS = 10
_MIN_POPUP_WIDTH = 260


Completions = tuple[CompletionTarget, tuple[QuerySuggestion, ...]]
"""The completion target and its completions."""

Suggest = Callable[[str, int], Awaitable[Completions | None]]
"""Returns the completions for a text and the cursor's position in it."""


class QueryField(SearchField):
    """A field for a query: Down selects a suggestion, Enter accepts it, and Tab accepts it or the first one.

    `moved_down` is emitted when the user presses Down while no suggestions are shown.
    """

    moved_down = Signal()

    def __init__(self, theme: ThemeSource | Theme, placeholder: str) -> None:
        super().__init__(theme, placeholder)
        self._suggest: Suggest | None = None
        self._suggest_task: asyncio.Task[None] | None = None
        self._target: CompletionTarget | None = None
        self._suggestions: tuple[QuerySuggestion, ...] = ()
        self._rows = QStandardItemModel(self)
        self._popup = QListView()
        self._popup.setObjectName("popup")
        self._popup.setUniformItemSizes(True)
        self._popup.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._popup.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._popup.setAccessibleName(self.tr("Suggestions"))
        self._completer = QCompleter(self)
        self._completer.setModel(self._rows)
        self._completer.setPopup(self._popup)
        # A completer installs its own delegate in its popup.
        self._popup.setItemDelegate(CountDelegate(self, _LABEL_ROLE, self._popup))
        self._completer.setWidget(self)
        self._completer.setMaxVisibleItems(_MAX_ROWS)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._popup.clicked.connect(self._accept_index)
        self.textEdited.connect(self.complete)

    def set_suggest(self, suggest: Suggest) -> None:
        """Set the function that returns the suggestions."""
        self._suggest = suggest

    def complete(self) -> None:
        """Suggest completions for the term at the cursor."""
        if self._suggest is None:
            return
        if self._suggest_task is not None:
            self._suggest_task.cancel()
        work = self._complete(self._suggest, self.text())
        self._suggest_task = tasks.start(work, owner=self, action=self.tr("list the suggestions"))

    async def _complete(self, suggest: Suggest, text: str) -> None:
        completions = await suggest(text, from_utf16_offset(text, self.cursorPosition()))
        if text == self.text():
            self._show_suggestions(*(completions or (None, ())))

    def _show_suggestions(
        self, target: CompletionTarget | None, suggestions: tuple[QuerySuggestion, ...]
    ) -> None:
        """Show these suggestions; hide the popup if there are none or the field has lost focus."""
        self._target, self._suggestions = target, suggestions
        if target is None or not suggestions or not self.hasFocus():
            self._popup.hide()
            return
        self._rows.clear()
        for suggestion in suggestions:
            item = QStandardItem(suggestion.shown)
            label = operator_label(suggestion.text) if target.kind == "operator" else suggestion.count
            item.setData(label, _LABEL_ROLE)
            item.setToolTip(suggestion.text)
            self._rows.appendRow(item)
        width = max(self.width(), round(_MIN_POPUP_WIDTH * self.fontMetrics().height() / 17))
        self._completer.complete(QRect(0, 0, width, self.height() + 2))
        self._popup.setCurrentIndex(QModelIndex())

    @property
    def shown_completions(self) -> tuple[str, ...]:
        """The visible suggestions."""
        return tuple(suggestion.shown for suggestion in self._suggestions) if self._popup.isVisible() else ()

    def event(self, event: QEvent) -> bool:
        """Accept the selected or first suggestion with Tab, which would otherwise move the focus."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Tab
            and self._popup.isVisible()
        ):
            self._accept(max(0, self._popup.currentIndex().row()))
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Accept with Enter, close with Escape, and emit `moved_down` for Down without suggestions."""
        key = event.key()
        if self._popup.isVisible():
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                row = self._popup.currentIndex().row()
                self._popup.hide()
                if row >= 0:
                    self._accept(row)
                    return
            elif key == Qt.Key.Key_Escape:
                self._popup.hide()
                return
        elif key == Qt.Key.Key_Down:
            self.moved_down.emit()
            return
        super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Forget the completion target, so that no suggestion is accepted after the field has lost focus."""
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._target = None
        super().focusOutEvent(event)

    def minimumSizeHint(self) -> QSize:
        """Return a small width, so that the panel can be narrow."""
        return QSize(60, super().minimumSizeHint().height())

    def _accept_index(self, index: QModelIndex) -> None:
        self._accept(index.row())

    def _accept(self, row: int) -> None:
        """Replace the term at the cursor with a suggestion, unless the term is now of another kind."""
        previous_target, self._target = self._target, None
        self._popup.hide()
        text = self.text()
        # More may have been typed since the completions were computed.
        target = completion_target_at(text, from_utf16_offset(text, self.cursorPosition()))
        is_same_kind = (
            previous_target is not None and target is not None and target.kind == previous_target.kind
        )
        if target is None or not is_same_kind or row >= len(self._suggestions):
            return
        suggestion = self._suggestions[row].text
        end = target.end
        # If a closing bracket or quotation mark already follows the cursor, it is not inserted again.
        end += suggestion[-1:] in ("]", '"') and text[end : end + 1] == suggestion[-1:]
        is_in_brackets = target.kind == "property"
        cursor = target.start + len(suggestion) - is_in_brackets
        new_text = text[: target.start] + suggestion + text[end:]
        if target.kind != "operator" and not is_in_brackets and cursor == len(new_text):
            new_text, cursor = f"{new_text} ", cursor + 1
        self.setText(new_text)
        self.setCursorPosition(to_utf16_offset(new_text, cursor))
        self.complete()

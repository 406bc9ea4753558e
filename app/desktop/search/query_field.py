"""A query field with completion of names and operators."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent

from app.desktop.runtime import tasks
from app.desktop.search.operator_help import operator_label
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.completion_popup import DETAIL_ROLE, CompletionPopup
from app.desktop.widgets.count_delegate import CountDelegate
from app.desktop.widgets.panel import SearchField
from app.desktop.widgets.utf16 import from_utf16_offset, to_utf16_offset
from app.index.query_completion import CompletionTarget, QuerySuggestion, completion_target_at

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
        self.popup = CompletionPopup(self, preselect=False)
        self.popup.setItemDelegate(CountDelegate(self, DETAIL_ROLE, self.popup))
        self.popup.chosen.connect(self._accept)
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
        """Show these suggestions, if the field still has the focus."""
        self._target, self._suggestions = target, suggestions
        is_operator = target is not None and target.kind == "operator"
        details = [operator_label(each.text) if is_operator else each.count for each in suggestions]
        self.popup.offer([suggestion.shown for suggestion in suggestions], details=details)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `moved_down` for Down."""
        if event.key() == Qt.Key.Key_Down:
            self.moved_down.emit()
        else:
            super().keyPressEvent(event)

    def minimumSizeHint(self) -> QSize:
        """Return a small width, so that the panel can be narrow."""
        return QSize(60, super().minimumSizeHint().height())

    def _accept(self, row: int) -> None:
        """Replace the term at the cursor with a suggestion, unless the term is now of another kind."""
        previous_target, self._target = self._target, None
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

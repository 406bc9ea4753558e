"""The diff view: two versions of a text, unified or side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QLabel,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime import tasks
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.diff.canvas import DiffCanvas
from app.desktop.widgets.diff.hex_dump import hex_dump
from app.desktop.widgets.diff.row_layout import DiffMode, DiffRows, layout_rows
from app.desktop.widgets.plain_labels import wrapped_label
from app.encoding import is_binary
from app.vault.diff import Diff, compare

# Diffs up to this size take a few milliseconds to compare and lay out; larger ones use a thread.
_MAX_SYNC_BYTES = 48_000
_ALL_FOLDS = -1
_MIN_SIDE_BY_SIDE_WIDTH = 860
# Space under the last row, and the height of a message in place of a diff, in pixels.
_BOTTOM_MARGIN = 12
_MESSAGE_HEIGHT = 120


class DiffView(QWidget):
    """Shows the change between two contents, computing large diffs in a thread.

    With `show_contents(…, selectable=True)`, each hunk has a check box if there are several, and
    `excluded_hunks_changed` carries the excluded hunks. `compared` carries a new `Diff` once it is shown.
    """

    excluded_hunks_changed = Signal(object)
    compared = Signal(object)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._diff: Diff | None = None
        self._mode = DiffMode.UNIFIED
        self._is_mode_chosen = False
        self._unfolded: set[int] = set()
        self._selectable = False
        self._excluded_hunks: frozenset[int] = frozenset()
        self._request_number = 0
        self._pages = QStackedWidget(self)
        self.canvas = DiffCanvas(theme.theme, self._pages)
        self._message = wrapped_label(tone="muted", parent=self._pages)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._pages.addWidget(self._message)
        self._pages.addWidget(self.canvas)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._bar = self._build_bar()
        layout.addWidget(self._bar)
        layout.addWidget(self._pages, 1)
        self._connect()
        self._apply_theme(theme.theme)

    @property
    def preferred_height(self) -> int:
        """The height in pixels that shows all rows."""
        bar = self._bar.sizeHint().height()
        is_diff_shown = self._pages.currentWidget() is self.canvas
        return bar + (self.canvas.text_height + _BOTTOM_MARGIN if is_diff_shown else _MESSAGE_HEIGHT)

    @property
    def diff(self) -> Diff | None:
        """The displayed diff, once it is computed."""
        return self._diff

    @property
    def mode(self) -> DiffMode:
        """The display mode if both texts have lines; a new, deleted or empty file is always unified."""
        return self._mode

    def show_contents(
        self,
        before: bytes | None,
        after: bytes | None,
        *,
        comparison: Callable[[], Diff] | None = None,
        selectable: bool = False,
        excluded_hunks: frozenset[int] = frozenset(),
        keep_scroll: bool = False,
    ) -> None:
        """Show the change from `before` to `after` (None: no such file).

        Args:
            before: The old bytes.
            after: The new bytes.
            comparison: Returns the diff, if the caller caches it; may be called in a thread, and is not
                called for binary content.
            selectable: Whether to show check boxes; binary content never has them, and is shown as a dump.
            excluded_hunks: The hunks whose check boxes are off.
            keep_scroll: Whether to keep the scroll position, for a text that is being edited.
        """
        old_content, new_content = before or b"", after or b""
        is_dump = is_binary(old_content) or is_binary(new_content)
        self._selectable = selectable and not is_dump
        self._excluded_hunks = excluded_hunks
        if not keep_scroll:
            self._unfolded = {_ALL_FOLDS} if self._unfold_button.isChecked() else set()

        def compute_diff() -> Diff:
            if is_dump:
                return compare(hex_dump(old_content), hex_dump(new_content))
            return compare(old_content, new_content) if comparison is None else comparison()

        self._prepare(compute_diff, len(old_content) + len(new_content), keep_scroll=keep_scroll)

    def show_message(self, text: str) -> None:
        """Show a message in place of a diff."""
        self._request_number += 1
        self._diff = None
        self.canvas.show_rows(None)
        self._message.setText(text)
        self._pages.setCurrentWidget(self._message)
        self._refresh_bar()

    def set_mode(self, mode: DiffMode) -> None:
        """Use unified or side-by-side mode from now on, at any width."""
        self._is_mode_chosen = True
        self._apply_mode(mode)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use side-by-side mode if both sides have room for a line of prose, unless the user chose a mode."""
        super().resizeEvent(event)
        fitting_mode = DiffMode.SIDE_BY_SIDE if self.width() >= _MIN_SIDE_BY_SIDE_WIDTH else DiffMode.UNIFIED
        if not self._is_mode_chosen and fitting_mode is not self._mode:
            self._apply_mode(fitting_mode)

    def _apply_mode(self, mode: DiffMode) -> None:
        self._mode = mode
        (self._side_button if mode is DiffMode.SIDE_BY_SIDE else self._unified_button).setChecked(True)
        self._lay_out_again()

    def set_header(self, widget: QWidget) -> None:
        """Put `widget` on the left of the bar, to name the compared versions."""
        self._header.addWidget(widget)

    def step(self, by: int) -> bool:
        """Go to the next (1) or the previous (-1) change; return False if there is none."""
        return self.canvas.step(by)

    def _prepare(self, compute_diff: Callable[[], Diff], size: int, *, keep_scroll: bool) -> None:
        self._request_number += 1
        mode, unfolded = self._mode, frozenset(self._unfolded)
        measure = self.canvas.measure(self._selectable)

        def prepare_rows() -> tuple[Diff, DiffRows]:
            diff = compute_diff()
            sides_differ = bool(diff.before) and bool(diff.after)
            folds = range(len(diff.before)) if _ALL_FOLDS in unfolded else unfolded
            diff_rows = layout_rows(diff, mode if sides_differ else DiffMode.UNIFIED, folds)
            diff_rows.prepare(measure(diff_rows))
            return diff, diff_rows

        if size <= _MAX_SYNC_BYTES:
            self._show(*prepare_rows(), keep_scroll=keep_scroll)
            return
        if not keep_scroll:
            self._message.setText(self.tr("Comparing…"))
            self._pages.setCurrentWidget(self._message)
        show_later = self._show_later(self._request_number, prepare_rows, keep_scroll)
        tasks.start(show_later, owner=self, action=self.tr("compare the versions"))

    async def _show_later(
        self, request_number: int, prepare_rows: Callable[[], tuple[Diff, DiffRows]], keep_scroll: bool
    ) -> None:
        diff, diff_rows = await asyncio.to_thread(prepare_rows)
        await self._prepare_rows(diff_rows)
        if request_number == self._request_number:
            self._show(diff, diff_rows, keep_scroll=keep_scroll)

    async def _prepare_rows(self, diff_rows: DiffRows) -> None:
        """Prepare `diff_rows` for the current width, and again if the width changes meanwhile."""
        while not diff_rows.is_ready(columns := self.canvas.measure(self._selectable)(diff_rows)):
            await asyncio.to_thread(diff_rows.prepare, columns)

    async def _measure(self) -> None:
        diff_rows = self.canvas.diff_rows
        if diff_rows is not None:
            await self._prepare_rows(diff_rows)
        if diff_rows is self.canvas.diff_rows:
            self.canvas.arrange()

    def _show(self, diff: Diff, diff_rows: DiffRows, *, keep_scroll: bool) -> None:
        is_new = diff is not self._diff
        self._diff = diff
        if diff.hunks or diff.before:
            self._pages.setCurrentWidget(self.canvas)
        else:
            self._message.setText(self.tr("Empty file"))
            self._pages.setCurrentWidget(self._message)
        self.canvas.set_check_boxes(self._excluded_hunks, self._selectable and len(diff.hunks) > 1)
        self.canvas.show_rows(diff_rows, keep_scroll=keep_scroll)
        self._refresh_bar()
        if is_new:
            self.compared.emit(diff)

    def _lay_out_again(self, *, keep_scroll: bool = False) -> None:
        if (diff := self._diff) is not None:
            size = sum(map(len, diff.before)) + sum(map(len, diff.after))
            self._prepare(lambda: diff, size, keep_scroll=keep_scroll)

    def _toggle(self, hunk: int, included: bool) -> None:
        self._excluded_hunks = self._excluded_hunks - {hunk} if included else self._excluded_hunks | {hunk}
        self.canvas.set_check_boxes(self._excluded_hunks, True)
        self._refresh_bar()
        self.excluded_hunks_changed.emit(self._excluded_hunks)

    def _unfold(self, first_line: int) -> None:
        self._unfolded.add(first_line)
        self._lay_out_again(keep_scroll=True)

    def _unfold_all(self, unfolded: bool) -> None:
        self._unfolded = {_ALL_FOLDS} if unfolded else set()
        self._lay_out_again(keep_scroll=True)

    def _build_bar(self) -> QWidget:
        bar = QWidget(self)
        bar.setObjectName("diffBar")
        layout = QHBoxLayout(bar)
        layout.setContentsMargins(12, 4, 8, 4)
        layout.setSpacing(4)
        self._counts = QLabel(bar)
        self._counts.setTextFormat(Qt.TextFormat.RichText)
        self._counts.setProperty("tone", "muted")
        self._header = QHBoxLayout()
        layout.addLayout(self._header, 1)
        layout.addWidget(self._counts)
        layout.addSpacing(8)
        self._previous_button = _create_tool_button(bar, self.tr("Previous change (Shift+F8)"))
        self._next_button = _create_tool_button(bar, self.tr("Next change (F8)"))
        self._unfold_button = _create_tool_button(bar, self.tr("Show unchanged lines"), checkable=True)
        self._unified_button = _create_tool_button(bar, self.tr("Unified"), checkable=True)
        self._side_button = _create_tool_button(bar, self.tr("Side by side"), checkable=True)
        self._unified_button.setChecked(True)
        group = QButtonGroup(self)
        for button in (self._unified_button, self._side_button):
            group.addButton(button)
        for button in (
            self._previous_button,
            self._next_button,
            self._unfold_button,
            self._unified_button,
            self._side_button,
        ):
            layout.addWidget(button)
        return bar

    def _connect(self) -> None:
        self._previous_button.clicked.connect(lambda: self.step(-1))
        self._next_button.clicked.connect(lambda: self.step(1))
        self._unfold_button.toggled.connect(self._unfold_all)
        self._unified_button.clicked.connect(lambda: self.set_mode(DiffMode.UNIFIED))
        self._side_button.clicked.connect(lambda: self.set_mode(DiffMode.SIDE_BY_SIDE))
        self.canvas.hunk_toggled.connect(self._toggle)
        self.canvas.unfold_requested.connect(self._unfold)
        self.canvas.measure_requested.connect(
            lambda: tasks.start(self._measure(), owner=self, action=self.tr("wrap the lines"))
        )
        self.canvas.current_changed.connect(lambda _: self._refresh_bar())
        self._theme.changed.connect(self._apply_theme)
        for keys, by in (("F8", 1), ("Shift+F8", -1)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
            shortcut.activated.connect(lambda by=by: self.step(by))

    def _apply_theme(self, theme: Theme) -> None:
        names = ("caret-up", "caret-down", "arrows-out-line-vertical", "rows", "columns")
        buttons = (
            self._previous_button,
            self._next_button,
            self._unfold_button,
            self._unified_button,
            self._side_button,
        )
        for button, name in zip(buttons, names, strict=True):
            button.setIcon(icon(theme, name))
            button.setIconSize(QSize(16, 16))
        self.canvas.set_theme(theme)
        self._refresh_bar()

    def _refresh_bar(self) -> None:
        diff, theme = self._diff, self._theme.theme
        hunk_count = len(diff.hunks) if diff else 0
        self._previous_button.setEnabled(hunk_count > 0 and self.canvas.current > 0)
        self._next_button.setEnabled(self.canvas.current < hunk_count - 1)
        for button in (self._unfold_button, self._unified_button, self._side_button):
            button.setVisible(diff is not None and bool(diff.before) and bool(diff.after))
        for button in (self._previous_button, self._next_button):
            button.setVisible(hunk_count > 1)
        if diff is None:
            self._counts.clear()
            return
        change_number = self.tr("Change {0} of {1}").format(self.canvas.current + 1, hunk_count)
        excluded = self.tr("{0} excluded").format(len(self._excluded_hunks))
        excluded_text = f"&nbsp;&nbsp;·&nbsp;&nbsp;{excluded}" if self._excluded_hunks else ""
        counts = ((theme.success, "+", diff.added), (theme.danger, "−", diff.removed))
        counts_text = "&nbsp;".join(
            f"<span style='color:{color}'>{sign}{count:,}</span>" for color, sign, count in counts if count
        )
        position = change_number if hunk_count else self.tr("No changes")
        self._counts.setText(f"{position}&nbsp;&nbsp; {counts_text}{excluded_text}")


def _create_tool_button(bar: QWidget, name: str, *, checkable: bool = False) -> QToolButton:
    button = QToolButton(bar)
    button.setToolTip(name)
    button.setAccessibleName(name)
    button.setCheckable(checkable)
    return button

"""Dialogs as awaitable questions.

They use `open()` and a future, never `exec()`: a nested event loop inside a coroutine blocks other tasks and
prevents the app from quitting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import shiboken6
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.desktop.runtime.translation import translate
from app.desktop.widgets.plain_labels import wrapped_label

_SCREEN_SHARE = 0.92


async def run_dialog(dialog: QDialog) -> int:
    """Show `dialog` as a sheet of its window and wait for the result.

    Canceling the call closes the dialog. The dialog is deleted at the end.

    Returns:
        The value of `finished`: `QDialog.DialogCode.Accepted` (1), `Rejected` (0), or the code of the pressed
        button.
    """
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def set_answer(result: int) -> None:
        if not future.done():
            future.set_result(result)

    dialog.finished.connect(set_answer)
    # A destroyed parent destroys the dialog without emitting `finished`.
    dialog.destroyed.connect(lambda *_: set_answer(int(QDialog.DialogCode.Rejected)))
    QDialog.open(dialog)  # file and print dialogs override `open`
    try:
        return await future
    finally:
        if shiboken6.isValid(dialog):
            dialog.close()
            dialog.deleteLater()


def resize_within_screen(dialog: QWidget, width: int, height: int) -> None:
    """Resize a dialog, to at most 92% of the available screen: the title bar needs space, too."""
    max_size = dialog.screen().availableSize() * _SCREEN_SHARE
    dialog.resize(QSize(width, height).boundedTo(max_size))


class SheetDialog(QDialog):
    """A small dialog in the app's style: a title, text, an optional body and buttons.

    The platform decides the order of the buttons by their roles. `add_button` returns the button, so that the
    caller can focus it.
    """

    def __init__(self, parent: QWidget | None, title: str, text: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setMinimumWidth(380)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(24, 20, 24, 20)
        self._layout.setSpacing(12)
        self._heading = _label(title, "heading")
        self._layout.addWidget(self._heading)
        if text:
            label = _label(text)
            label.setProperty("tone", "muted")
            self._layout.addWidget(label)
        self._body = QVBoxLayout()
        # Only the body takes surplus height; otherwise, the heading and the text would.
        self._layout.addLayout(self._body, 1)
        self._buttons = QDialogButtonBox(self)
        self._layout.addSpacing(4)
        self._layout.addWidget(self._buttons)

    def set_heading(self, text: str) -> None:
        """Replace the heading; the window title stays."""
        self._heading.setText(text)

    def add_body(self, widget: QWidget) -> None:
        """Put `widget` between the text and the buttons."""
        self._body.addWidget(widget)

    def add_button(
        self, text: str, code: int, role: str = "", place: QDialogButtonBox.ButtonRole | None = None
    ) -> QPushButton:
        """Add a button that closes the dialog with `code`.

        Args:
            text: The label.
            code: The result of the dialog.
            role: The style: "primary", "danger", "quiet" or "".
            place: The role that decides the position; derived from `role` and `code` by default.
        """
        button = QPushButton(text, self)
        if role:
            button.setProperty("role", role)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: self.done(code))
        self._buttons.addButton(button, _button_role(code, role) if place is None else place)
        return button

    def showEvent(self, event: QShowEvent) -> None:
        """Remove surplus height, unless the dialog was resized: Qt assumes narrow text when it wraps."""
        if not self.testAttribute(Qt.WidgetAttribute.WA_Resized):
            self._layout.activate()
            height = self._layout.totalHeightForWidth(self.width())
            self.resize(self.width(), min(self.height(), height))
        super().showEvent(event)

    def grow(self) -> None:
        """Make the dialog tall enough for its wrapped text; Qt assumes one line for a newly shown label."""
        self._layout.activate()
        self.resize(self.width(), max(self.height(), self._layout.totalHeightForWidth(self.width())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the focused button with Enter; elsewhere, press the default button."""
        focused = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focused, QPushButton):
            focused.click()
        else:
            super().keyPressEvent(event)


def _button_role(code: int, role: str) -> QDialogButtonBox.ButtonRole:
    roles = QDialogButtonBox.ButtonRole
    if role == "quiet":
        return roles.ResetRole  # apart from the answers, on every platform
    if role or code == int(QDialog.DialogCode.Accepted):
        return roles.AcceptRole
    return roles.RejectRole if code == int(QDialog.DialogCode.Rejected) else roles.ActionRole


def _label(text: str, size: str = "") -> QLabel:
    label = wrapped_label(text)
    if size:
        label.setProperty("textSize", size)
    return label


async def confirm(
    parent: QWidget | None,
    title: str,
    text: str,
    accept_label: str = "",
    reject_label: str = "",
    is_destructive: bool = False,
) -> bool:
    """Ask a question and return whether the user confirms; the safe answer has the focus.

    Escape chooses the safe answer.

    Args:
        parent: The window that the question belongs to.
        title: The question in a few words.
        text: The consequence of confirming, as plain text.
        accept_label: The label of the confirming button, a verb; "Continue" by default.
        reject_label: The label of the safe button; "Cancel" by default.
        is_destructive: Whether to style the confirming button as destructive.
    """
    dialog = SheetDialog(parent, title, text)
    cancel_button = dialog.add_button(
        reject_label or translate("Dialogs", "Cancel"), int(QDialog.DialogCode.Rejected)
    )
    label = accept_label or translate("Dialogs", "Continue")
    dialog.add_button(label, int(QDialog.DialogCode.Accepted), "danger" if is_destructive else "primary")
    cancel_button.setDefault(True)
    cancel_button.setFocus()
    return await run_dialog(dialog) == int(QDialog.DialogCode.Accepted)


async def choose(
    parent: QWidget | None,
    title: str,
    text: str,
    answers: tuple[str, ...],
    *,
    is_first_main: bool = False,
) -> int | None:
    """Return the index of the pressed button among `answers`; None for Escape.

    The first answer has the focus. The last one is emphasized, or the first if `is_first_main`; the one at
    the opposite end must change nothing. The platform decides the order.
    """
    dialog = SheetDialog(parent, title, text)
    last = len(answers) - 1
    main, harmless = (0, last) if is_first_main else (last, 0)
    places = [QDialogButtonBox.ButtonRole.DestructiveRole] * len(answers)
    places[harmless] = QDialogButtonBox.ButtonRole.RejectRole
    places[main] = QDialogButtonBox.ButtonRole.AcceptRole
    buttons = [
        dialog.add_button(answer, code, "primary" if code == main + 1 else "", place)
        for code, (answer, place) in enumerate(zip(answers, places, strict=True), 1)
    ]
    buttons[0].setDefault(True)
    buttons[0].setFocus()
    code = await run_dialog(dialog)
    return code - 1 if code else None


async def show_message(parent: QWidget | None, title: str, text: str) -> None:
    """Show a message that needs no answer."""
    dialog = SheetDialog(parent, title, text)
    button = dialog.add_button(translate("Dialogs", "OK"), int(QDialog.DialogCode.Accepted), "primary")
    button.setDefault(True)
    button.setFocus()
    await run_dialog(dialog)


async def prompt_text(
    parent: QWidget | None,
    title: str,
    label: str,
    value: str = "",
    *,
    accept_label: str,
    problem: str = "",
    check: Callable[[str], str] | None = None,
) -> str | None:
    """Return the line that the user typed, stripped; None if the dialog was canceled or the line is empty.

    Args:
        parent: The window that the question belongs to.
        title: The heading.
        label: The label of the field.
        value: The initial value of the field, selected.
        accept_label: The label of the accepting button, a verb.
        problem: Why `value` was rejected; shown until the text changes.
        check: Returns the problem with the typed text, or "" if it is valid; invalid text can't be accepted.
            `value` itself is not checked.
    """
    dialog = SheetDialog(parent, title, label)
    field = QLineEdit(value)
    field.setAccessibleName(label)
    field.selectAll()
    dialog.add_body(field)
    error_label = _label(problem)
    error_label.setProperty("tone", "danger")
    error_label.setVisible(bool(problem))
    dialog.add_body(error_label)
    dialog.add_button(translate("Dialogs", "Cancel"), int(QDialog.DialogCode.Rejected))
    accept_button = dialog.add_button(accept_label, int(QDialog.DialogCode.Accepted), "primary")
    accept_button.setDefault(True)
    accept_button.setEnabled(bool(value.strip()))

    def validate(text: str) -> None:
        error = check(text.strip()) if check is not None and text.strip() else ""
        error_label.setText(error)
        error_label.setVisible(bool(error))
        field.setAccessibleDescription(error)
        accept_button.setEnabled(bool(text.strip()) and not error)
        dialog.grow()

    field.textChanged.connect(validate)
    field.setFocus()
    is_accepted = await run_dialog(dialog) == int(QDialog.DialogCode.Accepted)
    return field.text().strip() or None if is_accepted else None


async def pick_folder(parent: QWidget | None, title: str, *, start: Path | None = None) -> Path | None:
    """Return the folder that the user picks, starting at `start`; None if canceled."""
    dialog = QFileDialog(parent, title, str(start) if start is not None else "")
    dialog.setFileMode(QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly)
    if await _ask_for_files(dialog) and (chosen := dialog.selectedFiles()):
        return Path(chosen[0])
    return None


async def pick_save_file(
    parent: QWidget | None, title: str, suggestion: str, filters: str = ""
) -> Path | None:
    """Return the file that the user chooses to write; None if canceled.

    A name without a suffix gets that of `suggestion`. Qt asks before it replaces an existing file.
    """
    dialog = QFileDialog(parent, title)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilter(filters)
    # Without a default suffix, Qt would ask about “graph” when “graph.png” is about to be replaced.
    dialog.setDefaultSuffix(Path(suggestion).suffix.removeprefix("."))
    dialog.selectFile(suggestion)
    if await _ask_for_files(dialog) and (chosen := dialog.selectedFiles()):
        return Path(chosen[0])
    return None


async def _ask_for_files(dialog: QFileDialog) -> bool:
    dialog.setWindowModality(Qt.WindowModality.WindowModal)
    return await run_dialog(dialog) == int(QDialog.DialogCode.Accepted)

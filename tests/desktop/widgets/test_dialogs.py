from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.desktop.runtime import tasks
from app.desktop.widgets import dialogs


def shown(kind: type = dialogs.SheetDialog) -> list:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]


def shown_dialog() -> dialogs.SheetDialog:
    (dialog,) = shown()
    return dialog


def press(text: str) -> None:
    (button,) = (b for b in shown_dialog().findChildren(QPushButton) if b.text() == text)
    button.click()


@pytest.mark.parametrize(("button", "expected"), [("Open", True), ("Cancel", False)])
def test_confirm_returns_the_answer(gui, wait_until, button: str, expected: bool) -> None:
    async def main() -> bool:
        task = tasks.start(dialogs.confirm(None, "Open it?", "It is large.", accept_label="Open"))
        await wait_until(shown)
        press(button)
        return await task

    assert gui(main()) is expected


def test_enter_in_a_confirmation_chooses_the_safe_answer(gui, wait_until) -> None:
    async def main() -> bool:
        task = tasks.start(
            dialogs.confirm(None, "Delete it?", "Forever.", accept_label="Delete", is_destructive=True)
        )
        await wait_until(shown)
        QTest.keyClick(shown_dialog(), Qt.Key.Key_Return)
        return await task

    assert gui(main()) is False


def test_other_tasks_run_while_a_dialog_is_open(gui, wait_until) -> None:
    ticks: list[int] = []

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.001)
            ticks.append(1)

    async def main() -> None:
        tasks.start(tick())
        first = tasks.start(dialogs.show_message(None, "One", "It happened."))
        await wait_until(lambda: len(ticks) > 5)
        press("OK")
        await first

    gui(main())


def test_canceling_closes_the_dialog(gui, wait_until) -> None:
    async def main() -> None:
        task = tasks.start(dialogs.show_message(None, "One", "It happened."))
        await wait_until(shown)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until(lambda: not shown())

    gui(main())


def test_closing_the_parent_counts_as_cancel(gui, wait_until) -> None:
    async def main() -> bool:
        parent = QWidget()
        parent.show()
        task = tasks.start(dialogs.confirm(parent, "Continue?", ""))
        await wait_until(lambda: parent.findChild(dialogs.SheetDialog) is not None)
        parent.deleteLater()
        return await task

    assert gui(main()) is False


@pytest.mark.parametrize(("typed", "expected"), [("  A name ", "A name"), ("", None)])
def test_prompt_text_strips_and_rejects_empty_text(gui, wait_until, typed: str, expected: str | None) -> None:
    async def main() -> str | None:
        task = tasks.start(dialogs.prompt_text(None, "Name", "New name:", "old", accept_label="Rename"))
        await wait_until(shown)
        field = shown_dialog().findChild(QLineEdit)
        field.setText(typed)
        press("Rename") if typed else press("Cancel")
        return await task

    assert gui(main()) == expected


def test_a_long_reason_below_a_field_is_fully_visible(gui, wait_until) -> None:
    reason = "'Plan: part 2/3?.md' can't be a path in the vault: ':' is not allowed in a file name. " * 2

    async def main() -> str | None:
        prompt = dialogs.prompt_text(
            None, "New note", "Name:", accept_label="Create", check=lambda text: reason if ":" in text else ""
        )
        task = tasks.start(prompt)
        await wait_until(shown)
        dialog = shown_dialog()
        dialog.findChild(QLineEdit).setText("Plan: part 2/3?")
        (label,) = (one for one in dialog.findChildren(QLabel) if one.text() == reason)
        await wait_until(lambda: label.height() >= label.heightForWidth(label.width()))
        press("Cancel")
        return await task

    assert gui(main()) is None


def test_a_question_is_no_taller_than_its_text(gui, wait_until) -> None:
    async def main() -> tuple[int, int]:
        title = "Renew the token for this other program now, or later?"
        task = tasks.start(dialogs.confirm(None, title, "The token stops working."))
        await wait_until(shown)
        heading = shown_dialog().findChildren(QLabel)[0]
        heights = heading.height(), heading.heightForWidth(heading.width())
        press("Cancel")
        await task
        return heights

    height, needed = gui(main())
    assert height <= needed + 1


def test_choose_returns_the_choice(gui, wait_until) -> None:
    async def main() -> int | None:
        task = tasks.start(dialogs.choose(None, "It is open elsewhere", "", ("Cancel", "Open read-only")))
        await wait_until(shown)
        press("Open read-only")
        return await task

    assert gui(main()) == 1


@pytest.mark.parametrize(("tabs", "expected"), [(0, 0), (1, 1), (2, 2)])
def test_enter_presses_the_button_that_has_the_focus(gui, wait_until, tabs: int, expected: int) -> None:
    async def main() -> int | None:
        task = tasks.start(
            dialogs.choose(None, "Save it?", "", ("Save", "Discard", "Cancel"), is_first_main=True)
        )
        await wait_until(lambda: shown() and shown_dialog().focusWidget() is not None)
        for _ in range(tabs):
            QTest.keyClick(shown_dialog().focusWidget(), Qt.Key.Key_Tab)
        QTest.keyClick(shown_dialog().focusWidget(), Qt.Key.Key_Return)
        return await task

    assert gui(main()) == expected


def test_pick_folder_returns_the_picked_folder(gui, wait_until, tmp_path) -> None:
    async def main() -> object:
        task = tasks.start(dialogs.pick_folder(None, "Open"))
        await wait_until(lambda: shown(QFileDialog))
        (dialog,) = shown(QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.done(1)
        return await task

    assert gui(main()) == tmp_path


def test_a_picked_name_gets_the_suffix_before_qt_asks_about_an_existing_file(
    gui, wait_until, tmp_path
) -> None:
    async def main() -> object:
        task = tasks.start(dialogs.pick_save_file(None, "Export", "graph.png", "PNG (*.png)"))
        await wait_until(lambda: shown(QFileDialog))
        (dialog,) = shown(QFileDialog)
        dialog.setDirectory(str(tmp_path))
        dialog.findChild(QLineEdit).setText("picture")
        dialog.done(1)
        return await task

    assert gui(main()) == tmp_path / "picture.png"


@pytest.mark.parametrize(
    ("requested", "expected_size"), [((420, 220), (420, 220)), ((5000, 220), (None, 220))]
)
def test_a_dialog_is_no_larger_than_the_screen(qtbot, requested, expected_size) -> None:
    dialog = dialogs.SheetDialog(None, "Large")
    qtbot.addWidget(dialog)
    dialogs.resize_within_screen(dialog, *requested)
    room = dialog.screen().availableSize()
    assert dialog.width() == (expected_size[0] or int(room.width() * 0.92))
    assert dialog.height() == expected_size[1]
    dialog.show()
    assert dialog.frameGeometry().width() < room.width()


def test_a_print_dialog_can_be_awaited(gui, wait_until) -> None:
    async def main() -> int:
        printer = QPrinter()
        dialog = QPrintDialog(printer)
        task = tasks.start(dialogs.run_dialog(dialog))
        await wait_until(dialog.isVisible)
        dialog.reject()
        return await task

    assert gui(main()) == int(QDialog.DialogCode.Rejected)


@pytest.mark.parametrize(
    ("answers", "is_first_main"),
    [(("Save", "Discard", "Cancel"), True), (("Cancel", "Discard", "Save"), False)],
)
def test_the_platform_decides_the_order_of_the_answers(gui, wait_until, answers, is_first_main) -> None:
    async def main_task() -> dict[str, object]:
        task = tasks.start(dialogs.choose(None, "Save it?", "", answers, is_first_main=is_first_main))
        await wait_until(shown)
        box = shown_dialog().findChild(QDialogButtonBox)
        roles = {button.text(): box.buttonRole(button) for button in box.buttons()}
        shown_dialog().reject()
        await task
        return roles

    roles = QDialogButtonBox.ButtonRole
    expected = {"Save": roles.AcceptRole, "Discard": roles.DestructiveRole, "Cancel": roles.RejectRole}
    assert gui(main_task()) == expected

"""Autosave keeps every byte, handles changes by others, and loses nothing that was typed."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QApplication, QPushButton

from app.desktop.bridge import ServiceThread
from app.desktop.notes.conflict_dialog import ConflictDialog
from app.desktop.notes.drafts import DraftStore
from app.desktop.notes.unsaved_changes import confirm_close
from app.desktop.notes.view import NoteView
from app.desktop.theme.theme import ThemeSource
from app.errors import StorageError
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.path import NotePath
from tests.desktop.whole_vault import WholeVault, whole_vault
from tests.support.open_sheets import sheets

NOTES = {"A.md": "# A\n\none\n\ntwo\n\nthree\n", "B.md": "# B\n\nSee [[A]].\n\nend\n"}
A = NotePath.parse("A.md")


@pytest.fixture
def opened(service: ServiceThread, tmp_path: Path, qtbot) -> Callable:
    """Open a note of a real vault that is saved `seconds` after a key: `async with opened("A.md", 0.5)`."""

    @asynccontextmanager
    async def make(
        name: str, delay: float = 120, notes: dict[str, str] | None = None
    ) -> AsyncIterator[tuple[WholeVault, NoteView]]:
        async with whole_vault(tmp_path / "vault", service, notes or NOTES) as vault:
            vault.workspace.settings.editor.autosave_delay = delay
            view = NoteView(vault.client, ThemeSource("light"))
            qtbot.addWidget(view)
            view.show()
            await view.open(name)
            yield vault, view
            view.document.discard_changes()

    return make


def type_at_end(view: NoteView, text: str) -> None:
    view.editor.moveCursor(QTextCursor.MoveOperation.End)
    view.editor.insertPlainText(text)


@pytest.mark.parametrize(
    "before",
    [
        b"one\r\ntwo\r\n",
        b"\xef\xbb\xbf# With a mark\n\ntext\n",
        b"no newline at the end",
        b"trailing spaces  \n\ttabs\t\n   \n",
        b"mixed\r\nends\nof\r\nlines\n",
        "no-break\u00a0space and \u2028 separator\n".encode(),
    ],
)
def test_autosave_keeps_every_byte_that_was_not_typed(
    gui, opened, wait_until, tmp_path: Path, before: bytes
) -> None:
    async def main() -> None:
        async with opened("A.md", 0.5) as (vault, view):
            file = vault.root / "Odd.md"
            file.write_bytes(before)
            await vault.run(lambda ws: ws.index.refresh([NotePath.parse("Odd.md")]))
            await view.open("Odd.md")
            type_at_end(view, "typed")
            await wait_until(lambda: file.read_bytes() == before + b"typed")
            await wait_until(lambda: not view.document.is_dirty)

    gui(main())


def test_undoing_back_to_the_saved_text_leaves_nothing_to_save(gui, opened) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            type_at_end(view, "x")
            assert view.document.is_dirty
            view.document.save_draft()
            view.editor.undo()
            assert not view.document.is_dirty
            assert DraftStore(vault.root).load(A) is None

    gui(main())


def test_a_rename_while_typing_is_followed_without_a_question(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            type_at_end(view, "typed")
            call = {"name": "A", "new_name": "Renamed"}
            outcome = await vault.run(lambda ws: ws.runner.run(Call.of("move_note", call, Caller.user())))
            assert outcome.success
            await wait_until(lambda: view.path == "Renamed.md")
            assert not view.notice.text and view.document.is_dirty
            assert await view.document.save()
            assert (vault.root / "Renamed.md").read_text() == NOTES["A.md"] + "typed"
            assert not (vault.root / "A.md").exists()

    gui(main())


def test_a_link_that_a_rename_rewrites_is_merged_into_unsaved_text(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("B.md") as (vault, view):
            type_at_end(view, "typed")
            call = {"name": "A", "new_name": "Renamed"}
            await vault.run(lambda ws: ws.runner.run(Call.of("move_note", call, Caller.user())))
            await wait_until(lambda: "[[Renamed]]" in view.editor.toPlainText())
            assert not view.notice.text
            assert await view.document.save()
            expected = NOTES["B.md"].replace("[[A]]", "[[Renamed]]")
            assert (vault.root / "B.md").read_text() == expected + "typed"

    gui(main())


def test_what_is_typed_after_the_question_is_merged_too(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            type_at_end(view, "before ")
            file.write_text(NOTES["A.md"].replace("one", "theirs"))
            await vault.run(lambda ws: ws.index.refresh([A]))
            assert not await view.document.save()
            type_at_end(view, "after")
            view.notice.answer("Merge")
            await wait_until(lambda: not view.document.is_dirty)
            assert file.read_text() == NOTES["A.md"].replace("one", "theirs") + "before after"

    gui(main())


def test_a_conflict_that_was_resolved_while_the_note_was_loaded_is_not_asked_again(
    gui, opened, wait_until, monkeypatch
) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            type_at_end(view, "mine")
            file.write_text("theirs\n")
            assert not await view.document.save()
            question = view.notice.text
            assert "changed outside" in question
            # The watcher reports the change late; the user answers while the note is loaded for it.
            run, answers = view.document._client.run, ["Keep mine"]

            async def run_slowly(work):
                loaded = await run(work)
                if answers:
                    view.notice.answer(answers.pop())
                return loaded

            monkeypatch.setattr(view.document._client, "run", run_slowly)
            await view.document._follow(A)
            await wait_until(lambda: not view.document.is_dirty)
            assert view.notice.text == "" and view.document.conflict is None
            assert file.read_text() == NOTES["A.md"] + "mine"

    gui(main())


def test_undo_restores_what_keep_theirs_discarded(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            type_at_end(view, "mine")
            file.write_text("theirs\n")
            assert not await view.document.save()
            view.activateWindow()
            button = next(b for b in view.notice.findChildren(QPushButton) if b.text() == "Keep theirs")
            button.setFocus()
            await wait_until(button.hasFocus)
            button.click()
            await wait_until(lambda: not view.document.is_dirty)
            assert view.editor.toPlainText() == "theirs\n" == file.read_text()
            assert view.editor.hasFocus()  # So that Ctrl+Z reaches it.
            view.editor.undo()
            assert view.editor.toPlainText() == NOTES["A.md"] + "mine"
            assert await view.document.save()
            assert file.read_text() == NOTES["A.md"] + "mine"

    gui(main())


def test_a_failed_save_is_shown_and_retried(gui, opened, wait_until, monkeypatch) -> None:
    async def main() -> None:
        monkeypatch.setattr("app.desktop.notes.autosave._MIN_RETRY_DELAY_S", 0.05)
        async with opened("A.md", 0.5) as (vault, view):
            store = vault.workspace.store
            commit, marks = store.commit, list[bool]()
            view.dirty_changed.connect(marks.append)

            def refuse(*_: object, **__: object) -> None:
                raise StorageError("The disk is full.")

            monkeypatch.setattr(store, "commit", refuse)
            type_at_end(view, "typed")
            assert marks == []
            await wait_until(lambda: "disk is full" in view.notice.text)
            assert marks == [True]
            assert DraftStore(vault.root).load(A).text == NOTES["A.md"] + "typed"
            monkeypatch.setattr(store, "commit", commit)
            await wait_until(lambda: not view.document.is_dirty)
            assert marks == [True, False] and not view.notice.text
            assert (vault.root / "A.md").read_text() == NOTES["A.md"] + "typed"

    gui(main())


def test_a_failed_save_is_shown_even_if_no_draft_fits_on_the_disk(
    gui, opened, wait_until, monkeypatch
) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):

            def full(*_: object, **__: object) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            def refuse(*_: object, **__: object) -> None:
                raise StorageError("The disk is full.")

            monkeypatch.setattr(DraftStore, "save", full)
            monkeypatch.setattr(vault.workspace.store, "commit", refuse)
            marks: list[bool] = []
            view.dirty_changed.connect(marks.append)
            type_at_end(view, "more")
            assert not await view.document.save()
            assert "Not saved" in view.notice.text and marks == [True]
            with pytest.raises(OSError, match="No space left"):
                view.document.leave_draft()
            assert view.document.is_dirty, "text without a draft is not discarded"

    gui(main())


def test_closing_promises_a_draft_only_if_one_was_written(gui, opened, wait_until, monkeypatch) -> None:
    async def main() -> None:
        async with opened("A.md", 0.5) as (vault, view):

            def full(*_: object, **__: object) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            def refuse(*_: object, **__: object) -> None:
                raise StorageError("The disk is full.")

            monkeypatch.setattr(DraftStore, "save", full)
            monkeypatch.setattr(vault.workspace.store, "commit", refuse)
            type_at_end(view, "more")
            closing = asyncio.ensure_future(confirm_close(view.document, ThemeSource("light"), view))
            await wait_until(sheets)
            buttons = {button.text(): button for button in sheets()[0].findChildren(QPushButton)}
            assert "Close without saving" not in buttons
            buttons["Keep it open"].click()
            assert not await closing and view.document.is_dirty
            closing = asyncio.ensure_future(confirm_close(view.document, ThemeSource("light"), view))
            await wait_until(sheets)
            buttons = {button.text(): button for button in sheets()[0].findChildren(QPushButton)}
            buttons["Discard my text"].click()
            assert await closing and not view.document.is_dirty

    gui(main())


def test_consecutive_saves_share_one_session(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            for word in ("one", "two", "three"):
                type_at_end(view, word)
                assert await view.document.save()
            versions = await vault.run(lambda ws: ws.journal.history(A))
            assert len({version.turn for version in versions[:3]}) == 1
            assert versions[0].turn.startswith("writing-")
            call = {"turn": versions[0].turn}
            await vault.run(lambda ws: ws.runner.run(Call.of("undo", call, Caller.user())))
            await wait_until(lambda: (vault.root / "A.md").read_text() == NOTES["A.md"])

    gui(main())


def test_the_notice_of_a_deletion_ends_when_the_note_is_back(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            (vault.root / "A.md").unlink()
            await wait_until(lambda: "deleted or moved" in view.notice.text)
            (vault.root / "A.md").write_text(NOTES["A.md"])
            await wait_until(lambda: not view.notice.isVisible())

    gui(main())


def test_a_note_that_is_being_renamed_is_not_reported_as_deleted(
    gui, opened, wait_until, monkeypatch
) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            messages, is_moved, resumed = [], threading.Event(), threading.Event()
            view.document.notice_requested.connect(lambda text, tone: messages.append(text))
            journal = vault.workspace.journal
            record = journal.record

            def record_later(draft):
                is_moved.set()
                resumed.wait()
                return record(draft)

            monkeypatch.setattr(journal, "record", record_later)
            call = Call.of("move_note", {"name": "A", "new_name": "Renamed"}, Caller.user())
            moving = asyncio.ensure_future(vault.run(lambda ws: ws.runner.run(call)))
            await asyncio.to_thread(is_moved.wait)
            # An earlier change of the note is reported only now.
            following = asyncio.ensure_future(view.document._follow(A))
            for _ in range(20):
                assert await vault.client.run(lambda notes: notes.notes.load(NotePath("B.md")))
            resumed.set()
            await following
            assert (await moving).success
            await wait_until(lambda: view.path == "Renamed.md")
            assert not messages

    gui(main())


def dialog() -> ConflictDialog | None:
    visible = (w for w in QApplication.topLevelWidgets() if isinstance(w, ConflictDialog) and w.isVisible())
    return next(visible, None)


@pytest.mark.parametrize("answer", ["accept", "reject"])
def test_what_was_typed_while_comparing_is_kept_when_the_conflict_goes_away(
    gui, opened, wait_until, answer: str
) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            type_at_end(view, "mine")
            file.write_text("theirs\n")
            assert not await view.document.save()
            view.notice.answer("Compare")
            await wait_until(dialog)
            dialog().editor.field.setPlainText("by hand\n")
            # The file returns to its former content: the conflict is over.
            file.write_text(NOTES["A.md"])
            await wait_until(lambda: view.document.conflict is None)
            getattr(dialog(), answer)()
            await wait_until(lambda: dialog() is None and view.document.text == "by hand\n")
            view.editor.undo()
            assert view.document.text == NOTES["A.md"] + "mine"
            view.editor.redo()
            await view.document.save()
            assert file.read_text() == "by hand\n"

    gui(main())


def test_what_was_typed_while_comparing_is_kept_when_deciding_later(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            type_at_end(view, "mine")
            file.write_text("theirs\n")
            assert not await view.document.save()
            view.notice.answer("Compare")
            await wait_until(dialog)
            dialog().editor.field.setPlainText("by hand\n")
            dialog().reject()
            await wait_until(lambda: dialog() is None and view.document.conflict.result)
            assert view.document.is_dirty and view.document.text == NOTES["A.md"] + "mine"
            assert file.read_text() == "theirs\n"
            # A crash loses neither text.
            draft = DraftStore(vault.workspace.root).load(A)
            assert (draft.text, draft.result) == (NOTES["A.md"] + "mine", "by hand\n")
            again = NoteView(vault.client, ThemeSource("light"))
            await again.open("A.md")
            again.notice.answer("Restore merged text")
            assert again.document.text == "by hand\n"
            again.document._set_dirty(False)
            again.deleteLater()
            # The file changes once more: the typed text stays with the conflict.
            file.write_text("theirs again\n")
            await wait_until(lambda: view.document.conflict.theirs.text == "theirs again\n")
            view.notice.answer("Compare")
            await wait_until(dialog)
            assert dialog().picked_button.isChecked()
            assert dialog().editor.field.toPlainText() == "by hand\n"
            dialog().accept()
            await wait_until(lambda: file.read_text() == "by hand\n")

    gui(main())


def test_an_emptied_file_that_the_user_chooses_stays_empty(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            type_at_end(view, "mine")
            file.write_text("")
            assert not await view.document.save()
            view.notice.answer("Compare")
            await wait_until(dialog)
            dialog().theirs_button.click()
            dialog().accept()
            await wait_until(lambda: dialog() is None and not view.document.is_dirty)
            assert view.document.text == "" and file.read_text() == ""

    gui(main())


def test_a_note_that_can_not_be_edited_keeps_its_draft(gui, opened) -> None:
    async def main() -> None:
        async with opened("B.md") as (vault, view):
            drafts = DraftStore(vault.root)
            drafts.save(A, "hash", "unsaved words")
            (vault.root / "A.md").write_bytes(b"not \xff text\n")
            await view.open("A.md")
            assert view.document.page.problem
            assert drafts.load(A).text == "unsaved words"

    gui(main())


def test_a_draft_is_kept_but_not_offered_in_a_read_only_vault(gui, opened, monkeypatch) -> None:
    async def main() -> None:
        async with opened("B.md") as (vault, view):
            drafts = DraftStore(vault.root)
            drafts.save(A, "hash", "unsaved words")
            monkeypatch.setattr(type(vault.client), "read_only", True)
            await view.document.open(A)
            assert not view.notice.text and drafts.load(A).text == "unsaved words"
            monkeypatch.undo()
            await view.document.open(A)
            assert "unsaved text" in view.notice.text

    gui(main())

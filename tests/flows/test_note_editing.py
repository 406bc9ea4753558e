"""Working on notes in the window: edit, save, external edits, links, backlinks, search, drafts."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.desktop.activity.item import ActivityItem
from app.desktop.notes.changes_dialog import ChangesDialog
from app.desktop.notes.history_dialog import HistoryDialog
from app.desktop.notes.view import NoteView
from app.settings import Settings, save_settings
from tests.flows.pilot import Pilot
from tests.flows.test_activity import show_feed
from tests.support.activity_feed import activities

TYPED = (b"Cut", b" it", b" back.")


def test_a_note_is_opened_edited_and_saved(app_run, garden: Path) -> None:
    mint = garden / "Plants/Mint.md"
    before = mint.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Plants/Mint.md")
        await pilot.write_at_end(note, "Cut it back.")
        tabs = note.parentWidget().parentWidget()
        await pilot.save(note)
        # The note's own line endings and every other byte stay.
        assert mint.read_bytes() == before + b"Cut it back."
        assert tabs.tabText(0) == "Mint"
        entry = await pilot.select_entry("save")
        assert entry.caller_kind == "user" and entry.commit is not None

    app_run(use)


def test_an_outside_edit_of_a_clean_note_shows_by_itself(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.show_reading(note)
        (garden / "Water.md").write_text("# Water\n\nWritten by a sync program, see [[Mint]].\n")
        await pilot.until(lambda: "sync program" in note.editor.toPlainText(), "the source follows")
        await pilot.until(lambda: "sync program" in note.reader.toPlainText(), "the reading view follows")
        (garden / "Fresh.md").write_text("See [[Water]].\n")
        await pilot.until(lambda: pilot.files.model.index_of("Fresh.md").isValid(), "it is listed")
        await pilot.until(lambda: "Fresh.md" in pilot.nodes, "it is in the graph")
        (garden / "Fresh.md").unlink()
        await pilot.until(lambda: not pilot.files.model.index_of("Fresh.md").isValid())
        await pilot.until(lambda: "Fresh.md" not in pilot.nodes)

    app_run(use)


@pytest.fixture
def late_autosave(settings: Settings) -> None:
    """Delay autosave, so that typed text stays unsaved as long as a test needs it."""
    settings.editor.autosave_delay = 120
    save_settings(settings)


def test_typed_text_is_saved_without_being_asked_and_is_one_entry_of_the_history(
    app_run, settings: Settings, garden: Path
) -> None:
    settings.editor.autosave_delay = 0.5
    save_settings(settings)
    mint = garden / "Plants/Mint.md"
    before = mint.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Plants/Mint.md")
        tabs = note.parentWidget().parentWidget()
        for number, typed in enumerate(TYPED, 1):
            await pilot.write_at_end(note, typed.decode())
            assert tabs.tabText(0) == "Mint"
            await pilot.until(lambda: not note.document.is_dirty, "it is saved")
            assert mint.read_bytes() == before + b"".join(TYPED[:number])
        # The other tab takes the focus: the typed text is saved before any delay ends.
        settings.editor.autosave_delay = 120
        pilot.window._apply_settings(settings)
        await pilot.write_at_end(note, " Often.")
        await pilot.open_note("Tea.md")
        await pilot.until(lambda: mint.read_bytes().endswith(b" Often."), "it is saved")
        # One line of the activity feed stands for the session and shows all of it.
        panel = await show_feed(pilot)

        def session() -> list[ActivityItem]:
            return [each for each in activities(pilot.window.view.feed) if each.saves >= 3]

        await pilot.until(session, "the line of the session")
        (line,) = session()
        panel.diff_requested.emit(line.entry.id)
        await pilot.until(lambda: pilot.sheets, "the change is shown")
        changes = pilot.sheets[0]
        assert isinstance(changes, ChangesDialog) and changes.list.count() == 1
        await pilot.until(lambda: changes.diff_view.diff is not None, "it is compared")
        assert b"".join(changes.diff_view.diff.before) == before
        assert b"".join(changes.diff_view.diff.after) == mint.read_bytes()
        await pilot.press("Close")
        await pilot.until(lambda: not pilot.sheets)
        pilot.window.view.commands.run_command("history", "Plants/Mint.md")
        await pilot.until(lambda: pilot.sheets, "the history")
        dialog = pilot.sheets[0]
        assert isinstance(dialog, HistoryDialog)
        await pilot.until(
            lambda: dialog.list.topLevelItemCount() == 2, "one sitting, and what was there before"
        )
        assert dialog.list.topLevelItem(0).childCount() == 4
        await pilot.press("Close")

    app_run(use)


def asks_about(note: NoteView, file: Path) -> bool:
    """Return whether the note asks about the file's current content, not about a partial write."""
    conflict = note.document.conflict
    theirs = conflict.theirs if conflict is not None else None
    return (
        "changed outside" in note.notice.text and theirs is not None and theirs.content == file.read_bytes()
    )


@pytest.mark.usefixtures("late_autosave")
def test_an_outside_edit_of_unsaved_text_asks_and_merging_keeps_both(app_run, garden: Path) -> None:
    water = garden / "Water.md"
    water.write_bytes(b"# Water\n\nOne.\n\nTwo.\n\nThree.\n")

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "Mine.")
        water.write_bytes(b"# Water\n\nTheirs.\n\nTwo.\n\nThree.\n")
        await pilot.until(lambda: asks_about(note, water), "it asks")
        assert "Mine." in note.editor.toPlainText() and "Theirs." not in note.editor.toPlainText()
        await pilot.press("Merge", note)
        await pilot.until(lambda: not note.document.is_dirty, "it is saved")
        assert water.read_bytes() == b"# Water\n\nTheirs.\n\nTwo.\n\nThree.\nMine."
        assert note.notice.text == ""
        note.editor.setFocus()
        pilot.ctrl(Qt.Key.Key_Z)
        assert note.editor.toPlainText() == "# Water\n\nOne.\n\nTwo.\n\nThree.\nMine."
        pilot.ctrl(Qt.Key.Key_Y)
        assert note.editor.toPlainText().startswith("# Water\n\nTheirs.")
        await pilot.until(lambda: not note.document.is_dirty)
        assert water.read_bytes() == b"# Water\n\nTheirs.\n\nTwo.\n\nThree.\nMine."
        # Both changed the same line: the discarded text stays in the history.
        await pilot.write_at_end(note, " And more.")
        water.write_bytes(b"# Water\n\nTheirs.\n\nTwo.\n\nThree.\nTheirs again.")
        await pilot.until(lambda: asks_about(note, water), "it asks")
        assert note.parentWidget().parentWidget().tabText(0) == "● Water"
        # Ctrl+S shows both sides; deciding later changes nothing.
        note.editor.setFocus()
        pilot.ctrl(Qt.Key.Key_S)
        await pilot.until(lambda: pilot.sheets, "both sides")
        await pilot.press("Decide later")
        await pilot.until(lambda: not pilot.sheets)
        assert water.read_bytes().endswith(b"Theirs again.") and note.document.is_dirty
        await pilot.press("Keep mine", note)
        await pilot.until(lambda: not note.document.is_dirty, "it is saved")
        assert water.read_bytes() == b"# Water\n\nTheirs.\n\nTwo.\n\nThree.\nMine. And more."
        path = note.document.page.path
        versions = await pilot.run(lambda ws: ws.journal.history(path))
        kept = [await pilot.run(lambda ws, v=v: ws.journal.content(v.hash)) for v in versions]
        assert any(content.endswith(b"Theirs again.") for content in kept)

    app_run(use)


@pytest.mark.usefixtures("late_autosave")
def test_a_note_that_is_deleted_outside_keeps_its_unsaved_text(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "Mine.")
        (garden / "Water.md").unlink()
        await pilot.until(lambda: "deleted, or moved" in note.notice.text, "it is told")
        assert note.editor.toPlainText().endswith("Mine.")
        await pilot.press("Create it again", note)
        await pilot.until(lambda: not note.document.is_dirty)
        assert (garden / "Water.md").read_bytes().endswith(b"#nature\nMine.")

    app_run(use)


def test_links_and_backlinks_lead_from_note_to_note(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Plants/Camellia.md")
        await pilot.show_reading(note)
        await pilot.until(lambda: "real tea" in note.reader.toPlainText(), "it is drawn")
        await pilot.follow(note.reader, "real tea")
        tea = await pilot.shown("Tea.md")
        await pilot.press("Show links (Ctrl+Shift+L)", tea)
        await pilot.until(lambda: pilot._buttons("Mint", tea.links), "its backlinks are shown")
        assert pilot._buttons("Camellia", tea.links) and pilot._buttons("Water", tea.links)
        await pilot.press("Mint", tea.links)
        await pilot.shown("Plants/Mint.md")
        await pilot.front()
        QTest.keyClick(pilot.window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
        tea = await pilot.shown("Tea.md")
        # An unresolved name: the user is asked whether to create the note.
        await pilot.show_reading(tea)
        await pilot.until(lambda: "Kettle" in tea.reader.toPlainText())
        await pilot.follow(tea.reader, "Kettle")
        await pilot.until(lambda: pilot.sheets, "the question")
        await pilot.press("Create")
        await pilot.shown("Kettle.md")
        assert (garden / "Kettle.md").read_bytes() == b"# Kettle\n"

    app_run(use)


def test_links_to_names_with_odd_characters(app_run, garden: Path) -> None:
    names = ("100% sure", "Why now?", "茶 & 水", "🍵 tea+milk")
    for name in names:
        (garden / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")
    (garden / "Hub.md").write_text("\n\n".join(f"[[{name}|to {at}]]" for at, name in enumerate(names)))

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        for at, name in enumerate(names):
            hub = await pilot.open_note("Hub.md")
            await pilot.show_reading(hub)
            await pilot.until(lambda at=at, hub=hub: f"to {at}" in hub.reader.toPlainText())
            await pilot.follow(hub.reader, f"to {at}")
            await pilot.shown(f"{name}.md")

    app_run(use)


def test_search_finds_and_opens_at_the_line(app_run, garden: Path) -> None:
    (garden / "Long.md").write_text("# Long\n\n" + "filler\n" * 300 + "the samovar hums\n" + "filler\n" * 300)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.front()
        control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
        QTest.keyClick(pilot.window, Qt.Key.Key_F, control | shift)
        await pilot.until(pilot.search.field.isVisible)
        QTest.keyClicks(pilot.search.field, "samovar")
        await pilot.until(lambda: len(pilot.search.model.rows) == 2, "it is found")
        line = pilot.search.model.rows[1].snippet
        assert line is not None and line.line == 303 and "samovar" in line.text
        place = pilot.search.list.visualRect(pilot.search.model.index(1, 0)).center()
        await pilot.click(pilot.search.list.viewport(), place)
        note = await pilot.shown("Long.md")
        await pilot.edit(note)
        await pilot.until(lambda: note.editor.textCursor().blockNumber() == 302, "the cursor is at the line")
        # The results follow the query; an invalid query shows its position.
        pilot.search.field.setFocus()
        pilot.search.field.selectAll()
        QTest.keyClicks(pilot.search.field, "tag:nature -samovar")
        await pilot.until(
            lambda: {r.hit.path.text for r in pilot.search.model.rows} == {"Water.md", "Plants/Camellia.md"}
        )
        QTest.keyClicks(pilot.search.field, " (")
        await pilot.until(pilot.search.problem.isVisible, "the mistake is told")

    app_run(use)


@pytest.mark.usefixtures("late_autosave")
def test_closing_saves_first(app_run, garden: Path) -> None:
    water = garden / "Water.md"
    before = water.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "Typed.")
        pilot.window.close()
        await pilot.until(pilot.window.ended.is_set, "it closes without a question")
        assert water.read_bytes() == before + b"Typed."

    app_run(use)


@pytest.mark.usefixtures("late_autosave")
def test_quitting_during_a_conflict_asks_and_keeps_both_texts(app_run, garden: Path) -> None:
    water = garden / "Water.md"

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "Mine.")
        water.write_bytes(water.read_bytes() + b"Theirs.")
        await pilot.until(lambda: "changed outside" in note.notice.text, "it asks")
        pilot.window.close()
        await pilot.press("Keep it open")
        await pilot.until(lambda: not pilot.sheets)
        assert not pilot.window.ended.is_set() and note.document.is_dirty
        pilot.window.close()
        await pilot.press("Compare…")
        await pilot.press("Keep theirs")
        await pilot.press("Save")
        await pilot.until(pilot.window.ended.is_set, "it closes")
        assert water.read_bytes().endswith(b"Theirs.")

    app_run(use)


def test_without_autosave_closing_asks(app_run, settings: Settings, garden: Path) -> None:
    settings.editor.autosave = False
    save_settings(settings)
    water = garden / "Water.md"
    before = water.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "Unsaved.")
        assert note.parentWidget().parentWidget().tabText(0) == "● Water"
        pilot.window.close()
        await pilot.press("Cancel")
        await pilot.until(lambda: not pilot.sheets)
        assert not pilot.window.ended.is_set() and note.document.is_dirty and water.read_bytes() == before
        pilot.window.close()
        await pilot.press("Save")
        await pilot.until(pilot.window.ended.is_set)
        assert water.read_bytes() == before + b"Unsaved."

    app_run(use)

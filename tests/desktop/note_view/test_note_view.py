"""A note in its view, on a real vault: shown, edited, linked, kept after a crash, never too much of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPushButton

from app.desktop.bridge import Service
from app.desktop.note_view import page as pages
from app.desktop.note_view.drafts import Drafts
from app.desktop.note_view.property_rows import ListValue, TextValue
from app.desktop.note_view.view import WRITE, NoteView
from app.desktop.notes.editor.mode import ViewMode
from app.desktop.theme import ThemeSource
from app.vault.path import NotePath
from tests.desktop.whole_vault import WholeVault, whole_vault

NOTES = {
    "A.md": (
        "---\ntags: [one, two]\ndone: true\nsource: '[[B]]'\n---\n# A\n\nSee [[B#Part]] and [[Not yet]].\n"
    ),
    "B.md": (
        "# B\n\n## Part\n\n- supports [[A]] (confidence: 0.8)\n\n    Here A stands alone, as does Alpha.\n"
    ),
    "Alpha.md": "# Alpha\n",
    "Broken.md": "---\ntags: [one\n---\n# Broken\n",
}
A = NotePath.parse("A.md")


@pytest.fixture
def opened(service: Service, tmp_path: Path, qtbot) -> Callable:
    """`async with opened("A.md") as (vault, view)`: a note of a real vault in its view."""

    @asynccontextmanager
    async def make(
        name: str, notes: dict[str, str] | None = None
    ) -> AsyncIterator[tuple[WholeVault, NoteView]]:
        async with whole_vault(tmp_path / "vault", service, notes or NOTES) as vault:
            view = NoteView(vault.client, ThemeSource("light"))
            qtbot.addWidget(view)
            view.resize(700, 800)
            view.show()
            await view.open(name)
            yield vault, view

    return make


def test_a_list_property_is_edited_by_its_chips_and_only_its_line_changes(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            tags = view.properties.value_editor("tags")
            assert isinstance(tags, ListValue)
            tags.field.setText("#three")
            tags.field.editingFinished.emit()
            fresh = NOTES["A.md"].replace("[one, two]", "[one, two, three]")
            await wait_until(lambda: (vault.root / "A.md").read_text() == fresh)
            await wait_until(lambda: not view.document.dirty)
            view.editor.undo()
            assert view.editor.toPlainText() == NOTES["A.md"]
            view.document.throw_away()

    gui(main())


def test_a_property_is_added_changed_and_removed(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            view.properties.add("rating", "4")
            await wait_until(lambda: "rating: 4\n" in file.read_text())
            view.properties.fold.setChecked(True)
            await wait_until(lambda: "rating" in view.properties._editors)
            rating = view.properties.value_editor("rating")
            assert isinstance(rating, TextValue)
            rating.field.setText("5")
            rating.field.editingFinished.emit()
            await wait_until(lambda: "rating: 5\n" in file.read_text())
            view.properties.removed.emit("rating")
            await wait_until(lambda: file.read_text() == NOTES["A.md"])

    gui(main())


def test_broken_properties_are_named_and_not_edited(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("Broken.md") as (_, view):
            assert "can't be read" in view.properties._problem.text()
            assert view.properties.has_problem
            view.properties.source_wanted.emit()
            assert view.editing

    gui(main())


def test_links_of_the_source_lead_where_they_say(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (_, view):
            went: list[tuple[str, str]] = []
            made: list[str] = []
            view.open_requested.connect(lambda path, fragment: went.append((path, fragment)))
            view.create_requested.connect(made.append)
            view.editor.link_followed.emit("note", "B#Part|alias")
            view.editor.link_followed.emit("address", "B.md#Part")
            await wait_until(lambda: went == [("B.md", "Part"), ("B.md", "Part")])
            view.editor.link_followed.emit("note", "Not yet")
            await wait_until(lambda: made == ["Not yet"])

    gui(main())


def test_the_links_pane_shows_types_and_links_a_mention(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("Alpha.md") as (vault, view):
            view.toggle_links()
            find = view.links.findChildren
            await wait_until(lambda: any(b.text() == "Link" for b in find(QPushButton)))
            next(b for b in find(QPushButton) if b.text() == "Link").click()
            await wait_until(lambda: "as does [[Alpha]]." in (vault.root / "B.md").read_text())
            assert len(vault.asked) == 1

    gui(main())


def test_a_note_of_100_mb_in_one_line_is_shown_in_part_and_never_written(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            huge = vault.root / "Huge.md"
            with huge.open("wb") as stream:
                for _ in range(100):
                    stream.write(b"word and " * (2**20 // 9))
            found = await vault.client.run(lambda ws: ws.index.refresh([NotePath.parse("Huge.md")]))
            assert found is not None
            page = await vault.client.run(lambda ws: pages.load(ws, NotePath.parse("Huge.md")))
            assert len(page.content) < 2**20
            assert "Only its beginning is shown" in page.problem
            view.document._take(page)
            assert view.editor.isReadOnly()
            assert "Only its beginning" in view.notice.text
            view.document.touched()
            assert not view.document.dirty

    gui(main())


def test_a_long_line_in_a_small_note_is_shown_in_part_too(gui, opened, wait_until) -> None:
    async def main() -> None:
        notes = {"Line.md": "start\n" + "x" * 150_000 + "\nend\n"}
        async with opened("Line.md", notes) as (_, view):
            assert view.editor.isReadOnly()
            assert max(map(len, view.editor.toPlainText().split("\n"))) < 3000

    gui(main())


def test_a_large_note_is_opened_whole_and_is_not_dirty(gui, opened, wait_until) -> None:
    async def main() -> None:
        text = "# Large\n\n" + "Some **words** with a [[A]] and #tag 🧭.\n\n" * 40_000
        async with opened("Large.md", {**NOTES, "Large.md": text}) as (_, view):
            view.editor.moveCursor(QTextCursor.MoveOperation.End)
            assert view.document.editable
            assert not view.document.dirty
            assert view.document.text == text

    gui(main())


def test_unsaved_text_is_offered_after_a_crash(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            view.editor.moveCursor(QTextCursor.MoveOperation.End)
            view.editor.insertPlainText("typed 🧭")
            assert view.document.dirty
            view.document.keep_draft()
            again = NoteView(vault.client, ThemeSource("dark"))
            await again.open("A.md")
            assert "unsaved text" in again.notice.text
            again.notice.answer("Restore")
            assert again.editor.toPlainText() == NOTES["A.md"] + "typed 🧭"
            assert await again.document.save()
            assert (vault.root / "A.md").read_text() == NOTES["A.md"] + "typed 🧭"
            assert Drafts(vault.client.workspace.root).load(A) is None
            view.document.throw_away()
            again.deleteLater()

    gui(main())


def test_find_counts_goes_on_and_replaces_all_as_one_step(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("B.md") as (_, view):
            view.replace_text()
            bar = view.find_bar
            bar.field.setText("a")
            assert bar._count.text().startswith("1 of ")
            assert bar.find_next()
            assert bar._count.text().startswith("2 of ")
            bar.replacement.setText("🧭")
            bar.replace_all()
            assert "a" not in view.editor.toPlainText().casefold()
            view.editor.undo()
            assert view.editor.toPlainText() == NOTES["B.md"]
            view.document.throw_away()

    gui(main())


def test_an_empty_note_says_so_and_offers_to_write(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("Blank.md", {"Blank.md": "---\nkey: value\n---\n\n", "B.md": "b"}) as (vault, view):
            view.show_mode(ViewMode.READING)
            await wait_until(view.nothing.isVisible)
            view.nothing.findChild(QPushButton).click()
            assert view.editing
            view.editor.insertPlainText("words")
            view.show_mode(ViewMode.READING)
            assert view.reader.isVisible()
            assert await view.document.save()
            assert (vault.root / "Blank.md").read_text() == "---\nkey: value\n---\n\nwords"

    gui(main())


def test_a_note_that_was_just_made_is_written_in_at_once(gui, opened) -> None:
    async def main() -> None:
        async with opened("A.md") as (_, view):
            await view.open("A.md", WRITE)
            assert view.editing and view.editor.textCursor().atEnd()

    gui(main())

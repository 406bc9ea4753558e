"""A note in its view, on a real vault: shown, edited, linked, recovered after a crash, limited in size."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import shiboken6
from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QImage, QTextCursor, QTextDocument
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.desktop.bridge import ServiceThread
from app.desktop.notes import loader
from app.desktop.notes.drafts import DraftStore
from app.desktop.notes.editor import inline_scanner as inline
from app.desktop.notes.editor.mode import ViewMode
from app.desktop.notes.preview import Preview
from app.desktop.notes.property_rows import ListValue, TextValue
from app.desktop.notes.view import EDIT_ACTION_PREFIX, NoteView
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.reading_view import ReadingView
from app.permissions.caller import Caller
from app.toolkit.call import Call
from app.vault.note import Span
from app.vault.path import NotePath
from app.vault.span_reference import fragment_of
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
USER = Caller.user()


@pytest.fixture
def opened(service: ServiceThread, tmp_path: Path, qtbot) -> Callable:
    """Open a note of a real vault in its view: `async with opened("A.md") as (vault, view)`."""

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


def test_a_tab_that_is_closed_while_its_note_loads_reports_no_error(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, _):
            view = NoteView(vault.client, ThemeSource("light"))
            await view.open("A.md")
            async with view._opening_lock:
                loading = asyncio.ensure_future(view.open("A.md"))
                await wait_until(lambda: view._opening_lock._waiters)
                shiboken6.delete(view)
            await loading

    gui(main())


def test_a_list_property_is_edited_by_its_chips_and_only_its_line_changes(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            view.properties.fold_button.setChecked(True)
            tags = view.properties._editors["tags"]
            assert isinstance(tags, ListValue)
            tags.field.setText("#three")
            tags.field.editingFinished.emit()
            expected = NOTES["A.md"].replace("[one, two]", "[one, two, three]")
            await wait_until(lambda: (vault.root / "A.md").read_text() == expected)
            await wait_until(lambda: not view.document.is_dirty)
            view.editor.undo()
            assert view.editor.toPlainText() == NOTES["A.md"]
            view.document.discard_changes()

    gui(main())


def test_a_property_is_added_changed_and_removed(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            file = vault.root / "A.md"
            view.properties.add("rating", "4")
            await wait_until(lambda: "rating: 4\n" in file.read_text())
            view.properties.fold_button.setChecked(True)
            await wait_until(lambda: "rating" in view.properties._editors)
            rating = view.properties._editors["rating"]
            assert isinstance(rating, TextValue)
            rating.field.setText("5")
            rating.field.editingFinished.emit()
            await wait_until(lambda: "rating: 5\n" in file.read_text())
            view.properties.removed.emit("rating")
            await wait_until(lambda: file.read_text() == NOTES["A.md"] and not view.document.is_dirty)

    gui(main())


def test_broken_properties_are_named_and_not_edited(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("Broken.md") as (_, view):
            assert "can't be read" in view.properties._problem.text()
            assert view.properties.has_problem
            view.properties.source_requested.emit()
            assert view.is_editing

    gui(main())


def test_links_in_the_source_open_their_targets(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (_, view):
            opened_notes: list[tuple[str, str]] = []
            created_names: list[str] = []
            view.open_requested.connect(lambda path, fragment: opened_notes.append((path, fragment)))
            view.create_requested.connect(created_names.append)
            view.editor.link_followed.emit("note", "B#Part|alias")
            view.editor.link_followed.emit("address", "B.md#Part")
            await wait_until(lambda: opened_notes == [("B.md", "Part"), ("B.md", "Part")])
            view.editor.link_followed.emit("note", "Not yet")
            await wait_until(lambda: created_names == ["Not yet"])

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
            found = await vault.run(lambda ws: ws.index.refresh([NotePath.parse("Huge.md")]))
            assert found is not None
            page = await vault.client.run(lambda vault: vault.notes.load(NotePath.parse("Huge.md")))
            assert len(page.content) < 2**20
            assert "Only its beginning is shown" in page.problem
            view.document._set_page(page)
            assert view.editor.isReadOnly()
            assert "Only its beginning" in view.notice.text
            view.document.mark_edited()
            assert not view.document.is_dirty

    gui(main())


def test_a_long_line_in_a_small_note_is_shown_in_part_too(gui, opened, wait_until) -> None:
    async def main() -> None:
        notes = {"Line.md": "start\n" + "x" * 300_000 + "\nend\n"}
        async with opened("Line.md", notes) as (_, view):
            assert view.editor.isReadOnly()
            assert max(map(len, view.editor.toPlainText().split("\n"))) < 3000

    gui(main())


def test_a_large_note_is_opened_completely_and_is_not_dirty(gui, opened, wait_until) -> None:
    async def main() -> None:
        text = "# Large\n\n" + "Some **words** with a [[A]] and #tag 🧭.\n\n" * 40_000
        async with opened("Large.md", {**NOTES, "Large.md": text}) as (_, view):
            view.editor.moveCursor(QTextCursor.MoveOperation.End)
            assert view.document.is_editable
            assert not view.document.is_dirty
            assert view.document.text == text

    gui(main())


def test_unsaved_text_is_offered_after_a_crash(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            view.editor.moveCursor(QTextCursor.MoveOperation.End)
            view.editor.insertPlainText("typed 🧭")
            assert view.document.is_dirty
            view.document.save_draft()
            again = NoteView(vault.client, ThemeSource("dark"))
            await again.open("A.md")
            assert "unsaved text" in again.notice.text
            again.notice.answer("Restore")
            assert again.editor.toPlainText() == NOTES["A.md"] + "typed 🧭"
            assert await again.document.save()
            assert (vault.root / "A.md").read_text() == NOTES["A.md"] + "typed 🧭"
            assert DraftStore(vault.workspace.root).load(A) is None
            view.document.discard_changes()
            again.deleteLater()

    gui(main())


def test_find_counts_continues_and_replaces_all_as_one_step(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("B.md") as (_, view):
            view.replace_text()
            bar = view.find_bar
            bar.field.setText("a")
            assert bar._count_label.text().startswith("1 of ")
            assert bar.find_next()
            assert bar._count_label.text().startswith("2 of ")
            bar.replacement.setText("🧭")
            bar.replace_all()
            assert "a" not in view.editor.toPlainText().casefold()
            view.editor.undo()
            assert view.editor.toPlainText() == NOTES["B.md"]
            view.document.discard_changes()

    gui(main())


def test_one_escape_closes_finding_and_gives_the_note_the_focus(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("B.md") as (_, view):
            view.activateWindow()
            view.find_text()
            bar = view.find_bar
            bar.field.setText("a")
            assert len(view.editor.extraSelections()) > 1 and view.editor._match_bar.positions
            QTest.keyClick(bar.field, Qt.Key.Key_Escape)
            assert (
                bar.isHidden() and not view.editor.extraSelections() and not view.editor._match_bar.positions
            )
            await wait_until(view.editor.hasFocus)

    gui(main())


def test_the_mode_of_a_note_is_remembered(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            assert view.mode is ViewMode.LIVE
            view.toggle_mode()
            assert view.mode is ViewMode.SOURCE and view.editor.flow.shows_source
            view.toggle_mode()
            assert view.mode is ViewMode.READING
            await wait_until(lambda: "Not yet" in view.reader.toPlainText())
            again = NoteView(vault.client, ThemeSource("light"), view)
            await again.open("A.md")
            assert again.mode is ViewMode.READING
            await again.open("B.md")
            assert again.mode is ViewMode.LIVE
            view.toggle_mode()
            assert view.mode is ViewMode.LIVE and not view.document.is_dirty

    gui(main())


def test_a_task_is_checked_and_a_callout_unfolded_in_the_reading_view(gui, opened, wait_until) -> None:
    text = "%%\n- [ ] same\n%%\n\n- [ ] same\n- [ ] same\n\n> [!note]- Title\n> inside\n"

    async def main() -> None:
        async with opened("T.md", {"T.md": text}) as (_, view):
            view.show_mode(ViewMode.READING)
            await wait_until(lambda: "Title" in view.reader.toPlainText())
            assert "inside" not in view.reader.toPlainText()
            view.reader.anchorClicked.emit(QUrl("fold:0"))
            await wait_until(lambda: "inside" in view.reader.toPlainText())
            view.reader.anchorClicked.emit(QUrl("task:1#same"))
            expected = text.replace("same\n- [ ]", "same\n- [x]")
            assert view.editor.text() == expected
            await wait_until(lambda: "☑" in view.reader.toPlainText())
            view.activateWindow()
            view.reader.setFocus()
            await wait_until(view.reader.hasFocus)
            QTest.keyClick(view.reader, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
            assert view.editor.text() == text and not view.document.is_dirty
            await wait_until(lambda: "☑" not in view.reader.toPlainText())

    gui(main())


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_only_notes_are_previewed(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("T.md", {"T.md": "[[Other]] ![[x.png]]", "Other.md": "words"}) as (_, view):
            (view._client.root / "x.png").write_bytes(b"\x89PNG")
            view._hover_note("x.png", QPoint(5, 5))
            assert view._preview is None or not view._preview._hover_timer.isActive()
            view._hover_note("Other.md", QPoint(5, 5))
            await wait_until(lambda: view._preview.isVisible())
            assert view._preview._text.toPlainText() == "words"
            view._preview.hide()

    gui(main())


def test_links_headings_blocks_and_tags_are_completed_from_the_vault(gui, opened, wait_until) -> None:
    notes = {**NOTES, "Long.md": "# First\n\n## Second\n\nWords here. ^key\n\n#topic\n"}

    async def main() -> None:
        async with opened("Long.md", notes) as (_, view):
            editor = view.editor
            editor.activateWindow()
            editor.setFocus()
            await wait_until(editor.hasFocus)
            for typed, done in (
                ("[[Alp", "[[Alpha]]"),
                ("[[#Sec", "[[#Second]]"),
                ("[[Long#Fi", "[[Long#First]]"),
                ("[[^ke", "[[#^key]]"),
                ("[[Long#^ke", "[[Long#^key]]"),
                ("[[Long^ke", "[[Long#^key]]"),
                ("x #top", "x #topic"),
            ):
                editor.moveCursor(QTextCursor.MoveOperation.End)
                QTest.keyClick(editor, Qt.Key.Key_Return)
                QTest.keyClicks(editor, typed)
                await wait_until(lambda: editor._popup.is_open)
                QTest.keyClick(editor, Qt.Key.Key_Return)
                assert editor.text().endswith(done)
            view.document.discard_changes()

    gui(main())


def test_pictures_formulas_and_embedded_notes_are_drawn(gui, opened, wait_until) -> None:
    text = "start\n\n![[p.png]]\n\n![[Alpha]]\n\nan $x^2$ here\n\n![[missing.png]]\n"
    text += "\n| a | b |\n| - | -: |\n| an $y^2$ here | $z$ |\n"

    async def main() -> None:
        async with opened("T.md", {**NOTES, "T.md": text}) as (vault, view):
            QImage(40, 30, QImage.Format.Format_RGB32).save(str(vault.root / "p.png"))
            flow = view.editor.flow

            def drawn() -> bool:
                view.editor.refresh_files()
                view.editor.viewport().repaint()
                formula = flow.row(6).fragments[0].drawings
                cells = [len(fragment.drawings) for fragment in flow.row(12).fragments]
                return bool(flow.row(2).drawing and flow.row(4).drawing and formula and cells == [1, 1])

            await wait_until(drawn)
            assert (flow.row(2).drawing.width, flow.row(2).drawing.height) == (40, 30)
            assert flow.row(8).fragments[0].layout.text() == "missing.png"
            assert "$" not in "".join(fragment.layout.text() for fragment in flow.row(12).fragments)
            assert not view.document.is_dirty

    gui(main())


def test_an_unresolved_link_is_styled_until_its_note_exists(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            text_format = view.editor.flow.style.text_format(inline.LINK | inline.UNRESOLVED)
            unresolved = text_format.foreground().color()

            def unresolved_texts() -> list[str]:
                (fragment,) = view.editor.flow.row(7).fragments
                formats = fragment.layout.formats()
                return [
                    fragment.layout.text()[one.start : one.start + one.length]
                    for one in formats
                    if one.format.foreground().color() == unresolved
                ]

            view.editor.go_to_line(7)
            await wait_until(lambda: unresolved_texts() == ["Not yet"])
            (vault.root / "Not yet.md").write_text("here")
            await wait_until(lambda: unresolved_texts() == [])

    gui(main())


def test_a_note_that_embeds_its_own_section_shows_what_was_saved(gui, opened, wait_until) -> None:
    text = "start\n\n![[#Part]]\n\n## Part\n\none\n"

    async def main() -> None:
        async with opened("Own.md", {"Own.md": text}) as (_, view):
            flow, seen = view.editor.flow, []

            def has_new_drawing() -> bool:
                view.editor.viewport().repaint()
                drawing = flow.row(2).drawing
                if drawing is not None and drawing not in seen:
                    seen.append(drawing)
                    return True
                return False

            await wait_until(has_new_drawing)
            view.editor.moveCursor(QTextCursor.MoveOperation.End)
            view.editor.insertPlainText("\ntwo\n\nthree\n")
            assert await view.document.save()
            await wait_until(has_new_drawing)
            assert seen[1].height > seen[0].height

    gui(main())


def test_properties_scroll_with_the_text_of_the_reading_view(gui, opened, wait_until) -> None:
    text = "---\nkey: value\n---\n# Top\n\n" + "words\n\n" * 200

    async def main() -> None:
        async with opened("Long.md", {"Long.md": text}) as (_, view):
            view.show_mode(ViewMode.READING)
            await wait_until(lambda: "words" in view.reader.toPlainText())
            form, reader = view.properties, view.reader

            def first_line() -> int:
                return reader.viewport().y() + reader.cursorRect(QTextCursor(reader.document())).top()

            assert form.isVisible() and form.geometry().top() == 0
            assert 0 < form.geometry().bottom() <= first_line() <= form.geometry().bottom() + 40
            form.fold_button.setChecked(True)
            await wait_until(
                lambda: form.geometry().bottom() <= first_line() <= form.geometry().bottom() + 40
            )
            reader.verticalScrollBar().setValue(1000)
            assert form.geometry().bottom() < 0
            view.show_mode(ViewMode.LIVE)
            assert form.isVisible() and form.parentWidget() is view.editor.viewport()

    gui(main())


@pytest.mark.parametrize("line", ["# A", "See [[B#Part]] and [[Not yet]].", "tags: [one, two]"])
def test_properties_stay_a_form_when_another_program_changes_them(gui, opened, wait_until, line: str) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            editor, form = view.editor, view.properties
            editor.go_to_line(editor.text().split("\n").index(line) + 1)
            is_in_properties = line.startswith("tags")
            assert form.isVisible() is not is_in_properties
            properties = {f"key {number}": "a value" for number in range(8)}
            for change in ({"properties": properties}, {"remove": [*properties, "source"]}):
                call = {"name": "A.md", **change}
                old_text = editor.text()
                await vault.run(lambda ws, call=call: ws.runner.run(Call.of("set_properties", call, USER)))
                await wait_until(lambda old_text=old_text: editor.text() != old_text)
                assert editor.textCursor().block().text() == line
                assert form.isVisible() is not is_in_properties

    gui(main())


def test_an_empty_note_shows_a_message_and_a_write_button(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("Blank.md", {"Blank.md": "---\nkey: value\n---\n\n", "C.md": "\n"}) as (
            vault,
            view,
        ):
            view.show_mode(ViewMode.READING)
            await wait_until(view.empty_state.isVisible)
            assert view.empty_state._heading.text() == "This note has no text"
            await view.open("C.md")
            view.show_mode(ViewMode.READING)
            assert view.empty_state._heading.text() == "This note is empty"
            await view.open("Blank.md")
            view.empty_state.findChild(QPushButton).click()
            assert view.is_editing
            view.editor.insertPlainText("words")
            view.show_mode(ViewMode.READING)
            assert view.reader.isVisible()
            assert await view.document.save()
            assert (vault.root / "Blank.md").read_text() == "---\nkey: value\n---\n\nwords"

    gui(main())


def test_links_of_the_previous_note_do_not_appear_in_the_next_one(
    gui, opened, wait_until, monkeypatch
) -> None:
    async def main() -> None:
        async with opened("A.md") as (vault, view):
            shown: list[str] = []
            monkeypatch.setattr(
                view.links, "show_links", lambda context: shown.append(str(context.record.path))
            )
            view.links.show()

            async def run_while_opening_another(work):
                result = await vault.client.run(work)
                if view.path == "A.md":
                    await view.open("B.md")
                return result

            monkeypatch.setattr(view._links, "_client", SimpleNamespace(run=run_while_opening_another))
            view._links.refresh()
            await wait_until(lambda: "B.md" in shown)
            assert "A.md" not in shown

    gui(main())


def test_a_new_note_opens_for_writing(gui, opened) -> None:
    async def main() -> None:
        async with opened("A.md") as (_, view):
            await view.open("A.md", EDIT_ACTION_PREFIX)
            assert view.is_editing and view.editor.textCursor().atEnd()

    gui(main())


def test_writing_starts_at_the_offset_in_a_note_with_crlf(gui, opened) -> None:
    async def main() -> None:
        async with opened("A.md", {"A.md": "one\r\ntwo\r\nthree\r\n"}) as (_, view):
            await view.open("A.md", f"{EDIT_ACTION_PREFIX}10")
            assert view.editor.textCursor().block().text() == "three"
            assert view.editor.textCursor().atBlockStart()

    gui(main())


def test_editor_settings_apply_to_open_notes(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("A.md", {**NOTES, "B.md": "Here is `code`."}) as (vault, view):
            settings = vault.workspace.settings.model_copy(deep=True)
            settings.editor.line_width = 500
            settings.editor.code_size = 13
            settings.editor.font_size = 17
            settings.editor.auto_pairs = False
            settings.editor.default_mode = "reading"
            await vault.run(lambda ws: ws.apply_settings(settings))
            await wait_until(lambda: view.editor.preferences.line_width == 500)
            assert view.editor.preferences.code_points == 13 and not view.editor.preferences.auto_pairs
            assert view.mode is ViewMode.LIVE
            await view.open("B.md")
            assert view.mode is ViewMode.READING
            await wait_until(lambda: "code" in view.reader.toPlainText())
            assert view.reader.viewport().width() == 500
            cursor = view.reader.document().find("Here")
            assert cursor.charFormat().font().pointSizeF() == pytest.approx(17)
            cursor = view.reader.document().find("code")
            assert cursor.charFormat().font().pointSizeF() == pytest.approx(13)
            view.show_mode(ViewMode.SOURCE)
            await view.open("A.md")
            await view.open("B.md")
            assert view.mode is ViewMode.SOURCE

    gui(main())


def test_a_diagram_shrinks_in_a_narrow_reading_view(gui, opened, wait_until) -> None:
    boxes = " --> ".join(f"{letter}[A box of words {letter}]" for letter in "ABCDE")
    text = f"# Wide\n\n```mermaid\nflowchart LR\n  {boxes}\n```\n"

    async def main() -> None:
        async with opened("T.md", {**NOTES, "T.md": text}) as (_, view):
            view.resize(420, 500)
            view.show_mode(ViewMode.READING)
            await wait_until(lambda: view.reader._loaded_urls)
            assert view.reader.document().idealWidth() <= view.reader.viewport().width()
            assert view.reader.horizontalScrollBar().maximum() == 0

    gui(main())


CITED = (
    "---\ntags: [x]\n---\n# Cited\n\n"
    + "A line of filling.\n\n" * 60
    + "The **answer** is [[B|here]], 😀 yes.\n"
)


@pytest.mark.parametrize("mode", [ViewMode.LIVE, ViewMode.SOURCE, ViewMode.READING])
def test_a_cited_passage_is_marked_and_in_view(gui, opened, wait_until, mode: ViewMode) -> None:
    async def main() -> None:
        async with opened("B.md", {"Cited.md": CITED, "B.md": "# B\n"}) as (vault, view):
            start = CITED.index("The **answer**")
            fragment = fragment_of(CITED, Span(start, len(CITED) - 1))
            await view.open("Cited.md")
            view.show_mode(mode)
            await view.open("Cited.md", fragment)
            shown = view.reader if mode is ViewMode.READING else view.editor
            await wait_until(lambda: len(shown.extraSelections()) == 1)
            marks = shown.extraSelections()
            cursor = QTextCursor(marks[0].cursor)
            words = "The answer is here, 😀 yes." if mode is ViewMode.READING else CITED[start:-1]
            assert cursor.selectedText() == words
            if mode is ViewMode.READING:
                assert shown.viewport().rect().contains(shown.cursorRect(cursor).center())
            assert (vault.root / "Cited.md").read_text("utf-8") == CITED
            await view.open("Cited.md", "Cited")
            assert not shown.extraSelections()

    gui(main())


def test_a_changed_passage_is_not_marked_and_the_user_is_informed(gui, opened) -> None:
    async def main() -> None:
        async with opened("B.md") as (_, view):
            await view.open("A.md", fragment_of("Something else", Span(0, 14)))
            assert "has changed since" in view.notice.text
            assert not view.editor.extraSelections()

    gui(main())


@pytest.mark.parametrize(("sizes", "width", "height"), [("500", 0, 0), ("120", 120, 60), ("120x30", 120, 30)])
def test_an_image_with_a_width_fits_a_narrow_reading_view(qtbot, sizes: str, width: int, height: int) -> None:
    reader = ReadingView(ThemeSource("light"))
    qtbot.addWidget(reader)
    reader.resize(340, 400)
    reader.show()
    wanted = "".join(f' {n}="{v}"' for n, v in zip(("width", "height"), sizes.split("x"), strict=False))
    html = f'<p><img src="vault:photo.png"{wanted} style="max-width:100%;"></p>'
    image = QImage(800, 400, QImage.Format.Format_RGB32)
    reader.show_rendered(loader.Rendered(html, {"vault:photo.png": image}), str(A))
    reader.viewport().repaint()
    assert not reader.horizontalScrollBar().maximum()
    block = reader.document().begin()
    box = reader.document().documentLayout().blockBoundingRect(block)
    (address,) = _addresses(reader)
    shown = reader.loadResource(_IMAGE, QUrl(address))
    size = shown.deviceIndependentSize()
    assert size.width() == (width or reader._available_width()) and size.height() <= box.height()
    assert size.height() == (height or reader._available_width() // 2)


def test_keys_reach_the_start_and_the_end_of_the_reading_view(gui, opened, wait_until) -> None:
    async def main() -> None:
        async with opened("Long.md", {"Long.md": "line\n\n" * 200}) as (_, view):
            view.show_mode(ViewMode.READING)
            bar = view.reader.verticalScrollBar()
            await wait_until(lambda: bar.maximum() > 0)
            QTest.keyClick(view.reader, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
            assert bar.value() == bar.maximum()
            QTest.keyClick(view.reader, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
            assert bar.value() == bar.minimum()

    gui(main())


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_preview_of_a_link_draws_formulas_and_images(gui, opened, wait_until) -> None:
    notes = {**NOTES, "F.md": "![[p.png]]\n\nan $x^2$ here\n"}

    async def main() -> None:
        async with opened("A.md", notes) as (vault, view):
            QImage(900, 30, QImage.Format.Format_RGB32).save(str(vault.root / "p.png"))
            await vault.client.run(lambda service: service.update_index(lambda progress: None))
            view.activateWindow()
            view.editor.link_hovered.emit("F", view.mapToGlobal(view.rect().center()))
            await wait_until(lambda: any(preview.isVisible() for preview in view.findChildren(Preview)))
            reader = view.findChild(Preview).findChild(ReadingView)
            images = [reader.loadResource(_IMAGE, QUrl(address)) for address in _addresses(reader)]
            assert len(images) == 2 and not any(image.isNull() for image in images)
            assert 0 < images[0].width() <= reader.viewport().width()
            # The height of the text depends on the machine's fonts and may round up by a pixel.
            assert reader.document().size().height() <= reader.viewport().height() + 1

    gui(main())


_IMAGE = QTextDocument.ResourceType.ImageResource.value


def _addresses(reader: ReadingView) -> list[str]:
    block, found = reader.document().begin(), []
    while block.isValid():
        fragments = block.begin()
        while not fragments.atEnd():
            form = fragments.fragment().charFormat()
            if form.isImageFormat():
                found.append(form.toImageFormat().name())
            fragments += 1
        block = block.next()
    return found

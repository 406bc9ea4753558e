"""Writing features: daily note, templates, outline, tasks, bookmarks, counts and exports."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QImage, QTextCursor
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QTreeWidget

from app.desktop.bookmarks.model import Bookmarks
from app.desktop.bookmarks.panel import BookmarksPanel
from app.desktop.outline.panel import OutlinePanel
from app.desktop.tasks.panel import TasksPanel
from app.desktop.widgets import dialogs
from app.permissions.caller import Caller, CallerKind
from tests.flows.conftest import write_vault
from tests.flows.pilot import Pilot
from tests.flows.window_driver import LEFT
from tests.support.running_tasks import running_tasks

AGENT = Caller(CallerKind.DESKTOP_AGENT, "agent", uses_model=False)
TODAY = date.today().isoformat()


DIAGRAM = "```mermaid\nflowchart LR\n  Leaf --> Tea\n```\n\n"


def pilot_is_printing() -> bool:
    return any("print_note" in repr(task) for task in running_tasks())


def texts(tree: QTreeWidget) -> dict[str, list[str]]:
    """Return the rows of a tree of two levels."""
    tops = [tree.topLevelItem(row) for row in range(tree.topLevelItemCount())]
    return {top.text(0): [top.child(row).text(0) for row in range(top.childCount())] for top in tops}


def test_the_daily_note_is_made_from_its_template_and_written_in(app_run, garden: Path) -> None:
    write_vault(
        garden,
        {
            ".obsidian/daily-notes.json": b'{"folder": "Days", "template": "Templates/Day"}',
            "Templates/Day.md": "---\ntags: [day]\nstatus: done\n---\n# {{title}}\n\n- {{cursor}}\n\nEnd\n",
            "Templates/Meeting.md": (
                "---\nstatus: open\ntags: [day, talk]\nplace: here\n---\n## Meeting of {{date}}\n{{cursor}}\n"
            ),
        },
    )

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.front()
        QTest.keyClick(pilot.window, Qt.Key.Key_D, Qt.KeyboardModifier.AltModifier)
        note = await pilot.shown(f"Days/{TODAY}.md")
        await pilot.until(lambda: note.is_editing and note.editor.hasFocus(), "it can be written in")
        QTest.keyClicks(note.editor, "typed")
        await pilot.until(lambda: not note.document.is_dirty, "it is saved")
        assert (garden / note.path).read_text() == (
            f"---\ntags: [day]\nstatus: done\n---\n# {TODAY}\n\n- typed\n\nEnd\n"
        )
        # The second time, the same note opens and nothing is written.
        pilot.window.menu.run("daily-note")
        await pilot.shown(f"Days/{TODAY}.md")
        assert len(pilot.notes) == 1
        note.editor.moveCursor(QTextCursor.MoveOperation.End)
        QTest.keyClicks(note.editor, "/templ")
        await pilot.until(lambda: note.editor._popup.is_open, "the command is offered")
        QTest.keyClick(note.editor, Qt.Key.Key_Return)
        await pilot.until(lambda: pilot.sheets, "the templates")
        listed = pilot.sheets[0].findChild(QListWidget)
        assert [listed.item(row).text() for row in range(listed.count())] == ["Day", "Meeting"]
        listed.setCurrentRow(1)
        await pilot.press("Insert")
        await pilot.until(lambda: f"Meeting of {TODAY}" in note.editor.toPlainText(), "it is inserted")
        # The template's properties are merged into the note's, which keep their values; one undo reverts all.
        merged = "---\ntags: [day, talk]\nstatus: done\nplace: here\n---\n"
        assert note.editor.toPlainText() == (
            f"{merged}# {TODAY}\n\n- typed\n\nEnd\n## Meeting of {TODAY}\n\n"
        )
        assert note.editor.textCursor().position() == len(note.editor.toPlainText()) - 1
        note.editor.undo()
        assert "Meeting" not in note.editor.toPlainText() and "place" not in note.editor.toPlainText()
        QApplication.clipboard().setText("plain *text*")
        pilot.window.menu.run("paste-plain")
        assert note.editor.toPlainText().endswith("plain *text*")
        only_html = QMimeData()
        only_html.setHtml("<h1>Tea</h1><p>with <b>milk</b><br>and sugar</p><script>no</script><img src='x'>")
        QApplication.clipboard().setMimeData(only_html)
        pilot.window.menu.run("paste-plain")
        assert note.editor.toPlainText().endswith("plain *text*Tea\nwith milk\nand sugar")
        note.editor.setFocus()
        pilot.window.menu.run("random-note")
        await pilot.until(lambda: pilot.note.path != note.path, "another note")
        await pilot.until(lambda: pilot.window.focusWidget() is pilot.note.editor, "it can be written in")

    app_run(use)


def test_a_tab_that_comes_to_the_front_can_be_written_in(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        first = await pilot.open_note("Plants/Camellia.md")
        first.editor.setFocus()
        await pilot.note_area.open("Water.md")
        assert pilot.note is not first and pilot.window.focusWidget() is pilot.note.editor
        pilot.files.tree.setFocus()
        await pilot.note_area.open("Plants/Camellia.md")
        assert pilot.window.focusWidget() is pilot.files.tree

    app_run(use)


def test_the_outline_follows_the_note_in_front(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Plants/Camellia.md")
        pilot.window.menu.run("show-outline")
        outline = pilot.panel("outline", OutlinePanel)
        await pilot.until(lambda: texts(outline.tree) == {"Camellia": ["Care"]}, "its headings")
        await pilot.edit(note)
        note.editor.moveCursor(QTextCursor.MoveOperation.End)
        note.editor.insertPlainText("\n## Cuts\n")
        await pilot.until(lambda: texts(outline.tree) == {"Camellia": ["Care", "Cuts"]}, "the new heading")
        place = outline.tree.visualItemRect(outline.tree.topLevelItem(0).child(0)).center()
        await pilot.click(outline.tree.viewport(), place)
        await pilot.until(lambda: note.editor.textCursor().block().text() == "## Care", "it is gone to")
        await pilot.open_note("Water.md")
        await pilot.until(lambda: texts(outline.tree) == {"Water": []}, "the other note")
        while pilot.note_area.current is not None:
            assert await pilot.note_area.close_current()
        await pilot.until(lambda: not outline.tree.isVisible(), "no note is open")

    app_run(use)


def test_tasks_are_grouped_and_a_click_changes_the_note(app_run, garden: Path) -> None:
    late = (date.today() - timedelta(days=3)).isoformat()
    write_vault(
        garden,
        {
            "Chores.md": f"# Chores\r\n\r\n- [ ] Water the mint #home 📅 {late}\r\n- [x] Done long ago\r\n",
            "Work.md": f"- [ ] Write [due:: {TODAY}]\n    1. [ ] Think #work\n",
        },
    )

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Chores.md")
        await pilot.edit(note)
        pilot.window.menu.run("show-tasks")
        panel = pilot.panel("tasks", TasksPanel)
        by_note = {"Chores": ["Water the mint #home"], "Work": ["Write", "Think #work"]}
        await pilot.until(lambda: texts(panel.tree) == by_note, "by note")
        panel.grouping.setCurrentIndex(1)
        by_due = {"Overdue": ["Water the mint #home"], "Today": ["Write"], "No due date": ["Think #work"]}
        await pilot.until(lambda: texts(panel.tree) == by_due, "by due date")
        panel.grouping.setCurrentIndex(2)
        await pilot.until(lambda: list(texts(panel.tree)) == ["#home", "#work", "No tag"], "by tag")
        box = panel.tree.visualItemRect(panel.tree.topLevelItem(0).child(0))
        QTest.mouseClick(
            panel.tree.viewport(),
            LEFT,
            Qt.KeyboardModifier.NoModifier,
            QPoint(box.left() + 10, box.center().y()),
        )
        checked = f"# Chores\r\n\r\n- [x] Water the mint #home 📅 {late}\r\n- [x] Done long ago\r\n"
        await pilot.until(lambda: (garden / "Chores.md").read_bytes() == checked.encode(), "the note changes")
        await pilot.until(lambda: "#home" not in texts(panel.tree), "the task goes")
        await pilot.until(lambda: "- [x] Water" in note.editor.toPlainText(), "the open note follows")
        assert not pilot.approvals.waiting
        panel.completed_button.click()
        await pilot.until(lambda: "Done long ago" in str(texts(panel.tree)), "completed ones")
        panel.filter.setText("no such task")
        await pilot.until(lambda: panel.empty.isVisible(), "nothing matches")
        assert "No matching tasks" in [label.text() for label in panel.empty.findChildren(QLabel)]
        panel.filter.setText("mint")
        await pilot.until(lambda: texts(panel.tree) == {"#home": ["Water the mint #home"]}, "filtered")
        # A click on the text goes to the task.
        words = panel.tree.visualItemRect(panel.tree.topLevelItem(0).child(0)).center()
        await pilot.click(panel.tree.viewport(), words)
        await pilot.until(lambda: note.editor.textCursor().blockNumber() == 2, "the line of the task")

    app_run(use)


def test_bookmarks_are_kept_follow_renames_and_show_those_of_obsidian(app_run, garden: Path) -> None:
    write_vault(
        garden,
        {
            ".obsidian/bookmarks.json": b'{"items": [{"type": "group", "title": "Plants", "items": ['
            b'{"type": "file", "path": "Plants/Mint.md", "title": "Minty"}]}]}'
        },
    )

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        tea = await pilot.open_note("Tea.md")
        pilot.window.menu.run("bookmark-note")
        pilot.window.menu.run("show-bookmarks")
        panel = pilot.panel("bookmarks", BookmarksPanel)
        await pilot.until(lambda: texts(panel.tree) == {"Tea": [], "Plants": ["Minty"]}, "both kinds")
        place = panel.tree.visualItemRect(panel.tree.topLevelItem(1).child(0)).center()
        await pilot.click(panel.tree.viewport(), place)
        await pilot.shown("Plants/Mint.md")
        call = {"name": "Tea", "new_name": "Green tea"}
        renaming = pilot.start_call("move_note", call, AGENT)
        await pilot.approve()
        assert (await renaming).success
        await pilot.until(lambda: "Green tea" in texts(panel.tree), "it follows")
        assert [item.target for item in Bookmarks(garden).items] == ["Green tea.md"]
        await pilot.until(lambda: tea.path == "Green tea.md", "the tab follows, too")
        await pilot.open_note("Green tea.md")
        await pilot.click(panel.add_button)
        await pilot.until(lambda: "Green tea" not in texts(panel.tree), "it is removed")

    app_run(use)


def test_words_are_counted_and_notes_exported(app_run, garden: Path, tmp_path: Path, monkeypatch) -> None:
    image = QImage(900, 20, QImage.Format.Format_RGB32)
    image.fill(0xFF0000)
    (garden / "My files").mkdir()
    image.save(str(garden / "My files/a red bar.png"))
    text = f"---\nkey: v\n---\n# Long\n\n![[a red bar.png]] [[Tea]] $x^2$\n\n{DIAGRAM}"
    write_vault(garden, {"Long.md": text + ("word " * 30 + "\n\n") * 1000})

    async def use(pilot: Pilot) -> None:
        async def pick(parent: object, title: str, suggestion: str, filters: str = "") -> Path:
            return tmp_path / suggestion

        monkeypatch.setattr(dialogs, "pick_save_file", pick)
        await pilot.open(garden)
        note = await pilot.open_note("Long.md")
        words = pilot.window.status.word_count
        await pilot.until(lambda: words.text().startswith("30,0"), "the words are counted")
        await pilot.edit(note)
        cursor = note.editor.textCursor()
        cursor.setPosition(note.document.text.index("word "))
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, 10)
        note.editor.setTextCursor(cursor)
        await pilot.until(lambda: words.text().startswith("2 of 30,0"), "those of the selection")
        for command, file in (("export-html", "Long.html"), ("export-pdf", "Long.pdf")):
            pilot.window.menu.run(command)
            await pilot.until(lambda f=file: (tmp_path / f).exists(), f"{file} is there")
        page = (tmp_path / "Long.html").read_text()
        assert page.count("word ") == 29_000 and "data:image/png;base64," in page
        assert page.count("data:image/png;base64,") == 3 and 'alt="x^2"' in page and "drawing:" not in page
        assert "note:" not in page and "vault:" not in page and ">Tea</a>" in page
        pdf = (tmp_path / "Long.pdf").read_bytes()
        assert pdf.startswith(b"%PDF") and b"/Image" in pdf and pdf.count(b"/Type /Page\n") > 10
        assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]

        async def print_to_file(dialog: QPrintDialog) -> int:
            dialog.printer().setOutputFormat(QPrinter.OutputFormat.PdfFormat)
            dialog.printer().setOutputFileName(str(tmp_path / "Printed.pdf"))
            return 1

        monkeypatch.setattr(dialogs, "run_dialog", print_to_file)
        pilot.window.menu.run("print-note")
        await pilot.until(lambda: not pilot_is_printing(), "it is printed")
        assert (tmp_path / "Printed.pdf").read_bytes().startswith(b"%PDF")

    app_run(use)

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication

from app.desktop.bridge import Service, VaultClient
from app.desktop.hits import ROW_ROLE, _from_first_mark
from app.desktop.search_panel import SearchPanel
from app.desktop.tags_panel import TAG_ROLE, TagsPanel
from app.desktop.theme import ThemeSource
from app.index.records import Snippet
from app.settings import Settings
from app.vault.path import NotePath
from tests.desktop.open_vault import OpenVault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "Longitude.md").write_text("# Longitude\n\nA clock at sea.\n#history/sea\n")
    (tmp_path / "Harrison.md").write_text("He made the clock H4. #history\n")
    return tmp_path


async def in_vault(service: Service, root: Path, use: Callable[[VaultClient], Awaitable[None]]) -> None:
    opened = OpenVault(root, Settings())
    await service.call(opened.index.open)
    client = VaultClient(service, opened)  # type: ignore[arg-type]
    await client.run(lambda w: w.start_scan(lambda progress: None))
    await use(client)
    await client.run(lambda w: w.close())


def titles(panel: SearchPanel) -> list[str]:
    return sorted(row.hit.title for row in panel.model.rows if row.snippet is None)


def test_results_come_while_typing_and_open_at_their_line(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        found: list[tuple[str, ...]] = []
        opened: list[tuple[str, str]] = []
        panel.found.connect(found.append)
        panel.open_requested.connect(lambda path, fragment: opened.append((path, fragment)))
        panel.field.setText("clock")
        await wait_until(lambda: titles(panel) == ["Harrison", "Longitude"])
        assert set(found[-1]) == {"Longitude.md", "Harrison.md"}
        for number, row in enumerate(panel.model.rows):
            if row.snippet and row.hit.title == "Longitude":
                start, end = row.snippet.marks[0]
                assert row.snippet.text[start:end].lower() == "clock"
                panel.list.activated.emit(panel.model.index(number, 0))
        assert opened == [("Longitude.md", "line=3")]
        panel.field.clear()
        await wait_until(lambda: not panel.model.rows)
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_a_bad_query_shows_where_and_keeps_what_was_found(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        await wait_until(lambda: panel.model.rows)
        panel.search('clock "unclosed')
        await wait_until(lambda: not panel.error.isHidden())
        query, caret = panel.where.text().split("\n")
        assert query == 'clock "unclosed' and caret.strip() == "^"
        assert panel.field.property("invalid") is True
        assert titles(panel) == ["Harrison", "Longitude"]
        panel.search("H4")
        await wait_until(lambda: titles(panel) == ["Harrison"])
        assert panel.error.isHidden() and panel.where.isHidden()
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_a_late_answer_to_an_old_question_is_dropped(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        panel.search("H4")
        await wait_until(lambda: panel.model.rows)
        assert titles(panel) == ["Harrison"]
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_tags_are_a_tree_with_counts_and_a_click_searches(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = TagsPanel(client, ThemeSource("dark"))
        asked: list[str] = []
        panel.search_requested.connect(asked.append)
        await wait_until(lambda: panel.model.rowCount())
        top = panel.tree.model().index(0, 0, QModelIndex())
        assert top.data() == "history" and top.data(TAG_ROLE) == "history"
        nested = panel.tree.model().index(0, 0, top)
        assert nested.data() == "sea"
        panel.tree.clicked.emit(nested)
        assert asked == ["tag:history/sea"]
        (vault / "New.md").write_text("#fresh")
        await client.run(lambda w: w.index.refresh([NotePath("New.md")], []))
        await wait_until(lambda: panel.model.rowCount() == 2)
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_a_mark_out_of_sight_is_brought_into_it(qapp: QApplication) -> None:
    metrics = QFontMetrics(qapp.font())
    snippet = Snippet(1, "x" * 500 + " needle here", ((501, 507),))
    text, marks = _from_first_mark(snippet, metrics, 200)
    assert text.startswith("…")
    assert [text[start:end] for start, end in marks] == ["needle"]
    short = Snippet(1, "a needle", ((2, 8),))
    assert _from_first_mark(short, metrics, 200) == ("a needle", ((2, 8),))


def test_rows_are_heads_followed_by_their_lines(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        await wait_until(lambda: panel.model.rows)
        assert panel.model.rows[0].snippet is None
        panel.resize(300, 400)
        panel.show()
        assert not panel.grab().isNull()
        assert panel.model.index(0, 0).data(ROW_ROLE) == panel.model.rows[0]
        panel.deleteLater()

    gui(in_vault(service, vault, use))

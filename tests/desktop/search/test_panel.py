from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QStyleOptionViewItem

from app.desktop.bridge import ServiceThread, VaultClient
from app.desktop.runtime import tasks
from app.desktop.search.delegate import SearchResultDelegate, _from_first_mark
from app.desktop.search.model import ROW_ROLE, SearchResultsModel
from app.desktop.search.panel import SearchPanel
from app.desktop.tags.panel import TAG_ROLE, TagsPanel
from app.desktop.theme.theme import ThemeSource
from app.errors import TimeoutExpiredError
from app.index.records import SearchGroup, SearchHit, Snippet
from app.index.search_service import SearchService
from app.settings import Settings
from app.vault.path import NotePath
from tests.desktop.open_vault import OpenVault, service_of
from tests.desktop.workspace_access import in_workspace


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "Longitude.md").write_text("# Longitude\n\nA clock at sea.\n#history/sea\n")
    (tmp_path / "Harrison.md").write_text("He made the clock H4. #history\n")
    return tmp_path


async def in_vault(service: ServiceThread, root: Path, use: Callable[[VaultClient], Awaitable[None]]) -> None:
    opened = OpenVault(root, Settings())
    await service.call(opened.index.open)
    client = VaultClient(service, service_of(opened))
    await in_workspace(client, lambda w: w.start_scan(lambda progress: None))
    await use(client)
    await client.close()


def titles(panel: SearchPanel) -> list[str]:
    return sorted(row.hit.title for row in panel.model.rows if row.is_heading)


def test_results_come_while_typing_and_open_at_their_line(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        hit_paths: list[tuple[str, ...]] = []
        opened: list[tuple[str, str]] = []
        panel.hits_changed.connect(hit_paths.append)
        panel.open_requested.connect(lambda path, fragment: opened.append((path, fragment)))
        panel.field.setText("clock")
        await wait_until(lambda: titles(panel) == ["Harrison", "Longitude"])
        await wait_until(lambda: hit_paths and set(hit_paths[-1]) == {"Longitude.md", "Harrison.md"})
        for number, row in enumerate(panel.model.rows):
            if row.snippet and row.hit.title == "Longitude":
                start, end = row.snippet.marks[0]
                assert row.snippet.text[start:end].lower() == "clock"
                panel.list.clicked.emit(panel.model.index(number, 0))
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
        await wait_until(lambda: not panel.problem.isHidden())
        query, caret = panel.problem.position.text().split("\n")
        assert query == 'clock "unclosed' and caret.strip() == "^"
        assert panel.field.property("invalid") is True
        assert titles(panel) == ["Harrison", "Longitude"]
        panel.search("H4")
        await wait_until(lambda: titles(panel) == ["Harrison"])
        assert panel.problem.isHidden()
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_a_late_result_of_an_old_query_is_dropped(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        panel.search("H4")
        await wait_until(lambda: panel.model.rows)
        assert titles(panel) == ["Harrison"]
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_the_rest_of_the_hits_comes_while_scrolling(gui, wait_until, service, tmp_path: Path) -> None:
    for number in range(90):
        (tmp_path / f"{number:02}.md").write_text("plan\n")

    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.resize(300, 300)
        panel.show()
        hit_paths: list[tuple[str, ...]] = []
        panel.hits_changed.connect(hit_paths.append)
        panel.search("plan ")
        await wait_until(lambda: panel.model.hit_count)
        assert panel.model.hit_count < 90
        await wait_until(lambda: hit_paths and len(hit_paths[-1]) == 90)

        def all_there() -> bool:
            panel.list.scrollToBottom()
            return panel.model.hit_count == 90

        await wait_until(all_there)
        paths = [row.hit.path.text for row in panel.model.rows if row.is_heading]
        assert len(paths) == len(set(paths)) == 90
        panel.deleteLater()

    gui(in_vault(service, tmp_path, use))


def test_lines_that_are_not_shown_unfold(gui, wait_until, service, tmp_path: Path) -> None:
    (tmp_path / "Long.md").write_text("\n".join(f"clock {number}" for number in range(12)))

    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        await wait_until(lambda: len(panel.model.rows) == 5)
        assert panel.model.index(4, 0).data() == "9 more lines"
        panel.list.clicked.emit(panel.model.index(4, 0))
        await wait_until(lambda: len(panel.model.rows) == 13)
        assert [row.snippet.line for row in panel.model.rows if row.snippet] == list(range(1, 13))
        assert panel.list.currentIndex().row() == 4
        panel.deleteLater()

    gui(in_vault(service, tmp_path, use))


def test_hits_are_ordered_and_grouped_as_chosen(gui, wait_until, service, vault: Path) -> None:
    (vault / "sub").mkdir()
    (vault / "sub" / "Clock.md").write_text("clock")

    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        await wait_until(lambda: panel.model.hit_count == 3)
        actions = {action.text(): action for action in panel.sort_button.menu().actions()}
        actions["By name"].trigger()
        actions["Group by folder"].trigger()
        await wait_until(lambda: any(row.group for row in panel.model.rows))
        labels = [
            panel.model.index(number, 0).data()
            for number, row in enumerate(panel.model.rows)
            if not row.snippet
        ]
        assert labels == ["sub", "Clock", "none", "Harrison", "Longitude"]
        panel.resize(280, 400)
        panel.show()
        assert not panel.grab().isNull()
        panel.deleteLater()

    gui(in_vault(service, vault, use))


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_what_is_typed_is_completed_with_tab(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.show()
        panel.activateWindow()
        panel.field.setFocus()
        await wait_until(panel.field.hasFocus)
        QTest.keyClicks(panel.field, "ta")
        await wait_until(lambda: panel.field.popup.labels)
        assert panel.field.popup.labels[0] == "tag:"
        QTest.keyClick(panel.field, Qt.Key.Key_Tab)
        await wait_until(lambda: panel.field.popup.labels == ("history", "history/sea"))
        QTest.keyClicks(panel.field, "his")
        await wait_until(lambda: panel.field.popup.labels == ("history", "history/sea"))
        QTest.keyClick(panel.field, Qt.Key.Key_Tab)
        assert panel.field.text() == "tag:history "
        assert not panel.field.popup.labels
        await wait_until(lambda: titles(panel) == ["Harrison", "Longitude"])
        QTest.keyClicks(panel.field, "-#s")
        await wait_until(lambda: panel.field.popup.labels)
        QTest.keyClick(panel.field, Qt.Key.Key_Escape)
        assert not panel.field.popup.labels and panel.field.text() == "tag:history -#s"
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_a_search_is_saved_found_again_and_forgotten(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("tag:history/sea")
        await wait_until(lambda: titles(panel) == ["Longitude"])
        assert panel.save_button.isEnabled()
        await in_workspace(client, lambda w: w.searches.save("Sea", "tag:history/sea", "modified", "folder"))
        await wait_until(lambda: "Sea" in panel.save_button.toolTip())
        panel.field.clear()
        await wait_until(lambda: not panel.model.rows)
        rows = panel.start_page.model()
        assert rows.index(1, 0).data() == "Sea"
        panel.start_page.activated.emit(rows.index(1, 0))
        await wait_until(lambda: titles(panel) == ["Longitude"])
        assert (panel.sort_button.order, panel.sort_button.grouping) == ("modified", "folder")
        panel.save_button.click()
        await wait_until(lambda: "Sea" not in panel.save_button.toolTip())
        assert await in_workspace(client, lambda w: w.searches.list_searches()) == ()
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_the_switch_turns_semantic_search_on(gui, wait_until, service, vault: Path) -> None:
    queries: list[str] = []

    async def close_in_meaning(text: str, limit: int) -> list[tuple[NotePath, float]]:
        queries.append(text)
        return [(NotePath.parse("Longitude.md"), 0.9), (NotePath.parse("Harrison.md"), 0.5)]

    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("ocean timekeeper")
        await wait_until(lambda: panel._stack.currentWidget() is panel.empty)
        panel.semantic_button.click()
        await wait_until(lambda: not panel.problem.isHidden())
        assert "off or not ready" in panel.problem.message.text() and panel.problem.position.isHidden()
        await in_workspace(client, lambda w: setattr(w.index, "similarity", close_in_meaning))
        panel.search("ocean timekeeper")
        await wait_until(lambda: titles(panel) == ["Harrison", "Longitude"])
        assert panel.model.rows[0].hit.title == "Longitude" and queries[-1] == "ocean timekeeper"
        snippet = panel.model.rows[1].snippet
        assert snippet is not None and (snippet.line, snippet.text, snippet.marks) == (
            3,
            "A clock at sea.",
            (),
        )
        panel.search("ocean -tag:history/sea timekeeper")
        await wait_until(lambda: titles(panel) == ["Harrison"])
        panel.search("ocean (")
        await wait_until(lambda: not panel.problem.position.isHidden())
        panel.search("timekeeper")
        await wait_until(lambda: titles(panel) == ["Harrison", "Longitude"])
        await wait_until(lambda: panel.save_button.isEnabled())
        saved = panel.save_button._query
        assert saved == 'similar:"timekeeper"', "what is saved says itself how it is meant"
        await in_workspace(client, lambda w: w.searches.save("Clocks", saved))
        panel.semantic_button.click()
        await wait_until(lambda: panel._stack.currentWidget() is panel.empty)
        panel.search_saved("Clocks")
        await wait_until(lambda: titles(panel) == ["Harrison", "Longitude"])
        assert not panel.semantic_button.isChecked()
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_what_a_search_means_is_shown_part_by_part(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock tag:history/sea ")
        panel.explain_button.click()
        tree = panel.explanation.model()
        await wait_until(lambda: tree.rowCount() == 1 and tree.rowCount(tree.index(0, 0)) == 2)
        assert tree.index(0, 0).data() == "All of these"
        assert panel.explanation.isVisibleTo(panel)
        panel.field.clear()
        await wait_until(lambda: panel.explanation.isHidden())
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_keys_go_from_the_field_to_the_hits_and_back(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = SearchPanel(client, ThemeSource("light"))
        panel.show()
        panel.activateWindow()
        opened: list[tuple[str, str]] = []
        panel.open_requested.connect(lambda path, fragment: opened.append((path, fragment)))
        panel.search("H4 ")
        await wait_until(lambda: panel.model.rows and panel.field.hasFocus())
        QTest.keyClick(panel.field, Qt.Key.Key_Down)
        await wait_until(panel.list.hasFocus)
        assert panel.list.currentIndex().row() == 0
        QTest.keyClick(panel.list, Qt.Key.Key_Up)
        await wait_until(panel.field.hasFocus)
        QTest.keyClick(panel.field, Qt.Key.Key_Return)
        await wait_until(panel.list.hasFocus)
        panel.list.clicked.emit(panel.list.currentIndex())
        assert opened == [("Harrison.md", "")]
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_tags_are_a_tree_with_counts_and_a_click_searches(gui, wait_until, service, vault: Path) -> None:
    async def use(client: VaultClient) -> None:
        panel = TagsPanel(client, ThemeSource("dark"))
        queries: list[str] = []
        panel.search_requested.connect(queries.append)
        await wait_until(lambda: panel.model.rowCount())
        top = panel.tree.model().index(0, 0, QModelIndex())
        assert top.data() == "history" and top.data(TAG_ROLE) == "history"
        nested = panel.tree.model().index(0, 0, top)
        assert nested.data() == "sea"
        panel.tree.clicked.emit(nested)
        assert queries == ["tag:history/sea"]
        panel.filter.setText("#history/s")
        top = panel.tree.model().index(0, 0, QModelIndex())
        assert panel.tree.model().index(0, 0, top).data() == "sea"
        panel.filter.clear()
        (vault / "New.md").write_text("#fresh")
        await in_workspace(client, lambda w: w.index.refresh([NotePath("New.md")], []))
        await wait_until(lambda: panel.model.rowCount() == 2)
        panel.deleteLater()

    gui(in_vault(service, vault, use))


def test_a_hidden_mark_is_scrolled_into_view(qapp: QApplication) -> None:
    metrics = QFontMetrics(qapp.font())
    snippet = Snippet(1, "x" * 500 + " needle here", ((501, 507),))
    text, marks = _from_first_mark(snippet, metrics, 200)
    assert text.startswith("…")
    assert [text[start:end] for start, end in marks] == ["needle"]
    short = Snippet(1, "a needle", ((2, 8),))
    assert _from_first_mark(short, metrics, 200) == ("a needle", ((2, 8),))


def test_a_match_after_an_emoji_is_marked_at_its_place(qapp: QApplication) -> None:
    theme = ThemeSource("light")
    model = SearchResultsModel()
    prefix = "😀😀😀😀 "
    snippet = Snippet(1, f"{prefix}needle", ((len(prefix), len(prefix) + 6),))
    model.show((SearchHit(NotePath("A.md"), "A", 1.0, (snippet,), 1),))
    option = QStyleOptionViewItem()
    option.font = qapp.font()
    option.fontMetrics = QFontMetrics(option.font)
    option.rect = QRect(0, 0, 400, 40)
    image = QImage(400, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    SearchResultDelegate(theme).paint(painter, option, model.index(1, 0))
    painter.end()
    background = QColor(theme.theme.mark_bg).rgb()
    marked = [x for x in range(400) if any(image.pixel(x, y) == background for y in range(40))]
    text_left = 20  # the margins of a snippet
    needle_left = text_left + option.fontMetrics.horizontalAdvance(prefix)
    assert abs(marked[0] - needle_left) <= 2
    assert abs(marked[-1] - needle_left - option.fontMetrics.horizontalAdvance("needle")) <= 2


def test_a_group_that_is_new_on_a_later_page_is_named(qapp: QApplication) -> None:
    model = SearchResultsModel()
    old, new = SearchGroup("old", 1), SearchGroup("new", 1)
    model.show((SearchHit(NotePath("A.md"), "A", 2.0, (), group="old"),), (old,))
    model.append((SearchHit(NotePath("B.md"), "B", 1.0, (), group="new"),), (new, old))
    assert [row.group.name if row.group else row.hit.title for row in model.rows] == ["old", "A", "new", "B"]


def test_hits_stay_if_the_details_take_too_long(
    gui, wait_until, service, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (vault / f"Clock {number}.md").write_text("A clock.\n")
    asked: list[str] = []
    failures: list[tasks.TaskFailure] = []

    async def time_out(self: SearchService, query: str) -> frozenset[NotePath]:
        asked.append(query)
        raise TimeoutExpiredError("The search took too long.")

    monkeypatch.setattr(SearchService, "matching", time_out)

    async def use(client: VaultClient) -> None:
        disconnect = tasks.failed.connect(failures.append)
        panel = SearchPanel(client, ThemeSource("light"))
        panel.search("clock")
        search = panel._search_task
        assert search is not None
        await search
        assert asked and not failures and panel.model.hit_count >= 20
        disconnect()
        panel.deleteLater()

    gui(in_vault(service, vault, use))


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

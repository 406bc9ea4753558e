"""The queue of relations that may be missing, in a window over a real vault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.analysis.service import GraphAnalysisService
from app.desktop.bridge import ServiceThread
from app.desktop.suggestions.panel import SuggestionsPanel
from app.desktop.theme.theme import ThemeSource
from app.permissions.approval import Denied
from tests.desktop.whole_vault import WholeVault, whole_vault
from tests.support.running_tasks import running_tasks

# Two notes that all of six others link, without links to each other.
FRIENDS = [f"Friend {n}" for n in range(6)]
NOTES = {
    "Tea.md": "---\ntags: [drinks, leaves]\n---\nTea is made of leaves in hot water.\n",
    "Herbs.md": "---\ntags: [drinks, leaves]\n---\nHerbs are leaves in hot water, too.\n",
    "Stone.md": "A stone is not to be drunk.\n",
    **{f"{name}.md": "It is about [[Tea]] and [[Herbs]].\n" for name in FRIENDS},
}
PAIR = {"Tea.md", "Herbs.md"}


@asynccontextmanager
async def opened(
    root: Path, service: ServiceThread, wait_until, notes: dict[str, str] = NOTES
) -> AsyncIterator[tuple[WholeVault, SuggestionsPanel]]:
    async with whole_vault(root, service, notes) as vault:
        panel = SuggestionsPanel(vault.client, ThemeSource("light"))
        panel.resize(1000, 400)
        panel.show()
        await wait_until(lambda: panel._search_task is not None and panel._search_task.done())
        yield vault, panel
        panel.close()


def pairs(panel: SuggestionsPanel) -> list[set[str]]:
    return [set(suggestion.pair) for suggestion in panel.suggestions]


def test_a_suggestion_is_shown_whole_and_written_as_the_user_set_it(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            suggestion, details = panel.selected, panel.details
            assert suggestion is not None and set(suggestion.pair) == PAIR and 0.6 <= suggestion.score <= 1
            assert panel.table.topLevelItem(0).text(3) == f"{suggestion.score:.0%}"
            await wait_until(lambda: all("hot water" in card.text.toPlainText() for card in details.cards))
            assert (
                "tags" not in details.cards[0].text.toPlainText()
                and "neighbors" in details.reasoning_label.text()
            )
            assert details.confidence.value() == round(suggestion.score, 2)
            details.swap_button.click()
            assert tuple(card.path for card in details.cards) == suggestion.pair[::-1]
            assert "hot water" in details.cards[0].text.toPlainText()
            details.type.setCurrentText("is brewed like")
            details.confidence.setValue(0.7)
            vault.decision = Denied("not yet")
            details.accept_button.click()
            await wait_until(lambda: "Nothing was written" in panel.message.text())
            assert pairs(panel) == [PAIR] and details.type.currentText() == "is brewed like"
            vault.decision = None
            panel.table.setFocus()
            QTest.keyClick(panel.table, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
            await wait_until(lambda: not panel.suggestions)
            written = (tmp_path / suggestion.target).read_text("utf-8")
            assert "- is_brewed_like [[" in written and "0.7" in written
            assert (tmp_path / suggestion.source).read_text("utf-8") == NOTES[suggestion.source]
            assert len(vault.asked) == 2 and panel.empty.isVisible()

    gui(main())


def test_a_rejected_pair_stays_hidden_until_it_is_restored(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            panel.table.setFocus()
            QTest.keyClick(panel.table, Qt.Key.Key_Delete)
            await wait_until(lambda: not panel.suggestions and panel.undo_button.isVisible())
            assert "suggested again" in panel.message.text() and not vault.asked
            panel.refresh_button.click()
            search_task = panel._search_task
            await wait_until(lambda: search_task is not None and search_task.done())
            assert not panel.suggestions, "what is rejected stays so"
            panel.undo_button.click()
            await wait_until(lambda: pairs(panel) == [PAIR])
            panel.search()
            await wait_until(lambda: panel._search_task is not None and panel._search_task.done())
            assert pairs(panel) == [PAIR]

    gui(main())


def test_a_decision_is_carried_out_once_however_often_it_is_made(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(decisions: list[tuple[str, str]], decide):
        def record_decision(self: GraphAnalysisService, *pair: str) -> None:
            decisions.append(pair)
            decide(self, *pair)

        return record_decision

    dismissed: list[tuple[str, str]] = []
    restored: list[tuple[str, str]] = []
    for name, decisions in (("reject", dismissed), ("restore_suggestion", restored)):
        monkeypatch.setattr(GraphAnalysisService, name, count(decisions, getattr(GraphAnalysisService, name)))

    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (_, panel):
            panel.table.setFocus()
            for _ in range(2):
                QTest.keyClick(panel.table, Qt.Key.Key_Delete)
            await wait_until(lambda: not panel.suggestions and panel.undo_button.isVisible())
            await wait_until(lambda: not running_tasks() - {asyncio.current_task()})
            for _ in range(2):
                panel.undo_button.click()
            await wait_until(lambda: panel.suggestions)
            await wait_until(lambda: not running_tasks() - {asyncio.current_task()})
            assert pairs(panel) == [PAIR]
            assert [set(pair) for pair in dismissed] == [set(pair) for pair in restored] == [PAIR]

    gui(main())


def test_a_relation_without_a_type_is_not_added_and_the_user_is_told(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            panel.details.type.setCurrentText(" ")
            panel.details.accept_button.click()
            assert panel.message.isVisible() and "no type" in panel.message.text()
            assert panel.details.type.hasFocus() and not vault.asked
            panel.details.type.setCurrentText("is brewed like")
            panel.details.accept_button.click()
            await wait_until(lambda: not panel.suggestions)
            assert len(vault.asked) == 1 and "no type" not in panel.message.text()

    gui(main())


def test_suggestions_can_be_limited_to_the_open_note(
    gui, service: ServiceThread, wait_until, tmp_path: Path
) -> None:
    def empty_text(panel: SuggestionsPanel) -> str:
        return " ".join(label.text() for label in panel.empty.findChildren(QLabel))

    async def main() -> None:
        async with opened(tmp_path, service, wait_until) as (vault, panel):
            opened_notes: list[str] = []
            graph_pairs: list[object] = []
            panel.open_requested.connect(lambda path, _: opened_notes.append(path))
            panel.graph_requested.connect(graph_pairs.append)
            panel.scope.setCurrentIndex(1)
            assert "No note is open" in empty_text(panel)
            panel.set_current_note("Stone.md")
            await wait_until(lambda: "Stone has no likely missing relations" in empty_text(panel))
            panel.set_current_note("Tea.md")
            await wait_until(lambda: pairs(panel) == [PAIR])
            suggestion = panel.selected
            assert suggestion is not None
            for column in (0, 2):
                panel.table.itemActivated.emit(panel.table.topLevelItem(0), column)
            assert opened_notes == list(suggestion.pair)
            QTest.keyClick(panel.table, Qt.Key.Key_G)
            assert graph_pairs == [suggestion.pair]
            await vault.save("Tea.md", b"Tea is like [[Herbs]].\n")
            await wait_until(lambda: not panel.suggestions)
            panel.set_current_note("Gone.md")
            await wait_until(lambda: "Could not load suggestions" in empty_text(panel))

    gui(main())

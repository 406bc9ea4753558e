"""The agent panel on a real vault with the built-in agent: a turn, its card, its conversation."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QApplication, QLabel

from app.agent.conversation_search import ConversationIndex
from app.agent.transcript import (
    AgentText,
    AnswerChoice,
    AnyItem,
    Message,
    Notice,
    Question,
    ToolCard,
    UserText,
)
from app.agent.turn import complete_card
from app.desktop.agent.items import CardView, QuestionView, UserView
from app.desktop.agent.model_menu import ModelChoice
from app.desktop.agent.panel import AgentPanel
from app.desktop.agent.tool_card import ToolCardView
from app.desktop.agent.transcript_view import TranscriptView
from app.desktop.bridge import ServiceThread
from app.desktop.runtime import tasks
from app.desktop.theme.stylesheet import stylesheet
from app.desktop.theme.theme import ThemeSource
from app.errors import StorageError
from app.index.records import IndexUpdated
from app.permissions.caller import Caller
from app.settings import AnswerByBuiltIn
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.vault.path import NotePath
from tests.desktop.whole_vault import WholeVault, whole_vault
from tests.support.clipping import clipped
from tests.support.running_tasks import running_tasks

NOTES = {"Longitude.md": "# Longitude\n", "Latitude.md": "See [[Longitude]].\n", "Moon.md": "[[Longitude]]\n"}


@pytest.fixture
def panel_of(service: ServiceThread, tmp_path: Path) -> Callable:
    """Return a context manager: `async with panel_of() as (vault, panel)`."""

    @asynccontextmanager
    async def make(notes: Mapping[str, str] = NOTES) -> AsyncIterator[tuple[WholeVault, AgentPanel]]:
        async with whole_vault(tmp_path / "vault", service, notes) as vault:
            panel = AgentPanel(vault.client, ThemeSource("light"))
            panel.resize(380, 700)
            panel.show()
            try:
                yield vault, panel
            finally:
                # With the loop, so that no timer of it starts a task afterwards.
                panel.deleteLater()

    return make


async def ask(panel: AgentPanel, text: str, wait_until) -> None:
    """Send `text` and wait for the end of the turn."""
    panel.composer.field.setPlainText(text)
    panel.composer.sent.emit(text)
    await wait_until(lambda: panel.composer.is_running)
    await wait_until(lambda: not panel.composer.is_running)


def cards(panel: AgentPanel) -> list[ToolCard]:
    items = (panel.transcript.item(at) for at in range(50))
    return [item for item in items if isinstance(item, ToolCard)]


def test_suggestions_name_the_note_with_the_most_links(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (_, panel):
            await wait_until(lambda: panel._start_page.suggestions)
            assert all("Longitude" in button.prompt for button in panel._start_page.suggestions)

    gui(main())


def test_suggestions_prefer_a_well_linked_note_with_a_short_name(gui, panel_of, wait_until) -> None:
    long_name = "A note with a very long name"
    links = dict.fromkeys(("One.md", "Two.md", "Three.md"), f"[[{long_name}]]\n")

    async def main() -> None:
        async with panel_of({**NOTES, **links, f"{long_name}.md": "# Long\n"}) as (vault, panel):
            most_linked = await vault.client.run(lambda vault: vault.notes.most_linked(2))
            assert [path.name for path in most_linked] == [long_name, "Longitude"]
            await wait_until(lambda: panel._start_page.suggestions)
            assert all("Longitude" in button.prompt for button in panel._start_page.suggestions)

    gui(main())


def test_a_new_conversation_shows_examples_about_the_vault_as_it_is(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (vault, panel):
            await wait_until(lambda: panel._start_page.suggestions)
            await ask(panel, "what links to Longitude?", wait_until)
            await wait_until(lambda: not panel._suggestion_timer.isActive())
            await wait_until(lambda: not running_tasks() - {asyncio.current_task()})
            changed: list[NotePath] = []
            vault.client.events.batch.connect(
                lambda events: changed.extend(
                    path for event in events if isinstance(event, IndexUpdated) for path in event.changed
                )
            )
            await vault.save("Latitude.md", b"See [[Moon]].\n")
            await vault.save("Longitude.md", b"# Longitude\n\nSee [[Moon]].\n")
            await wait_until(lambda: any(path.text == "Longitude.md" for path in changed))
            await wait_until(lambda: panel._event_queue.is_empty)
            panel.new_conversation()
            await wait_until(lambda: all("Moon" in button.prompt for button in panel._start_page.suggestions))

    gui(main())


def test_a_change_is_a_card_with_its_diff_and_its_undo(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (vault, panel):
            diffs: list[int] = []
            undone: list[int] = []
            panel.diff_requested.connect(diffs.append)
            panel.undo_requested.connect(undone.append)
            await ask(panel, "tag Longitude with #reviewed", wait_until)
            assert "reviewed" in (vault.root / "Longitude.md").read_text()
            (card,) = cards(panel)
            assert (card.tool, card.state) == ("add_tag", "done")
            (view,) = panel.transcript.findChildren(CardView)
            view.card._diff_button.click()
            view.card._undo_button.click()
            assert diffs == undone == [card.entry]
            view.card._details_button.setChecked(True)
            assert view.card._details is not None
            assert '"reviewed"' in view.card._details.toPlainText()

    gui(main())


def test_a_card_whose_change_was_undone_offers_no_undo(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (vault, panel):
            await ask(panel, "tag Longitude with #reviewed", wait_until)
            (view,) = panel.transcript.findChildren(CardView)
            assert not view.card._undo_button.isHidden() and view.card._badge.isHidden()
            (card,) = cards(panel)
            await vault.run(lambda ws: ws.runner.run(Call.of("undo", {"entry": card.entry}, Caller.user())))
            await wait_until(lambda: view.card._undo_button.isHidden())
            assert view.card._badge.text() == "Undone" and not view.card._diff_button.isHidden()
            assert "Undone" in view.card.accessibleName()

    gui(main())


def test_a_card_shows_how_its_change_was_approved(qtbot) -> None:
    view = ToolCardView(ThemeSource("light"))
    qtbot.addWidget(view)
    message = "Changed A.md. Left out by the user: B.md."
    card = ToolCard(turn="t", at=0.0, call="c", tool="rename_tag", arguments="{}", state="done", entry=1)
    card = card.model_copy(update={"commit": 1, "message": message, "decision": "auto-approved"})
    view.show_card(card.model_copy(update={"changed_by_user": True}))
    assert view._badge.text() == "Auto-approved · Changed by you"
    assert view._message.text() == "Changed A.md. Excluded by you: B.md."


def test_the_duration_of_a_card_gives_way_to_its_name_and_badge(qtbot) -> None:
    view = ToolCardView(ThemeSource("light"))
    qtbot.addWidget(view)
    card = ToolCard(turn="t", at=0.0, call="c", tool="create_note", arguments="{}", state="done", entry=1)
    view.show_card(card.model_copy(update={"commit": 1, "undone_by": 2, "duration_ms": 5.0}))
    view.show()
    for width, is_shown in ((400, True), (220, False), (400, True)):
        view.resize(width, 100)
        assert view._cost_label.isVisible() is is_shown
        for label in (view._name, view._badge):
            qtbot.waitUntil(lambda label=label: label.width() >= label.sizeHint().width())


def test_a_denied_card_says_that_the_user_denied_it_and_why(qtbot) -> None:
    view = ToolCardView(ThemeSource("light"))
    qtbot.addWidget(view)
    card = ToolCard(turn="t", at=0.0, call="c", tool="delete_note", arguments='{"name": "A"}')
    outcome = ToolOutcome(False, message="Denied by the user: not yet", denied=True, words="not yet")
    view.show_card(complete_card(card, outcome))
    assert view._message.text() == "You denied this: not yet"


def test_an_edited_message_replaces_what_came_after_it(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (_, panel):
            await ask(panel, "tag Longitude with #reviewed", wait_until)
            await ask(panel, "what links to Longitude?", wait_until)
            panel._edit_message(0)
            assert panel.composer.field.toPlainText() == "tag Longitude with #reviewed"
            await ask(panel, "what links to Moon?", wait_until)
            prompts = [
                item.text for at in range(50) if isinstance(item := panel.transcript.item(at), UserText)
            ]
            assert prompts == ["what links to Moon?"]
            assert len(cards(panel)) == 1

    gui(main())


def test_a_resend_that_fails_changes_neither_the_view_nor_the_saved_conversation(
    gui, panel_of, wait_until, monkeypatch: pytest.MonkeyPatch, errors: list[str]
) -> None:
    errors.append("failed to send the message")

    async def main() -> None:
        async with panel_of() as (vault, panel):
            await ask(panel, "what links to Longitude?", wait_until)
            await ask(panel, "what links to Moon?", wait_until)
            await wait_until(lambda: panel._event_queue.is_empty)
            before = shown(panel)
            failures: list[tasks.TaskFailure] = []
            disconnect = tasks.failed.connect(failures.append)
            panel._edit_message(0)
            with monkeypatch.context() as patch:
                patch.setattr(ConversationIndex, "put", refuse)
                panel.composer.field.setPlainText("list all tags")
                panel.composer.sent.emit("list all tags")
                await wait_until(lambda: failures)
            disconnect()
            assert isinstance(failures[0].error, StorageError)
            assert shown(panel) == before
            assert panel._conversation is not None
            id_ = panel._conversation.id
            assert list(await vault.run(lambda ws: ws.agent.store.items(id_))) == before
            assert panel.composer.field.toPlainText() == "list all tags"
            await ask(panel, "list all tags", wait_until)
            assert prompts_of(panel) == ["list all tags"], "the message is still being edited"

    gui(main())


def refuse(*_: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def shown(panel: AgentPanel) -> list[AnyItem]:
    items = (panel.transcript.item(at) for at in range(50))
    return [item for item in items if item is not None]


def test_an_offered_answer_does_not_replace_the_message_being_edited(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (_, panel):
            await ask(panel, "what links to Longitude?", wait_until)
            panel._edit_message(0)
            panel.transcript.reply_chosen.emit("what links to Moon?")
            await wait_until(lambda: "what links to Moon?" in prompts_of(panel))
            await wait_until(lambda: not panel.composer.is_running)
            assert prompts_of(panel) == ["what links to Longitude?", "what links to Moon?"]

    gui(main())


def test_the_focus_returns_to_the_prompt_after_an_offered_answer(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (_, panel):
            await ask(panel, "what links to Longitude?", wait_until)
            panel.transcript.setFocus()
            assert panel.window().focusWidget() is not panel.composer.field
            panel.transcript.reply_chosen.emit("what links to Moon?")
            assert panel.window().focusWidget() is panel.composer.field
            await wait_until(lambda: not panel.composer.is_running)

    gui(main())


def prompts_of(panel: AgentPanel) -> list[str]:
    items = (panel.transcript.item(at) for at in range(50))
    return [item.text for item in items if isinstance(item, UserText)]


def test_a_conversation_is_kept_and_shown_again(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (vault, panel):
            await ask(panel, "what links to Longitude?", wait_until)
            (saved,) = await vault.run(lambda ws: ws.agent.store.list_conversations("Longitude"))
            panel.new_conversation()
            assert panel.transcript.item(0) is None
            await panel.open_conversation(saved.id)
            first = panel.transcript.item(0)
            assert isinstance(first, UserText)
            assert first.text == "what links to Longitude?"
            panel._toggle_list()
            await wait_until(lambda: panel._list._list.count() == 1)

    gui(main())


def test_the_label_follows_settings_that_change_elsewhere(gui, panel_of, wait_until) -> None:
    async def main() -> None:
        async with panel_of() as (vault, panel):
            panel._choose_model(ModelChoice("ollama", "", "qwen3"))
            await wait_until(lambda: panel.composer.model.text() == "qwen3")
            assert await vault.run(lambda ws: ws.settings.uses_model)
            await vault.run(lambda ws: ws.change_settings("agent", answering=AnswerByBuiltIn()))
            await wait_until(lambda: panel.composer.model.text() == "Built-in")
            assert not await vault.run(lambda ws: ws.settings.uses_model)
            assert await vault.run(lambda ws: ws.settings.model.model) == "qwen3", "it stays set up"
            panel._choose_mode("ask")
            await wait_until(lambda: panel.composer.mode.currentData() == "ask")

    gui(main())


def test_the_answers_of_a_question_end_with_the_next_prompt(qtbot) -> None:
    view = TranscriptView(ThemeSource("light"))
    qtbot.addWidget(view)
    choice = AnswerChoice(label="Longitude", reply="open Longitude")
    view.put(0, Question(turn="t", at=0, text="Which?", choices=(choice,)))
    replies: list[str] = []
    view.reply_chosen.connect(replies.append)
    (question,) = view.findChildren(QuestionView)
    question._buttons[0].click()
    view.put(1, UserText(turn="u", at=1, text="open Longitude"))
    question._buttons[0].click()
    assert replies == ["open Longitude"]


def test_a_chosen_answer_is_shown_by_its_label_and_a_typed_one_as_it_is(qtbot) -> None:
    choice = AnswerChoice(label="open · Longitude", reply="= open [@Longitude]")
    for text, shown in ((choice.reply, choice.label), ("the first", "the first")):
        view = TranscriptView(ThemeSource("light"))
        qtbot.addWidget(view)
        view.put(0, Question(turn="t", at=0, text="Which?", choices=(choice,)))
        view.put(1, UserText(turn="u", at=1, text=text))
        (message,) = view.findChildren(UserView)
        assert shown in [label.text() for label in message.findChildren(QLabel)]
        item = view.item(1)
        assert isinstance(item, UserText) and item.text == text


def test_an_item_is_replaced_by_another_kind(qtbot) -> None:
    view = TranscriptView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.show_items((UserText(turn="t", at=0, text="one"), AgentText(turn="t", at=0, text="two")))
    view.put(1, Notice(turn="t", at=1, level="error", text="It broke off.", hint="Send it again."))
    assert isinstance(view.item(1), Notice)
    view.truncate(1)
    assert view.item(1) is None
    assert view.item(0) is not None


LONG = "An answer that is much longer than the panel is wide, about Harrison's chronometers"
AT = {"turn": "t", "at": 0.0}
CONTENT = (
    UserText(**AT, text=LONG, notes=("Instruments/A note with a long name.md",)),
    AgentText(**AT, text=f"| {LONG} | b |\n|---|---|\n| c | d |\n\n```\n{LONG}\n```\n\n> {LONG}"),
    ToolCard(
        **AT,
        call="1",
        tool="propose_relationship_between",
        arguments=json.dumps({"name": LONG}),
        state="done",
        message=LONG,
        duration_ms=12_345,
        tokens=12_400,
        cost=0.02,
        entry=1,
        commit=1,
    ),
    Question(**AT, text="Which one?", choices=(AnswerChoice(label=f"Search for {LONG}", reply="x"),)),
    Message(**AT, sender="research-assistant", to="the-librarian-of-the-vault", text=LONG),
    Notice(**AT, level="error", text=LONG, hint=LONG),
)


@pytest.mark.parametrize("width", [280, 372])
@pytest.mark.parametrize("zoom", [1.0, 1.5])
def test_nothing_is_clipped_in_a_narrow_panel(
    gui, panel_of, wait_until, qtbot, width: int, zoom: float
) -> None:
    async def main() -> None:
        async with panel_of() as (_, panel):
            await wait_until(lambda: panel._start_page.suggestions)
            panel.resize(round(width * zoom), 2_000)
            panel.composer.set_model("Qwen2.5-Coder-32B-Instruct-GGUF")
            panel.composer.set_usage("37.2k tokens · $0.020", "")
            panel.composer.add_note("Instruments/A note with a name that is longer than the panel.md")
            assert panel.width() == round(width * zoom)
            assert not clipped(panel)
            panel._pages.setCurrentWidget(panel.transcript)
            panel.transcript.show_items(CONTENT)
            for _ in range(5):
                QCoreApplication.processEvents()
            assert not clipped(panel)
            assert panel.transcript.horizontalScrollBar().maximum() == 0

    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.setStyleSheet(stylesheet(ThemeSource("light").theme, zoom))
    try:
        gui(main())
    finally:
        application.setStyleSheet("")

"""The main tasks with the built-in agent, without a model or a network; every change is undone exactly."""

from __future__ import annotations

from pathlib import Path

from app.agent.transcript import Question
from app.settings import save_settings
from tests.flows.files import everything_in
from tests.flows.pilot import Pilot


def test_every_request_of_the_built_in_agent(app_run, settings, sample_vault: Path) -> None:
    before = everything_in(sample_vault)
    settings.embeddings.enabled = True
    save_settings(settings)

    async def use(pilot: Pilot) -> None:
        await pilot.open(sample_vault)
        await _look(pilot)
        changes = await _change(pilot, sample_vault)
        changes += await _arrange(pilot, sample_vault)
        assert everything_in(sample_vault) != before
        for _ in range(changes):
            await pilot.ask_and_approve("undo")
        assert everything_in(sample_vault) == before
        await pilot.until(lambda: "Concepts/Polaris.md" in pilot.nodes)
        await pilot.until(lambda: "Concepts/Trade winds.md" not in pilot.nodes)
        assert (await pilot.verdict()).startswith("Log intact")
        undone = [entry for entry in pilot.entries if entry.tool == "undo"]
        assert len(undone) == changes and all(entry.decision == "user-approved" for entry in undone)
        changed = [entry for entry in pilot.entries if entry.commit is not None and entry.tool != "undo"]
        assert len(changed) == changes and all(entry.undone_by is not None for entry in changed)

    app_run(use)


async def _look(pilot: Pilot) -> None:
    """Find, follow an answer's link, open, list backlinks and related notes, all without approval."""
    await pilot.ask("find notes about bimetallic")
    assert "Bimetallic strip" in pilot.said()
    await pilot.follow_answer("Bimetallic strip")
    await pilot.shown("Concepts/Bimetallic strip.md")
    await pilot.ask("open H4")
    assert "beating five times a second" in pilot.said()
    await pilot.shown("Instruments/H4.md")
    await pilot.ask("what links here?")
    assert "notes link to" in pilot.said() and "Trial of H4" in pilot.said()
    await pilot.ask("what is related to Gimbal?")
    assert "related to" in pilot.said()
    assert pilot.approvals.dialog is None


async def _change(pilot: Pilot, root: Path) -> int:
    """Create, append, replace, tag and untag; return the number of changes."""
    await pilot.ask_and_approve('create a note called Trade winds in Concepts saying "Steady. See [[H4]]."')
    assert (root / "Concepts/Trade winds.md").read_bytes() == b"Steady. See [[H4]].\n"
    await pilot.until(lambda: "Concepts/Trade winds.md" in pilot.nodes)
    h4 = root / "Instruments/H4.md"
    old = h4.read_bytes()
    await pilot.ask_and_approve('append "Checked in Greenwich." to H4')
    new = old.replace(b"\n\n## Relations", b"\nChecked in Greenwich.\n\n## Relations")
    assert h4.read_bytes() == new
    await pilot.ask_and_approve('replace "five times a second" with "5 times a second" in H4')
    new = new.replace(b"five times a second", b"5 times a second")
    assert h4.read_bytes() == new
    await pilot.ask_and_approve("tag H4 with #watch")
    assert b"watch]" in h4.read_bytes()
    await pilot.until(lambda: "watch" in pilot.tags_of("Instruments/H4.md"))
    await pilot.ask_and_approve("remove the tag watch from H4")
    assert h4.read_bytes() == new
    return 5


async def _arrange(pilot: Pilot, root: Path) -> int:
    """Rename with its links, and delete; return the number of changes."""
    await pilot.type_prompt("rename H4 to Sea watch four")
    dialog = await pilot.question()
    rewritten = {str(path) for path in dialog.current.request.rewrites}
    assert {"Events/Trial of H4.md", "Concepts/Trade winds.md"} <= rewritten
    turns = len(pilot.finished) + 1
    await pilot.approve()
    await pilot.turn_over(turns)
    assert (root / "Concepts/Trade winds.md").read_bytes() == b"Steady. See [[Sea watch four]].\n"
    assert "[[Sea watch four" in (root / "Events/Trial of H4.md").read_text("utf-8")
    texts = [file.read_text("utf-8") for file in root.rglob("*.md")]
    assert not [text for text in texts if "[[H4]]" in text or "[[H4|" in text]
    assert not (root / "Instruments/H4.md").exists()
    await pilot.until(lambda: "Instruments/Sea watch four.md" in pilot.nodes)
    assert "Instruments/H4.md" not in pilot.nodes
    # The tab of the note has followed it.
    await pilot.shown("Instruments/Sea watch four.md")
    await pilot.type_prompt("delete Polaris")
    dialog = await pilot.question()
    assert dialog.current.request.scope.backlinks, "who links to it is said before it goes"
    turns = len(pilot.finished) + 1
    await pilot.approve()
    await pilot.turn_over(turns)
    assert not (root / "Concepts/Polaris.md").exists()
    await pilot.until(lambda: "Concepts/Polaris.md" not in pilot.nodes)
    return 2


def test_a_note_opens_while_the_next_request_is_typed(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        field = pilot.agent.composer.field
        for name in ("Tea", "Water", "Tea"):
            await pilot.ask(f"open {name}")
            await pilot.shown(f"{name}.md")
            await pilot.until(lambda: not pilot.note_area._opening, "the note is open")
            assert pilot.window.focusWidget() is field
        # A link in an answer is clicked to read the note.
        await pilot.follow_answer("Water")
        note = await pilot.shown("Water.md")
        await pilot.until(lambda: pilot.window.focusWidget() is note.editor, "the note has the focus")

    app_run(use)


def test_the_built_in_agent_asks_back_and_says_what_needs_a_model(app_run, sample_vault: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(sample_vault)
        await pilot.ask("tag Mercator with #reviewed")
        asked = [item for item in await pilot.items() if isinstance(item, Question)]
        (question,) = asked
        assert len(question.choices) == 2 and pilot.approvals.dialog is None
        await pilot.press(question.choices[0].label, pilot.agent)
        dialog = await pilot.question()
        assert dialog.current.request.tool == "add_tag"
        await pilot.deny()
        await pilot.turn_over(2)
        await pilot.ask("write an essay about why Harrison was a genius")
        assert "model" in pilot.said()

    app_run(use)

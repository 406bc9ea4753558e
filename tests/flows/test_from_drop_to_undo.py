"""The main task with a model, end to end: drop a folder, ask, review the bytes, approve, look back, undo."""

from __future__ import annotations

from pathlib import Path

from app.vault.changes import ChangeSet, Update
from tests.flows.models import use_model
from tests.support.model_server import CallTool, TextAnswer

ADDED = "Steep it for three minutes.\n"


def test_from_drop_to_undo(app_run, settings, garden: Path) -> None:
    tea = garden / "Tea.md"
    before = tea.read_bytes()

    async def use(pilot) -> None:
        assert pilot.window.stack.currentWidget() is pilot.window.welcome
        pilot.drop(garden, pilot.window.welcome)
        await pilot.until(lambda: pilot.window.windowTitle() == "Garden – Scriptorium")
        await pilot.read()
        await pilot.until(lambda: {"Tea.md", "Water.md", "Plants/Mint.md"} <= pilot.nodes)
        # An unresolved name is a node, too.
        await pilot.until(lambda: "Kettle" in "".join(pilot.nodes))
        assert pilot.window.status.counts.text().startswith("4 notes")

        await pilot.type_prompt("Say how long tea steeps, please")
        dialog = await pilot.question()
        assert "Let me look." in pilot.said() and "I add the time." in pilot.said()
        await pilot.until(
            lambda: (
                [card.accessibleName().split(".")[0] for card in pilot.cards]
                == ["Read note: Done", "Create note: Running"]
            )
        )
        request = dialog.current.request
        assert request.caller.claim == "I add the time."
        assert isinstance(request.proposal, ChangeSet)
        after = b"# Steeping\n\n" + ADDED.encode() + b"See [[Tea]].\n"
        assert [type(change).__name__ for change in request.proposal.changes] == ["Create"]
        shown = dialog.page.diff_view.diff
        assert shown is not None and b"".join(shown.after) == after and shown.before == ()
        assert not (garden / "Steeping.md").exists()
        await pilot.approve()
        await pilot.until(lambda: (garden / "Steeping.md").exists())
        assert (garden / "Steeping.md").read_bytes() == after
        await pilot.until(lambda: "Steeping.md" in pilot.nodes)

        dialog = await pilot.question()
        (change,) = dialog.current.request.proposal.changes
        assert isinstance(change, Update) and change.before == before
        assert change.after == before + ADDED.encode()
        shown = dialog.page.diff_view.diff
        assert b"".join(shown.before) == before and b"".join(shown.after) == change.after
        assert tea.read_bytes() == before, "nothing is written while it is asked"
        await pilot.approve()
        finished = await pilot.turn_over(1)
        assert finished.state == "done"
        assert tea.read_bytes() == before + ADDED.encode()
        await pilot.until(lambda: "Done, see" in pilot.said())
        await pilot.show_audit()
        wanted = ["edit_note", "create_note", "read_note"]
        await pilot.until(lambda: [entry.tool for entry in pilot.entries] == wanted)
        edited = pilot.entries[0]
        assert edited.decision == "user-approved" and edited.commit is not None and "Tea.md" in edited.paths

        await pilot.press("Undo", pilot.cards[2])
        dialog = await pilot.question()
        (change,) = dialog.current.request.proposal.changes
        assert change.after == before
        await pilot.approve()
        await pilot.until(lambda: tea.read_bytes() == before)
        await pilot.until(lambda: pilot.entries[0].tool == "undo")
        await pilot.until(lambda: pilot.entries[1].undone_by == pilot.entries[0].id)
        assert (await pilot.verdict()).startswith("Log intact: 4 entries")

    answers = (
        CallTool("read_note", {"name": "Tea"}, text="Let me look."),
        CallTool(
            "create_note",
            {"name": "Steeping", "content": f"# Steeping\n\n{ADDED}See [[Tea]].\n"},
            text="I add the time.",
        ),
        CallTool("edit_note", {"name": "Tea", "op": "append", "text": ADDED}, text="And to the note."),
        TextAnswer("Done, see [[Steeping]]."),
    )
    with use_model(settings, *answers) as server:
        app_run(use)
    told = [m for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert len(told) == 3 and all('"success":true' in m["content"].replace(" ", "") for m in told)


def test_the_turn_is_undone_as_one_from_the_audit_log(app_run, settings, garden: Path) -> None:
    water = garden / "Water.md"
    before = water.read_bytes()

    async def use(pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Tidy the water")
        for _ in range(2):
            await pilot.approve()
        await pilot.turn_over(1)
        assert b"checked" in water.read_bytes() and b"sea" in water.read_bytes()
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "My own line.")
        await pilot.save(note)
        await pilot.select_entry("add_tag")
        await pilot.press("Undo the whole turn", pilot.audit)
        dialog = await pilot.question()
        assert len(dialog.current.request.proposal.changes) == 1
        await pilot.approve()
        await pilot.until(lambda: water.read_bytes() == before + b"My own line.")
        await pilot.until(lambda: "(undone)" in pilot.audit.model.index(2, 3).data())
        assert (await pilot.verdict()).startswith("Log intact")

    answers = (
        CallTool("add_tag", {"name": "Water", "tag": "checked"}),
        CallTool("add_tag", {"name": "Water", "tag": "sea"}),
        TextAnswer("Tidy."),
    )
    with use_model(settings, *answers):
        app_run(use)

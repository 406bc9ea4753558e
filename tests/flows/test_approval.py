"""Decisions in the dialog: deny with a reason, edit, approve a part, allow more, a queue, and a timeout."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest

from app.desktop.approval.grants_panel import GrantsPanel
from app.permissions.caller import Caller, CallerKind
from app.settings import save_settings
from tests.flows.files import everything_in
from tests.flows.models import use_model
from tests.flows.pilot import Pilot
from tests.support.model_server import CallTool, TextAnswer

OUTSIDER = Caller(CallerKind.MCP, "claude")


def test_a_denial_reaches_the_model_in_the_users_words(app_run, settings, garden: Path) -> None:
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Tag the water")
        await pilot.deny("use #sea instead")
        await pilot.turn_over(1)
        assert everything_in(garden) == before
        assert "tagged" not in pilot.said().lower() and "Understood." in pilot.said()
        (card,) = pilot.cards
        assert card.accessibleName() == "Add tag: Denied. You denied this: use #sea instead"
        entry = await pilot.select_entry("add_tag")
        assert entry.decision == "user-denied" and "use #sea instead" in entry.reason
        assert not pilot.audit.detail.undo_button.isEnabled()

    with use_model(
        settings, CallTool("add_tag", {"name": "Water", "tag": "x"}), TextAnswer("Understood.")
    ) as server:
        app_run(use)
    (told,) = [m for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert json.loads(told["content"])["words"] == "use #sea instead"


def test_the_text_can_be_edited_before_it_is_approved(app_run, settings, garden: Path) -> None:
    water = garden / "Water.md"
    before = water.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Say more about water")
        dialog = await pilot.question()
        await pilot.click(dialog.bar.edit_button)
        field = dialog.page.editor.field
        await pilot.until(field.isVisible, "the editor is open")
        field.moveCursor(QTextCursor.MoveOperation.End)
        QTest.keyClicks(field, "And it freezes at nought.")
        QTest.keyClick(field, Qt.Key.Key_Return)
        await pilot.until(lambda: dialog.bar.approve_button.text() == "Approve edited text")
        await pilot.approve()
        await pilot.turn_over(1)
        assert water.read_bytes() == before + b"It is wet.\nAnd it freezes at nought.\n"
        entry = await pilot.select_entry("edit_note")
        assert entry.decision == "user-approved" and "after editing" in entry.reason

    call = CallTool("edit_note", {"name": "Water", "op": "append", "text": "It is wet.\n"})
    with use_model(settings, call, TextAnswer("Good.")) as server:
        app_run(use)
    (told,) = [m for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert json.loads(told["content"])["changed_by_user"]


def test_one_of_two_files_is_approved(app_run, settings, garden: Path) -> None:
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Rename the tag")
        dialog = await pilot.question()
        paths = [str(change.path) for change in dialog.current.request.proposal.changes]
        assert sorted(paths) == ["Plants/Camellia.md", "Water.md"]
        files = dialog.page.files
        files.choose(paths.index("Water.md"))
        files.view.setFocus()
        QTest.keyClick(files.view, Qt.Key.Key_Space)
        assert dialog.bar.approve_button.text() == "Approve 1 of 2 files"
        await pilot.approve()
        await pilot.turn_over(1)
        after = {**before, "Plants/Camellia.md": before["Plants/Camellia.md"].replace(b"#nature", b"#wild")}
        assert everything_in(garden) == after
        entry = await pilot.select_entry("rename_tag")
        assert "in part" in entry.reason

    call = CallTool("rename_tag", {"tag": "nature", "new_tag": "wild"})
    with use_model(settings, call, TextAnswer("Half.")) as server:
        app_run(use)
    (told,) = [m for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert json.loads(told["content"])["left_out_by_user"] == ["Water.md"]


def test_a_grant_is_listed_used_and_revoked(app_run, settings, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.type_prompt("Tag it")
        dialog = await pilot.question()
        label = dialog.current.request.offers[0].label
        await pilot.click(dialog.bar.menu_button)
        await pilot.until(dialog.bar.menu.isVisible, "the offers are shown")
        await pilot.choose(dialog.bar.menu, label.replace("&", "&&"))
        await pilot.turn_over(1)
        assert b"twice" in (garden / "Water.md").read_bytes()
        await pilot.show_audit()
        await pilot.until(lambda: [e.decision for e in pilot.entries] == ["auto-approved", "user-approved"])
        assert pilot.entries[0].grant
        await pilot.until(lambda: pilot.window.status.lock_button.text() == "1")
        await pilot.click(pilot.window.status.lock_button)
        await pilot.until(lambda: pilot.sheets, "the grants are shown")
        (panel,) = pilot.sheets[0].findChildren(GrantsPanel)
        await pilot.until(lambda: panel.grants and panel.grants[0].used == 1, "its use is counted")
        await pilot.press("Revoke")
        await pilot.until(lambda: pilot.window.status.lock_button.text() == "")
        await pilot.press("Done")
        await pilot.until(lambda: not pilot.sheets)
        await pilot.type_prompt("Once more")
        await pilot.deny()
        await pilot.turn_over(2)
        assert b"thrice" not in (garden / "Water.md").read_bytes()

    answers = (
        CallTool("add_tag", {"name": "Water", "tag": "once"}),
        CallTool("add_tag", {"name": "Water", "tag": "twice"}),
        TextAnswer("Tagged."),
        CallTool("add_tag", {"name": "Water", "tag": "thrice"}),
        TextAnswer("Not tagged."),
    )
    with use_model(settings, *answers):
        app_run(use)


def test_three_requests_queue_up_and_each_gets_its_own_answer(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        calls = [
            pilot.start_call("add_tag", {"name": name, "tag": "queued"}, OUTSIDER)
            for name in ("Tea", "Water", "Mint")
        ]
        dialog = await pilot.question()
        await pilot.until(lambda: dialog.strip.list_button.text().startswith("1 of 3"))
        assert dialog.strip.isVisible() and "claude" in dialog.accessibleName()
        paths = {str(item.request.proposal.changes[0].path) for item in pilot.approvals.waiting}
        assert paths == {"Tea.md", "Water.md", "Plants/Mint.md"}
        await pilot.click(dialog.strip.next_button)
        await pilot.until(lambda: dialog.strip.list_button.text().startswith("2 of 3"))
        await pilot.deny("not this one")
        await pilot.until(lambda: dialog.strip.list_button.text().split(" ")[2] == "2")
        await pilot.approve()
        await pilot.approve()
        outcomes = [await call for call in calls]
        assert sorted(outcome.denied for outcome in outcomes) == [False, False, True]
        (denied,) = [outcome for outcome in outcomes if outcome.denied]
        assert denied.words == "not this one"
        tagged = [name for name, text in everything_in(garden).items() if b"queued" in text]
        assert len(tagged) == 2
        assert pilot.approvals.dialog is None

    app_run(use)


def test_all_waiting_requests_are_approved_as_a_batch(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        calls = [
            pilot.start_call("add_tag", {"name": name, "tag": "batch"}, OUTSIDER) for name in ("Tea", "Water")
        ]
        dialog = await pilot.question()
        await pilot.until(lambda: dialog.strip.list_button.text().startswith("1 of 2"))
        await pilot.click(dialog.strip.batch_button)
        await pilot.until(lambda: dialog.batch is not None and dialog.input_delay.is_ready)
        await pilot.click(dialog.batch.approve_button)
        assert all([(await call).success for call in calls])

    app_run(use)


def test_no_answer_in_time_is_a_denial_that_is_reported_and_audited(app_run, settings, garden: Path) -> None:
    # Shorter than the settings dialog allows, so that the test need not wait.
    settings.permissions = settings.permissions.model_copy(update={"approval_timeout": 1.0})
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        pilot.window.session.settings = settings
        await pilot.open(garden)
        outcome = await pilot.start_call("add_tag", {"name": "Water", "tag": "late"}, OUTSIDER)
        assert outcome.denied and outcome.error["reason"] == "timed-out"
        await pilot.until(lambda: pilot.approvals.dialog is None, "the dialog goes")
        await pilot.until(lambda: any("Timed out" in pilot.banner(key) for key in pilot.banners))
        assert everything_in(garden) == before
        entry = await pilot.select_entry("add_tag")
        assert entry.decision == "timed-out" and entry.commit is None

    app_run(use)
    save_settings(settings)


def test_a_file_that_changes_during_the_approval_is_proposed_again(app_run, garden: Path) -> None:
    water = garden / "Water.md"

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        call = pilot.start_call("edit_note", {"name": "Water", "op": "append", "text": "Mine."}, OUTSIDER)
        first = await pilot.question()
        asked = first.current.request
        water.write_bytes(b"# Water\n\nSomebody else wrote this.\n")
        await pilot.approve()
        await pilot.until(lambda: pilot.approvals.waiting and pilot.approvals.waiting[0].request is not asked)
        assert water.read_bytes() == b"# Water\n\nSomebody else wrote this.\n"
        second = await pilot.question()
        assert second.current.request.proposal.changes[0].before == water.read_bytes()
        await pilot.approve()
        assert (await call).success
        assert water.read_bytes() == b"# Water\n\nSomebody else wrote this.\nMine.\n"

    app_run(use)

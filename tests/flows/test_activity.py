"""The activity feed: pending requests are reviewed or rejected in their line, and changes undone there."""

from __future__ import annotations

from pathlib import Path

from app.desktop.activity.item import ActivityItem, ActivityOrigin, ActivityStatus
from app.desktop.activity.panel import ActivityPanel
from app.desktop.activity.row_actions import RowActions
from app.permissions.caller import Caller, CallerKind
from tests.flows.pilot import Pilot
from tests.support.activity_feed import activities

OUTSIDER = Caller(CallerKind.MCP, "claude", turn="t")


async def show_feed(pilot: Pilot) -> ActivityPanel:
    panel = pilot.panel("activity", ActivityPanel)
    pilot.page.show_bottom("activity")
    await pilot.until(panel.isVisible, "the feed is shown")
    return panel


def newest(pilot: Pilot) -> ActivityItem:
    view = pilot.window.view
    assert view is not None
    return next(each for each in activities(view.feed) if each.kind == "tool_execution")


def row_actions(panel: ActivityPanel, key: str) -> RowActions | None:
    row = panel._actions.get(key)
    return row[1] if row is not None else None


async def buttons(pilot: Pilot, panel: ActivityPanel, key: str, deed: str) -> RowActions:
    def there() -> bool:
        found = row_actions(panel, key)
        return found is not None and deed in found.buttons and found.buttons[deed].isVisible()

    await pilot.until(there, f"the line has the button {deed}")
    found = row_actions(panel, key)
    assert found is not None
    return found


async def put_aside(pilot: Pilot) -> None:
    dialog = await pilot.question()
    await pilot.click(dialog.bar.later_button)
    await pilot.until(dialog.isHidden, "the dialog is put aside")


def test_a_pending_request_is_postponed_then_rejected_in_its_line(app_run, garden: Path) -> None:
    before = (garden / "Water.md").read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        call = pilot.start_call("add_tag", {"name": "Water", "tag": "sea"}, OUTSIDER)
        await put_aside(pilot)
        panel = await show_feed(pilot)
        waits = newest(pilot)
        assert (waits.status, waits.origin, waits.caller) == (
            ActivityStatus.PENDING,
            ActivityOrigin.CLIENT,
            "claude",
        )
        assert "Water.md" in waits.summary
        row = await buttons(pilot, panel, waits.key, "reject")
        await pilot.click(row.buttons["reject"])
        outcome = await call
        assert outcome.denied and not outcome.success
        await pilot.until(
            lambda: newest(pilot).status is ActivityStatus.DENIED, "the line says that it was denied"
        )
        await pilot.until(lambda: row_actions(panel, waits.key) is None, "nothing is left to decide")
        assert (garden / "Water.md").read_bytes() == before
        assert pilot.approvals.dialog is None

    app_run(use)


def test_review_opens_the_dialog_at_that_request_and_what_was_done_is_undone(app_run, garden: Path) -> None:
    water = garden / "Water.md"
    before = water.read_bytes()

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        other = pilot.start_call("add_tag", {"name": "Tea", "tag": "leaf"}, OUTSIDER)
        await put_aside(pilot)
        call = pilot.start_call("add_tag", {"name": "Water", "tag": "sea"}, OUTSIDER)
        await pilot.question()  # A new question appears although another was postponed.
        await put_aside(pilot)
        panel = await show_feed(pilot)
        assert len(pilot.window.view.feed.waiting) == 2
        waits = newest(pilot)
        row = await buttons(pilot, panel, waits.key, "review")
        await pilot.click(row.buttons["review"])
        dialog = await pilot.question()
        assert dialog.current.request.id == waits.request.id
        await pilot.approve()
        assert (await call).success and b"sea" in water.read_bytes()
        await pilot.deny()
        assert (await other).denied
        done = next(each for each in activities(pilot.window.view.feed) if each.key == waits.key)
        assert done.status is ActivityStatus.COMPLETED and done.entry.commit is not None
        place = next(
            panel.filtered.index(row, 0)
            for row in range(panel.filtered.rowCount())
            if panel.filtered.index(row, 0).data(256).key == waits.key
        )
        panel.list.setCurrentIndex(place)
        row = await buttons(pilot, panel, waits.key, "undo")
        await pilot.click(row.buttons["undo"])
        await pilot.approve()
        await pilot.until(lambda: water.read_bytes() == before, "the tag is gone again")

    app_run(use)


def test_a_pending_operation_is_asked_again_after_a_restart_and_done_once(app_run, garden: Path) -> None:
    water = garden / "Water.md"
    before = water.read_bytes()
    arguments = {"name": "Water", "op": "append", "text": "It is wet.\n"}
    ids: list[str] = []

    async def submit(pilot: Pilot) -> None:
        await pilot.open(garden)
        outcome = await pilot.run(lambda ws: ws.pending.submit("edit_note", arguments, OUTSIDER))
        ids.append(outcome.pending)
        dialog = await pilot.question()
        await pilot.click(dialog.bar.later_button)

    async def decide(pilot: Pilot) -> None:
        await pilot.open(garden)
        dialog = await pilot.question()
        assert dialog.current.request.call == ids[0] and water.read_bytes() == before
        panel = await show_feed(pilot)
        assert newest(pilot).status is ActivityStatus.PENDING and row_actions(panel, ids[0]) is not None
        await pilot.approve()
        await pilot.until(lambda: newest(pilot).status is ActivityStatus.COMPLETED, "it is done")
        found = await pilot.run(lambda ws: ws.pending.status(ids[0], OUTSIDER))
        assert found.state == "done"

    async def after(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert await pilot.run(lambda ws: ws.pending.list_for(Caller.user())) == ()
        assert not pilot.approvals.waiting

    app_run(submit)
    app_run(decide)
    app_run(after)
    assert water.read_bytes() == before + b"It is wet.\n"


def test_the_feed_lists_events_of_the_app_and_can_be_filtered(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        panel = await show_feed(pilot)
        feed = pilot.window.view.feed
        (garden / "Water.md").write_bytes(b"# Water\n\nNew.\n")
        await pilot.until(
            lambda: any(each.name == "Changed outside the app" for each in activities(feed)), "it is told"
        )
        outcome = await pilot.start_call("read_note", {"name": "Nowhere at all"}, OUTSIDER)
        assert not outcome.success
        await pilot.until(
            lambda: any(each.status is ActivityStatus.FAILED for each in activities(feed)), "it is told"
        )
        whats = {each.name for each in activities(feed)}
        assert {"Index the vault", "Changed outside the app", "read_note"} <= whats
        panel.filter.origin.setCurrentIndex(panel.filter.origin.findData("system"))
        shown = [panel.filtered.index(row, 0).data(256) for row in range(panel.filtered.rowCount())]
        assert shown and {each.origin for each in shown} == {ActivityOrigin.SYSTEM}
        panel.filter.text.setText("nothing has this name")
        assert panel.filtered.rowCount() == 0
        panel.filter.text.clear()
        panel.filter.origin.setCurrentIndex(0)
        panel.filter.status.setCurrentIndex(panel.filter.status.findData("failed"))
        assert panel.filtered.index(0, 0).data(256).name == "read_note"

    app_run(use)

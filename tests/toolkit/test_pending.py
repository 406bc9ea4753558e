"""Calls whose callers do not wait are decided later, across a restart, and run at most once."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing

import pytest

from app.errors import InvalidParametersError, NotFoundError, StorageError
from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied
from app.permissions.caller import Caller
from app.permissions.pending import PendingState, PendingStore
from app.toolkit.pending import PendingChanged, PendingOperations
from tests.toolkit.conftest import AGENT, CLIENT, Bench

NEW = {"name": "Coffee", "text": "Black.\n"}


class PendingBench:
    """The pending operations of the bench; `restart` closes them and opens the stored ones."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.now = 1000.0
        self.decide: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self.open()

    def open(self) -> None:
        self.store = PendingStore(self.bench.journal.folder, lambda: self.now)
        self.operations = PendingOperations(
            self.bench.runner.run,
            self.store,
            self.bench.journal,
            self.bench.events,
            lambda: self.now,
        )

    async def restart(self) -> int:
        await self.operations.close()
        self.open()
        return self.operations.resume()

    def let_wait(self) -> None:
        """Let the next question wait until the test resolves `decide`."""
        self.decide = asyncio.get_running_loop().create_future()
        self.bench.approver.answers.append(lambda request: self.decide)

    async def submit(self, caller: Caller = CLIENT) -> str:
        self.let_wait()
        outcome = await self.operations.submit("make", NEW, caller)
        assert not outcome.success and outcome.pending
        told = outcome.as_dict()
        assert told["pending_operation_id"] == outcome.pending and told["requires_confirmation"] is True
        assert told["operation"] == "create" and told["details"]["tool"] == "make"
        assert told["details"]["files"] == ["Coffee.md"] and told["details"]["reason"]
        return outcome.pending

    def answer(self, decision: Decision | None = None) -> None:
        request: ApprovalRequest = self.bench.approver.asked[-1]
        self.decide.set_result(decision or Approved(request.proposal))

    async def ended(self, operation_id: str) -> PendingState:
        while (state := self.store.get(operation_id).state).is_open:
            await asyncio.sleep(0.005)
        return state

    @property
    def is_written(self) -> bool:
        return (self.bench.root / "Coffee.md").exists()


@pytest.fixture
async def desk(bench: Bench) -> AsyncIterator[PendingBench]:
    desk = PendingBench(bench)
    yield desk
    await desk.operations.close()


async def test_a_call_without_a_decision_ends_at_once_and_is_not_kept(desk: PendingBench) -> None:
    outcome = await desk.operations.submit("read", {"name": "Tea"}, CLIENT)
    assert outcome.success and not outcome.pending
    wrong = await desk.operations.submit("read", {"name": "Nowhere"}, CLIENT)
    assert wrong.error is not None and wrong.error["type"] == "not_found"
    assert desk.operations.list_for(CLIENT) == ()


async def test_an_operation_waits_is_approved_and_reports_its_outcome(desk: PendingBench) -> None:
    operation_id = await desk.submit()
    assert desk.operations.status(operation_id, CLIENT).state is PendingState.WAITING and not desk.is_written
    desk.answer()
    assert await desk.ended(operation_id) is PendingState.DONE and desk.is_written
    outcome = desk.operations.status(operation_id, CLIENT).outcome
    assert outcome is not None and outcome["success"] and outcome["path"] == "Coffee.md"
    told = [event.operation.state.value for event in desk.bench.of(PendingChanged)]
    assert told == ["waiting", "done"]
    assert desk.bench.last().call == operation_id


async def test_a_denial_is_kept_with_the_users_words(desk: PendingBench) -> None:
    operation_id = await desk.submit()
    desk.answer(Denied("not now"))
    assert await desk.ended(operation_id) is PendingState.DENIED and not desk.is_written
    outcome = desk.operations.status(operation_id, CLIENT).outcome
    assert outcome is not None and outcome["words"] == "not now"


async def test_a_waiting_operation_survives_a_restart_and_is_asked_again_on_the_current_notes(
    desk: PendingBench,
) -> None:
    desk.let_wait()
    added = await desk.operations.submit("add_line", {"name": "Tea", "line": "Milk?"}, CLIENT)
    desk.let_wait()
    assert await desk.restart() == 1
    assert "asked again the next time it starts" in desk.bench.last().reason
    (desk.bench.root / "Tea.md").write_text("Changed meanwhile.\n", "utf-8")
    while len(desk.bench.approver.asked) < 2:
        await asyncio.sleep(0.005)
    desk.answer()
    # The shown text no longer exists: it is proposed and asked again.
    assert await desk.ended(added.pending) is PendingState.DONE
    assert desk.bench.text("Tea.md") == "Changed meanwhile.\nMilk?\n"


async def test_a_decided_operation_is_not_asked_again_after_a_restart(desk: PendingBench) -> None:
    operation_id = await desk.submit()
    desk.answer()
    await desk.ended(operation_id)
    (desk.bench.root / "Coffee.md").unlink()
    assert await desk.restart() == 0
    assert desk.store.get(operation_id).state is PendingState.DONE and not desk.is_written


@pytest.mark.parametrize("was_written", [True, False])
async def test_an_interrupted_operation_is_resolved_by_the_journal_and_never_repeated(
    desk: PendingBench, was_written: bool
) -> None:
    operation_id = await desk.submit()
    if was_written:
        desk.answer()
        await desk.ended(operation_id)
        desk.store._write("UPDATE pending SET settled = NULL WHERE id = ?", (operation_id,))
        assert desk.store.transition(operation_id, PendingState.DONE, PendingState.RUNNING)
    else:
        assert desk.store.transition(operation_id, PendingState.WAITING, PendingState.RUNNING)
    assert await desk.restart() == 0
    settled = desk.store.get(operation_id)
    assert settled.state is (PendingState.DONE if was_written else PendingState.FAILED)
    assert settled.outcome is not None
    if not was_written:
        assert "not be repeated" in str(settled.outcome["error"])
    assert len(desk.bench.approver.asked) == 1


async def test_it_expires_before_and_after_a_restart(desk: PendingBench) -> None:
    operation_id = await desk.submit()
    assert desk.bench.approver.asked[-1].timeout == pytest.approx(24 * 3600)
    desk.now += 25 * 3600
    assert await desk.restart() == 0
    assert desk.store.get(operation_id).state is PendingState.EXPIRED and not desk.is_written


async def test_only_its_caller_can_withdraw_an_operation(desk: PendingBench) -> None:
    operation_id = await desk.submit()
    other = Caller(CLIENT.kind, "Somebody else")
    for call in (desk.operations.status, desk.operations.cancel):
        with pytest.raises(NotFoundError):
            answer = call(operation_id, other)
            if asyncio.iscoroutine(answer):
                await answer
    assert desk.operations.list_for(other) == () and len(desk.operations.list_for(Caller.user())) == 1
    assert (await desk.operations.cancel(operation_id, CLIENT)).state is PendingState.CANCELLED
    assert desk.decide.cancelled() and not desk.is_written
    outcome = desk.operations.status(operation_id, CLIENT).outcome
    assert outcome == {
        "success": False,
        "error": {"type": "cancelled", "message": "The call was withdrawn."},
    }
    assert desk.bench.last().decision == "cancelled" and "withdrawn" in desk.bench.last().reason
    with pytest.raises(InvalidParametersError):
        await desk.operations.cancel(operation_id, CLIENT)


async def test_two_operations_are_decided_each_on_its_own(desk: PendingBench) -> None:
    first = await desk.submit()
    decide = desk.decide
    second = (await desk.operations.submit("make", {"name": "Milk"}, AGENT)).pending
    assert await desk.ended(second) is PendingState.DONE and (desk.bench.root / "Milk.md").exists()
    decide.set_result(Denied())
    assert await desk.ended(first) is PendingState.DENIED


async def test_a_damaged_file_is_set_aside_and_nothing_is_run(desk: PendingBench) -> None:
    await desk.submit()
    await desk.operations.close()
    (desk.bench.journal.folder / "pending.sqlite").write_bytes(b"no database" * 100)
    for part in ("-wal", "-shm"):
        (desk.bench.journal.folder / f"pending.sqlite{part}").unlink(missing_ok=True)
    desk.open()
    assert desk.store.problem is not None and "set aside" in desk.store.problem
    assert desk.operations.resume() == 0


async def test_a_file_that_cannot_be_written_is_a_storage_error(desk: PendingBench) -> None:
    operation_id = await desk.submit()
    await desk.operations.cancel(operation_id, CLIENT)
    await desk.operations.close()
    with closing(sqlite3.connect(desk.bench.journal.folder / "pending.sqlite")) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE DELETE ON pending BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        connection.commit()
    desk.now += 31 * 86_400
    with pytest.raises(StorageError, match="disk full"):
        desk.open()
    desk.now = 1000.0
    desk.open()


async def test_an_approval_with_a_grant_applies_if_the_file_has_changed_meanwhile(desk: PendingBench) -> None:
    desk.let_wait()
    outcome = await desk.operations.submit("add_line", {"name": "Tea", "line": "Milk."}, CLIENT)
    (desk.bench.root / "Tea.md").write_text("Something else.\n", "utf-8")
    (request,) = desk.bench.approver.asked
    offer = next(one for one in request.offers if one.minutes is None and not one.always)
    desk.decide.set_result(Approved(request.proposal, grant=offer))
    assert await desk.ended(outcome.pending) is PendingState.DONE
    assert desk.bench.text("Tea.md") == "Something else.\nMilk.\n"
    assert len(desk.bench.approver.asked) == 1

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from app.desktop.bridge import DesktopApprover, EventRelay, PendingApproval, ServiceThread, VaultClient
from app.desktop.runtime import tasks
from app.events import Event, EventBus
from app.permissions.approval import UNANSWERED_REASON, ApprovalRequest, Approved, Denied, Effect
from app.permissions.caller import Caller
from app.permissions.scope import Operation, Scope, ScopeKind


@dataclass(frozen=True, slots=True)
class Counted(Event):
    number: int


def request(name: str = "q1") -> ApprovalRequest:
    scope = Scope(ScopeKind.ADMIN)
    return ApprovalRequest(
        name, Caller.user(), "run", (), Operation.EXECUTE, scope, Effect("command", "ls"), "asks"
    )


def test_a_call_runs_in_the_service_thread_and_returns(gui, service: ServiceThread) -> None:
    async def name() -> str:
        await asyncio.sleep(0)
        return threading.current_thread().name

    async def main() -> tuple[str, str]:
        return await service.call(name), await service.call(lambda: threading.current_thread().name)

    assert gui(main()) == ("service", "service")


def test_an_error_crosses_back(gui, service: ServiceThread) -> None:
    async def main() -> None:
        with pytest.raises(ZeroDivisionError):
            await service.call(lambda: 1 // 0)

    gui(main())


def test_canceling_the_caller_cancels_the_work(gui, service: ServiceThread, wait_until) -> None:
    state: list[str] = []

    async def work() -> None:
        state.append("begun")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            state.append("cancelled")
            raise

    async def main() -> None:
        task = tasks.start(service.call(work))
        await wait_until(lambda: state)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until(lambda: len(state) == 2)

    gui(main())
    assert state == ["begun", "cancelled"]


def test_stopping_ends_running_calls_and_refuses_further_ones(gui) -> None:
    service = ServiceThread()
    service.start()
    ended: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def main() -> None:
        task = tasks.start(service.call(work))
        await service.call(lambda: None)
        assert await asyncio.to_thread(service.stop)
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(RuntimeError):
            await service.call(lambda: None)

    gui(main())
    assert ended == [True] and not service.is_running
    with pytest.raises(RuntimeError):
        service.start()


def test_a_burst_of_events_arrives_in_order_and_in_few_batches(
    gui, service: ServiceThread, wait_until
) -> None:
    bus = EventBus()
    batches: list[tuple[Event, ...]] = []

    async def main() -> None:
        relay = EventRelay()
        relay.attach(bus)
        relay.batch.connect(batches.append)

        async def burst() -> None:
            for number in range(2000):
                bus.publish(Counted(number))
                if not number % 100:
                    await asyncio.sleep(0)

        await service.call(burst)
        await wait_until(lambda: sum(map(len, batches)) == 2000)

    gui(main())
    assert [event.number for batch in batches for event in batch] == list(range(2000))
    assert len(batches) < 200


def test_an_event_during_a_drain_is_not_lost(gui, wait_until) -> None:
    received: list[int] = []

    async def main() -> None:
        relay = EventRelay()

        def receive(events: tuple[Counted, ...]) -> None:
            received.extend(event.number for event in events)
            if len(received) == 1:
                relay.receive(Counted(1))

        relay.batch.connect(receive)
        relay.receive(Counted(0))
        await wait_until(lambda: received == [0, 1])

    gui(main())


def test_a_question_is_answered_in_the_window(gui, service: ServiceThread, wait_until) -> None:
    threads: list[str] = []

    async def main() -> object:
        approver = DesktopApprover(service)

        def answer(question: PendingApproval) -> None:
            threads.append(threading.current_thread().name)
            question.answer(Approved(question.request.proposal))
            question.answer(Denied("too late"))

        approver.asked.connect(answer)
        decision = await service.call(lambda: approver.decide(request()))
        await wait_until(lambda: not approver._pending)
        return decision

    assert gui(main()) == Approved(Effect("command", "ls"))
    assert threads == ["MainThread"]


def test_a_canceled_question_is_withdrawn(gui, service: ServiceThread, wait_until) -> None:
    withdrawn: list[str] = []

    async def main() -> None:
        approver = DesktopApprover(service)
        approver.asked.connect(lambda q: q.withdrawn.connect(lambda: withdrawn.append(q.request.id)))
        task = tasks.start(service.call(lambda: approver.decide(request("gone"))))
        await wait_until(lambda: approver._pending)
        task.cancel()
        await wait_until(lambda: withdrawn)
        assert not approver._pending

    gui(main())
    assert withdrawn == ["gone"]


def test_an_answer_after_the_time_limit_is_reported(gui, service: ServiceThread, wait_until) -> None:
    reasons: list[str] = []

    async def main() -> None:
        approver = DesktopApprover(service)

        def answer(question: PendingApproval) -> None:
            question.withdrawn.connect(lambda: reasons.append(question.reason))
            question.answer(Approved(question.request.proposal))

        async def time_out() -> None:
            decision = asyncio.ensure_future(approver.decide(request()))
            await asyncio.sleep(0)
            decision.cancel(UNANSWERED_REASON)
            await asyncio.wait({decision})

        approver.asked.connect(answer)
        await service.call(time_out)
        await wait_until(lambda: reasons)

    gui(main())
    assert reasons == [UNANSWERED_REASON]


def test_a_client_runs_in_the_vault_and_relays_its_events(gui, service: ServiceThread, wait_until) -> None:
    closed: list[bool] = []
    workspace = SimpleNamespace(events=EventBus(), name="Garden", close=lambda: closed.append(True))
    batches: list[tuple[Event, ...]] = []

    async def main() -> None:
        client = VaultClient(service, workspace)  # type: ignore[arg-type]
        client.events.batch.connect(batches.append)
        assert await client.run(lambda vault: vault.name) == "Garden"
        await client.run(lambda vault: vault.events.publish(Counted(7)))
        await wait_until(lambda: batches)
        await client.close()
        await client.run(lambda vault: vault.events.publish(Counted(8)))
        client.events.drain()
        with pytest.raises(asyncio.CancelledError):
            await client.run(lambda vault: vault.nothing)

    gui(main())
    assert batches == [(Counted(7),)] and closed == [True]

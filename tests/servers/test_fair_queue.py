"""Permits are limited and never left unused, and no client gets two before others get one."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import LimitError
from app.servers.fair_queue import FairQueue, RunPermit

AT_ONCE, EACH, WAITING = 3, 2, 5
Step = tuple[Literal["enter", "end", "cancel"], int]
KINDS = st.sampled_from(["enter", "enter", "end", "cancel"])
STEPS = st.lists(st.tuples(KINDS, st.integers(0, 4)), max_size=80)


class Play:
    """Clients that arrive, wait, finish and cancel, and the permits that each got."""

    def __init__(self, each: int = EACH) -> None:
        self.queue = FairQueue(AT_ONCE, each, WAITING, 100)
        self.each = each
        self.running: list[tuple[int, RunPermit]] = []
        self.waiting: list[tuple[int, asyncio.Task[RunPermit]]] = []
        self.granted: list[int] = []

    async def step(self, step: Step) -> None:
        kind, number = step
        if kind == "enter":
            await self.enter(number)
        elif kind == "end" and self.running:
            _, turn = self.running.pop(number % len(self.running))
            turn.release()
            turn.release()
        elif kind == "cancel" and self.waiting:
            _, task = self.waiting.pop(number % len(self.waiting))
            # Sometimes at the very moment in which a permit becomes free.
            if self.running and number % 2:
                self.running.pop()[1].release()
            task.cancel()
        await self.run_waiting()

    async def enter(self, who: int) -> None:
        waits = sum(one == who for one, _ in self.waiting)
        task = asyncio.ensure_future(self.queue.acquire(who))
        await asyncio.sleep(0)
        if task.done() and isinstance(task.exception(), LimitError):
            assert waits == WAITING
        else:
            self.waiting.append((who, task))

    async def run_waiting(self) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        for who, task in tuple(self.waiting):
            if task.done():
                self.waiting.remove((who, task))
                self.running.append((who, task.result()))
                self.granted.append(who)

    def check(self) -> None:
        have = Counter(who for who, _ in self.running)
        assert len(self.running) == self.queue.running <= AT_ONCE
        assert all(count <= self.each for count in have.values())
        eligible = [who for who, _ in self.waiting if have[who] < self.each]
        assert not (eligible and len(self.running) < AT_ONCE), "a turn is free and somebody waits for it"
        assert self.queue.waiting() == len(self.waiting)


@given(STEPS)
def test_turns_are_bounded_and_none_is_lost(steps: list[Step]) -> None:
    async def play() -> None:
        game = Play()
        for step in steps:
            await game.step(step)
            game.check()
        for _, task in game.waiting:
            task.cancel()
        for _, turn in game.running:
            turn.release()
        await asyncio.sleep(0)
        assert game.queue.running == 0

    asyncio.run(play())


@given(st.lists(st.integers(0, 4), min_size=8, max_size=40))
def test_each_client_that_waits_gets_a_turn_before_any_gets_a_second(comers: list[int]) -> None:
    async def play() -> None:
        game = Play(each=AT_ONCE)
        for _ in range(AT_ONCE):
            await game.step(("enter", 99))
        for who in comers:
            await game.step(("enter", who))
        remaining = Counter(who for who, _ in game.waiting)
        game.granted.clear()
        while game.waiting:
            before = len(game.granted)
            await game.step(("end", 0))
            game.check()
            assert len(game.granted) == before + 1
        rounds = max(remaining.values(), default=0)
        for number in range(rounds):
            in_round = {who for who, count in remaining.items() if count > number}
            begin = sum(min(count, number) for count in remaining.values())
            assert set(game.granted[begin : begin + len(in_round)]) == in_round

    asyncio.run(play())


async def test_one_client_cannot_fill_the_queue() -> None:
    queue = FairQueue(max_running=4, max_per_client=3, max_waiting_per_client=2, max_waiting=3)
    greedy = [await queue.acquire("greedy") for _ in range(3)]
    waits = [asyncio.ensure_future(queue.acquire("greedy")) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(LimitError) as caught:
        await queue.acquire("greedy")
    assert caught.value.data["retry_after"] == 1.0
    polite = await queue.acquire("polite")
    third = asyncio.ensure_future(queue.acquire("third"))
    await asyncio.sleep(0)
    with pytest.raises(LimitError):
        await queue.acquire("fourth")
    greedy[0].release()
    assert await waits[0] and not third.done()
    polite.release()
    assert await third
    waits[1].cancel()
    await asyncio.wait({waits[1]})
    assert queue.waiting() == 0

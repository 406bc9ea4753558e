"""An effect whose result is proposed as a change: two questions of one call, each asked and logged."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from app.permissions.approval import Approved, Denied, Effect
from app.permissions.pending import PendingState, PendingStore
from app.toolkit.context import ToolContext
from app.toolkit.pending import PendingOperations
from app.toolkit.proposal import EffectProposal, Proposal
from app.toolkit.rate_limiter import RateLimiter
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.toolkit.result import ToolResult
from app.toolkit.runner import ToolRunner
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Create, Update
from app.vault.path import NotePath
from tests.toolkit.conftest import AGENT, Bench

RAN: list[str] = []


class Clipped(ToolResult):
    """The fetched text, and the number of notes made of it."""

    notes: int = 0


@tool(category="net", taints=True)
async def clip(
    context: ToolContext, how: str, kind: str = "page"
) -> EffectProposal[Clipped] | Proposal[Clipped]:
    """Fetch something and make a note of it.

    Args:
        how: What to do with what was fetched: make, change, keep or fail.
        kind: Of the effect.
    """

    async def run() -> Clipped | Proposal[Clipped]:
        RAN.append(how)
        plain = Clipped(message="Fetched.")
        if how == "keep":
            return plain
        change: Create | Update = Create(NotePath.parse("Clip.md"), b"clip\n")
        if how == "change":
            change = (await context.vault.resolve_strictly("Tea")).with_text("all new")
        made = Clipped(notes=1, message="Fetched, and a note made.")
        change_set = ChangeSet.of() if how == "nothing" else ChangeSet.of(change)
        return context.propose(change_set, made, result_if_denied=None if how == "strict" else plain)

    return context.propose_effect(Effect(kind, "Fetch it.", (("url", "https://x.example/"),)), run)


@pytest.fixture
def net(bench: Bench) -> Bench:
    """The bench with a category that accesses the network."""
    RAN.clear()
    categories = (
        Category("net", "Net", AccessLevel.NETWORK),
        Category("both", "Both", AccessLevel.READ_WRITE),
    )
    tools = (clip, dataclasses.replace(clip, name="clip_and_change", category="both"))
    registry = ToolRegistry(categories, tools, bench.policy.may_call)
    bench.runner.close()
    bench.runner = ToolRunner(
        registry,
        bench.policy,
        bench.approver,
        bench.store,
        bench.index,
        bench.journal,
        bench.audit,
        bench.grants,
        bench.events,
        RateLimiter(),
    )
    return bench


async def test_both_steps_are_asked_and_logged_under_one_call(net: Bench) -> None:
    outcome = await net.call("clip", {"how": "make"})
    assert outcome.success and outcome.result["notes"] == 1 and outcome.untrusted and outcome.commit
    effect, change = net.approver.asked
    assert effect.call == change.call and change.caller.tainted and not effect.caller.tainted
    assert net.text("Clip.md") == "clip\n"
    second, first = net.audit.entries(limit=2)
    assert (first.operation, second.operation) == ("network", "create")
    assert first.call == second.call and first.commit is None and second.commit == outcome.commit
    assert first.decision == second.decision == "user-approved"


async def test_denying_the_effect_ends_the_call(net: Bench) -> None:
    net.approver.answers.append(Denied("no net"))
    outcome = await net.call("clip", {"how": "make"})
    assert outcome.denied and RAN == [] and len(net.approver.asked) == 1


async def test_denying_the_change_returns_the_result_without_it(net: Bench) -> None:
    net.approver.answers.extend([lambda request: Approved(request.proposal), Denied("not that")])
    outcome = await net.call("clip", {"how": "make"})
    assert outcome.success and outcome.result["notes"] == 0 and not outcome.denied and outcome.untrusted
    assert "not that" in outcome.message and outcome.words == "not that"
    assert not (net.root / "Clip.md").exists() and net.last().decision == "user-denied"


async def test_without_another_result_denying_the_change_denies_the_call(net: Bench) -> None:
    net.approver.answers.extend([lambda request: Approved(request.proposal), Denied("not that")])
    outcome = await net.call("clip", {"how": "strict"})
    assert not outcome.success and outcome.denied and outcome.words == "not that"


async def test_an_effect_without_a_proposal_is_one_step(net: Bench) -> None:
    for how in ("keep", "nothing"):
        assert (await net.call("clip", {"how": how})).success
    assert len(net.audit.entries()) == 2 == len(net.approver.asked)


async def test_a_network_category_never_changes_a_note(net: Bench) -> None:
    before = net.text("Tea.md")
    outcome = await net.call("clip", {"how": "change"})
    assert "only create notes" in outcome.message and net.text("Tea.md") == before
    assert net.last().decision == "rule" and len(net.approver.asked) == 1
    assert (await net.call("clip_and_change", {"how": "change"})).success


async def test_an_effect_with_side_effects_is_followed_by_no_change(net: Bench, errors: list[str]) -> None:
    errors.append("clip failed")
    outcome = await net.call("clip", {"how": "make", "kind": "message"})
    assert outcome.error is not None and outcome.error["type"] == "internal"
    assert RAN == ["make"] and not (net.root / "Clip.md").exists()


async def test_a_taken_file_fails_the_call_and_repeats_no_effect(net: Bench) -> None:
    (net.root / "Clip.md").write_text("mine", "utf-8")
    outcome = await net.call("clip", {"how": "make"})
    assert outcome.error is not None and outcome.error["type"] == "conflict"
    assert RAN == ["make"] and net.text("Clip.md") == "mine"


async def test_a_tainted_caller_is_asked_about_the_effect_even_with_a_grant(net: Bench) -> None:
    net.approver.answers.append(lambda request: Approved(request.proposal, grant=request.offers[0]))
    await net.call("clip", {"how": "keep"})
    await net.call("clip", {"how": "keep"})
    assert len(net.approver.asked) == 1
    await net.call("clip", {"how": "keep"}, dataclasses.replace(AGENT, tainted=True))
    assert len(net.approver.asked) == 2


async def test_an_effect_that_happened_is_not_repeated_when_its_change_still_waits_at_the_end(
    net: Bench,
) -> None:
    def opened() -> PendingOperations:
        return PendingOperations(net.runner.run, PendingStore(net.journal.folder), net.journal, net.events)

    operations = opened()
    answers = [asyncio.get_running_loop().create_future() for _ in range(2)]
    net.approver.answers.extend(lambda request, answer=answer: answer for answer in answers)
    operation_id = (await operations.submit("clip", {"how": "make"}, AGENT)).pending
    answers[0].set_result(Approved(net.approver.asked[0].proposal))
    while len(net.approver.asked) < 2:
        await asyncio.sleep(0.005)
    assert RAN == ["make"] and operations.status(operation_id, AGENT).state is PendingState.RUNNING
    await operations.close()
    again = opened()
    assert again.resume() == 0
    settled = again.status(operation_id, AGENT)
    assert settled.state is PendingState.FAILED and "not be repeated" in str(settled.outcome)
    assert RAN == ["make"] and not (net.root / "Clip.md").exists() and len(net.approver.asked) == 2
    await again.close()

"""Measure what the gate adds to a call: validation, limits, policy, views, audit, events. Target: 2 ms.

Run: python -m tests.benchmarks.gate [--check]

A call of a tool that does nothing costs what the gate costs. A write through the gate alternates with the
same reading, committing and indexing without it; its result is the median of the differences.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.permissions.audit import AuditLog
from app.permissions.caller import Caller, CallerKind
from app.permissions.grants import Grants
from app.permissions.policy import Policy
from app.permissions.scope import Operation
from app.settings import IndexSettings, PermissionSettings, Rule
from app.toolkit.argument_types import NoteName
from app.toolkit.call import Call
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.rate_limiter import RateLimiter
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.toolkit.result import ToolResult
from app.toolkit.runner import ToolRunner
from app.toolkit.tool import tool
from app.vault.changes import ChangeSet, Update
from app.vault.journal import Journal
from app.vault.path import NotePath
from app.vault.store import NoteStore
from tests.support.approver import ScriptedApprover

TARGET_MS = 2.0
NOTES, CALLS, WRITES = 2000, 500, 100
AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t")


@tool(category="search")
async def nothing(context: ToolContext, name: NoteName) -> ToolResult:
    """Do nothing.

    Args:
        name: A note that is not opened.
    """
    return ToolResult(message="Done.")


@tool(category="notes")
async def append(context: ToolContext, name: NoteName) -> Proposal[ToolResult]:
    """Add a line.

    Args:
        name: The note.
    """
    note = await context.vault.resolve_strictly(name)
    return context.propose(ChangeSet.of(note.with_text(note.text + "line\n")), ToolResult())


async def measure(folder: Path) -> float:
    """Print the times; return the larger of what the gate adds to a read and to a write, in ms."""
    root = folder / "vault"
    root.mkdir()
    for number in range(NOTES):
        (root / f"Note {number}.md").write_text(f"Text of note {number}. [[Note {number // 2}]]\n", "utf-8")
    events = EventBus()
    journal = Journal(folder / "data")
    store = NoteStore(root, journal)
    index = VaultIndex(root, folder / "cache", IndexSettings(), events)
    await index.open()
    await index.scan()
    grants, audit = Grants(folder / "data"), AuditLog(folder / "data")
    rules = tuple(Rule(effect="ask", operations=("delete",), glob=f"Folder {n}/**") for n in range(20))
    policy = Policy(PermissionSettings(rules=rules), grants)
    unlimited = 10**9
    registry = ToolRegistry(
        [
            Category("notes", "Notes", AccessLevel.READ_WRITE, rate_per_minute=unlimited),
            Category("search", "Search", AccessLevel.READ_ONLY, rate_per_minute=unlimited),
        ],
        [nothing, append],
        policy.may_call,
    )
    runner = ToolRunner(
        registry, policy, ScriptedApprover(), store, index, journal, audit, grants, events, RateLimiter()
    )
    grants.set_session(Operation.UPDATE, True)
    await runner.run(Call.of("nothing", {"name": "Note 1"}, AGENT))
    times = []
    for number in range(CALLS):
        started = time.perf_counter()
        outcome = await runner.run(Call.of("nothing", {"name": f"Note {number}"}, AGENT))
        times.append(1000 * (time.perf_counter() - started))
        assert outcome.success, outcome
    read = report("a call that does nothing", times)
    gated, bare = [], []
    for number in range(WRITES):
        started = time.perf_counter()
        outcome = await runner.run(Call.of("append", {"name": f"Note {number}"}, AGENT))
        gated.append(1000 * (time.perf_counter() - started))
        assert outcome.success, outcome
        path = NotePath(f"Note {number + WRITES}.md")
        started = time.perf_counter()
        before = await asyncio.to_thread(store.read, index.resolver.resolve_strictly(str(path)))
        change_set = ChangeSet((Update(path, before, before + b"line\n"),))
        await asyncio.to_thread(store.commit, change_set, author="b")
        await index.refresh([path])
        bare.append(1000 * (time.perf_counter() - started))
    report("a write through the gate", gated)
    report("the same without the gate", bare)
    added = statistics.median(whole - alone for whole, alone in zip(gated, bare, strict=True))
    print(f"the gate adds {read:.2f} ms to a read and {added:.2f} ms to a write (target {TARGET_MS})")
    runner.close()
    await index.close()
    audit.close()
    journal.close()
    return max(read, added)


def report(label: str, times: list[float]) -> float:
    """Print the median and the 95th percentile; return the median."""
    middle = statistics.median(times)
    print(f"{label:28} median {middle:7.3f} ms   p95 {statistics.quantiles(times, n=20)[-1]:7.3f} ms")
    return middle


def main() -> int:
    """Run the benchmark; return 1 with --check if the target is missed."""
    with tempfile.TemporaryDirectory() as folder:
        added = asyncio.run(measure(Path(folder)))
    return int("--check" in sys.argv and added > TARGET_MS)


if __name__ == "__main__":
    sys.exit(main())

"""Measure large change sets through the whole gate: a merge with 2,000 backlinks, and 1,000 tag edits.

Run: python -m tests.benchmarks.merge [--check]

Each is one call: notes are found, read, rewritten, approved, committed, indexed and audited. Target for the
merge: 2 s. For comparison, the same files are read and written back in the same run, each with an fsync.
The merge runs first: before it creates a file, ext4 without a journal examines every file removed in the last
minutes, so each call would also pay for the files that earlier calls removed.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from app.permissions.approval import ApprovalRequest, Approved, Decision
from app.permissions.caller import Caller
from app.settings import Settings
from app.toolkit.call import Call
from app.vault.path import NotePath
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace

LINKS, TAGGED = 2000, 1000
TARGET_S = 2.0


class TimedApprover:
    """Approves each request at once and records its time."""

    def __init__(self) -> None:
        self.at: list[float] = []

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Approve the proposal."""
        self.at.append(time.perf_counter())
        return Approved(request.proposal)


def write(root: Path) -> None:
    """Write two notes, and 2,000 that link to the second, half by a relation; 1,000 of them have a tag."""
    text = "A line of text that says nothing much, as many do in a vault.\n" * 12
    (root / "First.md").write_text(f"# First\n\n{text}", "utf-8")
    (root / "Second.md").write_text(f"# Second\n\n{text}", "utf-8")
    for number in range(LINKS):
        link = "- supports [[Second]] (confidence: 0.7)" if number % 2 else "As [[Second|that one]] says."
        tag = "#old-tag\n" if number < TAGGED else ""
        (root / f"Note {number}.md").write_text(f"# Note {number}\n\n{text}\n{tag}{link}\n", "utf-8")


def rewrite_files(root: Path) -> float:
    """Return the seconds to read and write back the same files, each with an fsync."""
    started = time.perf_counter()
    for number in range(LINKS):
        file = root / f"Note {number}.md"
        content = file.read_bytes()
        with file.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
    return time.perf_counter() - started


async def timed(workspace: Workspace, tool: str, arguments: dict[str, object]) -> float:
    """Return the seconds of one call."""
    started = time.perf_counter()
    outcome = await workspace.runner.run(Call.of(tool, arguments, Caller.user()))
    took = time.perf_counter() - started
    assert outcome.success, outcome
    return took


async def measure(root: Path) -> float:
    """Measure and print all times; return the merge's seconds."""
    settings = Settings()
    settings.embeddings.enabled = False
    approver = TimedApprover()
    workspace = await open_workspace(root, settings, approver)
    try:
        await workspace.start_scan(lambda progress: None)
        begun = time.perf_counter()
        merge = await timed(
            workspace, "merge_nodes", {"primary_node_id": "First", "secondary_node_id": "Second"}
        )
        undo = await timed(workspace, "undo", {})
        tags = await timed(workspace, "rename_tag", {"tag": "old-tag", "new_tag": "new-tag"})
        assert len(approver.at) == 3 and workspace.store.exists(NotePath("Second.md"))
    finally:
        await workspace.close()
    bare = rewrite_files(root)
    print(f"reading and writing {LINKS} files     {bare:6.2f} s")
    print(f"a merge with {LINKS} backlinks        {merge:6.2f} s  (target {TARGET_S} s)")
    print(f"  of that until approval           {approver.at[0] - begun:6.2f} s")
    print(f"undoing it                         {undo:6.2f} s")
    print(f"{TAGGED} tag edits in one change set  {tags:6.2f} s")
    return merge


def main() -> int:
    """Measure in a temporary folder and return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            os.environ[f"SCRIPTORIUM_{name}"] = str(Path(folder) / name.lower())
        root = Path(folder) / "vault"
        root.mkdir()
        write(root)
        took = asyncio.run(measure(root))
    return int("--check" in sys.argv and took > TARGET_S)


if __name__ == "__main__":
    sys.exit(main())

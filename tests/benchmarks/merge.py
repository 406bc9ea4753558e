"""Large change sets through the whole gate: a merge with 2,000 backlinks, and 1,000 tag edits.

Run: python tests/benchmarks/merge.py [--check]
Each is one call: found, read, rewritten, approved, committed, indexed, audited. Target for the merge: 2 s.
The peer of the same run is reading and writing the same files plainly, each with an fsync.
The merge comes first: ext4 without a journal looks at every file that was removed in the last minutes when
it makes a new one, so that there each call also pays for the old files of those before it.
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
TARGET = 2.0


class Yes:
    """Approves at once and records the time of the request."""

    def __init__(self) -> None:
        self.at: list[float] = []

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Approve the proposal."""
        self.at.append(time.perf_counter())
        return Approved(request.proposal)


def write(root: Path) -> None:
    """Write 2,000 notes that link to the second of two, half by a relation, and 1,000 tagged notes."""
    text = "A line of text that says nothing much, as many do in a vault.\n" * 12
    (root / "First.md").write_text(f"# First\n\n{text}", "utf-8")
    (root / "Second.md").write_text(f"# Second\n\n{text}", "utf-8")
    for number in range(LINKS):
        said = "- supports [[Second]] (confidence: 0.7)" if number % 2 else "As [[Second|that one]] says."
        tag = "#old-tag\n" if number < TAGGED else ""
        (root / f"Note {number}.md").write_text(f"# Note {number}\n\n{text}\n{tag}{said}\n", "utf-8")


def plainly(root: Path) -> float:
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
    """Return the seconds of the merge."""
    settings = Settings()
    settings.embeddings.enabled = False
    approver = Yes()
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
    bare = plainly(root)
    print(f"reading and writing {LINKS} files     {bare:6.2f} s")
    print(f"a merge with {LINKS} backlinks        {merge:6.2f} s  (target {TARGET} s)")
    print(f"  of that until it was asked       {approver.at[0] - begun:6.2f} s")
    print(f"taking it back                     {undo:6.2f} s")
    print(f"{TAGGED} tag edits in one change set  {tags:6.2f} s")
    return merge


def main() -> int:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            os.environ[f"SCRIPTORIUM_{name}"] = str(Path(folder) / name.lower())
        root = Path(folder) / "vault"
        root.mkdir()
        write(root)
        took = asyncio.run(measure(root))
    return int("--check" in sys.argv and took > TARGET)


if __name__ == "__main__":
    sys.exit(main())

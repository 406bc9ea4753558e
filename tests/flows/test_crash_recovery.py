"""The whole app is killed in the middle of an approved commit, and the next start recovers it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.flows.files import everything_in
from tests.flows.pilot import Pilot

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("at", [9, 16], ids=["to be rolled back", "to be completed"])
def test_killed_in_the_middle_of_an_approved_rename(app_run, garden: Path, at: int) -> None:
    old = everything_in(garden)
    new = {("Chai.md" if name == "Tea.md" else name): text for name, text in old.items()}
    new["Plants/Mint.md"] = old["Plants/Mint.md"].replace(b"[[Tea]]", b"[[Chai]]")
    new["Plants/Camellia.md"] = old["Plants/Camellia.md"].replace(b"[[Tea|", b"[[Chai|")
    killed = subprocess.run(
        [sys.executable, "-m", "tests.flows.killed_app", str(garden), str(at)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        now = everything_in(garden)
        assert now in (old, new), "a mix of the old and the new"
        assert (await pilot.verdict()).startswith("Log intact")
        present = "Chai.md" if now == new else "Tea.md"
        await pilot.until(lambda: present in pilot.nodes)
        if now == new:
            await pilot.until(lambda: any("Chai.md" in entry.paths for entry in pilot.entries))
        # It works as before.
        await pilot.ask_and_approve("tag Water with #after")
        assert b"after" in (garden / "Water.md").read_bytes()

    app_run(use)


def test_a_lost_display_ends_the_app_and_unsaved_text_is_offered(app_run, garden: Path) -> None:
    before = (garden / "Tea.md").read_bytes()
    lost = subprocess.run(
        [sys.executable, "-m", "tests.flows.lost_display", str(garden), "Tea.md", "kept "],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
    )
    assert lost.returncode == 1 and "Traceback" not in lost.stderr, lost.stderr
    assert (garden / "Tea.md").read_bytes() == before

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert not pilot.window.session.read_only, "the vault is not locked"
        note = await pilot.open_note("Tea.md")
        await pilot.until(lambda: "unsaved text" in note.notice.text, "it is offered")
        note.notice.answer("Restore")
        assert "kept # Tea" in note.document.text

    app_run(use)

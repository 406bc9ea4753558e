"""A rename with forty backlinks from the command line, and taking it back at a terminal."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import commands
from app.cli.exit_status import Exit
from tests.support.typist import Typist, terminal

ROOT = Path(__file__).resolve().parents[2]
LINKS = 40

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "Notes"
    root.mkdir()
    (root / "Hub.md").write_text("# Hub\n", "utf-8")
    for number in range(LINKS):
        text = f"Note {number} names [[Hub]] and [[Hub|the hub]].\n"
        (root / f"Note {number}.md").write_text(text, "utf-8")
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in root.glob("*.md")}


def command(vault: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "app", "--vault", str(vault), *words]


async def at_a_terminal(line: list[str], *answers: tuple[str, str]) -> tuple[int, str]:
    """Run a program whose terminal somebody sits at."""
    with terminal() as (master, stream):
        typist = Typist(master, answers)
        process = await asyncio.create_subprocess_exec(
            *line, stdin=stream, stdout=stream, stderr=stream, start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"},
        )  # fmt: skip
        status = await process.wait()
        while "\n" not in typist.shown:
            await asyncio.sleep(0.001)
        typist.close()
        return status, typist.plain


async def test_a_rename_is_approved_by_its_kind_and_taken_back_at_a_terminal(vault: Path) -> None:
    before = contents(vault)
    rename = ("--vault", str(vault), "move_note", "Hub", "--new-name", "Middle")
    assert await asyncio.to_thread(commands.main, [*rename, "--approve", "create"]) == Exit.DENIED
    assert contents(vault) == before
    assert await asyncio.to_thread(commands.main, [*rename, "--approve", "update"]) == Exit.DONE
    renamed = contents(vault)
    assert set(renamed) == {name if name != "Hub.md" else "Middle.md" for name in before}
    assert all(b"[[Middle]] and [[Middle|the hub]]" in renamed[f"Note {n}.md"] for n in range(LINKS))

    asked = "Write these 41 files? [y,n,e,f,?] (no) "
    status, shown = await at_a_terminal(command(vault, "undo"), (asked, "y\n"))
    assert status == Exit.DONE, shown
    assert "Takes back entry 2: move_note by command line" in shown
    assert shown.count("- Note ") == shown.count("+ Note ") == LINKS, "all forty diffs were shown"
    assert contents(vault) == before


async def test_a_text_from_a_pipe_is_asked_about_at_the_terminal(vault: Path) -> None:
    if shutil.which("setsid") is None:
        pytest.skip("nothing here gives a program its own terminal")
    words = subprocess.list2cmdline(command(vault, "update_note", "Hub", "-"))
    line = ["setsid", "--ctty", "--wait", "bash", "-c", f"printf '# Piped\\n' | {words}"]
    status, shown = await at_a_terminal(line, ("Write this? [y,n,e,a,?] (no) ", "y\n"))
    assert status == Exit.DONE and "+ # Piped" in shown
    assert (vault / "Hub.md").read_text("utf-8") == "# Piped\n"

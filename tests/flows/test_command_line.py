"""A rename with forty backlinks from the command line, and its undo at a terminal."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from app.cli import commands
from app.cli.exit_status import ExitStatus
from tests.support.program import command, environment
from tests.support.typist import Typist, terminal

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


async def at_a_terminal(line: list[str], place: dict[str, str], *answers: tuple[str, str]) -> tuple[int, str]:
    """Run a program in `place` at a terminal with a user."""
    with terminal() as (master, stream):
        typist = Typist(master, answers)
        process = await asyncio.create_subprocess_exec(
            *line, stdin=stream, stdout=stream, stderr=stream, start_new_session=True, env=place
        )
        status = await process.wait()
        while "\n" not in typist.shown:
            await asyncio.sleep(0.001)
        typist.close()
        return status, typist.plain


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment(tmp_path_factory, TERM="xterm-256color")


async def test_a_rename_is_approved_by_its_kind_and_undone_at_a_terminal(
    vault: Path, place: dict[str, str]
) -> None:
    before = contents(vault)
    rename = ("--vault", str(vault), "move_note", "Hub", "--new-name", "Middle")
    assert await asyncio.to_thread(commands.main, [*rename, "--approve", "create"]) == ExitStatus.DENIED
    assert contents(vault) == before
    assert await asyncio.to_thread(commands.main, [*rename, "--approve", "update"]) == ExitStatus.DONE
    renamed = contents(vault)
    assert set(renamed) == {name if name != "Hub.md" else "Middle.md" for name in before}
    assert all(b"[[Middle]] and [[Middle|the hub]]" in renamed[f"Note {n}.md"] for n in range(LINKS))

    asked = "Write these 41 files? [y,n,e,f,?] (no) "
    status, shown = await at_a_terminal(command("--vault", str(vault), "undo"), place, (asked, "y\n"))
    assert status == ExitStatus.DONE, shown
    assert "Undoing entry 2: move_note by Terminal" in shown
    assert shown.count("- Note ") == shown.count("+ Note ") == LINKS, "all forty diffs were shown"
    assert contents(vault) == before


async def test_a_text_from_a_pipe_is_asked_about_at_the_terminal(vault: Path, place: dict[str, str]) -> None:
    if shutil.which("setsid") is None:
        pytest.skip("nothing here gives a program its own terminal")
    words = shlex.join(command("--vault", str(vault), "update_note", "Hub", "-"))
    line = ["setsid", "--ctty", "--wait", "bash", "-c", f"printf '# Piped\\n' | {words}"]
    status, shown = await at_a_terminal(line, place, ("Write this? [y,n,e,a,?] (no) ", "y\n"))
    assert status == ExitStatus.DONE and "+ # Piped" in shown
    assert (vault / "Hub.md").read_text("utf-8") == "# Piped\n"

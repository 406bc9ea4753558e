"""The parser processes end with the app, however it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

APP = """
import asyncio, sys
from app.index.extract import ExtractTask as Task, extract_chunk
from app.index.parser_pool import ParserPool as Readers

async def main():
    readers = Readers(sys.argv[1], 2**20)
    readers.start(10_000, 2**30)
    tasks = [Task("note.md", None)] * 400
    async for _ in readers.read(extract_chunk, tasks, lambda: False):
        pass
    print("read", flush=True)
    await asyncio.Event().wait()

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_an_app_that_is_killed_leaves_no_reader(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("text")
    script = tmp_path / "app_to_kill.py"
    script.write_text(APP)
    with subprocess.Popen([sys.executable, script, tmp_path], stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None and app.stdout.readline() == "read\n"
        started = psutil.Process(app.pid).children(recursive=True)
        app.kill()
    gone, alive = psutil.wait_procs(started, timeout=30)
    assert gone and not alive

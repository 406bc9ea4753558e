"""Measure the live editor: `python -m tests.benchmarks.editor [--check] [TEXT…]`.

Keys, scrolling, opening and memory are measured, and in the same run those of a bare QPlainTextEdit. Each
pair of text and editor has its own process. A key's time runs from its event until its effect is painted and
all events are handled. It is given as median and 95th percentile of the thread's processor time, so that
other programs do not count. With `--check` the exit status is 1 if the live editor misses a target.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.benchmarks.editor_texts import TEXTS

ROOT = Path(__file__).resolve().parents[2]
MAX_KEY_MS, MAX_OPEN_MS, MAX_MEMORY_MIB = 16.0, 150.0, 15.0
EDITORS = ("plain", "live")
TIMED = ("key", "enter", "undo", "down", "scroll", "jump")
CHECKED = ("key", "enter", "scroll")


def main(arguments: list[str]) -> int:
    """Print a table; return 1 with `--check` if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.editor")
    parser.add_argument("texts", nargs="*", help=f"texts to measure ({', '.join(TEXTS)}); all by default")
    parser.add_argument("--check", action="store_true", help="end with status 1 if a target is missed")
    parser.add_argument("--one", nargs=2, metavar=("EDITOR", "TEXT"), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        print(json.dumps(measure(*options.one)))
        return 0
    missed: list[str] = []
    print(f"{'text':20} {'editor':6} {'open':>6} {'MiB':>5}  " + "  ".join(f"{name:>11}" for name in TIMED))
    for text in options.texts or TEXTS:
        for editor in EDITORS:
            result = _run(editor, text)
            times = "  ".join(f"{result[name][0]:5.1f} {result[name][1]:5.1f}" for name in TIMED)
            print(f"{text:20} {editor:6} {result['open']:6.0f} {result['memory']:5.1f}  {times}", flush=True)
            if editor == "live":
                missed += _missed(text, result)
    for line in missed:
        print("missed:", line)
    return int(options.check and bool(missed))


def _run(editor: str, text: str) -> dict:
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ}
    command = [sys.executable, "-m", "tests.benchmarks.editor", "--one", editor, text]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{editor}, {text}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def _missed(text: str, result: dict) -> list[str]:
    lines = [
        f"{text}: {name} takes {result[name][1]:.1f} ms (95th percentile), more than {MAX_KEY_MS:.0f}"
        for name in CHECKED
        if result[name][1] > MAX_KEY_MS
    ]
    if result["open"] > MAX_OPEN_MS:
        lines.append(f"{text}: opening takes {result['open']:.0f} ms, more than {MAX_OPEN_MS:.0f}")
    if result["memory"] > MAX_MEMORY_MIB:
        lines.append(f"{text}: {result['memory']:.1f} MiB of memory, more than {MAX_MEMORY_MIB:.0f}")
    return lines


def measure(kind: str, name: str) -> dict:
    """Measure one editor with one text, in this process.

    Returns:
        `open` in ms, `memory` in MiB, and the median and 95th percentile in ms for each name in `TIMED`.
    """
    import gc

    import psutil
    from PySide6.QtCore import Qt
    from PySide6.QtGui import QTextCursor
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QPlainTextEdit

    from app.desktop.notes.editor.live_editor import LiveEditor
    from app.desktop.theme.theme import ThemeSource

    app = QApplication([])
    text = TEXTS[name]()
    process = psutil.Process()
    view = LiveEditor(ThemeSource("light")) if kind == "live" else QPlainTextEdit()
    load: Callable[[str], None] = view.load if isinstance(view, LiveEditor) else view.setPlainText

    def go_to(line: int, column: int) -> None:
        cursor = QTextCursor(view.document().findBlockByNumber(line))
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, column)
        view.setTextCursor(cursor)

    def timed(act: Callable[[], object]) -> float:
        start = time.thread_time()
        act()
        view.viewport().repaint()
        app.processEvents()
        return (time.thread_time() - start) * 1000

    view.resize(1100, 900)
    load("- [ ] a **b** [[c]]\n\n```python\nx = 1\n```\n\n| a |\n| - |\n")
    view.show()
    QTest.qWaitForWindowExposed(view)
    view.activateWindow()
    view.setFocus()
    QTest.qWait(100)
    gc.collect()
    before = process.memory_info().rss
    result: dict = {"open": timed(lambda: load(text))}
    QTest.qWait(200)
    result["memory"] = (process.memory_info().rss - before) / 2**20
    lines = text.split("\n")
    line = 2 if name.startswith("127") else len(lines) // 2
    while len(lines[line]) < 3:
        line += 1
    go_to(line, min(60_000, len(lines[line]) // 2))
    QTest.qWait(100)
    gc.collect()
    characters = view.document().characterCount()
    count = 25 if kind == "plain" and name.startswith("127") else 80
    result["key"] = _percentiles(
        [timed(lambda n=n: QTest.keyClick(view, "a" if n % 6 else " ")) for n in range(count)]
    )
    assert view.document().characterCount() == characters + count, "not every key was typed"
    result["enter"] = _percentiles(
        [timed(lambda: QTest.keyClick(view, Qt.Key.Key_Return)) for _ in range(20)]
    )
    control = Qt.KeyboardModifier.ControlModifier
    result["undo"] = _percentiles(
        [timed(lambda: QTest.keyClick(view, Qt.Key.Key_Z, control)) for _ in range(10)]
    )
    go_to(line, 1)
    app.processEvents()
    result["down"] = _percentiles(
        [timed(lambda: QTest.keyClick(view, Qt.Key.Key_Down)) for _ in range(count)]
    )
    bar = view.verticalScrollBar()
    bar.setValue(0)
    app.processEvents()
    step = 60 if kind == "live" else 3  # pixels, or lines
    result["scroll"] = _percentiles([timed(lambda: bar.setValue(bar.value() + step)) for _ in range(150)])
    rng, top = random.Random(1), bar.maximum()
    result["jump"] = _percentiles([timed(lambda: bar.setValue(rng.randint(0, top))) for _ in range(40)])
    return result


def _percentiles(times: Sequence[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    ordered = sorted(times)
    return ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.95)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Compare frame times of the graph view and QGraphicsView: `python -m tests.benchmarks.graph_view [--check]`.

Both show the same generated vault at the same positions in a window of the same size, and follow the same
camera paths: a pan around the graph, and a zoom sixteen times closer and back. A frame is what the GUI thread
does for it. A worker draws the links' picture; the number of new pictures on a path is printed too, and the
time from the last motion until the full picture is shown (the median of several stops). Then: hover, a drag
with live physics, all nodes live (up to 10,000), and a hover over a note that is linked with all others. Each
size runs in its own process.

Times are given by the clock and, in brackets, as the thread's processor time, which other programs do not
disturb. Maximum times and ratios are judged by processor time, frames per second by the clock. Runs
offscreen, or with `--xvfb` under Xvfb. Prints each missed target; with `--check` the exit status is 1 if
there is one.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SIZES = (1000, 10_000, 100_000)
FRAMES = 60
PEER_SECONDS = 15.0
# The minimum ratio of QGraphicsView's p95 to ours.
MIN_RATIOS = {10_000: 15.0, 100_000: 50.0}
MAX_FRAME_MS = 33.0
MAX_HOVER_MS = 8.0
MAX_HOLD_MS = 8.0
MAX_SHARP_DELAY_MS = 120.0
MAX_MEMORY_MB = {100_000: 150.0}
MIN_DRAG_FPS = 50.0
MIN_LIVE_FPS = {10_000: 55.0}


@dataclass(frozen=True)
class Times:
    """The milliseconds of each frame, by the clock and by processor time."""

    clock: list[float]
    computed: list[float]

    @property
    def p95(self) -> float:
        """The 95th percentile of the processor time."""
        return float(np.percentile(self.computed, 95))

    def __str__(self) -> str:
        clock, computed = np.percentile(self.clock, (50, 95)), np.percentile(self.computed, (50, 95))
        return f"median {clock[0]:6.1f} ({computed[0]:.1f}) ms, p95 {clock[1]:6.1f} ({computed[1]:.1f}) ms"


def timed(acts: Iterator[Callable[[], object]], pause: float = 0.0) -> Times:
    """Measure one action after another, started at least `pause` seconds apart."""
    clock: list[float] = []
    computed: list[float] = []
    for act in acts:
        start, busy = time.perf_counter(), time.thread_time()
        act()
        computed.append(1000 * (time.thread_time() - busy))
        clock.append(1000 * (time.perf_counter() - start))
        time.sleep(max(0.0, pause - clock[-1] / 1000))
    return Times(clock, computed)


def memory_mb() -> float:
    """Return the resident memory of this process in MB; its maximum on systems without /proc."""
    status = Path("/proc/self/statm")
    if not status.exists():
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024**2


@contextmanager
def screen(xvfb: bool) -> Iterator[None]:
    """Use the platform that the environment names, by default offscreen, or start an Xvfb."""
    if not xvfb:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
        yield
        return
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "1600x1000x24", "-nolisten", "tcp"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        os.environ["DISPLAY"] = f":{server.stdout.readline().strip()}"
        os.environ["QT_QPA_PLATFORM"] = "xcb"
        yield
    finally:
        server.terminate()
        server.wait()


def report(label: str, value: object) -> None:
    """Print one line."""
    print(f"  {label:34} {value}", flush=True)


def run_size(size: int, with_peer: bool) -> list[str]:
    """Print all measurements of one size and return the missed targets."""
    sys.setswitchinterval(0.001)  # As in the app.
    from PySide6.QtWidgets import QApplication

    from tests.benchmarks.graph_view_run import measure

    app = QApplication([])
    missed = measure(app, size, with_peer)
    app.quit()
    return missed


def run_in_new_process(size: int, with_peer: bool) -> list[str]:
    """Run `run_size` in a new process, so that memory released by an earlier size does not count."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(run_size, size, with_peer).result()


def main() -> int:
    """Print the measurements and return the exit status."""
    parser = argparse.ArgumentParser(description="Frame times of the graph view.")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--no-peer", action="store_true", help="leave QGraphicsView out")
    parser.add_argument("--xvfb", action="store_true", help="use an X server instead of offscreen")
    parser.add_argument("--check", action="store_true", help="exit with status 1 if a target is missed")
    arguments = parser.parse_args()
    with screen(arguments.xvfb):
        missed = [
            each for size in arguments.sizes for each in run_in_new_process(size, not arguments.no_peer)
        ]
    print("\nMissed:\n  " + "\n  ".join(missed) if missed else "\nEvery target is met.")
    return int(arguments.check and bool(missed))


def over(label: str, value: float, maximum: float, unit: str = "ms") -> list[str]:
    """Return a line about a value above its maximum; nothing if it is not."""
    return [f"{label}: {value:.1f} {unit}, wanted at most {maximum:.0f}"] if value > maximum else []


def under(label: str, value: float, minimum: float, unit: str = "") -> list[str]:
    """Return a line about a value below its minimum; nothing if it is not."""
    return [f"{label}: {value:.1f}{unit}, wanted at least {minimum:.0f}"] if value < minimum else []


if __name__ == "__main__":
    sys.exit(main())

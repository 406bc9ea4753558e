"""Measurements of `graph_view` for one vault; choose Qt's platform before importing this."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsEllipseItem,
    QGraphicsLineItem,
    QGraphicsScene,
    QGraphicsView,
)

from app.desktop.graph.camera import Camera
from app.desktop.graph.canvas import Canvas
from app.desktop.theme.colors import DARK
from app.graph.force_params import ForceParams
from app.graph.layouts.force_directed import compute_layout
from app.graph.model import Graph, affected_rows, node_radii
from tests.benchmarks import graph_view as bench
from tests.benchmarks.graph_view import FRAMES, PEER_SECONDS, Times, over, report, timed, under
from tests.benchmarks.graphs import of_edges, vault

WIDTH, HEIGHT = 1280, 800
PAUSE_S = 0.016
MEASURED_S = 3.0
STOPS = 7
MAX_LIVE_NODES = 10_000


class CountingCanvas(Canvas):
    """Counts the frames that show new positions."""

    frames = 0
    _last: object = None

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        self.frames += self.scene.positions is not self._last
        self._last = self.scene.positions


def pan_over(fit: Camera) -> Iterator[Camera]:
    """Yield the cameras of a pan around the graph at three times its fitted scale."""
    for frame in range(FRAMES):
        turn = 2 * math.pi * frame / FRAMES
        right, down = 300 * math.cos(turn) / fit.scale, 180 * math.sin(turn) / fit.scale
        yield Camera(fit.x + right, fit.y + down, 3 * fit.scale)


def zoom_over(fit: Camera) -> Iterator[Camera]:
    """Yield the cameras of a zoom sixteen times closer and back."""
    for frame in range(FRAMES):
        part = frame / (FRAMES - 1)
        scale = fit.scale * math.exp(math.log(16) * math.sin(math.pi * part))
        right = 150 / fit.scale * math.sin(2 * math.pi * part)
        yield Camera(fit.x + right, fit.y - 90 / fit.scale * math.sin(math.pi * part), scale)


def wait(app: QApplication, until: Callable[[], bool], seconds: float = 60.0) -> None:
    """Run Qt's loop until the condition is true or the time is over."""
    deadline = time.monotonic() + seconds
    while not until() and time.monotonic() < deadline:
        app.processEvents()
        time.sleep(0.002)


def wait_until_idle(app: QApplication, canvas: Canvas) -> None:
    """Wait until the canvas runs no frames."""
    wait(app, lambda: not canvas._frames.isActive())


def travel(app: QApplication, canvas: Canvas, cameras: list[Camera]) -> tuple[Times, int, float]:
    """Measure a camera path: its frames, the number of new link pictures, and the sharp one's delay in ms.

    The delay is the median of several stops: at the end of the path, and of repetitions of its last part.
    """
    last, pictures = canvas.layers.edges.latest_image, 0

    def frame(camera: Camera) -> None:
        nonlocal last, pictures
        canvas.camera_animation.set(camera)
        canvas.mark_touched()
        canvas._run_frame()
        canvas.repaint()
        pictures += canvas.layers.edges.latest_image is not last
        last = canvas.layers.edges.latest_image

    acts = ((lambda camera=camera: frame(camera)) for camera in cameras)
    times = timed(acts, PAUSE_S)
    late = [_until_sharp(app, canvas, cameras[-1])]
    path_pictures = pictures
    for _ in range(STOPS - 1):
        timed(((lambda camera=camera: frame(camera)) for camera in cameras[-10:]), PAUSE_S)
        late.append(_until_sharp(app, canvas, cameras[-1]))
    return times, path_pictures, statistics.median(late)


def _until_sharp(app: QApplication, canvas: Canvas, camera: Camera) -> float:
    """Return the milliseconds until the full picture is shown at the camera's final position."""
    start = time.perf_counter()
    wait(app, lambda: _is_sharp(canvas, camera))
    late = 1000 * (time.perf_counter() - start)
    wait_until_idle(app, canvas)
    return late


def _is_sharp(canvas: Canvas, camera: Camera) -> bool:
    picture = canvas.layers.edges.latest_image
    return picture is not None and not picture.request.is_draft and picture.request.camera == camera


def hover(app: QApplication, canvas: Canvas) -> Times:
    """Measure the pointer's moves to random nodes: the node is found and highlighted."""
    rng = np.random.default_rng(0)
    rows = rng.choice(len(canvas.scene.graph), FRAMES)

    def move(row: int) -> None:
        at = canvas.camera.to_screen(canvas.scene.positions[[row]], WIDTH, HEIGHT)[0]
        x, y = float(at[0]), float(at[1])
        canvas.hover(canvas.scene.node_at(x, y, canvas.camera, WIDTH, HEIGHT))

    times = timed((lambda row=int(row): move(row)) for row in rows)
    canvas.hover(-1)
    wait_until_idle(app, canvas)
    return times


def hover_hub(app: QApplication, graph: Graph, at: np.ndarray) -> Times:
    """Measure the GUI's work to highlight a note that is linked with all others."""
    ends = np.stack([np.zeros(len(graph) - 1, dtype=np.int64), np.arange(1, len(graph))], axis=1)
    edges = np.unique(np.sort(np.concatenate([graph.edges, ends]), axis=1), axis=0)
    canvas = Canvas(DARK)
    canvas.resize(WIDTH, HEIGHT)
    canvas.show()
    canvas.set_graph(of_edges(len(graph), edges).precompute(), at)
    wait_until_idle(app, canvas)

    def acts() -> Iterator[Callable[[], object]]:
        for _ in range(12):
            yield lambda: canvas.hover(0)
            yield canvas._run_frame
            yield canvas.repaint
            canvas.hover(-1)
            wait_until_idle(app, canvas)

    times = timed(acts())
    canvas.close_layers()
    canvas.close()
    return times


def frames_per_second(app: QApplication, canvas: CountingCanvas, act: Callable[[float], None]) -> float:
    """Return the frames with new positions per second, while `act` is called with the elapsed seconds."""
    wait(app, lambda: False, 0.3)
    canvas.frames, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < MEASURED_S:
        act(passed)
        app.processEvents()
        time.sleep(0.001)
    return canvas.frames / MEASURED_S


def drag(app: QApplication, canvas: CountingCanvas) -> float:
    """Return the frames per second while a well-linked node is dragged in a circle."""
    graph = canvas.scene.graph
    row = int(np.argsort(-graph.degree, kind="stable")[len(graph) // 20])
    x, y = canvas.scene.positions[row].tolist()
    canvas.dragged_rows = affected_rows(graph, row)
    canvas.refresh()

    def carry(passed: float) -> None:
        canvas.layout_thread.pin(row, x + 3 * math.sin(3 * passed), y + 3 * math.cos(3 * passed))
        canvas.run_frames()

    carry(0.0)
    frame_rate = frames_per_second(app, canvas, carry)
    canvas.layout_thread.release(row)
    wait_until_idle(app, canvas)
    return frame_rate


def live(app: QApplication, canvas: CountingCanvas) -> float:
    """Return the frames per second while all nodes move, as while a slider is dragged."""
    last = -1

    def draw(passed: float) -> None:
        nonlocal last
        if int(passed * 5) != last:
            last = int(passed * 5)
            canvas.set_forces(ForceParams(spacing=16.0 + 8.0 * math.sin(2 * passed)))

    draw(0.0)
    frame_rate = frames_per_second(app, canvas, draw)
    canvas.set_forces(ForceParams())
    wait_until_idle(app, canvas)
    return frame_rate


def peer(app: QApplication, graph: Graph, at: np.ndarray, cameras: list[Camera]) -> Times:
    """Measure a camera path in QGraphicsView for about `PEER_SECONDS`; every sixth camera in large graphs."""
    scene = QGraphicsScene()
    scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)
    line, fill = QPen(QColor(160, 170, 190, 69), 0), QBrush(QColor(120, 170, 250))
    for a, b in at[graph.edges].tolist():
        item = QGraphicsLineItem(QLineF(a[0], a[1], b[0], b[1]))
        item.setPen(line)
        scene.addItem(item)
    for (x, y), radius in zip(at.tolist(), node_radii(graph).tolist(), strict=True):
        disc = QGraphicsEllipseItem(QRectF(x - radius, y - radius, 2 * radius, 2 * radius))
        disc.setBrush(fill)
        disc.setPen(QPen(Qt.PenStyle.NoPen))
        scene.addItem(disc)
    view = QGraphicsView(scene)
    view.resize(WIDTH, HEIGHT)
    view.setBackgroundBrush(QColor(24, 24, 28))
    view.show()
    app.processEvents()
    begun = time.monotonic()

    def show_camera(camera: Camera) -> None:
        view.resetTransform()
        view.scale(camera.scale, camera.scale)
        view.centerOn(camera.x, camera.y)
        view.viewport().repaint()

    def acts() -> Iterator[Callable[[], object]]:
        for camera in cameras[:: 1 if len(graph) < 50_000 else 6]:
            if time.monotonic() - begun < PEER_SECONDS:
                yield lambda camera=camera: show_camera(camera)

    times = timed(acts())
    view.close()
    return times


def measure(app: QApplication, size: int, with_peer: bool) -> list[str]:
    """Print all measurements of one size and return the missed targets."""
    graph = vault(size).precompute()
    at = compute_layout(graph, aspect=WIDTH / HEIGHT)
    print(f"\nvault {size:,}: {len(graph.edges):,} links, {WIDTH} × {HEIGHT}, {app.platformName()}")
    before = bench.memory_mb()
    canvas = CountingCanvas(DARK)
    canvas.resize(WIDTH, HEIGHT)
    canvas.show()
    shown = timed(iter([lambda: canvas.set_graph(graph, at)]))
    wait_until_idle(app, canvas)
    report("shown (one hold of the GUI)", shown)
    missed = over(f"vault {size}: set_graph", shown.p95, bench.MAX_HOLD_MS)
    ways = {"pan": list(pan_over(canvas.fit_camera())), "zoom": list(zoom_over(canvas.fit_camera()))}
    ours = {}
    for label, way in ways.items():
        ours[label], pictures, late = travel(app, canvas, way)
        report(f"{label}, a frame", f"{ours[label]}; {pictures} pictures of links in {FRAMES} frames")
        report(f"{label}, full quality after it", f"{late:.0f} ms")
        missed += over(f"vault {size}: {label}, p95", ours[label].p95, bench.MAX_FRAME_MS)
        missed += over(f"vault {size}: {label}, full quality after it", late, bench.MAX_SHARP_DELAY_MS)
    canvas.camera_animation.set(canvas.fit_camera())
    wait_until_idle(app, canvas)
    missed += _measure_interaction(app, canvas, size, before)
    hub = hover_hub(app, graph, at)
    report("hover a hub that links all", hub)
    missed += over(f"vault {size}: hover a hub, p95", hub.p95, bench.MAX_HOVER_MS)
    for label, way in ways.items() if with_peer else ():
        theirs = peer(app, graph, at, way)
        ratio = theirs.p95 / ours[label].p95
        report(f"{label}, QGraphicsView", f"{theirs}: {ratio:.0f}×")
        missed += under(f"vault {size}: {label}, QGraphicsView", ratio, bench.MIN_RATIOS.get(size, 0), "×")
    return missed


def _measure_interaction(app: QApplication, canvas: CountingCanvas, size: int, before: float) -> list[str]:
    hovered = hover(app, canvas)
    report("hover", hovered)
    missed = over(f"vault {size}: hover, p95", hovered.p95, bench.MAX_HOVER_MS)
    grown = bench.memory_mb() - before
    report("memory of the view", f"{grown:.0f} MB")
    missed += over(f"vault {size}: memory", grown, bench.MAX_MEMORY_MB.get(size, math.inf), "MB")
    dragged = drag(app, canvas)
    report("drag with live physics", f"{dragged:.0f} frames per second")
    missed += under(f"vault {size}: drag, frames per second", dragged, bench.MIN_DRAG_FPS)
    if size <= MAX_LIVE_NODES:
        moved = live(app, canvas)
        report("all nodes live", f"{moved:.0f} frames per second")
        missed += under(f"vault {size}: live, frames per second", moved, bench.MIN_LIVE_FPS.get(size, 0.0))
    canvas.close_layers()
    canvas.close()
    return missed

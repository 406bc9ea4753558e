"""Pictures of links, drawn in a worker."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from app.desktop.graph.camera import Camera
from app.desktop.graph.render.edge_renderer import EdgeRenderer, EdgeRenderRequest
from app.graph.edge_style import EdgeStyle


@pytest.fixture
def renderer() -> Iterator[EdgeRenderer]:
    new_renderer = EdgeRenderer()
    yield new_renderer
    new_renderer.close()


def request(compute_style, scale: float = 1.0, *, is_draft: bool) -> EdgeRenderRequest:
    positions = np.array([[-40, -30], [40, 30]], dtype=np.float32)
    return EdgeRenderRequest(
        compute_style, positions, Camera(0, 0, scale), 200, 150, 1.0, 0.5, is_draft=is_draft
    )


def one_line() -> EdgeStyle:
    return EdgeStyle(
        np.array([[0, 1]], dtype=np.int32),
        np.array([[255, 255, 255]], dtype=np.uint8),
        np.zeros(1, dtype=np.int16),
        np.ones(1, dtype=np.float32),
        np.ones(1, dtype=np.float32),
    )


def test_a_sharp_picture_yields_to_a_quick_one_but_not_vice_versa(renderer, qtbot):
    started, may_continue = threading.Event(), threading.Event()

    def slowly() -> EdgeStyle:
        started.set()
        assert may_continue.wait(20)
        return one_line()

    renderer.request(request(slowly, is_draft=False))
    assert started.wait(20)
    renderer.request(request(one_line, 2.0, is_draft=True))
    may_continue.set()
    qtbot.waitUntil(lambda: renderer.is_ready, timeout=20_000)
    assert not renderer.collect()
    assert renderer.latest_image is None
    qtbot.waitUntil(lambda: renderer.is_ready, timeout=20_000)
    assert renderer.collect()
    assert renderer.latest_image.request.camera.scale == 2.0

    started.clear()
    may_continue.clear()
    renderer.request(request(slowly, 3.0, is_draft=True))
    assert started.wait(20)
    renderer.request(request(one_line, 3.0, is_draft=False))
    may_continue.set()
    qtbot.waitUntil(lambda: renderer.is_ready, timeout=20_000)
    assert renderer.collect()
    assert renderer.latest_image.request.is_draft


def test_without_a_margin_the_picture_is_as_large_as_the_view(renderer):
    positions = np.zeros((2, 2), np.float32)
    renderer.draw_now(EdgeRenderRequest(one_line, positions, Camera(), 200, 150, 1.0, 0.5, margin=0.0))
    assert renderer.latest_image.image.size().toTuple() == (200, 150)

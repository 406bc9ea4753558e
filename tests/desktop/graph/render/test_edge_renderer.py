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
def painter() -> Iterator[EdgeRenderer]:
    made = EdgeRenderer()
    yield made
    made.close()


def request(look, scale: float = 1.0, *, is_draft: bool) -> EdgeRenderRequest:
    places = np.array([[-40, -30], [40, 30]], dtype=np.float32)
    return EdgeRenderRequest(look, places, Camera(0, 0, scale), 200, 150, 1.0, 0.5, is_draft=is_draft)


def one_line() -> EdgeStyle:
    return EdgeStyle(
        np.array([[0, 1]], dtype=np.int32),
        np.array([[255, 255, 255]], dtype=np.uint8),
        np.zeros(1, dtype=np.int16),
        np.ones(1, dtype=np.float32),
        np.ones(1, dtype=np.float32),
    )


def test_a_sharp_picture_yields_to_a_quick_one_but_not_vice_versa(painter, qtbot):
    begun, may_go_on = threading.Event(), threading.Event()

    def slowly() -> EdgeStyle:
        begun.set()
        assert may_go_on.wait(20)
        return one_line()

    painter.request(request(slowly, is_draft=False))
    assert begun.wait(20)
    painter.request(request(one_line, 2.0, is_draft=True))
    may_go_on.set()
    qtbot.waitUntil(lambda: painter.is_ready, timeout=20_000)
    assert not painter.collect()
    assert painter.picture is None
    qtbot.waitUntil(lambda: painter.is_ready, timeout=20_000)
    assert painter.collect()
    assert painter.picture.request.camera.scale == 2.0

    begun.clear()
    may_go_on.clear()
    painter.request(request(slowly, 3.0, is_draft=True))
    assert begun.wait(20)
    painter.request(request(one_line, 3.0, is_draft=False))
    may_go_on.set()
    qtbot.waitUntil(lambda: painter.is_ready, timeout=20_000)
    assert painter.collect()
    assert painter.picture.request.is_draft


def test_without_a_margin_the_picture_is_as_large_as_the_view(painter):
    places = np.zeros((2, 2), np.float32)
    painter.draw_now(EdgeRenderRequest(one_line, places, Camera(), 200, 150, 1.0, 0.5, margin=0.0))
    assert painter.picture.image.size().toTuple() == (200, 150)

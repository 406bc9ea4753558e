from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.graph.animation import CameraAnimation, Fade
from app.desktop.graph.camera import MAX_SCALE, MIN_SCALE, Camera, fit_camera, flight_path

numbers = st.floats(-300, 300)
scales = st.floats(1, 200)
cameras = st.builds(Camera, numbers, numbers, scales)


@given(camera=cameras, x=st.floats(0, 900), y=st.floats(0, 600), factor=st.floats(0.1, 10))
def test_zoom_holds_the_place_under_the_pointer(camera, x, y, factor):
    zoomed = camera.zoomed(factor, x, y, 900, 600)
    assert MIN_SCALE <= zoomed.scale <= MAX_SCALE
    assert zoomed.to_world(x, y, 900, 600) == pytest.approx(camera.to_world(x, y, 900, 600), abs=1e-6)


@given(camera=cameras, x=numbers, y=numbers)
def test_coordinates_convert_both_ways(camera, x, y):
    at = camera.to_screen(np.array([[x, y]], dtype=np.float32), 900, 600)[0]
    assert camera.to_world(float(at[0]), float(at[1]), 900, 600) == pytest.approx((x, y), abs=0.02)


@given(start=cameras, end=cameras)
def test_a_flight_starts_and_ends_where_it_should_and_stays_finite(start, end):
    camera_at, length = flight_path(start, end, 900)
    assert length >= 0
    for fraction, camera in ((0.0, start), (1.0, end)):
        reached = camera_at(fraction)
        tolerance = 900 / camera.scale * 1e-3
        assert reached.scale == pytest.approx(camera.scale, rel=1e-3)
        assert (reached.x, reached.y) == pytest.approx((camera.x, camera.y), abs=tolerance)
    assert all(
        np.isfinite([camera_at(fraction / 10).x, camera_at(fraction / 10).scale]).all()
        for fraction in range(11)
    )


def test_a_far_flight_goes_out_before_it_goes_in():
    camera_at, _ = flight_path(Camera(0, 0, 40), Camera(400, 0, 40), 900)
    assert camera_at(0.5).scale < 20


def test_the_whole_graph_fits_the_view():
    at = np.array([[-50, 0], [50, 20], [0, 90]], dtype=np.float32)
    screen = fit_camera(at, 800, 600).to_screen(at, 800, 600)
    assert (screen >= 40).all()
    assert (screen <= [760, 560]).all()
    assert fit_camera(np.empty((0, 2), dtype=np.float32), 800, 600).scale > 0
    assert fit_camera(at[:1], 800, 600).scale < 40


def test_the_eye_glides_to_the_whole_zoom_and_stops():
    animation = CameraAnimation()
    before = animation.camera.scale
    animation.zoom(2.0, 100, 100, 900, 600)
    animation.zoom(1.5, 100, 100, 900, 600)
    for _ in range(200):
        animation.advance(0.016)
    assert not animation.is_moving
    assert animation.camera.scale == pytest.approx(before * 3, rel=1e-3)
    animation.zoom(1e9, 0, 0, 900, 600)
    for _ in range(200):
        animation.advance(0.016)
    assert not animation.is_moving
    assert animation.camera.scale == MAX_SCALE


def test_a_fade_ends():
    fade = Fade(target=1.0)
    for _ in range(100):
        fade.advance(0.016)
    assert fade.value == 1.0
    assert not fade.is_moving

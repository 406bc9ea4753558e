from __future__ import annotations

from PySide6.QtCore import QObject

from app.desktop.graph.render.frame_timer import FrameTimer


def test_frames_run_until_stopped_and_not_while_there_is_nothing_to_show(qtbot):
    owner, frames, checks = QObject(), [], []
    is_idle = [True]

    def is_waiting() -> bool:
        checks.append(True)
        return is_idle[0]

    timer = FrameTimer(owner, lambda: frames.append(timer.elapsed()), is_waiting)
    timer.ensure_started()
    qtbot.waitUntil(lambda: len(checks) >= 3)
    assert not frames
    is_idle[0] = False
    qtbot.waitUntil(lambda: len(frames) >= 2)
    assert all(0.0 < elapsed <= 0.1 for elapsed in frames)
    timer.stop()
    assert not timer.isActive()

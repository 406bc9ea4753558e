"""Frames survive a round trip, and a truncated stream ends without a partial frame."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.processes.frames import Frame, read_frame

frames = st.builds(
    Frame,
    st.sampled_from([b"E", b"R", b"V", b"F"]),
    st.integers(0, 2**32 - 1),
    st.binary(max_size=200),
)


@given(st.lists(frames, max_size=5))
def test_frames_round_trip(sent: list[Frame]) -> None:
    stream = io.BytesIO(b"".join(frame.pack() for frame in sent))
    assert [read_frame(stream) for _ in sent] == sent
    assert read_frame(stream) is None


@given(frames, st.data())
def test_a_cut_frame_is_an_end(frame: Frame, data: st.DataObject) -> None:
    whole = frame.pack()
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert read_frame(io.BytesIO(whole[:cut])) is None


def test_a_stream_out_of_step_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        read_frame(io.BytesIO(b"\xff\xff\xff\xff"))
    with pytest.raises(ValueError, match="too short"):
        read_frame(io.BytesIO(b"\x01\0\0\0x"))

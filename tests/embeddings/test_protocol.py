"""Frames survive a round trip, and a truncated stream ends without a partial frame."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embeddings import protocol

frames = st.builds(
    protocol.Frame,
    st.sampled_from([protocol.EMBED, protocol.READY, protocol.VECTORS, protocol.FAILED]),
    st.integers(0, 2**32 - 1),
    st.binary(max_size=200),
)


@given(st.lists(frames, max_size=5))
def test_frames_round_trip(sent: list[protocol.Frame]) -> None:
    stream = io.BytesIO(b"".join(frame.pack() for frame in sent))
    assert [protocol.read_frame(stream) for _ in sent] == sent
    assert protocol.read_frame(stream) is None


@given(frames, st.data())
def test_a_cut_frame_is_an_end(frame: protocol.Frame, data: st.DataObject) -> None:
    whole = frame.pack()
    cut = data.draw(st.integers(0, len(whole) - 1))
    assert protocol.read_frame(io.BytesIO(whole[:cut])) is None


def test_a_stream_out_of_step_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        protocol.read_frame(io.BytesIO(b"\xff\xff\xff\xff"))
    with pytest.raises(ValueError, match="too short"):
        protocol.read_frame(io.BytesIO(b"\x01\0\0\0x"))

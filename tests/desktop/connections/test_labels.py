"""The labels of external programs."""

from __future__ import annotations

import time

import pytest

from app.desktop.connections.labels import state_label
from app.desktop.connections.queries import ClientProgram
from app.desktop.widgets.time_labels import time_or_date


@pytest.mark.parametrize("last", [None, time.time()])
def test_the_state_says_what_its_time_is(qapp, last: float | None) -> None:
    expected = "Never connected" if last is None else f"Last call {time_or_date(last)}"
    assert state_label(ClientProgram("claude", last_active=last)) == expected

"""The labels of external programs."""

from __future__ import annotations

import time

from app.desktop.connections.labels import state_label
from app.desktop.connections.queries import ClientProgram
from app.desktop.widgets.time_labels import time_or_date


def test_the_state_says_what_its_time_is(qapp) -> None:
    last = time.time()
    assert state_label(ClientProgram("claude", last_active=last)) == f"Last call {time_or_date(last)}"
    assert state_label(ClientProgram("claude", last_active=None)) == "Never connected"

"""The tasks of the window that have not ended."""

from __future__ import annotations

import asyncio
from typing import Any

from app.desktop.runtime import tasks


def running_tasks() -> frozenset[asyncio.Task[Any]]:
    """Return the tasks that `tasks.start` started and that have not ended."""
    return frozenset(tasks._running)

"""The activities in a feed."""

from __future__ import annotations

from app.desktop.activity.item import ActivityItem
from app.desktop.activity.model import ACTIVITY_ROLE, ActivityModel


def activities(feed: ActivityModel) -> tuple[ActivityItem, ...]:
    """Return the activities, newest first."""
    return tuple(feed.index(row).data(ACTIVITY_ROLE) for row in range(feed.rowCount()))

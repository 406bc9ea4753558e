"""Labels of activities, their status and their origin."""

from __future__ import annotations

from app.desktop.activity.item import ActivityItem, ActivityOrigin, ActivityStatus
from app.desktop.runtime.translation import translate
from app.permissions.tool_label import tool_label
from app.vault.invisible_chars import escape_hidden


def status_label(status: ActivityStatus) -> str:
    """Return the label of a status."""
    return {
        ActivityStatus.RUNNING: translate("Activity", "Running"),
        ActivityStatus.PENDING: translate("Activity", "Waiting for you"),
        ActivityStatus.COMPLETED: translate("Activity", "Completed"),
        ActivityStatus.FAILED: translate("Activity", "Failed"),
        ActivityStatus.DENIED: translate("Activity", "Denied"),
    }[status]


def origin_label(origin: ActivityOrigin) -> str:
    """Return the label of an origin."""
    return {
        ActivityOrigin.AGENT: translate("Activity", "Agent"),
        ActivityOrigin.USER: translate("Activity", "You"),
        ActivityOrigin.CLIENT: translate("Activity", "Other program"),
        ActivityOrigin.SYSTEM: translate("Activity", "App"),
    }[origin]


def item_label(activity: ActivityItem) -> str:
    """Return the display name of the tool or work."""
    return tool_label(escape_hidden(activity.name))


def describe_item(activity: ActivityItem) -> str:
    """Return a one-line description, for screen readers, tooltips and the filter."""
    state = status_label(activity.status)
    return f"{item_label(activity)}, {state}: {escape_hidden(activity.summary)} ({origin_name(activity)})"


def origin_name(activity: ActivityItem) -> str:
    """Return "You" for the user, else the name of the caller."""
    return (
        origin_label(activity.origin)
        if activity.origin is ActivityOrigin.USER
        else escape_hidden(activity.caller)
    )

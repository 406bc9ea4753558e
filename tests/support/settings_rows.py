"""The rows of the settings dialog."""

from __future__ import annotations

from app.desktop.settings.dialog import SettingsDialog


def visible_settings(dialog: SettingsDialog) -> tuple[str, ...]:
    """Return the settings and pages that match the search, as "section.name"; a page has no name."""
    dialog._build_all()
    return tuple(f"{row.section}.{row.name}" for row in dialog._rows if not row.widget.isHidden())

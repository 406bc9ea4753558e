"""The folders that the settings name."""

from __future__ import annotations

import pytest

from app.settings import EditorSettings
from app.vault.obsidian import ObsidianSettings
from app.workspace.service.note_folders import note_folders


@pytest.mark.parametrize(
    ("settings", "obsidian", "paths"),
    [
        ({}, {}, {"templates folder": "Templates", "attachment folder": "Attachments"}),
        (
            {"daily_folder": " /Days/", "attachment_folder": "./Files"},
            {"templates_folder": "Forms", "daily_template": "Forms/Day"},
            {
                "templates folder": "Forms",
                "folder of daily notes": "Days",
                "template of daily notes": "Forms/Day",
            },
        ),
        ({"attachment_folder": "/"}, {}, {"templates folder": "Templates"}),
    ],
)
def test_the_paths_in_the_settings_are_given_by_their_use(settings, obsidian, paths) -> None:
    folders = note_folders(EditorSettings(**settings), ObsidianSettings(**obsidian))
    assert folders.paths_by_use == paths

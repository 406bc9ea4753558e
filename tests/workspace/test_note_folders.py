"""The folders that the settings name."""

from __future__ import annotations

import pytest

from app.settings import EditorSettings
from app.vault.obsidian import ObsidianSettings
from app.workspace.note_folders import paths_in_settings


@pytest.mark.parametrize(
    ("settings", "obsidian", "paths"),
    [
        ({}, {}, {}),
        (
            {"daily_folder": " /Days/", "attachment_folder": "./Files"},
            {"templates_folder": "Forms", "daily_template": "Forms/Day"},
            {
                "the templates folder": "Forms",
                "the folder of daily notes": "Days",
                "the template of daily notes": "Forms/Day",
            },
        ),
        ({"attachment_folder": "/"}, {"attachment_folder": "Files/"}, {}),
    ],
)
def test_the_paths_in_the_settings_are_given_by_their_use(settings, obsidian, paths) -> None:
    named = paths_in_settings(EditorSettings(**settings), ObsidianSettings(**obsidian))
    assert {path.use.english: path.path for path in named} == paths
    assert [path.use.english for path in named if not path.is_folder] == [
        use for use in paths if "template of" in use
    ]

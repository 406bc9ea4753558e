"""A shortened hour of writing: no typed text is lost and no wrong message is shown.

`python -m tests.benchmarks.writing` runs the whole hour and measures it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, save_settings
from tests.flows.pilot import Pilot
from tests.flows.writing_hour import Hour, Writer, generated_vault


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_lost_in_scripted_writing(app_run, settings: Settings, tmp_path: Path, seed: int) -> None:
    settings.editor.autosave_delay = 0.5
    save_settings(settings)
    root = tmp_path / "Vault"
    paths = generated_vault(root, 16)

    async def use(pilot: Pilot) -> None:
        await pilot.open(root)
        writer = Writer(pilot, root, seed, paths=paths)
        await writer.run(Hour(edits=24, new_notes=3, renames=4, pastes=5, switches=8, outside=4))
        writer.check()

    app_run(use)

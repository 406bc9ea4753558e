"""Real public vaults open, are read completely, and an edit is undone exactly."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.flows.files import everything_in
from tests.flows.pilot import Pilot
from tests.support.public_vaults import PUBLIC_VAULTS


@pytest.mark.parametrize("name", PUBLIC_VAULTS)
def test_a_real_vault_opens_and_an_edit_is_undone(
    app_run, real_vaults: Path, tmp_path: Path, name: str
) -> None:
    root = tmp_path / name
    shutil.copytree(real_vaults / name, root)
    before = everything_in(root)

    async def use(pilot: Pilot) -> None:
        await pilot.open(root)
        stats = await pilot.run(lambda ws: ws.index.stats())
        assert stats.failed == 0 and stats.notes > 10
        await pilot.until(lambda: len(pilot.graph.view.graph()) >= stats.notes, "every note is a node")
        await pilot.until(lambda: len(pilot.graph.view.graph().edges) > 0, "links are there")
        notes = await pilot.run(lambda ws: ws.index.notes())
        note = next(one for one in notes if one.problem is None and one.tags and one.words > 20)
        await pilot.ask_and_approve(f"tag [[{note.path.stem_path}]] with #checked-here")
        changed = everything_in(root)
        assert {path for path in before if changed[path] != before[path]} == {note.path.text}
        await pilot.until(lambda: "checked-here" in pilot.tags_of(note.path.text), "the graph knows")
        await pilot.ask_and_approve("undo")
        assert everything_in(root) == before

    app_run(use)

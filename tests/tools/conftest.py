"""Tools work on a vault that is not watched: to start and end the watcher takes longer than most calls."""

from __future__ import annotations

import pytest

from app.workspace.workspace import Workspace


@pytest.fixture
def workspace(unwatched_workspace: Workspace) -> Workspace:
    """The sample vault, open and scanned, without embeddings; changes of the files are not noticed."""
    return unwatched_workspace

"""The vault folder of the tests that open it themselves."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "Vault"
    made.mkdir()
    (made / "Tea.md").write_text("Green.\n", "utf-8")
    return made

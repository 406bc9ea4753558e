"""The sample vault that is included in the app."""

from __future__ import annotations

import shutil
from pathlib import Path

from app import paths


def sample_vault() -> Path:
    """Return the user's copy of the sample vault, creating it the first time.

    This blocks: call it in a thread.

    Raises:
        OSError: The copy can't be created.
    """
    target = paths.data_folder() / "Sample vault"
    if not target.is_dir():
        temporary = target.with_name(".sample-vault-being-copied")
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.copytree(paths.resources_folder() / "sample-vault", temporary)
        temporary.replace(target)
    return target

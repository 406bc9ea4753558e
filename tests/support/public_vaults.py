"""Public vaults (MIT) that are packed with their licenses in `tests/data/`."""

from __future__ import annotations

import tarfile
from pathlib import Path

PUBLIC_VAULTS = ("kepano-obsidian", "knowledge-garden", "logseq-docs")
ARCHIVES = tuple(sorted((Path(__file__).resolve().parents[1] / "data").glob("*.tar.xz")))


def unpack_vaults(folder: Path) -> tuple[Path, ...]:
    """Unpack all vaults into `folder` and return the folders in it, sorted."""
    for archive in ARCHIVES:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return tuple(sorted(entry for entry in folder.iterdir() if entry.is_dir()))

"""The contents of a vault's folder."""

from __future__ import annotations

from pathlib import Path


def everything_in(root: Path) -> dict[str, bytes]:
    """Return every file below `root` with its bytes, except the vault's trash."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and ".trash" not in path.parts
    }

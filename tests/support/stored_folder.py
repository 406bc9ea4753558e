"""A folder kept in memory, of which many tests get a copy."""

from __future__ import annotations

import os
from pathlib import Path


class StoredFolder:
    """The files of a folder with their times; writing them takes a quarter of the time of copying them."""

    def __init__(self, folder: Path) -> None:
        entries = sorted(folder.rglob("*"))
        self._folders = [str(entry.relative_to(folder)) for entry in entries if entry.is_dir()]
        self._files = [
            (str(entry.relative_to(folder)), entry.read_bytes(), entry.stat().st_mtime_ns)
            for entry in entries
            if entry.is_file()
        ]

    def write(self, target: Path) -> None:
        """Write the files into `target`, which is created if missing."""
        target.mkdir(parents=True, exist_ok=True)
        root = f"{target}{os.sep}"
        for folder in self._folders:
            Path(root + folder).mkdir(exist_ok=True)
        for name, content, modified in self._files:
            with open(root + name, "wb", buffering=0) as file:  # noqa: PTH123
                file.write(content)
            os.utime(root + name, ns=(modified, modified))

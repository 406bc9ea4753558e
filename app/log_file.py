"""The log file of a process."""

from __future__ import annotations

import logging
import logging.handlers
import os
from io import TextIOWrapper
from pathlib import Path

from app import paths
from app.storage.private import create_private_file


class _PrivateFileHandler(logging.handlers.RotatingFileHandler):
    """Logs to files that only their owner can read."""

    def _open(self) -> TextIOWrapper:
        create_private_file(Path(self.baseFilename))
        return super()._open()


def log_to_file(name: str, fallback: logging.Handler, *, max_bytes: int, backups: int) -> None:
    """Send this process's log to a private file, which the first message creates.

    Nothing changes if the log already has a handler.

    Args:
        name: The name of the file in the log folder.
        fallback: The handler to use if the log folder can't be written.
        max_bytes: The size at which a new file is started.
        backups: The number of older files to keep.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    folder, handler = paths.log_folder(), fallback
    if os.access(folder, os.W_OK):
        handler = _PrivateFileHandler(
            folder / name, maxBytes=max_bytes, backupCount=backups, encoding="utf-8", delay=True
        )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)

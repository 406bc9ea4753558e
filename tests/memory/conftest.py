"""A separate memory for each test, in RAM if the system supports that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.memory.store import MemoryStore
from app.vault.journal import Journal


@dataclass
class MemoryBench:
    """A memory with its journal."""

    folder: Path
    journal: Journal
    store: MemoryStore

    def reopen(self) -> None:
        self.store.close()
        self.store = MemoryStore(self.folder, self.journal)


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[MemoryBench]:
    journal = Journal(tmp_path)
    made = MemoryBench(tmp_path, journal, MemoryStore(tmp_path, journal))
    yield made
    made.store.close()
    journal.close()

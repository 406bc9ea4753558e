"""Which sentence model makes the vectors, and what runs it.

The shipped model needs nothing but the app. Any other is run by sentence-transformers, which is an extra
(`pip install scriptorium[sentence-transformers]`) or stands in another Python of the user's, in a worker
process that speaks the same protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app import paths

SHIPPED = "all-MiniLM-L6-v2-int8"
SHIPPED_DIMENSION = 384


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The shipped model, or one of sentence-transformers.

    Args:
        name: `SHIPPED`, or what sentence-transformers takes: a name such as
            `sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2`, or a folder.
        python: The Python that has sentence-transformers; the app's own when empty.
        folder: Where the shipped model is, if not among the app's resources.
        judges_pairs: Whether it is a cross-encoder, which judges pairs of texts and makes no vectors.
    """

    name: str = SHIPPED
    python: str = ""
    folder: Path | None = None
    judges_pairs: bool = False

    @property
    def is_shipped(self) -> bool:
        """Whether it is the model that comes with the app."""
        return self.name == SHIPPED and not self.judges_pairs

    @property
    def key(self) -> str:
        """What vectors are kept under: those of different models can't be compared."""
        return self.name if self.is_shipped else f"sentence-transformers:{self.name}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the worker is told about it."""
        if self.is_shipped:
            return "--model", str(self.folder or paths.resources_folder() / "models" / SHIPPED)
        return "--cross-encoder" if self.judges_pairs else "--sentence-transformer", self.name

"""The configuration of the sentence model and its runtime.

The app has two sentence models of its own: an English one in every installation, and a multilingual one,
which installers include and which is an optional extra when running from source. Other models run in
sentence-transformers, which is also an extra (`pip install scriptorium[sentence-transformers]`) or is
installed in another Python interpreter. Their worker process uses the same protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app import paths

SHIPPED_MODEL = "all-MiniLM-L6-v2-int8"
MULTILINGUAL = "multilingual-e5-small-int4"
OWN_DIMENSION = 384
LANGUAGES = "languages"
_SENTENCE_TRANSFORMERS_PREFIX = "sentence-transformers:"


@dataclass(frozen=True, slots=True)
class SentenceModelConfig:
    """One of the app's own models, or a sentence-transformers model.

    Args:
        name: `SHIPPED_MODEL`, `MULTILINGUAL`, `LANGUAGES` (which identifies languages), or the name or folder
            of a sentence-transformers model.
        python: The Python interpreter with sentence-transformers; the app's own if empty.
        folder: The folder of one of the app's own models; the default one if None.
        is_cross_encoder: Whether it classifies pairs of texts instead of computing vectors.
    """

    name: str = SHIPPED_MODEL
    python: str = ""
    folder: Path | None = None
    is_cross_encoder: bool = False

    @property
    def is_shipped(self) -> bool:
        """True if this is the English model, which every installation has."""
        return self.name == SHIPPED_MODEL and not self.is_cross_encoder

    @property
    def is_own(self) -> bool:
        """True if this is one of the app's own models, which need no other Python interpreter."""
        return self.name in (SHIPPED_MODEL, MULTILINGUAL, LANGUAGES) and not self.is_cross_encoder

    @property
    def key(self) -> str:
        """The key of the model's stored vectors; vectors of different models can't be compared."""
        return self.name if self.is_own else f"{_SENTENCE_TRANSFORMERS_PREFIX}{self.name}"

    @property
    def arguments(self) -> tuple[str, ...]:
        """The worker's command-line arguments that select the model."""
        if self.name == LANGUAGES:
            return ("--languages",)
        if self.is_own:
            return "--model", str(self.folder or model_folder(self.name))
        return "--cross-encoder" if self.is_cross_encoder else "--sentence-transformer", self.name

    @classmethod
    def of_key(cls, key: str, python: str = "") -> SentenceModelConfig:
        """Return the configuration of the sentence model with this `key`.

        Args:
            key: The key of a configuration.
            python: The Python interpreter for a sentence-transformers model.
        """
        if key.startswith(_SENTENCE_TRANSFORMERS_PREFIX):
            return cls(key.removeprefix(_SENTENCE_TRANSFORMERS_PREFIX), python)
        return cls(key)


def model_folder(name: str) -> Path:
    """Return the folder of one of the app's own models, which may be missing.

    Installers include both models as resources. When running from source, the converted multilingual
    model is in the user's data folder.
    """
    resources = paths.resources_folder() / "models" / name
    if name == SHIPPED_MODEL or (resources / "model.onnx").is_file():
        return resources
    return paths.data_folder() / "models" / name

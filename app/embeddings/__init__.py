"""Sentence embeddings and entailment, computed in a separate process, and the vectors' index."""

from __future__ import annotations

from app.errors import ScriptoriumError


class EmbedderUnavailableError(ScriptoriumError):
    """No vectors can be computed: the model is missing or damaged, or its process can't run or was closed."""

"""Sentence embeddings in a separate process."""

from __future__ import annotations

from app.errors import ScriptoriumError


class EmbedderUnavailable(ScriptoriumError):
    """No vectors can be computed: the model is missing or damaged, or its process can't run or was closed."""

"""Which intent a request is like, by the meaning of its words: for wordings that no template foresaw."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from rapidfuzz import fuzz, process, utils

from app.agent.intents import Intent
from app.agent.wording import Token, tokenize
from app.embeddings import EmbedderUnavailable
from app.embeddings.onnx_model import Vectors
from app.toolkit.tool import Tool

_BY_MEANING = 0.58
_BY_WORDS = 0.80
_STANDS_FOR: Mapping[str, str] = {
    "quoted": "some text",
    "link": "a note",
    "tag": "a tag",
    "rest": "some text",
}
_SLOT_WORDS: Mapping[str, str] = {
    "name": "a note",
    "new_name": "a name",
    "tag": "a tag",
    "new_tag": "another tag",
    "tags": "a tag",
    "folder": "a folder",
    "text": "some text",
    "content": "some text",
    "old": "some words",
    "heading": "a heading",
    "properties": "a property",
    "version": "a version",
}


class TextEmbedder(Protocol):
    """What makes vectors of texts: the app's embedder, or nothing where there is no model."""

    @property
    def available(self) -> bool:
        """Whether vectors can be had."""
        ...

    async def embed(self, texts: Sequence[str], *, priority: bool = False) -> Vectors:
        """Unit vectors of `texts`, one row each."""
        ...


@dataclass(frozen=True, slots=True)
class Likely:
    """An intent that a request is like, from 0 (not at all) to 1."""

    intent: Intent
    score: float


class Likeness:
    """Compares requests with the examples of intents and of their tools."""

    def __init__(
        self, intents: Sequence[Intent], tools: Sequence[Tool], embedder: TextEmbedder | None
    ) -> None:
        self._embedder = embedder
        self._examples: list[tuple[str, Intent]] = [(text, one) for one in intents for text in one.examples]
        single: dict[str, list[Intent]] = {}
        for intent in intents:
            single.setdefault(intent.tool, []).append(intent)
        for tool in tools:
            # Only where the tool serves one intent is it clear which one its example means.
            if len(owners := single.get(tool.name, [])) == 1:
                self._examples += [(plain_example(example), owners[0]) for example in tool.examples]
        self._vectors: Vectors | None = None

    async def rank(self, text: str, note_names: Sequence[str]) -> list[Likely]:
        """The intents that the request is like, best first, those that are too unlike left out.

        Args:
            text: The request without courtesies.
            note_names: Names of notes that stand in it, which say nothing of the intent.
        """
        plain = generalised(text, note_names)
        scores = await self._by_meaning(plain)
        if scores is None:
            scores, enough = self._by_words(plain), _BY_WORDS
        else:
            enough = _BY_MEANING
        best: dict[str, Likely] = {}
        for (_, intent), score in zip(self._examples, scores, strict=True):
            if score >= enough and (intent.id not in best or best[intent.id].score < score):
                best[intent.id] = Likely(intent, float(score))
        return sorted(best.values(), key=lambda likely: -likely.score)

    async def _by_meaning(self, plain: str) -> list[float] | None:
        if self._embedder is None or not self._embedder.available:
            return None
        try:
            if self._vectors is None:
                self._vectors = await self._embedder.embed(
                    [text for text, _ in self._examples], priority=True
                )
            (vector,) = await self._embedder.embed([plain], priority=True)
        except EmbedderUnavailable:
            return None
        return [float(score) for score in np.asarray(self._vectors) @ vector]

    def _by_words(self, plain: str) -> list[float]:
        texts = [text for text, _ in self._examples]
        scored = process.cdist([plain], texts, scorer=fuzz.token_sort_ratio, processor=utils.default_process)
        return [float(score) / 100 for score in scored[0]]


def plain_example(example: str) -> str:
    """A tool's example with words in place of its slots: "tag a note with a tag"."""
    return re.sub(r"\{(\w+)\}", lambda slot: _SLOT_WORDS.get(slot[1], "something"), example)


def generalised(text: str, note_names: Sequence[str]) -> str:
    """A request with general words in place of its texts, tags and notes."""
    for name in sorted(note_names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "[[a note]]", text, flags=re.IGNORECASE)
    return " ".join(_general(token) for token in tokenize(text) if token.kind != "mark")


def _general(token: Token) -> str:
    return _STANDS_FOR.get(token.kind, token.value)

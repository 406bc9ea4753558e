"""Hosts of a pipeline whose tools give prepared answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.words.lexicon import languages
from app.agent.language.words.vault_words import VaultWords
from app.agent.pipeline.pipeline import Pipeline
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES


class PreparedHost:
    """A host that records its calls and answers them with `answer`.

    Args:
        answer: Returns the outcome of a call with some arguments; without it, every call fails.
    """

    def __init__(self, answer: Callable[[Mapping[str, object]], ToolOutcome] | None = None) -> None:
        self.calls: list[tuple[str, dict[str, object]]] = []
        self._answer = answer

    async def call(self, tool, arguments, claim="", *, summarize=None) -> ToolOutcome:
        """Record a call and answer it."""
        self.calls.append((tool, dict(arguments)))
        if self._answer is None:
            return ToolOutcome(False, error={"type": "storage", "message": "The disk failed."})
        return self._answer(arguments)

    def say(self, text: str) -> None:
        """Ignore an answer."""

    def open_note(self, path: str) -> None:
        """Ignore a note to open."""


async def run_step(
    host: PreparedHost,
    step: PipelineStep,
    dialog: DialogState | None = None,
    words: Callable[[], VaultWords] = VaultWords,
) -> DialogState:
    """Run a step in a pipeline; return the state of the dialog after it."""
    registry = ToolRegistry(CATEGORIES, CATALOG)
    pipeline = Pipeline(host, registry, languages()[0], dialog or DialogState(), tuple, ACTIONS, words)
    return await pipeline.run(Reading((step,), 1.0))

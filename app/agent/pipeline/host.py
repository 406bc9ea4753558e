"""The interface of a pipeline to the front end or turn in which it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol

from app.toolkit.outcome import ToolOutcome
from app.toolkit.tool import Tool
from app.vault.path import NotePath

Arguments = dict[str, object]
ChangesToday = Callable[[], Sequence[int]]
FindNotes = Callable[[str], Awaitable[Collection[NotePath]]]


class PipelineHost(Protocol):
    """The host of a pipeline, which calls tools and shows answers: a turn in the panel, or the terminal."""

    async def call(
        self,
        tool: str | Tool,
        arguments: Mapping[str, object],
        claim: str = "",
        *,
        summarize: Callable[[ToolOutcome], str] | None = None,
    ) -> ToolOutcome:
        """Call a tool by name, or an internal tool.

        Args:
            tool: The tool.
            arguments: Its arguments.
            claim: Describes the call to the user.
            summarize: Returns the message to show for a successful outcome in place of the tool's own.
        """
        ...

    def say(self, text: str) -> None:
        """Answer in Markdown, which may contain wikilinks."""
        ...

    def open_note(self, path: str) -> None:
        """Show a note in the front end, if it shows notes."""
        ...

"""Call the tools of a step and show their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.agent.answered_call import AnsweredCall
from app.agent.language.meaning.readings import PipelineStep
from app.agent.language.words.answers import localize
from app.agent.language.words.lexicon import Language
from app.agent.pipeline.host import Arguments, PipelineHost
from app.agent.result_formatting import format_outcome
from app.toolkit.batch import make_batch_tool
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry

_DISPLAY_ARGUMENTS = ("about", "side")
"""Step arguments that select the displayed part of a tool's result."""
_INTENTS = {
    "backlinks": "backlinks",
    "outgoing": "outgoing",
    "tags_of": "note-tags",
    "properties_of": "details",
}


class ToolCalls:
    """Calls tools through the host of a pipeline, and shows their outcomes in the language of the request.

    Args:
        host: Calls the tools and shows the answers.
        registry: The tools, for calls on many notes.
        language: The language of the request.
    """

    def __init__(self, host: PipelineHost, registry: ToolRegistry, language: Language) -> None:
        self._host = host
        self._registry = registry
        self._language = language
        self.has_changed = False
        """Whether a call has changed something."""

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, object],
        claim: str = "",
        *,
        summarize: Callable[[ToolOutcome], str] | None = None,
    ) -> ToolOutcome:
        """Call a tool without showing its outcome (see `PipelineHost.call`)."""
        return await self._host.call(tool, arguments, claim, summarize=summarize)

    async def call_step(self, step: PipelineStep, tool: str, arguments: Mapping[str, object]) -> ToolOutcome:
        """Call a tool and show its outcome."""
        outcome = await self.call(tool, arguments)
        self.say_step_outcome(step, tool, arguments, outcome)
        return outcome

    async def call_batch(self, tool: str, calls: Sequence[Arguments]) -> ToolOutcome:
        """Call a tool for several notes in one change, and show the outcome."""
        names = [str(call.pop("name")) for call in calls]
        batch = make_batch_tool(self._registry.get(tool))
        outcome = await self._host.call(batch, {"names": names, "arguments": list(calls)})
        self.say_outcome(AnsweredCall(tool, {}, "batch"), outcome)
        return outcome

    def say(self, text: str) -> None:
        """Answer in Markdown, given in English."""
        self._host.say(localize(text, self._language))

    def say_outcome(self, call: AnsweredCall, outcome: ToolOutcome) -> None:
        """Show the outcome of a call that may have changed something."""
        self.has_changed = self.has_changed or outcome.commit is not None
        self.say(format_outcome(call, outcome, has_changed=self.has_changed))

    def say_step_outcome(
        self, step: PipelineStep, tool: str, arguments: Mapping[str, object], outcome: ToolOutcome
    ) -> None:
        """Show the outcome of a step's call, or the part of it that the step asks for."""
        intent = "fact" if "about" in step.arguments else _INTENTS.get(step.action, "")
        display = {name: step.arguments[name] for name in _DISPLAY_ARGUMENTS if name in step.arguments}
        self.say_outcome(AnsweredCall(tool, {**arguments, **display}, intent), outcome)

    def say_result(self, tool: str, arguments: Mapping[str, object], outcome: ToolOutcome) -> None:
        """Show the outcome of a call that only reads."""
        self.say(format_outcome(AnsweredCall(tool, arguments), outcome))

    def open_note(self, path: str) -> None:
        """Show a note in the front end, if it shows notes."""
        self._host.open_note(path)


def items_of(result: Mapping[str, object], key: str) -> list[Any]:
    """Return the items of a list in a tool's result; none if it is missing."""
    items = result.get(key, ())
    return list(items) if isinstance(items, list | tuple) else []

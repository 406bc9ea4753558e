"""Translate a program's updates into items of the conversation: text, reasoning, plans and tool calls.

All of them are the program's claims. The journal records the real changes; see `external_edits.py`.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from acp import schema

from app.agent.transcript import AgentPlan, CardState, PlanStep, ToolCard, Usage
from app.agent.turn import Turn, complete_card
from app.permissions.caller import CallerKind
from app.toolkit.outcome import ToolFinished

log = logging.getLogger(__name__)

_KINDS = {
    "read": "Read",
    "edit": "Edit",
    "delete": "Delete",
    "move": "Move",
    "search": "Search",
    "execute": "Run",
    "think": "Think",
    "fetch": "Fetch",
    "switch_mode": "Change mode",
    "other": "Use",
}
_STATES: dict[str, CardState] = {
    "pending": "running",
    "in_progress": "running",
    "completed": "done",
    "failed": "failed",
}
_WRITE_KINDS = ("edit", "delete", "move")
_MAX_SHOWN_CHARS = 20_000
_UNKNOWN_OUTCOME_MESSAGE = "The program did not report the result."


class UpdateTranslator:
    """Records one turn of a program, in the order of its updates."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._calls: dict[str, schema.ToolCallUpdate] = {}
        self._cards: dict[str, tuple[int, ToolCard]] = {}
        self._plan_position: int | None = None
        self._named_files: set[str] = set()
        self._cost: float | None = None

    @property
    def named_files(self) -> frozenset[str]:
        """The files that the program reports as changed, under the names that it uses."""
        return frozenset(self._named_files)

    def handle_update(self, update: object) -> None:
        """Handle the program's next update."""
        match update:
            case schema.AgentMessageChunk(content=content):
                if text := _content_text(content):
                    self._turn.stream(text)
            case schema.AgentThoughtChunk(content=content):
                if text := _content_text(content):
                    self._turn.stream_reasoning(text)
            case schema.ToolCallStart():
                self._show_call(schema.ToolCallUpdate(**_fields(update)))
            case schema.ToolCallProgress():
                self._show_call(schema.ToolCallUpdate(**_fields(update)))
            case schema.AgentPlanUpdate(entries=entries):
                self._show_plan(entries)
            case schema.UsageUpdate(cost=schema.Cost(amount=amount, currency="USD")):
                self._cost = amount
            case _:
                log.debug("ignored an update of type %s", type(update).__name__)

    def end(self, answer: schema.PromptResponse | None, earlier_cost: float) -> float:
        """Complete the cards at the end of the turn and record its usage.

        Args:
            answer: The program's final response; None if there was none.
            earlier_cost: The cost of the session before the turn, in US dollars.

        Returns:
            The cost of the session so far, in US dollars.
        """
        self._turn.flush()
        for position, card in self._cards.values():
            if card.state == "running":
                self._turn.replace(
                    position,
                    card.model_copy(update={"state": "cancelled", "message": _UNKNOWN_OUTCOME_MESSAGE}),
                )
        usage = answer.usage if answer is not None else None
        self._turn.usage = Usage(
            requests=1,
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            cost=None if self._cost is None else max(0.0, self._cost - earlier_cost),
        )
        return earlier_cost if self._cost is None else self._cost

    def show_outcome(self, event: ToolFinished) -> None:
        """Show the real outcome of a call to an app tool on its card, whatever the program reports."""
        turn = self._turn
        if event.caller.turn != turn.caller.turn or event.caller.kind is not CallerKind.MCP:
            return
        id_ = self._card_for(event.tool)
        if id_ is None:
            turn.flush()
            id_, new_card = event.call_id, self._blank_card(event.call_id, event.tool)
            self._cards[id_] = (turn.put(new_card), new_card)
        position, card = self._cards[id_]
        completed = complete_card(card, event.outcome).model_copy(update={"tool": event.tool})
        turn.replace(position, completed)
        self._cards[id_] = (position, completed)

    def _card_for(self, tool: str) -> str | None:
        """Return the id of the latest call without an outcome whose title contains the tool's name."""
        for id_, (_, card) in reversed(tuple(self._cards.items())):
            call = self._calls.get(id_)
            if call is not None and card.entry is None and tool in (call.title or ""):
                return id_
        return None

    def _blank_card(self, id_: str, tool: str) -> ToolCard:
        turn = self._turn
        return ToolCard(
            turn=turn.caller.turn, at=time.time(), agent=turn.agent, call=id_, tool=tool, arguments="{}"
        )

    def tool_call_state(self, call: schema.ToolCallUpdate) -> schema.ToolCallUpdate:
        """Return the state of a tool call, updated by `call`."""
        state = self._calls.get(call.tool_call_id)
        if state is None:
            return call
        updates = {name: value for name, value in _fields(call).items() if value is not None}
        return state.model_copy(update=updates)

    def _show_call(self, update: schema.ToolCallUpdate) -> None:
        call = self.tool_call_state(update)
        self._calls[call.tool_call_id] = call
        if call.kind in _WRITE_KINDS:
            self._named_files.update(location.path for location in call.locations or ())
        self._named_files.update(change.path for change in extract_diffs(call))
        existing = self._cards.get(call.tool_call_id)
        if existing is not None and existing[1].entry is not None:
            return  # The gate has already reported the outcome.
        if existing is None:
            self._turn.flush()
        card = self._card(call, existing[1] if existing else None)
        if existing is None:
            self._cards[call.tool_call_id] = (self._turn.put(card), card)
        elif card != existing[1]:
            self._turn.replace(existing[0], card)
            self._cards[call.tool_call_id] = (existing[0], card)

    def _card(self, call: schema.ToolCallUpdate, existing: ToolCard | None) -> ToolCard:
        now = time.time()
        state = _STATES[call.status or "pending"]
        started = existing.at if existing else now
        return ToolCard(
            turn=self._turn.caller.turn,
            at=started,
            agent=self._turn.agent,
            call=call.tool_call_id,
            tool=_KINDS[call.kind or "other"],
            arguments=json.dumps(
                {"what": call.title or "", **_bounded_input(call)}, ensure_ascii=False, default=str
            ),
            state=state,
            result=_result_as_json(call),
            duration_ms=0.0 if state == "running" else (now - started) * 1000,
            untrusted=True,
        )

    def _show_plan(self, entries: Sequence[schema.PlanEntry]) -> None:
        steps = tuple(PlanStep(text=entry.content, state=entry.status) for entry in entries)
        turn = self._turn
        plan = AgentPlan(turn=turn.caller.turn, at=time.time(), agent=turn.agent, steps=steps)
        if self._plan_position is None:
            turn.flush()
            self._plan_position = turn.put(plan)
        else:
            turn.replace(self._plan_position, plan)


def extract_diffs(call: schema.ToolCallUpdate) -> list[schema.FileEditToolCallContent]:
    """Return the file changes that a tool call shows."""
    return [part for part in call.content or () if isinstance(part, schema.FileEditToolCallContent)]


def input_as_json(call: schema.ToolCallUpdate) -> str:
    """Return the input of a tool call as JSON; empty if there is none."""
    raw_input = call.raw_input
    return json.dumps(raw_input, ensure_ascii=False, default=str) if raw_input not in (None, {}, "") else ""


def kind_label(call: schema.ToolCallUpdate) -> str:
    """Return the kind of action that the program claims for a tool call."""
    return _KINDS[call.kind or "other"]


def _fields(model: Any) -> dict[str, Any]:  # noqa: ANN401 (a generated class of the protocol)
    return {name: getattr(model, name) for name in schema.ToolCallUpdate.model_fields if name != "field_meta"}


def _bounded_input(call: schema.ToolCallUpdate) -> dict[str, object]:
    """Return the input as fields of limited length, for a card."""
    raw_input = call.raw_input
    fields = raw_input if isinstance(raw_input, dict) else {} if raw_input is None else {"input": raw_input}
    bounded: dict[str, object] = {}
    for name, value in fields.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        bounded[str(name)] = value if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
    return bounded


def _result_as_json(call: schema.ToolCallUpdate) -> str:
    """Return the output of a tool call as JSON; empty if there is none."""
    texts = [
        _content_text(part.content)
        for part in call.content or ()
        if isinstance(part, schema.ContentToolCallContent)
    ]
    result: dict[str, object] = {}
    if text := "\n".join(filter(None, texts)):
        result["text"] = text[:_MAX_SHOWN_CHARS]
    if changed := [change.path for change in extract_diffs(call)]:
        result["files"] = changed
    if not result and call.raw_output is not None:
        result["output"] = json.dumps(call.raw_output, ensure_ascii=False, default=str)[:_MAX_SHOWN_CHARS]
    return json.dumps(result, ensure_ascii=False) if result else ""


def _content_text(content: object) -> str:
    """Return a content block as text."""
    match content:
        case schema.TextContentBlock(text=text):
            return text
        case schema.ResourceContentBlock(name=name, uri=uri):
            return f"[{name or PurePath(uri).name}]({uri})"
        case schema.EmbeddedResourceContentBlock(resource=schema.TextResourceContents(text=text)):
            return text
        case schema.ImageContentBlock() | schema.AudioContentBlock() | schema.EmbeddedResourceContentBlock():
            return "(This content can't be displayed.)"
    return ""

"""The agent that uses a language model through pydantic-ai, with no tools except the registry's.

The model layer makes no decisions: it streams text and names tools. The runner validates, authorizes, asks
for approval and commits, as for every other caller.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from app.agent import models
from app.agent.citations import CitationChecker, NoteReader
from app.agent.credentials import CredentialStore
from app.agent.memory_context import Pinned, format_pinned_blocks, strip_unpinned_blocks
from app.agent.message_encoding import encodable_history, encodable_messages
from app.agent.prompts import format_attached_note, system_prompt
from app.agent.transcript import Usage
from app.agent.turn import Role, Turn
from app.agent.usage_limits import BudgetExceededError, UsageBudget, run_usage
from app.encoding import check_json_size
from app.errors import InvalidParametersError, LimitError, NotFoundError, ScriptoriumError
from app.settings import Settings
from app.toolkit.call import ModelUsage
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.toolkit.tool import Tool

if TYPE_CHECKING:
    from pydantic_ai import Agent, RunContext
    from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, ToolCallPart
    from pydantic_ai.models import Model, ModelRequestContext

log = logging.getLogger(__name__)

_CITING_TOOL = "find_passages"
MAX_CALLS_PER_RESPONSE = 32
MAX_ARGUMENT_BYTES = 4 * 1024 * 1024
MAX_CONCURRENT_CALLS = 4
"""The maximum number of concurrent calls in a turn; more would block the event loop for too long."""

_INTERRUPTED = "(This answer was interrupted here.)"


class ModelAgent:
    """Answers turns with the model that the settings name when the turn begins.

    Args:
        vault: The vault's name, for the prompt.
        settings: Returns the current settings.
        keys: The store of API keys.
        registry: The tools.
        note_text: Returns the text of a note for the prompt; None for a note that is hidden from models.
        pinned: Returns the agent's pinned memory blocks; called for each request.
        notifications: Returns new items from the sources as a block of data, and records in the turn that
            the agent received them.
        spending: The session's model usage, including usage inside tools.
        read_note: Reads the note that a wikilink in an answer points to.
        is_content_question: Returns whether a request is a question about the content of the notes.
    """

    def __init__(
        self,
        vault: str,
        settings: Callable[[], Settings],
        keys: CredentialStore,
        registry: ToolRegistry,
        note_text: Callable[[str], str | None],
        pinned: Pinned,
        notifications: Callable[[Turn], str],
        spending: UsageBudget,
        read_note: NoteReader,
        is_content_question: Callable[[str], bool],
    ) -> None:
        self._vault = vault
        self._settings = settings
        self._keys = keys
        self._registry = registry
        self._note_text = note_text
        self._pinned = pinned
        self._notifications = notifications
        self._spending = spending
        self._citations = CitationChecker(read_note)
        self._is_content_question = is_content_question

    async def respond(self, turn: Turn) -> None:
        """Ask the model, stream its answer and call its tools; show a failure as a notice."""
        settings = _settings_for_role(self._settings(), turn.role)
        try:
            # The system's key store is another process and may be slow.
            key = await asyncio.to_thread(self._keys.get, settings.model.provider, settings.model.base_url)
            self._spending.check(settings.model, turn.usage)
            async with models.connect(settings.model, key) as model:
                await self._converse(turn, model, settings)
        except InvalidParametersError as error:
            turn.notice("error", error.message, "Open the settings, or choose the built-in agent.")
        except BudgetExceededError as error:
            self._save_interrupted(turn)
            turn.notice("warning", str(error), error.hint)
        except asyncio.CancelledError:
            self._save_interrupted(turn)
            raise
        except Exception as error:
            problem = models.explain_error(error, settings.model)
            log.info("the model failed: %s", type(error).__name__, exc_info=True)
            self._save_interrupted(turn)
            turn.notice("error", problem.text, problem.hint)
        finally:
            self._spending.add(turn.usage)

    async def _converse(self, turn: Turn, model: Model, settings: Settings) -> None:
        from pydantic_ai import Agent, UsageLimits
        from pydantic_ai.capabilities import ProcessHistory
        from pydantic_ai.messages import FunctionToolCallEvent, PartDeltaEvent, PartStartEvent
        from pydantic_ai.run import AgentRunResultEvent

        turn.notifications = self._notifications(turn)
        # A team agent answers its caller, which adds the citations.
        turn.cites = turn.role is None and self._is_content_question(turn.prompt.text)
        turn.review = partial(self._review, turn)
        offered = _allowed_tools(self._registry, turn)
        # Building the schemas of all tools on first use takes time.
        await asyncio.to_thread(lambda: [tool.schema for tool in offered])
        history = self._history(turn)

        def record_usage(ctx: RunContext[Turn]) -> ModelUsage:
            spent = turn.record_usage(run_usage(ctx.usage, ctx.messages[len(history) :]))
            self._spending.check(settings.model, turn.usage)
            if turn.total_usage.tokens > settings.model.max_tokens_per_turn:
                raise BudgetExceededError(
                    f"Stopped: this turn has used {turn.total_usage.tokens:,} tokens; your limit is "
                    f"{settings.model.max_tokens_per_turn:,} per turn.",
                    "Ask the agent to continue, or raise the limit in the settings under Model.",
                )
            return spent

        agent: Agent[Turn, str] = Agent(
            model,
            deps_type=Turn,
            toolsets=[_toolset(offered, record_usage)],
            capabilities=[_call_limit(), ProcessHistory(encodable_history)],
            instructions=[self._prompt(turn, offered), lambda: self._memory(turn)],
        )
        # `record_usage` checks the tokens at each call: pydantic-ai's own token limit would recount the whole
        # response for each of its parts.
        limits = UsageLimits(request_limit=settings.model.max_requests)
        async with agent.run_stream_events(
            self._prompt_text(turn),
            deps=turn,
            message_history=history,
            usage_limits=limits,
            model_settings=_model_settings(settings),
        ) as events:
            async for event in events:
                if isinstance(event, PartStartEvent):
                    _stream(turn, event.part)
                elif isinstance(event, PartDeltaEvent):
                    _stream(turn, event.delta)
                elif isinstance(event, FunctionToolCallEvent) and not event.args_valid:
                    await _reject(turn, event.part, {tool.name for tool in offered})
                elif isinstance(event, AgentRunResultEvent):
                    result = event.result
                    self._save_history(
                        turn, result.all_messages(), run_usage(result.usage, result.new_messages())
                    )
        turn.flush(is_answer=True)

    def _review(self, turn: Turn, text: str, is_answer: bool) -> str:
        """Return the text with checked citations; in an answer about the notes, each statement needs one."""
        return self._citations.check(text, claims=is_answer and turn.cites)

    def _prompt(self, turn: Turn, offered: Sequence[Tool]) -> str:
        agent = self._settings().agent
        rules = [tool.usage_rule for tool in offered]
        note = turn.prompt.open_note
        visible_note = note if note and self._note_text(note) is not None else None
        role = turn.role.instructions if turn.role else ""
        return system_prompt(self._vault, turn.prompt.mode, rules, agent.instructions, visible_note, role)

    def _memory(self, turn: Turn) -> str:
        """Return the current pinned blocks; untrusted text in them taints the conversation."""
        pinned = self._pinned(turn.caller)
        if any(block.outside for block in pinned):
            turn.caller = replace(turn.caller, tainted=True)
        return format_pinned_blocks(pinned)

    def _prompt_text(self, turn: Turn) -> str:
        """Return the prompt, with its attached notes and the notifications as marked data."""
        parts = [turn.prompt.text]
        parts += [format_attached_note(path, self._note_text(path)) for path in turn.prompt.notes]
        return "\n\n".join([*parts, *([turn.notifications] if turn.notifications else [])])

    def _history(self, turn: Turn) -> list[ModelMessage]:
        from pydantic_ai import ModelMessagesTypeAdapter

        saved = turn.store.history(turn.conversation, turn.agent)
        return list(ModelMessagesTypeAdapter.validate_json(saved)) if saved else []

    def _save_history(self, turn: Turn, messages: Sequence[ModelMessage], usage: Usage) -> None:
        from pydantic_ai import ModelMessagesTypeAdapter

        turn.usage = usage
        saved = ModelMessagesTypeAdapter.dump_json(encodable_messages(strip_unpinned_blocks(messages)))
        turn.store.save_history(turn.conversation, saved, turn.agent)

    def _save_interrupted(self, turn: Turn) -> None:
        """Save the partial history after a stop or a failure, for the model's next turn."""
        from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

        text = turn.flush()
        messages: list[ModelMessage] = [
            *self._history(turn),
            ModelRequest(parts=[UserPromptPart(content=self._prompt_text(turn))]),
            ModelResponse(parts=[TextPart(content=f"{text}\n{_INTERRUPTED}".strip())]),
        ]
        self._save_history(turn, messages, turn.usage)


def _settings_for_role(settings: Settings, role: Role | None) -> Settings:
    """Return the settings with a team agent's own model and remaining tokens; unchanged without a role."""
    if role is None:
        return settings
    limit = settings.model.max_tokens_per_turn
    updates = {
        "model": role.model or settings.model.model,
        "max_tokens_per_turn": limit if role.max_tokens is None else min(limit, role.max_tokens),
    }
    return settings.model_copy(update={"model": settings.model.model_copy(update=updates)})


def _allowed_tools(registry: ToolRegistry, turn: Turn) -> list[Tool]:
    """Return the tools that the turn's mode allows: all, or only those that never propose a change."""
    tools = registry.tools(turn.caller)
    return [tool for tool in tools if turn.prompt.mode == "propose" or not tool.proposes]


def _toolset(offered: Sequence[Tool], record_usage: Callable[[RunContext[Turn]], ModelUsage]) -> Any:  # noqa: ANN401 (the class is defined where its base is imported)
    """Return the registry's tools as a pydantic-ai toolset; the app's runner validates and runs them.

    `record_usage` records the model's usage up to a call, and stops the turn if it exceeds a limit.
    """
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_core import SchemaValidator, core_schema

    validator = SchemaValidator(core_schema.dict_schema())
    semaphore = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    class RegistryToolset(AbstractToolset[Turn]):
        @property
        def id(self) -> str:
            return "scriptorium"

        async def get_tools(self, ctx: RunContext[Turn]) -> dict[str, ToolsetTool[Turn]]:
            return {
                tool.name: ToolsetTool(
                    toolset=self,
                    tool_def=ToolDefinition(
                        name=tool.name,
                        description=tool.description,
                        parameters_json_schema=tool.schema,
                        sequential=tool.proposes,
                    ),
                    max_retries=3,
                    args_validator=validator,
                )
                for tool in (() if ctx.deps.is_over else offered)
            }

        async def call_tool(
            self, name: str, tool_args: dict[str, Any], ctx: RunContext[Turn], tool: ToolsetTool[Turn]
        ) -> Any:  # noqa: ANN401 (the base class requires it)
            turn, call_id = ctx.deps, ctx.tool_call_id or ""
            async with semaphore:
                if turn.is_over:
                    turn_over_error = LimitError("The turn is over, so the call was not run.")
                    return _tool_response(
                        await turn.reject(name, json.dumps(tool_args, default=str), turn_over_error)
                    )
                if (error := turn.refused_calls.pop(call_id, None)) is not None:
                    return _tool_response(await turn.reject(name, json.dumps(tool_args, default=str), error))
                turn.cites = turn.cites or name == _CITING_TOOL
                return _tool_response(await turn.call(name, tool_args, spent=record_usage(ctx)))

    return RegistryToolset()


def _call_limit() -> Any:  # noqa: ANN401 (the class is defined where its base is imported)
    """Return a capability that limits the number and size of a response's tool calls before they are parsed.

    Calls beyond the limit are dropped, except the first one, which is kept without its arguments and rejected
    with an error that tells the model how many calls were refused.
    """
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ToolCallPart

    class ResponseCallLimit(AbstractCapability[Turn]):
        async def after_model_request(
            self, ctx: RunContext[Turn], *, request_context: ModelRequestContext, response: ModelResponse
        ) -> ModelResponse:
            calls = 0
            parts: list[ModelResponsePart] = []
            requested = sum(isinstance(part, ToolCallPart) for part in response.parts)
            for part in response.parts:
                if not isinstance(part, ToolCallPart):
                    parts.append(part)
                    continue
                calls += 1
                if calls <= MAX_CALLS_PER_RESPONSE:
                    parts.append(await _bound_arguments(ctx.deps, part))
                elif calls == MAX_CALLS_PER_RESPONSE + 1:
                    ctx.deps.refused_calls[part.tool_call_id] = _too_many_error(requested)
                    parts.append(replace(part, args="{}"))
            return replace(response, parts=parts)

    return ResponseCallLimit()


async def _bound_arguments(turn: Turn, call: ToolCallPart) -> ToolCallPart:
    """Return the call; if its arguments are too large, drop them and record why the call is refused."""
    text = call.args if isinstance(call.args, str) else json.dumps(call.args)
    raw = text.encode("utf-8", "surrogatepass")
    try:
        if len(raw) > MAX_ARGUMENT_BYTES:
            message = f"The arguments of {call.tool_name} are larger than {MAX_ARGUMENT_BYTES:,} bytes."
            raise LimitError(message, limit=MAX_ARGUMENT_BYTES)
        await check_json_size(raw)
    except LimitError as error:
        turn.refused_calls[call.tool_call_id] = error
        return replace(call, args="{}")
    return call


def _too_many_error(requested: int) -> LimitError:
    dropped = requested - MAX_CALLS_PER_RESPONSE
    return LimitError(
        f"The response asked for {requested:,} tool calls; the first "
        f"{MAX_CALLS_PER_RESPONSE} were made, and {dropped:,} were refused. Ask again for what you need.",
        limit=MAX_CALLS_PER_RESPONSE,
    )


async def _reject(turn: Turn, call: ToolCallPart, offered: Collection[str]) -> None:
    """Show and log a model's call that is rejected before it reaches a tool."""
    arguments = call.args if isinstance(call.args, str) else json.dumps(call.args, default=str)
    error: ScriptoriumError = InvalidParametersError(
        f"The arguments of {call.tool_name} are not a JSON object.", tool=call.tool_name
    )
    if call.tool_name not in offered:
        error = NotFoundError(f"There is no tool {call.tool_name!r} in this turn.", tool=call.tool_name)
    turn.refused_calls.pop(call.tool_call_id, None)
    await turn.reject(call.tool_name, arguments or "", error)


def _tool_response(outcome: ToolOutcome) -> dict[str, object]:
    """Return a call's outcome for the model: the result, the error with its hint, or the denial."""
    if outcome.denied and outcome.error is None:
        return {"success": False, "denied": True, "message": outcome.message, "words": outcome.words}
    if not outcome.success:
        return {"success": False, "error": outcome.error}
    return outcome.as_dict()


def _stream(turn: Turn, piece: object) -> None:
    """Stream a part of text or reasoning to the turn; tool calls appear as cards when they run."""
    from pydantic_ai.messages import TextPart, TextPartDelta, ThinkingPart, ThinkingPartDelta

    match piece:
        case TextPart(content=text) | TextPartDelta(content_delta=text) if text:
            turn.stream(text)
        case ThinkingPart(content=text) | ThinkingPartDelta(content_delta=text) if text:
            turn.stream_reasoning(text)


def _model_settings(settings: Settings) -> Any:  # noqa: ANN401 (a TypedDict from a lazily imported module)
    from pydantic_ai import ModelSettings

    model_settings = ModelSettings(timeout=settings.model.request_timeout)
    if settings.model.temperature is not None:
        model_settings["temperature"] = settings.model.temperature
    return model_settings

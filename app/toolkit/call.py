"""A call: its tool, its arguments and its caller. `ToolRunner.run` runs it."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from app.encoding import encodable
from app.errors import ScriptoriumError
from app.permissions.caller import Caller
from app.vault.changes import VAULT, ChangeSet, Create, Update, content_hash
from app.vault.path import NotePath

if TYPE_CHECKING:
    from app.toolkit.tool import Tool
    from app.vault.undo import UndoPlan

UNDO_TOOL = "undo"


def _ignore() -> None:
    """Do nothing: the default of an observer's callbacks."""


@dataclass(frozen=True, slots=True)
class CallObserver:
    """Callbacks for a caller that monitors its call. An error raised by one of them stops the call.

    Attributes:
        on_question: Called just before the user is asked.
        on_write: Called just before something is written or an effect is carried out.
        on_effect: Called when an effect is done and the call continues with the changes that it proposes.
        approval_timeout: How many seconds the user has to answer; None uses the settings.
        wait_for_turn: Awaited before anything else, for callers that queue their calls.
    """

    on_question: Callable[[], None] = _ignore
    on_write: Callable[[], None] = _ignore
    on_effect: Callable[[], None] = _ignore
    approval_timeout: float | None = None
    wait_for_turn: Callable[[], Awaitable[None]] | None = None


UNOBSERVED = CallObserver()


@dataclass(frozen=True, slots=True)
class ModelUsage:
    """The tokens and dollars that a model used since the previous call of the turn; 0 dollars if unknown.

    This covers reading the conversation and requesting the call. If one response requests several calls,
    the first call carries all of it. Text after the last call counts only toward the turn's total.
    """

    tokens: int = 0
    cost: float = 0.0


NO_USAGE = ModelUsage()


@dataclass(frozen=True, slots=True)
class NamedTool:
    """Run the registered tool that has the call's name."""


@dataclass(frozen=True, slots=True)
class InternalTool:
    """Run a tool of the app that is not registered, so that no agent or program is offered it."""

    tool: Tool


@dataclass(frozen=True, slots=True)
class UserEdit:
    """Write the user's own edit, which needs no tool and no approval."""

    change_set: ChangeSet


@dataclass(frozen=True, slots=True)
class ResolvedUndo:
    """Undo commits after the user resolved the conflicts.

    Attributes:
        plan: The plan with the conflicts that the user was shown.
        choices: The content of each file in conflict (None: no such file). A file without a choice stays
            unchanged.
    """

    plan: UndoPlan
    choices: Mapping[NotePath, bytes | None]


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """Log a call that can't be made, and why."""

    error: ScriptoriumError


Request = NamedTool | InternalTool | UserEdit | ResolvedUndo | InvalidCall


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as its caller makes it. Use one of the constructors.

    Attributes:
        name: The name of the tool, or of the user's edit, for the audit log.
        arguments: The arguments as the caller gave them.
        usage: The tokens and dollars that a model used to request the call.
    """

    name: str
    arguments: Mapping[str, object]
    caller: Caller
    request: Request = NamedTool()
    usage: ModelUsage = NO_USAGE
    observer: CallObserver = UNOBSERVED
    id: str = field(default_factory=lambda: uuid.uuid4().hex)

    @classmethod
    def of(
        cls,
        name: str,
        arguments: Mapping[str, object],
        caller: Caller,
        *,
        usage: ModelUsage = NO_USAGE,
        observer: CallObserver = UNOBSERVED,
        call_id: str = "",
    ) -> Self:
        """Return a call to the tool `name`."""
        return cls(
            encodable(name), arguments, caller, NamedTool(), usage, observer, call_id or uuid.uuid4().hex
        )

    @classmethod
    def internal(cls, tool: Tool, arguments: Mapping[str, object], caller: Caller) -> Self:
        """Return a call to a tool that is not registered, such as a request of an ACP agent."""
        return cls(tool.name, arguments, caller, InternalTool(tool))

    @classmethod
    def user_edit(cls, name: str, arguments: Mapping[str, object], change_set: ChangeSet) -> Self:
        """Return a call that writes the user's own edit."""
        return cls(name, arguments, Caller.user(), UserEdit(change_set))

    @classmethod
    def save(
        cls,
        path: NotePath,
        before: bytes | None,
        after: bytes,
        caller: Caller | None = None,
        place: str = VAULT,
    ) -> Self:
        """Return a call that writes the text that the user typed.

        The outcome's error is a `conflict` if the file no longer holds `before`.

        Args:
            path: The note.
            before: Its content when it was opened; None creates it.
            after: Its new content.
            caller: The caller; the user by default.
            place: The store that holds the document.
        """
        change = Create(path, after) if before is None else Update(path, before, after)
        change_set = ChangeSet.of(change, summary=f"Save {path.name}", place=place)
        arguments = {"path": str(path), "hash": content_hash(after)}
        return cls("save", arguments, caller or Caller.user(), UserEdit(change_set))

    @classmethod
    def undo(
        cls,
        plan: UndoPlan,
        choices: Mapping[NotePath, bytes | None],
        arguments: Mapping[str, object],
    ) -> Self:
        """Return a call to `undo` whose conflicts the user has resolved.

        The whole plan is one change set, and its commit marks the plan's commits as undone. The outcome's
        error is a `conflict` if a file has changed since.

        Args:
            plan: The plan with the conflicts.
            choices: The content of each file in conflict; see `ResolvedUndo`.
            arguments: The arguments of the `undo` call that found the conflicts.
        """
        return cls(UNDO_TOOL, arguments, Caller.user(), ResolvedUndo(plan, choices))

    @classmethod
    def invalid(cls, name: str, arguments: str, caller: Caller, error: ScriptoriumError) -> Self:
        """Return a call that can't be made, such as one to an unknown tool, so that it is logged.

        Args:
            name: The tool that the caller named.
            arguments: The arguments as text.
            caller: The caller.
            error: Why the call can't be made.
        """
        return cls(encodable(name), {"arguments": arguments}, caller, InvalidCall(error))

"""Calls of tools by the built-in agent."""

from __future__ import annotations

from app.permissions.approval import ApprovalRequest
from app.permissions.caller import Caller, CallerKind
from app.permissions.request_labels import request_warnings
from app.toolkit.call import Call
from app.toolkit.outcome import ToolOutcome
from app.workspace.workspace import Workspace

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Built-in agent", turn="t1", uses_model=False)


async def call(
    workspace: Workspace, tool: str, /, caller: Caller = AGENT, **arguments: object
) -> ToolOutcome:
    return await workspace.runner.run(Call.of(tool, arguments, caller))


def warnings_of(request: ApprovalRequest) -> tuple[str, ...]:
    """Return the warnings that the user sees in a request, in English."""
    return tuple(text.english for text in request_warnings(request))

"""Combine several calls of one tool into one proposal: approved, committed and undone together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from app.errors import InvalidParametersError, ScriptoriumError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import ArgumentKind
from app.toolkit.call_results import validate_arguments
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import Parameter, Tool
from app.vault.changes import ChangeSet, ChangeWarning, FileChange, Update
from app.vault.path import NotePath


class BatchArguments(BaseModel):
    """The notes, and the other arguments of each note's call. A note may be named several times."""

    model_config = ConfigDict(extra="forbid")

    names: list[str]
    arguments: list[dict[str, JsonValue]]


class BatchResult(ToolResult):
    """The notes that were changed, and those that were left out, each with the reason."""

    notes: list[str]
    left_out: list[str]


_MAX_SUMMARIES = 3
"""The maximum number of different changes that the summary of a proposal names."""
_PARAMETERS = (
    Parameter("names", ArgumentKind.NOTE, list, True, None, "The notes.", is_list=True),
    Parameter(
        "arguments", ArgumentKind.PLAIN, list, True, None, "The other arguments of each call.", is_list=True
    ),
)


def make_batch_tool(tool: Tool) -> Tool:
    """Return a tool with the name, category and rules of `tool` that combines many of its calls.

    Calls for the same note build on each other. A call that fails is skipped and reported with its reason;
    if all fail, the first error is raised.

    Args:
        tool: A tool that takes a note as `name` and only updates that note.
    """

    async def run(
        context: ToolContext, names: list[str], arguments: list[dict[str, JsonValue]]
    ) -> Proposal[BatchResult]:
        if len(names) != len(arguments):
            raise InvalidParametersError("Every call needs a note and its arguments.", tool=tool.name)
        before: dict[NotePath, bytes] = {}
        after: dict[NotePath, bytes] = {}
        left_out: list[str] = []
        summaries: dict[str, set[NotePath]] = {}
        warnings: dict[ChangeWarning, None] = {}
        emptied: set[str] = set()
        failures: list[ScriptoriumError] = []
        for name, call_arguments in zip(names, arguments, strict=True):
            try:
                change_set = await _propose_changes(tool, context, after, {**call_arguments, "name": name})
            except ScriptoriumError as error:
                failures.append(error)
                left_out.append(f"{name}: {error.reason}")
                continue
            warnings |= dict.fromkeys(change_set.warnings)
            emptied.update(change_set.emptied)
            for change in change_set.changes:
                # A summary is one text, so calls that do the same differ in it only by the note's path.
                pattern = change_set.summary.replace(str(change.path), "{}")
                summaries.setdefault(pattern, set()).add(change.path)
                if not isinstance(change, Update):
                    raise InvalidParametersError(
                        f"{tool.name} can't be called for many notes.", tool=tool.name
                    )
                before.setdefault(change.path, change.before)
                after[change.path] = change.after
        if failures and len(failures) == len(names):
            raise failures[0]
        changes: list[FileChange] = [Update(path, before[path], after[path]) for path in after]
        change_set = ChangeSet.of(
            *changes, summary=_summary(summaries, len(changes)), warnings=warnings, emptied=emptied
        )
        changed = [str(path) for path in change_set.paths]
        message = f"{pluralize(len(changed), 'note')} changed." if changed else "Nothing to change."
        return context.propose(change_set, BatchResult(notes=changed, left_out=left_out, message=message))

    return replace(
        tool,
        make_arguments=lambda: BatchArguments,
        result=BatchResult,
        parameters=_PARAMETERS,
        function=run,
        operations={},
        examples=(),
        examples_of={},
        make_schema=None,
    )


def _summary(summaries: Mapping[str, Collection[NotePath]], count: int) -> str:
    """Return what the calls do: "Add #sky to 3 notes".

    Args:
        summaries: The summaries of the calls with "{}" in place of the note, each with its notes.
        count: The number of changed notes.
    """
    if len(summaries) > _MAX_SUMMARIES or not all("{}" in summary for summary in summaries):
        return f"Change {pluralize(count, 'note')}"
    notes = {summary: pluralize(len(paths), "note") for summary, paths in summaries.items()}
    return "; ".join(summary.replace("{}", notes[summary]) for summary in summaries)


async def _propose_changes(
    tool: Tool, context: ToolContext, changed: dict[NotePath, bytes], call_arguments: dict[str, Any]
) -> ChangeSet:
    """Return the changes that one call proposes on top of `changed`."""
    arguments = validate_arguments(tool, call_arguments)
    tool.check_operation(arguments)
    values = {parameter.name: getattr(arguments, parameter.name) for parameter in tool.parameters}
    answer = await tool.function(replace(context, vault=context.vault.with_changes(changed)), **values)
    if not isinstance(answer, Proposal):
        raise InvalidParametersError(f"{tool.name} can't be called for many notes.", tool=tool.name)
    return answer.change_set

"""Undo and redo changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.answered_call import AnsweredCall
from app.agent.generic_formatting import wikilink
from app.agent.language.changes.undo import changes_of_undo
from app.agent.language.meaning.actions import FOLDER_ACTIONS
from app.agent.language.meaning.dialog import OwnChange
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.words.chips import describe_readings
from app.agent.pipeline.host import Arguments, ChangesToday
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.tool_calls import ToolCalls
from app.permissions.pluralize import pluralize

_MAX_NAMED_NOTES = 5


class UndoSteps:
    """Undoes and redoes changes, and remembers which ones.

    Args:
        tools: Calls the tools and shows their outcomes.
        state: The state of the dialog.
        changes_today: Returns the audit entries of the agent's changes since midnight, oldest first.
    """

    def __init__(self, tools: ToolCalls, state: RunState, changes_today: ChangesToday) -> None:
        self._tools = tools
        self._state = state
        self._changes_today = changes_today

    async def undo(self, step: PipelineStep) -> tuple[str, ...] | None:
        """Undo the changes that a step means; return no notes, or None if not all are undone."""
        if not (entries := self._entries_to_undo(step)):
            return None
        undone: dict[int, int] = {}  # the undone entries, with those of the undos
        for index, entry in enumerate(entries):
            arguments: Arguments = {} if entry is None else {"entry": entry}
            outcome = await self._tools.call("undo", arguments)
            if entry is None and outcome.success and outcome.commit is None:
                self._tools.say("There is nothing to undo.")
                return None
            self._tools.say_outcome(AnsweredCall("undo", arguments), outcome)
            if not outcome.success:
                if remaining_count := len(entries) - index - 1:
                    was = pluralize(remaining_count, "other change was", "other changes were")
                    self._tools.say(f"{was} not undone.")
                break
            undone[entry or 0] = outcome.entry
        own = {change.entry: change for change in self._state.dialog.changes}
        changes = [own.get(entry, OwnChange(entry, "", ())) for entry in undone]
        for change in changes:
            self._state.update_paths_after_move(change.action, change.notes)
        # The notes are again at the paths that the changes list last.
        undone_notes = [change.notes[::-1] for change in changes if change.action not in FOLDER_ACTIONS]
        focus = undone_notes[0] if len(undone_notes) == 1 and undone_notes[0] else self._state.dialog.focus
        self._state.dialog = replace(
            self._state.dialog,
            changes=tuple(change for change in self._state.dialog.changes if change.entry not in undone),
            undone=(
                *self._state.dialog.undone,
                *(replace(change, entry=undone[change.entry]) for change in changes),
            ),
            focus=focus,
        )
        return () if len(undone) == len(entries) else None

    async def redo(self) -> tuple[str, ...] | None:
        """Undo the last undo of this conversation."""
        if not self._state.dialog.undone:
            self._tools.say("There is nothing to redo.")
            return None
        *others, change = self._state.dialog.undone
        arguments: Arguments = {"entry": change.entry}
        outcome = await self._tools.call("undo", arguments)
        self._tools.say_outcome(AnsweredCall("undo", {**arguments, "redone": change.action}, "redo"), outcome)
        if not outcome.success:
            return None
        paths = change.notes[:1] if change.action not in FOLDER_ACTIONS else ()
        self._state.record_change(PipelineStep(change.action, None, change.arguments), outcome, paths)
        self._state.dialog = replace(self._state.dialog, undone=tuple(others))
        self._state.describe_last_change(outcome, change.notes)
        if others:
            were = pluralize(len(others), "other change was", "other changes were")
            self._tools.say(f"{were} undone, too. Say “redo” again to make the next one.")
        return paths

    def _entries_to_undo(self, step: PipelineStep) -> Sequence[int | None]:
        """Return the audit entries that an undo undoes, the last one first; None for the last of any.

        If there are none, tell the user.
        """
        scope, changes = str(step.arguments.get("scope") or "last"), self._state.dialog.changes
        entries: Sequence[int | None] = [change.entry for change in changes_of_undo(step, changes)]
        if entries:
            return entries
        if step.target is not None and not step.target.notes:
            self._tools.say("There is nothing to undo.")
            return ()
        if step.target is not None:
            names = ", ".join(map(wikilink, step.target.notes[:_MAX_NAMED_NOTES]))
            self._tools.say(f"I have not changed {names} in this conversation.")
            return ()
        if action := str(step.arguments.get("what", "")):
            kind = Reading((PipelineStep(action),), 1.0, language=self._state.language.code)
            label = describe_readings([kind])[0]
            self._tools.say(f"I have made no change “{label}” in this conversation. Nothing was undone.")
            return ()
        if scope == "today":
            entries = self._changes_today()[::-1]
        elif not changes and scope.startswith("last"):
            # The last changes of other conversations count if this one has none.
            count = scope.partition(":")[2]
            is_count = count.isdecimal() and int(count) > 0
            entries = (None,) if not count else self._changes_today()[-int(count) :][::-1] if is_count else ()
        if not entries:
            self._tools.say("There is nothing to undo.")
        return entries

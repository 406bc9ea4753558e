"""The state of the dialog while a reading runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.meaning.actions import FOLDER_ACTIONS, MOVING_ACTIONS
from app.agent.language.meaning.dialog import DialogState, OwnChange
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.tasks.new_tasks import adds_tasks, tasks_of
from app.agent.language.words.lexicon import Language
from app.agent.pipeline.changed_notes import moved_path
from app.toolkit.outcome import ToolOutcome


class RunState:
    """The state of the dialog, which the steps of a reading update one after the other.

    Args:
        dialog: The state before the first step.
        language: The language of the request.
    """

    def __init__(self, dialog: DialogState, language: Language) -> None:
        self.dialog = dialog
        self.language = language
        self.question: Clarification | None = None
        """The question that a step asks."""
        self.asks_about_later_steps = False
        """Whether the answers to the question include the steps after this one."""
        self.keeps_last = False
        """Whether the next request continues the last reading instead of this one."""
        self._moves: list[tuple[str, str]] = []

    def with_new_paths(self, step: PipelineStep) -> PipelineStep:
        """Return a step with the new paths of the notes and folders that the steps before it have moved."""

        def moved(path: str) -> str:
            for before, after in self._moves:
                path = moved_path(path, before, after)
            return path

        def moved_notes(notes: NoteSet) -> NoteSet:
            return replace(notes, notes=tuple(map(moved, notes.notes)))

        target = moved_notes(step.target) if step.target is not None else None
        arguments = {
            role: moved_notes(value) if isinstance(value, NoteSet) else value
            for role, value in step.arguments.items()
        }
        if step.action in FOLDER_ACTIONS:
            arguments["folder"] = moved(str(arguments["folder"]).strip("/"))
        return replace(step, target=target, arguments=arguments)

    def focus_after_failure(self, step: PipelineStep) -> None:
        """Let "it" mean the note that the failed step named; a failed search or creation leaves no "it"."""
        named_notes = step.target.notes if step.target is not None else ()
        if len(named_notes) == 1:
            self.dialog = replace(self.dialog, focus=named_notes, is_lost=False)
        elif step.action == "create_note" or step.target is not None:
            self.dialog = replace(self.dialog, focus=(), is_lost=True)

    def remember(self, paths: tuple[str, ...]) -> None:
        """Remember listed notes for "these" and "the first one"; a single note is also "it"."""
        focus = paths[:1] if len(paths) == 1 else self.dialog.focus if paths else ()
        # Without notes, the request meant a note that does not exist.
        is_lost = not paths or (self.dialog.is_lost and len(paths) > 1)
        self.dialog = replace(self.dialog, results=paths, focus=focus, is_lost=is_lost)

    def keep_list(self) -> None:
        """Let the next request continue the list in which this one found nothing."""
        self.keeps_last = True
        self.dialog = replace(self.dialog, rest=(), is_lost=True)

    def ask(self, question: str, readings: Sequence[Reading], *, includes_later_steps: bool = False) -> None:
        """Ask which of some readings is meant; they may include the steps that were to follow."""
        self.asks_about_later_steps = includes_later_steps
        readings = [replace(reading, language=self.language.code) for reading in readings]
        options = tuple(ClarificationOption(serialize(reading), reading) for reading in readings)
        self.question = Clarification(question, options)

    def record_change(
        self, step: PipelineStep, outcome: ToolOutcome, paths: tuple[str, ...], before: tuple[str, ...] = ()
    ) -> None:
        """Remember the change of a step to the notes at `paths`, which were at `before` until then.

        The dialog remembers several notes as "these", and a single one as "it".
        """
        changes = self.dialog.changes
        if outcome.commit is not None and outcome.entry:
            notes = tuple(dict.fromkeys((*paths, *before)))
            changes = (*changes, OwnChange(outcome.entry, step.action, notes, step.arguments))
            self.dialog = replace(self.dialog, undone=())
        focus = paths[-1:] if len(set(paths)) == 1 else self.dialog.focus
        results = paths if len(set(paths)) > 1 else self.dialog.results
        is_lost = self.dialog.is_lost and not paths
        self.dialog = replace(self.dialog, changes=changes, focus=focus, results=results, is_lost=is_lost)

    def describe_last_change(self, outcome: ToolOutcome, notes: tuple[str, ...]) -> None:
        """Set the notes of the change that was just recorded, and follow them if they moved."""
        if outcome.commit is not None and outcome.entry:
            *changes, last = self.dialog.changes
            self.dialog = replace(self.dialog, changes=(*changes, replace(last, notes=notes)))
            self.update_paths_after_move(last.action, notes[::-1])

    def update_paths_after_move(self, action: str, notes: tuple[str, ...]) -> None:
        """Replace the paths of a moved note, or of those in a moved folder: the first by the second path.

        Later steps use the new paths, too.
        """
        if len(notes) == 2 and action in (*MOVING_ACTIONS, *FOLDER_ACTIONS):
            self._moves.append((notes[0], notes[1]))
        if len(notes) == 2 and action in MOVING_ACTIONS:
            self.dialog = self.dialog.with_moved_note(*notes)
        elif len(notes) == 2 and action in FOLDER_ACTIONS:
            self._move_paths(*notes)

    def _move_paths(self, before: str, after: str) -> None:
        """Replace the paths of the notes in a folder that has moved."""
        dialog = self.dialog
        for path in {*dialog.focus, *dialog.results, *dialog.recent, *(path for path, _ in dialog.tasks)}:
            if (moved := moved_path(path, before, after)) != path:
                focus = tuple(moved if own == path else own for own in self.dialog.focus)
                self.dialog = replace(self.dialog.with_moved_note(path, moved), focus=focus)

    def remember_new_tasks(self, step: PipelineStep, paths: Sequence[str]) -> None:
        """Remember the tasks that a step added, for "tick it off" and "make it due on Friday"."""
        if adds_tasks(step):
            self.dialog = replace(self.dialog, tasks=tasks_of(step, paths))

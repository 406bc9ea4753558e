"""State of a conversation with the built-in agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.agent.language.meaning.actions import ASKING_ACTIONS, MOVING_ACTIONS
from app.agent.language.meaning.readings import Clarification, NoteSet, PipelineStep, Reading, as_tuple

MAX_RESULTS = 200
NOTE_ROLES = ("target", "to", "other")
_MAX_UNANSWERED = 3


@dataclass(frozen=True, slots=True)
class OwnChange:
    """A change made in a conversation.

    Args:
        entry: Its audit entry, which identifies it.
        action: The action of its step; empty for a change of another conversation.
        notes: The notes that it changed, by their former paths last.
        arguments: The arguments of its step.
    """

    entry: int
    action: str
    notes: tuple[str, ...]
    arguments: Mapping[str, object] = field(default_factory=dict, compare=False)

    def opposite(self, paths: Sequence[str]) -> PipelineStep | None:
        """Return the step that takes an added tag back from some notes; None for other changes.

        A removed tag may have been one in the text, which adding it again would not restore. A note that had
        the tag before was not changed and keeps it; if all of `paths` did, the step is an undo that says so.
        Of several tags, a note may have had some before, so there is no such step.
        """
        if self.action != "add_tag" or len(as_tuple(self.arguments.get("tag", ()))) != 1:
            return None
        changed = tuple(path for path in paths if path in self.notes)
        if not changed:
            return PipelineStep("undo", NoteSet(notes=tuple(paths)), {"what": self.action})
        return PipelineStep("remove_tag", NoteSet(notes=changed), self.arguments)


@dataclass(frozen=True, slots=True)
class DialogState:
    """The state of a conversation, used to resolve pronouns and follow-ups. Frozen.

    Args:
        open_note: The path of the note on the screen.
        attached: The paths of the notes attached to the prompt.
        focus: The last mentioned note, by every path that it may have now: the user may have denied its
            rename.
        results: The paths of the last listed notes, in order.
        rest: The notes of the list before the last one that the last one, a part of it, leaves out.
        values: The texts of the property that the last request asked for.
        missing: The names without a note that the last request listed.
        asked: The question that the last request asked about the contents of the notes.
        subject: The note that the question in `asked` is about; the answer may be in other notes.
        tasks: The tasks that the last request listed or changed, each as its note's path and its text.
        recent: The paths of the last two single notes that requests named or meant, oldest first.
        only_asked: The note that was asked about last, if no request has shown or changed it.
        aside: The last mentioned note, if only the last change has been about it and it existed before.
        last: The last reading that was run.
        changes: The changes made in the conversation, oldest first.
        undone: The changes undone since the last change, each with the entry of its undo, oldest first.
        made: The number of changes that the last request made; 0 if the user denied them.
        question: The open question to the user.
        unanswered: The last questions that the user left unanswered since a request was about one note,
            oldest first.
        new_notes: The likely paths of the notes that earlier orders of the same request create.
        has_switched: Whether the user has opened another note since the last request.
        is_lost: Whether "it" may mean a note that was not found or not created: the last request was not
            understood, or its note is missing.
    """

    open_note: str | None = None
    attached: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    asked: str = ""
    subject: tuple[str, ...] = ()
    tasks: tuple[tuple[str, str], ...] = ()
    recent: tuple[str, ...] = ()
    only_asked: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    last: Reading | None = None
    changes: tuple[OwnChange, ...] = ()
    undone: tuple[OwnChange, ...] = ()
    made: int = 0
    question: Clarification | None = None
    unanswered: tuple[Clarification, ...] = ()
    new_notes: tuple[str, ...] = ()
    has_switched: bool = False
    is_lost: bool = False

    @property
    def undo_of_request(self) -> PipelineStep:
        """The undo of the changes that the last request made, or else of the last change."""
        return PipelineStep("undo", None, {"scope": f"last:{self.made}" if self.made > 1 else "last"})

    def with_notes(self, open_note: str | None, attached: tuple[str, ...] = ()) -> DialogState:
        """Return the state with another note on the screen and other attached notes."""
        has_switched = self.last is not None and open_note not in (None, self.open_note, *self.focus)
        return replace(self, open_note=open_note, attached=attached, has_switched=has_switched)

    def with_moved_note(self, before: str, after: str) -> DialogState:
        """Return the state after the note at the path `before` was moved to the path `after`."""

        def moved(path: str) -> str:
            return after if path == before else path

        return replace(
            self,
            results=tuple(map(moved, self.results)),
            recent=tuple(map(moved, self.recent)),
            tasks=tuple((moved(path), text) for path, text in self.tasks),
            # A move has both paths.
            changes=tuple(
                own if own.action in MOVING_ACTIONS else replace(own, notes=tuple(map(moved, own.notes)))
                for own in self.changes
            ),
        )

    def after(self, reading: Reading, question: Clarification | None) -> DialogState:
        """Return the state after a reading has run, with the notes that it named and the question it left."""
        named = [
            notes.notes[0]
            for step in reading.steps
            if step.action not in MOVING_ACTIONS  # "it" is the note at its new path
            for notes in (step.target, *(step.arguments.get(role) for role in NOTE_ROLES))
            if isinstance(notes, NoteSet) and notes.is_single
        ]
        creations = sum(step.action == "create_note" for step in reading.steps)
        created = [
            change.notes[0]
            for change in self.changes[len(self.changes) - creations :]
            if change.action == "create_note" and len(change.notes) == 1
        ]
        about = (*named, *created, *self.focus[:1])
        is_new = bool(created) or reading.last.action in MOVING_ACTIONS or self.focus[:1] == self.recent[-1:]
        aside = self.focus[:1] if self.made and not is_new else ()
        if not self.made and {*self.aside}.isdisjoint(named):
            aside = self.aside
        recent = [path for path in dict.fromkeys(reversed((*self.recent, *about)))][:2]
        changed = [path for step in reading.steps if step.target is not None for path in step.target.notes]
        only_asked = self.only_asked if {*self.only_asked}.isdisjoint((*named, *created, *changed)) else ()
        if reading.last.action in ASKING_ACTIONS:
            is_last_note = self.focus[:1] == self.recent[-1:]
            was_only_asked = self.recent[-1:] == self.only_asked
            only_asked = () if is_last_note and not was_only_asked else self.focus[:1]
        # A request about no single note does not say which one the conversation is about.
        unanswered = () if about else self.without_question().unanswered
        return replace(
            self,
            last=reading,
            question=question,
            unanswered=unanswered,
            recent=tuple(reversed(recent)),
            only_asked=only_asked,
            aside=aside,
        )

    def without_question(self) -> DialogState:
        """Return the state in which the open question, if any, is left unanswered."""
        unanswered = self.unanswered
        if self.question is not None:
            unanswered = (*unanswered, self.question)[-_MAX_UNANSWERED:]
        return replace(self, question=None, unanswered=unanswered)

    def about_subject(self, *, is_change: bool) -> DialogState:
        """Return the state for a request that is about the note which was asked about.

        "Open it" means the note in which the answer is, but "backlinks" those of the note in the question. If
        it has none, a change is about the open note.
        """
        is_lost = not self.subject and not is_change
        return replace(self, focus=self.subject, is_lost=is_lost) if self.asked else self

    def first_existing(self, paths: Sequence[str], has_file: Callable[[str], bool]) -> str:
        """Return the first of some paths that has a file, or will have one; an empty text without one."""
        return next((path for path in paths if path in self.new_notes or has_file(path)), "")

    @property
    def is_about_one(self) -> bool:
        """True if the last request was about one note that exists or would be created."""
        last = self.last.last if self.last is not None else None
        is_created = last is not None and last.action == "create_note"
        return is_created or (last is not None and last.target is not None and last.target.is_single)

    @property
    def others(self) -> tuple[str, ...]:
        """The referent of "the others": the notes of `them` without those of the last step.

        After a part of a list, these are the notes of its other part.
        """
        if self.rest:
            return self.rest
        target = self.last.last.target if self.last is not None else None
        taken = target.notes if target is not None else ()
        return tuple(path for path in self.them if path not in taken)

    @property
    def whole_list(self) -> NoteSet | None:
        """The list of which the last request selected one note ("the longest of these"); else None."""
        last = self.last.last.target if self.last is not None and self.has_search else None
        if last is None or len(self.results) != 1 or not (last.limit in (1, -1) or last.pick):
            return None
        if last.notes or last.source:
            return NoteSet(notes=(*self.results, *self.rest)) if self.rest else None
        whole = replace(last, order="", limit=None, pick=None)
        return None if whole.is_everything else whole

    @property
    def this(self) -> tuple[str, ...]:
        """The referent of "this note": the only attached, the open, or the last mentioned note."""
        return self._single_attached or self._open or self.focus

    @property
    def it(self) -> tuple[str, ...]:
        """The referent of "it".

        That is the only attached note, the note of the open question, the last mentioned note, or the open
        note. It is empty if the question's note is not chosen or created yet; it is not the open note if
        `is_lost`.
        """
        if self._single_attached:
            return self._single_attached
        if (subject := self._question_subject) is not None:
            return subject
        return self.focus or (() if self.is_lost else self._open)

    @property
    def _question_subject(self) -> tuple[str, ...] | None:
        """The note that the open question is about, empty if it is not chosen or created yet.

        None without a question, or if the question is not about exactly one note.
        """
        if self.question is None:
            return None
        if self.question.partial is not None and self.question.partial.missing in NOTE_ROLES:
            return ()
        readings = [option.reading for option in self.question.options]
        readings += [self.question.partial] if self.question.partial is not None else []
        if any(reading.steps[0].action == "create_note" for reading in readings):
            return ()
        targets = {reading.last.target.notes for reading in readings if reading.last.target is not None}
        notes = targets.pop() if len(targets) == 1 else ()
        return notes if len(notes) == 1 else None

    @property
    def asked_about(self) -> tuple[tuple[NoteSet, ...], ...]:
        """The sets of notes in each question that is open or left unanswered, the oldest question first."""
        return tuple(map(_sets_of_question, self.without_question().unanswered))

    @property
    def has_list(self) -> bool:
        """True if the last request listed or counted several notes."""
        last = self.last.last.action if self.last is not None else ""
        return last in ("find", "count") and len(self.results) > 1

    @property
    def has_search(self) -> bool:
        """True if the last request listed the notes of a search."""
        return self.last is not None and len(self.last.steps) == 1 and self.last.last.action == "find"

    @property
    def is_doubtful(self) -> bool:
        """True if the last request may have meant notes other than those found."""
        has_question = self.question is not None
        return self.is_lost or has_question or (self.last is not None and not self.last.is_certain)

    @property
    def them(self) -> tuple[str, ...]:
        """The referent of "these": several attached notes, or else the last listed ones."""
        return self.attached if len(self.attached) > 1 else self.results

    @property
    def _single_attached(self) -> tuple[str, ...]:
        return self.attached if len(self.attached) == 1 else ()

    @property
    def _open(self) -> tuple[str, ...]:
        return (self.open_note,) if self.open_note else ()


def _sets_of_question(question: Clarification) -> tuple[NoteSet, ...]:
    """Return the sets of notes in the readings of a question."""
    readings = [option.reading for option in question.options]
    readings += [question.partial] if question.partial is not None else []
    targets = (step.target for reading in readings for step in reading.steps)
    return tuple(dict.fromkeys(target for target in targets if target is not None))


def with_moved_notes(step: PipelineStep, changes: Sequence[OwnChange]) -> PipelineStep:
    """Return a step with its notes where some changes have put them, or with the notes that they moved."""
    now = {
        own.notes[1]: own.notes[0] for own in changes if own.action in MOVING_ACTIONS and len(own.notes) == 2
    }
    if step.target is None or not now:
        return step
    paths = tuple(now.get(path, path) for path in step.target.notes) or tuple(now.values())
    return replace(step, target=NoteSet(notes=paths))

"""The meaning of a request: a pipeline of steps over sets of notes. All values are frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from app.index.value_order import property_of

Source = Literal["", "previous"]
MIN_READ_SCORE = 0.62
MIN_WRITE_SCORE = 0.8
MIN_CONFIRM_SCORE = 0.6
MIN_COMPLETE_SCORE = 0.85
"""Minimum score at which the grammar alone decides on a long pipeline or a rare value, such as a due date."""


@dataclass(frozen=True, slots=True)
class NoteSet:
    """A set of notes.

    The notes match `query` (in the search language), are among `notes` (paths; empty for any), and, depending
    on `source`, come from the result of the previous step. `pick` then selects one by position (1 is the
    first, -1 the last). A set without conditions contains every note.

    Args:
        query: A search, or an empty string.
        notes: The paths of named notes.
        source: "previous" for the result of the previous step.
        pick: The position of one note, or None for all.
        order: The order of the notes for `search_notes`; empty for its default.
        limit: The maximum number of notes, or None for all; a negative number counts from the end.
        unknown: Words used as a note's name that match no note or more than one; a space for a pronoun that
            refers to no note.
        candidates: The paths of notes that `unknown` may refer to.
    """

    query: str = ""
    notes: tuple[str, ...] = ()
    source: Source = ""
    pick: int | None = None
    order: str = ""
    limit: int | None = None
    unknown: str = ""
    candidates: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        """True if the set contains every note: it has no condition and no limit."""
        return not (self.query or self.notes or self.source or self.unknown or self.limit)

    @property
    def is_single(self) -> bool:
        """True if the set is exactly one named note."""
        return len(self.notes) == 1 and not self.query

    @property
    def ordered_query(self) -> str:
        """The set's search; for a limited set ordered by a property, limited to notes with the property."""
        name = property_of(self.order) if self.order and self.limit else ""
        has = f'["{name}"]' if " " in name else f"[{name}]"
        return self.with_query(has).query if name else self.query

    def first_notes(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Return the notes that `pick` and `limit` select from `paths`, the whole set in order."""
        if self.pick is not None:
            index = self.pick - 1 if self.pick > 0 else self.pick
            paths = (paths[index],) if -len(paths) <= index < len(paths) else ()
        if self.limit is None:
            return paths
        return paths[: self.limit] if self.limit >= 0 else paths[self.limit :]

    def with_query(self, query: str) -> NoteSet:
        """Return the notes of this set that also match `query`."""
        joined = " ".join(part for part in (parenthesize(self.query), parenthesize(query)) if part)
        return replace(self, query=joined)

    def or_query(self, query: str) -> NoteSet:
        """Return the union of this set and the notes that match `query`."""
        return replace(self, query=f"{parenthesize(self.query)} OR {parenthesize(query)}")


def as_tuple(value: object) -> tuple[object, ...]:
    """Return the items of a value that may be a list; a single value as a tuple."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def parenthesize(query: str) -> str:
    """Put a query in parentheses if it is a list of alternatives, so that it can be combined with others."""
    outside = re.sub(r'"[^"]*"', "", query)
    while (inner := re.sub(r"\([^()]*\)", "", outside)) != outside:
        outside = inner
    return f"({query})" if " OR " in f" {outside} " else query


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """One action on a set of notes; `target` is None for an action without notes (undo, list_tags)."""

    action: str
    target: NoteSet | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)

    def with_argument(self, name: str, value: object) -> PipelineStep:
        """Return the step with an argument added or replaced."""
        return replace(self, arguments={**self.arguments, name: value})


@dataclass(frozen=True, slots=True)
class Reading:
    """One interpretation of a request.

    Args:
        steps: The steps, in order.
        score: The certainty, from 0 to about 1.
        unexplained: The words of the request that the reading does not account for.
        missing: The role of the last step that still needs a value; empty if there is none.
        language: The code of the request's language.
        verb_words: The number of words in the verb phrases.
        is_certain: Whether all values are unambiguous.
        is_aside: Whether the conversation stays about its note: "his email?" about the keeper of a tool.
    """

    steps: tuple[PipelineStep, ...]
    score: float
    unexplained: tuple[str, ...] = ()
    missing: str = ""
    language: str = "en"
    verb_words: int = 0
    is_certain: bool = True
    is_aside: bool = False

    @property
    def last(self) -> PipelineStep:
        """The last step."""
        return self.steps[-1]

    def has_same_steps(self, other: Reading) -> bool:
        """Return whether both readings have the same steps."""
        return self.steps == other.steps


@dataclass(frozen=True, slots=True)
class ClarificationOption:
    """An answer to a question: its label, the reading that it selects, and its probability."""

    label: str
    reading: Reading
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question to the user.

    Args:
        question: The question.
        options: The answers to choose from; without them, any text fills the role `partial.missing`.
        partial: The reading that the answer completes.
        spare: Less likely answers, which replace options that refer to the same notes as others.
    """

    question: str
    options: tuple[ClarificationOption, ...] = ()
    partial: Reading | None = None
    spare: tuple[ClarificationOption, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelRequired:
    """The request needs a language model; `work` names the task, as the subject of a sentence."""

    work: str


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply without an action.

    `text` is the name of a fixed reply or the reply itself; empty for the reply to a request that was not
    understood. `understood` is False if the agent could not interpret or fulfill the request.
    """

    text: str
    understood: bool = True


@dataclass(frozen=True, slots=True)
class ContentQuestion:
    """A question about the content of the notes, in the user's words.

    `needs_model` names what a language model could do beyond quoting the notes.
    """

    text: str
    needs_model: ModelRequired | None = None


Interpretation = Reading | Clarification | ModelRequired | Reply | ContentQuestion


def note_sets_of(reading: Reading) -> list[NoteSet]:
    """Return the sets of notes in a reading."""
    return [
        notes
        for step in reading.steps
        for notes in (step.target, *step.arguments.values())
        if isinstance(notes, NoteSet)
    ]


def is_clear(reading: Reading) -> bool:
    """Return whether every note in a reading is resolved."""
    return not any(notes.unknown for notes in note_sets_of(reading))

"""What a request means: a pipeline of steps over sets of notes. Pure, frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

Source = Literal["", "previous"]


@dataclass(frozen=True, slots=True)
class NoteSet:
    """A set of notes.

    The notes match `query` (in the search language), are among `notes` (paths; empty for any), and come from
    the result of the step before where `source` says so. `pick` then takes one by its place (1 is the first,
    -1 the last). A set without any condition holds every note.

    Args:
        query: A search, or an empty string.
        notes: Paths of notes that were named.
        source: "previous" for the result of the step before.
        pick: The place of one note, or None for all.
        order: The order of the notes, as `search_notes` takes it; an empty string for its default.
        limit: How many notes at most, or None for all.
        unknown: Words that stand where a note's name is expected and name no note.
        candidates: Paths of notes that `unknown` may mean.
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
        """Whether the set has no condition at all."""
        return not (self.query or self.notes or self.source or self.unknown)

    @property
    def is_single(self) -> bool:
        """Whether the set is exactly one note that was named."""
        return len(self.notes) == 1 and not self.query

    def with_query(self, query: str) -> NoteSet:
        """The notes of this set that also match `query`."""
        joined = " ".join(part for part in (parenthesize(self.query), parenthesize(query)) if part)
        return replace(self, query=joined)

    def or_query(self, query: str) -> NoteSet:
        """The notes of this set and those that match `query`."""
        return replace(self, query=f"{parenthesize(self.query)} OR {parenthesize(query)}")


def parenthesize(query: str) -> str:
    """Put a query in parentheses where OR would otherwise bind it to its neighbors."""
    return f"({query})" if " OR " in query and not query.startswith("(") else query


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """One action on a set of notes; `target` is None for an action on no notes (undo, list_tags)."""

    action: str
    target: NoteSet | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)

    def with_argument(self, name: str, value: object) -> PipelineStep:
        """The step with one more argument."""
        return replace(self, arguments={**self.arguments, name: value})


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand a request.

    `score` is the certainty from 0 to 1; `unexplained` are the words of the request that the reading does
    not account for; `missing` is the role of the last step that still needs a value; `verb_words` is how
    many words the verb phrases explain; `certain` is False where a value may as well mean something else.
    """

    steps: tuple[PipelineStep, ...]
    score: float
    unexplained: tuple[str, ...] = ()
    missing: str = ""
    language: str = "en"
    verb_words: int = 0
    certain: bool = True

    @property
    def last(self) -> PipelineStep:
        """The step at the end."""
        return self.steps[-1]

    def same_meaning(self, other: Reading) -> bool:
        """Whether both readings would do the same."""
        return self.steps == other.steps


@dataclass(frozen=True, slots=True)
class ClarificationOption:
    """An answer to a question: its label, and the reading that it leads to."""

    label: str
    reading: Reading


@dataclass(frozen=True, slots=True)
class Clarification:
    """A question back. `options` are its answers; without options any text fills the role `missing`."""

    question: str
    options: tuple[ClarificationOption, ...] = ()
    partial: Reading | None = None


@dataclass(frozen=True, slots=True)
class ModelRequired:
    """The request needs a language model; `work` says what for, as the subject of a sentence."""

    work: str
    instead: Reading | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """Nothing to do but say `text`; `understood` is False where the request was not understood."""

    text: str
    understood: bool = True


@dataclass(frozen=True, slots=True)
class ContentQuestion:
    """A question about what the notes say, in the user's words.

    `needs_model`: what a language model could do beyond quoting the notes.
    """

    text: str
    needs_model: ModelRequired | None = None


Interpretation = Reading | Clarification | ModelRequired | Reply | ContentQuestion

"""What the built-in agent can decide to do with a request, and what it keeps in mind between two. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class CallTool:
    """Call `tool` with `arguments`.

    `understood` says in one sentence what will be done, with wikilinks. `confidence` is from 0 to 1.
    `intent` is the finer purpose where a tool serves several ("backlinks", "note-tags"); answers read it.
    """

    tool: str
    arguments: Mapping[str, object]
    understood: str
    confidence: float = 1.0
    intent: str = ""


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """An answer to a question: the words on the button, and what is sent when it is picked.

    `call` is what picking it means; `reply` says the same in words that the planner understands alone.
    """

    label: str
    reply: str
    call: CallTool | None = None


@dataclass(frozen=True, slots=True)
class Blank:
    """A call that lacks one argument, which the next message gives."""

    intent: str
    slots: Mapping[str, str]
    missing: str


@dataclass(frozen=True, slots=True)
class AskBack:
    """Ask, because it is not clear what is meant; `blank` is set when any words can be the answer."""

    question: str
    choices: tuple[PlanChoice, ...] = ()
    blank: Blank | None = None


@dataclass(frozen=True, slots=True)
class NeedsModel:
    """It can't be done without a model; `reason` says so, and what can be done instead."""

    reason: str


@dataclass(frozen=True, slots=True)
class Say:
    """Nothing to do but to say something."""

    text: str


Plan = CallTool | AskBack | NeedsModel | Say


@dataclass(frozen=True, slots=True)
class PlanContext:
    """What a conversation is about.

    `open_note` is the note on the screen and `notes` those given along with the prompt (paths). `last_notes`
    is the note that was last spoken of, by each path that it may have now (a rename may have been denied).
    `asked` is the question that waits for an answer.
    """

    open_note: str | None = None
    notes: tuple[str, ...] = ()
    last_notes: tuple[str, ...] = ()
    asked: AskBack | None = field(default=None)

    def with_open_note(self, open_note: str | None, notes: tuple[str, ...] = ()) -> PlanContext:
        """The same conversation with another note on the screen and other notes given along."""
        return replace(self, open_note=open_note, notes=notes)

    @property
    def this(self) -> tuple[str, ...]:
        """What "this note" means: the one note given along, else the one on the screen, else the last."""
        return self._given or self._open or self.last_notes

    @property
    def it(self) -> tuple[str, ...]:
        """What "it" means: the one note given along, else the last spoken of, else the one on the screen."""
        return self._given or self.last_notes or self._open

    @property
    def _given(self) -> tuple[str, ...]:
        return self.notes if len(self.notes) == 1 else ()

    @property
    def _open(self) -> tuple[str, ...]:
        return (self.open_note,) if self.open_note else ()

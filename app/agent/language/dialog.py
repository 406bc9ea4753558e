"""What a conversation with the built-in agent is about. Frozen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.agent.language.readings import Clarification, Reading

MAX_RESULTS = 200


@dataclass(frozen=True, slots=True)
class DialogState:
    """What was said and done so far.

    Args:
        open_note: The path of the note on the screen.
        given: Paths of the notes that came along with the prompt.
        focus: The note that was last spoken of, by each path that it may have now: a rename may have been
            denied.
        results: Paths of the notes that were last listed, in order.
        last: The last reading that was carried out.
        changes: Audit entries of the changes made in this conversation, oldest first.
        question: The question that waits for an answer.
        is_lost: Whether the last request was not understood, so that "it" may mean what it spoke of.
    """

    open_note: str | None = None
    given: tuple[str, ...] = ()
    focus: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    last: Reading | None = None
    changes: tuple[int, ...] = ()
    question: Clarification | None = None
    is_lost: bool = False

    def on_screen(self, open_note: str | None, given: tuple[str, ...] = ()) -> DialogState:
        """The same conversation with another note on the screen and other notes given along."""
        return replace(self, open_note=open_note, given=given)

    @property
    def this(self) -> tuple[str, ...]:
        """What "this note" means: the note given along, else the one on the screen, else the last."""
        return self._one_given or self._open or self.focus

    @property
    def it(self) -> tuple[str, ...]:
        """What "it" means: the note given along, else the last spoken of, else the one on the screen."""
        return self._one_given or self.focus or self._open

    @property
    def listed(self) -> bool:
        """Whether the last answer was a list of several notes."""
        last = self.last.last.action if self.last is not None else ""
        return last in ("find", "count") and len(self.results) > 1

    @property
    def is_doubtful(self) -> bool:
        """Whether the last request may have meant other notes than those that were found."""
        unanswered = self.question is not None
        return self.is_lost or unanswered or (self.last is not None and not self.last.certain)

    @property
    def them(self) -> tuple[str, ...]:
        """What "these" means: the notes given along, else those last listed."""
        return self.given if len(self.given) > 1 else self.results

    @property
    def _one_given(self) -> tuple[str, ...]:
        return self.given if len(self.given) == 1 else ()

    @property
    def _open(self) -> tuple[str, ...]:
        return (self.open_note,) if self.open_note else ()

"""State of a conversation with the built-in agent."""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.agent.language.readings import Clarification, Reading

MAX_RESULTS = 200


@dataclass(frozen=True, slots=True)
class DialogState:
    """The state of a conversation, used to resolve pronouns and follow-ups. Frozen.

    Args:
        open_note: The path of the note on the screen.
        given: The paths of the notes attached to the prompt.
        focus: The last mentioned note, by each path that it may have now, because a rename may have been
            denied.
        results: The paths of the last listed notes, in order.
        last: The last reading that was run.
        changes: The audit entries of this conversation's changes, oldest first.
        question: The open question to the user.
        is_lost: Whether the last request was not understood; "it" may then mean something in that request.
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
        """Return the state with another note on the screen and other attached notes."""
        return replace(self, open_note=open_note, given=given)

    @property
    def this(self) -> tuple[str, ...]:
        """Return the referent of "this note": the attached note, the one on the screen, or the last one."""
        return self._one_given or self._open or self.focus

    @property
    def it(self) -> tuple[str, ...]:
        """Return the referent of "it": the attached note, the last mentioned, or the one on the screen."""
        return self._one_given or self.focus or self._open

    @property
    def listed(self) -> bool:
        """True if the last answer was a list of several notes."""
        last = self.last.last.action if self.last is not None else ""
        return last in ("find", "count") and len(self.results) > 1

    @property
    def is_doubtful(self) -> bool:
        """True if the last request may have meant notes other than those found."""
        unanswered = self.question is not None
        return self.is_lost or unanswered or (self.last is not None and not self.last.certain)

    @property
    def them(self) -> tuple[str, ...]:
        """Return the referent of "these": the attached notes, or the last listed ones."""
        return self.given if len(self.given) > 1 else self.results

    @property
    def _one_given(self) -> tuple[str, ...]:
        return self.given if len(self.given) == 1 else ()

    @property
    def _open(self) -> tuple[str, ...]:
        return (self.open_note,) if self.open_note else ()

"""Interpret several orders in one request one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from app.agent.comparison.chosen_readings import is_settled
from app.agent.comparison.found_notes import FoundNotes
from app.agent.language.grammar.request import without_marks_at_end
from app.agent.language.interpretation.compound_requests import (
    is_task_with_conjunction,
    join_orders,
    join_questions,
    options_of_changes,
    shown_notes,
    split_orders,
    state_after,
    verbless_orders,
    with_unsplit_reading,
)
from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_about, with_readings_first
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX
from app.agent.language.meaning.readings import Clarification, Interpretation, Reading
from app.agent.language.model.candidates import have_same_meaning
from app.agent.request_interpreter import RequestInterpreter

Compare = Callable[[Interpretation, str, DialogState], Awaitable[Interpretation]]


class JoinedOrders:
    """Interprets each order of a request in the state that the orders before it will leave.

    Args:
        requests: Interprets requests.
        found: Searches for the notes of the orders.
        compare: Compares the interpretation of a request with the vault.
        compare_one: Compares the interpretation of one order with the vault.
    """

    def __init__(
        self,
        requests: RequestInterpreter,
        found: FoundNotes,
        compare: Compare,
        compare_one: Compare,
    ) -> None:
        self._requests = requests
        self._found = found
        self._compare = compare
        self._compare_one = compare_one

    async def join(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> tuple[bool, Interpretation | None]:
        """Return the interpretation of a request for several changes, each interpreted separately.

        The first result is False for other requests. The second one is None for them, and if only some of the
        changes are understood.
        """
        if is_settled(interpretation, text, state) or text.lstrip().startswith(PREFIX):
            return False, None
        request, is_split = self._requests.request_of(text, state), False
        orders = list(split_orders(request))
        is_verbless = not orders and (
            isinstance(interpretation, Clarification) or is_task_with_conjunction(request, interpretation)
        )
        if is_verbless:
            orders = list(verbless_orders(request))
        for first, rest in orders:
            head = await self._compare_one(self._requests.interpret(first, state), first, state)
            if isinstance(head, Clarification) and set(first) & set(",;.:"):
                continue  # more than an order
            changes = options_of_changes(head, self._requests.actions())
            if changes and changes[0].reading.last.action == "complete_task" and self._repeats(rest, state):
                return True, head  # "the heat test is done, tick it off"
            is_split = is_split or (bool(changes) and not is_verbless)
            changes = changes or shown_notes(head)
            joined: list[Interpretation] = []
            for change in changes:
                after = state_after(state, change.reading, await self._found.with_found_notes(change.reading))
                if after is None:
                    break
                tail = await self._compare(self._requests.interpret(rest, after), rest, after)
                if (both := join_orders(change.reading, tail, after, self._requests.actions())) is None:
                    break
                if isinstance(both, Clarification) and not both.options and isinstance(head, Clarification):
                    break  # the answer would not be about the first order
                joined.append(both)
                if isinstance(both, Clarification) and len(both.options) > 1 < len(changes):
                    break
            if len(joined) == len(changes) > 0:
                whole = joined[0] if isinstance(head, Reading) else join_questions(joined)
                if isinstance(whole, Reading) and not _is_confirmed(whole, interpretation):
                    whole = with_readings_first(Clarification("", ()), (whole,))
                if isinstance(whole, Clarification):
                    whole = with_unsplit_reading(request, whole, interpretation)
                if is_verbless and isinstance(whole, Clarification) and whole.options:
                    others = interpretation.options if isinstance(interpretation, Clarification) else ()
                    options = (*whole.options, *others)[:MAX_OPTIONS]
                    whole = replace(whole, question=question_about(options), options=options)
                return True, whole
        return is_split, None

    def _repeats(self, order: str, state: DialogState) -> bool:
        """Return whether an order says again that a task is done: "tick it off"."""
        request = self._requests.request_of(order, state)
        words = without_marks_at_end(request.tokens)
        return request.language.matches_phrase(words, "compound_requests", "completions")


def _is_confirmed(joined: Reading, unsplit: Interpretation) -> bool:
    """Return whether several orders mean the same as the request before it was split.

    On unseen requests, three of eight plans that ran without this were wrong.
    """
    return isinstance(unsplit, Reading) and have_same_meaning(joined, unsplit)

"""A scripted approver: answers each request in turn and records the requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied

Answer = Decision | Callable[[ApprovalRequest], Decision | Awaitable[Decision]]


def yes(request: ApprovalRequest) -> Decision:
    """Approve the proposal."""
    return Approved(request.proposal)


def unanswered(question_asked: asyncio.Event) -> Answer:
    """Return an answer that sets `question_asked` and then never comes."""

    async def wait(request: ApprovalRequest) -> Decision:
        question_asked.set()
        await asyncio.Event().wait()
        raise AssertionError("the wait ended")

    return wait


class ScriptedApprover:
    """Gives the answers in order and repeats the last one; approves everything if there are none."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers) or [yes]
        self.asked: list[ApprovalRequest] = []

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Record the request and return the next answer."""
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Approved | Denied):
            return answer
        response = answer(request)
        return await response if isinstance(response, Awaitable) else response

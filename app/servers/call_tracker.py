"""Track one client call: its permit to run, its stages, and their events."""

from __future__ import annotations

import uuid
from typing import Literal

from app.errors import LimitError
from app.events import EventBus
from app.servers.client_registry import CallStage, CallStageChanged
from app.servers.fair_queue import FairQueue, RunPermit
from app.servers.vault_access import CallProgress, Client, OnProgress
from app.toolkit.call import CallObserver

MAX_OPEN_QUESTIONS = 32
"""Maximum number of calls per client that wait for the user at once."""

_STAGE_MESSAGES: dict[Literal["queued", "running", "asking", "writing"], str] = {
    "queued": "Waiting for other calls.",
    "running": "Running.",
    "asking": "Waiting for the user's approval.",
    "writing": "Writing the change.",
}


class CallTracker:
    """The state of one call.

    The call holds a permit from the queue while it runs and returns it while it waits for the user: otherwise
    a few unanswered questions would block all other calls.

    Args:
        questions: The number of each client's calls that wait for the user; shared by all calls.
    """

    def __init__(
        self,
        client: Client,
        tool: str,
        queue: FairQueue,
        events: EventBus,
        progress: OnProgress | None,
        questions: dict[tuple[str, str], int],
    ) -> None:
        self.id = uuid.uuid4().hex
        self._client = client
        self._client_key = (client.kind.value, client.name)
        self._tool = tool
        self._queue = queue
        self._events = events
        self._progress = progress
        self._open_questions = questions
        self._permit: RunPermit | None = None
        self._ended = False
        self._is_asking = False

    @property
    def observer(self) -> CallObserver:
        """The observer that the runner notifies during the call."""
        return CallObserver(self._on_question, self._on_started, wait_for_turn=self.wait_for_turn)

    async def wait_for_turn(self) -> None:
        """Wait for a permit to run.

        Raises:
            LimitError: too many calls are waiting.
        """
        self._enter_stage("queued")
        self._permit = await self._queue.acquire(self._client_key)
        if self._ended:
            self._permit.release()
        self._enter_stage("running")

    def end(self) -> None:
        """Stop tracking: the call has ended or was abandoned."""
        self._ended = True
        self._stop_asking()
        if self._permit is not None:
            self._permit.release()
        self._events.publish(CallStageChanged(self._client, self.id, self._tool, "ended"))

    def _on_question(self) -> None:
        if not self._is_asking:
            count = self._open_questions.get(self._client_key, 0)
            if count >= MAX_OPEN_QUESTIONS:
                message = (
                    f"{count} of your calls are already waiting for the user. Try again when one has ended."
                )
                raise LimitError(message, limit=MAX_OPEN_QUESTIONS)
            self._open_questions[self._client_key] = count + 1
            self._is_asking = True
        if self._permit is not None:
            self._permit.release()
        self._enter_stage("asking")

    def _on_started(self) -> None:
        self._stop_asking()
        self._enter_stage("writing")

    def _stop_asking(self) -> None:
        if not self._is_asking:
            return
        self._is_asking = False
        remaining = self._open_questions[self._client_key] - 1
        if remaining:
            self._open_questions[self._client_key] = remaining
        else:
            del self._open_questions[self._client_key]

    def _enter_stage(self, stage: Literal["queued", "running", "asking", "writing"]) -> None:
        self._publish(stage)
        if self._progress is not None:
            self._progress(CallProgress(stage, _STAGE_MESSAGES[stage]))

    def _publish(self, stage: CallStage) -> None:
        self._events.publish(CallStageChanged(self._client, self.id, self._tool, stage))

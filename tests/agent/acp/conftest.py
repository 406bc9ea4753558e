"""A workspace with an external agent."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.agent.transcript import AgentText, Notice, TextStreamed, ToolCard, TurnFinished
from app.agent.turn import UserPrompt
from app.settings import AgentProgram, AgentProgramSettings, AnswerByProgram

SCRIPT = Path(__file__).resolve().parents[2] / "support" / "external_agent.py"


def agent_program(*flags: str, variables: tuple[str, ...] = ()) -> AgentProgram:
    return AgentProgram(
        name="Outsider", command=sys.executable, arguments=(str(SCRIPT), *flags), variables=variables
    )


class AcpConversation:
    """A conversation of a test: sends prompts and waits for the turns' ends."""

    def __init__(self, workspace, program: AgentProgram) -> None:
        self.workspace = workspace
        self.answers(program)
        self.id = workspace.agent.create().id
        self.finished: asyncio.Queue[TurnFinished] = asyncio.Queue()
        self.streamed: list[str] = []
        self.first_word = asyncio.Event()
        workspace.events.subscribe(TurnFinished, self._finish)
        workspace.events.subscribe(TextStreamed, self._hear)

    def answers(self, program: AgentProgram) -> None:
        self.workspace.settings.programs = AgentProgramSettings(programs=(program,))
        self.workspace.settings.agent.answering = AnswerByProgram(name=program.name)

    def _finish(self, event: TurnFinished) -> None:
        if event.conversation == self.id:
            self.finished.put_nowait(event)

    def _hear(self, event: TextStreamed) -> None:
        if event.conversation != self.id:
            return
        self.streamed.append(event.text)
        self.first_word.set()

    def start(self, text, **more) -> str:
        self.first_word.clear()
        return self.workspace.agent.start(self.id, UserPrompt(text, **more))

    async def say(self, text, **more) -> TurnFinished:
        self.start(text, **more)
        return await asyncio.wait_for(self.finished.get(), 60)

    @property
    def items(self):
        return self.workspace.agent.store.items(self.id)

    def all(self, kind):
        return [item for item in self.items if isinstance(item, kind)]

    @property
    def said(self) -> str:
        return "\n".join(item.text for item in self.all(AgentText))

    @property
    def cards(self) -> list[ToolCard]:
        return self.all(ToolCard)

    @property
    def notices(self) -> list[Notice]:
        return self.all(Notice)


@pytest.fixture
def talk(workspace) -> Iterator[AcpConversation]:
    return AcpConversation(workspace, agent_program())

"""Conversations with the agent, their turns, and the options of ACP agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.agent.acp.agent import AcpAgent
    from app.agent.acp.options import AcpOption
    from app.agent.conversations import Conversation
    from app.agent.session import AgentSession
    from app.agent.transcript import AnyItem
    from app.agent.turn import UserPrompt


class AgentService:
    """The conversations with the agent chosen in the settings, and the options of ACP agents.

    Every method that uses the conversations raises StorageError if the disk fails or the file is damaged.
    """

    def __init__(self, session: AgentSession, programs: AcpAgent) -> None:
        self._session = session
        self._programs = programs

    def conversations(self, text: str = "") -> tuple[Conversation, ...]:
        """Return the conversations with `text` in the title or messages, most recently updated first."""
        return self._session.store.list_conversations(text)

    def items(self, conversation: str) -> tuple[AnyItem, ...]:
        """Return a conversation's items in order."""
        return self._session.store.items(conversation)

    def create(self) -> Conversation:
        """Create an empty conversation."""
        return self._session.create()

    def rename(self, conversation: str, title: str) -> None:
        """Rename a conversation."""
        self._session.rename(conversation, title)

    async def delete(self, conversation: str) -> None:
        """Stop the conversation's turn, wait until it ends, and delete the conversation."""
        await self._session.delete(conversation)

    def is_running(self, conversation: str) -> bool:
        """Return whether a turn of this conversation is in progress."""
        return self._session.is_running(conversation)

    def start(self, conversation: str, prompt: UserPrompt, from_position: int | None = None) -> str:
        """Start a turn and return its id.

        Args:
            conversation: The conversation's id.
            prompt: The user's prompt.
            from_position: Replace the items from this position on (“edit and resend”); None appends.

        Raises:
            ConflictError: A turn of this conversation is still in progress.
            StorageError: The prompt cannot be saved; the conversation is unchanged.
        """
        return self._session.start(conversation, prompt, from_position)

    def stop(self, conversation: str) -> None:
        """Stop the turn in progress, if any, and withdraw its question to the user."""
        self._session.stop(conversation)

    def show_messages(self, *, notifies: bool) -> None:
        """Tell senders that a window shows messages to the user.

        Args:
            notifies: Whether it also shows them as system notifications.
        """
        mailbox = self._session.team.mailbox
        mailbox.has_window, mailbox.notifies = True, notifies

    def program_options(self, program: str) -> tuple[AcpOption, ...]:
        """Return the options of an ACP agent; empty before its first conversation."""
        return self._programs.options(program)

    async def set_program_option(self, program: str, option: str, value: str) -> None:
        """Set an option for all current and future conversations of an ACP agent.

        Raises:
            ProgramError: The program rejects the value.
        """
        await self._programs.set_option(program, option, value)

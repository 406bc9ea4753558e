"""Local messages to the user and between agents, saved as items of a conversation."""

from __future__ import annotations

import time

from app.agent.conversations import ConversationStore
from app.agent.transcript import YOU, ConversationsChanged, ItemUpdated, Message, UserMessaged
from app.events import EventBus
from app.permissions.caller import Caller
from app.toolkit.team import Delivery, Metadata

INBOX = "inbox"
"""The id of the conversation for messages that belong to no other."""


class Mailbox:
    """Delivers messages to conversations.

    The front end sets `has_window` (a window shows messages) and `notifies` (it also shows `UserMessaged`
    as a system notification).
    """

    def __init__(self, store: ConversationStore, events: EventBus) -> None:
        self._store = store
        self._events = events
        self.has_window = False
        self.notifies = False

    def notify_user(self, caller: Caller, text: str, metadata: Metadata | None = None) -> Delivery:
        """Deliver a message to the user and return where it is shown.

        The message goes into the call's conversation, or into the "Messages" conversation if there is none.
        It is saved whether or not a window is open.
        """
        is_known = bool(caller.conversation) and self._store.exists(caller.conversation)
        conversation = caller.conversation if is_known else self._inbox()
        position = self.put(conversation, caller, YOU, text, metadata)
        self._events.publish(UserMessaged(conversation, position, caller.name, text))
        location = "this conversation" if is_known else "the Messages conversation"
        if not self.has_window:
            return Delivery((location,), is_displayed=False)
        location = f"{location} in the agent panel"
        return Delivery(
            (location, "the system notifications") if self.notifies else (location,), is_displayed=True
        )

    def put(
        self, conversation: str, caller: Caller, to: str, text: str, metadata: Metadata | None = None
    ) -> int:
        """Append a message to a conversation and return its position."""
        item = Message(
            turn=caller.turn,
            at=time.time(),
            agent=caller.agent,
            sender=caller.name,
            to=to,
            text=text,
            metadata=dict(metadata or {}),
        )
        position = self._store.append(conversation, item)
        self._events.publish(ItemUpdated(conversation, position, item))
        return position

    def new_conversation(self, title: str) -> str:
        """Create a conversation with `title` and return its id."""
        conversation = self._store.create(title)
        self._events.publish(ConversationsChanged())
        return conversation.id

    def _inbox(self) -> str:
        if not self._store.exists(INBOX):
            self._store.create("Messages", INBOX)
            self._events.publish(ConversationsChanged())
        return INBOX

"""Update the cards of saved conversations when changes are undone or restored."""

from __future__ import annotations

from collections.abc import Callable

from app.agent.conversations import ConversationStore
from app.agent.transcript import ItemUpdated
from app.events import EventBus
from app.permissions.audit import AuditAppended, AuditLog
from app.permissions.audit_entry import AuditEntry


class UndoneCards:
    """Marks a call's card when its commit is undone in any interface, and unmarks it when it is restored.

    Args:
        store: The conversations; changed cards are saved there.
        audit: The audit log, which knows the entry that undid another.
        events: Delivers new audit entries and publishes changed cards.
    """

    def __init__(self, store: ConversationStore, audit: AuditLog, events: EventBus) -> None:
        self._store = store
        self._audit = audit
        self._events = events
        self.close: Callable[[], None] = events.subscribe(AuditAppended, self._on_audit_appended)

    def _on_audit_appended(self, event: AuditAppended) -> None:
        pending = list(event.entry.undoes)
        handled: set[int] = set()
        while pending:
            commit = pending.pop()
            if commit in handled:
                continue
            handled.add(commit)
            entry = self._audit.entry_of_commit(commit)
            if entry is not None:
                # Undoing an undo restores what it had undone.
                pending += entry.undoes
                self._mark(commit, entry)

    def _mark(self, commit: int, entry: AuditEntry) -> None:
        for conversation, position, card in self._store.cards_of(commit):
            if card.entry == entry.id and card.undone_by != entry.undone_by:
                changed = card.model_copy(update={"undone_by": entry.undone_by})
                self._store.put(conversation, position, changed)
                self._events.publish(ItemUpdated(conversation, position, changed))

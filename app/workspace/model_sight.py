"""What a model, or a program from outside, may be shown of a vault beside what it asks for by tools."""

from __future__ import annotations

from app.errors import ScriptoriumError
from app.memory.store import MemoryStore, PinnedBlock
from app.permissions.caller import Caller, CallerKind
from app.permissions.policy import Policy
from app.toolkit.memory import agent_of
from app.toolkit.registry import ToolRegistry
from app.toolkit.vault_view import is_private
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath
from app.vault.store import NoteStore

_READER = Caller(CallerKind.DESKTOP_AGENT, "Model")


class ModelSight:
    """Private notes and those that a rule denies are not shown; the memory only where it may be used."""

    def __init__(
        self, store: NoteStore, memory: MemoryStore, policy: Policy, registry: ToolRegistry
    ) -> None:
        self._store = store
        self._memory = memory
        self._policy = policy
        self._registry = registry

    def pinned_for(self, caller: Caller) -> tuple[PinnedBlock, ...]:
        """What a caller's agent has pinned to its context; nothing where it may not use its memory."""
        category = self._registry.category("memory")
        if not category.on or not self._policy.may_call(caller, category.id, "block", "load"):
            return ()
        return self._memory.pinned(agent_of(caller))

    def text(self, path: str) -> str | None:
        """The text of a note that a model may see, None for another."""
        try:
            content = self._store.read(NotePath.on_disk(path))
        except ScriptoriumError:
            return None
        hidden = is_private(content) or self.keeps(NotePath.on_disk(path))
        return None if hidden else decode_lossy(content)

    def keeps(self, path: NotePath) -> bool:
        """Whether a rule denies a model to read the note."""
        return self._policy.may_read(_READER, "read_note", path) != "allow"

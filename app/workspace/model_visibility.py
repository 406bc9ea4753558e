"""Limits on the parts of a vault that a model sees without calling tools: pinned blocks and note texts."""

from __future__ import annotations

from app.errors import ScriptoriumError
from app.index.resolver import Resolver
from app.memory.store import PinnedBlock
from app.permissions.caller import Caller, CallerKind
from app.permissions.policy import Policy
from app.toolkit.memory_service import Memory, VisibleBlocks, agent_key
from app.toolkit.registry import ToolRegistry
from app.vault.markdown.privacy import is_private
from app.vault.markdown.text import decode_lossy
from app.vault.path import NotePath
from app.vault.store import NoteStore

_READER = Caller(CallerKind.DESKTOP_AGENT, "Model")


class ModelVisibility:
    """Decides what may be put into a model's context."""

    def __init__(
        self,
        store: NoteStore,
        resolver: Resolver,
        policy: Policy,
        registry: ToolRegistry,
        memory: Memory,
    ) -> None:
        self._resolver = resolver
        self._store = store
        self._policy = policy
        self._registry = registry
        self._memory = memory

    def pinned_for(self, caller: Caller) -> tuple[PinnedBlock, ...]:
        """Return the pinned blocks of a caller's agent that it may read; none if it may not load blocks."""
        category = self._registry.category("memory")
        if not category.on or not self._policy.may_call(caller, category.id, "block", "load"):
            return ()

        def can_read(place: str, path: NotePath) -> bool:
            return self._policy.may_read(caller, "block", path, place) == "allow"

        return VisibleBlocks(self._memory.store, can_read).pinned(agent_key(caller))

    def visible_text(self, path: str) -> str | None:
        """Return the text of a note; None if it can't be read or a model may not see it."""
        try:
            note = NotePath.on_disk(path)
            content, real_path = self._store.read(note), self._store.real_path(note)
        except ScriptoriumError:
            return None
        is_hidden = (
            (real_path.is_note and is_private(content))
            or self.is_hidden_from_models(note)
            or self.is_hidden_from_models(real_path)
        )
        return None if is_hidden else decode_lossy(content)

    def cited_note(self, target: str) -> tuple[NotePath, str] | None:
        """Return a wikilink's target note and its text; None if unresolved or a model may not see it."""
        path = self._resolver.resolve(target, None).path
        text = None if path is None else self.visible_text(str(path))
        return None if path is None or text is None else (path, text)

    def is_hidden_from_models(self, path: NotePath) -> bool:
        """Return whether a rule hides the note from models."""
        return self._policy.may_read(_READER, "read_note", path) != "allow"

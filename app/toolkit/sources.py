"""Source folders as document stores for the gate, with their permissions and the tool for their files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.errors import ScriptoriumError
from app.memory.changes import MEMORY_PLACE as MEMORY
from app.memory.labels import label_from_path
from app.memory.serialization import parse_block
from app.permissions.caller import Caller, CallerKind
from app.permissions.store_policy import StoreVerdict
from app.sources.file_source import FileSource
from app.sources.source import SourcesChanged
from app.sources.working_copy import HASH_KEY, PATH_KEY, SOURCE_KEY
from app.toolkit.document_stores import DocumentsChanged, StoreBinding, StoreRegistry
from app.toolkit.memory_service import agent_key
from app.vault.changes import ChangeSet, Create, Update

if TYPE_CHECKING:
    from app.events import EventBus
    from app.sources.sources import Sources
    from app.toolkit.registry import ToolRegistry
    from app.toolkit.tool import Tool
    from app.vault.journal import Journal


class SourcesGate:
    """Opens folders to the gate and closes them; the file tool is registered while one is open.

    Args:
        stores: The registry in which folders are opened.
        registry: The registry in which the tool is registered.
        tool: The tool for source files.
    """

    def __init__(self, stores: StoreRegistry, registry: ToolRegistry, tool: Tool) -> None:
        self._stores = stores
        self._registry = registry
        self._tool = tool
        self._open_count = 0
        self._unregister: Callable[[], None] | None = None

    def open(self, source: FileSource) -> Callable[[], None]:
        """Open the folder; the returned function closes it.

        Raises:
            InvalidParametersError: the folder is already open.
        """
        binding = StoreBinding(source.store, f"the folder {source.config.name}", store_policy_of(source))
        close_store = self._stores.add(binding)
        self._open_count += 1
        if self._unregister is None:
            self._unregister = self._registry.register(self._tool)

        is_open = True

        def close() -> None:
            nonlocal is_open
            if not is_open:
                return
            is_open = False
            close_store()
            self._open_count -= 1
            if not self._open_count and self._unregister is not None:
                self._unregister()
                self._unregister = None

        return close


def store_policy_of(source: FileSource) -> Callable[[ChangeSet, Caller], StoreVerdict | None]:
    """Return the policy that applies a folder's permissions; the user is exempt from them."""

    def store_policy(change_set: ChangeSet, caller: Caller) -> StoreVerdict | None:
        if caller.kind is CallerKind.USER:
            return None
        verdicts = [source.rules.evaluate(change, agent_key(caller)) for change in change_set.changes]
        strictest = next((verdict for verdict in verdicts if verdict.effect == "deny"), verdicts[0])
        return StoreVerdict(strictest.effect, strictest.reason)

    return store_policy


def authorize_loading(sources: Sources, change_set: ChangeSet, caller: Caller) -> StoreVerdict | None:
    """Allow a file to be loaded or reloaded into the agent's own block, regardless of the file's permission.

    The permission restricts the agent's own edits. Here the block receives the file's content, which is
    verified byte for byte. Return None for any other change, which the block's own permission governs.
    """
    if change_set.place != MEMORY or len(change_set.changes) != 1:
        return None
    change = change_set.changes[0]
    if not isinstance(change, Create | Update):
        return None
    try:
        after = parse_block(change.after)
        before = parse_block(change.before) if isinstance(change, Update) else None
    except ScriptoriumError:
        return None
    source = next(
        (
            file_source
            for file_source in sources.open_folders()
            if file_source.config.id == after.origin.get(SOURCE_KEY)
        ),
        None,
    )
    agent = agent_key(caller)
    if source is None or after.owner != agent:
        return None
    path = source.resolve_path(after.origin.get(PATH_KEY, ""))
    if after.label != source.label(path):
        return None
    if before is not None and before.origin.get(SOURCE_KEY) != source.config.id:
        return None
    sharing_is_unchanged = (
        before.views == after.views and before.shares == after.shares if before else not after.shares
    )
    allowed_permission = source.permission(path, agent)
    is_as_on_disk = sources.was_on_disk(source.config.id, after.origin.get(HASH_KEY, ""), after.text.encode())
    if sharing_is_unchanged and after.permission == allowed_permission and is_as_on_disk:
        return StoreVerdict("allow", "loads a file unchanged into the agent's own memory")
    return None


def follow_commits(sources: Sources, journal: Journal, events: EventBus) -> Callable[[], None]:
    """Notify the sources of commits to their folders; the returned function unsubscribes."""

    def on_documents_changed(event: DocumentsChanged) -> None:
        if event.place.startswith("files-"):
            commit = journal.commit(event.commit)
            changed = tuple((change.final_path, change.after) for change in commit.changes)
            sources.record_commit(event.place, changed, undo=bool(commit.undoes))
        elif event.place == MEMORY and any(label_from_path(path).startswith("file:") for path in event.paths):
            events.publish(
                SourcesChanged(tuple(file_source.config.id for file_source in sources.open_folders()))
            )

    return events.subscribe(DocumentsChanged, on_documents_changed)

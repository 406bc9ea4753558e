"""A folder outside the vault behind the same gate: approved, journaled, undone, by its own permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import InvalidParametersError, NotFoundError
from app.permissions.approval import Denied
from app.permissions.caller import Caller
from app.permissions.scope import Operation
from app.permissions.store_policy import StoreVerdict
from app.settings import Effect, PermissionSettings, Rule
from app.toolkit.context import ToolContext
from app.toolkit.document_stores import DocumentsChanged, StoreBinding
from app.toolkit.outcome import ToolOutcome
from app.toolkit.proposal import Proposal
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.tools.history import undo
from app.vault.changes import ChangeSet, Create, Update
from app.vault.path import NotePath
from app.vault.store import NoteStore
from tests.toolkit.conftest import AGENT, Bench

DESK = "files-desk"
LIST = NotePath("List.md")


@tool(category="notes")
async def put(context: ToolContext, text: str) -> Proposal[ToolResult]:
    """Write the list on the desk.

    Args:
        text: What it is to hold.
    """
    before = BEFORE[-1]
    change = Create(LIST, text.encode()) if before is None else Update(LIST, before, text.encode())
    return context.propose(ChangeSet.of(change, summary="The list", place=DESK), ToolResult(message="Put."))


BEFORE: list[bytes | None] = [None]


class FolderStore:
    """The folder `desk` as a store, with a permission that the test sets."""

    def __init__(self, bench: Bench, folder: Path, data: Path) -> None:
        folder.mkdir()
        self.bench = bench
        self.access: Effect = "ask"
        self.store = NoteStore(folder, bench.journal, place=DESK, log_folder=data)
        self.close = bench.runner.stores.add(StoreBinding(self.store, "the folder Desk", self._access))
        bench.registry.register(put)
        bench.registry.register(undo)

    def _access(self, changes: ChangeSet, caller: Caller) -> StoreVerdict:
        return StoreVerdict(self.access, "the desk says so")

    async def write(self, text: str, caller: Caller = AGENT) -> ToolOutcome:
        BEFORE.append(self.store.read(LIST) if self.store.exists(LIST) else None)
        return await self.bench.call("put", {"text": text}, caller)

    def text(self) -> str:
        return self.store.read(LIST).decode()


@pytest.fixture
def desk(bench: Bench, tmp_path: Path) -> FolderStore:
    return FolderStore(bench, tmp_path / "desk", tmp_path / "desk-data")


async def test_a_change_in_another_store_is_approved_journaled_and_published(
    bench: Bench, desk: FolderStore
) -> None:
    outcome = await desk.write("one\n")
    assert outcome.success and desk.text() == "one\n"
    request = bench.approver.asked[-1]
    assert (request.scope.store_id, request.scope.store_name) == (DESK, "the folder Desk")
    assert request.reason == "the desk says so" and not request.offers
    assert outcome.commit is not None and bench.journal.commit(outcome.commit).place == DESK
    assert bench.journal.history(LIST) == ()
    assert len(bench.journal.history(LIST, place=DESK)) == 1
    told = bench.of(DocumentsChanged)[-1]
    assert isinstance(told, DocumentsChanged) and (told.place, told.paths) == (DESK, (LIST,))
    assert "in the folder Desk" in bench.last().scope
    assert not bench.index.resolver.suggest("List")


async def test_the_permissions_of_a_store_allow_ask_or_deny(bench: Bench, desk: FolderStore) -> None:
    desk.access = "allow"
    assert (await desk.write("one\n")).success and not bench.approver.asked
    desk.access = "deny"
    refused = await desk.write("two\n")
    assert refused.error is not None and refused.error["type"] == "permission_denied"
    desk.access = "ask"
    bench.approver.answers.append(Denied("no"))
    assert (await desk.write("three\n")).denied
    assert desk.text() == "one\n"


async def test_grants_for_the_vault_do_not_apply_to_other_stores(bench: Bench, desk: FolderStore) -> None:
    bench.grants.set_session(Operation.CREATE, True)
    assert (await bench.call("make", {"name": "Free"})).success and not bench.approver.asked
    await desk.write("one\n")
    assert len(bench.approver.asked) == 1


@pytest.mark.parametrize(
    ("effect", "glob", "refused"),
    [
        ("deny", "**", True),
        ("deny", "files-*:**", True),
        ("deny", "files-desk:List", True),
        ("deny", "List.md", False),
        ("deny", "memory:**", False),
        ("deny", "files-desk:Other/**", False),
    ],
)
async def test_rules_select_a_store_by_a_prefix(
    bench: Bench, desk: FolderStore, effect: Effect, glob: str, refused: bool
) -> None:
    rule = Rule(effect=effect, operations=("create", "update"), glob=glob)
    bench.policy.configure(PermissionSettings(rules=(rule,)))
    outcome = await desk.write("one\n")
    assert outcome.success is not refused


async def test_allow_rules_for_the_vault_do_not_apply_to_other_stores(
    bench: Bench, desk: FolderStore
) -> None:
    bench.policy.configure(PermissionSettings(rules=(Rule(effect="allow", glob="**"),)))
    await desk.write("one\n")
    assert len(bench.approver.asked) == 1


async def test_undo_of_a_call_and_of_a_turn_across_two_stores(bench: Bench, desk: FolderStore) -> None:
    await bench.call("make", {"name": "New"})
    await desk.write("one\n")
    first = await bench.call("undo", {"turn": AGENT.turn})
    assert first.success and first.result["left"] == 1
    assert not (bench.root / "New.md").exists() and desk.text() == "one\n"
    second = await bench.call("undo", {"turn": AGENT.turn})
    assert second.success and second.result["left"] == 0
    assert not desk.store.exists(LIST)


async def test_undo_in_another_store_keeps_later_edits(desk: FolderStore, bench: Bench) -> None:
    await desk.write("one\ntwo\nthree\n")
    entry = (await desk.write("ONE\ntwo\nthree\n")).entry
    (desk.store.root / "List.md").write_text("ONE\ntwo\nthree\nfour\n", "utf-8")
    assert (await bench.call("undo", {"entry": entry})).success
    assert desk.text() == "one\ntwo\nthree\nfour\n"


async def test_a_closed_store_is_neither_written_nor_undone(bench: Bench, desk: FolderStore) -> None:
    entry = (await desk.write("one\n")).entry
    desk.close()
    assert (await desk.write("two\n")).error is not None
    outcome = await bench.call("undo", {"entry": entry})
    assert outcome.error is not None and outcome.error["type"] == "not_found"
    assert desk.text() == "one\n"
    with pytest.raises(NotFoundError):
        bench.runner.stores.get(DESK)


async def test_a_store_is_opened_once_and_accepts_only_its_own_changes(
    bench: Bench, desk: FolderStore
) -> None:
    with pytest.raises(InvalidParametersError):
        bench.runner.stores.add(StoreBinding(desk.store, "again"))
    with pytest.raises(InvalidParametersError):
        desk.store.commit(ChangeSet.of(Create(LIST, b"")), author="You")
    with pytest.raises(InvalidParametersError):
        bench.store.commit(ChangeSet.of(Create(LIST, b""), place=DESK), author="You")

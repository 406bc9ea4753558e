"""The plug-in in a test vault, through the same runner and gate as the app's tools."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.permissions.approval import ApprovalRequest, Approved, Decision
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings
from app.toolkit.call import Call
from app.workspace import VaultService, open_vault

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent", uses_model=False)
NOTES = {
    "Ada Byron.md": '---\ntype: user\nemail: ada@example.org\ntenant: "[[Engines]]"\n---\nWrites programs.\n',
    "Charles.md": '---\ntype: user\ntenant: "[[Engines]]"\n---\n',
    "Engines.md": "---\ntype: tenant\nplan: large\n---\nBuilds mills.\n",
    "Mill is stuck.md": '---\ntype: ticket\nstatus: open\nuser: "[[Ada Byron]]"\n---\nIt does not carry.\n',
    "Old one.md": '---\ntype: ticket\nstatus: closed\nuser: "[[Charles]]"\n---\nSolved.\n',
}


class Yes:
    """Approves every request and records it."""

    def __init__(self) -> None:
        self.asked: list[ApprovalRequest] = []

    async def decide(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        return Approved(request.proposal)


@pytest.fixture
def approver() -> Yes:
    return Yes()


@pytest.fixture
async def vault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, approver: Yes
) -> AsyncIterator[VaultService]:
    for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
        monkeypatch.setenv(f"SCRIPTORIUM_{name}", str(tmp_path / name.lower()))
    root = tmp_path / "Vault"
    root.mkdir()
    for name, text in NOTES.items():
        (root / name).write_text(text, "utf-8")
    settings = Settings()
    settings.embeddings.enabled = False
    settings.permissions.categories = {"customer_support": True}
    opened = await open_vault(root, settings, approver)
    try:
        await opened.start_scan(lambda progress: None)
        yield opened
    finally:
        await opened.close()


async def call(vault: VaultService, tool: str, **arguments: object):
    return await vault.call(Call.of(tool, arguments, AGENT))


def names(outcome) -> list[str]:
    return [record["name"] for record in outcome.result["records"]]


async def test_users_are_found_by_name_and_properties(vault: VaultService, approver: Yes) -> None:
    assert names(await call(vault, "user", op="find", query="EXAMPLE.org ada")) == ["Ada Byron"]
    assert names(await call(vault, "user", op="find", query="engines")) == ["Ada Byron", "Charles"]
    assert names(await call(vault, "user", op="find", query="mill")) == []
    assert not approver.asked


async def test_an_update_changes_only_the_lines_of_the_properties(vault: VaultService, approver: Yes) -> None:
    outcome = await call(vault, "user", op="update", name="Ada Byron", properties={"email": "a@b.org"})
    assert outcome.success and len(approver.asked) == 1
    expected = NOTES["Ada Byron.md"].replace("ada@example.org", "a@b.org")
    assert (vault.root / "Ada Byron.md").read_text("utf-8") == expected


async def test_a_tenant_is_read_with_its_users(vault: VaultService) -> None:
    outcome = await call(vault, "tenant", op="read", name="Engines")
    assert names(outcome) == ["Engines", "Ada Byron", "Charles"]


async def test_tickets_are_searched_by_words_status_user_and_tenant(vault: VaultService) -> None:
    assert names(await call(vault, "ticket", op="search", status="open")) == ["Mill is stuck"]
    assert names(await call(vault, "ticket", op="search", about="charles")) == ["Old one"]
    assert names(await call(vault, "ticket", op="search", query="mill")) == ["Mill is stuck"]


async def test_a_ticket_gets_a_status_and_a_comment_in_one_change(vault: VaultService, approver: Yes) -> None:
    outcome = await call(
        vault, "ticket", op="update", name="Mill is stuck", status="solved", comment="Oiled the mill."
    )
    text = (vault.root / "Mill is stuck.md").read_text("utf-8")
    assert outcome.success and len(approver.asked) == 1
    assert "status: solved" in text and text.endswith("It does not carry.\n\nOiled the mill.\n")


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("user", {"op": "read", "name": "Engines"}, "not_found"),
        ("user", {"op": "update", "name": "Charles", "properties": {"type": "tenant"}}, "invalid_parameters"),
        ("user", {"op": "find"}, "invalid_parameters"),
        ("ticket", {"op": "update", "name": "Old one"}, "invalid_parameters"),
        ("ticket", {"op": "update", "name": "Nobody", "status": "open"}, "not_found"),
    ],
)
async def test_an_invalid_call_is_an_error(vault: VaultService, approver: Yes, tool, arguments, error):
    outcome = await call(vault, tool, **arguments)
    assert outcome.error["type"] == error and not approver.asked

"""Read rules apply to other stores than the vault: blocks, the archive, files of source folders."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.memory.block import Permission
from app.permissions.caller import Caller, CallerKind
from app.permissions.grants import Grants
from app.permissions.policy import Policy
from app.servers.vault_access import Client
from app.settings import PermissionSettings, Rule
from app.toolkit.call import Call
from app.vault.path import NotePath
from tests.sources.conftest import SourcesBench, desk  # noqa: F401 (a fixture)
from tests.support.tool_calls import AGENT, call
from tests.tools.test_memory import kind_of, make

CLIENT = Caller(CallerKind.MCP, "Client")


def deny(workspace, *globs: str, effect: str = "deny") -> None:
    rules = tuple(
        Rule.model_validate(
            {"effect": effect, "glob": glob, "operations": ("read",), "caller": "desktop-agent"}
        )
        for glob in globs
    )
    workspace.change_settings("permissions", rules=rules)


@pytest.mark.parametrize("effect", ["deny", "ask"])
async def test_a_block_hidden_by_a_rule_does_not_exist(workspace, approver, effect) -> None:
    await make(workspace, "secret plan", content="the treasure\n")
    await make(workspace, "open")
    await call(workspace, "block", op="pin", label="secret plan")
    deny(workspace, "memory:*/secret*", effect=effect)
    blocks = (await call(workspace, "block", op="list")).result["blocks"]
    assert {one["label"] for one in blocks} == {"human", "persona", "open"}
    for tool, arguments in (
        ("block", {"op": "load", "label": "secret plan"}),
        ("block", {"op": "info", "label": "secret plan"}),
        ("block", {"op": "unpin", "label": "Secret Plan"}),
        ("block", {"op": "load", "label": "secret pln"}),
        ("block_edit", {"op": "append", "label": "secret plan", "content": "x"}),
    ):
        refused = await call(workspace, tool, **arguments)
        assert kind_of(refused) == "not_found" and "treasure" not in str(refused)
        assert "secret plan" not in str(refused.error["suggestions"]) + str(refused.error["blocks"])
    workspace.registry.set_category("memory_context", on=True)
    swapped = await call(workspace, "context", op="swap", archive_label="open", load_label="secret plan")
    assert kind_of(swapped) == "not_found"
    assert "secret plan" not in {one.label for one in workspace._model_visibility.pinned_for(AGENT)}
    # A caller that the rule does not name sees it, and it is unchanged.
    mine = Caller.user()
    assert (await call(workspace, "block", mine, op="load", label="secret plan")).result[
        "text"
    ] == "the treasure\n"
    assert not approver.asked


async def test_the_archive_is_searched_without_hidden_entries(workspace) -> None:
    for text in ("Green tea.", "Black tea.", "White tea."):
        assert (await call(workspace, "recall", op="insert", content=text)).success
    entries = (await call(workspace, "recall", op="search", query="tea")).result["entries"]
    hidden = entries[0]["entry"]
    deny(workspace, f"memory:*/@archive/{hidden}")
    left = (await call(workspace, "recall", op="search", query="tea", limit=2)).result["entries"]
    assert {one["entry"] for one in left} == {one["entry"] for one in entries[1:]}
    deny(workspace, "memory:**")
    assert not (await call(workspace, "recall", op="search", query="tea")).result["entries"]
    everywhere = await call(workspace, "search", query="tea", domain="archival_memory")
    assert everywhere.result["results"] == []


async def test_a_rule_for_the_whole_vault_applies_to_every_store(workspace) -> None:
    await make(workspace, "plan")
    deny(workspace, "**")
    assert (await call(workspace, "block", op="list")).result["blocks"] == []


async def test_clients_see_no_hidden_labels(workspace) -> None:
    client = Client(CallerKind.MCP, "Client")
    for label in ("open", "secret"):
        outcome = await call(workspace, "block", CLIENT, op="create", label=label, content="x")
        assert outcome.success, outcome
    assert "secret" in await workspace.endpoints.local_vault.complete(client, "block", "se")
    rule = Rule(effect="deny", glob="memory:*/secret", operations=("read",), caller="Client")
    workspace.change_settings("permissions", rules=(rule,))
    assert await workspace.endpoints.local_vault.complete(client, "block", "se") == []
    assert await workspace.endpoints.local_vault.complete(client, "block", "op") == ["open"]


async def test_a_file_outside_hidden_by_a_rule_does_not_exist(desk: SourcesBench) -> None:  # noqa: F811
    await desk.add(("**", Permission.READ_WRITE))
    desk.write("private/Diary.txt", "my diary\n")
    assert (await desk.file("load", "private/Diary.txt")).success
    label = f"file:{desk.source.hash8}:private/Diary.txt"
    deny(desk.workspace, f"files-{desk.source.hash8}:private/**")
    outcome = await desk.file("list")
    assert "private" not in str(outcome.result["files"]) and "Plan.txt" in str(outcome.result["files"])
    for op in ("load", "status", "diff", "reload", "save"):
        refused = await desk.file(op, "private/Diary.txt")
        assert kind_of(refused) == "not_found" and "diary\n" not in str(refused)
    assert "private" not in str((await desk.file("status")).result)
    # The block that it was loaded into is hidden with it.
    loaded = await desk.workspace.runner.run(Call.of("block", {"op": "load", "label": label}, AGENT))
    assert kind_of(loaded) == "not_found"
    second_outcome = await desk.workspace.runner.run(
        Call.of("source", {"op": "status", "source_id": "desk"}, AGENT)
    )
    assert "Diary" not in str(second_outcome.result)
    assert (await desk.file("load", "Plan.txt")).success


PLACES = st.sampled_from(["memory:", "files-*:", "files-1a2b:", ""])
RULES = st.lists(
    st.builds(
        lambda effect, place, glob: Rule(effect=effect, glob=f"{place}{glob}", operations=("read",)),
        st.sampled_from(["allow", "ask", "deny"]),
        PLACES,
        st.sampled_from(["**", "a/**", "a/b", "*/b"]),
    ),
    max_size=5,
)


@given(RULES, st.randoms())
def test_deny_beats_ask_beats_allow_in_every_store(tmp_path_factory, rules, random) -> None:
    grants = Grants(Path(tmp_path_factory.getbasetemp()))
    turned = list(rules)
    random.shuffle(turned)
    for place in ("", "memory", "files-1a2b"):
        said = [
            Policy(PermissionSettings(rules=tuple(some)), grants).may_read(
                CLIENT, "block", NotePath.parse("a/b"), place
            )
            for some in (rules, turned)
        ]
        effects = {
            rule.effect
            for rule in rules
            if (rule.glob == "**" and rule.effect != "allow")
            or (
                place
                and rule.glob.partition(":")[0] in (place, "files-*" if place[0] == "f" else "")
                and ":" in rule.glob
            )
            or (not place and ":" not in rule.glob)
        }
        assert said[0] == said[1]
        assert said[0] == ("deny" if "deny" in effects else "ask" if "ask" in effects else "allow")

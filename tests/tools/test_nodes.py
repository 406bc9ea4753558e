"""The tools of the category nodes, on the sample vault."""

from __future__ import annotations

import pytest

from app.permissions.approval import Approved, Denied
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation
from app.vault.markdown.scan import scan
from app.vault.path import NotePath
from tests.support.tool_calls import call

MODEL = Caller(CallerKind.DESKTOP_AGENT, "Agent", turn="t", uses_model=True)
BEAT = "Claims/Timekeepers beat the Moon.md"
MOON = "Claims/The Moon was good enough.md"


def text(workspace, path):
    return workspace.store.read(NotePath(path)).decode()


async def test_create_node_writes_type_and_properties_and_analyzes(workspace, approver):
    content = {
        "title": "The watch kept time",
        "text": "The watch H4 kept time on the voyage to Jamaica.",
        "folder": "Claims",
        "confidence": 0.7,
        "tags": ["claim"],
    }
    outcome = await call(workspace, "create_node", type="Observation", content=content)
    assert outcome.success and outcome.result["node_id"] == "Claims/The watch kept time.md"
    assert text(workspace, "Claims/The watch kept time.md") == (
        "---\ntype: observation\nconfidence: 0.7\ntags:\n  - claim\n---\n"
        "The watch H4 kept time on the voyage to Jamaica.\n"
    )
    record = workspace.index.note(NotePath("Claims/The watch kept time.md"))
    assert record is not None and (record.type, record.confidence, record.tags) == (
        "observation",
        0.7,
        ("claim",),
    )
    second_outcome = await call(workspace, "create_node", type="observation", content=content)
    assert second_outcome.error["type"] == "conflict" and len(approver.asked) == 1


@pytest.mark.parametrize(
    ("kind", "content", "names"),
    [
        ("observation", {}, "title"),
        ("!", {"title": "x"}, "type"),
        ("note", {"title": "x", "confidence": 2}, "0 to 1"),
    ],
)
async def test_create_node_refuses_what_is_no_node(workspace, approver, kind, content, names):
    outcome = await call(workspace, "create_node", type=kind, content=content)
    assert outcome.error["type"] == "invalid_parameters" and names in outcome.error["message"]
    assert not approver.asked


async def test_a_node_without_a_title_is_named_by_its_words(workspace):
    said = {"text": "# It: lost/gained 5 seconds?\nMore."}
    outcome = await call(workspace, "create_node", type="observation", content=said, auto_analyze=False)
    assert outcome.result["node_id"] == "It lost gained 5 seconds.md"


async def test_get_node_lists_relations_both_ways_with_ids_that_resolve(workspace):
    outcome = await call(workspace, "get_node", node_id="Error of H4 to Jamaica")
    assert "is an observation with" in outcome.message
    node = (await call(workspace, "get_node", node_id="Timekeepers beat the Moon")).result
    assert node["type"] == "hypothesis" and node["node_id"] == BEAT
    edges = [*node["relationships"], *node["incoming"]]
    assert f"{BEAT} -[CONTRADICTS]-> {MOON}" in [one["edge_id"] for one in edges]
    for one in edges:
        second_outcome = await call(workspace, "summarize_relationship", edge_id=one["edge_id"])
        assert second_outcome.success and second_outcome.result["edge_id"] == one["edge_id"], one


async def test_update_node_changes_only_its_own_lines(workspace):
    before = text(workspace, BEAT)
    outcome = await call(workspace, "update_node", node_id=BEAT, updates={"confidence": 0.5})
    assert outcome.success
    changed = [
        (old, new)
        for old, new in zip(before.splitlines(), text(workspace, BEAT).splitlines(), strict=True)
        if old != new
    ]
    assert [new for _, new in changed] == ["confidence: 0.5"]
    second_outcome = await call(workspace, "update_node", node_id=BEAT, updates={"confidence": None})
    assert second_outcome.success and "confidence:" not in text(workspace, BEAT).split("---")[1]
    assert (await call(workspace, "update_node", node_id=BEAT, updates={})).error[
        "type"
    ] == "invalid_parameters"


async def test_update_node_replaces_the_text_and_analyzes_again(workspace):
    updates = {"text": "John Harrison built H4, a marine chronometer."}
    outcome = await call(workspace, "update_node", node_id="Gimbal", updates=updates, re_analyze=True)
    assert outcome.success and text(workspace, "Concepts/Gimbal.md").endswith("a marine chronometer.\n")


async def test_delete_node_with_cascade_removes_its_relations_and_undo_restores_them(workspace, approver):
    sources = [NotePath(p) for p in ("Sources/Nautical Almanac.md", "People/James Cook.md", BEAT)]
    before = {path: workspace.store.read(path) for path in (*sources, NotePath(MOON))}
    outcome = await call(workspace, "delete_node", node_id=MOON, cascade=True)
    assert outcome.success and outcome.result["relationships_removed"] >= 5
    assert not workspace.store.exists(NotePath(MOON)) and len(approver.asked) == 1
    assert "[[The Moon was good enough]]" not in text(workspace, "Sources/Nautical Almanac.md")
    assert (await call(workspace, "undo")).success
    assert {path: workspace.store.read(path) for path in before} == before


async def test_a_denied_delete_leaves_everything(workspace, approver):
    approver.answers = [Denied("Keep it.")]
    outcome = await call(workspace, "delete_node", node_id=MOON)
    assert outcome.denied and outcome.words == "Keep it." and workspace.store.exists(NotePath(MOON))


async def test_find_related_nodes_gives_reasons_and_links_only_what_is_likely(workspace, approver):
    outcome = await call(workspace, "find_related_nodes", node_id="H4", min_similarity=0.1, limit=5)
    related_nodes = outcome.result["related_nodes"]
    assert 0 < len(related_nodes) <= 5 and not approver.asked
    assert all(one["reasoning"] and one["id"] != "Instruments/H4.md" for one in related_nodes)
    scores = [one["similarity_score"] for one in related_nodes]
    assert scores == sorted(scores, reverse=True) and min(scores) >= 0.1
    only = await call(
        workspace, "find_related_nodes", node_id="H4", min_similarity=0.0, node_types=["Observation"]
    )
    assert {one["type"] for one in only.result["related_nodes"]} == {"observation"}


async def test_find_related_nodes_writes_relations_where_asked(workspace, approver):
    twin = "Watches won.\n\nTimekeepers beat the Moon: they were quicker to use at sea.\n"
    for number in (1, 2):
        third_outcome = await call(workspace, "create_note", name=f"Watches won {number}", content=twin)
        assert third_outcome.success
    outcome = await call(workspace, "find_related_nodes", node_id="Watches won 1", auto_link=True)
    assert outcome.result["links_created"] == 1
    (relation,) = scan(text(workspace, "Watches won 1.md")).relations
    assert relation.link.target == "Watches won 2" and 0.8 <= relation.confidence <= 1
    second_outcome = await call(workspace, "find_related_nodes", node_id="Watches won 1", auto_link=True)
    assert second_outcome.result["links_created"] == 0
    workspace.analysis.reject("Watches won 2.md", "Watches won 1.md")
    other = await call(workspace, "find_related_nodes", node_id="Watches won 2", auto_link=True)
    assert other.result["links_created"] == 0


async def test_auto_link_writes_no_type_without_evidence(workspace, approver):
    same = "The marine chronometer of John Harrison kept the time of Greenwich on the voyage to Jamaica."
    for name, kind in (("Seen", "observation"), ("Guess", "hypothesis")):
        content = {"title": name, "text": same}
        await call(workspace, "create_node", type=kind, content=content, auto_analyze=False)
    outcome = await call(workspace, "find_related_nodes", node_id="Seen", auto_link=True, limit=1)
    (related_nodes,) = outcome.result["related_nodes"]
    assert (related_nodes["id"], related_nodes["suggested_relationship"], related_nodes["evidence"]) == (
        "Guess.md",
        "SUPPORTS",
        [],
    )
    (relation,) = scan(text(workspace, "Seen.md")).relations
    assert (relation.type, relation.link.target) == ("RELATES_TO", "Guess")


async def test_related_nodes_that_agree_by_a_negation_are_no_contradiction(workspace):
    for name, said in (
        ("Sport", "Exercise improves sleep quality."),
        ("Trial", "Exercise does not harm sleep; it improves sleep quality."),
        ("Doubt", "Exercise does not improve sleep quality."),
    ):
        content = {"title": name, "text": said}
        await call(workspace, "create_node", type="claim", content=content, auto_analyze=False)
    outcome = await call(workspace, "find_related_nodes", node_id="Sport", min_similarity=0.1)
    kinds = {one["id"]: one["suggested_relationship"] for one in outcome.result["related_nodes"]}
    assert kinds["Trial.md"] != "CONTRADICTS" and kinds["Doubt.md"] == "CONTRADICTS"


async def test_summarize_node_keeps_to_the_length_and_says_how(workspace):
    outcome = await call(workspace, "summarize_node", node_id="John Harrison", max_length=150)
    assert (
        0 < len(outcome.result["summary"]) <= 150 and "most central sentences" in outcome.result["reasoning"]
    )
    assert outcome.result["key_points"] and outcome.result["related_count"] == 0
    body = text(workspace, "People/John Harrison.md")
    assert "[[" not in outcome.result["summary"] and body
    more = await call(
        workspace, "summarize_node", node_id="John Harrison", include_relationships=True, style="bullets"
    )
    assert more.result["related_count"] >= 2 and more.result["summary"].startswith("- ")
    assert "supports [[Timekeepers beat the Moon]]" in more.result["key_points"]
    assert not any(".md" in point or point.isupper() for point in more.result["key_points"])
    second_outcome = await call(workspace, "summarize_node", node_id="John Harrison", style="sentence")
    assert second_outcome.result["summary"]
    short = await call(workspace, "summarize_node", node_id="John Harrison", max_length=3)
    assert short.error["type"] == "invalid_parameters"


async def test_the_context_follows_relations_to_the_depth(workspace):
    result = (await call(workspace, "summarize_node_with_context", node_id=BEAT)).result
    assert any("John Harrison" in one for one in result["context"]["supports"])
    assert any("The Moon was good enough" in one for one in result["context"]["contradicts"])
    entries = (await call(workspace, "summarize_node_with_context", node_id=BEAT, depth=2)).result
    lines = [one for group in entries["context"].values() for one in group]
    assert any("2 steps away" in one for one in lines) and len(lines) > sum(
        map(len, result["context"].values())
    )
    # Support for a contradiction counts against the claim.
    assert any("Nevil Maskelyne" in one for one in entries["context"]["contradicts"])
    typed = await call(
        workspace, "summarize_node_with_context", node_id=BEAT, relationship_types=["supports"]
    )
    assert not typed.result["context"]["contradicts"] and typed.result["context"]["supports"]
    assert "10 notes support it and 4 notes contradict it" in result["synthesis"]


async def test_recalculate_node_confidence_proposes_the_value_with_every_factor(workspace, approver):
    outcome = await call(workspace, "recalculate_node_confidence", node_id=BEAT)
    revision = outcome.result
    assert revision["old_confidence"] == pytest.approx(0.74, abs=0.3) and 0 < revision["new_confidence"] < 1
    assert any(one["factor"] == "Supported by John Harrison" for one in revision["factors"])
    assert any(
        "The Moon was good enough" in one["factor"] and one["impact"].startswith("-")
        for one in revision["factors"]
    )
    assert scan(text(workspace, BEAT)).confidence == revision["new_confidence"] and len(approver.asked) == 1
    alone = await call(workspace, "recalculate_node_confidence", node_id=BEAT, factor_in_relationships=False)
    assert len(alone.result["factors"]) == 1


async def test_reclassify_warns_of_what_is_lost(workspace):
    outcome = await call(workspace, "reclassify_node", node_id=BEAT, new_type="Observation")
    assert outcome.result["old_type"] == "hypothesis" and outcome.result["new_type"] == "observation"
    assert scan(text(workspace, BEAT)).type == "observation"
    count = len(scan(text(workspace, BEAT)).relations)
    missing = await call(
        workspace, "reclassify_node", node_id=BEAT, new_type="note", preserve_relationships=False
    )
    assert f"{count} relation" in missing.result["warning"] and not scan(text(workspace, BEAT)).relations
    same = await call(workspace, "reclassify_node", node_id=BEAT, new_type="note")
    assert same.result["warning"] is None and "already" in same.message


async def test_merge_rewrites_links_and_relations_in_one_change_set_and_undo_restores(workspace, approver):
    paths = [record.path for record in workspace.index.notes()]
    before = {path: workspace.store.read(path) for path in paths}
    linking = {link.source for link in workspace.index.backlinks(NotePath(MOON))} - {NotePath(BEAT)}
    outcome = await call(workspace, "merge_nodes", primary_node_id=BEAT, secondary_node_id=MOON)
    assert outcome.success and len(approver.asked) == 1
    assert not workspace.store.exists(NotePath(MOON))
    assert set(outcome.result["rewritten"]) == {str(path) for path in linking}
    assert not outcome.result["left_out"] and "requires_confirmation" not in outcome.result
    for path in linking:
        assert "[[The Moon was good enough" not in text(workspace, str(path))
    merged = text(workspace, BEAT)
    assert "The Moon was good enough" in scan(merged).aliases
    assert not any(
        one.link.target in ("Timekeepers beat the Moon", "The Moon was good enough")
        for one in scan(merged).relations
    )
    assert not [one for one in workspace.index.unresolved() if "Moon was good" in one.name]
    assert (await call(workspace, "undo")).success
    assert {path: workspace.store.read(path) for path in paths} == before


async def test_merge_always_asks_and_never_with_itself(workspace, approver):
    same = await call(
        workspace, "merge_nodes", primary_node_id=BEAT, secondary_node_id="Timekeepers beat the Moon"
    )
    assert same.error["type"] == "invalid_parameters" and not approver.asked
    workspace.grants.set_session(Operation.UPDATE, True)
    approver.answers = [Denied("")]
    outcome = await call(workspace, "merge_nodes", primary_node_id="H1", secondary_node_id="H2")
    assert (
        outcome.denied and len(approver.asked) == 1 and workspace.store.exists(NotePath("Instruments/H2.md"))
    )


async def test_merge_by_preference(workspace):
    first, second = text(workspace, "Instruments/H1.md"), text(workspace, "Instruments/H2.md")
    outcome = await call(
        workspace,
        "merge_nodes",
        primary_node_id="H1",
        secondary_node_id="H2",
        merge_strategy="prefer_primary",
    )
    assert outcome.success
    body = first[scan(first).body_start :].split("## Relations")[0].replace("[[H2]]", "[[H1]]").strip()
    assert body in text(workspace, "Instruments/H1.md")
    assert second[scan(second).body_start :].strip() not in text(workspace, "Instruments/H1.md")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_node", {"node_id": "Letters (private)"}),
        ("summarize_node", {"node_id": "Letters (private)"}),
        ("find_related_nodes", {"node_id": "Letters (private)"}),
        ("summarize_node_with_context", {"node_id": "Letters (private)"}),
        ("recalculate_node_confidence", {"node_id": "Letters (private)"}),
        ("merge_nodes", {"primary_node_id": "H1", "secondary_node_id": "Letters (private)"}),
    ],
)
async def test_a_model_never_sees_a_private_node(workspace, approver, tool, arguments):
    outcome = await call(workspace, tool, caller=MODEL, **arguments)
    assert outcome.error["type"] == "not_found" and not approver.asked


async def test_an_unknown_node_is_an_error_with_similar_names(workspace):
    for tool in ("get_node", "summarize_node", "delete_node", "recalculate_node_confidence"):
        outcome = await call(workspace, tool, node_id="Gimbals")
        assert outcome.error["type"] == "not_found" and "Concepts/Gimbal.md" in outcome.error["suggestions"]


async def test_an_edited_answer_is_what_is_written(workspace, approver):
    approver.answers = [lambda request: Approved(request.proposal)]
    outcome = await call(workspace, "reclassify_node", node_id="Gimbal", new_type="entity")
    assert outcome.success and scan(text(workspace, "Concepts/Gimbal.md")).type == "entity"


async def test_tools_take_the_storage_id_that_they_give(workspace, sample_vault):
    for name in ("Re: db:plan.md", "db:plan.md", "https:plan.md"):
        (sample_vault / name).write_text("- supports [[H4]]\n", "utf-8")
    await workspace.start_scan(lambda progress: None)
    for name, node_id in (("db:plan.md", "file:db:plan.md"), ("https:plan.md", "https:plan.md")):
        node = (await call(workspace, "get_node", node_id=node_id)).result
        assert (node["node_id"], node["name"]) == (node_id, name.removesuffix(".md"))
        (edge,) = node["relationships"]
        assert edge["from_id"] == node_id and edge["edge_id"].startswith(f"{node_id} -[SUPPORTS]-> ")
        assert (await call(workspace, "summarize_relationship", edge_id=edge["edge_id"])).success
        assert (await call(workspace, "get_metadata", name=node_id)).result["storage_id"] == node_id
        assert (await call(workspace, "add_tag", name=node_id, tag="x")).success
    assert (await call(workspace, "get_node", node_id=f"file:{BEAT}")).result["node_id"] == BEAT
    for elsewhere in ("db:4711", "https://hub.example/notes/1"):
        outcome = await call(workspace, "read_note", name=elsewhere)
        assert outcome.error["type"] == "not_found" and "stores its notes as files" in outcome.message
    content = "---\nid: https://hub.example/notes/1\n---\n"
    await call(workspace, "create_note", name="Shared", content=content)
    assert (await call(workspace, "read_note", name="https://hub.example/notes/1")).success


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_note", {"name": "Page"}),
        ("get_node", {"node_id": "Page"}),
        ("summarize_node", {"node_id": "Page"}),
        ("summarize_node_with_context", {"node_id": "Answer"}),
        ("summarize_relationship", {"edge_id": "Page -> Answer"}),
        ("find_related_nodes", {"node_id": "Answer", "min_similarity": 0.05, "limit": 50}),
        ("search_notes", {"query": "quagga"}),
        ("search", {"query": "quagga", "domain": "vault"}),
        ("unlinked_mentions", {"name": "Quagga"}),
        ("file_read", {"path": "Page.md"}),
        ("grep", {"pattern": "quagga is"}),
        ("diff", {"path": "Page.md", "other": "Answer.md"}),
    ],
)
async def test_every_tool_marks_the_text_of_web_pages(workspace, tool, arguments):
    page = "---\norigin: web\n---\nThe quagga is extinct.\n\n- supports [[Answer]]\n"
    workspace.enable_categories(["development"])
    await call(workspace, "create_note", name="Answer", content="The quagga is extinct, it says.\n")
    await call(workspace, "create_note", name="Quagga")
    await call(workspace, "create_note", name="Page", content=page)
    outcome = await call(workspace, tool, **arguments)
    assert outcome.success and outcome.untrusted
    await call(workspace, "set_properties", name="Page", remove=["origin"])
    assert not (await call(workspace, tool, **arguments)).untrusted

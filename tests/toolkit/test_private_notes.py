"""Private notes and read rules: no text of a hidden note is revealed by any way of reading."""

from __future__ import annotations

import pytest

from app.permissions.approval import Denied
from app.permissions.caller import Caller, CallerKind
from app.settings import PermissionSettings, Rule
from app.toolkit.call import Call
from app.vault.markdown.privacy import is_private

AGENT = Caller(CallerKind.DESKTOP_AGENT, "Agent")
BUILTIN = Caller(CallerKind.DESKTOP_AGENT, "Built-in", uses_model=False)

READS = (
    [("read", {"name": name}) for name in ("Secret", "Secret.md", "[[secret]]", "Secrt")]
    + [("find", {"query": q}) for q in ("treasure", "tag:treasure", "path:Secret", "[code:x]", "tea")]
    + [("survey", {"what": what}) for what in ("tags", "notes", "unresolved", "properties")]
)


@pytest.mark.parametrize(("tool", "arguments"), READS)
async def test_a_model_learns_nothing_of_a_private_note(bench, tool, arguments):
    outcome = await bench.call(tool, arguments)
    told = {**outcome.as_dict(), "name": ""}
    if "error" in told:
        told = {**told["error"], "name": "", "message": ""}
        assert told["type"] == "not_found"
    for word in ("Secret.md", "treasure", "Hidden", "code"):
        assert word.lower() not in str(told).lower()


async def test_the_number_of_hits_does_not_reveal_private_notes(bench):
    assert (await bench.call("find", {"query": "treasure"})).result == {"text": "0", "paths": []}
    assert (await bench.call("find", {"query": "treasure"}, BUILTIN)).result["text"] == "1"


async def test_links_of_a_private_note_are_not_revealed(bench):
    assert (await bench.call("find", {"query": 'linked-from:"Secret"'})).result["paths"] == []
    assert (await bench.call("find", {"query": 'linked-from:"Home"'})).result["paths"] == ["Tea.md"]


async def test_the_user_and_the_built_in_agent_see_them(bench):
    for caller in (BUILTIN, Caller.user()):
        assert "treasure" in (await bench.call("read", {"name": "Secret"}, caller)).result["text"]


async def test_a_newly_private_note_is_hidden_before_the_index_updates(bench):
    (bench.root / "Tea.md").write_text("---\nai: private\n---\nnew secret\n", "utf-8")
    outcome = await bench.call("read", {"name": "Tea"})
    assert outcome.error["type"] == "not_found" and "new secret" not in str(outcome)


async def test_privacy_follows_changes_of_the_index(bench):
    assert not (await bench.call("read", {"name": "Secret"})).success
    await bench.runner.run(
        Call.save(
            bench.index.notes()[0].path,
            (bench.root / "Home.md").read_bytes(),
            b"---\nai: private\n---\nhome\n",
        )
    )
    secret = next(note.path for note in bench.index.notes() if note.name == "Secret")
    await bench.runner.run(Call.save(secret, (bench.root / "Secret.md").read_bytes(), b"open now\n"))
    assert (await bench.call("read", {"name": "Secret"})).success
    assert not (await bench.call("read", {"name": "Home"})).success


async def test_the_log_does_not_name_a_hidden_note_as_read(bench):
    await bench.call("read", {"name": "Secret"})
    assert bench.last().paths == ()


async def test_a_deny_read_rule_hides_from_all_it_names(bench):
    rule = Rule(effect="deny", operations=("read",), glob="Journal/**")
    bench.policy.configure(PermissionSettings(rules=(rule,)))
    assert (await bench.call("read", {"name": "Monday"})).error["type"] == "not_found"
    assert (await bench.call("read", {"name": "Monday"}, BUILTIN)).error["type"] == "not_found"
    assert (await bench.call("find", {"query": "rain"})).result == {"text": "0", "paths": []}
    assert "weather 1" not in (await bench.call("survey", {"what": "tags"})).result["paths"]
    assert (await bench.call("read", {"name": "Monday"}, Caller.user())).success


async def test_an_ask_read_rule_asks_for_the_notes_that_a_call_names(bench):
    rule = Rule(effect="ask", operations=("read",), glob="Journal/**")
    bench.policy.configure(PermissionSettings(rules=(rule,)))
    assert (await bench.call("read", {"name": "Tea"})).success and bench.approver.asked == []
    outcome = await bench.call("read", {"name": "Monday"})
    assert outcome.success and "Rain" in outcome.result["text"]
    assert bench.approver.asked[0].proposal.text == "Read Journal/Monday.md"
    assert bench.last().decision == "user-approved"
    bench.approver.answers.append(Denied("no"))
    outcome = await bench.call("read", {"name": "Monday"})
    assert outcome.denied and "Rain" not in str(outcome)
    assert (await bench.call("find", {"query": "rain"})).result["text"] == "0"


async def test_an_ask_rule_never_opens_a_private_note(bench):
    rule = Rule(effect="ask", operations=("read",), glob="**")
    bench.policy.configure(PermissionSettings(rules=(rule,)))
    outcome = await bench.call("read", {"name": "Secret"})
    assert outcome.error["type"] == "not_found" and bench.approver.asked == []


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"---\nai: private\n---\n", True),
        (b"---\r\nai: Private \r\n---\r\n", True),
        (b'---\nai: "priv\\x61te"\n---\n', True),
        (b'---\nai: "priv\\\n  ate"\n---\n', True),
        (b"\xef\xbb\xbf---\nai: PRIVATE\n---\n", True),
        (b"---\nai: public\n---\nprivate", False),
        (b"---\nx: 1\n---\n", False),
    ],
)
def test_a_private_note_is_recognized_in_any_spelling(content, kept):
    assert is_private(content) is kept

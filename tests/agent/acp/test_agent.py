"""Turns of a real agent program over the real protocol, through the whole core."""

from __future__ import annotations

import asyncio

import psutil
import pytest

from app.agent.acp.client_tools import agent_read
from app.agent.acp.connection import ProgramError
from app.agent.transcript import AgentPlan, AgentText, Reasoning, ToolCard
from app.permissions.approval import Approved, Denied
from app.permissions.caller import Caller, CallerKind
from app.settings import AgentProgram
from app.toolkit.call import Call
from app.vault.path import NotePath
from tests.agent.acp.conftest import AcpConversation, agent_program
from tests.support.approver import unanswered

H4 = NotePath("Instruments/H4.md")
K1 = NotePath("Instruments/K1.md")


async def test_updates_and_requests_are_shown_like_the_panels_own(workspace, approver, monkeypatch):
    monkeypatch.setenv("OF_THE_AGENT", "mine")
    monkeypatch.setenv("OF_OTHERS", "theirs")
    talk = AcpConversation(workspace, agent_program(variables=("OF_THE_AGENT",)))
    finished = await talk.say(
        "!think about it\n!say Hello there\n!plan look|write\n!tool read Read H4\n!say Done"
    )
    assert finished.state == "done" and finished.usage.tokens == 30
    assert [type(item) for item in talk.items[1:]] == [Reasoning, AgentText, AgentPlan, ToolCard, AgentText]
    assert "".join(talk.streamed[:2]) == "Hello there "
    assert {item.agent for item in talk.items[1:]} == {"Outsider"}
    (plan,) = talk.all(AgentPlan)
    assert [(step.text, step.state) for step in plan.steps] == [("look", "completed"), ("write", "pending")]
    (card,) = talk.cards
    assert (card.tool, card.state, card.untrusted) == ("Read", "done", True) and "Read H4" in card.arguments
    # The output of a program may be based on content that no model may see.
    assert not any(item.by_model for item in talk.all(AgentText))
    await check_permissions(workspace, talk, approver)
    await check_options(workspace, talk)
    await talk.say("!env HOME\n!env OF_THE_AGENT\n!env OF_OTHERS")
    assert "[unset]" in talk.said and "[mine]" in talk.said and "theirs" not in talk.said


async def check_permissions(workspace, talk, approver):
    approver.answers = [lambda request: Approved(request.proposal), Denied("rather not")]
    await talk.say("!ask execute rm -rf build\n!ask execute curl example.org")
    assert "[once]" in talk.said and "[no]" in talk.said and "[always]" not in talk.said
    first = approver.asked[0]
    assert first.proposal.text == "Run outside the app: rm -rf build"
    assert ("kind", "execute") in first.proposal.arguments
    assert ("input", '{"command": "rm -rf build"}') in first.proposal.arguments
    assert first.caller.name == "Outsider" and first.caller.tainted and not first.offers
    log = [entry for entry in workspace.audit.entries() if entry.tool == "agent_action"]
    assert sorted(entry.decision for entry in log) == ["user-approved", "user-denied"]


async def check_options(workspace, talk):
    """Choose an option for this conversation and for later ones."""
    (mode,) = workspace.programs.options("Outsider")
    assert (mode.name, mode.current) == ("Mode", "careful")
    assert [one.name for one in mode.choices] == ["Careful", "Bold"]
    await workspace.programs.set_option("Outsider", "mode", "bold")
    await talk.say("!mode")
    other = AcpConversation(workspace, workspace.settings.programs.programs[0])
    await other.say("!mode")
    assert "[bold]" in talk.said and "[bold]" in other.said
    assert workspace.programs.options("Outsider")[0].current == "bold"


async def test_a_refused_option_keeps_the_previous_choice_in_all_conversations(workspace):
    program = agent_program("--careful-only-first")
    first, second, third = (AcpConversation(workspace, program) for _ in range(3))
    await first.say("!mode")
    await second.say("!mode")
    await workspace.programs.set_option("Outsider", "mode", "bold")
    with pytest.raises(ProgramError) as refused:
        await workspace.programs.set_option("Outsider", "mode", "careful")
    assert refused.value.hint == "The option is unchanged."
    for talk in (first, second, third):
        await talk.say("!mode")
        assert talk.said.endswith("[bold]")
    assert workspace.programs.options("Outsider")[0].current == "bold"


async def test_files_are_read_as_policy_says_and_written_through_the_dialog(workspace, talk, approver):
    before = workspace.store.read(H4)
    workspace.root.joinpath("Secret.md").write_text("---\nai: private\n---\nThe code is 7.\n")
    await workspace.index.refresh((NotePath("Secret.md"),), ())
    finished = await talk.say(
        "!read Instruments/H4.md\n!read Secret.md\n!write Instruments/H4.md Short now.\n"
        "!write New.md Fresh.\n!write Secret.md Open.\n!write /tmp/elsewhere.md No.\n"
        "!write .obsidian/x No.\n!terminal"
    )
    assert before.decode().strip()[:40] in talk.said and "The code is 7" not in talk.said
    assert talk.said.count("[written]") == 2 and talk.said.count("[refused:") == 5
    assert "outside the vault" in talk.said and "Terminals are not supported" in talk.said
    assert [str(request.proposal.changes[0].path) for request in approver.asked] == [str(H4), "New.md"]
    callers = {request.caller for request in approver.asked}
    assert {(caller.kind, caller.tainted) for caller in callers} == {(CallerKind.DESKTOP_AGENT, True)}
    written = [card for card in talk.cards if card.tool == "agent_write" and card.commit is not None]
    assert len(written) == 2
    await workspace.runner.run(Call.of("undo", {"turn": finished.turn}, Caller.user()))
    assert workspace.store.read(H4) == before and not workspace.store.exists(NotePath("New.md"))
    await talk.say(f"!read {H4}\n!edit-silently {H4} Mine.\n!write {H4} No.")
    assert "has changed since you read it" in talk.said and workspace.store.read(H4) == b"Mine.\n"


async def test_external_edits_are_journaled_logged_and_undone_with_the_turn(workspace, talk, approver):
    was = {path: workspace.store.read(path) for path in (H4, K1)}
    finished = await talk.say(
        "!edit Instruments/H4.md Rewritten.\n!edit-silently Loose.md A new one.\n"
        "!move Instruments/K1.md K1-moved.md"
    )
    assert not approver.asked
    log = [entry for entry in workspace.audit.entries() if entry.tool == "direct_edit"]
    assert {(entry.caller, entry.decision, entry.turn) for entry in log} == {
        ("Outsider", "not-asked", finished.turn)
    }
    reasons = {path: entry.reason for entry in log for path in entry.paths}
    assert "reported it" in reasons["Instruments/H4.md"] and "not reported by it" in reasons["Loose.md"]
    cards = [card for card in talk.cards if card.tool == "direct_edit"]
    assert cards and all(card.commit and card.entry for card in cards)
    moved = [one for entry in log for one in workspace.journal.commit(entry.commit).changes if one.to]
    assert [(str(one.path), str(one.to)) for one in moved] == [("Instruments/K1.md", "K1-moved.md")]
    assert workspace.index.resolver.resolve_for_reading("K1-moved") == NotePath("K1-moved.md")
    outcome = await workspace.runner.run(Call.of("undo", {"turn": finished.turn}, Caller.user()))
    assert outcome.success and {path: workspace.store.read(path) for path in was} == was
    assert not workspace.store.exists(NotePath("Loose.md"))
    await check_reading_only(talk, approver)


async def check_reading_only(talk, approver):
    """Check that a read-only turn allows no change, and neither does its MCP server."""
    asked = len(approver.asked)
    await talk.say(f"!write {H4} No.\n!ask execute make\n!server\n!edit {H4} By itself.", mode="ask")
    assert "may only read" in talk.said and "[no]" in talk.said and len(approver.asked) == asked
    assert '"--read-only"' in talk.said
    assert any("in a read-only turn" in notice.text for notice in talk.notices)


async def test_pending_requests_are_withdrawn_when_the_turn_is_stopped(
    workspace, talk, approver, monkeypatch
):
    question_asked = asyncio.Event()
    approver.answers = [unanswered(question_asked)]
    talk.start("!ask execute make")
    await asyncio.wait_for(question_asked.wait(), 200)
    workspace.agent.stop(talk.id)
    assert (await asyncio.wait_for(talk.finished.get(), 200)).state == "stopped"
    (entry,) = [entry for entry in workspace.audit.entries() if entry.tool == "agent_action"]
    assert entry.decision == "cancelled"
    assert (await talk.say("!say still here")).state == "done" and "still here" in talk.said
    monkeypatch.setattr("app.agent.acp.agent._CANCEL_TIMEOUT_S", 0.2)
    await check_one_that_does_not_stop(workspace, talk)


async def check_one_that_does_not_stop(workspace, talk):
    """Check that a program that ignores a stop is ended together with its child processes."""
    talk.streamed.clear()
    talk.start("!spawn\n!hang")
    await asyncio.wait_for(talk.first_word.wait(), 200)
    pids = [int(word) for word in "".join(talk.streamed).strip("[] ").split()]
    workspace.agent.stop(talk.id)
    assert (await asyncio.wait_for(talk.finished.get(), 200)).state == "stopped"
    assert any("did not stop" in notice.text for notice in talk.notices)
    # The kernel ends a killed process with a delay.
    async with asyncio.timeout(30):
        while any(runs(pid) for pid in pids):
            await asyncio.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_crash_is_reported_and_the_conversation_continues(workspace, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_SESSIONS", str(tmp_path / "sessions.json"))
    talk = AcpConversation(workspace, agent_program(variables=("AGENT_SESSIONS",)))
    await talk.say("Remember the number 41.\n!say Noted.")
    assert (await talk.say("!crash")).state == "done"
    (notice,) = talk.notices
    assert "exited during the turn (exit status 7)" in notice.text
    assert "the disk of the agent is full" in notice.hint
    await talk.say("!heard\n!prompt")
    # It resumes its session, so it is not told again what it knows; its own replay is not shown twice.
    assert "[1 before]" in talk.said and "(again)" not in talk.said
    assert "You work in Scriptorium" not in talk.said
    (tmp_path / "sessions.json").unlink()
    await talk.say("!crash")
    await talk.say("!heard\n!prompt")
    # The program no longer knows the session, so the earlier conversation is sent.
    told = talk.said.rpartition("[0 before]")[2]
    assert "You work in Scriptorium" in told and "number 41" in told and "Noted." in told


@pytest.mark.parametrize(
    ("change", "said", "advice"),
    [
        ({"arguments": agent_program("--dies-at-once").arguments}, "exit status 3", "no license found"),
        ({"arguments": agent_program("--not-acp").arguments}, "exit status 2", "next message"),
        ({"command": "no-such-agent"}, "no program “no-such-agent”", "settings"),
    ],
)
async def test_one_that_does_not_start_says_why(workspace, change, said, advice):
    talk = AcpConversation(workspace, agent_program().model_copy(update=change))
    await talk.say("Hello")
    (notice,) = talk.notices
    assert said in notice.text and advice in notice.hint


async def test_one_that_never_answers_is_ended_by_a_stop(workspace, tmp_path):
    mute = AgentProgram(name="Mute", command="sleep", arguments=("600",))
    talk = AcpConversation(workspace, mute)
    talk.start("Hello")
    async with asyncio.timeout(30):
        while not (children := running("sleep")):
            await asyncio.sleep(0.01)
    workspace.agent.stop(talk.id)
    assert (await asyncio.wait_for(talk.finished.get(), 200)).state == "stopped"
    assert not any(child.is_running() and child.status() != "zombie" for child in children)


def running(name):
    """Return the processes of this name that this process has started."""
    return [child for child in psutil.Process().children() if child.name() == name]


def _is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def test_a_program_that_the_settings_lose_is_ended_and_one_in_the_vault_is_no_program(workspace, talk):
    await talk.say("!spawn")
    pids = [int(word) for word in talk.said.strip("[] ").split()]
    # Calls of the program outside its turns count as tainted, too; the hub recognizes other callers itself.
    assert workspace.programs.caller_named("Outsider").tainted
    workspace.change_settings("programs", programs=())
    assert workspace.programs.caller_named("Outsider") is None
    async with asyncio.timeout(30):
        while any(_is_running(pid) for pid in pids):
            await asyncio.sleep(0.01)
    script = workspace.root / "helper"
    script.write_text("#!/bin/sh\ntouch ran\n")
    script.chmod(0o755)
    other = AcpConversation(workspace, AgentProgram(name="Helper", command="helper"))
    await other.say("Hello")
    assert "no program “helper”" in other.notices[0].text and not (workspace.root / "ran").exists()


async def test_one_that_wants_a_login_says_so(workspace):
    talk = AcpConversation(workspace, agent_program("--needs-login"))
    await talk.say("Hello")
    (notice,) = talk.notices
    assert "log in first" in notice.text and "terminal" in notice.hint


async def test_our_tools_over_mcp_are_called_in_its_turn_and_shown_on_its_card(workspace, talk, approver):
    await workspace.endpoints.open()
    finished = await talk.say('!mcp create_note {"name": "Leaf", "content": "Green."}')
    (request,) = approver.asked
    caller = request.caller
    assert (caller.kind, caller.name, caller.turn) == (CallerKind.MCP, "Outsider", finished.turn)
    assert caller.tainted and caller.uses_model and caller.conversation == talk.id
    made = next(card for card in talk.cards if card.tool == "create_note")
    assert made.state == "done" and made.commit is not None and made.agent == "Outsider"
    assert workspace.store.exists(NotePath("Leaf.md"))
    await workspace.runner.run(Call.of("undo", {"turn": finished.turn}, Caller.user()))
    assert not workspace.store.exists(NotePath("Leaf.md"))


async def test_lines_that_a_program_reads_end_only_at_newlines(workspace):
    (workspace.root / "Form feed.md").write_bytes(b"one\x0cstill one\r\ntwo\xe2\x80\xa8still two\nthree")
    arguments = {"path": "Form feed.md", "line": 2, "limit": 1}
    outcome = await workspace.runner.run(Call.internal(agent_read, arguments, Caller.user()))
    assert outcome.result["text"] == "two\u2028still two\n"

"""Approval at a real pseudo-terminal: the displayed text, and the effect of each answer."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.cli.console import CliConsole
from app.cli.terminal_approver import TerminalApprover
from app.cli.terminal_input import Terminal
from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied, Effect, GrantOffer
from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation, Scope, ScopeKind
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeSet, ChangeWarning, Create, Delete, Move, Update
from app.vault.path import NotePath
from tests.support.partial_changes import restrict_to
from tests.support.typist import Typist, terminal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")

CALLER = Caller(CallerKind.CLI, "command line", claim="only a typo\x1b[2J")
OFFERS = (GrantOffer("all updates", Operation.UPDATE),)
PROMPT = "(no) "


def note(text: str) -> NotePath:
    return NotePath.parse(text)


UPDATE = Update(note("Tea.md"), b"one\ngreen tea\nthree\n", b"one\nblack tea\nthree\n")
CREATE = Create(note("New.md"), b"new\n")


def request(*changes, offers=OFFERS, **scope) -> ApprovalRequest:
    change_set = ChangeSet.of(*changes)
    return ApprovalRequest(
        "id",
        CALLER,
        "edit_note",
        (),
        Operation.UPDATE,
        Scope(ScopeKind.WRITE_UPDATE, change_set.paths, files=len(changes), **scope),
        change_set,
        "nothing covers it",
        offers,
    )


async def ask(asked: ApprovalRequest, *answers: str, columns: int = 100) -> tuple[Decision, str]:
    decisions, output = await ask_all([asked], *answers, columns=columns)
    return decisions[0], output


async def ask_all(
    asked: list[ApprovalRequest], *answers: str, columns: int = 100
) -> tuple[list[Decision], str]:
    with terminal(columns) as (master, stream):
        typist = Typist(master, [(PROMPT, answer) for answer in answers])
        console = CliConsole(stream, stream)
        approver = TerminalApprover(Terminal(stream.fileno(), stream), console)
        decisions = [await approver.decide(one) for one in asked]
        await asyncio.sleep(0)
        typist.close()
        return decisions, typist.plain


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


async def test_yes_approves_the_very_proposal_and_the_change_was_shown() -> None:
    approval_request = request(UPDATE)
    decision, output = await ask(approval_request, "y\n")
    assert decision == Approved(approval_request.proposal)
    assert "2 - green tea" in output and "2 + black tea" in output and "1   one" in output
    assert "Reason: nothing covers it." in output


@pytest.mark.parametrize("answer", ["\n", "n\n", "no\n", "\x04"])
async def test_anything_but_a_clear_yes_is_a_denial(answer: str) -> None:
    decision, _ = await ask(request(UPDATE), answer)
    assert decision == Denied()


async def test_a_reason_after_no_is_sent_to_the_caller() -> None:
    assert (await ask(request(UPDATE), "n not this note\n"))[0] == Denied("not this note")


async def test_an_invalid_answer_is_explained_and_asked_again() -> None:
    decision, output = await ask(request(UPDATE), "?\n", "yikes\n", "y\n")
    assert isinstance(decision, Approved)
    assert output.count("approve exactly what is shown") == 2


async def test_what_was_typed_before_the_question_is_no_answer() -> None:
    with terminal() as (master, stream):
        os.write(master, b"y\ny\n")
        typist = Typist(master, [(PROMPT, "n\n")])
        approver = TerminalApprover(Terminal(stream.fileno(), stream), CliConsole(stream, stream))
        assert await approver.decide(request(UPDATE)) == Denied()
        typist.close()


async def test_ctrl_c_is_no_and_leaves_the_program_running() -> None:
    with terminal() as (_, stream):
        approver = TerminalApprover(Terminal(stream.fileno(), stream), CliConsole(stream, stream))
        before = signal.getsignal(signal.SIGINT)
        asking = asyncio.ensure_future(approver.decide(request(UPDATE)))
        while signal.getsignal(signal.SIGINT) is before:
            await asyncio.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)
        assert await asking == Denied()
        assert signal.getsignal(signal.SIGINT) is before


async def test_files_can_be_chosen_and_the_others_are_left_out() -> None:
    approval_request = request(UPDATE, CREATE, Delete(note("Old.md"), b"old\n"))
    decision, output = await ask(approval_request, "f 1-2\n", "f 9\n", "y\n")
    assert isinstance(approval_request.proposal, ChangeSet)
    assert decision == Approved(restrict_to(approval_request.proposal, [UPDATE.path, CREATE.path]))
    assert "Write 2 of these 3 files?" in output and "Enter numbers from 1 to 3" in output


async def test_an_edited_text_is_shown_again_and_approved_exactly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import pathlib, sys\np = pathlib.Path(sys.argv[1])\n"
        "assert sys.stdin.isatty() and sys.stdout.isatty()\n"
        "p.write_bytes(p.read_bytes().replace(b'black', b'white'))\n",
        "utf-8",
    )
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    decision, output = await ask(request(UPDATE), "e\n", "y\n")
    changed = Update(UPDATE.path, UPDATE.before, b"one\nwhite tea\nthree\n")
    assert decision == Approved(ChangeSet.of(changed), edited=True)
    assert "+ white tea" in output.split("(edited by you)")[1]


async def test_an_editor_that_fails_leaves_the_proposal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", f"{sys.executable} -c raise(SystemExit(3))")
    approval_request = request(UPDATE)
    decision, output = await ask(approval_request, "e\n", "y\n")
    assert decision == Approved(approval_request.proposal) and "exited with status 3" in output


@pytest.mark.parametrize("command", ("'vi", " "))
async def test_an_editor_setting_that_names_no_program_ends_no_question(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr("app.cli.external_editor._DEFAULT_EDITOR", "no-such-editor")
    monkeypatch.setenv("VISUAL", command)
    approval_request = request(UPDATE)
    decision, output = await ask(approval_request, "e\n", "y\n")
    assert decision == Approved(approval_request.proposal) and "The proposal is unchanged." in output


async def test_an_editor_that_cannot_be_started_is_reported_without_an_error_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setenv("VISUAL", "edit")
    monkeypatch.setattr("app.cli.external_editor.asyncio.create_subprocess_exec", refuse)
    _, output = await ask(request(UPDATE), "e\n", "y\n")
    assert "edit can't be started: no more processes." in output


async def test_a_full_disk_leaves_the_proposal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("app.cli.external_editor.tempfile.TemporaryDirectory", refuse)
    approval_request = request(UPDATE)
    decision, output = await ask(approval_request, "e\n", "y\n")
    assert decision == Approved(approval_request.proposal) and "No space left on device" in output


async def test_all_of_a_kind_answers_later_questions_of_that_kind_only() -> None:
    second = Update(note("Water.md"), b"a\n", b"b\n")
    decisions, output = await ask_all([request(UPDATE), request(second), request(CREATE)], "a\n", "n\n")
    assert [type(one) for one in decisions] == [Approved, Approved, Denied]
    assert "all of this kind" in decisions[1].words and "Water.md" not in output


async def test_all_of_a_kind_is_not_offered_where_grants_are_forbidden() -> None:
    decision, output = await ask(request(UPDATE, offers=()), "a\n", "n\n")
    assert decision == Denied() and ",a," not in output and "yes, and to all" not in output


async def test_consequences_are_shown() -> None:
    moved = Move(note("Tea.md"), note("Ideas/Tea.md"), b"x\n", b"x\n")
    approval_request = request(
        moved, Delete(note("Old.md"), b"old\n"), backlinks=(note("A.md"), note("B.md"))
    )
    _, output = await ask(approval_request, "\n", columns=200)
    assert "2 notes will have unresolved links after this deletion: A.md, B.md" in output
    assert "Tea.md → Ideas/Tea.md" in output and "The text is unchanged." in output
    proposal = replace(
        approval_request.proposal, warnings=(ChangeWarning(TranslatableText.verbatim("2 files\x1b stay.")),)
    )
    _, output = await ask(replace(approval_request, proposal=proposal), "\n", columns=200)
    assert "2 files⟨ESC⟩ stay." in output


async def test_text_of_notes_and_claims_cannot_control_the_terminal() -> None:
    evil = Update(note("Tea.md"), b"a\n", "a \x1b]0;owned\x07 \u202egnp.exe \u200b\n".encode() + b"\xff\n")
    approval_request = request(evil)
    with terminal() as (master, stream):
        typist = Typist(master, [(PROMPT, "n\n")])
        approver = TerminalApprover(Terminal(stream.fileno(), stream), CliConsole(stream, stream))
        await approver.decide(approval_request)
        typist.close()
        raw, plain = typist.shown, typist.plain
    assert "\x1b]0" not in raw and "\x1b[2J" not in raw and "\u202e" not in raw and "\x07" not in raw
    assert "⟨ESC⟩]0;owned⟨BEL⟩" in plain and "⟨RLO⟩" in plain and "⟨ZWSP⟩" in plain and "⟨\\xFF⟩" in plain
    assert "⟨ESC⟩[2J" in plain, "the claim"


async def test_changed_words_are_marked_with_and_without_colors(monkeypatch: pytest.MonkeyPatch) -> None:
    async def raw() -> str:
        with terminal() as (master, stream):
            typist = Typist(master, [(PROMPT, "n\n")])
            approver = TerminalApprover(Terminal(stream.fileno(), stream), CliConsole(stream, stream))
            await approver.decide(request(UPDATE))
            typist.close()
            return typist.shown

    coloured = await raw()
    assert "\x1b[31m" in coloured and "\x1b[1;7;32mblack" in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    plain = await raw()
    assert "\x1b[31m" not in plain and "\x1b[1;7mblack" in plain


async def test_an_effect_is_shown_with_its_exact_arguments() -> None:
    effect = Effect("command", "Run this program.", (("command", "rm -rf 'a b'"), ("folder", "x\ny")))
    approval_request = ApprovalRequest(
        "id",
        CALLER,
        "shell",
        (),
        Operation.EXECUTE,
        Scope(ScopeKind.ADMIN, description="run rm"),
        effect,
        "always",
    )
    decision, output = await ask(approval_request, "y\n")
    assert decision == Approved(effect)
    assert "command: rm -rf 'a b'" in output and "    y\n" in output and "Approve this? [y,n,?]" in output


async def test_a_withdrawn_question_gives_the_terminal_back() -> None:
    with terminal() as (master, stream):
        typist = Typist(master, [])
        approver = TerminalApprover(Terminal(stream.fileno(), stream), CliConsole(stream, stream))
        asking = asyncio.ensure_future(approver.decide(request(UPDATE)))
        while PROMPT not in typist.shown:
            await asyncio.sleep(0.001)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        while "Nothing was done" not in typist.shown:
            await asyncio.sleep(0.001)
        typist.close()

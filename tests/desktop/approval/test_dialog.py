"""The approval dialog approves exactly what was selected and typed, and nothing by accident."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMainWindow, QToolButton
from pytestqt.qtbot import QtBot

from app.desktop.approval.approval_queue import ApprovalQueue
from app.desktop.approval.dialog import ApprovalDialog
from app.desktop.approval.header import NotesStrip
from app.desktop.bridge import PendingApproval
from app.desktop.theme.theme import ThemeSource
from app.permissions.approval import (
    COVERED_REASON,
    UNANSWERED_REASON,
    ApprovalRequest,
    Approved,
    Decision,
    Denied,
    Effect,
    GrantOffer,
)
from app.permissions.caller import Caller, CallerKind
from app.permissions.partial_approval import ApprovalDraft, FileDraft, SelectionState
from app.permissions.request_labels import request_title
from app.permissions.scope import Operation, Scope, ScopeKind
from app.translatable_text import TranslatableText
from app.vault.changes import ChangeSet, ChangeWarning, Create, Delete, Move, Update, after_of
from app.vault.editable_text import EditableText, NotEditableError
from app.vault.path import NotePath

P = NotePath.parse
AGENT = Caller(CallerKind.MCP, "claude", claim="Only a typo.")
ALLOW = "Approve, and allow edits in Ideas/ for 30 minutes"
OFFER = GrantOffer(ALLOW, Operation.UPDATE, folder="Ideas", minutes=30)
BEFORE = b"one\n" + b"same\n" * 9 + b"two\n" + b"same\n" * 9 + b"three\n"
AFTER = BEFORE.replace(b"one", b"ONE").replace(b"two", b"TWO").replace(b"three", b"THREE")


def request(proposal: ChangeSet | Effect, number: int = 1, **fields: Any) -> ApprovalRequest:
    fields.setdefault("operation", Operation.UPDATE)
    fields.setdefault("scope", Scope(ScopeKind.WRITE_UPDATE, size=10))
    fields.setdefault("caller", AGENT)
    return ApprovalRequest(
        id=str(number),
        tool="edit_note",
        arguments=(("name", "A"),),
        proposal=proposal,
        reason="asks",
        **fields,
    )


def update(name: str = "A", before: bytes = BEFORE, after: bytes = AFTER) -> Update:
    return Update(P(f"Ideas/{name}.md"), before, after)


class ApprovalWindow:
    """A window with a queue, a clock that is moved by hand, and the given answers."""

    def __init__(self, qtbot: QtBot) -> None:
        self.now = 100.0
        self.window = QMainWindow()
        self.window.resize(1100, 800)
        qtbot.addWidget(self.window)
        self.window.show()
        self.queue = ApprovalQueue(self.window, ThemeSource("light", self.window), lambda: self.now)
        self.answers: list[tuple[str, Decision]] = []
        self.questions: list[PendingApproval] = []
        self.notes: list[str] = []
        self.paths: list[frozenset[str]] = []
        self.queue.notice.connect(self.notes.append)
        self.queue.pending_paths_changed.connect(self.paths.append)

    def ask(self, *requests: ApprovalRequest, rested: bool = True) -> None:
        for pending in requests:
            question = PendingApproval(pending, self._reply(pending.id), self.window)
            self.questions.append(question)
            self.queue.add(question)
            self.queue._dialog_steps.finish()
        if rested:
            self.rest()

    def rest(self, seconds: float = 1.0) -> None:
        self.now += seconds

    @property
    def dialog(self) -> ApprovalDialog:
        assert self.queue.dialog is not None
        return self.queue.dialog

    @property
    def decision(self) -> Decision:
        assert len(self.answers) == 1
        return self.answers[0][1]

    @property
    def approved(self) -> ChangeSet:
        assert isinstance(self.decision, Approved)
        assert isinstance(self.decision.proposal, ChangeSet)
        return self.decision.proposal

    def click(self, name: str) -> None:
        QTest.mouseClick(getattr(self.dialog.bar, name), Qt.MouseButton.LeftButton)

    def _reply(self, request_id: str) -> Callable[[Decision], None]:
        return lambda decision: self.answers.append((request_id, decision))


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[ApprovalWindow]:
    queue_desk = ApprovalWindow(qtbot)
    yield queue_desk
    for question in queue_desk.questions:
        question.withdrawn.emit()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


# Approving


def test_approving_gives_exactly_the_proposal(desk: ApprovalWindow) -> None:
    change_set = ChangeSet.of(update(), summary="three words")
    desk.ask(request(change_set))
    desk.click("approve_button")
    assert desk.answers == [("1", Approved(change_set))]
    assert desk.approved.digest == change_set.digest
    assert desk.queue.dialog is None


def test_an_unticked_file_is_left_out(desk: ApprovalWindow) -> None:
    created, deleted = Create(P("New.md"), b"new\n"), Delete(P("Old.md"), b"x")
    change_set = ChangeSet.of(update("A"), update("B"), created, deleted)
    desk.ask(request(change_set))
    files = desk.dialog.page.files
    for row in (1, 3):
        files.choose(row)
        files.view.setFocus()
        QTest.keyClick(files.view, Qt.Key.Key_Space)
    button = desk.dialog.bar.approve_button
    assert button.text() == "Approve 2 of 4 files"
    assert button.accessibleName() in ("", button.text()), "a screen reader reads the current label"
    desk.click("approve_button")
    assert desk.approved.changes == (change_set.changes[0], change_set.changes[2])


def test_an_excluded_deletion_warns_of_no_links(desk: ApprovalWindow) -> None:
    scope = Scope(ScopeKind.WRITE_DELETE, size=1, backlinks=(P("B.md"),))
    desk.ask(request(ChangeSet.of(update("A"), Delete(P("Old.md"), b"x")), scope=scope))
    warning = next(
        strip
        for strip in desk.dialog.page.header.findChildren(NotesStrip)
        if "unresolved" in strip.label.text()
    )
    files, position = desk.dialog.page.files, desk.dialog.page.diff_view.pos()
    assert warning.isVisible()
    for is_expected in (False, True):
        files.choose(1)
        files.view.setFocus()
        QTest.keyClick(files.view, Qt.Key.Key_Space)
        assert warning.isVisible() == is_expected
        assert desk.dialog.page.diff_view.pos() == position, "nothing under the header moves"


def test_warnings_about_a_change_are_shown_and_named_in_a_batch(desk: ApprovalWindow) -> None:
    change_set = ChangeSet.of(
        update("A"), warnings=(ChangeWarning(TranslatableText.verbatim("1 note becomes private.")),)
    )
    desk.ask(request(change_set), request(ChangeSet.of(update("B")), 2))
    strips = desk.dialog.page.header.findChildren(NotesStrip)
    assert [strip.label.text() for strip in strips] == ["1 note becomes private."]
    desk.dialog.strip.batch_button.click()
    labels = [label.text() for label in desk.dialog.batch.findChildren(QLabel)]
    assert labels.count("1 note becomes private.") == 1


def test_an_unticked_hunk_is_left_out_byte_for_byte(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    canvas = desk.dialog.page.diff_view.canvas
    canvas.go_to_hunk(1)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    assert desk.dialog.page.file.selection_state is SelectionState.SOME
    assert desk.dialog.bar.approve_button.text() == "Approve selected changes"
    desk.click("approve_button")
    expected = BEFORE.replace(b"one", b"ONE").replace(b"three", b"THREE")
    assert desk.approved.changes == (update(after=expected),)
    assert desk.decision.edited is False


def test_with_everything_left_out_there_is_nothing_to_approve(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    canvas = desk.dialog.page.diff_view.canvas
    for hunk in range(3):
        canvas.go_to_hunk(hunk)
        QTest.keyClick(canvas, Qt.Key.Key_Space)
    assert not desk.dialog.bar.approve_button.isEnabled()
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    assert desk.dialog.bar.approve_button.isEnabled()


def test_edited_text_is_approved_as_it_was_typed(desk: ApprovalWindow) -> None:
    crlf = BEFORE.replace(b"\n", b"\r\n")
    desk.ask(request(ChangeSet.of(update(before=crlf, after=AFTER.replace(b"\n", b"\r\n")))))
    desk.dialog.bar.edit_button.click()
    field = desk.dialog.page.editor.field
    QTest.keyClicks(field, "My ")
    desk.click("approve_button")
    assert desk.decision.edited is True
    assert desk.approved.changes == (update(before=crlf, after=b"My " + AFTER.replace(b"\n", b"\r\n")),)


def test_an_edit_starts_from_what_is_ticked_and_the_diff_follows(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    page = desk.dialog.page
    page.diff_view.canvas.go_to_hunk(0)
    QTest.keyClick(page.diff_view.canvas, Qt.Key.Key_Space)
    desk.dialog.bar.edit_button.click()
    assert page.editor.field.toPlainText().startswith("one\n")
    assert len(page.diff_view.diff.hunks) == 2
    page.editor.field.setPlainText(BEFORE.decode() + "four\n")
    page.editor.flush()
    assert page.diff_view.diff.added == 1
    page.editor.reset_button.click()
    assert page.file.chosen() == update()


def test_editing_without_typing_is_no_edit(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    desk.dialog.bar.edit_button.click()
    desk.dialog.bar.edit_button.click()
    desk.click("approve_button")
    assert desk.decision == Approved(ChangeSet.of(update()))


def test_text_that_no_editor_keeps_is_not_offered_for_editing(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update(after=b"\xff is no start of a character in UTF-8\n"))))
    assert not desk.dialog.bar.edit_button.isEnabled()
    assert "not UTF-8" in desk.dialog.bar.edit_button.toolTip()


def test_a_grant_is_chosen_in_the_menu_by_its_label(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), offers=(OFFER,)))
    (action,) = desk.dialog.bar.menu.actions()
    assert action.text() == OFFER.label
    action.trigger()
    assert desk.decision == Approved(ChangeSet.of(update()), grant=OFFER)


def test_without_offers_there_is_no_menu(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    assert desk.dialog.bar.menu_button.isHidden()


def test_an_effect_shows_its_exact_text_and_is_approved_as_it_is(desk: ApprovalWindow) -> None:
    effect = Effect("command", "rm -rf \u200bnotes", (("cwd", "/tmp"),))
    desk.ask(
        request(
            effect, operation=Operation.EXECUTE, scope=Scope(ScopeKind.ADMIN, description="run a command")
        )
    )
    line = desk.dialog.page.layout().itemAt(2).widget().canvas.diff_rows.line("after", 0)
    assert line.text == "rm -rf ZWSPnotes"
    desk.click("approve_button")
    assert desk.decision == Approved(effect)


# Denying


def test_a_denial_carries_the_reason(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    QTest.keyClicks(desk.dialog.bar.reason, "Not in this folder.")
    desk.click("deny_button")
    assert desk.decision == Denied("Not in this folder.")


def test_enter_in_the_reason_denies_once(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), 1), request(ChangeSet.of(update("B")), 2))
    QTest.keyClicks(desk.dialog.bar.reason, "No")
    QTest.keyClick(desk.dialog.bar.reason, Qt.Key.Key_Return)
    assert desk.answers == [("1", Denied("No"))]


@pytest.mark.parametrize("close", ["escape", "window"])
def test_escape_and_closing_the_window_deny(desk: ApprovalWindow, close: str) -> None:
    desk.ask(request(ChangeSet.of(update())))
    if close == "escape":
        QTest.keyClick(desk.dialog, Qt.Key.Key_Escape)
    else:
        desk.dialog.close()
    assert desk.decision == Denied("")


# Nothing by accident


def test_no_button_has_the_focus_at_first_and_enter_never_approves(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update(), update("B"))))
    bar = desk.dialog.bar
    for key in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_A):
        QTest.keyClick(desk.dialog.windowHandle(), key)
    assert desk.answers == []
    assert all(file.selection_state is SelectionState.ALL for file in desk.dialog.page.draft.files)
    page = desk.dialog.page
    for widget in (bar.approve_button, page.diff_view.canvas, page.files.view, desk.dialog):
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            QTest.keyClick(widget, key)
            QTest.keyClick(widget, key, Qt.KeyboardModifier.ControlModifier)
    assert desk.answers == []
    bar.deny_button.setFocus()
    QTest.keyClick(bar.deny_button, Qt.Key.Key_Return)
    assert desk.decision == Denied("")


def test_a_dialog_that_has_just_opened_takes_no_answer(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())), rested=False)
    desk.click("approve_button")
    desk.click("deny_button")
    QTest.keyClick(desk.dialog.bar.approve_button, Qt.Key.Key_Space)
    QTest.keyClick(desk.dialog.bar.deny_button, Qt.Key.Key_Return)
    desk.dialog.bar.approve_button.click()
    assert desk.answers == []
    desk.rest(1.0)
    desk.click("approve_button")
    assert len(desk.answers) == 1


def test_the_input_delay_is_300_ms_and_longer_while_the_user_types(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())), rested=False)
    desk.rest(0.29)
    assert not desk.dialog.input_delay.is_ready
    desk.rest(0.02)
    assert desk.dialog.input_delay.is_ready
    desk.dialog.input_delay.start_delay()
    desk.rest(0.25)
    QTest.keyClick(desk.dialog.windowHandle(), Qt.Key.Key_Space)
    desk.rest(0.25)
    assert not desk.dialog.input_delay.is_ready
    assert desk.answers == []


def test_the_next_request_has_an_input_delay_too(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), 1), request(ChangeSet.of(update("B")), 2))
    desk.click("approve_button")
    desk.click("approve_button")
    assert [request_id for request_id, _ in desk.answers] == ["1"]
    desk.rest()
    desk.click("approve_button")
    assert [request_id for request_id, _ in desk.answers] == ["1", "2"]


def test_space_on_approve_is_deliberate(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    QTest.keyClick(desk.dialog.bar.approve_button, Qt.Key.Key_Space)
    assert isinstance(desk.decision, Approved)


def test_alt_a_approves_after_the_input_delay(desk: ApprovalWindow, qtbot: QtBot) -> None:
    desk.ask(request(ChangeSet.of(update())), rested=False)
    with qtbot.waitActive(desk.dialog):
        desk.dialog.activateWindow()
    handle = desk.dialog.windowHandle()
    QTest.keySequence(handle, "Alt+A")
    QCoreApplication.processEvents()
    assert desk.answers == []
    desk.rest()
    QTest.keySequence(handle, "Alt+A")
    qtbot.waitUntil(lambda: bool(desk.answers))
    assert isinstance(desk.decision, Approved)


def test_a_request_whose_time_is_up_is_not_approved(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), timeout=5.0))
    desk.rest(5.0)
    desk.click("approve_button")
    assert desk.answers == []


# The queue


def test_requests_come_in_their_order_and_the_strip_counts_them(desk: ApprovalWindow) -> None:
    desk.ask(*(request(ChangeSet.of(update(name)), n) for n, name in enumerate("ABC", 1)))
    strip = desk.dialog.strip
    assert strip.list_button.text().startswith("1 of 3")
    assert [action.text() for action in strip.menu.actions()] == [
        "1.  claude wants to change “Ideas/A.md”",
        "2.  claude wants to change “Ideas/B.md”",
        "3.  claude wants to change “Ideas/C.md”",
    ]
    strip.next_button.click()
    desk.rest()
    desk.click("approve_button")
    assert [request_id for request_id, _ in desk.answers] == ["2"]
    assert desk.dialog.current.request.id == "3"
    assert desk.paths[-1] == {"Ideas/A.md", "Ideas/C.md"}


def test_a_new_request_leaves_the_one_that_is_read_in_place(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), 1))
    desk.dialog.bar.reason.setText("half a sentence")
    desk.ask(request(ChangeSet.of(update("B")), 2), rested=False)
    assert desk.dialog.current.request.id == "1"
    assert desk.dialog.bar.reason.text() == "half a sentence"
    desk.click("deny_button")
    assert desk.answers == [("1", Denied("half a sentence"))]


def test_choices_stay_when_going_to_another_request_and_back(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), 1), request(ChangeSet.of(update("B")), 2))
    canvas = desk.dialog.page.diff_view.canvas
    canvas.go_to_hunk(2)
    QTest.keyClick(canvas, Qt.Key.Key_Space)
    desk.dialog.strip.next_button.click()
    desk.rest()
    desk.dialog.strip.previous_button.click()
    desk.rest()
    desk.click("approve_button")
    assert after_of(desk.approved.changes[0]) == AFTER.replace(b"THREE", b"three")


def test_a_withdrawn_request_disappears_with_a_note(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), 1), request(ChangeSet.of(update("B")), 2))
    desk.questions[0].withdrawn.emit()
    assert desk.dialog.current.request.id == "2"
    assert "Withdrawn by the caller: claude wants to change “Ideas/A.md”." in desk.dialog._notice.text()
    assert not desk.dialog.input_delay.is_ready
    desk.rest(400)
    desk.questions[1].reason = UNANSWERED_REASON
    desk.questions[1].withdrawn.emit()
    assert desk.queue.dialog is None
    assert desk.notes == ["Timed out and denied: claude wants to change “Ideas/B.md”."]
    assert desk.answers == []
    assert desk.paths[-1] == frozenset()


def test_an_approval_after_the_time_limit_is_reported(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    desk.click("approve_button")
    desk.questions[0].reason = UNANSWERED_REASON
    desk.questions[0].withdrawn.emit()
    assert desk.notes == ["Timed out and denied: claude wants to change “Ideas/A.md”."]


def test_no_notice_is_shown_for_requests_of_a_vault_that_closes(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))
    desk.queue.end()
    desk.questions[0].withdrawn.emit()
    assert desk.queue.dialog is None and desk.notes == []


def test_a_batch_is_approved_as_a_whole_after_it_was_listed(desk: ApprovalWindow) -> None:
    desk.ask(*(request(ChangeSet.of(update(name)), n) for n, name in enumerate("ABC", 1)))
    desk.dialog.strip.batch_button.click()
    batch = desk.dialog.batch
    assert batch.back_button.text() == "Back"
    batch.approve_button.click()
    assert desk.answers == [], "the page of all requests rests, too"
    desk.rest()
    batch.approve_button.click()
    assert [(request_id, type(decision)) for request_id, decision in desk.answers] == [
        (n, Approved) for n in "123"
    ]
    assert desk.queue.dialog is None


def test_text_that_cannot_be_written_is_not_approved_in_a_batch(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update("A")), 1), request(ChangeSet.of(update("B")), 2))
    desk.dialog.bar.edit_button.click()
    desk.dialog.page.editor._current_text = lambda: "a\ud800"  # A character that UTF-8 can't encode.
    desk.dialog.strip.batch_button.click()
    assert desk.dialog.page.problem
    assert desk.dialog.batch is None


def test_a_request_that_comes_later_is_not_in_the_batch(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update("A")), 1), request(ChangeSet.of(update("B")), 2))
    desk.dialog.strip.batch_button.click()
    desk.ask(request(ChangeSet.of(update("C")), 3))
    desk.dialog.batch.approve_button.click()
    assert [request_id for request_id, _ in desk.answers] == ["1", "2"]
    assert desk.dialog.current.request.id == "3"


def test_a_batch_loses_its_page_when_one_of_it_is_withdrawn(desk: ApprovalWindow) -> None:
    desk.ask(*(request(ChangeSet.of(update(name)), n) for n, name in enumerate("ABC", 1)))
    desk.dialog.strip.batch_button.click()
    desk.questions[2].withdrawn.emit()
    assert desk.dialog.batch is None
    QTest.keyClick(desk.dialog, Qt.Key.Key_Escape)
    assert desk.answers == []


def test_a_batch_stays_open_when_the_theme_changes(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update("A")), 1), request(ChangeSet.of(update("B")), 2))
    desk.dialog.strip.batch_button.click()
    batch = desk.dialog.batch
    theme = desk.dialog._theme
    for _, notify in tuple(theme.changed.calls(theme.theme)):
        notify()
    assert batch is not None and desk.dialog.batch is batch and desk.dialog.page.isHidden()


# Labels


@pytest.mark.parametrize(
    ("proposal", "words"),
    [
        (ChangeSet.of(update()), "change “Ideas/A.md”"),
        (ChangeSet.of(Move(P("A.md"), P("B.md"), b"", b"")), "move “A.md” to “B.md”"),
        (
            ChangeSet.of(Move(P("A.md"), P("B.md"), b"", b""), update("C"), update("D")),
            "move 1 note and change 2",
        ),
        (ChangeSet.of(Delete(P("a.png"), b""), Delete(P("b.md"), b"")), "delete 2 files"),
    ],
)
def test_the_title_says_what_the_proposal_does(proposal: ChangeSet, words: str) -> None:
    assert request_title(request(proposal)).english == f"claude wants to {words}"


def test_a_caller_cannot_hide_in_its_name(desk: ApprovalWindow) -> None:
    sly = Caller(CallerKind.MCP, "You\u202e\u200b\nApproved")
    title = request_title(request(ChangeSet.of(update()), caller=sly)).english
    assert title.startswith("You⟨RLO⟩⟨ZWSP⟩⟨LF⟩Approved wants")


# The draft, without a window


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n"]), max_size=12).map(b"".join)


@given(LINES, LINES, st.sets(st.integers(0, 11)))
def test_any_choice_of_hunks_gives_its_own_bytes(before: bytes, after: bytes, left_out: set[int]) -> None:
    file = FileDraft(Update(P("A.md"), before, after))
    hunks = set(range(len(file.compare().hunks)))
    file.leave_out(left_out & hunks)
    expected = file.compare().apply(hunks - left_out)
    chosen = file.chosen()
    if expected == before and left_out & hunks:
        assert chosen is None
    else:
        assert chosen == Update(P("A.md"), before, expected)


def test_a_move_whose_text_is_left_out_is_still_a_move() -> None:
    file = FileDraft(Move(P("A.md"), P("B.md"), b"# A\n", b"# B\n"))
    file.leave_out({0})
    assert file.chosen() == Move(P("A.md"), P("B.md"), b"# A\n", b"# A\n")
    file.set_selected(False)
    assert file.chosen() is None


@pytest.mark.parametrize("change", [Create(P("A.md"), b"a\n"), Delete(P("A.md"), b"a\n")])
def test_a_created_or_deleted_file_is_approved_as_a_whole(change: Create | Delete) -> None:
    with pytest.raises(ValueError, match="no such hunks"):
        FileDraft(change).leave_out({0})


def test_an_untouched_draft_is_the_proposal_itself() -> None:
    pending = request(ChangeSet.of(update(), summary="words"))
    assert ApprovalDraft(pending).approved().proposal is pending.proposal


def test_an_empty_choice_cannot_be_approved() -> None:
    draft = ApprovalDraft(request(ChangeSet.of(update())))
    draft.files[0].set_selected(False)
    with pytest.raises(ValueError, match="nothing is chosen"):
        draft.approved()


PIECES = st.lists(st.tuples(st.text("ab \u00a0é", max_size=4), st.sampled_from(["\n", "\r\n"])), max_size=8)


@given(PIECES, st.text("ab", max_size=3), st.booleans())
def test_a_text_comes_back_from_the_editor_as_it_was(
    pieces: list[tuple[str, str]], last: str, mark: bool
) -> None:
    content = (("\ufeff" if mark else "") + "".join(a + b for a, b in pieces) + last).encode()
    text = EditableText.of(content)
    assert text.encode(text.text) == content


def test_lines_that_were_not_touched_keep_their_ends() -> None:
    text = EditableText.of(b"\xef\xbb\xbfone\r\ntwo\nthree\r\n")
    assert text.encode("one\nnew\ntwo\nthree\n") == b"\xef\xbb\xbfone\r\nnew\r\ntwo\nthree\r\n"


@pytest.mark.parametrize("content", [b"\xff", b"a\rb", b"a\x00", "a\u2028b".encode()])
def test_text_that_an_editor_would_lose_is_refused(content: bytes) -> None:
    with pytest.raises(NotEditableError):
        EditableText.of(content)


def test_half_a_character_is_refused() -> None:
    with pytest.raises(NotEditableError, match="D800"):
        EditableText.of(b"a").encode("a\ud800")


def test_a_request_that_a_new_grant_covers_goes_with_a_note_that_says_so(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update("A"))), request(ChangeSet.of(update("B")), 2))
    desk.questions[1].reason = COVERED_REASON
    desk.questions[1].withdrawn.emit()
    assert desk.dialog._notice.text().startswith("Auto-approved by the rule that you just added: ")


def process_events(desk: ApprovalWindow) -> None:
    for _ in range(4):
        QCoreApplication.processEvents()


def test_a_small_change_gets_a_small_dialog_in_the_middle_of_the_window(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update(before=b"a\n" * 9, after=b"a\n" * 9 + b"b\n"))))
    process_events(desk)
    small, canvas = desk.dialog.height(), desk.dialog.page.diff_view.canvas
    assert small < 0.6 * desk.window.height()
    assert canvas.verticalScrollBar().maximum() == 0
    middle = desk.window.frameGeometry().center() - desk.dialog.frameGeometry().center()
    assert middle.manhattanLength() <= 4


def test_a_large_change_gets_nine_tenths_of_the_window_and_scrolls(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(Create(P("New.md"), b"line\n" * 400))))
    process_events(desk)
    assert desk.dialog.height() == int(0.9 * desk.window.height())
    assert desk.dialog.page.diff_view.canvas.verticalScrollBar().maximum() > 0


def test_the_dialog_keeps_its_size_and_place_while_it_is_used(desk: ApprovalWindow) -> None:
    large = ChangeSet.of(Create(P("One.md"), b"line\n" * 400), Create(P("Two.md"), b"x\n"))
    desk.ask(request(large), request(ChangeSet.of(update(after=BEFORE + b"end\n")), 2))
    process_events(desk)
    geometry, bar = desk.dialog.geometry(), desk.dialog.bar
    QTest.keyClick(desk.dialog.page.files.view, Qt.Key.Key_Down)
    process_events(desk)
    assert desk.dialog.page.file is desk.dialog.page.draft.files[1]
    assert desk.dialog.geometry() == geometry
    desk.dialog.show_request(1)
    process_events(desk)
    assert desk.dialog.geometry() == geometry
    desk.rest()
    buttons = (bar.deny_button, bar.later_button, bar.edit_button, bar.approve_button)
    button_geometries = [button.geometry() for button in buttons]
    desk.click("edit_button")
    QTest.keyClicks(desk.dialog.page.editor.field, "My ")
    desk.dialog.page.flush()
    process_events(desk)
    assert bar.approve_button.text() == "Approve edited text"
    assert [button.geometry() for button in buttons] == button_geometries
    assert desk.dialog.geometry() == geometry
    assert desk.dialog.page.editor.field.height() > 60


def test_a_space_typed_in_the_editor_answers_nothing(desk: ApprovalWindow, qtbot: QtBot) -> None:
    desk.ask(request(ChangeSet.of(update())))
    with qtbot.waitActive(desk.dialog):
        desk.dialog.activateWindow()
    desk.click("edit_button")
    for key in (Qt.Key.Key_A, Qt.Key.Key_Space, Qt.Key.Key_Return):
        QTest.keyClick(desk.dialog.windowHandle(), key)
    assert desk.answers == []
    assert desk.dialog.page.editor.field.toPlainText().startswith("a \nONE\n")


def test_the_time_limit_pauses_while_the_user_works_on_the_request(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), timeout=60.0))
    dialog = desk.dialog
    dialog._tick()
    assert dialog.bar.time.text() == "0:59 left"
    QTest.keyClick(dialog.windowHandle(), Qt.Key.Key_PageDown)
    desk.rest(5)
    dialog._tick()
    assert dialog.bar.time.text() == "Paused"
    assert desk.questions[0].request.postponed.seconds == 5
    desk.rest(20)
    dialog._tick()
    assert dialog.bar.time.text() == "0:39 left"
    desk.click("edit_button")
    for _ in range(10):
        desk.rest(30)
        dialog._tick()
        assert dialog.bar.time.text() == "Paused"
    desk.click("approve_button")
    assert isinstance(desk.decision, Approved)


def test_later_waits_as_long_as_the_user_takes(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), timeout=60.0))
    desk.click("later_button")
    assert desk.dialog.isHidden()
    desk.rest(3_600)
    desk.queue.review("1")
    desk.rest()
    desk.dialog._tick()
    assert desk.dialog.bar.time.text() == ""
    desk.click("approve_button")
    assert isinstance(desk.decision, Approved)


def test_the_agent_of_this_window_has_no_time_limit(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update()), timeout=None))
    desk.rest(86_400)
    assert desk.dialog.bar.time.text() == ""
    desk.click("approve_button")
    assert isinstance(desk.decision, Approved)


def test_the_tool_and_the_size_are_among_the_details(desk: ApprovalWindow) -> None:
    desk.ask(request(ChangeSet.of(update())))

    def visible_text() -> str:
        return " ".join(
            label.text() for label in desk.dialog.page.header.findChildren(QLabel) if label.isVisible()
        )

    assert "edit_note" not in visible_text() and "bytes" not in visible_text()
    details_button = next(
        button for button in desk.dialog.findChildren(QToolButton) if button.text().startswith("Details")
    )
    details_button.click()
    assert "edit_note" in visible_text() and "name = A" in visible_text()

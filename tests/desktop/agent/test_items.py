"""The chips of an interpretation show its parts and remove them."""

from __future__ import annotations

import html

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

from app.agent.transcript import SET_UP_MODEL, AnswerChoice, Question, ReadingChip, RequestReading
from app.desktop.agent.items import InterpretationView, QuestionView
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import WrappedButton
from tests.support.clipping import clipped

CHANGE = "= find [tag:star tag:\ue000]"
CHIPS = (
    ReadingChip(label="notes"),
    ReadingChip(
        label="<b>tag</b>:core",
        without="= find [tag:star]",
        value="core",
        change=CHANGE,
        value_kind="value",
        lead="tag:",
    ),
)


def test_a_chip_asks_again_without_it(qtbot) -> None:
    view = InterpretationView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.show_item(RequestReading(turn="t", at=0.0, chips=CHIPS))
    assert [label.text() for label in view.findChildren(QLabel)] == ["notes"]
    _, button = view.findChildren(QPushButton)
    with qtbot.waitSignal(view.reply_chosen) as chosen:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert chosen.args == ["= find [tag:star]"]
    view.deactivate()
    assert not button.isEnabled()


def test_a_chip_is_changed_by_the_keyboard(qtbot) -> None:
    view = InterpretationView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.show_item(RequestReading(turn="t", at=0.0, chips=CHIPS))
    view.show()
    view.activateWindow()
    label, _ = view.findChildren(QPushButton)
    label.setFocus()
    qtbot.keyClick(label, Qt.Key.Key_Space)
    (field,) = view.findChildren(QLineEdit)
    assert field.text() == field.selectedText() == "core"
    with qtbot.waitSignal(view.completions_requested) as requested:
        qtbot.keyClicks(field, "s")
    assert requested.args == ["tag:s", field]
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert label.isVisibleTo(view)
    qtbot.keyClick(label, Qt.Key.Key_Space)
    field = next(edit for edit in view.findChildren(QLineEdit) if edit.isVisibleTo(view))
    qtbot.keyClicks(field, "sea clock")
    with qtbot.waitSignal(view.reply_chosen) as chosen:
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert chosen.args == ['= find [tag:star tag:"sea clock"]']


def test_setting_up_a_model_is_a_button_of_the_answer(qtbot) -> None:
    view = QuestionView(ThemeSource("light"))
    qtbot.addWidget(view)
    choice = AnswerChoice(label="Set up a model…", reply="", action=SET_UP_MODEL)
    view.show_item(Question(turn="t", at=0.0, text="That needs a model.", choices=(choice,)))
    (button,) = view.findChildren(QPushButton)
    with qtbot.waitSignal(view.action_requested) as requested:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert requested.args == [SET_UP_MODEL]
    view.deactivate()
    assert button.isEnabled()


def test_a_tag_in_a_question_can_be_clicked(qtbot) -> None:
    view = QuestionView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.show_item(Question(turn="t", at=0.0, text="Which notes with #sea?"))
    with qtbot.waitSignal(view.tag_clicked) as clicked:
        view._label.tag_clicked.emit("sea")
    assert clicked.args == ["sea"]


def test_a_long_chip_is_shortened_so_that_it_fits_into_a_narrow_panel(qtbot) -> None:
    label = '([attendees:"Somebody with a long name"] OR [owner:"Somebody with a long name"])'
    chips = (ReadingChip(label=label), ReadingChip(label=label, without="a", value="b", change="c"))
    view = InterpretationView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.show_item(RequestReading(turn="t", at=0.0, chips=chips))
    assert all(chip.sizeHint().width() < 320 for chip in view._chips)
    (fixed,) = view.findChildren(QLabel)
    assert "…" in fixed.text() and html.unescape(fixed.toolTip()) == label


@pytest.mark.parametrize("width", [280, 372])
def test_the_answers_of_a_question_show_their_whole_labels(qtbot, width: int) -> None:
    place = 'set property · path:Instruments/ · [attendees:"Somebody & somebody else"] · key: status · value:'
    choices = tuple(AnswerChoice(label=f"{place} {value}", reply=value) for value in ("book", "done", "🌟"))
    view = QuestionView(ThemeSource("light"))
    qtbot.addWidget(view)
    view.show_item(Question(turn="t", at=0.0, text="Which of these do you mean?", choices=choices))
    view.resize(width, 800)
    view.show()
    buttons = view.findChildren(WrappedButton)
    for button, choice in zip(buttons, choices, strict=True):
        lines = button._lines(button.width())
        assert len(lines) > 1 and " ".join(lines) == choice.label == button.accessibleName()
        assert button.height() >= button.heightForWidth(button.width()) > button.fontMetrics().height() * 2
        assert max(button.fontMetrics().horizontalAdvance(line) for line in lines) < button.width()
    assert not clipped(view)

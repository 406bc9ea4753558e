"""Widgets for the items of a conversation, one for each kind."""

from __future__ import annotations

import html
from typing import ClassVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.agent.transcript import (
    AgentPlan,
    AgentText,
    AnswerChoice,
    AnyItem,
    Message,
    Notice,
    Question,
    ReadingChip,
    Reasoning,
    RequestReading,
    ToolCard,
    UserText,
)
from app.desktop.agent.interpretation_chip import InterpretationChipView, elided_chip_label
from app.desktop.agent.tool_card import ToolCardView
from app.desktop.runtime.translation import QT_TRANSLATE_NOOP, translate
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.flow_layout import FlowLayout
from app.desktop.widgets.markdown_label import MarkdownLabel
from app.desktop.widgets.panel import ElidedLabel, ThemedButton, WrappedButton
from app.desktop.widgets.plain_labels import wrapped_label


class ItemView(QWidget):
    """One item of a conversation.

    `link_clicked` carries a note's name and a fragment; `tag_clicked` a tag; `reply_chosen` an answer that
    the agent offered, or a changed request; `action_requested` an action of the window;
    `completions_requested` the search text to complete and the field that shows the completions;
    `resend_requested` the text of a prompt to edit and resend; `diff_requested` and `undo_requested` the
    number of an audit entry.
    """

    link_clicked = Signal(str, str)
    tag_clicked = Signal(str)
    reply_chosen = Signal(str)
    completions_requested = Signal(str, object)
    action_requested = Signal(str)
    resend_requested = Signal(str)
    diff_requested = Signal(int)
    undo_requested = Signal(int)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)

    def show_item(self, item: AnyItem) -> None:
        """Show `item` in place of the current item, which is of the same kind. Subclasses implement this."""
        raise TypeError(f"no view for {type(item).__name__}")

    def show_speaker(self, name: str) -> None:
        """Add a label above the item with the name of the agent that wrote it."""
        label = ElidedLabel(name, "muted")
        label.setObjectName("speaker")
        label.setProperty("textSize", "strong")
        self._column.insertWidget(0, label)

    def deactivate(self) -> None:
        """Disable the controls that only the latest item offers; by default, do nothing."""


class UserView(ItemView):
    """The user's message, with a button to edit and resend it."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._text = ""
        self._label = wrapped_label()
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._notes = wrapped_label(tone="muted")
        edit_button = ThemedButton(theme, "pencil-simple", self.tr("Edit and resend"), self, size=14)
        edit_button.clicked.connect(lambda: self.resend_requested.emit(self._text))
        bubble = QFrame()
        bubble.setObjectName("userBubble")
        inner = QVBoxLayout(bubble)
        inner.setContentsMargins(12, 8, 12, 8)
        inner.setSpacing(2)
        inner.addWidget(self._label)
        inner.addWidget(self._notes)
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 0, 0)
        row.addWidget(edit_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(bubble, 1)
        self._column.addLayout(row)
        theme.changed.connect(self._apply_theme)
        self._bubble = bubble
        self._apply_theme(theme.theme)

    def show_item(self, item: AnyItem) -> None:
        """Show the message and the attached notes."""
        assert isinstance(item, UserText)
        self._text = item.text
        self._label.setText(item.text)
        self._notes.setText(self.tr("Attached: {0}").format(", ".join(item.notes)) if item.notes else "")
        self._notes.setVisible(bool(item.notes))

    def show_as_answer(self, question: Question) -> None:
        """If the message is an answer that `question` offers, show the answer's label instead of its text."""
        label = next((choice.label for choice in question.choices if choice.reply == self._text), self._text)
        self._label.setText(label)

    def _apply_theme(self, theme: Theme) -> None:
        self._bubble.setStyleSheet(
            f"QFrame#userBubble {{ background: {theme.accent_soft}; border-radius: 10px; }}"
        )


class AgentView(ItemView):
    """Text written by the agent."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.label = MarkdownLabel(theme)
        self.label.link_clicked.connect(self.link_clicked)
        self.label.tag_clicked.connect(self.tag_clicked)
        self._column.addWidget(self.label)

    def show_item(self, item: AnyItem) -> None:
        """Show the text."""
        assert isinstance(item, AgentText)
        self.label.set_text(item.text)


class ReasoningView(ItemView):
    """The reasoning of a model; collapsed, because it is not the answer."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._button = QPushButton(self.tr("Reasoning"))
        self._button.setProperty("role", "quiet")
        self._button.setCheckable(True)
        self._label = QLabel()
        self._button.toggled.connect(self._label.setVisible)
        self._label.setProperty("tone", "muted")
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setWordWrap(True)
        self._label.hide()
        self._column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self._label)
        theme.changed.connect(self._apply_theme)
        self._apply_theme(theme.theme)

    def show_item(self, item: AnyItem) -> None:
        """Show the reasoning."""
        assert isinstance(item, Reasoning)
        self._label.setText(item.text)

    def _apply_theme(self, theme: Theme) -> None:
        self._button.setIcon(icon(theme, "brain"))


class CardView(ItemView):
    """A tool call."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.card = ToolCardView(theme)
        self.card.diff_requested.connect(self.diff_requested)
        self.card.undo_requested.connect(self.undo_requested)
        self._column.addWidget(self.card)

    def show_item(self, item: AnyItem) -> None:
        """Show the current state of the call."""
        assert isinstance(item, ToolCard)
        self.card.show_card(item)


class QuestionView(ItemView):
    """The agent's question, with a button for each offered answer."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._label = MarkdownLabel(theme)
        self._label.link_clicked.connect(self.link_clicked)
        self._label.tag_clicked.connect(self.tag_clicked)
        self._column.addWidget(self._label)
        self._buttons: list[QPushButton] = []
        self._choices: tuple[AnswerChoice, ...] = ()

    def show_item(self, item: AnyItem) -> None:
        """Show the question and its answers."""
        assert isinstance(item, Question)
        self._label.set_text(item.text)
        self._choices = item.choices
        for button in self._buttons:
            button.deleteLater()
        # Not elided: the labels may differ in any part.
        self._buttons = [WrappedButton(choice.label) for choice in item.choices]
        for button, choice in zip(self._buttons, item.choices, strict=True):
            button.setProperty("role", "answer")
            button.clicked.connect(lambda _=False, choice=choice: self._answer(choice))
            self._column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

    def _answer(self, choice: AnswerChoice) -> None:
        if choice.action:
            self.action_requested.emit(choice.action)
        else:
            self.reply_chosen.emit(choice.reply)

    def deactivate(self) -> None:
        """Disable the answers; the actions stay enabled."""
        for button, choice in zip(self._buttons, self._choices, strict=True):
            button.setEnabled(bool(choice.action))


class InterpretationView(ItemView):
    """The built-in agent's interpretation of a request, as chips that the user can change and remove."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._row = FlowLayout()
        self._row.setSpacing(4)
        self._column.addLayout(self._row)
        self._chips: list[QWidget] = []
        self.setAccessibleName(self.tr("Interpretation of the request"))

    def show_item(self, item: AnyItem) -> None:
        """Show the chips."""
        assert isinstance(item, RequestReading)
        for widget in self._chips:
            self._row.removeWidget(widget)
            widget.deleteLater()
        self._chips = [self._create_chip(chip) for chip in item.chips]
        for widget in self._chips:
            self._row.addWidget(widget)
        self.setAccessibleDescription(" · ".join(chip.label for chip in item.chips))

    def _create_chip(self, chip: ReadingChip) -> QWidget:
        if not (chip.without or chip.change):
            shown = elided_chip_label(self, chip.label)
            label = QLabel(shown)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setProperty("role", "reading")
            if shown != chip.label:
                label.setToolTip(html.escape(chip.label))
            return label
        view = InterpretationChipView(chip, self)
        view.reply_chosen.connect(self.reply_chosen)
        view.completions_requested.connect(self.completions_requested)
        view.resized.connect(self.updateGeometry)
        return view

    def deactivate(self) -> None:
        """Disable the chips, which stay visible as a record."""
        for chip in self._chips:
            if isinstance(chip, InterpretationChipView):
                chip.close_field()
            chip.setEnabled(False)


class MessageView(ItemView):
    """A message from an agent to another agent or the user: sender, recipient and text."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._frame = QFrame()
        self._frame.setObjectName("message")
        self._icon_label = QLabel()
        self._participants = ElidedLabel(tone="muted")
        self._label = wrapped_label()
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        header = QHBoxLayout()
        header.setSpacing(6)
        header.addWidget(self._icon_label)
        header.addWidget(self._participants, 1)
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(10, 8, 10, 8)
        inner.setSpacing(4)
        inner.addLayout(header)
        inner.addWidget(self._label)
        self._column.addWidget(self._frame)
        theme.changed.connect(self._apply_theme)
        self._apply_theme(theme.theme)

    def show_item(self, item: AnyItem) -> None:
        """Show the message."""
        assert isinstance(item, Message)
        self._participants.setText(f"{item.sender} → {item.to}")
        self._label.setText(item.text)
        self._frame.setAccessibleName(self.tr("{0} to {1}: {2}").format(item.sender, item.to, item.text))

    def _apply_theme(self, theme: Theme) -> None:
        self._icon_label.setPixmap(icon(theme, "chat-text", theme.muted).pixmap(16, 16))
        self._frame.setStyleSheet(
            f"QFrame#message {{ border: 1px solid {theme.border}; border-left: 3px solid {theme.accent};"
            f" border-radius: 6px; background: {theme.raised}; }}"
        )


class PlanView(ItemView):
    """An external agent's plan, with the state of each step."""

    _MARKS: ClassVar = {
        "pending": ("circle", QT_TRANSLATE_NOOP("PlanView", "Pending")),
        "in_progress": ("spinner", QT_TRANSLATE_NOOP("PlanView", "In progress")),
        "completed": ("check-circle", QT_TRANSLATE_NOOP("PlanView", "Done")),
    }

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._plan: AgentPlan | None = None
        self._frame = QFrame()
        self._frame.setObjectName("card")
        self._rows = QGridLayout(self._frame)
        self._rows.setContentsMargins(10, 8, 10, 8)
        self._rows.setHorizontalSpacing(8)
        self._rows.setVerticalSpacing(4)
        self._rows.setColumnStretch(1, 1)
        self._column.addWidget(self._frame)
        theme.changed.connect(self._apply_theme)

    def show_item(self, item: AnyItem) -> None:
        """Show the current state of the plan."""
        assert isinstance(item, AgentPlan)
        self._plan = item
        self._apply_theme(self._theme.theme)

    def _apply_theme(self, theme: Theme) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        parts = []
        for row, step in enumerate(self._plan.steps if self._plan is not None else ()):
            name, state = self._MARKS[step.state]
            color = theme.success if step.state == "completed" else theme.muted
            icon_label = QLabel()
            icon_label.setPixmap(icon(theme, name, color).pixmap(16, 16))
            icon_label.setToolTip(translate("PlanView", state))
            label = wrapped_label(step.text, "muted" if step.state == "completed" else "")
            self._rows.addWidget(icon_label, row, 0, Qt.AlignmentFlag.AlignTop)
            self._rows.addWidget(label, row, 1)
            parts.append(f"{step.text}: {translate('PlanView', state)}")
        self._frame.setAccessibleName(self.tr("Plan"))
        self._frame.setAccessibleDescription("; ".join(parts))


class NoticeView(ItemView):
    """A notice about the turn, with a hint on what to do."""

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._level = "info"
        self._frame = QFrame()
        self._frame.setObjectName("notice")
        self._icon_label = QLabel()
        self._label = wrapped_label()
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._hint = wrapped_label(tone="muted")
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        text_column.addWidget(self._label)
        text_column.addWidget(self._hint)
        row = QHBoxLayout(self._frame)
        row.setContentsMargins(10, 8, 10, 8)
        row.addWidget(self._icon_label, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(text_column, 1)
        self._column.addWidget(self._frame)
        theme.changed.connect(self._apply_theme)

    def show_item(self, item: AnyItem) -> None:
        """Show the notice."""
        assert isinstance(item, Notice)
        self._level = item.level
        self._label.setText(item.text)
        self._hint.setText(item.hint)
        self._hint.setVisible(bool(item.hint))
        self._apply_theme(self._theme.theme)

    def _apply_theme(self, theme: Theme) -> None:
        name, color = {
            "info": ("info", theme.muted),
            "warning": ("warning", theme.warning),
            "error": ("warning-circle", theme.danger),
        }[self._level]
        self._icon_label.setPixmap(icon(theme, name, color).pixmap(16, 16))
        self._frame.setStyleSheet(
            f"QFrame#notice {{ border: 1px solid {theme.border}; border-left: 3px solid {color};"
            f" border-radius: 6px; background: {theme.raised}; }}"
        )


_VIEWS: dict[type[object], type[ItemView]] = {
    UserText: UserView,
    AgentText: AgentView,
    Reasoning: ReasoningView,
    ToolCard: CardView,
    Question: QuestionView,
    RequestReading: InterpretationView,
    Message: MessageView,
    Notice: NoticeView,
    AgentPlan: PlanView,
}


def create_view(item: AnyItem, theme: ThemeSource, previous_agent: str = "") -> ItemView:
    """Return a widget that shows `item`.

    The name of the item's agent is shown above it, unless the previous item is by the same agent,
    `previous_agent`. A message already shows its sender.
    """
    view = _VIEWS[type(item)](theme)
    view.show_item(item)
    if item.agent and item.agent != previous_agent and not isinstance(item, Message):
        view.show_speaker(item.agent)
    return view

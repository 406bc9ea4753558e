"""A card for a tool call: tool, state and message; when expanded, also arguments and result."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
)

from app.agent.transcript import CardState, ToolCard
from app.desktop.agent.labels import format_cost, format_tokens
from app.desktop.runtime.translation import QT_TRANSLATE_NOOP, translate
from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource, code_font
from app.desktop.tool_form.labels import arguments_label
from app.desktop.widgets.panel import ElidedLabel, ThemedButton
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.time_labels import duration_label
from app.permissions.audit_entry import AuditDecision
from app.permissions.tool_label import tool_label
from app.toolkit.approval_gate import DENIED_MESSAGE
from app.toolkit.user_edits import EDITED, LEFT_OUT
from app.vault.markdown.links import quote_wikilinks

_STATES: dict[CardState, tuple[str, str, str]] = {
    "running": ("spinner", "muted", QT_TRANSLATE_NOOP("ToolCardView", "Running")),
    "done": ("check-circle", "success", QT_TRANSLATE_NOOP("ToolCardView", "Done")),
    "denied": ("prohibit", "warning", QT_TRANSLATE_NOOP("ToolCardView", "Denied")),
    "failed": ("x-circle", "danger", QT_TRANSLATE_NOOP("ToolCardView", "Failed")),
    "cancelled": ("stop-circle", "muted", QT_TRANSLATE_NOOP("ToolCardView", "Stopped")),
}
_UNDONE = ("arrow-u-up-left", "muted", QT_TRANSLATE_NOOP("ToolCardView", "Undone"))
_SPACING = 6


class ToolCardView(QFrame):
    """Shows one call. `diff_requested` and `undo_requested` carry the number of its audit entry."""

    diff_requested = Signal(int)
    undo_requested = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._card: ToolCard | None = None
        self._icon_label = QLabel()
        self._icon_label.setFixedWidth(round(18 * theme.zoom))
        self._name = ElidedLabel()
        self._name.setProperty("textSize", "strong")
        # The first arguments say what the call is about.
        self._summary = ElidedLabel(tone="muted", elide=Qt.TextElideMode.ElideRight)
        # The arguments get the width left over by the name and duration, and are elided first.
        self._summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._badge = ElidedLabel(tone="muted")
        self._badge.setObjectName("badge")
        self._cost_label = ElidedLabel(tone="faint")
        self._message = wrapped_label()
        self._details_button = ThemedButton(
            theme, "caret-down", self.tr("Show arguments and result"), self, size=14
        )
        self._details_button.setCheckable(True)
        self._details_button.toggled.connect(self._toggle_details)
        self._details: QPlainTextEdit | None = None
        self._build()
        theme.changed.connect(self._apply_theme)

    def _build(self) -> None:
        self._diff_button = QPushButton(self.tr("Show change"))
        self._undo_button = QPushButton(self.tr("Undo"))
        for button in (self._diff_button, self._undo_button):
            button.setProperty("role", "quiet")
        self._diff_button.clicked.connect(lambda: self.diff_requested.emit(self._entry))
        self._undo_button.clicked.connect(lambda: self.undo_requested.emit(self._entry))
        header = QHBoxLayout()
        header.setSpacing(_SPACING)
        for widget in (self._icon_label, self._name):
            header.addWidget(widget)
        header.addWidget(self._summary, 1)
        header.addWidget(self._badge)
        header.addWidget(self._cost_label)
        header.addWidget(self._details_button)
        self._actions = QHBoxLayout()
        self._actions.addWidget(self._diff_button)
        self._actions.addWidget(self._undo_button)
        self._actions.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(10, 6, 6, 6)
        self._column.setSpacing(4)
        self._column.addLayout(header)
        self._column.addWidget(self._message)
        self._column.addLayout(self._actions)

    def _display_message(self, message: str) -> str:
        """Return the message, worded for the user who answered the request."""
        if message.startswith(DENIED_MESSAGE):
            message = self.tr("You denied this") + message.removeprefix(DENIED_MESSAGE)
        message = message.replace(LEFT_OUT, self.tr("Excluded by you"))
        message = message.replace(EDITED, self.tr("Edited by you"))
        return quote_wikilinks(message)

    def show_card(self, card: ToolCard) -> None:
        """Show the current state of the call."""
        self._card = card
        name = tool_label(card.tool)
        self._name.setText(name)
        self._summary.setText(arguments_label(card.arguments))
        self._cost_label.setText(_cost_text(card))
        self._cost_label.setToolTip(
            self.tr("Tokens that the model used for this call") if card.tokens else ""
        )
        message = self._display_message(card.message)
        self._message.setText(message)
        self._message.setVisible(bool(card.message))
        is_committed = card.commit is not None and card.entry is not None
        self._diff_button.setVisible(is_committed)
        self._undo_button.setVisible(is_committed and card.undone_by is None)
        badges = self._badges(card)
        self._badge.setText(" · ".join(badges))
        self._badge.setVisible(bool(badges))
        self._fit_header()
        states = dict.fromkeys([translate("ToolCardView", self._state_of(card)[2]), *badges])
        self.setAccessibleName(f"{name}: {', '.join(states)}. {message}")
        if self._details is not None:
            self._details.setPlainText(_details_text(card))
        self._apply_theme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the duration if the name and the badge need its width."""
        super().resizeEvent(event)
        self._fit_header()

    def _fit_header(self) -> None:
        hints = (self._icon_label, self._name, self._badge, self._details_button)
        widths = [widget.sizeHint().width() for widget in hints if not widget.isHidden()]
        margins = self._column.contentsMargins()
        needed = sum(widths) + _SPACING * len(widths) + margins.left() + margins.right()
        free = self.width() - needed
        self._cost_label.setVisible(free >= self._cost_label.minimumSizeHint().width())

    def _badges(self, card: ToolCard) -> list[str]:
        """Return labels for an undone, auto-approved or edited change."""
        badges = [translate("ToolCardView", _UNDONE[2])] if card.undone_by is not None else []
        if card.decision == AuditDecision.AUTO_APPROVED:
            badges.append(self.tr("Auto-approved"))
        if card.changed_by_user:
            badges.append(self.tr("Changed by you"))
        return badges

    def _state_of(self, card: ToolCard) -> tuple[str, str, str]:
        return _UNDONE if card.undone_by is not None else _STATES[card.state]

    def show_progress(self, message: str) -> None:
        """Show the progress of the call, if it is running."""
        if self._card is not None and self._card.state == "running":
            self._message.setText(message)
            self._message.setVisible(bool(message))

    @property
    def _entry(self) -> int:
        return self._card.entry or 0 if self._card else 0

    def _toggle_details(self, shown: bool) -> None:
        self._details_button.set_symbol("caret-up" if shown else "caret-down")
        if self._details is None and self._card is not None:
            self._details = QPlainTextEdit(_details_text(self._card))
            self._details.setReadOnly(True)
            self._details.setFont(code_font(self._theme.zoom))
            self._details.setMaximumHeight(220)
            self._details.setAccessibleName(self.tr("Arguments and result"))
            self._column.addWidget(self._details)
        if self._details is not None:
            self._details.setVisible(shown)

    def _apply_theme(self) -> None:
        if self._card is None:
            return
        theme: Theme = self._theme.theme
        name, tone, label = self._state_of(self._card)
        color = {"success": theme.success, "warning": theme.warning, "danger": theme.danger}.get(tone)
        self._icon_label.setPixmap(icon(theme, name, color or theme.muted).pixmap(16, 16))
        self._icon_label.setToolTip(translate("ToolCardView", label))


def _details_text(card: ToolCard) -> str:
    parts = [translate("ToolCardView", "Arguments") + "\n" + _format_json(card.arguments)]
    if card.result:
        parts.append(translate("ToolCardView", "Result") + "\n" + _format_json(card.result))
    if card.entry is not None:
        parts.append(translate("ToolCardView", "Audit entry {0}").format(card.entry))
    return "\n\n".join(parts)


def _format_json(text: str) -> str:
    return json.dumps(json.loads(text), indent=2, ensure_ascii=False) if text else ""


def _cost_text(card: ToolCard) -> str:
    """Return the duration of a finished call, and the tokens and cost of its model if known."""
    parts = [] if card.state == "running" else [duration_label(card.duration_ms)]
    if card.tokens:
        parts.append(format_tokens(card.tokens))
    if card.cost:
        parts.append(format_cost(card.cost, decimals=4))
    return " · ".join(parts)

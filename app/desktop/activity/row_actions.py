"""The action buttons at the right of an activity."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.desktop.activity.item import ActivityItem, ActivityStatus
from app.vault.path import NOTE_SUFFIXES


class RowActions(QWidget):
    """The buttons of one row; `action_requested` carries one of the keys of `actions_for`."""

    action_requested = Signal(str)

    def __init__(self, activity: ActivityItem, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 8, 2)
        row.setSpacing(6)
        row.addStretch(1)
        self.buttons: dict[str, QPushButton] = {}
        for action in actions_for(activity):
            self.buttons[action] = button = self._create_button(action)
            row.addWidget(button)
        self.preferred_width = sum(button.sizeHint().width() + 6 for button in self.buttons.values()) + 8

    def _create_button(self, action: str) -> QPushButton:
        texts = {
            "review": (self.tr("Review…"), self.tr("Review the change, then decide")),
            "reject": (self.tr("Deny"), self.tr("Deny; nothing is written")),
            "open": (self.tr("Open note"), self.tr("Open the note")),
            "diff": (self.tr("Show change"), self.tr("Show what changed")),
            "undo": (self.tr("Undo"), self.tr("Review and undo this change")),
        }[action]
        button = QPushButton(texts[0])
        button.setToolTip(texts[1])
        button.setAccessibleDescription(texts[1])
        button.setProperty("role", "row" if action != "review" else "row-main")
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.action_requested.emit(action))
        return button


def actions_for(activity: ActivityItem) -> tuple[str, ...]:
    """Return the actions of an activity: "review", "reject", "open", "diff", "undo"."""
    if activity.status is ActivityStatus.PENDING and activity.request is not None:
        return ("reject", "review")
    entry = activity.entry
    actions = ["open"] if first_note(activity) else []
    if entry is not None and entry.commit is not None:
        actions.append("diff")
        if entry.undone_by is None:
            actions.append("undo")
    return tuple(actions)


def first_note(activity: ActivityItem) -> str:
    """Return the path of the first affected note; empty if there is none."""
    return next((path for path in activity.paths if path.lower().endswith(NOTE_SUFFIXES)), "")

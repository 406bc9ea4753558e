"""The buttons at the right end of a line: what can be done with it, in its place."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app.desktop.activity.activity import Activity, Status
from app.vault.path import NOTE_SUFFIXES


class RowActions(QWidget):
    """The buttons of one line; `wanted` carries what is to be done: one of the keys of `deeds_of`."""

    wanted = Signal(str)

    def __init__(self, activity: Activity, parent: QWidget) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 8, 2)
        row.setSpacing(6)
        row.addStretch(1)
        self.buttons: dict[str, QPushButton] = {}
        for deed in deeds_of(activity):
            self.buttons[deed] = button = self._button(deed)
            row.addWidget(button)
        self.room = sum(b.sizeHint().width() + 6 for b in self.buttons.values()) + 8

    def _button(self, deed: str) -> QPushButton:
        words = {
            "review": (self.tr("Review…"), self.tr("See exactly what would be done, then decide")),
            "reject": (self.tr("Reject"), self.tr("Say no; nothing is written")),
            "open": (self.tr("Open note"), self.tr("Open the note")),
            "diff": (self.tr("Show change"), self.tr("Show what was written")),
            "undo": (self.tr("Undo"), self.tr("Propose to take it back")),
        }[deed]
        button = QPushButton(words[0])
        button.setToolTip(words[1])
        button.setAccessibleDescription(words[1])
        button.setProperty("role", "row" if deed != "review" else "row-main")
        button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self.wanted.emit(deed))
        return button


def deeds_of(activity: Activity) -> tuple[str, ...]:
    """What can be done with a line: "review", "reject", "open", "diff", "undo"."""
    if activity.status is Status.PENDING and activity.request is not None:
        return ("reject", "review")
    entry = activity.entry
    deeds = ["open"] if note_of(activity) else []
    if entry is not None and entry.commit is not None:
        deeds.append("diff")
        if entry.undone_by is None:
            deeds.append("undo")
    return tuple(deeds)


def note_of(activity: Activity) -> str:
    """The first note that it is about; empty for none."""
    return next((path for path in activity.paths if path.lower().endswith(NOTE_SUFFIXES)), "")

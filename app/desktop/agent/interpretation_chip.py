"""A chip of an interpreted request: a button that turns into a field for editing its value."""

from __future__ import annotations

import html

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QWidget

from app.agent.language.words.chips import with_value
from app.agent.transcript import ReadingChip
from app.desktop.widgets.completion_popup import CompletionPopup

_MIN_FIELD_WIDTH = 120
_MAX_FIELD_WIDTH = 280
_PADDING = 28
_MAX_LABEL_WIDTH = 220


class ValueField(QLineEdit):
    """A field for a chip's value, with completion.

    Signals:
        completions_requested: The typed text to complete.
        canceled: The user pressed Escape; the value is unchanged.
    """

    completions_requested = Signal(str)
    canceled = Signal()

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self.popup = CompletionPopup(self, preselect=False)
        self.popup.chosen.connect(lambda _, name: self.setText(name))
        self.textEdited.connect(self.completions_requested)
        width = self.fontMetrics().horizontalAdvance(text) + _PADDING
        self.setFixedWidth(min(_MAX_FIELD_WIDTH, max(_MIN_FIELD_WIDTH, width)))

    def show_completions(self, typed: str, names: list[str]) -> None:
        """Offer `names` as completions of `typed`, if that is still the text and the field has focus."""
        if typed == self.text():
            self.popup.offer(names)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `canceled` on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.canceled.emit()
            return
        super().keyPressEvent(event)


def elided_chip_label(widget: QWidget, label: str) -> str:
    """Return a chip's label, shortened in the middle so that a long one fits in a narrow panel."""
    return widget.fontMetrics().elidedText(label, Qt.TextElideMode.ElideMiddle, _MAX_LABEL_WIDTH)


class InterpretationChipView(QWidget):
    """One chip of an interpreted request.

    Signals:
        reply_chosen: The request to send instead: with another value, or without the chip.
        completions_requested: The search text to complete, and the field that shows the completions.
        resized: The size of the chip changed.
    """

    reply_chosen = Signal(str)
    completions_requested = Signal(str, object)
    resized = Signal()

    def __init__(self, chip: ReadingChip, parent: QWidget) -> None:
        super().__init__(parent)
        self._chip = chip
        self._field: ValueField | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(1)
        shown = elided_chip_label(self, chip.label)
        self._label = QPushButton(shown.replace("&", "&&"), self)
        self._label.setProperty("role", "reading")
        self._label.setEnabled(bool(chip.change))
        if chip.change:
            tip = self.tr("Edit")
            self._label.setToolTip(tip if shown == chip.label else html.escape(f"{chip.label} ({tip})"))
            self._label.setAccessibleName(self.tr("Edit {0}").format(chip.label))
        self._label.clicked.connect(self.open_field)
        row.addWidget(self._label)
        if chip.without:
            remove_button = QPushButton("×", self)
            remove_button.setProperty("role", "reading")
            remove_button.setToolTip(self.tr("Remove this and resend the request"))
            remove_button.setAccessibleName(self.tr("Remove {0}").format(chip.label))
            remove_button.clicked.connect(lambda: self.reply_chosen.emit(chip.without))
            row.addWidget(remove_button)

    def open_field(self) -> None:
        """Replace the label with a field for the value."""
        if self._field is not None:
            return
        self._field = ValueField(self._chip.value, self)
        self._field.setAccessibleName(self.tr("New value for {0}").format(self._chip.label))
        self._field.completions_requested.connect(self._request_completions)
        self._field.canceled.connect(self._cancel)
        self._field.returnPressed.connect(self._submit)
        layout = self.layout()
        assert isinstance(layout, QHBoxLayout)
        layout.insertWidget(0, self._field)
        self._label.hide()
        self._field.show()
        self._field.setFocus(Qt.FocusReason.OtherFocusReason)
        self._field.selectAll()
        self.resized.emit()

    def _request_completions(self, typed: str) -> None:
        if self._chip.lead and typed.strip():
            self.completions_requested.emit(f"{self._chip.lead}{typed}", self._field)

    def _submit(self) -> None:
        assert self._field is not None
        value = self._field.text().strip()
        if not value or value == self._chip.value:
            self._cancel()
            return
        self.reply_chosen.emit(with_value(self._chip.change, self._chip.value_kind, value))

    def _cancel(self) -> None:
        self.close_field()
        self._label.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_field(self) -> None:
        """Replace the field, if it is open, with the label."""
        if self._field is not None:
            field, self._field = self._field, None
            field.hide()
            field.deleteLater()
            self._label.show()
            self.resized.emit()

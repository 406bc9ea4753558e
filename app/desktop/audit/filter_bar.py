"""The filter of the audit log: text, caller, tool, decision and dates."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from PySide6.QtCore import QDate, QSize, QTimer, Signal
from PySide6.QtWidgets import QComboBox, QDateEdit, QHBoxLayout, QSizePolicy, QWidget

from app.desktop.audit.labels import decision_label
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import SearchField
from app.permissions.audit_entry import AuditDecision, AuditEntry, AuditFilter
from app.permissions.tool_label import tool_label

_DEBOUNCE_MS = 180
_DATE_RANGE = "between"
_MIN_TEXT_CHARS = 14
_MIN_COMBO_WIDTH = 80
_MAX_COMBO_WIDTH = 240


class FilterBar(QWidget):
    """The filter fields; `changed` emits the `AuditFilter` shortly after the last change."""

    changed = Signal(object)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = SearchField(theme, self.tr("Filter by text"))
        self.text.setAccessibleName(self.tr("Filter the audit log by text"))
        self.caller = _create_combo_box(self.tr("Any caller"), self.tr("Filter by caller"))
        self.tool = _create_combo_box(self.tr("Any tool"), self.tr("Filter by tool"))
        self.decision = _create_combo_box(self.tr("Any decision"), self.tr("Filter by decision"))
        for decision in AuditDecision:
            self.decision.addItem(decision_label(decision), decision.value)
        self.dates = _create_combo_box(self.tr("Any time"), self.tr("Filter by date"))
        periods = ((self.tr("Today"), 0), (self.tr("Last 7 days"), 6), (self.tr("Last 30 days"), 29))
        for label, days in periods:
            self.dates.addItem(label, days)
        self.dates.addItem(self.tr("Custom range…"), _DATE_RANGE)
        self.first = _create_date_edit(self.tr("From"))
        self.last = _create_date_edit(self.tr("To"))
        self._timer = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._build()

    @property
    def current_filter(self) -> AuditFilter:
        """The filter that the fields describe."""
        since, until = self._date_range()
        return AuditFilter(
            text=self.text.text().strip(),
            caller=self.caller.currentData() or "",
            tool=self.tool.currentData() or "",
            decision=self.decision.currentData() or "",
            since=since,
            until=until,
        )

    def add_choices(self, entry: AuditEntry) -> None:
        """Add the entry's caller and tool to the choices."""
        choices = ((self.caller, entry.caller, entry.caller), (self.tool, entry.tool, tool_label(entry.tool)))
        for box, value, label in choices:
            if value and box.findData(value) < 0:
                box.addItem(label, value)

    def choose_caller(self, caller: str) -> None:
        """Filter by this caller."""
        if self.caller.findData(caller) < 0:
            self.caller.addItem(caller, caller)
        self.caller.setCurrentIndex(self.caller.findData(caller))

    def add(self, widget: QWidget) -> None:
        """Add `widget` after the fields."""
        self._row.addWidget(widget)

    def clear(self) -> None:
        """Remove the filter."""
        self.text.clear()
        for box in (self.caller, self.tool, self.decision, self.dates):
            box.setCurrentIndex(0)

    def _date_range(self) -> tuple[float | None, float | None]:
        selected = self.dates.currentData()
        if selected is None or selected == "":
            return None, None
        if selected == _DATE_RANGE:
            return _day_start(self.first.date()), _day_start(self.last.date().addDays(1)) - 0.001
        day = datetime.combine(datetime.now().date() - timedelta(days=int(selected)), time())
        return day.timestamp(), None

    def _build(self) -> None:
        self._row = layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 6)
        layout.setSpacing(6)
        self.text.setMinimumWidth(_MIN_TEXT_CHARS * self.text.fontMetrics().averageCharWidth())
        # The text field takes the width that the combo boxes leave.
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        layout.addWidget(self.text, 1)
        boxes = (self.caller, self.tool, self.decision, self.dates)
        for box in boxes:
            layout.addWidget(box)
            # If connected directly, the timer would take the index as its interval.
            box.currentIndexChanged.connect(lambda _: self._timer.start())
        for field in (self.first, self.last):
            layout.addWidget(field)
            field.hide()
            field.dateChanged.connect(self._timer.start)
        self.dates.currentIndexChanged.connect(self._show_dates)
        self.text.textChanged.connect(self._timer.start)
        self._timer.timeout.connect(lambda: self.changed.emit(self.current_filter))

    def _show_dates(self) -> None:
        is_range = self.dates.currentData() == _DATE_RANGE
        self.first.setVisible(is_range)
        self.last.setVisible(is_range)


class _ChoiceBox(QComboBox):
    """A combo box as wide as its current choice, which shrinks and clips its text in a narrow window."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.currentIndexChanged.connect(lambda _: self.updateGeometry())

    def sizeHint(self) -> QSize:
        """Return the size for the current choice; Qt would leave space for the longest one."""
        hint, metrics = super().sizeHint(), self.fontMetrics()
        widths = (metrics.horizontalAdvance(self.itemText(row)) for row in range(self.count()))
        widest = max(widths, default=0)
        width = hint.width() - widest + metrics.horizontalAdvance(self.currentText())
        return QSize(min(width, _MAX_COMBO_WIDTH), hint.height())

    def minimumSizeHint(self) -> QSize:
        """Return a small width, so that the window can be narrow."""
        hint = self.sizeHint()
        return QSize(min(_MIN_COMBO_WIDTH, hint.width()), hint.height())

    def showPopup(self) -> None:
        """Show every choice in full, even if the box is narrower."""
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + view.verticalScrollBar().sizeHint().width())
        super().showPopup()


def _create_combo_box(any_label: str, name: str) -> QComboBox:
    box = _ChoiceBox()
    box.addItem(any_label, "")
    box.setAccessibleName(name)
    box.setToolTip(name)
    return box


def _create_date_edit(name: str) -> QDateEdit:
    field = QDateEdit(QDate.currentDate())
    field.setCalendarPopup(True)
    field.setDisplayFormat("yyyy-MM-dd")
    field.setAccessibleName(name)
    return field


def _day_start(day: QDate) -> float:
    """Return the start of a day in local time, in Unix seconds."""
    return datetime(day.year(), day.month(), day.day()).timestamp()

"""Labels and colors of an audit entry's decision, and the delegate of tables that show it."""

from __future__ import annotations

import re

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyleOptionViewItem

from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import Theme
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.row_delegate import PaintedRowDelegate
from app.permissions.audit_entry import AuditDecision
from app.vault.markdown.links import quote_wikilinks

_Index = QModelIndex | QPersistentModelIndex
_CHIP_PADDING = 8
_ERROR_CODE = re.compile(r"^[a-z]+(_[a-z]+)*: (?=\S)")


def result_text(result: str) -> str:
    """Return a logged result, or the reason of a failed call, without the code of its error."""
    return quote_wikilinks(_ERROR_CODE.sub("", result))


def decision_label(decision: str) -> str:
    """Return the label of a decision; an unknown decision is its own label."""
    labels: dict[str, str] = {
        AuditDecision.NO_APPROVAL_NEEDED: translate("Audit", "No approval needed"),
        AuditDecision.AUTO_APPROVED: translate("Audit", "Auto-approved"),
        AuditDecision.USER_APPROVED: translate("Audit", "Approved"),
        AuditDecision.USER_DENIED: translate("Audit", "Denied"),
        AuditDecision.TIMED_OUT: translate("Audit", "Timed out"),
        AuditDecision.RULE: translate("Audit", "Denied by rule"),
        AuditDecision.FAILED: translate("Audit", "Failed"),
        AuditDecision.CANCELLED: translate("Audit", "Canceled"),
        AuditDecision.NOT_ASKED: translate("Audit", "Without approval"),
    }
    return labels.get(decision, decision)


def decision_color(decision: str, theme: Theme) -> str:
    """Return the color of a decision; muted for an unknown decision."""
    colors: dict[str, str] = {
        AuditDecision.NO_APPROVAL_NEEDED: theme.muted,
        AuditDecision.AUTO_APPROVED: theme.accent,
        AuditDecision.USER_APPROVED: theme.success,
        AuditDecision.USER_DENIED: theme.danger,
        AuditDecision.TIMED_OUT: theme.warning,
        AuditDecision.RULE: theme.danger,
        AuditDecision.FAILED: theme.warning,
        AuditDecision.CANCELLED: theme.muted,
        AuditDecision.NOT_ASKED: theme.warning,
    }
    return colors.get(decision, theme.muted)


class DecisionDelegate(PaintedRowDelegate):
    """Paints the decision as a chip."""

    def __init__(self, theme: ThemeSource, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint the cell, then the chip in it."""
        super().paint(painter, option, index)
        decision = str(index.data(Qt.ItemDataRole.DisplayRole))
        label, color = decision_label(decision), QColor(decision_color(decision, self._theme.theme))
        metrics = QFontMetrics(option.font)
        width = min(metrics.horizontalAdvance(label) + 2 * _CHIP_PADDING, option.rect.width() - 8)
        height = metrics.height() + 4
        top = option.rect.center().y() - height / 2 + 1
        chip = QRectF(option.rect.left() + 4, top, width, height)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(option.font)
        background = QColor(color)
        background.setAlphaF(0.14)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(background)
        painter.drawRoundedRect(chip, height / 2, height / 2)
        painter.setPen(color)
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, label)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the size of the chip with its margins."""
        text = decision_label(str(index.data(Qt.ItemDataRole.DisplayRole)))
        metrics = QFontMetrics(option.font)
        return QSize(metrics.horizontalAdvance(text) + 2 * _CHIP_PADDING + 16, metrics.height() + 10)

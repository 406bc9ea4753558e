"""The review of an external server's tool: its definition, next to the version that was allowed before."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QWidget

from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.diff.row_layout import DiffMode
from app.desktop.widgets.diff.view import DiffView
from app.desktop.widgets.plain_labels import wrapped_label
from app.external.states import ToolState
from app.vault.invisible_chars import escape_hidden

ALLOW_RESULT, REVOKE_RESULT = 2, 3
_WIDTH = 1040
_HEIGHT = 560
_SCREEN_MARGIN = 80


class ToolReviewDialog(dialogs.SheetDialog):
    """Shows a tool for review; closes with `ALLOW_RESULT`, `REVOKE_RESULT` or a rejection.

    The default button only closes it, so that Enter never allows a tool by accident.
    """

    def __init__(self, server: str, tool: ToolState, theme: ThemeSource, parent: QWidget | None) -> None:
        super().__init__(parent, self._title(tool), self._explanation(server, tool))
        self.view = DiffView(theme)
        self.view.setMinimumHeight(round(220 * theme.zoom))
        allowed_definition = tool.allowed_text.encode("utf-8", "surrogatepass") if tool.allowed_text else None
        current_definition = (
            tool.current_text.encode("utf-8", "surrogatepass") if tool.current_text else allowed_definition
        )
        if tool.status == "changed":
            self.view.show_contents(allowed_definition, current_definition)
        else:
            # One text: a new tool has no allowed version, and any other is unchanged.
            self.view.set_mode(DiffMode.UNIFIED)
            old_definition = None if tool.status == "new" else current_definition
            self.view.show_contents(old_definition, current_definition)
        self.add_body(self.view)
        if tool.hints:
            label = wrapped_label(
                self.tr(
                    "Description by the server (unverified): {0}. Every call needs your approval."
                ).format(", ".join(tool.hints)),
                "muted",
            )
            self.add_body(label)
        if tool.status == "allowed":
            self.add_button(self.tr("Revoke"), REVOKE_RESULT)
        close_button = self.add_button(
            self.tr("Don't allow") if tool.status in ("new", "changed") else self.tr("Close"),
            int(QDialog.DialogCode.Rejected),
        )
        if tool.status in ("new", "changed"):
            is_changed = tool.status == "changed"
            allow_label = self.tr("Allow new version") if is_changed else self.tr("Allow")
            self.add_button(allow_label, ALLOW_RESULT, "primary")
        close_button.setDefault(True)
        close_button.setFocus()
        # Wide enough for both versions side by side, if the screen is.
        available = self.screen().availableSize()
        self.resize(
            min(round(_WIDTH * theme.zoom), available.width() - _SCREEN_MARGIN),
            min(round(_HEIGHT * theme.zoom), available.height() - _SCREEN_MARGIN),
        )

    def _title(self, tool: ToolState) -> str:
        name = escape_hidden(tool.name)[:60]
        return self.tr("“{0}” has changed").format(name) if tool.status == "changed" else name

    def _explanation(self, server: str, tool: ToolState) -> str:
        if tool.status == "changed":
            return self.tr(
                "{0} has changed the description of this tool since you allowed it, so the tool is "
                "off. Agents receive this description: check it for instructions that could mislead "
                "them."
            ).format(server)
        return self.tr(
            "Agents receive this description from {0}. Every call needs your approval and "
            "shows exactly what is sent."
        ).format(server)

"""Messages at the top of the window that stay until dismissed or resolved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.plain_labels import wrapped_label

_ICONS = {"danger": "warning-octagon", "warning": "warning", "info": "info"}
_MAX_VISIBLE_BANNERS = 4
# This limit keeps a program from filling up memory with notices.
_MAX_MESSAGES = 50


Action = tuple[str, Callable[[], None]]
"""The text of a button and its callback."""


class Banner(QFrame):
    """One message: icon, text, action buttons and a close button."""

    dismissed = Signal()

    def __init__(self, theme: ThemeSource, text: str, tone: str, actions: Sequence[Action]) -> None:
        super().__init__()
        self.setObjectName("banner")
        self.tone = tone
        self.setProperty("tone", tone)
        self.setAccessibleName(text)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(10)
        icon_label = QLabel()
        color = {"danger": theme.theme.danger, "warning": theme.theme.warning}.get(tone, theme.theme.accent)
        icon_label.setPixmap(icon(theme.theme, _ICONS[tone], color).pixmap(18, 18))
        label = wrapped_label(text)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(icon_label)
        row.addWidget(label, 1)
        for name, callback in actions:
            button = QPushButton(name)
            button.clicked.connect(callback)
            row.addWidget(button)
        close_button = QToolButton()
        close_button.setIcon(icon(theme.theme, "x"))
        close_button.setAccessibleName(self.tr("Dismiss"))
        close_button.setToolTip(self.tr("Dismiss"))
        close_button.clicked.connect(self.dismiss)
        row.addWidget(close_button)

    def dismiss(self) -> None:
        """Remove the message."""
        self.hide()
        self.deleteLater()
        self.dismissed.emit()


class Banners(QWidget):
    """The column of messages; a new message replaces the one with the same key.

    A message that does not fit waits until another one is dismissed. With too many messages, the oldest one
    that is not an error is removed.
    """

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._banners: dict[str, Banner] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the messages, oldest first."""
        return tuple(self._banners)

    def show_message(
        self,
        key: str,
        text: str,
        tone: str = "info",
        *actions: Action | None,
    ) -> None:
        """Show `text` with a button for each action that is not None.

        Args:
            key: Identifies the message.
            text: The text.
            tone: "info", "warning" or "danger".
            actions: The buttons.
        """
        self.clear(key)
        banner = Banner(self._theme, text, tone, [action for action in actions if action is not None])
        self._banners[key] = banner
        self._column.addWidget(banner)
        banner.dismissed.connect(lambda: self._forget(key, banner))
        self._arrange()

    def clear(self, key: str) -> None:
        """Remove the message with this key, if shown."""
        banner = self._banners.pop(key, None)
        if banner is not None:
            banner.dismiss()
            self._arrange()

    def _forget(self, key: str, banner: Banner) -> None:
        if self._banners.get(key) is banner:
            del self._banners[key]
            self._arrange()

    def _arrange(self) -> None:
        """Show every error and the newest other messages; the rest follow when one is dismissed.

        Beyond `_MAX_MESSAGES`, the oldest message that is not an error is removed.
        """
        messages = [banner for banner in self._banners.values() if banner.tone != "danger"]
        if len(messages) > _MAX_MESSAGES:
            self.clear(next(key for key, banner in self._banners.items() if banner is messages[0]))
            return
        capacity = max(1, _MAX_VISIBLE_BANNERS - (len(self._banners) - len(messages)))
        hidden = messages[:-capacity]
        for banner in self._banners.values():
            banner.setVisible(banner not in hidden)

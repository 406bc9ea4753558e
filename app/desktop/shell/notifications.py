"""Messages to the user, shown as banners and system notifications."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QSystemTrayIcon, QWidget

from app.agent.transcript import UserMessaged
from app.desktop.bridge import VaultClient
from app.desktop.shell.banners import Banners
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.events import Event

_MAX_TEXT_CHARS = 240


class UserNotifications(QObject):
    """Shows the messages that agents send to the user in an open vault.

    Args:
        client: The open vault.
        theme: The colors of the icon.
        banners: Shows messages of conversations that are not visible.
        window: The window, which a click on a notification activates.
        show: Shows a conversation in the agent panel.
        is_conversation_visible: Returns whether a conversation is visible in the active window.
    """

    def __init__(
        self,
        client: VaultClient,
        theme: ThemeSource,
        banners: Banners,
        window: QWidget,
        show: Callable[[str], None],
        is_conversation_visible: Callable[[str], bool],
    ) -> None:
        super().__init__(window)
        self._client = client
        self._theme = theme
        self._banners = banners
        self._window = window
        self._show = show
        self._is_conversation_visible = is_conversation_visible
        self._tray: QSystemTrayIcon | None = None
        self._newest_conversation = ""
        client.events.batch.connect(self._receive)
        window.destroyed.connect(self.end)

    @property
    def can_notify(self) -> bool:
        """True if this system can show notifications."""
        return QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()

    async def begin(self) -> None:
        """Tell the service that the window shows messages, and whether it also shows system notifications."""
        can_notify = self.can_notify
        await self._client.run(lambda vault: vault.agent.show_messages(notifies=can_notify))

    def end(self) -> None:
        """Remove the tray icon."""
        if self._tray is not None:
            self._tray.hide()
            self._tray.deleteLater()
            self._tray = None

    def _receive(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, UserMessaged):
                self._handle_message(event)

    def _handle_message(self, event: UserMessaged) -> None:
        text = " ".join(event.text.split())
        short = text if len(text) <= _MAX_TEXT_CHARS else f"{text[: _MAX_TEXT_CHARS - 1]}…"
        self._newest_conversation = event.conversation
        if self.can_notify:
            self._notify(event.sender, short)
        if not self._is_conversation_visible(event.conversation):
            message = self.tr("Message from {0}: {1}").format(event.sender, short)
            conversation = event.conversation
            action = (self.tr("Show"), lambda: self._open_conversation(conversation))
            self._banners.show_message(self._key(conversation), message, "info", action)

    def _open_conversation(self, conversation: str) -> None:
        self._banners.clear(self._key(conversation))
        self._show(conversation)

    @staticmethod
    def _key(conversation: str) -> str:
        return f"message:{conversation}"

    def _notify(self, sender: str, text: str) -> None:
        if self._tray is None:
            self._tray = QSystemTrayIcon(icon(self._theme.theme, "chats"), self)
            self._tray.setToolTip("Scriptorium")
            self._tray.messageClicked.connect(self._handle_click)
            self._tray.activated.connect(lambda _: self._handle_click())
            self._tray.show()
        self._tray.showMessage(self.tr("Message from {0}").format(sender), text, self._tray.icon())

    def _handle_click(self) -> None:
        self._window.raise_()
        self._window.activateWindow()
        if self._newest_conversation:
            self._open_conversation(self._newest_conversation)

"""Open web and email addresses in the system's default program."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.widgets import dialogs


def open_address(view: QWidget, address: str) -> None:
    """Open a web or email address in the system's default program, if the user confirms.

    Args:
        view: The view with the link.
        address: The address.
    """
    action = translate("WebAddress", "open the address")
    tasks.start(_confirm_and_open(view, address), owner=view, action=action)


async def _confirm_and_open(view: QWidget, address: str) -> None:
    text = translate("WebAddress", "{0}\n\nIt opens outside the app.").format(address)
    title = translate("WebAddress", "Open this address?")
    if await dialogs.confirm(view, title, text, translate("WebAddress", "Open")):
        QDesktopServices.openUrl(QUrl(address))

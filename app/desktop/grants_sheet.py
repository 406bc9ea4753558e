"""What is auto-approved right now, how often it was used, until when, and a way to take it back."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.desktop import dialogs, tasks
from app.desktop.bridge import VaultClient
from app.permissions.grants import Grant


class GrantsSheet(dialogs.Sheet):
    """Lists the grants; each has a button that revokes it at once."""

    def __init__(self, client: VaultClient, parent: QWidget) -> None:
        super().__init__(parent, "", "")
        self._client = client
        self.setWindowTitle(self.tr("What is auto-approved"))
        self.set_heading(self.tr("What is auto-approved"))
        self.setMinimumWidth(460)
        body = QWidget()
        self._rows = QVBoxLayout(body)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(8)
        self.add_body(body)
        done = self.add_button(self.tr("Done"), int(QDialog.DialogCode.Accepted), "primary")
        done.setDefault(True)
        done.setFocus()

    async def reload(self) -> None:
        """List what holds now."""
        grants = await self._client.run(lambda workspace: workspace.grants.list())
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        if not grants:
            words = QLabel(self.tr("Nothing. Every change asks you first."))
            words.setProperty("tone", "muted")
            self._rows.addWidget(words)
        for grant in grants:
            self._rows.addWidget(self._row(grant))

    def _row(self, grant: Grant) -> QWidget:
        card = QFrame()
        card.setObjectName("card")
        line = QHBoxLayout(card)
        line.setContentsMargins(12, 8, 8, 8)
        words = QVBoxLayout()
        words.setSpacing(2)
        label = QLabel(grant.label)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        used = QLabel(f"{self._until(grant)} · {self.tr('used {0} times').format(grant.used)}")
        used.setProperty("tone", "muted")
        words.addWidget(label)
        words.addWidget(used)
        revoke = QPushButton(self.tr("Take back"))
        revoke.setAccessibleName(self.tr("Take back: {0}").format(grant.label))
        revoke.clicked.connect(
            lambda: tasks.start(self._revoke(grant), owner=self, what=self.tr("take it back"))
        )
        line.addLayout(words, 1)
        line.addWidget(revoke, 0, Qt.AlignmentFlag.AlignVCenter)
        return card

    def _until(self, grant: Grant) -> str:
        if grant.always:
            return self.tr("always")
        if grant.until is None:
            return self.tr("until this session ends")
        minutes = max(1, round((grant.until - time.time()) / 60))
        return self.tr("for {0} more min").format(minutes)

    async def _revoke(self, grant: Grant) -> None:
        await self._client.run(lambda workspace: workspace.grants.revoke(grant.id))
        await self.reload()


async def show_grants(client: VaultClient, parent: QWidget) -> None:
    """Show the sheet until it is closed."""
    sheet = GrantsSheet(client, parent)
    await sheet.reload()
    await dialogs.ask(sheet)

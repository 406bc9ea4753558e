"""The auto-approve rules panel: session toggles, and grants with their use and expiry."""

from __future__ import annotations

import time
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import EmptyState, Panel
from app.desktop.widgets.plain_labels import plain_label
from app.events import Event
from app.permissions.grants import Grant, GrantsChanged
from app.permissions.scope import Operation
from app.vault.invisible_chars import escape_hidden

_SESSION = "session:"
_REFRESH_INTERVAL_MS = 20_000


class GrantsPanel(Panel):
    """Lists the active grants.

    After each update, `changed` carries the number of grants, including the session toggles.
    """

    changed = Signal(int)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._client = client
        # The surrounding dialog shows the title.
        self.title.hide()
        self.setAccessibleName(self.tr("Auto-approve rules"))
        self.grants: tuple[Grant, ...] = ()
        self._shown_rows: list[tuple[str, str, str, str]] | None = None
        self.toggles: dict[Operation, QCheckBox] = {}
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        self._empty = EmptyState(
            theme,
            "lock-simple",
            self.tr("No auto-approve rules"),
            self.tr("To add a rule, choose “Approve and…” when you review a change."),
        )
        self._build()
        # Grants expire without an event, so the visible list is reloaded periodically.
        self._timer = QTimer(self, interval=_REFRESH_INTERVAL_MS)
        self._timer.timeout.connect(self.reload)
        client.events.batch.connect(self._handle_events)
        self.reload()

    def showEvent(self, event: QShowEvent) -> None:
        """Start the periodic reload."""
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop the periodic reload."""
        super().hideEvent(event)
        self._timer.stop()

    def reload(self) -> None:
        """Start reloading the grants."""
        tasks.start(self.load(), owner=self, action=self.tr("read the auto-approve rules"))

    async def load(self) -> None:
        """Load and show the grants."""
        grants, unlocked = await self._client.run(
            lambda vault: (vault.grants.active_grants(), vault.grants.deletes_unlocked)
        )
        self.toggles[Operation.DELETE].setVisible(unlocked)
        self.show_grants(grants)

    def show_grants(self, grants: tuple[Grant, ...]) -> None:
        """Show `grants` in the toggles and rows."""
        self.grants = grants
        enabled = {grant.operation for grant in grants if grant.id.startswith(_SESSION)}
        for operation, box in self.toggles.items():
            box.blockSignals(True)
            box.setChecked(operation in enabled)
            box.blockSignals(False)
        self._show_rows([grant for grant in grants if not grant.id.startswith(_SESSION)])
        self.changed.emit(len(grants))

    def _show_rows(self, grants: list[Grant]) -> None:
        """Show a row for each grant; keep all rows, and thus the keyboard focus, if no text changed."""
        rows = [
            (grant.id, escape_hidden(grant.label), self._use_label(grant), self._expiry_label(grant))
            for grant in grants
        ]
        if rows == self._shown_rows:
            return
        self._shown_rows = rows
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for grant in grants:
            self._rows.addWidget(self._create_row(grant))
        self._empty.setVisible(not grants)

    async def revoke(self, grant_id: str) -> None:
        """Revoke a grant."""
        await self._client.run(lambda vault: vault.grants.revoke(grant_id))
        await self.load()

    async def set_session(self, operation: Operation, enabled: bool) -> None:
        """Turn auto-approval of an operation on or off for this session."""
        await self._client.run(lambda vault: vault.grants.set_session(operation, enabled))
        await self.load()

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in reversed(events):
            if isinstance(event, GrantsChanged):
                self.show_grants(event.grants)
                return

    def _create_row(self, grant: Grant) -> QWidget:
        card = QFrame()
        card.setObjectName("card")
        row = QHBoxLayout(card)
        row.setContentsMargins(12, 8, 8, 8)
        text_column = QVBoxLayout()
        text_column.setSpacing(2)
        label = plain_label(escape_hidden(grant.label))
        label.setWordWrap(True)
        text_column.addWidget(label)
        text_column.addWidget(
            plain_label(f"{self._use_label(grant)}   ·   {self._expiry_label(grant)}", "muted")
        )
        row.addLayout(text_column, 1)
        button = QPushButton(self.tr("Revoke"))
        button.setAccessibleName(self.tr("Revoke: {0}").format(escape_hidden(grant.label)))
        button.setProperty("grant", grant.id)
        button.clicked.connect(lambda: self._start_revoke(grant.id))
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        return card

    def _use_label(self, grant: Grant) -> str:
        if not grant.used:
            return self.tr("not used yet")
        return PluralText("GrantsPanel", "used once", "used {0} times").format(grant.used)

    def _expiry_label(self, grant: Grant) -> str:
        if grant.always:
            return self.tr("until revoked")
        if grant.until is None:
            return self.tr("until Scriptorium closes")
        minutes = max(1, round((grant.until - time.time()) / 60))
        return PluralText("GrantsPanel", "{0} minute left", "{0} minutes left").format(minutes)

    def _start_revoke(self, grant_id: str) -> None:
        tasks.start(self.revoke(grant_id), owner=self, action=self.tr("revoke the rule"))

    def _start_toggle(self, operation: Operation, enabled: bool) -> None:
        tasks.start(
            self.set_session(operation, enabled), owner=self, action=self.tr("change the auto-approve rules")
        )

    def _build(self) -> None:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 4, 12)
        column.setSpacing(6)
        column.addWidget(plain_label(self.tr("Auto-approve in this session:"), "muted"))
        names = {
            Operation.CREATE: self.tr("New notes"),
            Operation.UPDATE: self.tr("Edits and moves"),
            Operation.READ: self.tr("Reads outside the vault"),
            Operation.DELETE: self.tr("Deletion of notes without incoming links"),
        }
        for operation, name in names.items():
            box = QCheckBox(name)
            box.toggled.connect(partial(self._start_toggle, operation))
            self.toggles[operation] = box
            column.addWidget(box)
        self.toggles[Operation.DELETE].hide()
        column.addSpacing(8)
        column.addLayout(self._rows)
        column.addWidget(self._empty)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(content)
        self.column.addWidget(area, 1)

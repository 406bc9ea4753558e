"""The secrets of the channels are validated, stored in the key store, and never shown."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QLineEdit

from app.desktop.bridge import ServiceThread
from app.desktop.settings.messages_page import MessagesPage
from app.messages.channel_registry import WEBHOOK
from app.settings import MessageSettings
from tests.desktop.whole_vault import whole_vault

HOOK = "https://discord.com/api/webhooks/42/secret-token"


def test_a_webhook_is_kept_replaced_and_forgotten(
    gui, service: ServiceThread, wait_until, tmp_path: Path, monkeypatch
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, {"A.md": "a"}) as vault:
            setup = MessagesPage(vault.client, MessageSettings())
            row = setup.webhook
            await wait_until(lambda: "no key store" in row.status.text())
            assert row.field.echoMode() is QLineEdit.EchoMode.Password
            row.field.setText("https://example.com/")
            row.save()
            assert "not the address" in row.status.text() and row.field.text(), "it can be put right"
            row.field.setText(HOOK)
            row.save()
            await wait_until(lambda: "Kept in memory" in row.status.text())
            assert row.field.text() == "" and HOOK not in row.status.text()
            assert await vault.run(lambda ws: ws.keys.get("discord", WEBHOOK)) == HOOK
            row.remove()
            await wait_until(
                lambda: row.remove_button.isHidden() and "Kept in memory" not in row.status.text()
            )
            assert await vault.run(lambda ws: ws.keys.get("discord", WEBHOOK)) is None
            monkeypatch.setattr(vault.workspace.keys, "set", lambda *_: False)
            row.remove()
            await wait_until(lambda: "could not be removed" in row.status.text())
            setup.deleteLater()

    gui(main())


def test_a_password_belongs_to_its_handle(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, {"A.md": "a"}) as vault:
            setup = MessagesPage(vault.client, MessageSettings())
            row = setup.password
            assert not row.field.isEnabled() and "handle first" in row.status.text()
            setup.show_settings(MessageSettings(bluesky_handle="a.example.com"))
            row.field.setText("abcd-efgh")
            row.save()
            await wait_until(lambda: "Kept in memory" in row.status.text())
            setup.show_settings(MessageSettings(bluesky_handle="b.example.com"))
            await wait_until(lambda: "Kept in memory" not in row.status.text())
            assert await vault.run(lambda ws: ws.keys.get("bluesky", "a.example.com")) == "abcd-efgh"
            setup.deleteLater()

    gui(main())


def test_without_a_vault_nothing_can_be_typed(qtbot) -> None:
    setup = MessagesPage(None, MessageSettings(bluesky_handle="a.example.com"))
    qtbot.addWidget(setup)
    assert not setup.webhook.field.isEnabled() and "Open a vault" in setup.password.status.text()


def test_a_typed_secret_of_another_channel_survives_a_change_of_the_settings(qtbot) -> None:
    setup = MessagesPage(
        None, MessageSettings(discord_channels=("news",), bluesky_handles=("b.example.com",))
    )
    qtbot.addWidget(setup)
    news, handle = setup.extra_rows.values()
    news.field.setText(HOOK)
    setup.show_settings(MessageSettings(discord_channels=("alerts", "news")))
    assert [row.field.accessibleName() for row in setup.extra_rows.values()] == [
        "Discord webhook for alerts",
        "Discord webhook for news",
    ]
    assert news in setup.extra_rows.values() and news.field.text() == HOOK and handle.isHidden()

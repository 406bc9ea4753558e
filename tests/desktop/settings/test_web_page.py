"""The API key of the search provider belongs to the chosen provider, and is requested if it needs one."""

from __future__ import annotations

from pathlib import Path

from app.desktop.bridge import ServiceThread
from app.desktop.settings.web_page import WebSearchPage
from app.settings import WebSettings
from app.web.access import key_account
from tests.desktop.whole_vault import whole_vault


def test_a_key_belongs_to_its_provider(gui, service: ServiceThread, wait_until, tmp_path: Path) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path, service, {"A.md": "a"}) as vault:
            setup = WebSearchPage(vault.client, WebSettings(provider="brave"))
            row = setup.row
            await wait_until(lambda: "no key store" in row.status.text())
            row.field.setText("brave-key")
            row.save()
            await wait_until(lambda: "Kept in memory" in row.status.text())
            assert await vault.run(lambda ws: ws.keys.get(*key_account("brave", ""))) == "brave-key"
            assert "brave-key" not in row.status.text() and row.field.text() == ""
            setup.show_settings(WebSettings(provider="tavily"))
            await wait_until(lambda: "Kept in memory" not in row.status.text())
            setup.show_settings(WebSettings(provider="searxng"))
            assert "address of your server first" in row.status.text() and not row.field.isEnabled()
            setup.show_settings(WebSettings(provider="duckduckgo"))
            assert row.isHidden() and "needs no key" in setup.status.text()
            setup.deleteLater()

    gui(main())

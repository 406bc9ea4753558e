"""The multilingual model is suggested for a vault in other languages, and a refusal is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.desktop.bridge import ServiceThread
from app.desktop.shell.banners import Banner, Banners
from app.desktop.shell.language_proposal import LanguageProposal, language_name
from app.desktop.shell.window_state import WindowState
from app.desktop.theme.theme import ThemeSource
from app.embeddings import multilingual
from app.embeddings.languages import LanguagesMeasured, VaultLanguages
from app.embeddings.model_config import MULTILINGUAL
from app.settings import Settings
from tests.desktop.whole_vault import WholeVault, whole_vault

GERMAN = VaultLanguages(20, (("de", 0.6), ("en", 0.3), ("es", 0.1)))


class ProposalWindow:
    """The suggestion over an open vault."""

    def __init__(self, vault: WholeVault, window: QWidget) -> None:
        self.vault = vault
        self.banners = Banners(ThemeSource("light"), window)
        self.remembered = WindowState.of_vault(vault.root)
        self.proposal = LanguageProposal(vault.client, self.banners, self.remembered, window)
        self.wanted: list[Settings] = []
        self.proposal.settings_change_requested.connect(lambda change: self.wanted.append(change(Settings())))

    async def measured(self, languages: VaultLanguages) -> None:
        await self.vault.run(lambda workspace: workspace.events.publish(LanguagesMeasured(languages)))

    def banner(self) -> Banner | None:
        return next(
            (each for each in self.banners.findChildren(Banner) if each.isVisibleTo(self.banners)), None
        )

    def buttons(self) -> dict[str, QPushButton]:
        banner = self.banner()
        return {each.text(): each for each in banner.findChildren(QPushButton)} if banner else {}


def test_the_proposal_can_be_accepted_or_postponed(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until, monkeypatch
) -> None:
    monkeypatch.setattr(multilingual, "state", lambda: "convertible")

    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            first = ProposalWindow(vault, window)
            await first.measured(GERMAN)
            await wait_until(lambda: first.banner() is not None)
            banner = first.banner()
            assert banner is not None
            assert "70%" in banner.accessibleName() and "(German, Spanish)" in banner.accessibleName()
            assert list(first.buttons()) == ["Switch model", "Don't ask again"]
            first.buttons()["Switch model"].click()
            assert [settings.embeddings.model for settings in first.wanted] == [MULTILINGUAL]
            await wait_until(lambda: first.banner() is None)

            await first.measured(GERMAN)
            await wait_until(lambda: first.banner() is not None)
            first.buttons()["Don't ask again"].click()
            await wait_until(lambda: first.banner() is None)
            # Remembered for this vault, also in the next window.
            second = ProposalWindow(vault, window)
            first.proposal.deleteLater()
            events: list[object] = []
            vault.client.events.batch.connect(events.extend)
            await second.measured(GERMAN)
            await wait_until(lambda: LanguagesMeasured(GERMAN) in events)
            assert second.banner() is None

    gui(main())


def test_missing_requirements_are_explained(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until, monkeypatch
) -> None:
    monkeypatch.setattr(multilingual, "state", lambda: "missing")

    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            proposal = ProposalWindow(vault, window)
            await proposal.measured(VaultLanguages(20, (("en", 0.95), ("de", 0.05))))
            await proposal.measured(GERMAN)
            await wait_until(lambda: proposal.banner() is not None)
            banner = proposal.banner()
            assert banner is not None
            assert "packaging/start.py --multilingual" in banner.accessibleName()
            assert list(proposal.buttons()) == ["Don't ask again"]

    gui(main())


@pytest.mark.parametrize(("code", "name"), [("de", "German"), ("zh", "Chinese"), ("no such", "no such")])
def test_languages_have_names(code: str, name: str) -> None:
    assert language_name(code) == name

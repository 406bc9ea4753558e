"""Unsaved text of a deleted note is offered when the vault is opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton, QWidget

from app.desktop.bridge import ServiceThread
from app.desktop.notes.draft_recovery import DraftRecovery
from app.desktop.notes.drafts import DraftStore
from app.desktop.shell.banners import Banner, Banners
from app.desktop.theme.theme import ThemeSource
from app.vault.path import NotePath
from tests.desktop.whole_vault import whole_vault
from tests.support.open_sheets import sheets

DELETED = NotePath.parse("Sub/Gone.md")


def press(text: str, among: QWidget | None = None) -> bool:
    for holder in [among] if among else sheets():
        for button in holder.findChildren(QPushButton):
            if button.text() == text:
                button.click()
                return True
    return False


def test_a_draft_that_cannot_be_deleted_raises_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    drafts = DraftStore(tmp_path / "vault")
    drafts._file(DELETED).mkdir(parents=True)
    drafts.drop(DELETED)
    assert "could not be deleted" in caplog.text


@pytest.mark.parametrize("answer", ["Restore note", "Discard text", "Later"])
def test_a_draft_is_restored_discarded_or_kept(
    gui, service: ServiceThread, tmp_path: Path, qtbot, wait_until, answer: str
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            window.show()
            banners = Banners(ThemeSource("light"), window)
            drafts = DraftStore(vault.workspace.root)
            drafts.save(DELETED, "hash", "typed words")
            drafts.save(NotePath.parse("A.md"), "hash", "of a note that is there")
            recovery = DraftRecovery(vault.client, banners, window)
            opened: list[str] = []
            recovery.open_requested.connect(lambda path, _: opened.append(path))
            await recovery.show_drafts()
            (banner,) = banners.findChildren(Banner)
            assert "“Gone”" in banner.accessibleName() and "“A”" not in banner.accessibleName()
            assert press("Review…", banner)
            await wait_until(lambda: press(answer))
            file = tmp_path / "vault" / "Sub" / "Gone.md"
            if answer == "Restore note":
                await wait_until(lambda: opened == ["Sub/Gone.md"])
                assert file.read_text() == "typed words" and drafts.load(DELETED) is None
            elif answer == "Discard text":
                await wait_until(lambda: drafts.load(DELETED) is None)
                assert not file.exists()
            else:
                assert drafts.load(DELETED) is not None

    gui(main())


def test_no_banner_is_shown_if_every_draft_has_its_note(
    gui, service: ServiceThread, tmp_path: Path, qtbot
) -> None:
    async def main() -> None:
        async with whole_vault(tmp_path / "vault", service, {"A.md": "a"}) as vault:
            window = QWidget()
            qtbot.addWidget(window)
            banners = Banners(ThemeSource("light"), window)
            DraftStore(vault.workspace.root).save(NotePath.parse("A.md"), "hash", "more")
            await DraftRecovery(vault.client, banners, window).show_drafts()
            assert banners.keys == ()

    gui(main())

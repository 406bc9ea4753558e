"""Updates in the window: nothing unless the user agrees, then a banner, the notes and the page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTextBrowser, QWidget
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app import __version__, paths
from app.desktop.bridge import ServiceThread
from app.desktop.settings.updates import UpdatesRow
from app.desktop.shell import update_check
from app.desktop.shell.banners import Banner, Banners
from app.desktop.shell.update_check import CHECK_INTERVAL_S, CONSENT_DELAY_S, UpdateCheck
from app.desktop.shell.window_state import WindowState
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.settings import Settings, UpdateSettings
from tests.support.web_server import WebServer

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = base64.b64encode(PRIVATE.public_key().public_bytes_raw()).decode()


class Releases:
    """A server with one signed release."""

    def __init__(self) -> None:
        self.version = "99.0"
        self.asked = 0
        self.address = ""

    async def answer(self, _: Request) -> PlainTextResponse:
        self.asked += 1
        release = {"version": self.version, "page": "https://example.org/get", "notes": "**Faster** graph"}
        body = json.dumps(release).encode()
        return PlainTextResponse(base64.b64encode(PRIVATE.sign(body)) + b"\n" + body)


class Desk:
    """An update check with its own clock."""

    def __init__(self, service: ServiceThread, window: QWidget, updates: UpdateSettings) -> None:
        self.settings = Settings(updates=updates)
        self.now = 1_800_000_000.0
        self.banners = Banners(ThemeSource("light"), window)
        self._made = (service, window)
        self.check = self.started_again()

    def started_again(self) -> UpdateCheck:
        service, window = self._made
        self.check = UpdateCheck(
            service,
            self.banners,
            ThemeSource("light"),
            lambda: self.settings,
            self._change,
            window,
            lambda: self.now,
        )
        return self.check

    def press(self, key: str) -> None:
        (banner,) = (one for one in self.banners.findChildren(Banner) if self.banners._shown.get(key) is one)
        banner.findChild(QPushButton).click()

    def _change(self, updates: UpdateSettings) -> None:
        self.settings = self.settings.model_copy(update={"updates": updates})


@pytest.fixture
def releases() -> Iterator[Releases]:
    made = Releases()
    with WebServer([Route("/release", made.answer)]) as server:
        made.address = f"{server.address}/release"
        yield made


@pytest.fixture
def desk(qtbot, service: ServiceThread, releases: Releases) -> Callable[[bool], Desk]:
    window = QWidget()
    qtbot.addWidget(window)
    return lambda on: Desk(service, window, UpdateSettings(check=on, address=releases.address, key=KEY))


def sheets() -> list[dialogs.SheetDialog]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, dialogs.SheetDialog) and w.isVisible()]


def press(text: str) -> None:
    (button,) = (b for sheet in sheets() for b in sheet.findChildren(QPushButton) if b.text() == text)
    button.click()


def test_nothing_is_asked_unless_the_user_wants_it(gui, desk, releases) -> None:
    async def use() -> None:
        one = desk(False)
        await one.check.begin()
        assert releases.asked == 0 and one.banners.keys == ()

    gui(use())


def test_the_user_is_asked_once_after_the_first_week(gui, desk, releases, wait_until) -> None:
    async def use() -> None:
        one = desk(False)
        await one.check.begin()
        one.now += CONSENT_DELAY_S - 60
        await one.started_again().begin()
        assert one.banners.keys == ()
        one.now += 120
        await one.started_again().begin()
        assert one.banners.keys == ("ask-updates",) and releases.asked == 0
        one.banners.clear("ask-updates")
        await one.started_again().begin()
        assert one.banners.keys == (), "the question is asked once"

    gui(use())


def test_accepting_enables_the_check_and_runs_it(gui, desk, releases, wait_until) -> None:
    async def use() -> None:
        one = desk(False)
        await one.check.begin()
        one.now += CONSENT_DELAY_S
        await one.check.begin()
        one.press("ask-updates")
        assert one.settings.updates.check
        await wait_until(lambda: one.banners.keys == ("update",))

    gui(use())


def test_a_new_version_is_announced_and_its_page_opened(gui, desk, releases, wait_until, monkeypatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(update_check.QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))

    async def use() -> None:
        one = desk(True)
        await one.check.begin()
        assert one.banners.keys == ("update",)
        one.press("update")
        await wait_until(sheets)
        (notes,) = sheets()[0].findChildren(QTextBrowser)
        assert "Faster graph" in notes.toPlainText() and opened == []
        press("Open download page")
        await wait_until(lambda: opened == ["https://example.org/get"])

    gui(use())


def test_it_asks_once_a_day_and_not_about_a_skipped_version(gui, desk, releases, wait_until) -> None:
    async def use() -> None:
        one = desk(True)
        await one.check.begin()
        await one.started_again().begin()
        assert releases.asked == 1
        one.press("update")
        await wait_until(sheets)
        press("Skip this version")
        await wait_until(lambda: WindowState(paths.data_folder() / "updates.json").text("skipped"))
        one.now += CHECK_INTERVAL_S
        await one.started_again().begin()
        assert releases.asked == 2 and one.banners.keys == ()
        releases.version = "99.1"
        one.now += CHECK_INTERVAL_S
        await one.started_again().begin()
        assert one.banners.keys == ("update",)

    gui(use())


def test_a_manual_check_always_shows_its_result(gui, desk, releases, wait_until) -> None:
    async def say(one: Desk) -> str:
        from app.desktop.runtime import tasks

        tasks.start(one.check.check_now(), what="check")
        await wait_until(sheets)
        words = " ".join(label.text() for label in sheets()[0].findChildren(QLabel))
        sheets()[0].reject()
        await wait_until(lambda: not sheets())
        return words

    async def use() -> None:
        one = desk(False)
        releases.version = __version__
        assert "up to date" in await say(one)
        one._change(UpdateSettings(address=releases.address, key="wrong"))
        assert "Could not check" in await say(one)
        one._change(UpdateSettings())
        assert "No update address" in await say(one)

    gui(use())


def test_the_settings_say_where_updates_come_from(qtbot) -> None:
    row = UpdatesRow(UpdateSettings())
    qtbot.addWidget(row)
    assert __version__ in row.status.text() and not row.button.isEnabled()
    row.show_settings(UpdateSettings(address="https://example.org/r", key=KEY))
    assert "https://example.org/r" in row.status.text() and row.button.isEnabled()
    with qtbot.waitSignal(row.check_requested):
        row.button.click()

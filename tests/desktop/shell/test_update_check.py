"""Updates in the window: nothing unless the user agrees, then a banner, the notes and the page."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from PySide6.QtWidgets import QLabel, QPushButton, QTextBrowser, QWidget
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
from app.settings import Settings, UpdateSettings
from tests.support.open_sheets import sheets
from tests.support.web_server import WebServer

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = base64.b64encode(PRIVATE.public_key().public_bytes_raw()).decode()


class Releases:
    """A server with one signed release."""

    def __init__(self) -> None:
        self.version = "99.0"
        self.requests = 0
        self.address = ""

    async def answer(self, _: Request) -> PlainTextResponse:
        self.requests += 1
        release = {"version": self.version, "page": "https://example.org/get", "notes": "**Faster** graph"}
        body = json.dumps(release).encode()
        return PlainTextResponse(base64.b64encode(PRIVATE.sign(body)) + b"\n" + body)


class UpdateBench:
    """An update check with its own clock."""

    def __init__(self, service: ServiceThread, window: QWidget, updates: UpdateSettings) -> None:
        self.settings = Settings(updates=updates)
        self.now = 1_800_000_000.0
        self.banners = Banners(ThemeSource("light"), window)
        self._owner = (service, window)
        self.check = self.restart()

    def restart(self) -> UpdateCheck:
        service, window = self._owner
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
        (banner,) = (
            one for one in self.banners.findChildren(Banner) if self.banners._banners.get(key) is one
        )
        banner.findChild(QPushButton).click()

    def _change(self, updates: UpdateSettings) -> None:
        self.settings = self.settings.model_copy(update={"updates": updates})


@pytest.fixture
def releases() -> Iterator[Releases]:
    new_releases = Releases()
    with WebServer([Route("/release", new_releases.answer)]) as server:
        new_releases.address = f"{server.address}/release"
        yield new_releases


@pytest.fixture
def make_bench(qtbot, service: ServiceThread, releases: Releases) -> Callable[[bool], UpdateBench]:
    window = QWidget()
    qtbot.addWidget(window)
    return lambda on: UpdateBench(
        service, window, UpdateSettings(check=on, address=releases.address, key=KEY)
    )


def press(text: str) -> None:
    (button,) = (b for sheet in sheets() for b in sheet.findChildren(QPushButton) if b.text() == text)
    button.click()


def test_nothing_is_asked_unless_the_user_wants_it(gui, make_bench, releases) -> None:
    async def use() -> None:
        bench = make_bench(False)
        await bench.check.begin()
        assert releases.requests == 0 and bench.banners.keys == ()

    gui(use())


def test_the_user_is_asked_once_after_the_first_week(gui, make_bench, releases, wait_until) -> None:
    async def use() -> None:
        bench = make_bench(False)
        await bench.check.begin()
        bench.now += CONSENT_DELAY_S - 60
        await bench.restart().begin()
        assert bench.banners.keys == ()
        bench.now += 120
        await bench.restart().begin()
        assert bench.banners.keys == ("ask-updates",) and releases.requests == 0
        bench.banners.clear("ask-updates")
        await bench.restart().begin()
        assert bench.banners.keys == (), "the question is asked once"

    gui(use())


def test_accepting_enables_the_check_and_runs_it(gui, make_bench, releases, wait_until) -> None:
    async def use() -> None:
        bench = make_bench(False)
        await bench.check.begin()
        bench.now += CONSENT_DELAY_S
        await bench.check.begin()
        bench.press("ask-updates")
        assert bench.settings.updates.check
        await wait_until(lambda: bench.banners.keys == ("update",))

    gui(use())


def test_a_new_version_is_announced_and_its_page_opened(
    gui, make_bench, releases, wait_until, monkeypatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(update_check.QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))

    async def use() -> None:
        bench = make_bench(True)
        await bench.check.begin()
        assert bench.banners.keys == ("update",)
        bench.press("update")
        await wait_until(sheets)
        (notes,) = sheets()[0].findChildren(QTextBrowser)
        assert "Faster graph" in notes.toPlainText() and opened == []
        press("Open download page")
        await wait_until(lambda: opened == ["https://example.org/get"])

    gui(use())


def test_it_asks_once_a_day_and_not_about_a_skipped_version(gui, make_bench, releases, wait_until) -> None:
    async def use() -> None:
        bench = make_bench(True)
        await bench.check.begin()
        await bench.restart().begin()
        assert releases.requests == 1
        bench.press("update")
        await wait_until(sheets)
        press("Skip this version")
        await wait_until(lambda: WindowState(paths.data_folder() / "updates.json").text("skipped"))
        bench.now += CHECK_INTERVAL_S
        await bench.restart().begin()
        assert releases.requests == 2 and bench.banners.keys == ()
        releases.version = "99.1"
        bench.now += CHECK_INTERVAL_S
        await bench.restart().begin()
        assert bench.banners.keys == ("update",)

    gui(use())


def test_a_manual_check_always_shows_its_result(gui, make_bench, releases, wait_until) -> None:
    async def say(bench: UpdateBench) -> str:
        from app.desktop.runtime import tasks

        tasks.start(bench.check.check_now(), action="check")
        await wait_until(sheets)
        text = " ".join(label.text() for label in sheets()[0].findChildren(QLabel))
        sheets()[0].reject()
        await wait_until(lambda: not sheets())
        return text

    async def use() -> None:
        bench = make_bench(False)
        releases.version = __version__
        assert "up to date" in await say(bench)
        bench._change(UpdateSettings(address=releases.address, key="wrong"))
        assert "Could not check" in await say(bench)
        bench._change(UpdateSettings())
        assert "No update address" in await say(bench)

    gui(use())


def test_the_settings_say_where_updates_come_from(qtbot) -> None:
    row = UpdatesRow(UpdateSettings())
    qtbot.addWidget(row)
    assert __version__ in row.status.text() and not row.button.isEnabled()
    row.show_settings(UpdateSettings(address="https://example.org/r", key=KEY))
    assert "https://example.org/r" in row.status.text() and row.button.isEnabled()
    with qtbot.waitSignal(row.check_requested):
        row.button.click()

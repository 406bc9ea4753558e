"""Check for a new version: once a day if the user enables it, and on request.

Nothing is downloaded or installed. The user reads the release notes and opens the download page.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QTextBrowser, QWidget

from app import __version__, paths
from app.desktop.bridge import ServiceThread
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import translate
from app.desktop.shell.banners import Banners
from app.desktop.shell.window_state import WindowState
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.errors import ScriptoriumError
from app.settings import Settings, UpdateSettings
from app.web.updates import Release, is_newer, latest_release, update_source

log = logging.getLogger(__name__)

CHECK_INTERVAL_S = 24 * 3600
CONSENT_DELAY_S = 7 * CHECK_INTERVAL_S
_LATER, _SKIP, _OPEN = range(3)


class UpdateCheck:
    """Fetches the latest release and shows it.

    Args:
        service: The service thread, which uses the network.
        banners: Announces a new version.
        theme: The current theme.
        settings: Returns the current settings.
        change: Applies changed update settings.
        window: The parent of dialogs.
        clock: Returns the time in Unix seconds.
    """

    def __init__(
        self,
        service: ServiceThread,
        banners: Banners,
        theme: ThemeSource,
        settings: Callable[[], Settings],
        change: Callable[[UpdateSettings], None],
        window: QWidget,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._service = service
        self._banners = banners
        self._theme = theme
        self._settings = settings
        self._change = change
        self._window = window
        self._clock = clock
        self._state = WindowState(paths.data_folder() / "updates.json")

    async def begin(self) -> None:
        """Run the daily check if it is enabled and due; offer daily checks once, after the first week."""
        settings = self._settings().updates
        if not update_source(settings).is_known:
            return
        if settings.check:
            if self._clock() - self._time("checked") >= CHECK_INTERVAL_S:
                await self._announce()
            return
        first_seen = self._time("first")
        if not first_seen:
            self._state.save(first=[int(self._clock())])
        elif self._clock() - first_seen >= CONSENT_DELAY_S and not self._state.text("asked"):
            self._state.save(asked="yes")
            self._offer_daily_checks()

    async def check_now(self) -> None:
        """Check on request and always report the result."""
        try:
            release = await self._latest()
        except ScriptoriumError as error:
            title = translate("UpdateCheck", "Could not check for updates")
            text = translate(
                "UpdateCheck", "{0}\n\nNothing was changed. The address is in the settings, under Updates."
            )
            await dialogs.show_message(self._window, title, text.format(error.message))
            return
        if is_newer(release.version, __version__):
            await self.show_release(release)
        else:
            title = translate("UpdateCheck", "Scriptorium is up to date")
            text = translate("UpdateCheck", "Version {0} is the latest release.").format(__version__)
            await dialogs.show_message(self._window, title, text)

    async def show_release(self, release: Release) -> None:
        """Show the release notes, and open the download page or skip the version if the user chooses to."""
        title = translate("UpdateCheck", "Scriptorium {0} is available").format(release.version)
        text = translate("UpdateCheck", "You have version {0}. The page opens in your browser: {1}")
        sheet = dialogs.SheetDialog(self._window, title, text.format(__version__, release.page))
        notes = QTextBrowser(sheet)
        notes.setOpenLinks(False)
        notes.setAccessibleName(translate("UpdateCheck", "Release notes"))
        notes.setMarkdown(release.notes or translate("UpdateCheck", "There are no release notes."))
        notes.setMinimumSize(round(460 * self._theme.zoom), round(240 * self._theme.zoom))
        sheet.add_body(notes)
        later = sheet.add_button(translate("UpdateCheck", "Later"), _LATER)
        sheet.add_button(translate("UpdateCheck", "Skip this version"), _SKIP)
        sheet.add_button(translate("UpdateCheck", "Open download page"), _OPEN, "primary")
        later.setDefault(True)
        later.setFocus()
        answer = await dialogs.run_dialog(sheet)
        if answer == _OPEN:
            QDesktopServices.openUrl(QUrl(release.page))
        elif answer == _SKIP:
            self._state.save(skipped=release.version)

    async def _announce(self) -> None:
        """Check in the background and report only a new version."""
        try:
            release = await self._latest()
        except ScriptoriumError as error:
            log.info("could not check for updates: %s", error.message)
            return
        self._state.save(checked=[int(self._clock())])
        if is_newer(release.version, __version__) and release.version != self._state.text("skipped"):
            text = translate("UpdateCheck", "Scriptorium {0} is available.").format(release.version)
            self._banners.show_message(
                "update",
                text,
                "info",
                (translate("UpdateCheck", "Show release notes"), lambda: self._open(release)),
            )

    async def _latest(self) -> Release:
        source = update_source(self._settings().updates)
        return await self._service.call(lambda: latest_release(source))

    def _offer_daily_checks(self) -> None:
        text = translate(
            "UpdateCheck",
            "Check for new versions once a day? Only the release file is fetched; nothing is installed "
            "automatically. You can change this in the settings.",
        )
        self._banners.show_message(
            "ask-updates", text, "info", (translate("UpdateCheck", "Check daily"), self._enable)
        )

    def _enable(self) -> None:
        self._banners.clear("ask-updates")
        self._change(self._settings().updates.model_copy(update={"check": True}))
        self._start(self._announce())

    def _open(self, release: Release) -> None:
        self._banners.clear("update")
        self._start(self.show_release(release))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        tasks.start(work, action=translate("UpdateCheck", "check for updates"))

    def _time(self, name: str) -> int:
        numbers = self._state.numbers(name)
        return numbers[0] if numbers else 0

"""Open, scan and close vaults, one at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from app.desktop.bridge import DesktopApprover, ServiceThread, VaultClient
from app.desktop.runtime import tasks
from app.desktop.runtime.imports import import_in_steps
from app.desktop.shell import vault_preflight
from app.desktop.shell.command_registry import PANELS, module_of
from app.desktop.theme.colors import DARK, LIGHT, Theme
from app.desktop.theme.icons import prerender_icons
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.errors import VaultBusyError
from app.settings import Settings
from app.settings.recent import RecentVaults

if TYPE_CHECKING:
    from app.index.records import ScanProgress, ScanReport
    from app.permissions.approval import Approver
    from app.workspace import VaultService

log = logging.getLogger(__name__)
Opener = Callable[[Path, Settings, "Approver", bool], Awaitable["VaultService"]]

VIEW_LIBRARIES = (
    "app.workspace",
    "app.graph.core_drawing",
    "app.graph.positions",
    "app.graph.svg",
    "app.permissions.partial_approval",
    "app.permissions.request_labels",
    "app.vault.diff_words",
    "app.vault.editable_text",
    "app.vault.markdown.render",
    "numpy.ma",  # `numpy.unique` imports it on its first call
)
_VIEW_MODULES = (
    # Parts of the vault view, so that each step imports about 25 ms of modules.
    "app.desktop.notes.page_images",
    "app.desktop.widgets.diff.row_painter",
    "app.desktop.graph.highlights",
    "app.desktop.graph.settings.model",
    "app.desktop.graph.view",
    "app.desktop.tool_form.result_dialog",
    "app.desktop.notes.completions",
    "app.desktop.notes.editor.table_editing",
    "app.desktop.notes.view",
    "app.desktop.vault_controller",
    *(module_of(spec.target) for spec in PANELS if spec.area != "bottom"),
)
_PRELOADED_MODULES = (
    "app.desktop.approval.dialog",
    "app.desktop.vault_commands",
    *(module_of(spec.target) for spec in PANELS if spec.area == "bottom"),
)
_WARM_UP_MARKDOWN = """---
a: b
---
# Heading
Text, **bold**, `code`, [[Link]], #tag, $x$, https://example.org, <b>tag</b>[^1]

> [!note] Callout

- [ ] task

| a | b |
|---|---|
| c | d |

```python
code = 1
```
[^1]: Footnote
"""


class VaultLifecycle(QObject):
    """Opens and closes vaults and owns the client of the open one.

    `opening` carries the folder's name, `opened` the `VaultClient`. `closing` carries the client while it can
    still be used; `closed` is emitted afterwards, and when a vault could not be opened. A slot of `opened`
    may set `wait_until_shown`. It is awaited before an indexed vault is rescanned, so that the scan does not
    slow down the window. `progress` carries a `ScanProgress`, `scanned` a `ScanReport`; `stopped` is emitted
    when a scan was canceled or failed.
    """

    opening = Signal(str)
    opened = Signal(object)
    closing = Signal(object)
    closed = Signal()
    progress = Signal(object)
    scanned = Signal(object)
    stopped = Signal()
    _progressed = Signal(object)

    def __init__(
        self,
        service: ServiceThread,
        settings: Settings,
        recent: RecentVaults,
        opener: Opener,
        theme: ThemeSource,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._opener = opener
        self._service = service
        self._theme = theme
        self._window = window
        self._recent = recent
        self._lock = asyncio.Lock()
        self._scan: asyncio.Task[None] | None = None
        self._warm_up_task: asyncio.Task[None] | None = None
        self.settings = settings
        self.client: VaultClient | None = None
        self.wait_until_shown: Callable[[], Awaitable[None]] | None = None
        self.read_only = False
        self.approver = DesktopApprover(service, self)
        self._progressed.connect(self.progress, Qt.ConnectionType.QueuedConnection)

    async def open(self, root: Path, *, read_only: bool = False, confirmed: bool = False) -> bool:
        """Open the folder at `root` in place of the open vault; return whether it is open now.

        The user confirms a folder that is not a vault, unless `confirmed` is set or it was opened before. A
        vault that another process has locked is offered read-only.

        Raises:
            ScriptoriumError: The vault can't be opened; see `open_vault`.
        """
        async with self._lock:
            root = await asyncio.to_thread(root.resolve)
            if self.client is not None and self.client.root == root:
                return True
            # The user has already confirmed a recent vault, and counting its files would take a while.
            is_confirmed = confirmed or await asyncio.to_thread(self._recent.contains, root)
            if not is_confirmed and not await self._confirm_folder(root):
                return False
            await self._close()
            self.opening.emit(root.name)
            vault: VaultService | None = None
            try:
                vault = await self._open_vault(root, read_only)
            finally:
                if vault is None:
                    self.closed.emit()
            if vault is None:
                return False
            self._recent.add(root)
            await preload_vault_view(self._theme.theme)
            self._present(vault)
            self._warm_up_task = tasks.start(self._warm_up(), action=self.tr("preload the panels"))
            return True

    async def close(self) -> None:
        """Close the open vault, if there is one."""
        async with self._lock:
            await self._close()

    def stop_scan(self) -> None:
        """Cancel the scan; the next one continues it."""
        if self._scan is not None:
            self._scan.cancel()

    def start_scan(self) -> None:
        """Scan for changes in the background, unless a scan is running."""
        if self.client is not None and (self._scan is None or self._scan.done()):
            self._scan = tasks.start(self._run_scan(self.client), action=self.tr("scan the vault"))

    async def _confirm_folder(self, root: Path) -> bool:
        try:
            facts = await asyncio.to_thread(vault_preflight.inspect_folder, root)
        except OSError as error:
            reason = error.strerror or str(error)
            text = self.tr("{0}\n\n{1}. Nothing was changed.").format(root, reason)
            await dialogs.show_message(self._window, self.tr("This folder can't be opened"), text)
            return False
        warning = vault_preflight.open_warning(facts)
        if warning is None:
            return True
        title = self.tr("Open “{0}” as a vault?").format(root.name or root)
        return await dialogs.confirm(self._window, title, warning, self.tr("Open vault"))

    async def _open_vault(self, root: Path, read_only: bool) -> VaultService | None:
        try:
            vault = await self._service.call(
                lambda: self._opener(root, self.settings, self.approver, read_only)
            )
        except VaultBusyError as error:
            text = self.tr("{0}\nYou can open it read-only here.").format(error.message)
            answers = (self.tr("Cancel"), self.tr("Open read-only"))
            title = self.tr("Vault already open")
            if await dialogs.choose(self._window, title, text, answers) == 1:
                return await self._open_vault(root, True)
            return None
        self.read_only = vault.read_only
        return vault

    def _present(self, vault: VaultService) -> None:
        client = VaultClient(self._service, vault, self.approver, self)
        self.client, self.wait_until_shown = client, None
        self.opened.emit(client)
        self.start_scan()

    async def _close(self) -> None:
        client = self.client
        if client is None:
            return
        if self._scan is not None and not self._scan.done():
            self._scan.cancel()
            await asyncio.wait([self._scan])
        self._scan = None
        if self._warm_up_task is not None:
            self._warm_up_task.cancel()
        self.closing.emit(client)
        self.client = None
        try:
            await client.close()
        finally:
            client.deleteLater()
            self.closed.emit()

    async def _warm_up(self) -> None:
        if self.wait_until_shown is not None:
            await self.wait_until_shown()
        await warm_up()

    async def _run_scan(self, client: VaultClient) -> None:
        try:
            if self.wait_until_shown is not None and client.is_indexed:
                await self.wait_until_shown()
            report: ScanReport = await client.run(lambda vault: vault.start_scan(self._report))
        except BaseException:
            self.stopped.emit()
            raise
        self.scanned.emit(report)

    def _report(self, progress: ScanProgress) -> None:
        """Report progress; called in the service thread, up to a few hundred times a second."""
        self._progressed.emit(progress)


async def preload_vault_view(*themes: Theme) -> None:
    """Import the modules of the vault view and render its icons in `themes`; takes about a second."""
    await import_in_steps(VIEW_LIBRARIES, _VIEW_MODULES)
    await asyncio.to_thread(_prepare_vault_view, themes)


def _prepare_vault_view(themes: Iterable[Theme]) -> None:
    from app.desktop.graph.settings.model import GraphSettings

    GraphSettings()  # Pydantic builds the model when it is first used.
    _prerender_icons(*themes)


async def warm_up() -> None:
    """Import modules that are likely to be needed next, and warm up the Markdown renderer and the icons."""
    await import_in_steps((), _PRELOADED_MODULES)
    await asyncio.to_thread(_render_samples)


def _render_samples() -> None:
    from app.vault.markdown.render import render

    render(_WARM_UP_MARKDOWN, lambda name: None)
    _prerender_icons(LIGHT, DARK)


def _prerender_icons(*themes: Theme) -> None:
    try:
        for theme in themes:
            prerender_icons(theme)
    except OSError as error:
        log.warning("could not prerender the icons: %s", error)

"""A vault for the window's tests: the real index, events, grants and registry, without agent and journal."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app import paths
from app.agent.conversations import ConversationStore
from app.agent.local_messages import Mailbox
from app.desktop.bridge import VaultClient
from app.desktop.notes.tabs import NoteTabs
from app.desktop.shell.command_registry import PANELS, PanelSpec
from app.desktop.theme.theme import ThemeSource
from app.events import EventBus
from app.index.records import ScanReport
from app.index.saved_searches import SavedSearches
from app.index.vault_index import VaultIndex
from app.permissions.approval import Approver
from app.permissions.grants import Grants
from app.settings import Settings
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.vault.journal import Journal
from app.vault.store import NoteStore
from app.workspace import VaultService
from app.workspace.embedding_service import EmbeddingService


class ClosedEndpoints:
    """Accepts no program."""

    async def begin(self) -> str:
        return ""


class OpenVault:
    """The parts of a workspace that the shell's panels use, all of them real."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.id = paths.vault_id(root)
        self.name = root.name
        self.settings = settings
        self.read_only = False
        self.events = EventBus()
        self.index = VaultIndex(root, paths.vault_cache_folder(root), settings.index, self.events)
        self.searches = SavedSearches(paths.vault_data_folder(root), self.events)
        self.grants = Grants(paths.vault_data_folder(root), events=self.events)
        self.registry = ToolRegistry([Category("notes", "Notes", AccessLevel.READ_WRITE)])
        self._journal = Journal(paths.vault_data_folder(root))
        self.store = NoteStore(root, self._journal)
        self.embeddings = EmbeddingService(
            paths.vault_cache_folder(root),
            self.index,
            self.store,
            self.events,
            lambda: self.settings,
            lambda path: False,
        )
        self._conversations = ConversationStore(paths.vault_data_folder(root))
        team = SimpleNamespace(mailbox=Mailbox(self._conversations, self.events))
        self.agent = SimpleNamespace(team=team)
        self.programs = self.runner = None
        self.policy = SimpleNamespace(categories_off=frozenset())
        self.endpoints = ClosedEndpoints()
        self.notices: list[str] = []
        self.unreadable_rules: tuple[str, ...] = ()
        self.closed = False

    def apply_settings(self, settings: Settings) -> None:
        self.settings = settings

    async def start_scan(self, progress: object) -> ScanReport:
        cancelled = asyncio.Event()
        try:
            return await self.index.scan(progress, cancelled.is_set)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def close(self) -> None:
        self.closed = True
        await self.embeddings.close()
        await self.index.close()
        self._conversations.close()
        self._journal.close()


def service_of(vault: OpenVault) -> VaultService:
    """Return the service of a vault that has only some parts."""
    return VaultService(vault)  # type: ignore[arg-type]


async def open_vault(root: Path, settings: Settings, approver: Approver, read_only: bool) -> VaultService:
    vault = OpenVault(root, settings)
    vault.read_only = read_only
    await vault.index.open()
    return service_of(vault)


class PlainNote(QWidget):
    """A note's tab that shows only the path, with the signals and methods of a real one."""

    open_requested = Signal(str, str)
    search_requested = Signal(str)
    title_changed = Signal(str)
    dirty_changed = Signal(bool)
    action_requested = Signal(str, str)
    create_requested = Signal(str)

    def __init__(self, client: VaultClient, theme: ThemeSource, parent: QWidget) -> None:
        super().__init__(parent)
        self.path = ""
        self.fragment = ""
        self.done: list[str] = []
        self.may_close = True
        self._label = QLabel()
        QVBoxLayout(self).addWidget(self._label)

    @property
    def address(self) -> str:
        return self.path

    async def open(self, path: str, fragment: str = "") -> None:
        self.path, self.fragment = path, fragment
        self._label.setText(path)
        self.title_changed.emit(Path(path).stem)

    def save_draft(self) -> None:
        pass

    async def confirm_close(self) -> bool:
        return self.may_close

    def take_focus(self) -> None:
        self.setFocus()

    def run_command(self, command: str) -> None:
        self.done.append(command)


def create_plain_notes(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    return NoteTabs(client, theme, PlainNote, parent)


def create_plain_panel(client: VaultClient, theme: ThemeSource, parent: QWidget) -> QWidget:
    """A panel without content."""
    return QWidget(parent)


SHELL_PANELS = (
    *(spec for spec in PANELS if spec.id in ("files", "search", "tags", "problems")),
    PanelSpec(
        "notes",
        "Notes",
        "file-text",
        "notes",
        "tests.desktop.open_vault:create_plain_notes",
        connect="app.desktop.notes.panel:connect",
    ),
)

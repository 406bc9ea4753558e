"""The button to save or remove the current search, and the commands for saved searches."""

from __future__ import annotations

from PySide6.QtCore import Signal

from app.desktop.bridge import VaultClient
from app.desktop.runtime import tasks
from app.desktop.search.sort_button import SortButton
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.panel import ThemedButton
from app.events import Event
from app.index.saved_searches import SavedSearch, SavedSearchesChanged


class SaveSearchButton(ThemedButton):
    """A star, filled if the current query is saved; a click saves the query or removes the saved search.

    Saving asks for a name, and includes the sort order and grouping of `sort_button`. `searches_changed`
    carries all saved searches.
    """

    searches_changed = Signal(object)

    def __init__(self, client: VaultClient, theme: ThemeSource, sort_button: SortButton) -> None:
        super().__init__(theme, "star", "")
        self._client = client
        self._sort_button = sort_button
        self._query = ""
        self._searches: tuple[SavedSearch, ...] = ()
        self.clicked.connect(self._toggle)
        client.events.batch.connect(self._handle_events)
        self._update_icon()

    def load(self) -> None:
        """Load the saved searches, without waiting for them."""
        tasks.start(self._load(), owner=self, action=self.tr("list the saved searches"))

    def set_query(self, query: str) -> None:
        """Set the current query."""
        self._query = query.strip()
        self._update_icon()

    def run_command(self, command: str, name: str) -> None:
        """Run "rename" or "remove" on the saved search with this name."""
        work = self._rename(name) if command == "rename" else self._remove(name)
        tasks.start(work, owner=self, action=self.tr("change the saved search"))

    async def _load(self) -> None:
        self._set_searches(await self._client.run(lambda vault: vault.searches.list_searches()))

    def _set_searches(self, searches: tuple[SavedSearch, ...]) -> None:
        self._searches = searches
        self._update_icon()
        self.searches_changed.emit(searches)

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, SavedSearchesChanged):
                self._set_searches(event.searches)

    def _find_saved(self) -> SavedSearch | None:
        return next((saved for saved in self._searches if saved.query == self._query), None)

    def _update_icon(self) -> None:
        saved = self._find_saved()
        self.setEnabled(bool(self._query))
        self.set_symbol("star-fill" if saved else "star")
        self.set_label(
            self.tr("Remove the saved search “{0}”").format(saved.name)
            if saved
            else self.tr("Save this search")
        )

    def _toggle(self) -> None:
        saved = self._find_saved()
        if saved is None:
            tasks.start(self._save(), owner=self, action=self.tr("save the search"))
        else:
            self.run_command("remove", saved.name)

    async def _save(self) -> None:
        query, order, group = self._query, self._sort_button.order, self._sort_button.grouping
        label = self.tr("Name for “{0}”:").format(query)
        name = await dialogs.prompt_text(
            self.window(), self.tr("Save this search"), label, query[:60], accept_label=self.tr("Save")
        )
        if name:
            await self._client.run(lambda vault: vault.searches.save(name, query, order, group))

    async def _remove(self, name: str) -> None:
        await self._client.run(lambda vault: vault.searches.remove(name))

    async def _rename(self, name: str) -> None:
        label = self.tr("New name for “{0}”:").format(name)
        new_name = await dialogs.prompt_text(
            self.window(), self.tr("Rename search"), label, name, accept_label=self.tr("Rename")
        )
        if new_name:
            await self._client.run(lambda vault: vault.searches.rename(name, new_name))

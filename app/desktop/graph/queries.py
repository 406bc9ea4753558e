"""Run the filter and group queries in the graph's settings, and keep their results up to date."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desktop.bridge import VaultClient
from app.desktop.graph.settings.model import GraphSettings, QueryGroup
from app.desktop.graph.view import GraphView
from app.desktop.runtime import tasks
from app.desktop.runtime.translation import PluralText
from app.desktop.search.query_field import Completions
from app.errors import QueryError, TimeoutExpiredError
from app.events import Event
from app.index.saved_searches import SavedSearch, SavedSearchesChanged


class GraphQueries(QObject):
    """Runs the queries in the settings panel of `view`, and shows their results or errors."""

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._view = view
        self._filter = ""
        self._groups: tuple[QueryGroup, ...] = ()
        self._filter_run_number = self._group_run_number = 0
        view.settings_changed.connect(self.apply_settings)
        client.events.batch.connect(self._handle_events)
        view.settings_panel.filters.query.field.set_suggest(self._suggest)
        view.settings_panel.groups.rows.set_suggest(self._suggest)
        tasks.start(self._load_searches(), owner=view, action=self.tr("list the saved searches"))

    def apply_settings(self, settings: GraphSettings) -> None:
        """Run the queries that have changed."""
        if settings.filter != self._filter:
            self._filter = settings.filter
            self._start_filter()
        if settings.groups != self._groups:
            self._groups = settings.groups
            self._start_groups()

    def refresh(self) -> None:
        """Run the queries again after notes have changed."""
        if self._filter:
            self._start_filter()
        if self._groups:
            self._start_groups()

    async def _suggest(self, text: str, cursor: int) -> Completions | None:
        return await self._client.run(lambda vault: vault.search.suggest(text, cursor))

    async def _load_searches(self) -> None:
        self._set_saved_searches(await self._client.run(lambda vault: vault.searches.list_searches()))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, SavedSearchesChanged):
                self._set_saved_searches(event.searches)

    def _set_saved_searches(self, searches: tuple[SavedSearch, ...]) -> None:
        """Offer the saved searches for the filter and the groups."""
        self._view.settings_panel.filters.query.show_saved_searches(searches)
        self._view.settings_panel.groups.rows.show_saved_searches(searches)

    def _start_filter(self) -> None:
        tasks.start(self._run_filter(self._filter), owner=self._view, action=self.tr("filter the graph"))

    def _start_groups(self) -> None:
        tasks.start(
            self._run_groups(self._groups), owner=self._view, action=self.tr("color the graph groups")
        )

    async def _run_filter(self, query: str) -> None:
        """Run the filter; if its query is invalid or too slow, only show the error."""
        self._filter_run_number += 1
        number = self._filter_run_number
        field = self._view.settings_panel.filters.query
        try:
            paths = await self._matching_paths(query) if query else None
        except QueryError as error:
            if number == self._filter_run_number:
                field.show_error(query, error)
            return
        if number != self._filter_run_number:
            return
        self._view.appearance.set_filter_result(paths)
        count = None if paths is None else len(paths)
        field.show_result(
            "" if count is None else PluralText("GraphQueries", "{0} note", "{0} notes").format(count)
        )

    async def _run_groups(self, groups: tuple[QueryGroup, ...]) -> None:
        """Color each group's matches and show their count.

        Empty, invalid and slow queries have no matches; for the latter two, the error is shown.
        """
        self._group_run_number += 1
        number = self._group_run_number
        matches: list[frozenset[str]] = []
        for index, group in enumerate(groups):
            try:
                matches.append(await self._matching_paths(group.query) if group.query else frozenset())
            except QueryError as error:
                matches.append(frozenset())
                if number == self._group_run_number:
                    self._view.settings_panel.groups.rows.show_error(index, group.query, error)
                continue
            if number != self._group_run_number:
                return
            self._view.settings_panel.groups.rows.show_count(index, len(matches[-1]))
        if number == self._group_run_number:
            indices = [index for index, group in enumerate(groups) if group.query]
            self._view.set_groups([groups[index] for index in indices], [matches[index] for index in indices])

    async def _matching_paths(self, query: str) -> frozenset[str]:
        """Return the paths that a query finds.

        Raises:
            QueryError: The query is invalid or takes too long.
        """
        try:
            notes = await self._client.run(lambda vault: vault.search.matching(query))
        except TimeoutExpiredError as error:
            raise QueryError(error.message) from error
        return frozenset(path.text for path in notes)

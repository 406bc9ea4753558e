"""Runs the filter and the group queries of the graph's settings panel and keeps them up to date."""

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
    """Runs the queries of the panel of `view`, and shows their results or errors."""

    def __init__(self, client: VaultClient, view: GraphView) -> None:
        super().__init__(view)
        self._client = client
        self._view = view
        self._filter = ""
        self._groups: tuple[QueryGroup, ...] = ()
        self._filter_round = self._group_round = 0
        view.choices_changed.connect(self._apply_settings)
        client.events.batch.connect(self._handle_events)
        view.sheet.filters.query.field.set_suggest(self._suggest)
        view.sheet.groups.rows.set_suggest(self._suggest)
        tasks.start(self._load_searches(), owner=view, what=self.tr("list the saved searches"))

    def restore(self, choices: GraphSettings) -> None:
        """Run the queries of the last session."""
        self._apply_settings(choices)

    def refresh(self) -> None:
        """Run the queries again after notes changed."""
        if self._filter:
            self._ask_filter()
        if self._groups:
            self._ask_groups()

    async def _suggest(self, text: str, cursor: int) -> Completions | None:
        return await self._client.run(lambda vault: vault.search.suggest(text, cursor))

    async def _load_searches(self) -> None:
        self._set_saved_searches(await self._client.run(lambda vault: vault.searches.list_searches()))

    def _handle_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, SavedSearchesChanged):
                self._set_saved_searches(event.searches)

    def _set_saved_searches(self, searches: tuple[SavedSearch, ...]) -> None:
        """Offer saved searches as filter and groups."""
        self._view.sheet.filters.query.show_saved_searches(searches)
        self._view.sheet.groups.rows.show_saved_searches(searches)

    def _apply_settings(self, choices: GraphSettings) -> None:
        if choices.filter != self._filter:
            self._filter = choices.filter
            self._ask_filter()
        if choices.groups != self._groups:
            self._groups = choices.groups
            self._ask_groups()

    def _ask_filter(self) -> None:
        what = self.tr("filter the graph")
        tasks.start(self._run_filter(self._filter), owner=self._view, what=what)

    def _ask_groups(self) -> None:
        what = self.tr("color the graph groups")
        tasks.start(self._run_groups(self._groups), owner=self._view, what=what)

    async def _run_filter(self, query: str) -> None:
        """Run the filter; an invalid query leaves the graph unchanged."""
        self._filter_round += 1
        mine = self._filter_round
        field = self._view.sheet.filters.query
        try:
            found = await self._matching(query) if query else None
        except QueryError as error:
            if mine == self._filter_round:
                field.show_error(query, error)
            return
        if mine != self._filter_round:
            return
        self._view.appearance.set_filter_result(found)
        count = None if found is None else len(found)
        field.show_answer(
            "" if count is None else PluralText("GraphQueries", "{0} note", "{0} notes").format(count)
        )

    async def _run_groups(self, groups: tuple[QueryGroup, ...]) -> None:
        """Color what each group finds; an empty or invalid query finds nothing."""
        self._group_round += 1
        mine = self._group_round
        found: list[frozenset[str]] = []
        for place, group in enumerate(groups):
            try:
                found.append(await self._matching(group.query) if group.query else frozenset())
            except QueryError as error:
                found.append(frozenset())
                if mine == self._group_round:
                    self._view.sheet.groups.rows.show_error(place, group.query, error)
                continue
            if mine != self._group_round:
                return
            self._view.sheet.groups.rows.show_count(place, len(found[-1]))
        if mine == self._group_round:
            shown = [place for place, group in enumerate(groups) if group.query]
            self._view.set_groups([groups[place] for place in shown], [found[place] for place in shown])

    async def _matching(self, query: str) -> frozenset[str]:
        """Return the paths that a query finds.

        Raises:
            QueryError: The query is invalid or takes too long.
        """
        try:
            found = await self._client.run(lambda vault: vault.search.matching(query))
        except TimeoutExpiredError as error:
            raise QueryError(error.message) from error
        return frozenset(path.text for path in found)

"""Searches that the user keeps by name: one file per vault in the user's data folder, never in the vault.

They are not derived from notes, so that they do not go when the index is deleted. Whatever takes a query (the
search panel, the palette, the graph's filter and groups) can offer them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.errors import InvalidParametersError, StorageError
from app.events import Event, EventBus
from app.index.query import MAX_QUERY_CHARS
from app.index.search_request import Grouping, Order
from app.storage.files import DurableFile, to_json
from app.vault.path import name_key

FILE_NAME = "searches.json"
MAX_NAME_CHARS = 80


class SavedSearch(BaseModel):
    """A search by name: what it asks, and how its hits are listed."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS)
    order: Order = "relevance"
    group: Grouping = ""


_Searches = TypeAdapter(list[SavedSearch])


@dataclass(frozen=True, slots=True)
class SavedSearchesChanged(Event):
    """The saved searches are other ones now."""

    searches: tuple[SavedSearch, ...]


class SavedSearches:
    """The saved searches of a vault, in order of name; kept in `folder`.

    `problem` says what happened to a damaged file; it is empty if nothing did. Unless `writable`, the
    searches can only be read.
    """

    def __init__(self, folder: Path, events: EventBus, *, writable: bool = True) -> None:
        self._file = DurableFile(
            folder / FILE_NAME, "The list of saved searches", _parse, tuple[SavedSearch, ...]
        )
        self._events = events
        self._writable = writable
        self._searches, self.problem = self._file.load(writable=writable)

    def list_searches(self) -> tuple[SavedSearch, ...]:
        """Every saved search, by name."""
        return self._searches

    def save(self, name: str, query: str, order: Order = "relevance", group: Grouping = "") -> SavedSearch:
        """Keep a search, in place of one of the same name (whatever the letters' case).

        Raises:
            InvalidParametersError: the name or the query is empty or too long.
            StorageError: it cannot be written; what was saved before stays.
        """
        try:
            made = SavedSearch(name=" ".join(name.split()), query=query.strip(), order=order, group=group)
        except ValidationError as error:
            reason = f"A saved search needs a name of at most {MAX_NAME_CHARS} letters and a query."
            raise InvalidParametersError(reason) from error
        self._write([*self._without(made.name), made])
        return made

    def remove(self, name: str) -> None:
        """Forget the search of this name, if there is one. Raises StorageError as `save`."""
        rest = self._without(name)
        if len(rest) < len(self._searches):
            self._write(rest)

    def rename(self, name: str, new_name: str) -> None:
        """Give the search another name; raises as `save`, also when another search has that name."""
        wanted = next((one for one in self._searches if name_key(one.name) == name_key(name)), None)
        if wanted is None:
            return
        if any(one is not wanted and name_key(one.name) == name_key(new_name) for one in self._searches):
            raise InvalidParametersError(f"There is a saved search called “{new_name}” already.")
        rest = self._searches
        self._searches = tuple(self._without(wanted.name))
        try:
            self.save(new_name, wanted.query, wanted.order, wanted.group)
        except (InvalidParametersError, StorageError):
            self._searches = rest
            raise

    def _without(self, name: str) -> list[SavedSearch]:
        return [one for one in self._searches if name_key(one.name) != name_key(name)]

    def _write(self, searches: list[SavedSearch]) -> None:
        if not self._writable:
            raise StorageError("The vault is open for reading only, so that no search can be saved.")
        ordered = _sort_searches(searches)
        try:
            self._file.save(to_json([one.model_dump(mode="json") for one in ordered]))
        except (OSError, ValueError) as error:
            raise StorageError(f"The search can't be saved: {error}.", path=str(self._file.path)) from error
        self._searches = ordered
        self._events.publish(SavedSearchesChanged(ordered))


def _parse(content: bytes) -> tuple[SavedSearch, ...]:
    return _sort_searches(_Searches.validate_json(content))


def _sort_searches(searches: list[SavedSearch]) -> tuple[SavedSearch, ...]:
    return tuple(sorted(searches, key=lambda one: (name_key(one.name), one.name)))

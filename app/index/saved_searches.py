"""Saved searches: one file per vault in the user's data folder, never in the vault.

They are not derived data, so deleting the index does not delete them. The search panel, the palette and the
graph's filter and groups can offer them.
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
    """A named query with the order and grouping of its hits."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=MAX_NAME_CHARS)
    query: str = Field(min_length=1, max_length=MAX_QUERY_CHARS)
    order: Order = "relevance"
    group: Grouping = ""


_Searches = TypeAdapter(list[SavedSearch])


@dataclass(frozen=True, slots=True)
class SavedSearchesChanged(Event):
    """Published when the saved searches have changed."""

    searches: tuple[SavedSearch, ...]


class SavedSearches:
    """The saved searches of a vault, stored in `folder` and sorted by name.

    `problem` is a message about a damaged file, or "". Unless `writable`, they can't be changed.
    """

    def __init__(self, folder: Path, events: EventBus, *, writable: bool = True) -> None:
        self._file = DurableFile(
            folder / FILE_NAME, "The list of saved searches", _parse, tuple[SavedSearch, ...]
        )
        self._events = events
        self._writable = writable
        self._searches, self.problem = self._file.load(writable=writable)

    def list_searches(self) -> tuple[SavedSearch, ...]:
        """Return all saved searches, sorted by name."""
        return self._searches

    def save(self, name: str, query: str, order: Order = "relevance", group: Grouping = "") -> SavedSearch:
        """Save a search, replacing one with the same name (ignoring case).

        Raises:
            InvalidParametersError: the name or the query is empty or too long.
            StorageError: the file can't be written, or the vault is open read-only; the saved searches
                stay unchanged.
        """
        try:
            saved = SavedSearch(name=" ".join(name.split()), query=query.strip(), order=order, group=group)
        except ValidationError as error:
            reason = (
                f"A saved search needs a name of at most {MAX_NAME_CHARS} characters"
                f" and a query of at most {MAX_QUERY_CHARS}."
            )
            raise InvalidParametersError(reason) from error
        self._write([*self._without(saved.name), saved])
        return saved

    def remove(self, name: str) -> None:
        """Remove the search with this name, if any; raises StorageError as `save` does."""
        remaining = self._without(name)
        if len(remaining) < len(self._searches):
            self._write(remaining)

    def rename(self, name: str, new_name: str) -> None:
        """Rename a search; do nothing if it is unknown.

        Raises the same errors as `save`, and InvalidParametersError if another search has the new name.
        """
        search = next((saved for saved in self._searches if name_key(saved.name) == name_key(name)), None)
        if search is None:
            return
        if any(
            other is not search and name_key(other.name) == name_key(new_name) for other in self._searches
        ):
            raise InvalidParametersError(f"A saved search named “{new_name}” already exists.")
        previous = self._searches
        self._searches = tuple(self._without(search.name))
        try:
            self.save(new_name, search.query, search.order, search.group)
        except (InvalidParametersError, StorageError):
            self._searches = previous
            raise

    def _without(self, name: str) -> list[SavedSearch]:
        return [search for search in self._searches if name_key(search.name) != name_key(name)]

    def _write(self, searches: list[SavedSearch]) -> None:
        if not self._writable:
            raise StorageError("The saved searches can't be changed, because the vault is open read-only.")
        ordered = _sort_searches(searches)
        try:
            self._file.save(to_json([search.model_dump(mode="json") for search in ordered]))
        except (OSError, ValueError) as error:
            raise StorageError(
                f"The list of saved searches can't be written: {error}. It is unchanged.",
                path=str(self._file.path),
            ) from error
        self._searches = ordered
        self._events.publish(SavedSearchesChanged(ordered))


def _parse(content: bytes) -> tuple[SavedSearch, ...]:
    return _sort_searches(_Searches.validate_json(content))


def _sort_searches(searches: list[SavedSearch]) -> tuple[SavedSearch, ...]:
    return tuple(sorted(searches, key=lambda search: (name_key(search.name), search.name)))

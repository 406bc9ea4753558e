"""Searches that the user keeps by name: one file per vault in the user's data folder, never in the vault.

They are not derived from notes, so that they do not go when the index is deleted. Whatever takes a query (the
search panel, the palette, the graph's filter and groups) can offer them.
"""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.errors import InvalidParametersError, StorageError
from app.events import Event, EventBus
from app.index.query import LONGEST
from app.index.request import Grouping, Order
from app.vault.path import name_key

log = logging.getLogger(__name__)

FILE_NAME = "searches.json"
LONGEST_NAME = 80


class SavedSearch(BaseModel):
    """A search by name: what it asks, and how its hits are listed."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    query: str = Field(min_length=1, max_length=LONGEST)
    order: Order = "relevance"
    group: Grouping = ""


_Searches = TypeAdapter(list[SavedSearch])


@dataclass(frozen=True, slots=True)
class SavedSearchesChanged(Event):
    """The saved searches are other ones now."""

    searches: tuple[SavedSearch, ...]


class SavedSearches:
    """The saved searches of a vault, in order of name; kept in `folder`.

    `problem` says why a former file was set aside, if it was. Unless `writable`, they can only be read.
    """

    def __init__(self, folder: Path, events: EventBus, *, writable: bool = True) -> None:
        self._file = folder / FILE_NAME
        self._events = events
        self._writable = writable
        self.problem: str | None = None
        self._searches = self._read()

    def all(self) -> tuple[SavedSearch, ...]:
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
            reason = f"A saved search needs a name of at most {LONGEST_NAME} letters and a query."
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

    def _read(self) -> tuple[SavedSearch, ...]:
        try:
            return _ordered(_Searches.validate_json(self._file.read_bytes()))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            log.warning("the saved searches could not be read: %s", error)
        aside = self._file.with_name(f"{FILE_NAME}.unusable-{time.strftime('%Y%m%d-%H%M%S')}")
        self.problem = f"The saved searches could not be read; their file was kept as {aside.name}."
        if self._writable:
            try:
                self._file.replace(aside)
            except OSError as error:
                self.problem = f"The saved searches could not be read ({error})."
        return ()

    def _write(self, searches: list[SavedSearch]) -> None:
        if not self._writable:
            raise StorageError("The vault is open for reading only, so that no search can be saved.")
        ordered = _ordered(searches)
        fresh = self._file.with_suffix(".new")
        try:
            text = json.dumps([one.model_dump(mode="json") for one in ordered], ensure_ascii=False, indent=1)
            fresh.write_text(text, "utf-8")
            fresh.replace(self._file)
        except (OSError, ValueError) as error:
            raise StorageError(f"The search can't be saved: {error}.", path=str(self._file)) from error
        self._searches = ordered
        self._events.publish(SavedSearchesChanged(ordered))


def _ordered(searches: list[SavedSearch]) -> tuple[SavedSearch, ...]:
    return tuple(sorted(searches, key=lambda one: (name_key(one.name), one.name)))

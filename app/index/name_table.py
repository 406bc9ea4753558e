"""A table of all files that links can refer to, by name, built from the index's rows in a tenth of a second.

A file's `stem` is its normalized path without a note's suffix. The table groups files by the last part of the
stem, which every link by name contains, and compares a link's folders afterwards. If many files share a name,
they are also stored by every tail of their stems (`a/b/n` as `n`, `b/n` and `a/b/n`), so that lookups are
fast in any vault. Each `NameEntry` is created lazily, because a session needs few of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from app.index.logseq import PageNames
from app.index.names import decode_list, note_suffix, target_key
from app.vault.path import NotePath, name_key

Row = tuple[str, int, str, str | None]
_MAX_LINEAR_ENTRIES = 16


@dataclass(frozen=True, slots=True)
class NameEntry:
    """A file that links can refer to; `id` is its row in the index, `note_id` its `id` property.

    `suffix` is a note's suffix, or "" for other files; `stem` is the normalized path without it. Entries are
    sorted by `order`.
    """

    path: NotePath
    id: int
    aliases: tuple[str, ...] = ()
    note_id: str | None = None
    suffix: str = field(init=False)
    stem: str = field(init=False)
    order: tuple[int, str, str] = field(init=False)

    def __post_init__(self) -> None:
        text = self.path.text
        stem, suffix = _split(text)
        for name, value in (("suffix", suffix), ("stem", stem), ("order", (len(text), stem, text))):
            object.__setattr__(self, name, value)


Entries = tuple[NameEntry, ...]


@dataclass(frozen=True, slots=True)
class _SharedName:
    """Many files with the same name: `by_path` by their stems, `by_tail` by the tails of their stems."""

    by_path: dict[str, list[NameEntry]]
    by_tail: dict[str, list[NameEntry]]


class NameTable:
    """The files by name. Threads may read it concurrently while it does not change.

    With `pages`, the name of the page that a note stores counts as an alias.
    """

    def __init__(self, pages: PageNames | None = None) -> None:
        self.note_count = 0
        self._pages = pages
        self._files: dict[str, NameEntry | Row] = {}
        # One path, several, or, after the first lookup, their entries in order.
        self._by_name: dict[str, str | list[str] | Entries] = {}
        self._shared_names: dict[str, _SharedName] = {}
        self._alias_and_id_tables: tuple[dict[str, Entries], dict[str, Entries]] | None = None

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, text: str) -> bool:
        return text in self._files

    def path_texts(self) -> Iterable[str]:
        """Return the path of every file."""
        return self._files.keys()

    def entry(self, text: str) -> NameEntry | None:
        """Return the file at this path, spelled as on disk, or None."""
        value = self._files.get(text)
        if value is None or isinstance(value, NameEntry):
            return value
        path, row_id, aliases, note_id = value
        entry = NameEntry(NotePath(path), row_id, decode_list(aliases), note_id)
        self._files[text] = entry
        return entry

    def entries(self) -> Entries:
        """Return all files."""
        return tuple(entry for text in list(self._files) if (entry := self.entry(text)))

    def rows(self) -> tuple[Row, ...]:
        """Return all files as rows for `load`."""
        return tuple(
            _to_row(value) if isinstance(value, NameEntry) else value for value in self._files.values()
        )

    def note_names(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the path of every note with its normalized names and aliases."""
        for text, value in self._files.items():
            stem, suffix = _split(text)
            if suffix:
                aliases = value.aliases if isinstance(value, NameEntry) else decode_list(value[2])
                yield text, [stem.rpartition("/")[2], *map(name_key, self.aliases(text, aliases))]

    def aliases(self, text: str, aliases: Iterable[str]) -> Iterable[str]:
        """Return the aliases of the file at this path, with the page that it stores if named otherwise."""
        page = None if self._pages is None else self.page(NotePath(text))
        return aliases if page is None else (*aliases, page)

    def page(self, path: NotePath) -> str | None:
        """Return the page that a note in a Logseq vault stores, or None if it is named like the note."""
        if self._pages is None or not path.is_note:
            return None
        page = self._pages.decode(path.name)
        return page if page != path.name else None

    def copy(self) -> NameTable:
        """Return a copy without the cached lookups."""
        copied = NameTable(self._pages)
        copied.note_count = self.note_count
        copied._files = self._files.copy()
        copied._by_name = self._by_name.copy()
        return copied

    # Changing

    def load(self, rows: Iterable[Row]) -> None:
        """Fill an empty table with these files."""
        files, by_name, notes = self._files, self._by_name, 0
        for row in rows:
            text = row[0]
            files[text] = row
            stem, suffix = _split(text)
            notes += suffix != ""
            name = stem.rpartition("/")[2]
            others = by_name.setdefault(name, text)
            if others is not text:
                if isinstance(others, list):
                    others.append(text)
                else:
                    by_name[name] = [str(others), text]
        self.note_count = notes

    def add(self, entry: NameEntry) -> None:
        """Add a file whose path is not in the table."""
        self._files[entry.path.text] = entry
        self.note_count += entry.suffix != ""
        name = entry.stem.rpartition("/")[2]
        self._by_name[name] = sort_entries((*self.find_by_last_part(name), entry))
        self._shared_names.pop(name, None)
        if self._alias_and_id_tables is not None:
            for table, keys in zip(self._alias_and_id_tables, self._alias_and_id_keys(entry), strict=True):
                for key in keys:
                    table[key] = sort_entries((*table.get(key, ()), entry))

    def remove(self, text: str) -> NameEntry | None:
        """Remove the file at this path and return it, or None if unknown."""
        entry = self.entry(text)
        if entry is None:
            return None
        name = entry.stem.rpartition("/")[2]
        _set_or_delete(self._by_name, name, _remove_entry(self.find_by_last_part(name), text))
        self._shared_names.pop(name, None)
        if self._alias_and_id_tables is not None:
            for table, keys in zip(self._alias_and_id_tables, self._alias_and_id_keys(entry), strict=True):
                for key in keys:
                    _set_or_delete(table, key, _remove_entry(table[key], text))
        del self._files[text]
        self.note_count -= entry.suffix != ""
        return entry

    # Looking up

    def find_by_name(self, key: str) -> Entries:
        """Return the files that match a name, optionally with folders, in order.

        A note's suffix matches the notes that have it, else the notes whose names contain it (`n.md.md`).
        """
        if suffix := note_suffix(key):
            entries = self._find_by_tail(key[: -len(suffix)])
            if matches := tuple(entry for entry in entries if entry.suffix == suffix):
                return matches
        return self._find_by_tail(key)

    def find_by_path(self, key: str) -> Entries:
        """Return the files at exactly this path from the root, with or without a suffix, in order."""
        if suffix := note_suffix(key):
            entries = self._find_at_path(key[: -len(suffix)])
            if matches := tuple(entry for entry in entries if entry.suffix == suffix):
                return matches
        return self._find_at_path(key)

    def find_by_alias(self, key: str) -> Entries:
        """Return the files with this alias, in order."""
        return self._aliases_and_ids()[0].get(key, ())

    def find_by_id(self, key: str) -> Entries:
        """Return the notes with this `id` property, in order."""
        return self._aliases_and_ids()[1].get(key, ())

    def find_by_last_part(self, name: str) -> Entries:
        """Return the files whose stem has exactly this last part, in order."""
        entry_or_texts = self._by_name.get(name, ())
        if isinstance(entry_or_texts, tuple):
            return entry_or_texts
        if isinstance(entry_or_texts, str):
            entry = self.entry(entry_or_texts)
            entries: Entries = (entry,) if entry else ()
        else:
            entries = sort_entries(entry for text in entry_or_texts if (entry := self.entry(text)))
        self._by_name[name] = entries
        return entries

    def _find_by_tail(self, key: str) -> Entries:
        _, slash, name = key.rpartition("/")
        candidates = self.find_by_last_part(name)
        if not slash:
            return candidates
        if len(candidates) > _MAX_LINEAR_ENTRIES:
            return tuple(self._shared_name(name, candidates).by_tail.get(key, ()))
        tail = f"/{key}"
        return tuple(entry for entry in candidates if entry.stem == key or entry.stem.endswith(tail))

    def _find_at_path(self, key: str) -> Entries:
        name = key.rpartition("/")[2]
        candidates = self.find_by_last_part(name)
        if len(candidates) > _MAX_LINEAR_ENTRIES:
            return tuple(self._shared_name(name, candidates).by_path.get(key, ()))
        return tuple(entry for entry in candidates if entry.stem == key)

    def _shared_name(self, name: str, entries: Entries) -> _SharedName:
        shared = self._shared_names.get(name)
        if shared is None:
            shared = _SharedName({}, {})
            for entry in entries:
                shared.by_path.setdefault(entry.stem, []).append(entry)
                for tail in _tails(entry.stem):
                    shared.by_tail.setdefault(tail, []).append(entry)
            self._shared_names[name] = shared
        return shared

    def _aliases_and_ids(self) -> tuple[dict[str, Entries], dict[str, Entries]]:
        if self._alias_and_id_tables is None:
            tables: tuple[dict[str, list[NameEntry]], dict[str, list[NameEntry]]] = ({}, {})
            for text, value in list(self._files.items()):
                has_others = isinstance(value, NameEntry) or value[2] != "[]" or value[3] is not None
                if not has_others and (self._pages is None or self.page(NotePath(text)) is None):
                    continue
                if entry := self.entry(text):
                    for table, keys in zip(tables, self._alias_and_id_keys(entry), strict=True):
                        for key in keys:
                            table.setdefault(key, []).append(entry)
            aliases, ids = ({key: sort_entries(value) for key, value in table.items()} for table in tables)
            self._alias_and_id_tables = aliases, ids
        return self._alias_and_id_tables

    def _alias_and_id_keys(self, entry: NameEntry) -> tuple[set[str], set[str]]:
        """Return the keys of an entry's aliases and of its `id`."""
        ids = {name_key(entry.note_id)} if entry.note_id else set()
        return set(map(target_key, self.aliases(entry.path.text, entry.aliases))), ids


def sort_entries(entries: Iterable[NameEntry]) -> Entries:
    """Sort entries by the length of their paths, then by name."""
    return tuple(sorted(entries, key=lambda entry: entry.order))


def _to_row(entry: NameEntry) -> Row:
    aliases = json.dumps(entry.aliases) if entry.aliases else "[]"
    return entry.path.text, entry.id, aliases, entry.note_id


def _split(text: str) -> tuple[str, str]:
    """Split a path into its stem and its note suffix, which is "" for other files."""
    key = target_key(text)
    suffix = note_suffix(key)
    return (key[: -len(suffix)].strip(), suffix) if suffix else (key, "")


def _tails(stem: str) -> Iterator[str]:
    """Yield the stem and the rest of it after each slash."""
    yield stem
    index = stem.find("/")
    while index >= 0:
        yield stem[index + 1 :]
        index = stem.find("/", index + 1)


def _remove_entry(entries: Entries, text: str) -> Entries:
    return tuple(entry for entry in entries if entry.path.text != text)


def _set_or_delete(
    table: dict[str, str | list[str] | Entries] | dict[str, Entries], key: str, entries: Entries
) -> None:
    if entries:
        table[key] = entries
    else:
        del table[key]

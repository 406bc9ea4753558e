"""In-memory resolution of links to files by the rules of the vault format, in a few microseconds each.

The rules are: 1. The exact path in the vault (a root note takes precedence over a sibling). 2. The source
note's own folder. 3. The shortest path, with ties broken by name; with several candidates, the link is
ambiguous. Names compare case-insensitively in NFC, `.md` is optional, and a name with folders matches whole
parts from the right. `./` and `../` start at the source note's folder, a leading `/` at the root. Aliases
resolve only if the vault's settings say so; for tools that read, they always resolve, after names. In a
Logseq vault, aliases and the names of pages always resolve.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from app.errors import AmbiguousError, NotFoundError
from app.index.fuzzy_names import FuzzyNames
from app.index.logseq import PageNames
from app.index.name_table import Entries, NameEntry, NameTable, Row, sort_entries
from app.index.names import link_key, note_suffix, target_key
from app.vault.path import NotePath, name_key
from app.vault.reference import parse_reference

_MIN_SIMILARITY = 55.0
_LINK_MARKS = frozenset("#|^[]")
"""Characters that the name of a page may contain, but the target of a link can't."""
_MAX_CACHED_TARGETS = 64


@dataclass(frozen=True, slots=True)
class Resolution:
    """The result of resolving a link; `path` is None if nothing has that name.

    `ambiguous` means that it is only the first of several `candidates`.
    """

    path: NotePath | None
    ambiguous: bool
    candidates: tuple[NotePath, ...]


class Resolver:
    """Resolves names; `add` and `remove` keep it up to date.

    Other threads may read it while it does not change.
    """

    def __init__(self, aliases_resolve: bool = False, pages: PageNames | None = None) -> None:
        self._aliases_resolve = aliases_resolve or pages is not None
        self._pages = pages
        self._table = NameTable(pages)
        self._fuzzy: FuzzyNames | None = None
        self._read_cache: dict[str, NotePath] = {}
        """Recent results for tools that read, because the gate and then the tool resolve the same name."""

    @property
    def notes(self) -> int:
        """The number of notes."""
        return self._table.note_count

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, path: NotePath) -> bool:
        return path.text in self._table

    def entry(self, path: NotePath) -> NameEntry | None:
        """Return the entry of the file at `path`, spelled as on disk, or None."""
        return self._table.entry(path.text)

    def entries(self) -> tuple[NameEntry, ...]:
        """Return all files that links can refer to, unordered."""
        return self._table.entries()

    def path_texts(self) -> Iterable[str]:
        """Return the path of every file, unordered; far faster than `entries`."""
        return self._table.path_texts()

    def rows(self) -> tuple[Row, ...]:
        """Return all files as rows for `load_rows`."""
        return self._table.rows()

    def folders(self) -> tuple[str, ...]:
        """Return the folders that contain a file directly; the root is ""."""
        return tuple(dict.fromkeys(text.rpartition("/")[0] for text in self._table.path_texts()))

    def paths_by_alias_or_id(self, name: str) -> tuple[NotePath, ...]:
        """Return the notes with this alias or `id` property."""
        entries = (*self._table.find_by_alias(target_key(name)), *self._table.find_by_id(name_key(name)))
        return tuple(dict.fromkeys(entry.path for entry in entries))

    def paths_below(self, folders: Iterable[NotePath]) -> list[NotePath]:
        """Return the files below these folders."""
        starts = tuple(f"{folder.text}/" for folder in folders)
        return [NotePath(text) for text in self._table.path_texts() if text.startswith(starts)]

    def copy(self) -> Resolver:
        """Return a copy that another thread may use and change; it takes milliseconds."""
        copied = Resolver(self._aliases_resolve, self._pages)
        copied._table = self._table.copy()
        return copied

    # Changing

    def load_rows(self, rows: Iterable[Row]) -> None:
        """Replace everything with these files: path, id, aliases as JSON, `id` property."""
        table = NameTable(self._pages)
        table.load(rows)
        self._table, self._fuzzy, self._read_cache = table, None, {}

    def add(
        self, path: NotePath, row_id: int = 0, aliases: Iterable[str] = (), note_id: str | None = None
    ) -> None:
        """Add or update the file at `path`."""
        self.remove(path)
        entry = NameEntry(path, row_id, tuple(aliases), note_id)
        self._table.add(entry)
        self._read_cache = {}
        if self._fuzzy is not None and entry.suffix:
            self._fuzzy.add(path.text, self._names(entry))

    def remove(self, path: NotePath) -> None:
        """Remove the file at `path`; do nothing if it is unknown."""
        entry = self._table.remove(path.text)
        self._read_cache = {}
        if entry is not None and self._fuzzy is not None:
            self._fuzzy.remove(path.text)

    def link_keys(self, entry: NameEntry) -> set[str]:
        """Return the `link_key` of every link that can resolve differently with or without this file."""
        return self.link_keys_of(entry.path.text, entry.aliases)

    def link_keys_of(self, text: str, aliases: Iterable[str] = ()) -> set[str]:
        """Return the `link_keys` of the file at this path with these aliases."""
        key = target_key(text)
        suffix = note_suffix(key)
        keys = {link_key(key), link_key(key[: -len(suffix)].strip() if suffix else key)}
        return keys | self.alias_link_keys(self._table.aliases(text, aliases))

    def alias_link_keys(self, aliases: Iterable[str]) -> set[str]:
        """Return the `link_key` of every link that can resolve differently with or without these aliases."""
        return {link_key(target_key(alias)) for alias in aliases} if self._aliases_resolve else set()

    @contextmanager
    def preview(self, moves: Mapping[NotePath, NotePath]) -> Iterator[None]:
        """Resolve names inside the context as if these files had moved; the context must not await."""
        entries = {old_path: entry for old_path in moves if (entry := self.entry(old_path))}
        shadowed = [entry for new_path in moves.values() if (entry := self.entry(new_path))]
        try:
            for old_path in entries:
                self.remove(old_path)
            for old_path, entry in entries.items():
                self.add(moves[old_path], entry.id, entry.aliases, entry.note_id)
            yield
        finally:
            for old_path in entries:
                self.remove(moves[old_path])
            for entry in (*entries.values(), *shadowed):
                self.add(entry.path, entry.id, entry.aliases, entry.note_id)

    # Links

    def resolve(self, target: str, source: NotePath | None) -> Resolution:
        """Resolve a link's target in the note `source`; an empty target is `source` itself."""
        entry, ambiguous = self.pick(target, source)
        if entry is None:
            return Resolution(None, False, ())
        if not ambiguous:
            return Resolution(entry.path, False, (entry.path,))
        return Resolution(entry.path, True, tuple(other.path for other in self._candidates(target, source)))

    def pick(self, target: str, source: NotePath | None) -> tuple[NameEntry | None, bool]:
        """Resolve without listing candidates: return the file and whether the target is ambiguous."""
        key = target_key(target)
        if not key:
            return (self.entry(source) if source else None), False
        if key[0] in "./" and (rooted := _root_relative(key, source)) is not None:
            return _choose(self._find_exact(rooted), target)
        candidates = self._find_matching(key)
        if len(candidates) <= 1:
            return (candidates[0] if candidates else None), False
        if exact := self._find_exact(key):
            return _choose(exact, target)
        if source and source.folder and (siblings := self._find_exact(f"{target_key(source.folder)}/{key}")):
            return _choose(siblings, target)
        return candidates[0], True

    def _candidates(self, target: str, source: NotePath | None) -> Entries:
        key = target_key(target)
        if key[:1] in "./" and (rooted := _root_relative(key, source)) is not None:
            return self._find_exact(rooted)
        siblings = self._find_exact(f"{target_key(source.folder)}/{key}") if source and source.folder else ()
        return self._find_exact(key) or siblings or self._find_matching(key)

    def _find_matching(self, key: str) -> Entries:
        """Return the files whose name matches the key (with or without folders), or else alias if enabled."""
        entries = self._table.find_by_name(key)
        return entries or (self._table.find_by_alias(key) if self._aliases_resolve else ())

    def _find_exact(self, key: str) -> Entries:
        return self._table.find_by_path(key)

    # Tools

    def resolve_strictly(self, reference: str) -> NotePath:
        """Return the one note for a path, name or `id` property, for a tool that writes.

        A name without folders must be unique in the vault; a path is always enough.

        Raises:
            NotFoundError: no note matches; `suggestions` are similar names.
            AmbiguousError: several notes match; `candidates` are their paths.
        """
        by_path, by_name = self._references(reference)
        if len(by_path) == 1:
            return by_path[0].path
        return self._require_single(by_path or by_name, reference)

    def resolve_for_reading(self, reference: str) -> NotePath:
        """Return the note for a path, name, `id` property or alias, for a tool that reads.

        For a name without folders, a note at the root is preferred. Raises like `resolve_strictly`.
        """
        cache = self._read_cache
        path = cache.get(reference)
        if path is None:
            path = self._find_for_reading(reference)
            if len(cache) >= _MAX_CACHED_TARGETS:
                cache.clear()
            cache[reference] = path
        return path

    def _find_for_reading(self, reference: str) -> NotePath:
        by_path, by_name = self._references(reference)
        target = parse_reference(reference).target
        exact = by_path or tuple(entry for entry in self._find_exact(target_key(target)) if entry.suffix)
        if len(exact) == 1:
            return exact[0].path
        return self._require_single(
            exact or by_name or self._table.find_by_alias(target_key(target)), reference
        )

    def _references(self, reference: str) -> tuple[Entries, Entries]:
        """Return the notes with this whole path, and those with this name or `id`.

        A path spelled exactly as on disk matches first, even with characters that links treat specially:
        `C# and F#.md`.
        """
        exact_entry = self._table.entry(reference.strip().lstrip("/"))
        if exact_entry is not None and exact_entry.suffix:
            return (exact_entry,), ()
        target = parse_reference(reference).target
        key = target_key(target)
        rooted = key.lstrip("/")
        exact: Entries = ()
        if "/" in key or note_suffix(key):
            exact = tuple(entry for entry in self._find_exact(rooted) if entry.suffix)
            same_spelling = tuple(e for e in exact if e.path.text == target.strip().lstrip("/"))
            exact = same_spelling or exact
        named = self._table.find_by_name(key) if self._pages is None else self._find_matching(key)
        by_name = {entry.path.text: entry for entry in named if entry.suffix}
        for text in (reference.strip(), target.strip()):
            by_name.update((entry.path.text, entry) for entry in self._table.find_by_id(name_key(text)))
        return exact, sort_entries(by_name.values())

    def _require_single(self, entries: Entries, reference: str) -> NotePath:
        if len(entries) == 1:
            return entries[0].path
        if entries:
            raise AmbiguousError(
                f"{len(entries)} notes are named {reference!r}. Give the path of one.",
                name=reference,
                candidates=[entry.path.text for entry in entries[:50]],
                count=len(entries),
            )
        suggestions = [path.text for path in self.suggest(reference)]
        raise NotFoundError(f"No note is named {reference!r}.", name=reference, suggestions=suggestions)

    def suggest(self, name: str, limit: int = 5) -> tuple[NotePath, ...]:
        """Return up to `limit` notes whose name or alias is similar to `name`, best first."""
        target = parse_reference(name).target
        # A slash is a part of a page's name in a Logseq vault, else it separates folders.
        text = name_key((target if self._pages else target.rpartition("/")[2]) or name)
        matches = self.fuzzy_names().most_similar(text, limit * 4, _MIN_SIMILARITY)
        ranked = sorted(matches, key=lambda hit: (-hit.score, len(hit.path), hit.path))
        return tuple(NotePath(text) for text in dict.fromkeys(hit.path for hit in ranked))[:limit]

    def fuzzy_names(self) -> FuzzyNames:
        """Return the names and aliases of all notes for fuzzy search; kept up to date."""
        fuzzy = self._fuzzy
        if fuzzy is None:
            fuzzy = FuzzyNames()
            for text, names in self._table.note_names():
                fuzzy.add(text, names)
            self._fuzzy = fuzzy
        return fuzzy

    def _names(self, entry: NameEntry) -> list[str]:
        """Return a note's normalized names and aliases."""
        return list(map(name_key, (entry.path.name, *self._table.aliases(entry.path.text, entry.aliases))))

    def shortest(self, path: NotePath, source: NotePath | None, *, as_file: bool = False) -> str:
        """Return the shortest link target that resolves unambiguously to `path` in the note `source`.

        If there is none, return the path. In a Logseq vault, return the name of the page, unless `as_file`.
        """
        page = None if as_file else self._table.page(path)
        if (
            page is not None
            and not _LINK_MARKS & {*page}
            and self.pick(page, source) == (self.entry(path), False)
        ):
            return page
        stem = path.stem_path
        starts = [0, *(index + 1 for index, letter in enumerate(stem) if letter == "/")]
        for text in (*(stem[start:] for start in reversed(starts)), path.text, f"/{path.text}"):
            entry, ambiguous = self.pick(text, source)
            if entry is not None and entry.path == path and not ambiguous:
                return text
        return path.text


def _root_relative(key: str, source: NotePath | None) -> str | None:
    """Return `/x`, `./x` or `../x` relative to the root, or None for a name that starts with a dot."""
    if key.startswith("/"):
        return key[1:]
    if not key.startswith(("./", "../")):
        return None
    parts = target_key(source.folder).split("/") if source and source.folder else []
    for part in key.split("/"):
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _choose(entries: Entries, target: str) -> tuple[NameEntry | None, bool]:
    """Choose among files whose names differ by case or suffix: the one with this spelling, else the first."""
    if len(entries) <= 1:
        return (entries[0] if entries else None), False
    last = target.strip().rpartition("/")[2]
    same_spelling = [entry for entry in entries if last in (entry.path.name, entry.path.file_name)]
    return (same_spelling[0], False) if len(same_spelling) == 1 else ((same_spelling or entries)[0], True)

"""Which file a link means: the rules of the vault format, in memory, a few microseconds each.

1. The exact path in the vault (a root note beats a sibling). 2. The source note's own folder. 3. The
shortest path string, ties by name order; when there is more than one candidate, flagged ambiguous. Names
compare case-insensitively in NFC, `.md` is optional, a folder-qualified name matches whole parts from the
right. `./` and `../` start at the source note's folder, a leading `/` at the root. Aliases are no targets
unless the vault's settings say so; for a tool's read they are, after names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from app.errors import AmbiguousError, NotFoundError
from app.index.fuzzy_names import FuzzyNames
from app.index.name_table import Entries, NameEntry, NameTable, Row, sort_entries
from app.index.names import link_key, note_suffix, target_key
from app.vault.path import NotePath, name_key
from app.vault.reference import parse_reference

_MIN_SIMILARITY = 55.0
_MAX_CACHED_TARGETS = 64


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a link means: `path` is None when nothing has that name.

    `ambiguous`: there were several `candidates` and rule 3 took the first.
    """

    path: NotePath | None
    ambiguous: bool
    candidates: tuple[NotePath, ...]


class Resolver:
    """Resolves names; changed by `add` and `remove` as files come and go.

    Readers may use it from other threads as long as nobody changes it meanwhile.
    """

    def __init__(self, aliases_resolve: bool = False) -> None:
        self._aliases_resolve = aliases_resolve
        self._table = NameTable()
        self._near: FuzzyNames | None = None
        self._read: dict[str, NotePath] = {}
        """What names meant lately to tools that read: the gate asks first, and then the tool."""

    @property
    def notes(self) -> int:
        """How many of the files are notes."""
        return self._table.notes

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, path: NotePath) -> bool:
        return path.text in self._table

    def entry(self, path: NotePath) -> NameEntry | None:
        """The entry of the file at `path`, spelled as on disk."""
        return self._table.entry(path.text)

    def entries(self) -> tuple[NameEntry, ...]:
        """All files that links can mean, in no order."""
        return self._table.entries()

    def rows(self) -> tuple[Row, ...]:
        """All files as `load_rows` takes them."""
        return self._table.rows()

    def paths_below(self, folders: Iterable[NotePath]) -> list[NotePath]:
        """The files below these folders."""
        starts = tuple(f"{folder.text}/" for folder in folders)
        return [NotePath(text) for text in self._table.texts() if text.startswith(starts)]

    def copy(self) -> Resolver:
        """Return a copy that another thread may use and change; it takes milliseconds."""
        made = Resolver(self._aliases_resolve)
        made._table = self._table.copy()
        return made

    # Changing

    def load_rows(self, rows: Iterable[Row]) -> None:
        """Forget everything and take these files: path, id, aliases as JSON, `id` property."""
        table = NameTable()
        table.load(rows)
        self._table, self._near, self._read = table, None, {}

    def add(
        self, path: NotePath, id: int = 0, aliases: Iterable[str] = (), note_id: str | None = None
    ) -> None:
        """Take the file at `path`, or what is new about it."""
        self.remove(path)
        entry = NameEntry(path, id, tuple(aliases), note_id)
        self._table.add(entry)
        self._read = {}
        if self._near is not None and entry.suffix:
            self._near.add(path.text, _names(entry))

    def remove(self, path: NotePath) -> None:
        """Forget the file at `path`; nothing happens when it is not known."""
        entry = self._table.remove(path.text)
        self._read = {}
        if entry is not None and self._near is not None:
            self._near.remove(path.text)

    def link_keys(self, entry: NameEntry) -> set[str]:
        """The `link_key` of every link whose meaning can change when this file comes or goes."""
        return self.link_keys_of(entry.path.text, entry.aliases)

    def link_keys_of(self, text: str, aliases: Iterable[str] = ()) -> set[str]:
        """As `link_keys`, for the file at this path with these aliases."""
        key = target_key(text)
        suffix = note_suffix(key)
        keys = {link_key(key), link_key(key[: -len(suffix)].strip() if suffix else key)}
        if self._aliases_resolve:
            keys.update(link_key(target_key(alias)) for alias in aliases)
        return keys

    @contextmanager
    def preview(self, moves: Mapping[NotePath, NotePath]) -> Iterator[None]:
        """Inside, names resolve as if these files had moved already. Nothing may await inside."""
        known = {old: entry for old in moves if (entry := self.entry(old))}
        shadowed = [entry for new in moves.values() if (entry := self.entry(new))]
        try:
            for old in known:
                self.remove(old)
            for old, entry in known.items():
                self.add(moves[old], entry.id, entry.aliases, entry.note_id)
            yield
        finally:
            for old in known:
                self.remove(moves[old])
            for entry in (*known.values(), *shadowed):
                self.add(entry.path, entry.id, entry.aliases, entry.note_id)

    # Links

    def resolve(self, target: str, source: NotePath | None) -> Resolution:
        """What a link with this target means in the note `source`; an empty target is `source` itself."""
        entry, ambiguous = self.pick(target, source)
        if entry is None:
            return Resolution(None, False, ())
        if not ambiguous:
            return Resolution(entry.path, False, (entry.path,))
        return Resolution(entry.path, True, tuple(other.path for other in self._candidates(target, source)))

    def pick(self, target: str, source: NotePath | None) -> tuple[NameEntry | None, bool]:
        """As `resolve`, without the list of candidates: the file, and whether it is ambiguous."""
        key = target_key(target)
        if not key:
            return (self.entry(source) if source else None), False
        if key[0] in "./" and (rooted := _rooted(key, source)) is not None:
            return _choose(self._exactly(rooted), target)
        found = self._found(key)
        if len(found) <= 1:
            return (found[0] if found else None), False
        if exact := self._exactly(key):
            return _choose(exact, target)
        if source and source.folder and (own := self._exactly(f"{target_key(source.folder)}/{key}")):
            return _choose(own, target)
        return found[0], True

    def _candidates(self, target: str, source: NotePath | None) -> Entries:
        key = target_key(target)
        if key[:1] in "./" and (rooted := _rooted(key, source)) is not None:
            return self._exactly(rooted)
        own = self._exactly(f"{target_key(source.folder)}/{key}") if source and source.folder else ()
        return self._exactly(key) or own or self._found(key)

    def _found(self, key: str) -> Entries:
        """Every file that the (folder-qualified) key can mean; aliases last, where they resolve."""
        found = self._table.named(key)
        return found or (self._table.aliased(key) if self._aliases_resolve else ())

    def _exactly(self, key: str) -> Entries:
        return self._table.placed(key)

    # Tools

    def resolve_strictly(self, reference: str) -> NotePath:
        """The one note that a path, name or `id` property means, for a tool that writes.

        A bare name is only enough when one note has it, in whatever folder; a path always is.

        Raises:
            NotFoundError: no note is meant; `suggestions` are near misses.
            AmbiguousError: several are; `candidates` are paths that work.
        """
        by_path, named = self._references(reference)
        if len(by_path) == 1:
            return by_path[0].path
        return self._only(by_path or named, reference)

    def resolve_for_reading(self, reference: str) -> NotePath:
        """The note that a path, name, `id` property or alias means, for a tool that reads.

        A bare name means the note at the root, if there is one. Raises as `resolve_strictly`.
        """
        known = self._read
        path = known.get(reference)
        if path is None:
            path = self._found_for_reading(reference)
            if len(known) >= _MAX_CACHED_TARGETS:
                known.clear()
            known[reference] = path
        return path

    def _found_for_reading(self, reference: str) -> NotePath:
        by_path, named = self._references(reference)
        target = parse_reference(reference).target
        exact = by_path or tuple(entry for entry in self._exactly(target_key(target)) if entry.suffix)
        if len(exact) == 1:
            return exact[0].path
        return self._only(exact or named or self._table.aliased(target_key(target)), reference)

    def _references(self, reference: str) -> tuple[Entries, Entries]:
        """The notes whose whole path it is, and those whose name or `id` it is.

        A path as it stands on disk means that note, whatever its marks mean in a link: `C# and F#.md`.
        """
        whole = self._table.entry(reference.strip().lstrip("/"))
        if whole is not None and whole.suffix:
            return (whole,), ()
        target = parse_reference(reference).target
        key = target_key(target)
        rooted = key.lstrip("/")
        exact: Entries = ()
        if "/" in key or note_suffix(key):
            exact = tuple(entry for entry in self._exactly(rooted) if entry.suffix)
            spelled = tuple(e for e in exact if e.path.text == target.strip().lstrip("/"))
            exact = spelled or exact
        named = {entry.path.text: entry for entry in self._table.named(key) if entry.suffix}
        for text in (reference.strip(), target.strip()):
            named.update((entry.path.text, entry) for entry in self._table.identified(name_key(text)))
        return exact, sort_entries(named.values())

    def _only(self, found: Entries, reference: str) -> NotePath:
        if len(found) == 1:
            return found[0].path
        if found:
            raise AmbiguousError(
                f"{len(found)} notes are called {reference!r}: say which by its path.",
                name=reference,
                candidates=[entry.path.text for entry in found[:50]],
                count=len(found),
            )
        suggestions = [path.text for path in self.suggest(reference)]
        raise NotFoundError(f"No note is called {reference!r}.", name=reference, suggestions=suggestions)

    def suggest(self, name: str, limit: int = 5) -> tuple[NotePath, ...]:
        """Notes whose name or alias is close to `name`, best first."""
        wanted = name_key(parse_reference(name).target.rpartition("/")[2] or name)
        found = self.fuzzy_names().most_similar(wanted, limit * 4, _MIN_SIMILARITY)
        ranked = sorted(found, key=lambda hit: (-hit.score, len(hit.path), hit.path))
        return tuple(NotePath(text) for text in dict.fromkeys(hit.path for hit in ranked))[:limit]

    def fuzzy_names(self) -> FuzzyNames:
        """Every name and alias of a note, to be compared with what somebody said; kept up with changes."""
        near = self._near
        if near is None:
            near = FuzzyNames()
            for text, names in self._table.note_names():
                near.add(text, names)
            self._near = near
        return near

    def shortest(self, path: NotePath, source: NotePath | None) -> str:
        """The shortest link text that means `path`, and nothing else, in the note `source`."""
        stem = path.stem_path
        starts = [0, *(at + 1 for at, letter in enumerate(stem) if letter == "/")]
        for text in (*(stem[start:] for start in reversed(starts)), path.text, f"/{path.text}"):
            entry, ambiguous = self.pick(text, source)
            if entry is not None and entry.path == path and not ambiguous:
                return text
        return path.text


def _rooted(key: str, source: NotePath | None) -> str | None:
    """The path from the root that `/x`, `./x` or `../x` means; None for a name that starts with a dot."""
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


def _choose(found: Entries, target: str) -> tuple[NameEntry | None, bool]:
    """Of files at one place (names that differ by case or suffix) the one spelled so, else the first."""
    if len(found) <= 1:
        return (found[0] if found else None), False
    last = target.strip().rpartition("/")[2]
    spelled = [entry for entry in found if last in (entry.path.name, entry.path.file_name)]
    return (spelled[0], False) if len(spelled) == 1 else ((spelled or found)[0], True)


def _names(entry: NameEntry) -> list[str]:
    """What a note may be called, in the form to compare by."""
    return [name_key(entry.path.name), *map(name_key, entry.aliases)]

"""Which file a link means: the rules of the vault format, in memory, a few microseconds each.

1. The exact path in the vault (a root note beats a sibling). 2. The source note's own folder. 3. The
shortest path string, ties by name order; when there is more than one candidate, flagged ambiguous. Names
compare case-insensitively in NFC, `.md` is optional, a folder-qualified name matches whole parts from the
right. `./` and `../` start at the source note's folder, a leading `/` at the root. Aliases are no targets
unless the vault's settings say so; for a tool's read they are, after names.

Every right-hand part of every path is a key (`a/b/n` is found as `n`, `b/n`, `a/b/n`), so that each rule is
one look-up, whatever the number of notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from app.errors import AmbiguousError, NotFoundError
from app.index.names import link_key, note_suffix, target_key
from app.vault.path import NotePath, name_key
from app.vault.reference import parse_reference


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that links can mean; `id` is its row in the index, `note_id` its `id` property.

    `suffix` is a note's suffix, empty for any other file; `stem` the path in the form to compare by.
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
        key = target_key(text)
        suffix = note_suffix(key)
        stem = key[: -len(suffix)].strip() if suffix else key
        for name, value in (("suffix", suffix), ("stem", stem), ("order", (len(text), stem, text))):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a link means: `path` is None when nothing has that name.

    `ambiguous`: there were several `candidates` and rule 3 took the first.
    """

    path: NotePath | None
    ambiguous: bool
    candidates: tuple[NotePath, ...]


Entries = tuple[Entry, ...]


class Resolver:
    """Resolves names; changed by `add` and `remove` as files come and go.

    Readers may use it from other threads as long as nobody changes it meanwhile.
    """

    def __init__(self, aliases_resolve: bool = False) -> None:
        self._aliases_resolve = aliases_resolve
        self._entries: dict[str, Entry] = {}
        self._by_tail: dict[str, Entries] = {}
        self._by_stem: dict[str, Entries] = {}
        self._by_alias: dict[str, Entries] = {}
        self._by_id: dict[str, Entries] = {}
        self._choices: tuple[list[str], list[Entry]] | None = None
        self._notes = 0

    @property
    def notes(self) -> int:
        """How many of the files are notes."""
        return self._notes

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, path: NotePath) -> bool:
        return path.text in self._entries

    def entry(self, path: NotePath) -> Entry | None:
        """The entry of the file at `path`, spelled as on disk."""
        return self._entries.get(path.text)

    def entries(self) -> tuple[Entry, ...]:
        """All files that links can mean, in no order."""
        return tuple(self._entries.values())

    # Changing

    def load(self, entries: Iterable[Entry]) -> None:
        """Forget everything and take these files."""
        tables: tuple[dict[str, list[Entry]], ...] = ({}, {}, {}, {})
        known = {entry.path.text: entry for entry in entries}
        for entry in known.values():
            for table, keys in zip(tables, _keys_of(entry), strict=True):
                for key in keys:
                    table.setdefault(key, []).append(entry)
        self._by_tail, self._by_stem, self._by_alias, self._by_id = (
            {key: tuple(found) if len(found) == 1 else _sorted(found) for key, found in table.items()}
            for table in tables
        )
        self._entries = known
        self._notes = sum(entry.suffix != "" for entry in known.values())
        self._choices = None

    def add(
        self, path: NotePath, id: int = 0, aliases: Iterable[str] = (), note_id: str | None = None
    ) -> None:
        """Take the file at `path`, or what is new about it."""
        self.remove(path)
        entry = Entry(path, id, tuple(aliases), note_id)
        self._entries[path.text] = entry
        self._notes += entry.suffix != ""
        for table, keys in zip(self._tables(), _keys_of(entry), strict=True):
            for key in keys:
                found = table.get(key)
                table[key] = (entry,) if found is None else _sorted((*found, entry))
        self._choices = None

    def remove(self, path: NotePath) -> None:
        """Forget the file at `path`; nothing happens when it is not known."""
        entry = self._entries.pop(path.text, None)
        if entry is None:
            return
        self._notes -= entry.suffix != ""
        for table, keys in zip(self._tables(), _keys_of(entry), strict=True):
            for key in keys:
                rest = tuple(other for other in table[key] if other is not entry)
                if rest:
                    table[key] = rest
                else:
                    del table[key]
        self._choices = None

    def _tables(self) -> tuple[dict[str, Entries], ...]:
        return self._by_tail, self._by_stem, self._by_alias, self._by_id

    def link_keys(self, entry: Entry) -> set[str]:
        """The `link_key` of every link whose meaning can change when this file comes or goes."""
        keys = {link_key(entry.stem), link_key(target_key(entry.path.text))}
        if self._aliases_resolve:
            keys.update(link_key(target_key(alias)) for alias in entry.aliases)
        return keys

    @contextmanager
    def preview(self, moves: Mapping[NotePath, NotePath]) -> Iterator[None]:
        """Inside, names resolve as if these files had moved already. Nothing may await inside."""
        known = {old: entry for old in moves if (entry := self._entries.get(old.text))}
        shadowed = [entry for new in moves.values() if (entry := self._entries.get(new.text))]
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

    def pick(self, target: str, source: NotePath | None) -> tuple[Entry | None, bool]:
        """As `resolve`, without the list of candidates: the file, and whether it is ambiguous."""
        key = target_key(target)
        if not key:
            return (self._entries.get(source.text) if source else None), False
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
        found = _lookup(self._by_tail, key)
        return found or (self._by_alias.get(key, ()) if self._aliases_resolve else ())

    def _exactly(self, key: str) -> Entries:
        return _lookup(self._by_stem, key)

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

    def resolve_reading(self, reference: str) -> NotePath:
        """The note that a path, name, `id` property or alias means, for a tool that reads.

        A bare name means the note at the root, if there is one. Raises as `resolve_strictly`.
        """
        by_path, named = self._references(reference)
        target = parse_reference(reference).target
        exact = by_path or tuple(entry for entry in self._exactly(target_key(target)) if entry.suffix)
        if len(exact) == 1:
            return exact[0].path
        return self._only(exact or named or self._by_alias.get(target_key(target), ()), reference)

    def _references(self, reference: str) -> tuple[Entries, Entries]:
        """The notes whose whole path it is, and those whose name or `id` it is."""
        target = parse_reference(reference).target
        key = target_key(target)
        rooted = key.lstrip("/")
        exact: Entries = ()
        if "/" in key or note_suffix(key):
            exact = tuple(entry for entry in self._exactly(rooted) if entry.suffix)
            spelled = tuple(e for e in exact if e.path.text == target.strip().lstrip("/"))
            exact = spelled or exact
        named = {entry.path.text: entry for entry in _lookup(self._by_tail, key) if entry.suffix}
        for text in (reference.strip(), target.strip()):
            named.update((entry.path.text, entry) for entry in self._by_id.get(name_key(text), ()))
        return exact, _sorted(named.values())

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
        if self._choices is None:
            pairs = [
                (key, entry)
                for entry in self._entries.values()
                if entry.suffix
                for key in (name_key(entry.path.name), *map(name_key, entry.aliases))
            ]
            self._choices = [key for key, _ in pairs], [entry for _, entry in pairs]
        keys, entries = self._choices
        wanted = name_key(parse_reference(name).target.rpartition("/")[2] or name)
        near = process.extract(wanted, keys, scorer=fuzz.ratio, limit=limit * 4, score_cutoff=55)
        ranked = sorted(near, key=lambda hit: (-hit[1], entries[hit[2]].order))
        return tuple(dict.fromkeys(entries[index].path for _, _, index in ranked))[:limit]

    def shortest(self, path: NotePath, source: NotePath | None) -> str:
        """The shortest link text that means `path`, and nothing else, in the note `source`."""
        stem = path.stem_path
        starts = [0, *(at + 1 for at, letter in enumerate(stem) if letter == "/")]
        for text in (*(stem[start:] for start in reversed(starts)), path.text, f"/{path.text}"):
            entry, ambiguous = self.pick(text, source)
            if entry is not None and entry.path == path and not ambiguous:
                return text
        return path.text


def _lookup(table: Mapping[str, Entries], key: str) -> Entries:
    """What the key means: with a note's suffix the files with it, else (`n.md.md`) the notes called so."""
    if suffix := note_suffix(key):
        found = table.get(key[: -len(suffix)], ())
        if kept := tuple(entry for entry in found if entry.suffix == suffix):
            return kept
    return table.get(key, ())


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


def _choose(found: Entries, target: str) -> tuple[Entry | None, bool]:
    """Of files at one place (names that differ by case or suffix) the one spelled so, else the first."""
    if len(found) <= 1:
        return (found[0] if found else None), False
    last = target.strip().rpartition("/")[2]
    spelled = [entry for entry in found if last in (entry.path.name, entry.path.file_name)]
    return (spelled[0], False) if len(spelled) == 1 else ((spelled or found)[0], True)


def _keys_of(entry: Entry) -> tuple[tuple[str, ...], ...]:
    """The keys of an entry in the tables of tails, stems, aliases and ids."""
    stem = entry.stem
    tails = [stem]
    at = stem.find("/")
    while at >= 0:
        tails.append(stem[at + 1 :])
        at = stem.find("/", at + 1)
    aliases = tuple({target_key(alias) for alias in entry.aliases})
    return tuple(tails), (stem,), aliases, ((name_key(entry.note_id),) if entry.note_id else ())


def _sorted(entries: Iterable[Entry]) -> Entries:
    return tuple(sorted(entries, key=lambda entry: entry.order))

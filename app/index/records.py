"""What the index hands out: records of notes, links, searches and scans, and its events. All frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from app.events import Event
from app.vault.path import NotePath

if TYPE_CHECKING:  # the processes that read notes do without numpy
    import numpy as np
    from numpy.typing import NDArray

ProblemKind = Literal["failed", "skipped", "marked", "misnamed"]
NodeKind = Literal["note", "unresolved", "attachment"]


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note as it was last indexed.

    `name` is what a link says, `title` the `title` property or else the name. `modified` and `created`
    are Unix seconds, `size` is bytes, `hash` the SHA-256 of the bytes (empty for a file that was listed
    but not read). `problem` says what is wrong with it in one sentence; the note is listed all the same.
    `private` notes are for the user's eyes only: no model, no outside client, no embedding.
    """

    path: NotePath
    name: str
    title: str
    type: str
    confidence: float | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    properties: Mapping[str, Any]
    id: str | None
    size: int
    modified: float
    created: float
    hash: str
    problem: str | None
    private: bool
    words: int


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A file of the vault that is not a note: `size` in bytes, `modified` in Unix seconds."""

    path: NotePath
    size: int
    modified: float


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A link as it resolves now.

    `target` is None while nothing has that name. `ambiguous`: several files have it and the shortest
    path was taken. `type` is UPPER_SNAKE, `LINKS_TO` for a plain link. `line` counts from 1, `context`
    is that line, shortened.
    """

    source: NotePath
    target: NotePath | None
    target_text: str
    type: str
    confidence: float | None
    note: str | None
    embed: bool
    ambiguous: bool
    line: int
    context: str


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task box of a note: its line, from 1, and its text without the box."""

    path: NotePath
    line: int
    done: bool
    text: str


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag in its first casing, how many notes have it or one nested in it, and its parent.

    `own` counts the notes that have exactly this tag.
    """

    tag: str
    count: int
    parent: str | None
    own: int = 0


@dataclass(frozen=True, slots=True)
class PropertyCount:
    """A property's name in its first casing and how many notes have it."""

    name: str
    count: int

    def __iter__(self) -> Iterator[str | int]:
        """Yield as a pair."""
        return iter((self.name, self.count))


@dataclass(frozen=True, slots=True)
class UnresolvedName:
    """A name that links say and no file has, and how many links say it."""

    name: str
    count: int

    def __iter__(self) -> Iterator[str | int]:
        """Yield as a pair."""
        return iter((self.name, self.count))


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that is not wholly in the index, and why.

    `failed`: it could not be read. `skipped`: left out on purpose (too large, a link out of the vault).
    `marked`: indexed, but something in it could not be understood (broken properties, bad UTF-8).
    `misnamed`: its name is not UTF-8, so it is skipped; `path` has the bytes of the name spelled out.
    """

    path: NotePath
    reason: str
    kind: ProblemKind = "failed"


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a note's name or alias stands in another note without a link.

    `text` is the line, shortened; `start` and `end` mark the mention in it.
    """

    source: NotePath
    line: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class VaultStats:
    """Counts over the vault; `orphans` are notes with no link to or from another note.

    `indexed` notes were read whole; `skipped` and `failed` have their reasons in `problems()`.
    """

    notes: int
    attachments: int
    links: int
    tags: int
    unresolved: int
    orphans: int
    words: int
    indexed: int = 0
    skipped: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class ScanProgress:
    """How far a scan is: `done` of `total` files in `phase`.

    `walk`: files are looked for. `read`: what notes say of themselves and of each other is taken; at its end
    the names, links and properties of the whole vault are known, and the graph is whole. `words`: their
    full text becomes searchable; a scan of few notes does that while it reads, and has no such phase.
    """

    done: int
    total: int
    phase: Literal["walk", "read", "words"]


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What a scan found: notes read anew, notes that were as before, files that are gone or moved.

    `skipped` and `failed` are all files of the vault that are not in the index, with the reasons, also
    those that an earlier scan found. A cancelled scan keeps what it has and goes on the next time.
    """

    indexed: int
    unchanged: int
    removed: int
    skipped: tuple[Problem, ...] = ()
    failed: tuple[Problem, ...] = ()
    cancelled: bool = False
    moved: int = 0


@dataclass(frozen=True, slots=True)
class IndexDelta:
    """What a refresh changed. `relinked` notes are as they were, but links of theirs resolve otherwise.

    `moved` are the notes that others renamed or moved as they are (old path, new path); each is among the
    removed and the changed ones too.
    """

    changed: tuple[NotePath, ...] = ()
    removed: tuple[NotePath, ...] = ()
    relinked: tuple[NotePath, ...] = ()
    moved: tuple[tuple[NotePath, NotePath], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed or self.relinked)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A line of a hit: `line` counts from 1, `marks` are (start, end) in `text`, which may be shortened."""

    line: int
    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A note that a search found; a higher `score` is a better match.

    `lines` counts the lines with a mark, of which `snippets` are some; `group` is the name of its group,
    `modified` Unix seconds.
    """

    path: NotePath
    title: str
    score: float
    snippets: tuple[Snippet, ...]
    lines: int = 0
    group: str = ""
    modified: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """Hits that belong together, by the name that they share; empty for those that have none."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Some of the hits, how many there are in all, the query in plain words, and all groups if asked for.

    Unless `exact`, there are more than `total`, and nobody has counted them.
    """

    hits: tuple[SearchHit, ...]
    total: int
    explained: str
    groups: tuple[SearchGroup, ...] = ()
    exact: bool = True


@dataclass(frozen=True, slots=True)
class GraphData:
    """The vault as arrays: n nodes and m edges.

    `paths[i]` is a note's or attachment's path, or the name that an unresolved link says (`kinds[i]`
    tells which). `edges` is int32 (m, 2) from source to target, `edge_types[codes[j]]` the type of edge
    j, `confidence` float32 (m,) with NaN where none is given. `modified` and `created` are float64 Unix
    seconds, 0 for unresolved names.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    kinds: tuple[NodeKind, ...]
    tags: tuple[tuple[str, ...], ...]
    folders: tuple[str, ...]
    modified: NDArray[np.float64]
    edges: NDArray[np.int32]
    edge_types: tuple[str, ...]
    codes: NDArray[np.int16]
    confidence: NDArray[np.float32]
    created: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class IndexUpdated(Event):
    """The index is up to date with these files; `total` notes are in it now.

    `relinked` notes did not change, but links of theirs resolve otherwise than before. `moved` pairs the
    old with the new path of each note that was found again, as it was, at another place.
    """

    changed: tuple[NotePath, ...]
    removed: tuple[NotePath, ...]
    total: int
    relinked: tuple[NotePath, ...] = field(default=())
    moved: tuple[tuple[NotePath, NotePath], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class WordsIndexed(Event):
    """The full text of these notes can be searched now; `done` of the `total` notes that a scan read."""

    paths: tuple[NotePath, ...]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class IndexRebuilt(Event):
    """The index file could not be used; it was set aside and a new one is being filled."""

    reason: str

"""Immutable records of the index (notes, links, searches, scans) and its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from app.events import Event
from app.vault.path import NotePath

if TYPE_CHECKING:  # Worker processes must not import numpy.
    import numpy as np
    from numpy.typing import NDArray

ProblemKind = Literal["failed", "skipped", "marked", "misnamed"]
NodeKind = Literal["note", "unresolved", "attachment"]


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """A note as it was last indexed.

    `name` is its name in links, `title` the `title` property or else the name. `modified` and `created` are
    Unix seconds, `size` is in bytes, `hash` the SHA-256 of the bytes (empty if the file was listed but not
    read). `problem` describes a problem in one sentence; the note is listed anyway. `private` notes are
    hidden from models, external clients and embeddings.
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
    """A link with its current target.

    `target` is None for an unresolved name. `ambiguous` means that several files have the name and the
    shortest path was chosen. `type` is UPPER_SNAKE, `LINKS_TO` for a plain link. `line` is 1-based,
    `context` is that line, shortened.
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
    """A task in a note: its line, from 1, and its text without the box."""

    path: NotePath
    line: int
    done: bool
    text: str


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag as first spelled, the number of notes with it or one nested in it, and its parent.

    `own` is the number of notes with exactly this tag.
    """

    tag: str
    count: int
    parent: str | None
    own: int = 0


@dataclass(frozen=True, slots=True)
class PropertyCount:
    """A property's name as first spelled, and the number of notes that have it."""

    name: str
    count: int

    def __iter__(self) -> Iterator[str | int]:
        """Iterate over the fields as a pair."""
        return iter((self.name, self.count))


@dataclass(frozen=True, slots=True)
class PropertyValueShares:
    """The shares of dates, numbers, checkboxes, links and lists among a property's values, 0 to 1.

    Links may be items of a list. Only values that are not empty count for the share of lists.
    """

    name: str
    dates: float = 0.0
    numbers: float = 0.0
    checkboxes: float = 0.0
    links: float = 0.0
    lists: float = 0.0


@dataclass(frozen=True, slots=True)
class UnresolvedName:
    """A name that links use but no file has, and the number of these links."""

    name: str
    count: int

    def __iter__(self) -> Iterator[str | int]:
        """Iterate over the fields as a pair."""
        return iter((self.name, self.count))


@dataclass(frozen=True, slots=True)
class Problem:
    """A file or folder that is not completely indexed, and the reason.

    `failed`: it could not be read. `skipped`: omitted on purpose (for example too large, or a link that leads
    out of the vault). `marked`: indexed, but a part could not be parsed (broken properties, invalid UTF-8).
    `misnamed`: skipped because its name is not UTF-8; `path` has the name's bytes escaped.
    """

    path: NotePath
    reason: str
    kind: ProblemKind = "failed"


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a note's name, title or alias in another note without a link.

    `text` is the shortened line; `start` and `end` mark the mention in it.
    """

    source: NotePath
    line: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class VaultStats:
    """Counts for the vault; `orphans` are notes without links to or from other notes.

    `indexed` notes were read completely; `problems()` has the reasons for `skipped` and `failed`.
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
    """The progress of a scan: `done` of `total` files in `phase`.

    `walk`: finding files. `read`: reading metadata and links; at its end, the names, links and properties of
    the whole vault are known and the graph is complete. `words`: making the text searchable; a scan of only a
    few notes does that while reading and skips this phase.
    """

    done: int
    total: int
    phase: Literal["walk", "read", "words"]


@dataclass(frozen=True, slots=True)
class ScanReport:
    """The result of a scan: the numbers of notes read and unchanged, and of files removed and moved.

    `skipped` and `failed` are all files of the vault that are not indexed, with the reasons, including those
    from earlier scans. A canceled scan keeps its results, and the next scan continues.
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
    """The changes of a refresh. `relinked` notes are unchanged, but their links resolve differently.

    `moved` are the unchanged notes that other programs renamed or moved (old path, new path); each is also
    among the removed and the changed ones.
    """

    changed: tuple[NotePath, ...] = ()
    removed: tuple[NotePath, ...] = ()
    relinked: tuple[NotePath, ...] = ()
    moved: tuple[tuple[NotePath, NotePath], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.removed or self.relinked)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A line of a hit: `line` is 1-based, `marks` are (start, end) in the possibly shortened `text`."""

    line: int
    text: str
    marks: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search hit; a higher `score` is a better match.

    `lines` is the number of lines with the first occurrences of each term; `snippets` has some of them.
    `group` is the name of its group, `modified` is in Unix seconds.
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
    """A group of hits with a common name, which is empty for hits without one."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of hits, the total number, and all groups if requested.

    If not `exact`, `total` is a lower bound: further hits were not counted.
    """

    hits: tuple[SearchHit, ...]
    total: int
    groups: tuple[SearchGroup, ...] = ()
    exact: bool = True


@dataclass(frozen=True, slots=True)
class GraphData:
    """The vault as arrays: n nodes and m edges.

    `paths[i]` is the path of a note or attachment, or an unresolved name (see `kinds[i]`). `edges` is int32
    (m, 2) from source to target, `edge_types[codes[j]]` the type of edge j, `confidence` float32 (m,) with
    NaN if not given. `modified` and `created` are float64 Unix seconds, 0 for unresolved names.
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
    """Event: the index is up to date with these files and now has `total` notes.

    `relinked` notes did not change, but their links resolve differently. `moved` pairs the old and new paths
    of unchanged notes found at another path.
    """

    changed: tuple[NotePath, ...]
    removed: tuple[NotePath, ...]
    total: int
    relinked: tuple[NotePath, ...] = field(default=())
    moved: tuple[tuple[NotePath, NotePath], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class IndexRebuilt(Event):
    """Event: the index file was unusable, so a new one is being filled."""

    reason: str

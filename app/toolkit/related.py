"""Find the notes related to a note, with a score and the reasons: links, shared tags, meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from app.vault.path import NotePath, name_key

if TYPE_CHECKING:
    from app.embeddings.vector_table import VectorHit
    from app.index.records import LinkRecord

ReasonKind = Literal["FORWARDLINK_TO", "BACKLINK_FROM", "SHARED_TAG", "SEMANTICALLY_RELATED"]
LikeNote = Callable[[NotePath, int, float], Sequence["VectorHit"]]

# Below this cosine, notes in real vaults have little more in common than their language.
MIN_SIMILARITY = 0.45
_LINK_WEIGHT = 0.7
_TAG_WEIGHT = 0.6
_OVERSAMPLING = 4


@dataclass(frozen=True, slots=True)
class RelatednessReason:
    """One reason why a note is related, with a score from 0 to 1; `tag` is the name of a shared tag.

    A link scores 1, similar meaning scores its cosine, and a tag scores higher the fewer notes have it.
    """

    kind: ReasonKind
    score: float
    tag: str = ""


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A related note; `score` (0 to 1) combines its reasons, which are sorted strongest first."""

    path: NotePath
    score: float
    reasons: tuple[RelatednessReason, ...]


class LinkSource(Protocol):
    """The index of links and tags: the whole vault's, or the part of it that a call may see."""

    def outgoing(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links in the note."""
        ...

    def backlinks(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links to the note."""
        ...

    def notes_with_tag(self, tag: str) -> tuple[NotePath, ...]:
        """Return the notes that have the tag."""
        ...


def find_related_notes(
    index: LinkSource, like: LikeNote | None, path: NotePath, tags: Iterable[str], limit: int
) -> tuple[RelatedNote, ...]:
    """Return the notes related to the one at `path`, closest first.

    Args:
        index: The index of links and tags.
        like: Finds notes by meaning; None if semantic search is off.
        path: The note.
        tags: Its tags.
        limit: The maximum number of notes.
    """
    reasons_by_note: dict[NotePath, dict[str, RelatednessReason]] = {}

    def add_reason(other: NotePath | None, reason: RelatednessReason) -> None:
        if other is not None and other != path and other.is_note:
            reasons_by_note.setdefault(other, {}).setdefault(reason.kind + name_key(reason.tag), reason)

    for link in index.outgoing(path):
        add_reason(link.target, RelatednessReason("FORWARDLINK_TO", 1.0))
    for link in index.backlinks(path):
        add_reason(link.source, RelatednessReason("BACKLINK_FROM", 1.0))
    for tag in tags:
        sharing = index.notes_with_tag(tag)
        # A rare tag is more significant than one that half the vault has.
        score = round(min(0.9, 2.0 / max(2, len(sharing))), 4)
        for other in sharing:
            add_reason(other, RelatednessReason("SHARED_TAG", score, tag))
    for hit in like(path, limit * _OVERSAMPLING, MIN_SIMILARITY) if like else ():
        add_reason(hit.path, RelatednessReason("SEMANTICALLY_RELATED", round(hit.score, 4)))
    related = [_combine_reasons(other, tuple(reasons.values())) for other, reasons in reasons_by_note.items()]
    return tuple(sorted(related, key=lambda note: (-note.score, note.path))[:limit])


def _combine_reasons(path: NotePath, reasons: tuple[RelatednessReason, ...]) -> RelatedNote:
    """Combine the reasons into one score: each reason closes part of the remaining gap to 1."""
    remainder = 1.0
    for reason in reasons:
        remainder *= 1.0 - _weight(reason)
    ordered = sorted(reasons, key=lambda reason: -_weight(reason))
    return RelatedNote(path, round(1.0 - remainder, 4), tuple(ordered))


def _weight(reason: RelatednessReason) -> float:
    if reason.kind == "SEMANTICALLY_RELATED":
        return min(0.95, reason.score)
    return reason.score * (_TAG_WEIGHT if reason.kind == "SHARED_TAG" else _LINK_WEIGHT)

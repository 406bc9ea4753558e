"""Read access to the index for tools, without the content, counts and links of hidden notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from app.embeddings import EmbedderUnavailableError
from app.embeddings.rank_fusion import MAX_FUSED_HITS
from app.errors import NotFoundError
from app.index.query import parse
from app.index.query_ast import And, WordTerm
from app.index.records import PropertyCount, UnresolvedName
from app.index.search_request import Grouping
from app.toolkit.semantic_search import SemanticSearch
from app.toolkit.visibility import CallVisibility
from app.vault.note import ParsedNote
from app.vault.path import NotePath, name_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.embeddings.vector_table import VectorHit
    from app.index.records import (
        FileRecord,
        LinkRecord,
        Mention,
        NoteRecord,
        Problem,
        SearchPage,
        TagCount,
        VaultStats,
    )
    from app.index.renames import RenamePlan
    from app.index.resolver import Resolution, Resolver
    from app.index.vault_index import VaultIndex


class IndexView:
    """Reads the index for one call; most methods are those of `VaultIndex`, without hidden notes."""

    def __init__(
        self, index: VaultIndex, visibility: CallVisibility, semantic_search: SemanticSearch | None
    ) -> None:
        self._index = index
        self._visibility = visibility
        self._semantic_search = semantic_search

    @property
    def resolver(self) -> Resolver:
        """The name resolver, which also finds hidden notes: its answers must not appear in a result."""
        return self._index.resolver

    def resolve(self, target: str, source: NotePath | None) -> Resolution:
        """Resolve a link target in `source`, ignoring hidden notes."""
        resolution = self._index.resolver.resolve(target, source)
        candidates = tuple(path for path in resolution.candidates if self._visibility.can_see(path))
        path = (
            resolution.path if resolution.path is None or self._visibility.can_see(resolution.path) else None
        )
        return replace(resolution, path=path, candidates=candidates)

    def note(self, path: NotePath) -> NoteRecord | None:
        """Return the record of the note at `path`, or None if it is not indexed or is hidden."""
        return self._index.note(path) if self._visibility.can_see(path) else None

    def is_from_web(self, path: NotePath) -> bool:
        """Return whether the note at `path` may hold a web page; False if it is not indexed or is hidden."""
        record = self.note(path)
        if record is None:
            return False
        problem = None if record.properties else record.problem
        return ParsedNote(properties=record.properties, properties_problem=problem).is_from_web

    def notes(self, folder: str | None = None, recursive: bool = True) -> tuple[NoteRecord, ...]:
        """Return the records of the visible notes in `folder` (None: the whole vault), sorted by path."""
        hidden = self._visibility.hidden()
        return tuple(note for note in self._index.notes(folder, recursive) if note.path not in hidden)

    def files(self) -> tuple[FileRecord, ...]:
        """Return the visible files that are not notes."""
        files = self._index.files()
        return (
            tuple(file for file in files if self._visibility.can_see(file.path))
            if self._visibility.is_ruled
            else files
        )

    def hides_files_in(self, folder: str) -> bool:
        """Return whether the call may not see a file in `folder` or below it; never part of a result."""
        hidden = (
            *self._visibility.hidden(),
            *(file.path for file in self._index.files() if not self._visibility.can_see(file.path)),
        )
        return any(path.is_under(folder) for path in hidden)

    def outgoing(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links in the note at `path`; a link to a hidden note looks unresolved."""
        if not self._visibility.can_see(path):
            return ()
        return tuple(self._visible_link(link) for link in self._index.outgoing(path))

    def backlinks(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return the links to the note at `path` from visible notes."""
        if not self._visibility.can_see(path):
            return ()
        return tuple(link for link in self._index.backlinks(path) if self._visibility.can_see(link.source))

    def all_backlinks(self, path: NotePath) -> tuple[LinkRecord, ...]:
        """Return all links to the note at `path`, even from hidden notes: for edits, never for a result."""
        return self._index.backlinks(path)

    async def moves_to_rewrite(self, moves: Mapping[NotePath, NotePath]) -> RenamePlan:
        """Plan the link rewrites for simultaneous renames and moves, including those in hidden notes.

        Rewrites of hidden notes must not appear in a result.
        """
        return await self._index.moves_to_rewrite(moves)

    def unresolved(self) -> tuple[UnresolvedName, ...]:
        """Return the names of unresolved links, each with the number of links that use it."""
        hidden = Counter(
            name_key(link.target_text)
            for path in self._visibility.hidden()
            for link in self._index.outgoing(path)
            if link.target is None
        )
        names = self._index.unresolved()
        counted = (
            UnresolvedName(
                unresolved_name.name, unresolved_name.count - hidden[name_key(unresolved_name.name)]
            )
            for unresolved_name in names
        )
        return tuple(unresolved_name for unresolved_name in counted if unresolved_name.count > 0)

    def tags(self) -> tuple[TagCount, ...]:
        """Return the tags, each with its number of notes."""
        own_counts, nested_counts = self._count_hidden_tags()
        counted = (
            replace(
                tag_count,
                count=tag_count.count - nested_counts[name_key(tag_count.tag)],
                own=tag_count.own - own_counts[name_key(tag_count.tag)],
            )
            for tag_count in self._index.tags()
        )
        return tuple(tag_count for tag_count in counted if tag_count.count > 0)

    def notes_with_tag(self, tag: str, nested: bool = True) -> tuple[NotePath, ...]:
        """Return the notes that have the tag or a tag nested in it."""
        return tuple(
            path for path in self._index.notes_with_tag(tag, nested) if self._visibility.can_see(path)
        )

    def notes_with_property(self, name: str) -> tuple[NotePath, ...]:
        """Return the notes that have the property, even without a value."""
        paths = self._index.notes_with_property(name)
        return tuple(path for path in paths if self._visibility.can_see(path))

    def properties(self) -> tuple[PropertyCount, ...]:
        """Return the property names, each with its number of notes."""
        hidden = Counter(
            name_key(name)
            for path in self._visibility.hidden()
            if (record := self._index.note(path)) is not None
            for name in record.properties
        )
        names = self._index.properties()
        counted = (
            PropertyCount(property_count.name, property_count.count - hidden[name_key(property_count.name)])
            for property_count in names
        )
        return tuple(property_count for property_count in counted if property_count.count > 0)

    def problems(self) -> tuple[Problem, ...]:
        """Return the visible files that are not completely indexed, each with the reason."""
        return tuple(problem for problem in self._index.problems() if self._may_know(problem.path))

    def _may_know(self, path: NotePath) -> bool:
        """Return whether the call may know of a file; a note that is not indexed may be private."""
        may_be_private = self._visibility.hides_private and path.is_note and self._index.note(path) is None
        return not may_be_private and self._visibility.can_see(path)

    def stats(self) -> VaultStats:
        """Return the vault's statistics without hidden notes, so that no count reveals them."""
        if not self._visibility.hides_private and not self._visibility.is_ruled:
            return self._index.stats()
        hidden: tuple[NotePath, ...] = ()
        if self._visibility.is_ruled:
            files = (file.path for file in self._index.files())
            hidden = (
                *self._visibility.hidden(),
                *(path for path in files if not self._visibility.can_see(path)),
            )
        stats = self._index.stats(private=not self._visibility.hides_private, hidden=hidden)
        kinds = Counter(problem.kind for problem in self.problems())
        return replace(stats, skipped=kinds["skipped"] + kinds["misnamed"], failed=kinds["failed"])

    def unlinked_mentions(self, path: NotePath) -> tuple[Mention, ...]:
        """Return the places where other visible notes mention the note's name without a link.

        Raises:
            NotFoundError: the call may not see the note.
        """
        if not self._visibility.can_see(path):
            raise NotFoundError(f"There is no note at {path}.", path=str(path), suggestions=[])
        return tuple(
            mention
            for mention in self._index.unlinked_mentions(path)
            if self._visibility.can_see(mention.source)
        )

    async def search(
        self,
        query: str,
        limit: int = 50,
        offset: int = 0,
        *,
        order: str = "relevance",
        group: Grouping = "",
    ) -> SearchPage:
        """Return the hits of a query in the search language.

        Raises:
            QueryError: the query is invalid; the message gives the position and what was expected.
        """
        hidden = self._visibility.hidden() if self._visibility.is_ruled else ()
        private = not self._visibility.hides_private
        return await self._index.search(
            query, limit, offset, order=order, group=group, private=private, hidden=hidden
        )

    @property
    def has_embeddings(self) -> bool:
        """True if semantic search is available."""
        return self._semantic_search is not None

    async def search_by_words_and_meaning(
        self, query: str, limit: int, offset: int = 0, *, order: str = "relevance", group: Grouping = ""
    ) -> SearchPage:
        """Search like `search`, and also rank the top hits of a query without operators by meaning.

        Meaning counts only for ungrouped hits sorted by relevance, within the first `MAX_FUSED_HITS`, and
        while the embedder is available.

        Raises:
            QueryError: the query is invalid; the message gives the position and what was expected.
        """
        can_fuse = order == "relevance" and not group and offset + limit <= MAX_FUSED_HITS
        if self._semantic_search is None or not can_fuse or not _is_plain(query):
            return await self.search(query, limit, offset, order=order, group=group)
        page = await self.search(query, MAX_FUSED_HITS, 0)
        hits = {hit.path: hit for hit in page.hits}
        words = [(hit.path, hit.score) for hit in page.hits]
        try:
            terms = await self._index.term_statistics(query, words[0][0] if words else None)
            ranked = await self._semantic_search.rank_notes(query, words, terms)
        except EmbedderUnavailableError:
            ranked = words
        scored = [replace(hits[path], score=score) for path, score in ranked if path in hits]
        return replace(page, hits=tuple(scored[offset : offset + limit]))

    async def like_text(self, text: str, limit: int, min_similarity: float = 0.0) -> tuple[VectorHit, ...]:
        """Return the notes closest in meaning to `text`, each by its best chunk, best first.

        Raises:
            EmbedderUnavailableError: semantic search is off, or the text can't be embedded.
        """
        hits = await self._require_search().like_text(
            text, limit + len(self._visibility.hidden()), min_similarity
        )
        return tuple(hit for hit in hits if self._visibility.can_see(hit.path))[:limit]

    async def ranked(self, text: str, limit: int) -> tuple[tuple[NotePath, float], ...]:
        """Return the visible public notes that contain any word of `text`, best first, with their scores."""
        hidden = self._visibility.hidden() if self._visibility.is_ruled else ()
        return await self._index.searcher.ranked(text, limit, private=False, hidden=hidden)

    async def chunks_like(self, text: str, limit: int) -> tuple[VectorHit, ...]:
        """Return the `limit` chunks closest in meaning to `text`, minus hidden ones, best first.

        Raises:
            EmbedderUnavailableError: semantic search is off, or the text can't be embedded.
        """
        hits = await self._require_search().chunks_like(text, limit)
        return tuple(hit for hit in hits if self._visibility.can_see(hit.path))

    def like_note(self, path: NotePath, limit: int, min_similarity: float = 0.0) -> tuple[VectorHit, ...]:
        """Return the other notes closest in meaning to the note at `path`; none if it is hidden.

        Raises:
            EmbedderUnavailableError: semantic search is off.
        """
        if not self._visibility.can_see(path):
            return ()
        hits = self._require_search().like_note(path, limit + len(self._visibility.hidden()), min_similarity)
        return tuple(hit for hit in hits if self._visibility.can_see(hit.path))[:limit]

    def has_embedding(self, path: NotePath, note_hash: str) -> bool:
        """Return whether the vectors of the visible note at `path` match the text with this SHA-256."""
        return (
            self._semantic_search is not None
            and self._visibility.can_see(path)
            and self._semantic_search.is_current(path, note_hash)
        )

    def count_without_embedding(self) -> int:
        """Return the number of visible notes that semantic search can't find; 0 if it is off."""
        if self._semantic_search is None:
            return 0
        return len(
            self._semantic_search.without_vectors(self._index.note_paths()) - self._visibility.hidden()
        )

    def note_similarity(self, first: NotePath, second: NotePath) -> float | None:
        """Return the cosine similarity of two notes, or None if it is unknown or one of them is hidden."""
        if self._semantic_search is None or not (
            self._visibility.can_see(first) and self._visibility.can_see(second)
        ):
            return None
        return self._semantic_search.note_similarity(first, second)

    def _require_search(self) -> SemanticSearch:
        if self._semantic_search is None:
            raise EmbedderUnavailableError("Semantic search is turned off.")
        return self._semantic_search

    def _visible_link(self, link: LinkRecord) -> LinkRecord:
        if link.target is None or self._visibility.can_see(link.target):
            return link
        return replace(link, target=None, ambiguous=False)

    def _count_hidden_tags(self) -> tuple[Counter[str], Counter[str]]:
        """Count the hidden notes of each tag, without and with those of its nested tags."""
        own_counts: Counter[str] = Counter()
        nested_counts: Counter[str] = Counter()
        for path in self._visibility.hidden():
            record = self._index.note(path)
            keys = {name_key(tag) for tag in record.tags} if record else set()
            own_counts.update(keys)
            nested_counts.update({tag for key in keys for tag in _with_parents(key)})
        return own_counts, nested_counts


def _is_plain(query: str) -> bool:
    """Return whether a query consists only of words, so that it can be searched by meaning."""
    node = parse(query)
    return isinstance(node, WordTerm) or (
        isinstance(node, And) and all(isinstance(item, WordTerm) for item in node.items)
    )


def _with_parents(tag: str) -> list[str]:
    """Return a tag and its parents: for `a/b/c` also `a` and `a/b`."""
    parts = tag.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]

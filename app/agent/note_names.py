"""Which note somebody means by some words: by name, path, alias, pronoun, or nearly so."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz import fuzz

from app.agent.plans import PlanContext
from app.index.resolver import Resolver
from app.vault.path import NotePath, name_key

_THIS = frozenset(
    (
        "this",
        "here",
        "this one",
        "this note",
        "this page",
        "this file",
        "this document",
        "the current note",
        "the current page",
        "current note",
        "the open note",
        "open note",
        "the note on the screen",
        "the current one",
        "the current file",
        "the active note",
        "the note i have open",
        "what i have open",
    )
)
_IT = frozenset(
    (
        "it",
        "its",
        "that",
        "that one",
        "that note",
        "that page",
        "that file",
        "the note",
        "the same note",
        "the page",
        "them",
    )
)
_NOUN = r"(?:notes?|pages?|files?|documents?|entry)"
# "the note about tea" means the note Tea, "notes about tea" asks for a search.
_ONE = r"(?:note|page|file|document|entry)"
_BEFORE = re.compile(
    rf"^(?:(?:the|my|our|a|an|that|this)\s+)?(?:{_ONE}\s+)?(?:(?:called|named|titled|about|on|for|of|entitled"
    r"|with the\s+(?:name|title))\s+)?(?:(?:the|a|an)\s+)?(?=\S)",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|my|our|an?)\s+(?=\S)", re.IGNORECASE)
_AFTER = re.compile(rf"\s+{_NOUN}$|['’]s?$", re.IGNORECASE)
_NEAR_ENOUGH = 86.0
_APART = 7.0
_WORTH_ASKING = 66.0
_SHOWN = 5
_LONG_WORD = 4
_ROUGH = 60


UNSURE = 0.75


@dataclass(frozen=True, slots=True)
class NoteMeant:
    """What words mean: `paths` has one note when it is clear, several to choose from, or none.

    `certainty` is 1 for a name, path or pronoun, less for an alias or a name that is only near; under
    `UNSURE` it is a guess that has to be asked about.
    """

    paths: tuple[NotePath, ...]
    certainty: float = 1.0

    @property
    def path(self) -> NotePath | None:
        """The note, when it is clear which."""
        return self.paths[0] if len(self.paths) == 1 and self.certainty >= UNSURE else None


UNKNOWN = NoteMeant((), 0.0)


class NoteNames:
    """Reads words as notes of one vault. Keeps nothing between requests but the words already read."""

    def __init__(self, resolver: Resolver, context: PlanContext) -> None:
        self._resolver = resolver
        self._context = context
        self._exact: dict[str, NoteMeant] = {}
        self._near: dict[str, NoteMeant] = {}
        self._others: dict[str, list[NotePath]] | None = None

    def exactly(self, words: str) -> NoteMeant:
        """The note that a name, path, wikilink's target, alias or pronoun means; none for a near miss."""
        known = self._exact.get(words)
        if known is None:
            known = self._exact[words] = self._read(words)
        return known

    def nearly(self, words: str) -> NoteMeant:
        """As `exactly`, else the notes with a name that is near: one if it stands out, else several."""
        exact = self.exactly(words)
        if exact.paths:
            return exact
        known = self._near.get(words)
        if known is None:
            known = self._near[words] = self._guess(words)
        return known

    def is_pronoun(self, words: str) -> bool:
        """Whether the words point at a note without naming it."""
        key = words.casefold().replace("’", "'").strip()
        return key in _THIS or key in _IT

    def folders(self) -> frozenset[str]:
        """Every folder that holds a file of the vault, with those above it."""
        found: set[str] = set()
        for entry in self._resolver.entries():
            folder = entry.path.folder
            while folder and folder not in found:
                found.add(folder)
                folder = folder.rpartition("/")[0]
        return frozenset(found)

    def folder(self, words: str) -> str | None:
        """The folder that is called so, by its path or its last part, spelled as it is; None if unclear."""
        key = name_key(words.strip().strip("/"))
        folders = sorted(self.folders())
        for bare in (key, re.sub(r"^(?:the |my )|(?: folder| directory)$", "", key)):
            if whole := [folder for folder in folders if name_key(folder) == bare]:
                return whole[0]
            ends = [folder for folder in folders if name_key(folder).rpartition("/")[2] == bare]
            if len(ends) == 1:
                return ends[0]
        return None

    def _read(self, words: str) -> NoteMeant:
        for spelled in _spellings(words):
            if found := self._named(spelled):
                return found
            if pronoun := self._pointed_at(spelled):
                return pronoun
        return UNKNOWN

    def _roughly_like(self, key: str) -> set[tuple[str, NotePath]]:
        """The names that are worth a closer look, found by two quick measures over all of them."""
        names = self._resolver.near_names()
        found = names.like(key, _ROUGH, _WORTH_ASKING)
        if len(key) >= _LONG_WORD:
            found += names.containing(key, _ROUGH, 80.0)
        return {(near.name, NotePath(near.path)) for near in found}

    def _pointed_at(self, words: str) -> NoteMeant | None:
        key = words.casefold().replace("’", "'")
        said = self._context.this if key in _THIS else self._context.it if key in _IT else ()
        paths = [path for path in map(NotePath.on_disk, said) if path in self._resolver]
        return NoteMeant((paths[0],)) if paths else None

    def _named(self, words: str) -> NoteMeant | None:
        resolution = self._resolver.resolve(words, None)
        notes = tuple(path for path in resolution.candidates if path.is_note)
        if notes:
            return NoteMeant(notes[:1] if _whole_path(words, notes[0]) else tuple(sorted(notes)))
        aliased = self._other_names().get(name_key(words))
        return NoteMeant(tuple(aliased), 0.95) if aliased else None

    def _other_names(self) -> dict[str, list[NotePath]]:
        """Each alias and `id` property, and the notes that have it."""
        if self._others is None:
            self._others = {}
            for entry in self._resolver.entries():
                for name in (*entry.aliases, *filter(None, (entry.note_id,))):
                    self._others.setdefault(name_key(name), []).append(entry.path)
        return self._others

    def _guess(self, words: str) -> NoteMeant:
        scored: dict[NotePath, float] = {}
        for spelled in _spellings(words):
            key = name_key(spelled)
            for name, path in self._roughly_like(key):
                score = _likeness(key, name)
                if score >= _WORTH_ASKING:
                    scored[path] = max(score, scored.get(path, 0.0))
        ranked = sorted(scored, key=lambda path: (-scored[path], path))
        if not ranked:
            return UNKNOWN
        best = scored[ranked[0]]
        rest = [path for path in ranked[1:] if scored[path] > best - _APART]
        if best >= _NEAR_ENOUGH and not rest:
            return NoteMeant((ranked[0],), best / 100 * 0.9)
        return NoteMeant(tuple(ranked[:_SHOWN]), best / 100 * 0.7)


def _likeness(key: str, name: str) -> float:
    """How near a name is, 0 to 100: by its letters, or as each word of `key` is like one of its words."""
    letters = fuzz.ratio(key, name)
    return max(letters, _by_words(key, name) * 0.9 + letters * 0.05)


def _by_words(key: str, name: str) -> float:
    """How well the words that were said are in the name ("Flamsted" in "John Flamsteed"), 0 to 100."""
    said, known = key.split(), name.split()
    if not any(len(word) >= _LONG_WORD for word in said):
        return 0.0
    return min(max(fuzz.ratio(word, other) for other in known) for word in said) if known else 0.0


def _spellings(words: str) -> Iterable[str]:
    """The words as they are, then without what people put around a note's name."""
    text = words.strip()
    shorter = _AFTER.sub("", _AFTER.sub("", text))
    seen = [text]
    for spelled in (_ARTICLE.sub("", text), _BEFORE.sub("", text), shorter, _BEFORE.sub("", shorter)):
        if spelled and spelled not in seen:
            seen.append(spelled)
    return seen


def _whole_path(words: str, path: NotePath) -> bool:
    return name_key(words.strip().strip("/")) in (path.key, name_key(path.stem_path)) and "/" in words

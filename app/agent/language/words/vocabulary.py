"""Vocabulary of a vault: names of notes, tags, folders, types and properties, matched exactly or fuzzily."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from app.agent.language.meaning.conditions import CATEGORY_PROPERTIES, states_kind
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.spelling import (
    MIN_FUZZY_LENGTH,
    correct_spelling,
    max_misspelling,
    name_similarity,
    word_similarity,
)
from app.agent.language.words.vault_words import (
    NAME_WORD,
    VaultWords,
    joined_words,
    name_words,
    property_condition,
    property_label,
)
from app.index.query_serializer import quote_value
from app.index.records import PropertyValueShares
from app.index.resolver import Resolver
from app.vault.path import NotePath, name_key, without_suffix

_MIN_NOTE_SIMILARITY = 84.0
_MIN_CLEAR_LEAD = 6.0
_MIN_CANDIDATE_SIMILARITY = 66.0
_MIN_TAG_SIMILARITY = 80.0
_MAX_CANDIDATES = 5
_MAX_ROUGH_MATCHES = 60
_MAX_SHORT_NAME = 3
_MAX_PARTIAL_WORDS = 3
MAX_KINDS = 20
"""Maximum number of conditions on kinds of notes that the request model can select."""
NAMESPACE_MARK = "___"
"""The mark between the parts of a page's name, with which Logseq stores `/`."""
_MAX_FOLDER_KINDS = 8

_ENDING = re.compile(r"(?:ings?|ed|ers?|ors?|e?s|e)$")
_MIN_STEM = 3
_NAME_PART = re.compile(r"[^\W_]+")
NAMED_PROPERTIES = ("confidence", "type", "status", "read", "due", "date", "year", "born", "died", "tags")
"""Properties with symbols of their own in programs."""
MAX_FIELDS = 32
"""Maximum number of properties that a request may refer to without naming them."""
_NO_FIELDS = frozenset(("aliases", "cssclasses", "cssclass", "id", "permalink"))
_DAY = re.compile(r"\d{4}(?P<separator>[-_.]?)\d\d(?P=separator)\d\d")
_MIN_WORD_SIMILARITY = 80.0


@dataclass(frozen=True, slots=True)
class SimilarNotes:
    """Notes with similar names, best first. `is_clear` is True if the first is clearly the best."""

    paths: tuple[str, ...]
    is_clear: bool = False


class Vocabulary:
    """Look up words in one vault. An instance serves one request and caches its lookups.

    Args:
        resolver: The names of all notes.
        words: Tags, types, properties and the texts of properties.
        plurals: Pairs of plural and singular endings, longest first.
        types: The language's words for types, by type.
        nouns: Other words for the names of folders, tags and types: "books" for "sources".
    """

    def __init__(
        self,
        resolver: Resolver,
        words: VaultWords,
        plurals: Sequence[Sequence[str]] = (),
        types: Mapping[str, Sequence[str]] | None = None,
        nouns: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._resolver = resolver
        self._words = words
        self._plurals = plurals
        self._type_words = {word: kind for kind, type_words in (types or {}).items() for word in type_words}
        self._nouns = nouns or {}
        self.hides_templates = False
        """True if a single word, such as "the interview", does not name a template."""
        self._exact: dict[str, tuple[str, ...]] = {}
        self._near: dict[str, SimilarNotes] = {}
        self._misspelled: dict[str, str | None] = {}
        self._misspelled_texts: dict[tuple[str, str], str | None] = {}

    @cached_property
    def fields(self) -> tuple[PropertyValueShares, ...]:
        """The properties that a request may refer to without naming them, at most `MAX_FIELDS`."""
        left_out = _NO_FIELDS.union(NAMED_PROPERTIES)
        fields = (field for field in self._words.value_shares if name_key(field.name) not in left_out)
        return tuple(islice(fields, MAX_FIELDS))

    @property
    def conditions_by_start(self) -> Mapping[str, Sequence[str]]:
        """The conditions on tags and texts by the first `START_LENGTH` letters of each of their words."""
        return self._words.conditions_by_start

    @property
    def listed_conditions(self) -> Sequence[str]:
        """The conditions on texts of properties with few of them, such as a status."""
        return self._words.listed_conditions

    @cached_property
    def kind_conditions(self) -> Sequence[str]:
        """The conditions on at most `MAX_KINDS` kinds of notes: categories, folders, then frequent tags."""
        folders = sorted(folder for folder in self._folders.values() if "/" not in folder)
        own = [folder for folder in folders if name_key(folder) != name_key(self._words.templates)]
        return (
            *self._words.category_conditions[: MAX_KINDS - _MAX_FOLDER_KINDS],
            *(f"path:{quote_value(f'{folder}/')}" for folder in own[:_MAX_FOLDER_KINDS]),
            *(f"tag:{quote_value(tag)}" for tag in self._words.tags[:MAX_KINDS]),
        )[:MAX_KINDS]

    def has_file(self, path: str) -> bool:
        """Return whether there is a file at `path`."""
        return NotePath.on_disk(path) in self._resolver

    def notes(self, words: str) -> tuple[str, ...]:
        """Return the notes with exactly this name, path, alias or id; several if it is ambiguous."""
        if words not in self._exact:
            is_kind = len(words.split()) == 1 and "/" not in words
            paths = self._look_up(words)
            self._exact[words] = tuple(filter(self._is_shown, paths)) if is_kind else paths
        return self._exact[words]

    def notes_and_templates(self, words: str) -> tuple[str, ...]:
        """Return the notes with exactly this name, also hidden templates."""
        return self._look_up(words)

    def _is_shown(self, path: str) -> bool:
        """Return whether a note is none of the hidden templates."""
        folder = self.templates_folder if self.hides_templates else ""
        return not (folder and path.startswith(f"{folder}/"))

    def _look_up(self, words: str) -> tuple[str, ...]:
        name = words.strip()
        if not name:
            return ()
        paths = [path for path in self._resolver.resolve(name, None).candidates if path.is_note]
        if paths:
            is_full_path = "/" in name and name_key(name.strip("/")) in (
                paths[0].key,
                name_key(paths[0].stem_path),
            )
            return (str(paths[0]),) if is_full_path else tuple(sorted(map(str, paths)))
        named = self._resolver.paths_by_alias_or_id(name)
        if not named and ISO_DAY.fullmatch(name) and self.day_separator != "-":
            return self._look_up(self.period_name(name))
        if not named and "/" in name:
            # Logseq stores the page "Tools/Saw" as "Tools___Saw.md".
            return self._look_up(name.replace("/", NAMESPACE_MARK))
        return tuple(map(str, named))

    def find_similar_notes(self, words: str) -> SimilarNotes:
        """Return the notes whose names resemble `words`: misspelled, or a part of the name."""
        if words not in self._near:
            near = self._search_names(name_key(words.strip()))
            paths = tuple(filter(self._is_shown, near.paths))
            self._near[words] = replace(
                near, paths=paths, is_clear=near.is_clear and paths[:1] == near.paths[:1]
            )
        return self._near[words]

    def find_misspelled_note(self, word: str) -> str | None:
        """Return the note whose name clearly resembles `word`, or the only one that contains it, or None.

        A name contains `word` also if `word` misspells a part of it. Notes with short names take precedence.
        """
        near = self.find_similar_notes(word)
        if near.is_clear:
            return near.paths[0]
        key = name_key(word)
        max_distance = 0 if len(key) <= MIN_FUZZY_LENGTH else max_misspelling(key)
        paths = [
            path
            for path in near.paths
            if any(
                OSA.distance(key, part, score_cutoff=max_distance) <= max_distance
                for part in name_key(NotePath.on_disk(path).name).split()
            )
        ]
        short = [path for path in paths if len(NotePath.on_disk(path).name.split()) <= _MAX_SHORT_NAME]
        paths = short or paths
        return paths[0] if len(paths) == 1 else None

    def resembles(self, words: str, path: str) -> bool:
        """Return whether most words resemble a word in a note's name, so that they may mean the note."""
        known = name_key(NotePath.on_disk(path).name).split()
        wanted = name_key(words).split()
        near = [
            word
            for word in wanted
            if any(word_similarity(word, other) >= _MIN_WORD_SIMILARITY for other in known)
        ]
        return 2 * len(near) > len(wanted) or fuzz.ratio(name_key(words), " ".join(known)) >= (
            _MIN_WORD_SIMILARITY
        )

    def note_with_words(self, words: str, folders: Collection[str] = ()) -> str | None:
        """Return the only note whose name contains these words, preferably in a row; None without one.

        Of several notes, the only one in some folders is returned.
        """
        key = f" {name_key(words)} "
        paths = [
            path
            for path in self.find_similar_notes(words).paths
            if key in f" {name_key(NotePath.on_disk(path).name)} "
        ]
        if not paths and len(parts := key.split()) > 1:
            paths = sorted(set.intersection(*({*self.notes_with_word(part)} for part in parts)))
        if len(paths) > 1:
            paths = [path for path in paths if NotePath.on_disk(path).folder in folders]
        return paths[0] if len(paths) == 1 else None

    def note_with_longer_name(self, path: str, words: Collection[str]) -> str | None:
        """Return the only note whose name has all words of another note's name, and more of the `words`.

        It has no other words: "The Long Goodbye (film)" for "The Long Goodbye" and "film".
        """
        known = set(NAME_WORD.findall(name_key(NotePath.on_disk(path).name)))
        paths = []
        for other in self.find_similar_notes(NotePath.on_disk(path).name).paths:
            parts = set(NAME_WORD.findall(name_key(NotePath.on_disk(other).name)))
            if known < parts <= {*known, *words}:
                paths.append(other)
        return paths[0] if len(paths) == 1 else None

    def note_near(self, words: Sequence[str], listed: Sequence[str]) -> str | None:
        """Return the only listed note with these words, or else the only one in the listed notes' folders."""
        if found := self.notes_near(words, listed):
            return found[0] if len(found) == 1 else None
        folders = {path.rpartition("/")[0] for path in listed}
        paths = [entry.path for entry in self._resolver.entries() if entry.path.is_note]
        near = self.notes_near(words, [str(path) for path in paths if path.folder in folders])
        return near[0] if len(near) == 1 else None

    def notes_near(self, words: Sequence[str], paths: Sequence[str]) -> list[str]:
        """Return the paths of the notes with these words in their names.

        Each word starts a word of the note's name, also in the singular: "stats" in "Statistics".
        """
        pieces = [piece for word in words for piece in _NAME_PART.findall(name_key(word))]
        forms = [(word, *self.plural_stems(word)) for word in pieces]

        def has_words(path: str) -> bool:
            parts = _NAME_PART.findall(name_key(NotePath.on_disk(path).name))
            return all(
                any(part.startswith(form) for part in parts for form in own if len(form) >= _MIN_STEM)
                for own in forms
            )

        return [path for path in paths if has_words(path)]

    def _search_names(self, key: str) -> SimilarNotes:
        names = self._resolver.fuzzy_names()
        if len(key) < MIN_FUZZY_LENGTH:
            paths = self.notes_with_word(key) if len(key) >= _MIN_STEM else ()
            return SimilarNotes(paths[:_MAX_CANDIDATES], is_clear=len(paths) == 1)
        scores: dict[str, float] = {}
        matches = names.most_similar(key, _MAX_ROUGH_MATCHES, _MIN_CANDIDATE_SIMILARITY)
        if key.count(" ") < _MAX_PARTIAL_WORDS:  # partial matches of long texts are slow in a large vault
            matches += names.containing(key, _MAX_ROUGH_MATCHES, 80.0)
        for match in matches:
            if NotePath.on_disk(match.path).is_note:
                scores[match.path] = max(scores.get(match.path, 0.0), name_similarity(key, match.name))
        ranked = sorted(
            (path for path in scores if scores[path] >= _MIN_CANDIDATE_SIMILARITY),
            key=lambda path: (-scores[path], path),
        )
        if not ranked:
            return SimilarNotes(())
        best = scores[ranked[0]]
        lead = best - scores[ranked[1]] if len(ranked) > 1 else best
        return SimilarNotes(
            tuple(ranked[:_MAX_CANDIDATES]), best >= _MIN_NOTE_SIMILARITY and lead >= _MIN_CLEAR_LEAD
        )

    def notes_with_word(self, key: str) -> tuple[str, ...]:
        """Return all notes that have a word in their names, in order: "Dal tadka" for "dal"."""
        paths = self._resolver.fuzzy_names().with_word(key)
        return tuple(sorted(path for path in paths if NotePath.on_disk(path).is_note))

    def notes_with_words(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the notes that have all words in their names, in order; none if they are too many."""
        paths = set.intersection(*({*self.notes_with_word(word)} for word in words))
        shown = tuple(sorted(filter(self._is_shown, paths)))
        return shown if len(shown) <= _MAX_CANDIDATES else ()

    def find_tag(self, word: str) -> str | None:
        """Return the vault's tag that `word` names, in any case, in the plural or by a synonym, or None."""
        return self._find_known(word, self._tags)

    def find_own_tag(self, word: str) -> str | None:
        """Return the vault's tag that `word` names, in any case or in the plural, but not by a synonym."""
        key = name_key(word)
        return next((self._tags[form] for form in (key, *self.plural_stems(key)) if form in self._tags), None)

    def find_similar_tag(self, word: str) -> str | None:
        """Return the vault's tag that `word` names, in full or in part, or misspells; None without one."""
        if exact := self.find_tag(word):
            return exact
        if nested := self.find_nested_tag(word):
            return nested
        match = process.extractOne(
            name_key(word), list(self._tags), scorer=fuzz.ratio, score_cutoff=_MIN_TAG_SIMILARITY
        )
        if match and len(word) >= MIN_FUZZY_LENGTH:
            return self._tags[match[0]]
        return self._find_tag_by_part(name_key(word))

    def _find_tag_by_part(self, key: str) -> str | None:
        """Return the only tag that begins with `key` or, if none does, has it as a part, or None."""
        if len(key) < _MIN_STEM:
            return None
        tags = [tag for known, tag in self._tags.items() if known.startswith(key)]
        tags = tags or [tag for known, tag in self._tags.items() if key in re.split(r"[-_/]", known)]
        return tags[0] if len(tags) == 1 else None

    def find_nested_tag(self, word: str) -> str | None:
        """Return the only tag whose last part `word` names: "observation/navy" for "navy"."""
        for form in (name_key(word), *self.singular_forms(name_key(word))):
            matches = [tag for key, tag in self._tags.items() if key.endswith(f"/{form}")]
            if form and len(matches) == 1:
                return matches[0]
        return None

    def find_described_tag(self, words: Sequence[str], endings: Collection[str]) -> str | None:
        """Return the only tag of whose name all words are other forms, or None.

        `slow-payer` is the tag of those who "pay slowly", and `freezer` that of "freezer-friendly" dishes.

        Args:
            words: The keys of the words.
            endings: The endings with which forms of a word may differ.
        """

        def are_forms(word: str, part: str) -> bool:
            shorter, longer = sorted((word, part), key=len)
            rest = longer.removeprefix(shorter)
            return len(shorter) >= _MIN_STEM and longer.startswith(shorter) and rest in ("", *endings)

        heads = [word.partition("-")[0] for word in words]
        tags = [
            tag
            for key, tag in self._tags.items()
            if (parts := name_words(key.rpartition("/")[2])) and len(parts) == len(heads)
            if all(any(are_forms(head, part) for part in parts) for head in heads)
            and all(any(are_forms(head, part) for head in heads) for part in parts)
        ]
        return tags[0] if len(tags) == 1 else None

    def find_type(self, word: str) -> str | None:
        """Return the note type that `word` names, in the plural or by a synonym too; None without one."""
        note_type = self._type_words.get(name_key(word))
        return self._find_known(note_type or word, self._types)

    def find_related_property(self, word: str) -> str | None:
        """Return the only property with the same stem as a verb form: "rating" for "rated"."""
        stem = _ENDING.sub("", name_key(word))
        if len(stem) < _MIN_STEM or stem == name_key(word):
            return None
        matches = [name for key, name in self._properties.items() if _ENDING.sub("", key) == stem]
        return matches[0] if len(matches) == 1 else None

    def find_property_of_verb(self, word: str) -> str | None:
        """Return the only property with links that has the stem of a verb: `holders` for "hold"."""
        stem = _ENDING.sub("", name_key(word))
        same = [name for key, name in self._properties.items() if _ENDING.sub("", key) == stem]
        linked = [name for name in same if self.links_of(name)]
        return linked[0] if len(linked) == 1 and len(stem) >= _MIN_STEM else None

    def find_category(self, words: str) -> str | None:
        """Return the search for a category's notes, singular or plural: `[categories:Movies]`, or None."""
        key = name_key(words)
        for form in (key, *self.singular_forms(key)):
            if form in self._categories:
                return self._categories[form]
        return None

    def has_category(self, forms: Iterable[str]) -> bool:
        """Return whether a category has one of these names."""
        return any(form in self._categories for form in forms)

    def has_kind(self, word: str) -> bool:
        """Return whether a category, type, tag or folder has this name, singular or plural."""
        key = name_key(word)
        return any(find(key) for find in (self.find_category, self.find_type, self.find_tag)) or any(
            map(self.find_folder, (key, *self.singular_forms(key)))
        )

    def has_name(self, words: str) -> bool:
        """Return whether a note, tag, folder, type or property has this name."""
        named = (self.notes, self.find_tag, self.find_folder, self.find_type, self.find_property)
        return any(find(words) for find in named)

    def links_of(self, name: str) -> Sequence[str]:
        """Return the links among the texts of a property; none if most of its texts are no links."""
        return self._words.links_of(name)

    def links_with(self, name: str, text: str) -> Sequence[str]:
        """Return the linked texts of a property that contain the words of a text."""
        words = f" {name_key(text)} "
        links = self._words.links_by_label(name)
        return [link for label, link in links.items() if words in f" {label} "]

    def known_link(self, name: str, text: str) -> str:
        """Return `text` as a link, spelled as known, if it is a linked text of the property or names a note.

        Return no text for other texts, and for a property whose texts are mostly no links.
        """
        links = self._words.links_by_label(name)
        if not links:
            return ""
        if known := links.get(name_key(text)):
            return known
        notes = self.notes(text)
        label = NotePath.on_disk(notes[0]).name if len(notes) == 1 else text
        return f"[[{label}]]" if notes else ""

    def find_value(self, words: str) -> str | None:
        """Return the search for a property's text, singular or plural: `[genre:sci-fi]`; None without one.

        A category takes precedence over another property's text. If several properties have the text, the
        search joins them by OR.
        """
        if category := self.find_category(words):
            return category
        key = name_key(words)
        for form in (key, *self.singular_forms(key)):
            known = self._words.conditions_by_value
            if conditions := known.get(form) or known.get(
                self._words.values_by_joined_words.get(joined_words(form), "")
            ):
                return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"
        return None

    def find_misspelled_value(self, words: str) -> str | None:
        """Return the search for the property's text that `words` misspell: "portugese"; None without one."""
        key = name_key(words)
        if key not in self._misspelled:
            self._misspelled[key] = correct_spelling(key, self._words.conditions_by_value)
        near = self._misspelled[key]
        return self.find_value(near) if near else None

    def find_listed_value(self, word: str) -> str | None:
        """Return the search for the only value, such as a status, with a word's stem, or misspelled by it.

        The value is one of few of its property: `[status:monitoring]` for "monitored".
        """
        texts = {name_key(text[1:-1].partition(":")[2].strip('"')): text for text in self.listed_conditions}
        stem = _ENDING.sub("", name_key(word))
        same = [text for key, text in texts.items() if len(stem) > _MIN_STEM and _ENDING.sub("", key) == stem]
        near = correct_spelling(name_key(word), texts)
        is_near = near is not None and OSA.distance(name_key(word), near) == 1
        return same[0] if len(same) == 1 else texts[near] if near and is_near and not same else None

    def find_text_of(self, name: str, words: str, synonyms: Iterable[str] = ()) -> str | None:
        """Return the text of a property that `words` name in another form or misspell, or None.

        Args:
            name: The property.
            words: The words of a request.
            synonyms: Other words for them.
        """
        known = self._texts_by_property.get(name_key(name), {})
        key = name_key(words)
        for form in (key, *self.singular_forms(key), *map(name_key, synonyms)):
            if form in known:
                return known[form]
        place = name_key(name), key
        if place not in self._misspelled_texts:
            self._misspelled_texts[place] = correct_spelling(key, known)
        near = self._misspelled_texts[place]
        return known[near] if near else None

    @cached_property
    def _texts_by_property(self) -> dict[str, dict[str, str]]:
        texts: dict[str, dict[str, str]] = {}
        for name, value in self._words.values:
            label = property_label(value)
            texts.setdefault(name_key(name), {}).setdefault(name_key(label), label)
        return texts

    def conditions_on(self, words: str) -> Sequence[str]:
        """Return the conditions on each property other than a category that has this text, or none."""
        conditions = self._words.conditions_by_value.get(name_key(words), ())
        categories = tuple(f"[{name}:" for name in CATEGORY_PROPERTIES)
        return [condition for condition in conditions if not condition.casefold().startswith(categories)]

    def find_value_in_part(self, word: str) -> str | None:
        """Return the search for the only linked text of a property that contains `word`, or None.

        "Kelly" finds the books with `author: "[[Kevin Kelly]]"`, even if this author has no note.
        """
        label = self.label_with_word(word)
        return self.find_value(label) if label is not None else None

    def search_for_values_with(self, word: str) -> str:
        """Return the search for the few linked texts of properties that contain `word`; "" without one."""
        labels = self._words.labels_by_word.get(name_key(word), ())
        conditions = list(dict.fromkeys(own for label in labels for own in self.conditions_on(label)))
        if not 0 < len(conditions) <= _MAX_CANDIDATES:
            return ""
        return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"

    def label_with_word(self, word: str) -> str | None:
        """Return the only linked text of a property that contains `word`, or None."""
        labels = self._words.labels_by_word.get(name_key(word), ())
        return labels[0] if len(labels) == 1 else None

    @cached_property
    def _categories(self) -> Mapping[str, str]:
        conditions: dict[str, str] = {}
        for name, value in self._words.categories:
            label = property_label(value)
            for form in (name_key(label), *self.plural_stems(name_key(label))):
                conditions.setdefault(form, property_condition(name, label))
        return conditions

    def find_property(self, word: str) -> str | None:
        """Return the property that `word` names, in any case, singular or plural; None without one."""
        key = name_key(word)
        for form in (key, *self.plural_stems(key)):
            if form in self._properties:
                return self._properties[form]
        joined = self._properties.get(key.replace(" ", ""))  # "on call" means `oncall`
        return self._singular_properties.get(key) or joined

    @cached_property
    def _singular_properties(self) -> dict[str, str]:
        """The properties with a plural name, by its singular forms: "genre" means `genres`."""
        return {form: name for key, name in self._properties.items() for form in self.plural_stems(key)}

    def is_checkbox(self, name: str) -> bool:
        """Return whether most values of a property are true or false."""
        return self._words.is_checkbox(name)

    def is_list(self, name: str) -> bool:
        """Return whether most notes with a property have a list as its value."""
        return self._words.is_list(name)

    @cached_property
    def daily_folder(self) -> str | None:
        """The folder with the most notes named for a day, empty for the root; None without such notes."""
        folders = Counter(folder for folder, _ in self._daily_notes)
        return folders.most_common(1)[0][0] if folders else None

    @cached_property
    def day_separator(self) -> str:
        """The character between year, month and day in most names of daily notes, perhaps none."""
        separators = Counter(separator for _, separator in self._daily_notes)
        return separators.most_common(1)[0][0] if separators else "-"

    @cached_property
    def _daily_notes(self) -> Sequence[tuple[str, str]]:
        """The folder of every note named for a day, and the separator in its name."""
        files = (text.rpartition("/") for text in self._resolver.path_texts())
        # The first character rules out most notes, which is faster than a pattern for all of them.
        named = ((folder, without_suffix(name)) for folder, _, name in files if name[:1].isdigit())
        matches = ((folder, _DAY.fullmatch(name)) for folder, name in named)
        return [(folder, match["separator"]) for folder, match in matches if match]

    def period_name(self, name: str) -> str:
        """Return the name of a day, month or year as the vault's daily notes spell it: `2020_10_01`."""
        return name if "W" in name else name.replace("-", self.day_separator)

    def names_day(self, name: str) -> bool:
        """Return whether a name is that of a daily note, in a vault with daily notes."""
        match = _DAY.fullmatch(name)
        return match is not None and bool(self._daily_notes) and match["separator"] == self.day_separator

    def means_daily_notes(self, conditions: Sequence[str]) -> bool:
        """Return whether the conditions of a search select daily notes, whose names contain their dates."""
        if not any(condition.startswith("path:") for condition in conditions):
            return False  # avoids scanning all notes for the folder
        folder = self.daily_folder or ""
        if folder and f"path:{quote_value(f'{folder}/')}" in conditions:
            return True
        # The daily notes of a year may be in a folder of their own.
        while folder := folder.rpartition("/")[0]:
            if f"path:{quote_value(f'{folder}/')}" in conditions:
                paths = self._resolver.paths_below([NotePath.on_disk(folder)])
                are_days = [_DAY.fullmatch(path.name) is not None for path in paths if path.is_note]
                return 2 * sum(are_days) > len(are_days)
        return False

    def without_templates(self, conditions: Sequence[str]) -> list[str]:
        """Return conditions that leave the templates out if they state a kind of notes but no folder."""
        query = " ".join(conditions)
        is_needed = states_kind(query) and "path:" not in query and self.excluded_templates
        return [*conditions, self.excluded_templates] if is_needed else list(conditions)

    @cached_property
    def templates_folder(self) -> str:
        """The folder of the templates, as on disk; empty for a vault without it."""
        return self.find_folder(self._words.templates) or ""

    @cached_property
    def excluded_templates(self) -> str:
        """The condition that leaves the templates out; empty for a vault without their folder."""
        folder = self.templates_folder
        return f"-path:{quote_value(f'{folder}/')}" if folder else ""

    def find_folder(self, words: str) -> str | None:
        """Return the only folder with this path or name, spelled as on disk; None without a single match."""
        key = name_key(words.strip().strip("/"))
        if not key:
            return None
        if key in self._folders:
            return self._folders[key]
        matches = [folder for known, folder in self._folders.items() if known.endswith(f"/{key}")]
        return matches[0] if len(matches) == 1 else None

    def find_folder_of_one(self, word: str) -> str | None:
        """Return the only folder whose name is the plural of a word: "Recipes" for "recipe", or None.

        A folder at the top of the vault is preferred.
        """
        matches = self._folders_of_one.get(name_key(word), [])
        top = [folder for folder in matches if "/" not in folder]
        return (top or matches)[0] if len(top or matches) == 1 else None

    @cached_property
    def _folders_of_one(self) -> dict[str, list[str]]:
        """The folders by the possible singular forms of their names."""
        folders: dict[str, list[str]] = {}
        for known, folder in self._folders.items():
            for form in set(self.plural_stems(known.rpartition("/")[2])):
                folders.setdefault(form, []).append(folder)
        return folders

    def with_known_parent(self, path: str) -> str:
        """Return the path of a new folder with its longest existing parent spelled as on disk."""
        parts = path.split("/")
        for end in range(len(parts), 0, -1):
            if known := self._folders.get(name_key("/".join(parts[:end]))):
                return "/".join((known, *parts[end:]))
        return path

    def has_folder(self, path: str) -> bool:
        """Return whether there is a folder at `path`, in any case."""
        return name_key(path) in self._folders

    def find_namespace(self, words: str) -> str:
        """Return the search for the pages in the only namespace with this path or last name, or no text.

        Logseq stores the page "Whiteboard/Tool/Draw" as "Whiteboard___Tool___Draw.md". Singular and plural
        are the same.
        """
        key = name_key(words.strip().strip("/"))
        for form in (key, *self.plural_stems(key)):
            paths = {path for known, path in self._namespaces.items() if f"/{known}".endswith(f"/{form}")}
            if form and (path := self._namespaces.get(form) or (paths.pop() if len(paths) == 1 else "")):
                return f"file:/^{re.escape(path)}{NAMESPACE_MARK}/".replace(r"\ ", ".")
        return ""

    def find_similar_folder(self, words: str) -> str | None:
        """Return the only folder that `words` name, or misspell by one or two letters; None without one."""
        if exact := self.find_folder(words):
            return exact
        key = name_key(words.strip().strip("/"))
        if len(key) < MIN_FUZZY_LENGTH:
            return None
        near = [
            folder
            for known, folder in self._folders.items()
            if OSA.distance(known, key, score_cutoff=2) <= max_misspelling(key)
        ]
        return near[0] if len(near) == 1 else None

    @cached_property
    def _tags(self) -> dict[str, str]:
        return {name_key(tag): tag for tag in self._words.tags}

    @cached_property
    def _types(self) -> dict[str, str]:
        return {name_key(note_type): note_type for note_type in self._words.types if note_type}

    @cached_property
    def _properties(self) -> dict[str, str]:
        spaced = {re.sub("[-_]", " ", name_key(name)): name for name in self._words.properties}
        return spaced | {name_key(name): name for name in self._words.properties}

    @cached_property
    def _folders(self) -> dict[str, str]:
        folders: dict[str, str] = {}
        for folder in self._resolver.folders():
            while folder and name_key(folder) not in folders:
                folders[name_key(folder)] = folder
                folder = folder.rpartition("/")[0]
        return folders

    @cached_property
    def _namespaces(self) -> dict[str, str]:
        """The paths of the namespaces, as in the names of their pages: `whiteboard/tool`."""
        namespaces: dict[str, str] = {}
        for text in self._resolver.path_texts():
            if NAMESPACE_MARK not in text:
                continue
            path = NotePath(text).name
            while NAMESPACE_MARK in path:
                path = path.rpartition(NAMESPACE_MARK)[0]
                namespaces.setdefault(name_key(path.replace(NAMESPACE_MARK, "/")), path)
        return namespaces

    def _find_known(self, word: str, known: dict[str, str]) -> str | None:
        key = name_key(word)
        for form in (key, *self.singular_forms(key)):
            if form in known:
                return known[form]
        return None

    def singular_forms(self, key: str) -> Iterable[str]:
        """Yield the possible singular forms of a word, then its synonyms."""
        yield from self.plural_stems(key)
        for form in (key, *self.plural_stems(key)):
            yield from self._nouns.get(form, ())

    def plural_stems(self, key: str) -> Iterable[str]:
        """Yield the possible singular forms of a plural."""
        for ending, singular in self._plurals:
            if key.endswith(ending) and len(key) > len(ending) - len(singular) + 2 - 2 * (key == ending):
                yield key[: len(key) - len(ending)] + singular

    def plural_forms(self, key: str) -> Iterable[str]:
        """Yield the possible plurals of a word."""
        for ending, singular in self._plurals:
            if key.endswith(singular):
                yield key[: len(key) - len(singular)] + ending

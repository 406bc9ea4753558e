"""The names in a vault other than those of notes, and what the values of its properties are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from app.agent.language.meaning.conditions import CATEGORY_PROPERTIES
from app.agent.language.words.spelling import MIN_FUZZY_LENGTH
from app.index.query_serializer import quote_value
from app.index.records import PropertyValueShares
from app.vault.note_templates import DATE_FORMAT, TIME_FORMAT
from app.vault.path import name_key
from app.vault.reference import parse_reference

_MAX_VALUE_LENGTH = 40
_MAX_VALUE_WORDS = 4
_MAX_LISTED_VALUES = 12
START_LENGTH = 4
"""The number of first letters that two similar words have in common."""
NAME_WORD = re.compile(r"\w+")
_SEPARATOR = re.compile(r"[-_ ]+")
_MIN_PART_LENGTH = 3
_UNNAMED_PROPERTIES = frozenset(
    ("aliases", "title", "description", "summary", "url", "source", "id", "tags", "type", "cover", "image")
)
"""Properties whose values requests do not use to select notes."""
_NUMERIC = re.compile(r"[\d\s.,:/+%-]*")
_MIN_CHECKBOXES = 0.5
"""Minimum share of checkboxes among the values of a property with which "yes" is the value true."""
_LISTS = frozenset(("aliases", "cssclasses", "tags"))
"""Properties that are lists in every vault."""
_MIN_LISTS = 0.5
"""Minimum share of lists among the values of a property with which a new value is a list."""


@dataclass(frozen=True)
class VaultWords:
    """The names in the index other than names of notes."""

    tags: tuple[str, ...] = ()
    """The most frequent tag first."""
    types: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    """Properties, each with one of its texts ("categories", "[[Movies]]")."""
    value_shares: tuple[PropertyValueShares, ...] = ()
    """The shares of kinds of values of each property, the most frequent property first."""
    templates: str = "Templates"
    """The folder of the templates for new notes."""
    date_format: str = DATE_FORMAT
    """The format of `{{date}}` in templates."""
    time_format: str = TIME_FORMAT
    """The format of `{{time}}` in templates."""

    @property
    def template_settings(self) -> tuple[str, str, str]:
        """The folder of the templates, and the formats of dates and times in them."""
        return self.templates, self.date_format, self.time_format

    @cached_property
    def conditions_by_value(self) -> Mapping[str, Sequence[str]]:
        """The conditions on each text that may name notes, by the text's name key."""
        conditions: dict[str, list[str]] = {}
        for name, value in self.values:
            label = property_label(value)
            is_name = len(label) <= _MAX_VALUE_LENGTH and label.count(" ") < _MAX_VALUE_WORDS
            # A type that is a link, such as "[[Authors]]", is no type in the sense of `find_type`.
            is_unnamed = name_key(name) in _UNNAMED_PROPERTIES and label == value
            if is_unnamed or not is_name or _NUMERIC.fullmatch(label):
                continue
            if "://" not in label and "@" not in label:
                conditions.setdefault(name_key(label), []).append(property_condition(name, label))
        return {key: tuple(dict.fromkeys(texts)) for key, texts in conditions.items()}

    @cached_property
    def conditions_by_start(self) -> Mapping[str, Sequence[str]]:
        """The conditions on tags and texts by the first `START_LENGTH` letters of each of their words."""
        conditions: dict[str, dict[str, None]] = {}
        named = [(tag.casefold(), (f"tag:{quote_value(tag)}",)) for tag in self.tags]
        for text, texts in (*named, *self.conditions_by_value.items()):
            for word in NAME_WORD.findall(text):
                if len(word) >= START_LENGTH:
                    conditions.setdefault(word[:START_LENGTH], {}).update(dict.fromkeys(texts))
        return {start: tuple(texts) for start, texts in conditions.items()}

    @cached_property
    def listed_conditions(self) -> Sequence[str]:
        """The conditions on texts of properties with 2 to `_MAX_LISTED_VALUES` of them, such as a status.

        Links are left out. The values of the most frequent property come first.
        """
        linked = {name_key(name) for name, value in self.values if value.startswith("[[")}
        counts = Counter(name_key(name) for name, _ in self.values)
        values: dict[str, dict[str, None]] = {}
        for texts in self.conditions_by_value.values():
            for text in texts:
                name = name_key(text[1:].partition(":")[0])
                if name not in linked:
                    values.setdefault(name, {})[text] = None
        order = {name_key(shares.name): at for at, shares in enumerate(self.value_shares)}
        names = sorted(values, key=lambda name: order.get(name, len(order)))
        few = [values[name] for name in names if 1 < counts[name] <= _MAX_LISTED_VALUES]
        return tuple(text for texts in few for text in texts)

    @cached_property
    def category_conditions(self) -> Sequence[str]:
        """The conditions on the properties that say what a note is, the most frequent value first."""
        labels = [(name, property_label(value)) for name, value in self.categories]
        return tuple(dict.fromkeys(property_condition(name, label) for name, label in labels))

    @cached_property
    def values_by_joined_words(self) -> Mapping[str, str]:
        """The keys of `conditions_by_value` that consist of several words, by the joined words: "scifi"."""
        joined = {joined_words(key): key for key in self.conditions_by_value}
        return {text: key for text, key in joined.items() if text and text != key}

    @cached_property
    def categories(self) -> Sequence[tuple[str, str]]:
        """The properties that say what a note is, each with one of its texts."""
        return [(name, value) for name, value in self.values if name_key(name) in CATEGORY_PROPERTIES]

    def links_of(self, name: str) -> Sequence[str]:
        """Return the links among the texts of a property; none if most of its texts are no links."""
        return tuple(self.links_by_label(name).values())

    def links_by_label(self, name: str) -> Mapping[str, str]:
        """Return the links among the texts of a property by their labels' keys, as `links_of` does."""
        return self._links.get(name_key(name), {})

    def has_text(self, name: str, text: str) -> bool:
        """Return whether a property has a text or a link to it somewhere."""
        return name_key(text) in self._texts.get(name_key(name), {})

    @cached_property
    def _links(self) -> Mapping[str, Mapping[str, str]]:
        """The links by their labels' keys, by the key of each property whose texts are mostly links."""
        links: dict[str, dict[str, str]] = {}
        for name, texts in self._texts.items():
            linked = {label: text for label, text in texts.items() if text.startswith("[[")}
            if 2 * len(linked) > len(texts):
                links[name] = linked
        return links

    @cached_property
    def _texts(self) -> Mapping[str, Mapping[str, str]]:
        """The texts of each property by the keys of their labels, by the property's key."""
        texts: dict[str, dict[str, str]] = {}
        for name, value in self.values:
            texts.setdefault(name_key(name), {}).setdefault(name_key(property_label(value)), value)
        return texts

    def is_checkbox(self, name: str) -> bool:
        """Return whether most values of a property are true or false."""
        shares = self._shares_of(name)
        return shares is not None and shares.checkboxes > _MIN_CHECKBOXES

    def typed_value(self, name: str, value: object) -> object:
        """Return the words "true" and "false" as booleans; other values, and a text property's, unchanged."""
        shares = self._shares_of(name)
        if shares is not None and not shares.checkboxes:
            return value
        return {"true": True, "false": False}.get(str(value).casefold(), value)

    def is_list(self, name: str) -> bool:
        """Return whether most notes with a property have a list as its value."""
        shares = self._shares_of(name)
        return name_key(name) in _LISTS or (shares is not None and shares.lists > _MIN_LISTS)

    def _shares_of(self, name: str) -> PropertyValueShares | None:
        key = name_key(name)
        return next((shares for shares in self.value_shares if name_key(shares.name) == key), None)

    @cached_property
    def labels_by_word(self) -> Mapping[str, Sequence[str]]:
        """The linked texts of several words, by each of their words that is long enough to search for."""
        labels: dict[str, dict[str, str]] = {}
        for _, value in self.values:
            label = property_label(value)
            words = name_key(label).split()
            if value.startswith("[[") and 1 < len(words) <= _MAX_VALUE_WORDS:
                for word in words:
                    if len(word) >= MIN_FUZZY_LENGTH:
                        labels.setdefault(word, {})[name_key(label)] = label
        return {word: tuple(texts.values()) for word, texts in labels.items()}


def property_label(value: str) -> str:
    """Return a property's text without its brackets: the last part of a link's target; else unchanged."""
    return parse_reference(value).target.rpartition("/")[2] if value.startswith("[[") else value


def name_words(key: str) -> list[str]:
    """Return the words of a property's key."""
    return _SEPARATOR.split(key)


def name_parts(key: str) -> set[str]:
    """Return a property's key and its words without short ones: `distance-km` and "distance"."""
    return {key, *(word for word in name_words(key) if len(word) >= _MIN_PART_LENGTH)}


def property_condition(name: str, label: str) -> str:
    """Return the condition on a property with the text `label`."""
    return f"[{name}:{quote_value(label)}]"


def joined_words(key: str) -> str:
    """Return the words of a name key without spaces, hyphens and underscores between them."""
    return re.sub(r"[\s_-]", "", key)

"""Revise changes of a property: a name that no note has yet, and a value that is added to others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from app.agent.language.grammar.mentions import EntityMention
from app.agent.language.grammar.note_facts import PropertiesOf, own_property
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.tokens import Token, span_text
from app.agent.language.words.vault_words import property_label
from app.vault.path import name_key


class PropertyChanges:
    """Finds alternatives to the property changes of a reading.

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
    """

    def __init__(self, request: Request, properties_of: PropertiesOf) -> None:
        self._request = request
        self._properties_of = properties_of
        self._table = request.language.table("property_values")

    def alternatives(self, reading: Reading) -> Sequence[Reading]:
        """Return the readings that take the place of one, likeliest first; usually only the reading itself.

        "Set status to draft" sets `status` even if other notes have the similar property `state`, unless the
        note has it. "Add [[Craft]] to topics" keeps the other topics of the note.
        """
        alternatives = [reading]
        for at, step in enumerate(reading.steps):
            changes = self._alternatives(step, reading.steps[0].target)
            alternatives = [
                replace(known, steps=(*known.steps[:at], change, *known.steps[at + 1 :]))
                for known in alternatives
                for change in changes
            ]
        return alternatives

    def _alternatives(self, step: PipelineStep, first: NoteSet | None) -> Sequence[PipelineStep]:
        target = first if step.target is not None and step.target.source else step.target
        if step.action == "remove_property" and target is not None and not target.query:
            return (self._without_value(step, target.notes),)
        if step.action != "set_property" or target is None or target.query or len(target.notes) != 1:
            return (step,)
        key = str(step.arguments["key"])
        known = self._properties_of(target.notes[0])
        present = [value for name, value in known.items() if name_key(name) == name_key(key)]
        return self._additions(step, present[0]) if present else self._names(step, key, known)

    # Names

    def _names(self, step: PipelineStep, key: str, known: Iterable[str]) -> Sequence[PipelineStep]:
        """Return the changes of the property as the request names it, and of the similar known property.

        A similar one of the note's known properties comes first.
        """
        words = [token.key for token in self._request.tokens]
        is_explicit = not {*words}.isdisjoint(self._table["nouns"])
        is_named = any(own_property((key,), word) for word in words)
        if is_named and not is_explicit and (own := own_property(known, key)):
            changed = step.with_argument("key", own)
            is_said = key in words
            return (changed, step) if is_said and self._request.vocabulary.find_property(key) else (changed,)
        find_text = self._request.vocabulary.find_text_of
        knowing = [own for own in known if find_text(own, property_label(str(step.arguments["value"])))]
        if not is_explicit and len(knowing) == 1 and self._request.vocabulary.find_property(key) is None:
            return (step.with_argument("key", knowing[0]),)  # "set the experiment to success"
        name = self._stated_name(key)
        if not name:
            return (step,)
        stated = step.with_argument("key", name)
        return (stated,) if is_explicit else (stated, step)

    def _stated_name(self, key: str) -> str:
        """Return the word for which a reading has the property `key`; empty if the request names `key`."""
        tokens = self._request.tokens
        named = [
            mention.tokens[0]
            for mention in self._request.mentions(tokens)
            if mention.kind == "prop" and self._may_name(mention, key)
        ]
        if len(named) != 1 or self._request.vocabulary.find_property(named[0].value) is not None:
            return ""
        at = tokens.index(named[0])
        if name_key(named[0].value) == name_key(key) or not self._is_name(tokens, at):
            return ""
        return named[0].key if at == 0 else named[0].value

    def _may_name(self, mention: EntityMention, key: str) -> bool:
        """Return whether a word for a property may also mean the property `key`."""
        word = mention.tokens[0].key
        synonyms = [{name, *words} for name, words in self._request.language.table("properties").items()]
        return mention.value == key or any({word, name_key(key)} <= known for known in synonyms)

    def _is_name(self, tokens: Sequence[Token], at: int) -> bool:
        """Return whether a value or a note follows a word: "set status to draft", "the status of H4"."""
        phrases = [
            phrase
            for frame in self._request.frames
            if frame.action == "set_property" and "key" in frame.roles
            for role in ("value", "target")
            for phrase in frame.roles.get(role, ())
        ]
        return any(phrase.longest_match(tokens, at + 1) for phrase in phrases)

    # Values

    def _without_value(self, step: PipelineStep, paths: Sequence[str]) -> PipelineStep:
        """Return the change that removes only the named values of one note's list: "levels: remove 12".

        A checkbox is unchecked: "take her off the newsletter".
        """
        if len(paths) != 1 or "set_property" not in self._request.allowed:
            return step
        key = name_key(str(step.arguments["key"]))
        known = self._properties_of(paths[0]).items()
        present = next((value for name, value in known if name_key(name) == key), None)
        words = {token.key for token in self._request.tokens}
        if isinstance(present, bool) and not words.isdisjoint(self._table["unchecked"]):
            return PipelineStep("set_property", step.target, {"key": step.arguments["key"], "value": "false"})
        items = present if isinstance(present, list | tuple) else ()
        stated = step.arguments.get("value")
        said = self._said_values(paths[0], key) if stated is None else str(stated)
        gone = _named_values([property_label(str(item)) for item in items], said)
        if not gone and stated is not None:
            gone = _link_with_words([str(item) for item in items], said)
        rest = tuple(item for item in items if property_label(str(item)) not in gone)
        if len(rest) == len(items) or (not rest and stated is None):
            return step
        return PipelineStep("set_property", step.target, {"key": step.arguments["key"], "value": rest})

    def _said_values(self, path: str, key: str) -> str:
        """Return the request without the words for a note and for a property."""
        text = self._request.text
        for mention in reversed(self._request.mentions(self._request.tokens)):
            is_note = mention.kind == "note" and mention.notes is not None and path in mention.notes.notes
            if is_note or (mention.kind == "prop" and name_key(mention.value) == key):
                text = f"{text[: mention.tokens[0].start]} , {text[mention.tokens[-1].end :]}"
        return text

    def _stated_text(self, value: object, current: object) -> object:
        """Return the words for a day among values that are no days: "add Sunday to the days"."""
        others = current if isinstance(current, list | tuple) else [current]
        has_days = any(ISO_DAY.match(str(other)) for other in others) or not any(others)
        if (
            has_days
            or not isinstance(value, str)
            or not ISO_DAY.fullmatch(value)
            or value in self._request.text
        ):
            return value
        dates = [
            mention.tokens
            for mention in self._request.mentions(self._request.tokens)
            if mention.kind in ("date", "value")
        ]
        return span_text(self._request.text, dates[0]) if len(dates) == 1 else value

    def _additions(self, step: PipelineStep, current: object) -> Sequence[PipelineStep]:
        """Return the change that adds a value to the others, if the request says "add" and not "set".

        A single text may also be replaced, and so may a list if the request says neither "add" nor "change".
        """
        value = self._stated_text(step.arguments["value"], current)
        step = step.with_argument("value", value)
        keys = {token.key for token in self._request.tokens}
        adds = not keys.isdisjoint(self._table["keep_others"]) and keys.isdisjoint(self._table["set"])
        is_list = isinstance(current, list | tuple)
        adds = adds or (is_list and not keys.isdisjoint(self._table["new_values"]))
        may_add = is_list and isinstance(value, str) and keys.isdisjoint(self._table["replaces"])
        others = tuple(current) if isinstance(current, list | tuple) else (current,)
        is_text = all(isinstance(other, str | int | float) for other in others) and bool(value)
        if not is_text or isinstance(value, Mapping) or "" in others or not others:
            return (step,)
        if not adds and not may_add:
            return (step,)
        labels = {name_key(property_label(str(other))) for other in others}
        values = value if isinstance(value, tuple) else (value,)
        new = tuple(own for own in values if name_key(property_label(str(own))) not in labels)
        if not new or len(values) - len(new) == len(others):
            return (step,)
        added = step.with_argument("value", (*others, *new))
        if is_list and adds:
            return (added,)
        return (added, step) if is_list or isinstance(current, str) else (step,)


def _named_values(labels: Sequence[str], said: str) -> set[str]:
    """Return the values that a text names, the longest first: "Big Luna" does not name "Luna" too.

    A value as it is written comes before one with the same words: "C" is not "C++".
    """
    if exact := {label for label in labels if name_key(label) == name_key(said)}:
        return exact
    named: set[str] = set()
    for label in sorted(labels, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(label)}(?!\w|[+#])"
        if label and re.search(pattern, said, re.IGNORECASE):
            named.add(label)
            said = re.sub(pattern, " , ", said, flags=re.IGNORECASE)
    if named:
        return named
    words = f" {_words_of(said)} "
    for label in sorted(labels, key=len, reverse=True):
        own = _words_of(label)
        if own and own != name_key(label) and f" {own} " in words:
            named.add(label)
            words = words.replace(f" {own} ", " , ")
    return named


def _link_with_words(values: Sequence[str], text: str) -> set[str]:
    """Return the label of the only link whose label contains the words of a text; no label without one."""
    labels = (property_label(value) for value in values if value.startswith("[["))
    found = {label for label in labels if f" {name_key(text)} " in f" {name_key(label)} "}
    return found if len(found) == 1 else set()


def _words_of(text: str) -> str:
    return name_key(re.sub(r"[^\w]+", " ", text)).strip()

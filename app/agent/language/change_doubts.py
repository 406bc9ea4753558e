"""Find reasons to ask before a change whose words are plain.

It may be meant for other notes ("tag both" with three listed notes, "link him to that"), for another value,
or not as a change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, permutations

from app.agent.language.conditions import CATEGORY_PROPERTIES
from app.agent.language.dialog import NOTE_ROLES
from app.agent.language.mentions import EntityMention
from app.agent.language.note_facts import PropertiesOf
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request, writes
from app.agent.language.tokens import Token
from app.vault.path import NotePath, name_key

_WORD = re.compile(r"[^\W_]+")
_TEXT_ROLES = ("text", "old", "name", "new_name", "value", "query")
_NAMING_MENTIONS = ("note", "date", "tag", "kind", "value", "quoted")
_SINGLE_NOTE_ACTIONS = ("rename", "merge", "relate", "unrelate")
_MAX_ALTERNATIVES = 3


class ChangeDoubts:
    """The doubts about a change.

    Args:
        request: The request.
        reading: The change.
        found: The same with the found notes in place of its searches.
        properties_of: Returns the properties of the note at a path.
        templates: The folder of the templates for new notes.
    """

    def __init__(
        self, request: Request, reading: Reading, found: Reading, properties_of: PropertiesOf, templates: str
    ) -> None:
        self._request = request
        self._dialog = request.dialog
        self._reading = reading
        self._found = found
        self._properties_of = properties_of
        self._templates = templates

    @property
    def links_note_to_itself(self) -> bool:
        """True if a note would be linked to itself, or merged with itself."""
        return any(map(_joins_note_with_itself, self._changes(self._reading)))

    @property
    def means_others(self) -> bool:
        """True if other notes are likelier: a note would be linked to itself, or "him" is no person."""
        return self.links_note_to_itself or any(
            self._is_not_this_note(step) or self._is_about_person(step)
            for step in self._changes(self._reading)
        )

    @property
    def is_in_doubt(self) -> bool:
        """True if the change may be meant for other notes, for another value, or not as a change."""
        return (
            self._is_asked
            or any(
                self._has_no_value(step)
                or self._is_weak_deletion(step)
                or self._may_be_renaming(step)
                or self._is_one_of_pair(step)
                or self._follows_answer(step)
                or self._leaves_out_note(step)
                or self._has_clause_in_name(step)
                or self._replaces_value(step)
                or self._moves_unnamed_task(step)
                for step in self._changes(self._reading)
            )
            or any(
                self._differs_in_number(step.target) or self._is_unnamed_template(step.target)
                for step in self._changes(self._found)
                if step.target is not None
            )
        )

    @property
    def names_notes(self) -> bool:
        """True if the request names a note of each set that the change is about."""
        sets = [step.target for step in self._found.steps if step.target is not None]
        return all(self._is_named(notes) for notes in sets if not notes.source)

    def other_changes(self) -> list[Reading]:
        """Return the same change of the other notes that the conversation is about, likeliest first.

        There are none if the request names its notes.
        """
        dialog, step = self._dialog, self._reading.last
        has_file = self._request.vocabulary.has_file
        if self._may_be_renaming(step) and "rename" in self._request.allowed and dialog.it:
            known = step.target or NoteSet(notes=dialog.it[:1])
            name = step.arguments["name" if step.action == "create_note" else "text"]
            return [replace(self._reading, steps=(PipelineStep("rename", known, {"new_name": name}),))]
        if len(self._reading.steps) > 1 or step.target is None or self._is_named(step.target):
            return []
        recent = tuple(path for path in reversed(dialog.recent) if has_file(path))
        answers = dialog.results if dialog.asked else ()
        here = dialog.this[:1] if self._says("places") else ()
        mentioned = dict.fromkeys((*here, *answers, *recent, *dialog.focus[:1], *dialog.this[:1]))
        singles = tuple(path for path in mentioned if has_file(path))
        if _joins_note_with_itself(step):
            role = next(role for role in NOTE_ROLES[1:] if role in step.arguments)
            changes = [
                replace(step, target=NoteSet(notes=(path,))).with_argument(role, NoteSet(notes=(other,)))
                for path, other in permutations(singles[:2], 2)
            ]
        else:
            sets: list[tuple[str, ...]] = [(path,) for path in singles]
            if step.action not in _SINGLE_NOTE_ACTIONS:
                sets += [paths for paths in (recent, dialog.them) if len(paths) > 1]
            changes = [
                replace(step, target=NoteSet(notes=paths)) for paths in sets if paths != step.target.notes
            ]
        changes = [change for change in changes if not _joins_note_with_itself(change)]
        return [replace(self._reading, steps=(change,)) for change in changes[:_MAX_ALTERNATIVES]]

    def _changes(self, reading: Reading) -> list[PipelineStep]:
        return [step for step in reading.steps if writes(self._request.allowed, step.action)]

    def _found_notes(self, step: PipelineStep) -> tuple[str, ...]:
        """Return the notes of one of the change's steps, with those of its search."""
        at = next(at for at, own in enumerate(self._reading.steps) if own is step)
        target = self._found.steps[at].target
        return target.notes if target is not None else ()

    # Notes

    def _is_not_this_note(self, step: PipelineStep) -> bool:
        """Return whether a request says "here", but the change is of other notes, perhaps of a search."""
        target = step.target
        if target is None or not self._says("places") or self._is_named(target):
            return False
        return bool(target.query and not target.notes) or not set(target.notes) <= {*self._dialog.this}

    def _is_about_person(self, step: PipelineStep) -> bool:
        """Return whether a request says "him" or "her", but the changed note may be about something else.

        That is so if it is not about a person, and also if both of the last two notes are, or if the request
        has two such pronouns for one note.
        """
        target, dialog = step.target, self._dialog
        said = {token.key for token in self._said} & self._words("person_pronouns")
        if not said or target is None or len(target.notes) != 1 or self._is_named(target):
            return False
        recent = {*dialog.recent, *dialog.focus} - set(target.notes)
        listed = set(dialog.them) - set(target.notes)
        if len(said) > 1 and any(map(self._is_person, recent | listed)):
            return True
        if not self._is_person(target.notes[0]):
            return bool(recent) or self._knows_persons
        return any(map(self._is_person, recent))

    @property
    def _knows_persons(self) -> bool:
        """True if a folder, type or category of the vault is a kind of persons."""
        names = self._request.vocabulary
        return any(
            names.find_folder(word) or names.find_type(word) or names.find_category(word)
            for word in self._words("persons")
        )

    def _is_person(self, path: str) -> bool:
        properties = self._properties_of(path)
        kinds = [str(properties.get(name, "")) for name in ("type", "tags", *CATEGORY_PROPERTIES)]
        names = (*NotePath.on_disk(path).folder.split("/"), *kinds)
        return any(word in self._words("persons") for name in names for word in _WORD.findall(name_key(name)))

    def _is_one_of_pair(self, step: PipelineStep) -> bool:
        """Return whether unnamed notes may be others: after a link, or if "both" may be two pairs."""
        dialog, target = self._dialog, step.target
        last = dialog.last.last if dialog.last is not None else None
        if target is None or last is None or not target.notes or self._is_named(target):
            return False
        if len(target.notes) > 1:
            pairs = {frozenset(dialog.them), frozenset(dialog.recent)}
            is_pair = frozenset(target.notes) in pairs and {len(pair) for pair in pairs} == {2}
            return is_pair and len(pairs) == 2 and not dialog.has_list and bool(self._numbers)
        says_this = target.notes == dialog.this and self._matches("this")
        follows_link = last.action == "relate" != step.action
        return follows_link and not says_this and set(target.notes) <= {*dialog.recent}

    def _follows_answer(self, step: PipelineStep) -> bool:
        """Return whether the changed note may be another one of the answer to the last question.

        "This note" and "the first one" leave no doubt, nor does a name.
        """
        dialog, target = self._dialog, step.target
        if not dialog.asked or target is None or len(target.notes) != 1 or self._is_named(target):
            return False
        ordinals = self._request.language.table("ordinals")
        says_this = target.notes == dialog.this and self._matches("this")
        return not says_this and ordinals.keys().isdisjoint(token.key for token in self._said)

    def _leaves_out_note(self, step: PipelineStep) -> bool:
        """Return whether all notes of a change are named, but the request says "it": "link it to A and B"."""
        values = [step.target, *(step.arguments.get(role) for role in NOTE_ROLES[1:])]
        notes = [value for value in values if isinstance(value, NoteSet)]
        is_only_step = len(self._reading.steps) == 1
        return is_only_step and bool(notes) and all(map(self._is_named, notes)) and self._says("objects")

    def _differs_in_number(self, notes: NoteSet) -> bool:
        """Return whether "both" or "the three" is another number of notes than those of a change."""
        if notes.query or len(self._found.steps) > 1 or self._is_named(notes):
            return False
        changed = notes.first_notes(notes.notes)
        return any(number != len(changed) for number in self._numbers)

    def _is_unnamed_template(self, notes: NoteSet) -> bool:
        """Return whether a change is of a template, which the request does not say."""
        folder = f"{self._templates}/"
        said = set(_WORD.findall(name_key(self._request.text)))
        known = {*self._dialog.it, *self._dialog.this}
        return (
            bool(notes.notes)
            and all(path.startswith(folder) for path in notes.notes)
            and said.isdisjoint({*_WORD.findall(name_key(self._templates)), *self._words("templates")})
            and not known.issuperset(notes.notes)
        )

    # Values and actions

    def _has_no_value(self, step: PipelineStep) -> bool:
        """Return whether a tag or value is only a word such as "it" or "then": "add a field topics to it"."""
        values = [step.arguments.get(role, "") for role in ("tag", "value")]
        texts = {str(text).casefold() for value in values for text in _as_tuple(value)}
        words = texts & self._words("no_values")
        return any(token.is_word and token.key in words for token in self._request.tokens)

    @property
    def _is_asked(self) -> bool:
        """True if a request ends with a question mark of its own, and is no polite order: "tag late?"."""
        tokens = [token for token in self._request.tokens if token.kind != "mark"]
        written = [
            str(step.arguments[role])
            for step in self._reading.steps
            for role in _TEXT_ROLES
            if role in step.arguments
        ]
        is_text = any(text.rstrip().endswith("?") for text in written) or tokens[-1:] != [
            token for token in tokens[-1:] if token.is_word
        ]
        return self._request.text.rstrip().endswith("?") and not is_text and not self._says("polite")

    def _is_weak_deletion(self, step: PipelineStep) -> bool:
        """Return whether a verb for a deletion also means taking something out of a note: "remove it".

        A name in its own spelling, or a word such as "note", leaves no doubt.
        """
        if step.action != "delete" or not self._says("removals"):
            return False
        nouns = self._request.language.words("note_nouns") | self._request.language.words("single_nouns")
        is_spelled = any(
            token.kind != "word" or token.value[:1].isupper()
            for mention in self._mentions
            if mention.kind == "note"
            for token in mention.tokens
        )
        return not is_spelled and nouns.isdisjoint(token.key for token in self._said)

    def _has_clause_in_name(self, step: PipelineStep) -> bool:
        """Return whether an unquoted name may end earlier: "rename it to Log unless Ann objects"."""
        name = step.arguments.get("new_name")
        if step.action != "rename" or not isinstance(name, str):
            return False
        if any(token.kind != "word" and token.value == name for token in self._request.tokens):
            return False
        return not self._words("name_ends").isdisjoint(name.split()[1:])

    def _replaces_value(self, step: PipelineStep) -> bool:
        """Return whether a change replaces a value that may have to stay: "set project to X as well"."""
        if step.action != "set_property" or step.target is None or not self._says("additions"):
            return False
        key = name_key(str(step.arguments["key"]))
        properties = map(self._properties_of, self._found_notes(step))
        return any(name_key(name) == key and value for each in properties for name, value in each.items())

    def _moves_unnamed_task(self, step: PipelineStep) -> bool:
        """Return whether a new day may be meant for a named note instead of its only task."""
        if step.action != "reschedule_task" or step.arguments.get("query") or step.target is None:
            return False
        nouns = self._request.language.words("task_nouns")
        return self._is_named(step.target) and nouns.isdisjoint(token.key for token in self._request.tokens)

    def _may_be_renaming(self, step: PipelineStep) -> bool:
        """Return whether a known note may get a new name: "make the note just X", "the note is now X"."""
        language, said = self._request.language, self._said
        # "Note" is no verb at the beginning of "the note is now X".
        positions = {"create_note": range(len(said)), "append": range(1)}.get(step.action, range(0))
        return any(language.match_prefix(said, at, "one_note") > at + 1 for at in positions if said)

    # Words

    @cached_property
    def _mentions(self) -> Sequence[EntityMention]:
        return self._request.mentions(self._request.tokens)

    @cached_property
    def _said(self) -> Sequence[Token]:
        """The request's words without those of names, and of the texts that the change writes."""
        texts = [
            str(step.arguments.get(role, "")).casefold()
            for step in self._reading.steps
            for role in _TEXT_ROLES
        ]
        written = {word for text in texts for word in (*text.split(), *_WORD.findall(text))}
        named = {
            id(token)
            for mention in self._mentions
            if mention.kind in _NAMING_MENTIONS
            for token in mention.tokens
        }
        return [
            token
            for token in self._request.tokens
            if token.is_word and token.value.casefold() not in written and id(token) not in named
        ]

    @property
    def _numbers(self) -> list[int]:
        """The numbers of notes that the request states: "both", "the three"."""
        language, said = self._request.language, self._said
        numbers = language.table("numbers")
        stated = [2] * self._matches("both")
        stated += [
            numbers[token.key]
            for lead, token in pairwise(said)
            if lead.key in self._words("number_leads") and token.key in numbers
        ]
        return stated

    def _matches(self, phrases: str) -> bool:
        """Return whether the request contains a phrase of a list."""
        language, said = self._request.language, self._said
        return any(language.match_prefix(said, at, phrases) > at for at in range(len(said)))

    def _says(self, name: str) -> bool:
        return any(token.key in self._words(name) for token in self._said)

    def _words(self, name: str) -> frozenset[str]:
        return frozenset(self._request.language.table("doubts").get(name, ()))

    def _is_named(self, notes: NoteSet) -> bool:
        """Return whether the request names one of the notes."""
        return any(
            mention.notes is not None and not set(mention.notes.notes).isdisjoint(notes.notes)
            for mention in self._mentions
            if mention.kind == "note"
        )


def _joins_note_with_itself(step: PipelineStep) -> bool:
    values = (step.arguments.get(role) for role in NOTE_ROLES[1:])
    notes = step.target.notes if step.target is not None else ()
    return any(isinstance(value, NoteSet) and not {*notes}.isdisjoint(value.notes) for value in values)


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)

"""Find reasons to ask before a change that may be meant for other notes.

Examples are "tag both" with three listed notes and "link him to that". `ValueDoubts` has the reasons in the
values of the change.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, permutations

from app.agent.language.doubts.value_doubts import ValueDoubts
from app.agent.language.grammar.note_facts import (
    PropertiesOf,
    is_about_owner,
    own_property,
    present_values,
)
from app.agent.language.grammar.request import Request, writes
from app.agent.language.grammar.said_words import WORD, SaidWords
from app.agent.language.meaning.actions import LINKED_NOTES, MOVING_ACTIONS, TASK_ACTIONS
from app.agent.language.meaning.conditions import CATEGORY_PROPERTIES
from app.agent.language.meaning.dialog import NOTE_ROLES
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.vault_words import name_words
from app.vault.path import NotePath, name_key

_FOLDER = re.compile(r'(?<!-)path:(?:"([^"]*)/"|([^"\s]*)/)')
_VALUE = re.compile(r':(?:"([^"]*)"|([^\s\])]+))')
_SINGLE_NOTE_ACTIONS = ("rename", "merge", "relate", "unrelate")
_CHANGES_OF_PARTS = frozenset((*TASK_ACTIONS, "link_mentions", "replace", "remove_text"))
"""The actions that change parts of a note, so that "them" and "the first one" may be parts."""
_CHANGES_OF_WHOLE = (*MOVING_ACTIONS, "delete", "merge")
_CHANGES_INSIDE = frozenset(
    (
        *TASK_ACTIONS,
        "append",
        "prepend",
        "replace",
        "remove_text",
        "add_tag",
        "remove_tag",
        "set_property",
        "set_confidence",
        "set_type",
        "relate",
        "merge",
    )
)
"""The changes after which "it" may be a part of the note."""
_MAX_UNNAMED = 30
"""The maximum number of notes of a list that change without a question."""
_MAX_ALTERNATIVES = 3


class ChangeDoubts:
    """The doubts about a change.

    Args:
        request: The request.
        reading: The change.
        found: The same with the found notes in place of its searches.
        properties_of: Returns the properties of the note at a path.
        templates: The folder of the vault's templates.
    """

    def __init__(
        self,
        request: Request,
        reading: Reading,
        found: Reading,
        properties_of: PropertiesOf,
        templates: str,
    ) -> None:
        self._request = request
        self._dialog = request.dialog
        self._reading = reading
        self._found = found
        self._properties_of = properties_of
        self._templates = templates
        self._said = SaidWords(request, reading)
        self._values = ValueDoubts(request, reading, found, self._said, properties_of)

    @property
    def links_note_to_itself(self) -> bool:
        """True if a note would be linked to itself, or merged with itself."""
        return any(map(joins_note_with_itself, self._changes(self._reading)))

    @property
    def means_others(self) -> bool:
        """True if other notes are likelier.

        A note would be linked to itself, "him" is no person, the conversation has left a question about
        another note, "the note" was only asked about, or "it" may be what was just added to the note.
        """
        return (
            self.links_note_to_itself
            or bool(self._changes_of_part())
            or any(
                self._is_not_this_note(step)
                or self._is_about_person(step)
                or self._leaves_question(step)
                or self.change_on_screen(step) is not None
                for step in self._changes(self._reading)
            )
        )

    @property
    def is_in_doubt(self) -> bool:
        """True if the change may be meant for other notes, for another value, or not as a change."""
        return (
            self._values.is_in_doubt
            or any(
                self._is_one_of_pair(step)
                or self._follows_answer(step)
                or self._follows_linked_notes(step)
                or self._follows_found_task(step)
                or self._adds_property_after_look(step)
                or self._deletes_open_note(step)
                or self._overwrites_on_screen(step)
                or self._leaves_out_note(step)
                or self._is_other_number(step)
                or self._is_number_without_list(step)
                or self._is_folder_of_other_name(step)
                or self._is_merge_without_direction(step)
                or bool(self._notes_of_kind(step))
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
        return all(self._said.names(notes) for notes in sets if not notes.source)

    def other_changes(self) -> list[Reading]:
        """Return the same change of the other notes that the conversation is about, likeliest first.

        There are none if the request names its notes.
        """
        dialog, step = self._dialog, self._reading.last
        has_file = self._request.vocabulary.has_file
        if parts := self._changes_of_part():
            return parts
        other = step.arguments.get("other")
        if self._is_merge_without_direction(step) and isinstance(other, NoteSet) and step.target is not None:
            reverse = replace(step, target=other).with_argument("other", step.target)
            return [replace(self._reading, steps=(*self._reading.steps[:-1], reverse))]
        if (on_screen := self.change_on_screen(step)) is not None:
            return [replace(self._reading, steps=(*self._reading.steps[:-1], on_screen))]
        if others := self._values.other_changes():
            return others
        if of_kind := self._notes_of_kind(step):
            targets = [NoteSet(notes=(path,)) for path in of_kind[:_MAX_ALTERNATIVES]]
            return [replace(self._reading, steps=(replace(step, target=notes),)) for notes in targets]
        if len(self._reading.steps) > 1 or step.target is None or self._said.names(step.target):
            return []
        if any(step.arguments.get("query") == text for _, text in dialog.tasks):
            return []  # a listed task is in one note
        recent = tuple(path for path in reversed(dialog.recent) if has_file(path))
        is_short = dialog.has_list and len(dialog.results) <= _MAX_ALTERNATIVES
        answers = (*dialog.results, *dialog.subject) if dialog.asked or is_short else ()
        here = dialog.this[:1] if dialog.asked or self._said.says("places") else ()
        asked = [notes for sets in dialog.asked_about for notes in sets if notes.is_single or notes.query]
        questioned = [notes.notes[0] for notes in asked if notes.is_single]
        mentioned = dict.fromkeys(
            (*here, *questioned, *answers, *recent, *dialog.focus[:1], *dialog.this[:1])
        )
        singles = tuple(path for path in mentioned if has_file(path))
        if joins_note_with_itself(step):
            role = next(role for role in NOTE_ROLES[1:] if role in step.arguments)
            changes = [
                replace(step, target=NoteSet(notes=(path,))).with_argument(role, NoteSet(notes=(other,)))
                for path, other in permutations(singles[:2], 2)
            ]
        else:
            sets: list[tuple[str, ...]] = [(path,) for path in singles]
            if step.action not in _SINGLE_NOTE_ACTIONS:
                sets += [paths for paths in (recent, dialog.them) if len(paths) > 1]
            targets = [NoteSet(notes=paths) for paths in sets]
            if step.action not in _SINGLE_NOTE_ACTIONS and self._said.says("possible_plurals"):
                targets = [*(notes for notes in asked if notes.query), *targets]
            changes = [
                replace(step, target=target) for target in targets if target.notes != step.target.notes
            ]
        changes = [change for change in changes if not joins_note_with_itself(change)]
        return [replace(self._reading, steps=(change,)) for change in changes[:_MAX_ALTERNATIVES]]

    def _changes_of_part(self) -> list[Reading]:
        """Return the changes of what was just added to a note, which "delete it" may mean instead.

        That is the last task, text, tag or property. "Rename it" may mean a task.
        """
        dialog, step = self._dialog, self._reading.last
        own = dialog.changes[-1] if dialog.changes else None
        is_next = dialog.last is not None and self._request.writes(dialog.last)
        is_recent = is_next or bool(dialog.asked_about)
        if own is None or not is_recent or len(self._reading.steps) > 1:
            return []
        target = step.target.notes if step.target is not None else ()
        if own.action not in _CHANGES_INSIDE or len(target) != 1 or target[0] not in own.notes:
            return []
        if self._said.names(NoteSet(notes=target)) or self._says_note:
            return []
        task = dialog.tasks[-1][1] if dialog.tasks and dialog.tasks[-1][0] == target[0] else ""
        match step.action:
            case "delete":
                part = PipelineStep("undo", None, {"scope": "last"})
            case "rename" if task:
                new_text = step.arguments["new_name"]
                part = PipelineStep("replace", NoteSet(notes=target), {"old": task, "text": new_text})
            case _:
                return []
        return [replace(self._reading, steps=(part,))]

    @property
    def _says_note(self) -> bool:
        """True if the request says "the note" or "this page"."""
        return self._said.has_one_of(self._request.language.words("single_nouns"))

    def _changes(self, reading: Reading) -> list[PipelineStep]:
        # The note of "undo the tag on H4" only names the change.
        return [
            step
            for step in reading.steps
            if writes(self._request.allowed, step.action) and "what" not in step.arguments
        ]

    def _is_not_this_note(self, step: PipelineStep) -> bool:
        """Return whether a request says "here" but changes other notes, or "there" for those of a search."""
        target, last = step.target, self._dialog.last
        if target is None or self._said.names(target):
            return False
        is_search = bool(target.query and not target.notes)
        is_listed = last is not None and target == last.last.target
        if not self._said.says("places"):
            return is_search and not is_listed and self._said.says("there")
        return is_search or not set(target.notes) <= {*self._dialog.this}

    def _leaves_question(self, step: PipelineStep) -> bool:
        """Return whether an unnamed note may be that of a question which the user has not answered.

        "Tag it money" after "change the fund to 800?" is rarely about the note on the screen, unless the user
        has just opened it. Nor is it after a list, or a change of several notes.
        """
        dialog, target = self._dialog, step.target
        linked = step.arguments.get("to")
        if isinstance(linked, NoteSet) and target is not None and self._said.names(target):
            target = linked  # "link it from H4"
        if target is None or len(target.notes) != 1 or self._said.names(target):
            return False
        if dialog.has_switched:
            return target.notes != dialog.this
        is_listed = dialog.has_list and set(target.notes) <= {*dialog.results}
        last = dialog.last.last.target if dialog.last is not None else None
        is_after_several = dialog.has_list or (last is not None and len(last.notes) > 1)
        if is_after_several and not dialog.focus and target.notes == (dialog.open_note,):
            return self._says_pronoun and not (is_listed or self._said.matches("this"))
        if not dialog.asked_about or self._is_owner(step):
            return False
        is_this = target.notes == dialog.this and self._said.matches("this")
        is_only_one = all(
            {notes.notes for notes in sets if notes.is_single} == {target.notes}
            for sets in dialog.asked_about
        )
        says_there = self._said.says("there") and not dialog.focus
        return says_there or not (is_this or is_listed or is_only_one)

    def _is_owner(self, step: PipelineStep) -> bool:
        """Return whether the request names a property that only the changed note in talk has."""
        key, target = name_key(str(step.arguments.get("key", ""))), step.target
        if step.action != "set_property" or target is None or len(target.notes) != 1:
            return False
        said = {token.key for token in self._said.plain_tokens}
        is_named = any(own_property((key,), word) for word in said) or said.issuperset(name_words(key))
        path = target.notes[0]
        has_key = bool(present_values(self._properties_of, target.notes, key))
        return is_named and has_key and is_about_owner(self._dialog, self._properties_of, path, key)

    def _overwrites_on_screen(self, step: PipelineStep) -> bool:
        """Return whether a value of the note on the screen is replaced after a request about another note.

        "The year is 1995" after "who made Catan?" is rarely about the film on the screen.
        """
        dialog, target = self._dialog, step.target
        if step.action != "set_property" or target is None or target.notes != (dialog.open_note,):
            return False
        is_other = bool(dialog.focus) and dialog.focus[:1] != target.notes
        says_this = self._said.matches("this") or self._said.says("places")
        if not is_other or says_this or self._said.names(target):
            return False
        return bool(present_values(self._properties_of, target.notes, name_key(str(step.arguments["key"]))))

    def change_on_screen(self, step: PipelineStep) -> PipelineStep | None:
        """Return the change of the note on the screen, or None unless another note was only mentioned.

        "Rename the note" after "what's Ann's phone number?" hardly means the note of Ann, nor does "add a
        task" after "tag Ann".
        """
        dialog = self._dialog
        if there := self._note_of_list(step):
            return replace(step, target=NoteSet(notes=(there,)))
        screen = NoteSet(notes=dialog.this)
        is_addition = step.action in ("append", "prepend")
        is_aside = is_addition and dialog.aside == dialog.focus[:1] and not self._refers_to_note(step)
        asked = NoteSet(notes=dialog.aside if is_aside else dialog.only_asked)
        is_whole = step.action in _CHANGES_OF_WHOLE and self._says_note
        is_change = (is_aside or is_whole) and bool(asked.notes) and screen.is_single
        is_other = not is_aside and self._said.says("demonstratives")
        if not is_change or asked == screen or self._said.names(asked) or is_other:
            return None
        if step.arguments.get("other") == asked:
            changed = step.with_argument("other", screen)
        elif step.target == asked:
            changed = replace(step, target=screen)
        else:
            return None
        return None if joins_note_with_itself(changed) else changed

    def _note_of_list(self, step: PipelineStep) -> str:
        """Return the note that "there" means after a list of what is related to it; empty without one."""
        dialog, vocabulary = self._dialog, self._request.vocabulary
        last = dialog.last.last.target if dialog.last is not None else None
        is_on_screen = step.target is not None and step.target.notes == dialog.this
        if last is None or not is_on_screen or not self._said.says("there"):
            return ""
        values = _VALUE.findall(last.query)
        named = {path for quoted, plain in values for path in vocabulary.notes(quoted or plain)}
        return named.pop() if len(named) == 1 else ""

    @property
    def _says_pronoun(self) -> bool:
        """True if the request has a word such as "it" or "there"; the German "das" may be an article."""
        language, said = self._request.language, self._said.plain_tokens
        return language.has_phrase(said, "it") or language.has_phrase(said, "them")

    def _refers_to_note(self, step: PipelineStep) -> bool:
        """Return whether the request has a word for the last note, or continues its last change.

        "Another one" and "and a second one", which has no verb, continue a change.
        """
        dialog, request = self._dialog, self._request
        tokens = request.tokens
        if self._says_pronoun or self._said.says("continuations"):
            return True
        if request.language.match_prefix(tokens, 0, "and"):
            return True
        last = dialog.last.last if dialog.last is not None else None
        says_verb = any(request.has_action_at(step.action, tokens, at) for at in range(len(tokens)))
        return last is not None and last.action == step.action and not says_verb

    def _is_about_person(self, step: PipelineStep) -> bool:
        """Return whether a request says "him" or "her", but the changed note may be about something else.

        That is so if it is not about a person, and also if both of the last two notes are.
        """
        dialog, value = self._dialog, step.arguments.get("value")
        if isinstance(value, tuple) and any(own.kind == "note" for own in self._said.mentions):
            return False  # "Ann was ill, remove her from the attendees"
        said = {token.key for token in self._said.tokens} & self._said.word_list("person_pronouns")
        sets = [step.target, *(step.arguments.get(role) for role in NOTE_ROLES[1:])]
        unnamed = [notes for notes in sets if isinstance(notes, NoteSet) and not self._said.names(notes)]
        target = unnamed[0] if len(unnamed) == 1 else None
        if not said or target is None or len(target.notes) != 1:
            return False
        recent = {*dialog.recent, *dialog.focus} - set(target.notes)
        listed = set(dialog.them) - set(target.notes)
        if not self._is_person(target.notes[0]):
            return bool(recent) or self._knows_persons
        is_new = target.notes[0] not in (*dialog.recent, *dialog.focus)
        return any(map(self._is_person, recent | listed if is_new else recent))

    @property
    def _knows_persons(self) -> bool:
        """True if a folder, type or category of the vault is a kind of persons."""
        names = self._request.vocabulary
        return any(
            names.find_folder(word) or names.find_type(word) or names.find_category(word)
            for word in self._said.word_list("persons")
        )

    def _is_person(self, path: str) -> bool:
        properties = self._properties_of(path)
        kinds = [str(properties.get(name, "")) for name in ("type", "tags", *CATEGORY_PROPERTIES)]
        names = (*NotePath.on_disk(path).folder.split("/"), *kinds)
        return any(
            word in self._said.word_list("persons") for name in names for word in WORD.findall(name_key(name))
        )

    def _is_one_of_pair(self, step: PipelineStep) -> bool:
        """Return whether an unnamed note may be the other one of the last link, or "both" another pair."""
        dialog, target = self._dialog, step.target
        last = dialog.last.last if dialog.last is not None else None
        if target is None or last is None or not target.notes or self._said.names(target):
            return False
        if len(target.notes) > 1:
            pairs = {frozenset(dialog.them), frozenset(dialog.recent)}
            is_pair = frozenset(target.notes) in pairs and {len(pair) for pair in pairs} == {2}
            return is_pair and len(pairs) == 2 and not dialog.has_list and bool(self._numbers)
        says_this = target.notes == dialog.this and self._said.matches("this")
        follows_link = last.action == "relate" != step.action
        return follows_link and not says_this and set(target.notes) <= {*dialog.recent}

    def _follows_answer(self, step: PipelineStep) -> bool:
        """Return whether the changed note may be another one of the answer to the last question.

        "This note" and "the first one" leave no doubt, nor does a name or the note on the screen if no other
        note answered the question.
        """
        dialog, target = self._dialog, step.target
        if not dialog.asked or target is None or not target.notes or self._said.names(target):
            return False
        is_unanswered = dialog.last is None or not dialog.last.is_certain
        is_unanswered = is_unanswered and not self._said.matches("it")
        is_on_screen = target.notes == dialog.this and (is_unanswered or target.notes == dialog.results)
        if self._is_owner(step) or is_on_screen:
            return False
        if len(target.notes) > 1 and self._said.says("plurals"):
            return False
        ordinals = self._request.language.table("ordinals")
        says_this = target.notes == dialog.this and self._said.matches("this")
        return not says_this and ordinals.keys().isdisjoint(token.key for token in self._said.tokens)

    def _follows_linked_notes(self, step: PipelineStep) -> bool:
        """Return whether "that one" may be a note that the last request found for the changed note."""
        last = self._dialog.last.last if self._dialog.last is not None else None
        if last is None or last.action not in LINKED_NOTES or step.target is None or last.target is None:
            return False
        return step.target.notes == last.target.notes and self._said.says("demonstratives")

    def _adds_property_after_look(self, step: PipelineStep) -> bool:
        """Return whether an unnamed note that was only asked about would get a new property.

        "Present 31" after "who is Joris?" may be about the rehearsal before.
        """
        dialog, target = self._dialog, step.target
        if step.action != "set_property" or target is None or len(target.notes) != 1:
            return False
        is_asked = dialog.last is not None and dialog.last.last.action in ("properties_of", *LINKED_NOTES)
        if not is_asked or self._said.names(target) or self._said.matches("this") or self._said.matches("it"):
            return False
        known = map(name_key, self._properties_of(target.notes[0]))
        return name_key(str(step.arguments["key"])) not in known

    def _follows_found_task(self, step: PipelineStep) -> bool:
        """Return whether "it" may be only the note in which the last request changed a task.

        "Tag it" after "complete renew the passport" may be about the note before.
        """
        dialog, target = self._dialog, step.target
        last = dialog.last.last if dialog.last is not None else None
        if last is None or last.action not in TASK_ACTIONS or "query" not in last.arguments or target is None:
            return False
        is_found = target.notes == dialog.focus[:1] and len(dialog.recent) > 1
        return is_found and step.action not in TASK_ACTIONS and not self._said.names(target)

    def _deletes_open_note(self, step: PipelineStep) -> bool:
        """Return whether "it" is only the note on the screen, which the conversation has not been about."""
        dialog, target = self._dialog, step.target
        if step.action != "delete" or target is None or dialog.focus or self._said.names(target):
            return False
        return target.notes == (dialog.open_note,) and not self._said.has_one_of(
            self._request.language.words("note_nouns")
        )

    def _leaves_out_note(self, step: PipelineStep) -> bool:
        """Return whether all notes of a change are named, but the request says "it": "link it to A and B"."""
        values = [step.target, *(step.arguments.get(role) for role in NOTE_ROLES[1:])]
        notes = [value for value in values if isinstance(value, NoteSet)]
        is_only_step = len(self._reading.steps) == 1
        tokens = self._request.tokens
        if step.action == "move" and self._request.language.match_prefix(tokens, 0, "folders", "creations"):
            return False  # "it" is the new folder
        return (
            is_only_step and bool(notes) and all(map(self._said.names, notes)) and self._said.says("objects")
        )

    def _is_other_number(self, step: PipelineStep) -> bool:
        """Return whether the request means several notes ("all", "their") but changes one, or the reverse."""
        target = step.target
        if target is None or target.query or step.action in _CHANGES_OF_PARTS:
            return False
        if len(target.notes) != 1:
            # "It" is no list, and a long list may not be the one that "them" means.
            is_long = len(target.notes) > _MAX_UNNAMED and not self._said.names(target)
            return is_long or (bool(target.notes) and self._said.says("singulars"))
        says_all = self._said.has_one_of(self._request.language.words("universal"))
        return says_all or (self._said.says("plurals") and not self._said.names(target))

    def _is_number_without_list(self, step: PipelineStep) -> bool:
        """Return whether the request says "the first one", but the note is not one of a list."""
        dialog, target = self._dialog, step.target
        if target is None or len(target.notes) != 1 or step.action in _CHANGES_OF_PARTS:
            return False
        if len(dialog.them) > 1 or self._said.names(target):
            return False
        ordinals = self._request.language.table("ordinals")
        return self._said.has_one_of(ordinals.keys() - {name_key(str(step.arguments.get("key", "")))})

    def _is_folder_of_other_name(self, step: PipelineStep) -> bool:
        """Return whether a change is of a folder that has another name in the request, or may be a heading.

        "Delete all colleagues" may not mean all notes in People, nor "add rice under Ingredients" those in
        Ingredients.
        """
        target = step.target
        folders = _folders(target) if target is not None else []
        if not folders:
            return False
        if step.action in ("append", "prepend"):
            language = self._request.language
            return not self._said.has_one_of(language.words("universal") | language.words("note_nouns"))
        forms = self._request.vocabulary.plural_stems  # without synonyms
        keys = [token.key for token in self._request.tokens]
        said = {
            *keys,
            *(form for key in keys for form in forms(key)),
            *WORD.findall(self._request.text.casefold()),
        }
        names = [
            {form for word in WORD.findall(name_key(folder)) for form in (word, *forms(word))}
            for folder in folders
        ]
        return any(said.isdisjoint(name) for name in names)

    def _is_merge_without_direction(self, step: PipelineStep) -> bool:
        """Return whether either of two notes may be merged into the other: "merge A with B"."""
        return step.action == "merge" and not self._said.says("merge_cues")

    def _notes_of_kind(self, step: PipelineStep) -> list[str]:
        """Return the notes that "the evergreen article" may mean instead of the note Evergreen.

        A name in its own spelling leaves no doubt, nor does "note" after a name that is no kind of notes.
        """
        vocabulary, nouns = self._request.vocabulary, self._request.language.words("single_nouns")
        for mention in self._said.mentions:
            words = [token.value for token in mention.tokens if token.key not in nouns]
            name = " ".join(words)
            if mention.kind != "note" or mention.notes != step.target or not name.islower():
                continue
            pairs = pairwise(self._request.tokens)
            noun = next((after.key for token, after in pairs if token is mention.tokens[-1]), "")
            is_kind = vocabulary.find_category(name) is not None
            if noun in self._said.word_list("texts") or (noun in nouns and is_kind):
                near = vocabulary.notes_near(words, vocabulary.find_similar_notes(name).paths)
                known = {*mention.notes.notes} if mention.notes is not None else set()
                return [path for path in near if path not in known and not path.startswith(self._templates)]
        return []

    def _differs_in_number(self, notes: NoteSet) -> bool:
        """Return whether "both" or "the three" is another number of notes than those of a change."""
        if notes.query or len(self._found.steps) > 1 or self._said.names(notes):
            return False
        changed = notes.first_notes(notes.notes)
        language = self._request.language
        is_one = self._said.has_one_of(language.words("single_nouns")) and len(changed) > 1
        if is_one and not self._said.has_one_of(language.words("universal")):
            return True
        return any(number != len(changed) for number in self._numbers)

    def _is_unnamed_template(self, notes: NoteSet) -> bool:
        """Return whether a change is of a template, which the request does not say."""
        folder = f"{self._templates}/"
        said = set(WORD.findall(name_key(self._request.text)))
        known = {*self._dialog.it, *self._dialog.this}
        return (
            bool(notes.notes)
            and all(path.startswith(folder) for path in notes.notes)
            and said.isdisjoint(
                {*WORD.findall(name_key(self._templates)), *self._said.word_list("templates")}
            )
            and not known.issuperset(notes.notes)
        )

    @property
    def _numbers(self) -> list[int]:
        """The numbers of notes that the request states: "both", "the three"."""
        language, said = self._request.language, self._said.tokens
        numbers = language.table("numbers")
        stated = [2] * (self._said.matches("both") or self._said.says("pairs"))
        stated += [
            numbers[token.key]
            for lead, token in pairwise(said)
            if lead.key in self._said.word_list("number_leads") and token.key in numbers
        ]
        return stated


def _folders(notes: NoteSet) -> list[str]:
    """Return the last names of the folders that a search for notes is limited to."""
    found = _FOLDER.findall(notes.query) if not notes.notes else []
    return [(quoted or plain).rpartition("/")[2] for quoted, plain in found]


def joins_note_with_itself(step: PipelineStep) -> bool:
    """Return whether a step relates a note to itself, or merges it with itself."""
    values = (step.arguments.get(role) for role in NOTE_ROLES[1:])
    notes = step.target.notes if step.target is not None else ()
    return any(isinstance(value, NoteSet) and not {*notes}.isdisjoint(value.notes) for value in values)

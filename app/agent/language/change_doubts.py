"""Find changes that may be meant for other notes: "tag both" with three listed notes, "link him to that".

The agent asks before such a change, even if its words are plain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, permutations

from app.agent.language.dialog import NOTE_ROLES
from app.agent.language.note_facts import PropertiesOf
from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token
from app.agent.language.vocabulary import name_parts
from app.vault.path import NotePath, name_key

_WORD = re.compile(r"[^\W_]+")
_TEXT_ROLES = ("text", "old", "name", "new_name", "value", "query")
_MAX_ALTERNATIVES = 3


def means_others(request: Request, reading: Reading, properties_of: PropertiesOf) -> bool:
    """Return whether a change is likely meant for other notes: it links a note to itself, or is of "him"."""
    return any(
        _joins_note_with_itself(step)
        or _is_search_for_this_note(request, step)
        or _is_about_person(request, step, properties_of)
        for step in _changes(request, reading)
    )


def is_in_doubt(request: Request, reading: Reading, found: Reading, templates: str) -> bool:
    """Return whether a change may be meant for other notes, for another value, or not as a change.

    Args:
        request: The request.
        reading: The change.
        found: The same with the found notes in place of its searches.
        templates: The folder of the templates for new notes.
    """
    return (
        _is_asked(request, reading)
        or any(
            _has_function_word_as_value(request, step)
            or _is_weak_deletion(request, step)
            or _creates_known_note(request, step)
            or _is_one_of_pair(request, step)
            for step in _changes(request, reading)
        )
        or any(
            _differs_in_number(request, found, step.target)
            or _is_unnamed_template(request, step.target, templates)
            for step in _changes(request, found)
            if step.target is not None
        )
    )


def _changes(request: Request, reading: Reading) -> list[PipelineStep]:
    """Return the steps of a reading that change notes."""
    return [step for step in reading.steps if request.writes(replace(reading, steps=(step,)))]


def names_notes(request: Request, reading: Reading) -> bool:
    """Return whether a request names a note of each set that a reading is about."""
    sets = [step.target for step in reading.steps if step.target is not None and not step.target.source]
    return all(_is_named(request, notes) for notes in sets)


def other_changes(request: Request, reading: Reading) -> list[Reading]:
    """Return the same change of the other notes that the conversation is about, likeliest first."""
    dialog, step = request.dialog, reading.last
    if _creates_known_note(request, step) and "rename" in request.allowed and dialog.it:
        renamed = PipelineStep("rename", NoteSet(notes=dialog.it[:1]), {"new_name": step.arguments["name"]})
        return [replace(reading, steps=(renamed,))]
    if len(reading.steps) > 1 or step.target is None:
        return []
    recent = tuple(reversed(dialog.last_two))
    singles = tuple(dict.fromkeys((*recent, *dialog.focus[:1], *dialog.this[:1])))
    role = next((role for role in NOTE_ROLES[1:] if role in step.arguments), "")
    changes: list[PipelineStep] = []
    if role and _joins_note_with_itself(step):
        for path, other in permutations(singles[:2], 2):
            joined = replace(step, target=NoteSet(notes=(path,)))
            changes.append(joined.with_argument(role, NoteSet(notes=(other,))))
    else:
        sets: list[tuple[str, ...]] = [(path,) for path in singles]
        sets += [recent] if len(recent) > 1 else []
        sets += [dialog.them] if len(dialog.them) > 1 else []
        changes = [replace(step, target=NoteSet(notes=paths)) for paths in sets]
    known = {step.target.notes}
    others = [change for change in changes if role or (change.target and change.target.notes not in known)]
    return [replace(reading, steps=(change,)) for change in others[:_MAX_ALTERNATIVES]]


def _is_search_for_this_note(request: Request, step: PipelineStep) -> bool:
    """Return whether a change is of the notes of a search, but the request says "here"."""
    here = request.language.words("place_pronouns")
    is_search = step.target is not None and bool(step.target.query) and not step.target.notes
    return is_search and any(token.key in here for token in _said(request, step))


def _joins_note_with_itself(step: PipelineStep) -> bool:
    values = (step.arguments.get(role) for role in NOTE_ROLES[1:])
    return any(
        isinstance(value, NoteSet) and bool(value.notes) and step.target == NoteSet(notes=value.notes)
        for value in values
    )


def _has_function_word_as_value(request: Request, step: PipelineStep) -> bool:
    """Return whether a tag or value is only a word such as "it" or "then": "add a field topics to it"."""
    values = [step.arguments.get(role, "") for role in ("tag", "value")]
    texts = {
        str(text).casefold() for value in values for text in (value if isinstance(value, tuple) else [value])
    }
    plain = request.language.function_words()
    return any(token.is_word and token.key in texts and token.key in plain for token in request.tokens)


def _is_asked(request: Request, reading: Reading) -> bool:
    """Return whether a request ends with a question mark without being a polite order: "tag late?"."""
    is_polite = request.language.match_prefix(request.tokens, 0, "courtesies") > 0
    words = [token for token in request.tokens if token.is_word]
    # The question mark may belong to the text that is written.
    is_own = all(words[-1:] == list(_said(request, step))[-1:] for step in reading.steps)
    return request.text.rstrip().endswith("?") and not is_polite and is_own


def _is_weak_deletion(request: Request, step: PipelineStep) -> bool:
    """Return whether a verb for a deletion also means taking something out of a note: "remove it"."""
    words = {token.key for token in request.tokens}
    is_weak = bool(words & request.language.words("removal_verbs"))
    return step.action == "delete" and is_weak and words.isdisjoint(request.language.words("single_nouns"))


def _creates_known_note(request: Request, step: PipelineStep) -> bool:
    """Return whether a note is created, but the request is about a known one: "make the note simply X"."""
    said = _said(request, step)
    return step.action == "create_note" and any(
        request.language.match_prefix(said, at, "one_note") > at + 1 for at in range(len(said))
    )


def _is_one_of_pair(request: Request, step: PipelineStep) -> bool:
    """Return whether an unnamed note may be either of those just linked, or a pair two other notes."""
    dialog, target = request.dialog, step.target
    last = dialog.last.last if dialog.last is not None else None
    if target is None or last is None or _is_named(request, target):
        return False
    if len(target.notes) == 2:
        is_known = set(target.notes) in ({*dialog.them}, {*dialog.last_two})
        return is_known and len(dialog.them) == len(dialog.last_two) and {*dialog.them} != {*dialog.last_two}
    joined = [role for role in NOTE_ROLES[1:] if role in last.arguments]
    return bool(joined) and last.action == "relate" != step.action and set(target.notes) <= {*dialog.last_two}


def _differs_in_number(request: Request, found: Reading, notes: NoteSet) -> bool:
    """Return whether "both" or "the three" is another number of notes than those of a change."""
    if notes.query or len(found.steps) > 1:
        return False
    language, tokens = request.language, _said(request, found.last)
    numbers = [
        2
        for at in range(len(tokens))
        if language.match_prefix(tokens, at, "both") > at and not _is_named(request, notes)
    ]
    numbers += [
        number
        for lead, token in pairwise(tokens)
        if lead.key in language.words("counted_leads")
        and (number := language.table("numbers").get(token.key)) is not None
    ]
    return any(number != len(notes.notes) for number in numbers)


def _is_unnamed_template(request: Request, notes: NoteSet, templates: str) -> bool:
    """Return whether a change is of a template, which the request does not say."""
    folder = f"{templates}/"
    said = name_parts(name_key(request.text))
    return (
        bool(notes.notes)
        and all(path.startswith(folder) for path in notes.notes)
        and said.isdisjoint(name_parts(name_key(templates)) | request.language.words("template_nouns"))
        and not set(notes.notes) <= {*request.dialog.it, *request.dialog.this}
    )


def _is_about_person(request: Request, step: PipelineStep, properties_of: PropertiesOf) -> bool:
    """Return whether a request says "him" or "her", but the changed note may be about something else.

    That is so if it is not about a person, and also if both of the last two notes are, or if the request has
    two such pronouns for one note.
    """
    target, dialog = step.target, request.dialog
    pronouns = request.language.words("personal_pronouns")
    said = {token.key for token in _said(request, step)} & pronouns
    if not said or target is None or len(target.notes) != 1 or _is_named(request, target):
        return False
    recent = {*dialog.last_two, *dialog.focus} - set(target.notes)
    listed = set(dialog.them) - set(target.notes)
    is_person = _person_test(request, properties_of)
    if len(said) > 1 and any(map(is_person, recent | listed)):
        return True
    if not is_person(target.notes[0]):
        return bool(recent) or _knows_persons(request)
    return any(map(is_person, recent))


def _knows_persons(request: Request) -> bool:
    """Return whether a folder, type or category of the vault is a kind of persons."""
    names = request.vocabulary
    return any(
        names.find_folder(word) or names.find_type(word) or names.find_category(word)
        for word in request.language.words("person_kinds")
    )


def _person_test(request: Request, properties_of: PropertiesOf) -> Callable[[str], bool]:
    kinds = request.language.words("person_kinds")

    def is_person(path: str) -> bool:
        values = [str(value) for value in properties_of(path).values()]
        names = (*NotePath.on_disk(path).folder.split("/"), *values)
        return any(word in kinds for name in names for word in _WORD.findall(name_key(name)))

    return is_person


def _said(request: Request, step: PipelineStep) -> Sequence[Token]:
    """Return the request's words without those of the texts that the change writes."""
    texts = [str(step.arguments.get(role, "")).casefold() for role in _TEXT_ROLES]
    written = {word for text in texts for word in (*text.split(), *_WORD.findall(text))}
    return [token for token in request.tokens if token.is_word and token.value.casefold() not in written]


def _is_named(request: Request, notes: NoteSet) -> bool:
    """Return whether the request names one of the notes."""
    return any(
        mention.notes is not None and not set(mention.notes.notes).isdisjoint(notes.notes)
        for mention in request.mentions(request.tokens)
        if mention.kind == "note"
    )

"""Put the change that a request more likely means before the other options of a question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from app.agent.language.changes.property_lines import bound_value, order_words
from app.agent.language.doubts.option_order import is_near
from app.agent.language.doubts.stated_amounts import is_number
from app.agent.language.grammar.mentions import EntityMention
from app.agent.language.grammar.note_facts import PropertiesOf, present_values
from app.agent.language.grammar.questions import is_question, question_language
from app.agent.language.grammar.request import Request
from app.agent.language.grammar.said_words import SaidWords
from app.agent.language.meaning.clarifications import question_for, with_options, with_readings_first
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.lexicon import languages
from app.vault.path import name_key

_CHANGES_OF_LISTS = frozenset(
    ("set_property", "set_confidence", "add_tag", "remove_tag", "set_type", "append", "prepend", "replace")
)

_MIN_NAME_LENGTH = 5
_MAX_FITTING = 3
_SCORE = 0.9
_ADDITIONS = frozenset(("append", "prepend", "set_property", "set_confidence"))
"""Changes that a request may state without a word for their note: "add a task: call Ann"."""


def with_stated_value_first(clarification: Clarification, request: Request) -> Clarification:
    """Return the question with a change of a property before a look at it: "mark it as read".

    A list of the notes with the property leaves the value out: "her email is now ann@example.org".
    """
    offered = clarification.options + clarification.spare
    looked = offered[0].reading.last if offered else None
    if looked is None or question_language(request.text, languages()) is not None:
        return clarification
    changes = [
        option
        for option in offered
        if option.reading.last.action == "set_property" and _looks_at(looked, option.reading.last, request)
    ]
    others = [option for option in offered if option not in changes]
    return with_options(clarification, [*changes, *others]) if changes else clarification


def _looks_at(looked: PipelineStep, change: PipelineStep, request: Request) -> bool:
    """Return whether a step shows the value that a change sets, or lists all notes with the property."""
    key, value, target = change.arguments["key"], str(change.arguments["value"]), change.target
    if looked.action == "properties_of":
        return target == looked.target and key == looked.arguments.get("about")
    is_list = looked.action == "find" and looked.target == NoteSet(query=f"[{key}]")
    is_list = is_list and any(token.key in order_words(request.language)[0] for token in request.tokens)
    return is_list and value in request.text and target is not None and target.is_single


async def with_known_property_first(
    clarification: Clarification,
    dialog: DialogState,
    properties_of: PropertiesOf,
    exists_near: Callable[[str, Sequence[str]], Awaitable[bool]],
) -> Clarification:
    """Return the question with the note on the screen first if another note's kind lacks the property.

    Args:
        clarification: The question.
        dialog: The state of the conversation.
        properties_of: Returns the properties of the note at a path.
        exists_near: Returns whether notes in the folders of some notes have a property.
    """
    offered = [*clarification.options, *clarification.spare]
    changes = [own.reading for own in offered if own.reading.last.action == "set_property"]
    target = changes[0].last.target if changes and len(changes[0].steps) == 1 else None
    if target is None or not target.notes or not dialog.this:
        return clarification
    key, on_screen = str(changes[0].last.arguments["key"]), _about(changes[0], dialog.this[0])
    is_known = present_values(properties_of, target.notes, key) or await exists_near(key, target.notes)
    if is_known or not present_values(properties_of, dialog.this[:1], key):
        return clarification
    return with_readings_first(clarification, [on_screen])


def with_fitting_number_first(
    clarification: Clarification, request: Request, properties_of: PropertiesOf
) -> Clarification:
    """Return the question with the numbers of the note in talk that a request may change first.

    "Gained a bit, 34.8 now" names no property, but 34.8 is near the weight of the note. "The bill is 35" is
    about something else.
    """
    offered, dialog = clarification.options, request.dialog
    first = offered[0].reading.last if offered else PipelineStep("find", None)
    is_change = first.action == "set_property" and first.target is not None and first.target.is_single
    notes = first.target.notes if is_change and first.target else (*dialog.it[:1], *dialog.this[:1])
    numbers = [own.tokens for own in request.mentions(request.tokens) if own.kind == "num"]
    value = bound_value(request, numbers[-1]) if numbers else None
    is_other = not is_change and first.action not in ("find", "question")
    if value is None or dialog.has_list or is_other or not _states_number(request):
        return clarification
    near = [
        (abs(float(str(value)) - float(str(old))), path, name)
        for path in dict.fromkeys(notes)
        for name, old in properties_of(path).items()
        if is_number(old) and old != value and is_near(value, old)
    ]
    steps = [
        PipelineStep("set_property", NoteSet(notes=(path,)), {"key": name, "value": value})
        for _, path, name in sorted(near)
    ]
    if not steps or first in steps:
        return clarification
    return with_readings_first(clarification, [Reading((step,), _SCORE) for step in steps[:_MAX_FITTING]])


def _states_number(request: Request) -> bool:
    """Return whether a request has words such as "now" and names neither a property nor another thing."""
    language, tokens = request.language, request.tokens
    table, plain = language.table("property_values"), language.function_words()
    leads = language.words("determiners").union(table["possessives"])
    names_other = any(
        lead.key in leads and own.is_word and own.key not in plain for lead, own in pairwise(tokens)
    ) or any(own.kind == "prop" for own in request.mentions(tokens))
    is_plan = any(token.key in table["modals"] for token in tokens)
    is_order = tokens[0].key in language.verbs() or is_question(request)
    has_cue = any(token.key in order_words(language)[0] for token in tokens)
    return has_cue and not (names_other or is_plan or is_order)


def with_note_in_talk(clarification: Clarification, request: Request) -> Clarification:
    """Return the question with the note in talk, often the one on the screen, before the whole last list.

    Without a word such as "them", "set the rate to 50" is hardly about every listed note. A question for the
    note of a change offers the note in talk.
    """
    dialog, partial = request.dialog, clarification.partial
    notes = dict.fromkeys(
        path for path in (*dialog.focus[:1], *dialog.this[:1]) if request.vocabulary.has_file(path)
    )
    if partial is not None and not clarification.options:
        is_addition = len(partial.steps) == 1 and partial.last.action in _ADDITIONS
        if not is_addition or not _lacks_only_note(partial, request):
            return clarification
        if clarification.question != question_for(partial) or _points_to_note(request):
            return clarification  # a note that the vault lacks, or "the other one"
        key = str(partial.last.arguments.get("key", ""))
        if name_key(key) not in name_key(request.text):
            return clarification  # "raise it to 50" does not say what
        readings = [_about(replace(partial, missing=""), path) for path in notes]
        options = [ClarificationOption(serialize(reading), reading) for reading in readings]
        return replace(clarification, options=tuple(options))
    first = clarification.options[0] if clarification.options else None
    if first is None or len(first.reading.steps) > 1 or not _is_of_list(first.reading, request):
        return clarification
    return with_readings_first(clarification, [_about(first.reading, path) for path in notes])


def with_named_note_first(clarification: Clarification, request: Request) -> Clarification:
    """Return the question with the change of the note that the request names, perhaps by a part of its name.

    The first option otherwise leaves the name out: "set the gloria to known" after a list of other pieces.
    """
    offered, partial = [*clarification.options, *clarification.spare], clarification.partial
    reading = offered[0].reading if offered else None
    if reading is None and partial is not None and _lacks_only_note(partial, request):
        reading = replace(partial, missing="")
    if reading is None or len(reading.steps) > 1 or reading.last.action not in _CHANGES_OF_LISTS:
        return clarification
    is_list = isinstance(reading.last.arguments.get("value"), tuple)
    if is_list and request.language.has_phrase(request.tokens, "property_values", "removals"):
        return clarification  # "remove Ann from the attendees"
    steps = [option.reading.last for option in offered]
    values = [value for step in steps for role, value in step.arguments.items() if role != "key"]
    used = str([*reading.last.arguments.values(), *values]).casefold()
    names = {
        path
        for mention in request.mentions(request.tokens)
        if not any(token.value.casefold() in used for token in mention.tokens)
        if (path := _named_note(mention, request)) is not None
    }
    if len(names) != 1 or (reading.last.target is not None and names == {*reading.last.target.notes}):
        return clarification
    named = _about(reading, names.pop())
    return with_readings_first(clarification, [named])


def _named_note(mention: EntityMention, request: Request) -> str | None:
    """Return the note that a mention names, also by a word of a long name that is no word of the language."""
    words = request.language.vocabulary()
    if mention.kind == "note" and not (mention.is_near and all(own.key in words for own in mention.tokens)):
        return mention.notes.notes[0] if mention.notes is not None and mention.notes.is_single else None
    word, vocabulary = mention.tokens[0], request.vocabulary
    if mention.kind != "word" or len(word.key) < _MIN_NAME_LENGTH or word.key in words:
        return None
    path = vocabulary.find_misspelled_note(word.value)
    return path if path is not None and vocabulary.notes_near([word.value], [path]) else None


def _lacks_only_note(partial: Reading, request: Request) -> bool:
    """Return whether an incomplete reading has all that its change needs, except the note."""
    action = request.allowed.get(partial.last.action)
    known = {"target", *partial.last.arguments}
    return partial.missing == "target" and action is not None and known.issuperset(action.needs)


def _about(reading: Reading, path: str) -> Reading:
    step = replace(reading.last, target=NoteSet(notes=(path,)))
    return replace(reading, steps=(*reading.steps[:-1], step))


def _points_to_note(request: Request) -> bool:
    """Return whether a request has a word for a note, such as "it" or "one", or names one."""
    language, tokens = request.language, request.tokens
    says_note = any(language.has_phrase(tokens, phrases) for phrases in ("it", "this", "them"))
    says_one = any(token.key in language.words("result_pronouns") for token in tokens)
    names_note = any(mention.kind == "note" for mention in request.mentions(tokens))
    return says_note or says_one or names_note


def _is_of_list(reading: Reading, request: Request) -> bool:
    """Return whether a change is of every note of the last list, without a word for several notes."""
    dialog, step = request.dialog, reading.last
    if step.action not in _CHANGES_OF_LISTS or step.target is None or step.target.limit or step.target.pick:
        return False
    last = dialog.last.last.target if dialog.last is not None and dialog.has_list else None
    is_list = step.target.source == "previous" or step.target == last or step.target.notes == dialog.them
    language, said = request.language, SaidWords(request, reading)
    nouns = language.words("note_nouns") - language.words("single_nouns")
    several = nouns | language.words("universal") | language.words("result_pronouns")
    several |= said.word_list("possible_plurals")
    words = said.plain_tokens
    says_several = any(token.key in several for token in words) or any(
        language.has_phrase(words, phrases) for phrases in ("them", "both")
    )
    names_kind = any(mention.kind in ("folder", "type") for mention in said.mentions)
    return is_list and len(dialog.them) > 1 and not (says_several or names_kind)

"""Put the change that a request more likely means before the other options of a question."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.grammar.questions import question_language
from app.agent.language.grammar.request import Request
from app.agent.language.grammar.said_words import SaidWords
from app.agent.language.meaning.clarifications import question_for, with_options
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, ClarificationOption, NoteSet, Reading
from app.agent.language.words.lexicon import languages
from app.vault.path import name_key

_CHANGES_OF_LISTS = frozenset(("set_property", "set_confidence", "add_tag", "remove_tag", "set_type"))

_ADDITIONS = frozenset(("append", "prepend", "set_property", "set_confidence"))
"""Changes that a request may state without a word for their note: "add a task: call Ann"."""


def with_stated_value_first(clarification: Clarification, request: Request) -> Clarification:
    """Return the question with a change of a property before a look at it: "mark it as read"."""
    offered = clarification.options + clarification.spare
    looked = offered[0].reading.last if offered else None
    is_look = looked is not None and looked.action == "properties_of" and "about" in looked.arguments
    if looked is None or not is_look or question_language(request.text, languages()) is not None:
        return clarification
    changes = [
        option
        for option in offered
        if option.reading.last.action == "set_property"
        and option.reading.last.target == looked.target
        and option.reading.last.arguments["key"] == looked.arguments["about"]
    ]
    others = [option for option in offered if option not in changes]
    return with_options(clarification, [*changes, *others]) if changes else clarification


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
        if partial.missing != "target" or len(partial.steps) > 1 or partial.last.action not in _ADDITIONS:
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
    own = [_about(first.reading, path) for path in notes]
    meant = [ClarificationOption(serialize(reading), reading) for reading in own]
    offered = clarification.options + clarification.spare
    steps = [reading.steps for reading in own]
    others = [option for option in offered if option.reading.steps not in steps and option is not first]
    if not meant:
        return clarification
    return with_options(clarification, [*meant, first, *others])


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
    said = SaidWords(request, reading)
    says_several = said.says("possible_plurals") or said.matches("them") or said.matches("both")
    nouns = (request.language.words("note_nouns") - request.language.words("single_nouns")) | (
        request.language.words("universal")
    )
    says_several = says_several or said.has_one_of(request.language.words("result_pronouns"))
    names_kind = any(mention.kind in ("folder", "type") for mention in said.mentions)
    return is_list and len(dialog.them) > 1 and not (says_several or said.has_one_of(nouns) or names_kind)

"""Leave out changes that a question should not offer."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.changes.line_removals import says_line
from app.agent.language.doubts.change_doubts import joins_note_with_itself
from app.agent.language.grammar.request import Request, writes
from app.agent.language.grammar.said_words import WORD
from app.agent.language.lookups.described_sets import asking_lead
from app.agent.language.meaning.clarifications import question_about, question_for, with_options
from app.agent.language.meaning.dialog import NOTE_ROLES
from app.agent.language.meaning.readings import Clarification, NoteSet, PipelineStep
from app.agent.language.tasks.task_references import says_done
from app.agent.language.words.lexicon import Language
from app.agent.language.words.spelling import correct_spelling
from app.agent.language.words.tokens import tokenize
from app.answering.question import stop_words


def without_deletions(clarification: Clarification, request: Request) -> Clarification:
    """Return the question without deletions, unless the request mentions or continues one.

    "Delete the task X" is about a line, not about its note. "Delete the daily note of March 3" is not
    about the note on the screen.
    """
    state, language = request.dialog, request.language
    has_date = any(mention.kind == "date" for mention in request.mentions(request.tokens))
    if has_date and len(clarification.options) > 1:
        unnamed = PipelineStep("delete", NoteSet(notes=state.this[:1]))
        named = [option for option in clarification.options if option.reading.steps != (unnamed,)]
        clarification = replace(clarification, question=question_about(named), options=tuple(named))
    offered = clarification.options + clarification.spare
    kept = [option for option in offered if option.reading.last.action != "delete"]
    if len(kept) in (0, len(offered)):
        return clarification
    question = state.question
    before = [state.last, question.partial if question is not None else None]
    before += [option.reading for option in question.options] if question is not None else []
    continues = any(reading is not None and reading.last.action == "delete" for reading in before)
    is_of_line = says_line(language, tokenize(request.text, language.contractions))
    if not is_of_line and (continues or _says_deletion(request.text, language)):
        return clarification
    return with_options(clarification, kept)


def without_asked_changes(clarification: Clarification, request: Request) -> Clarification:
    """Return the question without changes if the request only asks for notes: "which ships were built then?".

    It may ask for a change with a verb for one ("which of them should I move?"), or say that a task is done.
    """
    tokens, offered = request.tokens, clarification.options + clarification.spare
    asks = tokens[0].key in request.language.words("asking_words") or (
        tokens[0].key in request.language.verbs() and asking_lead(request, tokens)[1] > 0
    )
    said = (at for at, token in enumerate(tokens) if token.key not in stop_words(request.language.code))
    verbs = {action for at in said for action in request.actions_at(tokens, at)}  # not that of "for"
    kept = [option for option in offered if not request.writes(option.reading)]
    asks = asks and not any(writes(request.allowed, verb) for verb in verbs) and not says_done(request)
    if not asks or len(kept) in (0, len(offered)):
        return clarification
    return with_options(clarification, kept)


def without_self_relations(clarification: Clarification) -> Clarification:
    """Return the question without changes that relate a note to itself, or one about the other note."""
    offered = clarification.options + clarification.spare
    kept = [option for option in offered if not any(map(joins_note_with_itself, option.reading.steps))]
    if len(kept) == len(offered):
        return clarification
    first = offered[0].reading
    others = {option.reading.last.action for option in kept}
    if len(first.steps) == 1 and offered[0] not in kept and first.last.action not in others:
        role = next(role for role in NOTE_ROLES[1:] if role in first.last.arguments)
        values = {name: value for name, value in first.last.arguments.items() if name != role}
        partial = replace(first, steps=(replace(first.last, arguments=values),), missing=role)
        return Clarification(question_for(partial), (), partial)
    if not kept:
        return clarification
    return with_options(clarification, kept)


def _says_deletion(text: str, language: Language) -> bool:
    """Return whether a text has a word for a deletion, perhaps misspelled."""
    deletions = {word for name in ("deletions", "removals") for word in language.table("doubts")[name]}
    known = language.vocabulary() | language.function_words()
    return any(
        word in deletions or (word not in known and correct_spelling(word, deletions))
        for word in WORD.findall(text.casefold())
    )

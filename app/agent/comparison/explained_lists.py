"""Show the list that the words of a request describe instead of asking which one is meant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

from app.agent.comparison.narrowed_lists import narrows_list
from app.agent.language.grammar.note_facts import KINDS_OF_NAMES, asked_kinds
from app.agent.language.grammar.questions import question_language
from app.agent.language.grammar.request import Request
from app.agent.language.lookups.described_sets import asking_lead, is_plain_word, mark_condition
from app.agent.language.lookups.negations import has_negation, is_negated
from app.agent.language.meaning.clarifications import with_options
from app.agent.language.meaning.conditions import condition_slots, property_value, top_level_parts
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, ClarificationOption, Reading
from app.agent.language.model.decision import bare_words
from app.agent.language.tasks.task_matching import word_stems
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import Token
from app.agent.shown_results import MIN_OTHER_PROBABILITY, MIN_SHOWN_PROBABILITY
from app.answering.question import stop_words
from app.index.query_serializer import quote_value

_DATED = ("<", ">", "modified:", "created:", "file:")


async def with_explained_list(
    question: Clarification, request: Request, finds: Callable[[Reading], Awaitable[bool]]
) -> Clarification:
    """Return a question with the list first that has each word of the request, likely enough to be shown.

    The list also has no condition that the request does not state. Other questions stay unchanged.

    Args:
        question: The question.
        request: The request.
        finds: Returns whether a search finds notes.
    """
    offered = [*question.options, *question.spare]
    is_change = any(request.writes(own.reading) for own in offered[:1])
    if question.partial is not None or is_change or not _asks_for_notes(request):
        return question
    for option in question.options:
        reading = _of_noun(request, option.reading)
        if not _is_explained(request, option.reading) or not await finds(reading):
            continue
        first = ClarificationOption(serialize(reading), reading, MIN_SHOWN_PROBABILITY)
        others = [own for own in offered if own is not option]
        return with_options(
            question, [first, *(replace(own, share=max(own.share, MIN_OTHER_PROBABILITY)) for own in others)]
        )
    return question


def _asks_for_notes(request: Request) -> bool:
    """Return whether a request asks for notes: "which … are vacant", "list hives", "only the calm ones"."""
    language, tokens = request.language, request.tokens
    start = language.match_prefix(tokens, 0, "and")
    asks = question_language(request.text, languages()) is not None or asking_lead(request, tokens)[1] > 0
    says_all = any(token.key in language.words("universal") for token in tokens[start : start + 1])
    continues = request.dialog.has_list and language.match_prefix(tokens, 0, "refine", "same") > 0
    is_of_note = any(language.has_phrase(tokens, name) for name in ("it", "this"))
    is_reason = language.match_prefix(tokens, start, "reason_questions")
    if is_reason or not asked_kinds(request, tokens[start:]).keys() <= KINDS_OF_NAMES:
        return False  # "when is it?"
    return (asks or says_all or continues or narrows_list(request)) and not is_of_note


def _is_explained(request: Request, reading: Reading) -> bool:
    """Return whether a list has a condition for each word of a request, and no other conditions."""
    step, code = reading.last, request.language.code
    target, last = step.target, request.dialog.last
    if len(reading.steps) > 1 or step.action not in ("find", "list_tasks"):
        return False
    query, order = (target.query, target.order) if target is not None else ("", "")
    listed = (
        top_level_parts(last.last.target.query) if last is not None and last.last.target is not None else ()
    )
    without = {*listed, "OR", request.vocabulary.excluded_templates}
    parts = [part for part in top_level_parts(query) if part not in without]
    is_of_list = target is None or not target.notes or set(target.notes) == set(request.dialog.them)
    is_list = is_of_list and not (target is not None and target.limit) and not bare_words(query)
    states_value = any("[" in part and ":" in part for part in parts) or "due" in step.arguments
    denials = request.language.table("task_changes")["denials"]
    denies = is_negated(request) or any(token.key in denials for token in request.tokens)
    is_list = is_list and all(_is_sensible(request, part) for part in parts)
    if not is_list or not states_value or denies != has_negation(parts):
        return False
    texts = [*filter(None, (*parts, order, str(step.arguments.get("query", ""))))]
    known = {stem for text in texts for stem in _stems(text, code)}
    slots = {slot for part in parts for slot in condition_slots(part)}
    mentions = request.mentions(request.tokens)
    days = {id(token) for own in mentions if own.kind == "date" for token in own.tokens}
    is_dated = "due" in step.arguments or any(sign in part for part in parts for sign in _DATED)
    said: set[str] = set()
    for token in _content(request):
        condition = request.set_parser().condition_of(token)
        stems = word_stems(token.key, code)
        for implied in (condition.query if condition is not None else "", mark_condition(request, token)):
            if implied and condition_slots(implied) & slots:
                stems |= _stems(implied, code) | known
        if not (is_dated and id(token) in days) and stems.isdisjoint(known):
            return False
        said |= stems
    others = [text for text in texts if not any(sign in text for sign in _DATED)]
    return bool(days) == is_dated and all(not _stems(text, code).isdisjoint(said) for text in others)


def _is_sensible(request: Request, condition: str) -> bool:
    """Return whether a condition denies a value that its property has, or none: no dog is an allergy."""
    stated = property_value(condition.removeprefix("-")) if condition.startswith("-") else None
    if stated is None or request.vocabulary.is_checkbox(stated[0]):
        return stated is None or stated[1] in ("true", "false")
    return request.vocabulary.find_text_of(*stated) is not None


def _stems(text: str, code: str) -> set[str]:
    return word_stems(text.replace("_", " "), code)


def _content(request: Request) -> Iterator[Token]:
    """Yield the words of a request that describe notes, without the noun of a question for them."""
    language, tokens = request.language, request.tokens
    plain = language.function_words() | stop_words(language.code) | language.words("note_nouns")
    noun = _noun(request)
    for token in tokens:
        is_plain = token.key in plain or is_plain_word(request, token, asks=True)
        if token.is_word and not is_plain and token is not noun:
            yield token


def _noun(request: Request) -> Token | None:
    """Return the noun of "which acts are blocked?" if it is no kind of notes in the vault."""
    language, tokens = request.language, request.tokens
    start = max(asking_lead(request, tokens)[1], int(tokens[0].key in language.words("asking_words")))
    if not 0 < start < len(tokens) or not tokens[start].is_word:
        return None
    condition = request.set_parser().condition_of(tokens[start])
    return tokens[start] if condition is None or condition_slots(condition.query) != {"kind"} else None


def _of_noun(request: Request, reading: Reading) -> Reading:
    """Return a list of the notes with the property that is the noun of a question for them."""
    step, noun = reading.last, _noun(request)
    name = request.vocabulary.find_property(noun.key) if noun is not None else None
    if name is None or step.target is None or name in step.target.query or step.action != "find":
        return reading
    return replace(reading, steps=(replace(step, target=step.target.with_query(f"[{quote_value(name)}]")),))

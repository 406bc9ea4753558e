"""Offer another search that a request may mean: a nested tag for a word, or the last search in a period."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.choices import MAX_OPTIONS, question_about
from app.agent.language.conditions import date_slot, top_level_parts
from app.agent.language.decision import bare_words
from app.agent.language.notation import serialize
from app.agent.language.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    parenthesize,
)
from app.agent.language.request import Request

_CHANGE_DATES = frozenset(("modified", "created", "file"))
_MAX_PERIOD_WORDS = 6


def with_other_reading(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return a question that offers another search with a likely interpretation, if there is one."""
    options = interpretation.options if isinstance(interpretation, Clarification) else ()
    readings = [interpretation] if isinstance(interpretation, Reading) else [one.reading for one in options]
    for reading in readings:
        target = reading.last.target
        if len(reading.steps) > 1 or reading.last.action not in ("find", "count") or target is None:
            continue
        other = (
            _by_backlinks(request, target)
            or _in_period(request, target)
            or _with_nested_tags(request, target)
        )
        if other is not None:
            step = replace(reading.last, target=other)
            return offered_first(replace(reading, steps=(step,)), interpretation)
    tag = _only_tag(request) if readings else ""
    searches = [serialize(one).casefold() for one in readings if one.last.action == "find"]
    if tag and not any(tag.rpartition("/")[2].casefold() in search for search in searches):
        found = PipelineStep("find", NoteSet(query=tag))
        return offered_first(Reading((found,), 0.9, language=request.language.code), interpretation)
    return interpretation


def offered_first(reading: Reading, interpretation: Interpretation) -> Clarification:
    """Return a question that offers a reading first, then the interpretation or its options."""
    known: tuple[ClarificationOption, ...] = ()
    spare: tuple[ClarificationOption, ...] = ()
    if isinstance(interpretation, Clarification):
        known, spare = interpretation.options, interpretation.spare
    elif isinstance(interpretation, Reading):
        known = (ClarificationOption(serialize(interpretation), interpretation),)
    label = serialize(reading)
    options = (ClarificationOption(label, reading), *(one for one in known if one.label != label))
    spare = (*options[MAX_OPTIONS:], *spare)
    return Clarification(question_about(options), options[:MAX_OPTIONS], spare=spare)


def _by_backlinks(request: Request, target: NoteSet) -> NoteSet | None:
    """Return notes in order of their backlinks: "the most linked notes" may be those that others link to."""
    is_linked = any(
        request.language.matches_phrase((token,), "order_hints", "linked") for token in request.tokens
    )
    if target.order not in ("links", "-links") or not is_linked:
        return None
    return replace(target, order=target.order.replace("links", "backlinks"))


def _in_period(request: Request, target: NoteSet) -> NoteSet | None:
    """Return the last search in another period: "and this year?" after a list of books finished last year."""
    dialog, tokens = request.dialog, request.tokens
    words = [token for token in tokens if token.kind != "mark"]
    last = dialog.last.last if dialog.last is not None and len(dialog.last.steps) == 1 else None
    if last is None or last.target is None or last.action not in ("find", "count"):
        return None
    if len(words) > _MAX_PERIOD_WORDS or target.notes or target.source or last.target.source:
        return None
    parts, before = top_level_parts(target.query), top_level_parts(last.target.query)
    others = [part for part in parts if date_slot(part) not in _CHANGE_DATES]
    is_same = {part.rstrip("/") for part in others} <= {part.rstrip("/") for part in before}
    if not before or len(others) == len(parts) or not is_same or "OR" in before:
        return None
    slots = {slot for part in before if (slot := date_slot(part))}
    if not slots:
        narrowed = [part for part in parts if part not in before]
        return None if others else last.target.with_query(" ".join(narrowed))
    starts = range(len(words))
    span = next((span for at in starts if (span := request.dates.parse_span(words, at))), None)
    slot = slots.pop()
    if slots or slot in _CHANGE_DATES or span is None:
        return None
    sides = ((">=", span.first), ("<=", span.last))
    period = [f"[{slot}:{sign}{day}]" for sign, day in sides if day is not None]
    kept = [part for part in before if date_slot(part) != slot]
    return replace(last.target, query=" ".join((*kept, *period)))


def _with_nested_tags(request: Request, target: NoteSet) -> NoteSet | None:
    """Return a search for nested tags in place of all its words: "fruit" for the tag "plant/fruit"."""
    query, words = target.query, bare_words(parenthesize(target.query).replace("(", " ").replace(")", " "))
    tags = {word: request.vocabulary.find_nested_tag(word) for word in words}
    if not tags or not all(tags.values()) or '"' in query:
        return None
    for word, tag in tags.items():
        parts = query.replace("(", "( ").replace(")", " )").split()
        query = " ".join(f"tag:{tag}" if part == word else part for part in parts)
    return replace(target, query=query.replace("( ", "(").replace(" )", ")"))


def _only_tag(request: Request) -> str:
    """Return the condition on the nested tag that the only word of a request names, or an empty text."""
    language = request.language
    plain = language.function_words() | language.words("question_words")
    words = [token for token in request.tokens if token.kind != "mark" and token.key not in plain]
    if len(words) != 1 or not words[0].is_word or words[0].key in language.verbs():
        return ""
    tag = request.vocabulary.find_nested_tag(words[0].key)
    return f"tag:{tag}" if tag and not request.vocabulary.notes(words[0].value) else ""

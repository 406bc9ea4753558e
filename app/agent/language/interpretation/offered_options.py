"""Choose the options that a question offers."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import MAX_OPTIONS
from app.agent.language.meaning.readings import MIN_COMPLETE_SCORE
from app.agent.language.model.decision import Option, bare_words

MIN_OFFERED_PROBABILITY = 0.005
"""Minimum probability at which a reading is offered in a question."""
MIN_OFFERED_OUTCOME_PROBABILITY = 0.04
"""Minimum probability at which an answer from the notes, or a model, is offered in a question."""


def offered_options(options: Sequence[Option], request: Request) -> list[Option]:
    """Return the options that a question offers, including the grammar's complete reading.

    An outcome is offered only if it is also an action: an answer from the notes, or work for a model. A
    single noun offers no change.
    """
    offered = [
        option
        for option in options
        if (
            option.is_clear
            and option.share >= MIN_OFFERED_PROBABILITY
            and not is_change_by_noun(option, request)
        )
        or (option.outcome in request.allowed and option.share >= MIN_OFFERED_OUTCOME_PROBABILITY)
    ]
    complete = complete_option(options) or _plain_option(options)
    if complete is not None and complete not in offered[:MAX_OPTIONS]:
        rest = [option for option in offered if option is not complete]
        offered = [*rest[: MAX_OPTIONS - 1], complete, *rest[MAX_OPTIONS - 1 :]]
    return offered


def is_change_by_noun(option: Option, request: Request) -> bool:
    """Return whether an option is a change, but the request only one word: no verb, and no note's name."""
    words = [token for token in request.tokens if token.kind != "mark"]
    is_noun = len(words) == 1 and words[0].is_word and words[0].key not in request.language.verbs()
    return (
        is_noun and option.reading is not None and request.writes(option.reading) and not names_note(request)
    )


def names_note(request: Request) -> bool:
    """Return whether a request contains the name of a note, spelled correctly."""
    return any(mention.kind == "note" and not mention.is_near for mention in request.mentions(request.tokens))


def complete_option(options: Sequence[Option]) -> Option | None:
    """Return the grammar's complete reading among some options, or None."""
    return next((option for option in options if option.is_clear and option.features.get("complete")), None)


def _plain_option(options: Sequence[Option]) -> Option | None:
    """Return the grammar's first reading if it explains every word without searching for one; else None."""
    for option in options:
        if option.reading is None or not option.is_clear or not option.features.get("first"):
            continue
        target = option.reading.last.target
        is_plain = not option.reading.unexplained and (target is None or not bare_words(target.query))
        return option if is_plain and option.reading.score >= MIN_COMPLETE_SCORE else None
    return None

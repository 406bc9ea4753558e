"""Decide whether the grammar alone decides on its best reading."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.agent.language.grammar.request import Request
from app.agent.language.interpretation.offered_options import complete_option
from app.agent.language.meaning.actions import GRAMMAR_ACTIONS
from app.agent.language.meaning.conditions import top_level_parts
from app.agent.language.meaning.readings import MIN_COMPLETE_SCORE, NoteSet, Reading, is_clear, note_sets_of
from app.agent.language.model.decision import Option, bare_words

MIN_DOUBT_PROBABILITY = 0.65
"""Probability of the likeliest option from which the grammar's reading may be wrong."""
MIN_SCORE_WITHOUT_NOTE = 0.72
"""Minimum score at which the grammar alone decides on a reading that lacks only its note."""
MIN_PIPELINE_STEPS = 3
"""Minimum number of steps of a pipeline on which the grammar decides: few training requests have as many."""
_FOLDER = re.compile(r'path:(?:"[^"]*/"|[^"\s]*/)')


def grammar_decides(request: Request, best: Reading, options: Sequence[Option]) -> bool:
    """Return whether the grammar alone decides on its best reading; strong doubt can overrule it."""
    is_change = request.writes(best)
    is_doubted = options[0].share >= MIN_DOUBT_PROBABILITY
    if _is_for_grammar(best, is_change=is_change):
        return is_clear(best) or not (is_doubted and options[0].reading is None)
    complete = complete_option(options)
    if complete is None:
        return False
    if len(best.steps) >= MIN_PIPELINE_STEPS and best.score >= MIN_COMPLETE_SCORE:
        return not is_doubted
    if is_change:
        return False
    if _is_folder(best) and len(request.mentions(request.tokens)) == 1:
        return not (is_doubted and options[0].reading is None)
    if complete.is_considered:
        return True
    # The grammar reads "and the records?" without the search before it, but not "and the newest?".
    target = best.last.target
    is_ordered = target is not None and bool(target.order)
    continues = request.language.match_prefix(request.tokens, 0, "refine", "same") > 0 and not is_ordered
    return complete.is_plain and not is_doubted and (not continues or complete is options[0])


def states_condition(best: Reading, request: Request) -> bool:
    """Return whether a complete search has a condition on a maker, or on the year of a kind of notes.

    The request model has seen few such searches, and misreads them as questions or as other kinds of years.
    """
    target = best.last.target
    if request.language.match_prefix(request.tokens, 0, "refine", "same"):
        return False  # "and by X?" keeps the kind of the last search
    if request.writes(best) or best.score < MIN_COMPLETE_SCORE or best.unexplained or target is None:
        return False
    if not best.is_certain:
        return False
    tags = [part for part in top_level_parts(target.query) if part.startswith("tag:")]
    if len(tags) > 1 and not bare_words(target.query):
        return True  # "tagged a and b" means both, which the request model reads as one or the other
    # In "anything by Varda on my list", the other words may mean nothing.
    return not bare_words(target.query) and any(
        condition in target.query for condition in request.set_parser().stated_conditions(request.tokens)
    )


def _is_for_grammar(best: Reading, *, is_change: bool) -> bool:
    """Return whether the best reading has a value or an action that the request model does not know well.

    That is a missing or unknown note or, in a complete reading, an ambiguous name, or a value or an action
    with few examples.
    """
    target = best.last.target
    if not best.missing and target is not None and target.unknown and not target.candidates:
        if not target.unknown.strip():
            return best.score >= MIN_SCORE_WITHOUT_NOTE  # "summarize the first one", without a list
        is_name = target.unknown[0].isupper() or target.unknown[0].isdigit()
        if is_name and " " not in target.unknown and is_change:
            return True  # a name that no note has, or the day of a missing daily note
    if best.last.action in GRAMMAR_ACTIONS and not best.unexplained:
        return best.score >= (MIN_SCORE_WITHOUT_NOTE if best.missing else MIN_COMPLETE_SCORE)
    if best.score < MIN_COMPLETE_SCORE or not best.is_certain or best.missing or best.unexplained:
        return False
    rare = any(name in best.last.arguments for name in ("due", "uses", "about", "what", "side"))
    return (
        rare
        or is_seldom_seen(best)
        or any(notes.candidates or "backlinks:" in notes.query for notes in note_sets_of(best))
    )


def is_seldom_seen(reading: Reading) -> bool:
    """Return whether the request model has seen no or few such readings.

    These are the unresolved links of certain notes, and names that start with a word.
    """
    target = reading.last.target
    return target is not None and (reading.last.action == "unresolved_links" or "file:/" in target.query)


def _is_folder(reading: Reading) -> bool:
    """Return whether a reading searches for all notes of one folder."""
    target = reading.last.target
    if len(reading.steps) > 1 or reading.last.action != "find" or target is None:
        return False
    return target == NoteSet(query=target.query) and bool(_FOLDER.fullmatch(target.query))

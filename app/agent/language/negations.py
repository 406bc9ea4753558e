"""Ask about a search that leaves out the negation of a request: "what isn't serviced?"."""

from __future__ import annotations

import re
from dataclasses import replace

from app.agent.language.choices import question_about
from app.agent.language.conditions import top_level_parts
from app.agent.language.notation import serialize
from app.agent.language.readings import Clarification, ClarificationOption, Interpretation, Reading
from app.agent.language.request import Request

_NEGATIVE = re.compile(
    r'-|\(?(?:\[[^\]]*:(?:<|false)|orphan:|untagged:|unresolved:|modified:<|created:<|\w+:"")'
)
"""A condition that may express a negation: "not since 2024", "unread"."""
_OPPOSITES = {">=": "<", ">": "<="}


def with_negation(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return a question that offers the negated search instead of a search without the request's negation."""
    if not isinstance(interpretation, Reading) or not _is_negated(request):
        return interpretation
    step = interpretation.last
    if len(interpretation.steps) > 1 or step.action not in ("find", "count") or step.target is None:
        return interpretation
    *others, last = top_level_parts(step.target.query) or [""]
    if not last or step.target.notes or any(map(_NEGATIVE.match, (*others, last))):
        return interpretation
    query = " ".join((*others, _opposite(last)))
    negated = replace(interpretation, steps=(replace(step, target=replace(step.target, query=query)),))
    options = tuple(ClarificationOption(serialize(reading), reading) for reading in (negated, interpretation))
    return Clarification(question_about(options), options)


def _is_negated(request: Request) -> bool:
    language, tokens = request.language, request.tokens
    words = language.words("negations") | language.words("lacking")
    return any(
        token.key in words or language.match_prefix(tokens, at, "not") > at for at, token in enumerate(tokens)
    )


def _opposite(condition: str) -> str:
    """Return the opposite of a condition; "not since 2024" is before it rather than without a date."""
    if compared := re.fullmatch(r"(\[?[\w -]+:)(>=?)([^\]]+\]?)", condition):
        return compared[1] + _OPPOSITES[compared[2]] + compared[3]
    return f"-{condition}"

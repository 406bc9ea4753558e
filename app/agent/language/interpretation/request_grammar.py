"""Interpret a request in one language by the grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.interpretation.choices import ReadingChooser
from app.agent.language.interpretation.fixed_interpretations import FixedInterpretations
from app.agent.language.interpretation.follow_ups import parse_follow_up
from app.agent.language.interpretation.grammar_readings import grammar_readings, is_change
from app.agent.language.interpretation.interpretation_choice import InterpretationChooser
from app.agent.language.lookups.typed_search import parse_typed_search
from app.agent.language.meaning.readings import MIN_READ_SCORE, Interpretation, Reading, Reply
from app.agent.language.model.candidates import candidates_once
from app.agent.language.words.courtesies import without_courtesies
from app.agent.language.words.small_talk import only_small_talk, small_talk
from app.agent.language.words.tokens import Token


@dataclass(frozen=True, slots=True)
class GrammarResult:
    """The readings of a request by the grammar.

    Args:
        request: The request, which may need confirmation.
        fixed: The interpretation of small talk, a typed search, an unambiguous follow-up and the like; None
            if the readings have to be compared with those of the request model.
        readings: The readings, best first; none with a fixed interpretation.
    """

    request: Request
    fixed: Interpretation | None = None
    readings: Sequence[Reading] = ()


class RequestGrammar:
    """Applies the grammar to requests.

    Args:
        chooser: Decides whether a reading runs, and asks questions.
        choice: Asks about changes that the request model does not expect.
    """

    def __init__(self, chooser: ReadingChooser, choice: InterpretationChooser) -> None:
        self._chooser = chooser
        self._choice = choice
        self._fixed = FixedInterpretations(chooser)

    def apply(self, request: Request) -> GrammarResult:
        """Return the fixed interpretation of a request, or its readings."""
        language = request.language
        bare = without_marks_at_end(request.tokens)
        if not bare:
            return GrammarResult(request, Reply("", understood=False))
        if fixed := small_talk(language, bare) or parse_typed_search(request):
            return GrammarResult(request, fixed)
        tokens = without_courtesies(language, bare)
        if not tokens:
            return GrammarResult(request)
        if reply := small_talk(language, tokens) or only_small_talk(language, tokens):
            return GrammarResult(request, reply)
        for words in dict.fromkeys((bare, tokens)):
            if fixed := self._fixed.interpret(request, words):
                return GrammarResult(request, fixed)
            if follow_up := self._apply_to_follow_up(request, words):
                return follow_up
        checked_request, readings = grammar_readings(request, tokens)
        return GrammarResult(checked_request, None, readings)

    def _apply_to_follow_up(self, request: Request, tokens: tuple[Token, ...]) -> GrammarResult | None:
        """Return the result for tokens that change the last reading; None for a new request."""
        if request.dialog.asked and request.language.match_prefix(request.tokens, 0, "permission_leads"):
            return None  # "can I use peaches instead?" is another question
        refined = parse_follow_up(request, tokens)
        if refined is None or refined.score < MIN_READ_SCORE:
            return None
        if any(step.action not in request.allowed for step in refined.steps):
            return None  # its tools were turned off meanwhile
        is_other_change = tokens[0].key in request.language.verbs() and is_change(request, tokens)
        if is_other_change and not request.writes(refined):
            return None
        if not refined.is_certain:
            return GrammarResult(request, None, [refined])
        decision = self._chooser.decide(request, [refined])
        expected = self._choice.ask_if_unexpected(request, decision, candidates_once(request))
        return GrammarResult(request, expected)

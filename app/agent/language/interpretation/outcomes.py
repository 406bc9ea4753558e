"""Outcomes without an action: an answer from the notes, work for a model, or a reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.agent.language.grammar.questions import question_language
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import Action
from app.agent.language.meaning.clarifications import question_for
from app.agent.language.meaning.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.model.decision import Option
from app.agent.language.words.courtesies import without_courtesies
from app.agent.language.words.lexicon import Language

MIN_UNRELATED_PROBABILITY = 0.8
"""Minimum probability at which a question counts as unrelated to the notes."""
MIN_ANSWERED_PROBABILITY = 0.01
"""Minimum probability of an answer at which an unrelated question is still looked up in the notes."""
MIN_CERTAIN_OUTCOME_PROBABILITY = 0.6
"""Minimum probability at which a request counts as a question, or as work for a model, without asking."""
MIN_READINGS_PROBABILITY = 0.05
"""Minimum probability of all readings together at which the user is asked about them."""


class Outcomes:
    """Interprets requests that ask for no action.

    Args:
        languages: The languages in which a request may be a question.
    """

    def __init__(self, languages: Sequence[Language]) -> None:
        self._languages = languages

    def is_question(self, request: Request) -> bool:
        """Return whether a request is phrased as a question in one of the languages."""
        return question_language(request.text, self._languages) is not None

    def likely(
        self, request: Request, shares: Mapping[str, float], readings_share: float
    ) -> Interpretation | None:
        """Return the outcome that is likelier than "ask" and all readings together; None if there is none.

        Also return None for an uncertain outcome that a question can offer together with the readings.

        Args:
            request: The request.
            shares: The probabilities of the outcomes.
            readings_share: The probability of all readings.
        """
        outcome = max(("question", "model", "none"), key=lambda name: shares[name])
        contents = shares["question"] + shares["model"] if self.is_question(request) else 0.0
        # A question that is perhaps unrelated to the notes is looked up in them as well.
        if shares["question"] >= MIN_ANSWERED_PROBABILITY and shares["none"] < MIN_UNRELATED_PROBABILITY:
            contents += shares["none"] if contents else 0.0
        probability = max(contents, shares[outcome])
        if probability <= readings_share + shares["ask"]:
            return None
        # A question can also offer "question" and "model" as options, but not "none".
        if (
            outcome != "none"
            and probability < MIN_CERTAIN_OUTCOME_PROBABILITY
            and readings_share >= MIN_READINGS_PROBABILITY
        ):
            return None
        if contents > shares[outcome]:
            outcome = max(("question", "model"), key=lambda name: shares[name])
        return self.interpret(outcome, request)

    def interpret(self, outcome: str, request: Request) -> Interpretation:
        """Return the interpretation of a request that asks for no action."""
        match outcome:
            case "model":
                model = ModelRequired(_model_work(request))
                is_question = self.is_question(request) and not _is_polite_order(request)
                return ContentQuestion(request.text, model) if is_question else model
            case "question":
                return ContentQuestion(request.text)
            case _:
                reminds = request.language.has_phrase(request.tokens, "reminders", "leads")
                return Reply("reminder" if reminds else "unsupported", understood=False)

    def option_reading(self, option: Option, request: Request) -> Reading:
        """Return the reading that selects an option in a question."""
        match option.outcome:
            case "question":
                step = PipelineStep("question", None, {"query": request.text})
            case "model":
                step = PipelineStep("model", None, {"query": _model_work(request)})
            case _:
                assert option.reading is not None
                return option.reading
        return Reading((step,), option.share, language=request.language.code)


def is_outcome(step: PipelineStep) -> bool:
    """Return whether a step represents an outcome that no pipeline runs: "question" or "model"."""
    return step.action in ("question", "model")


def meaning_of(reading: Reading) -> Interpretation:
    """Return the interpretation that a chosen reading represents: the reading itself, or an outcome."""
    query = str(reading.last.arguments.get("query", ""))
    match reading.last.action:
        case "question":
            return ContentQuestion(query)
        case "model":
            return ModelRequired(query or "This")
    return reading


def meaning_of_choice(reading: Reading, actions: Mapping[str, Action]) -> Interpretation:
    """Return the interpretation of the reading that the user chose, or a question for the value it lacks."""
    step = reading.last
    needs = actions[step.action].needs if step.action in actions else ()
    # A change of a task without a query is about the only open task, or asks which one is meant.
    lacking = next((role for role in needs if role not in ("target", "query", *step.arguments)), "")
    if not lacking:
        return meaning_of(reading)
    partial = replace(reading, missing=lacking)
    return Clarification(question_for(partial), (), partial)


def _is_polite_order(request: Request) -> bool:
    """Return whether a request is an order in the form of a question: "can you write a poem?"."""
    tokens = without_courtesies(request.language, request.tokens)
    return tokens[:1] != request.tokens[:1] and not any(
        token.key in request.language.words("asking_words") for token in tokens
    )


def _model_work(request: Request) -> str:
    """Return the work that needs a model, as the subject of a sentence; "This" if it is unknown."""
    tokens = without_courtesies(request.language, request.tokens)
    return next(
        (
            work.work
            for work in request.language.model_work
            for phrase in work.say
            for position in range(min(3, len(tokens)))
            if phrase.longest_match(tokens, position)
        ),
        "This",
    )

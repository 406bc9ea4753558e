"""Interpret a request as a pipeline of steps, a question to the user, or work that needs a model.

The grammar splits the request into clauses and parses each one as an action on a set of notes; the request
model writes further readings. The agent runs the likeliest reading or asks a question. A change runs only as
the answer to a question, or if `ReadingChooser` has no doubt about it.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.doubts.dropped_conditions import with_every_condition
from app.agent.language.doubts.dropped_values import with_dropped_value
from app.agent.language.grammar.request import Request, request_tokens, without_marks_at_end
from app.agent.language.grammar.request_parser import RequestContext, RequestParser
from app.agent.language.interpretation.choices import Describe, ReadingChooser
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE, correct_words
from app.agent.language.interpretation.interpretation_choice import InterpretationChooser
from app.agent.language.interpretation.outcomes import Outcomes
from app.agent.language.interpretation.question_answers import QuestionAnswers
from app.agent.language.interpretation.request_grammar import RequestGrammar
from app.agent.language.lookups.described_sets import with_described_sets
from app.agent.language.lookups.listed_notes import with_listed, without_guessed_note
from app.agent.language.lookups.negations import with_empty_values, with_negation
from app.agent.language.lookups.summary_lengths import parse_summary_length, with_summary_length
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import (
    MIN_READ_SCORE,
    ContentQuestion,
    Interpretation,
    Reading,
    Reply,
)
from app.agent.language.model.candidates import candidates_once
from app.agent.language.model.decision import bare_words
from app.agent.language.tasks.task_lists import about_whole_vault
from app.agent.language.words.lexicon import ActionFrame, Language
from app.agent.language.words.small_talk import is_answer, small_talk
from app.answering.question import is_unspaced_sentence


class Interpreter:
    """Interpret requests in several languages.

    Args:
        languages: The languages, default first.
        describe: Describes a reading in a few words, for the options of a question.
        tool_frames: The frames of the tools' examples, which are in the first language.
    """

    def __init__(
        self, languages: Sequence[Language], describe: Describe, tool_frames: Sequence[ActionFrame] = ()
    ) -> None:
        self._parser = RequestParser(languages, tool_frames)
        self._chooser = ReadingChooser(describe)
        self._choice = InterpretationChooser(self._chooser, Outcomes(languages))
        self._grammar = RequestGrammar(self._chooser, self._choice)
        self._answers = QuestionAnswers(self._parser, self._chooser, self.interpret)

    def interpret(self, text: str, context: RequestContext, *, guesses: bool = True) -> Interpretation:
        """Return the interpretation of `text`, perhaps as the answer to the conversation's open question.

        Args:
            text: The request.
            context: What its meaning depends on besides its words.
            guesses: Whether a request without a verb may be read as a search for its words.
        """
        question = context.dialog.question
        if question is not None and (answer := self._answers.interpret(text, question, context)):
            return answer
        languages = self._parser.languages
        if is_unspaced_sentence(text) and self._parser.is_in_no_language(text):
            names = context.vocabulary_in(languages[0])
            if not names.notes(text.strip()):
                return ContentQuestion(text)
        for language in languages:
            words = without_marks_at_end(request_tokens(text, language))
            if question is None and is_answer(language, words, "no"):
                return self._interpret_objection(language, context)
            if reply := small_talk(language, words):
                return reply
        requests = [with_listed(request) for request in self._parser.requests(text, context)]
        if summary := self._summary_of_length(requests[0], context):
            return summary
        return self._interpret_in_languages(requests, guesses=guesses)

    def _interpret_in_languages(self, requests: Sequence[Request], *, guesses: bool) -> Interpretation:
        """Return the interpretation of a request, given in each language, the likeliest one first."""
        likeliest = requests[0]
        best_readings: list[Reading] = []
        grammar_request = likeliest
        for request in requests:
            result = self._grammar.apply(request)
            readings = list(result.readings)
            if result.fixed is not None:
                described = with_described_sets(request, result.fixed)
                return with_empty_values(request, with_every_condition(request, described))
            if request is not likeliest:
                # A language that knows fewer of the words would search for those of the other language.
                readings = [
                    reading
                    for reading in readings
                    if reading.score > GUESS_SCORE and not _searches_for_words_of(likeliest.language, reading)
                ]
            if readings and (not best_readings or readings[0].score > best_readings[0].score):
                best_readings, grammar_request = readings, result.request
            if best_readings and best_readings[0].score >= MIN_READ_SCORE:
                break
        if not guesses:
            best_readings = [reading for reading in best_readings if reading.score != GUESS_SCORE]
        written = candidates_once(likeliest)
        decision = self._choice.decide(likeliest, grammar_request, best_readings, written)
        expected = self._choice.ask_if_unexpected(likeliest, with_negation(likeliest, decision), written)
        whole = with_described_sets(likeliest, with_dropped_value(likeliest, expected, written))
        complete = with_every_condition(likeliest, about_whole_vault(likeliest, whole))
        complete = with_empty_values(likeliest, complete)
        return without_guessed_note(likeliest, complete)

    def _summary_of_length(self, request: Request, context: RequestContext) -> Interpretation | None:
        """Interpret a request for a summary of a certain length: "summarize it in three lines"; else None.

        The length alone is that of another summary of the notes just summarized.
        """
        length = parse_summary_length(request)
        if length is None:
            return None
        if not length.rest:
            last = context.dialog.last
            return with_summary_length(last, length) if last is not None else None
        rest = self.request_of(length.rest, context)
        words = correct_words(rest, rest.tokens)
        if not any("summarize" in rest.actions_at(words, at) for at in range(len(words))):
            return None
        return with_summary_length(self.interpret(length.rest, context), length)

    def _interpret_objection(self, language: Language, context: RequestContext) -> Interpretation:
        """Interpret "no" without an open question: offer to undo the change just made, if there is one."""
        dialog = context.dialog
        if not dialog.made or "undo" not in context.allowed:
            return Reply("cancelled")
        return self._chooser.confirm(Reading((dialog.undo_of_request,), 1.0, language=language.code))

    def request_of(self, text: str, context: RequestContext) -> Request:
        """Return `text` as a request in its likeliest language."""
        return with_listed(self._parser.likeliest_request(text, context))

    def has_pronoun(self, text: str) -> bool:
        """Return whether a request has a pronoun for a note, such as "it" or "that note"."""
        return self._parser.has_pronoun(text)

    def language_of(self, text: str, dialog: DialogState) -> Language:
        """Return the language that knows the largest share of a request's words, or that of the dialog."""
        return self._parser.language_of(text, dialog)


def _searches_for_words_of(language: Language, reading: Reading) -> bool:
    """Return whether a reading searches for function words of a language: "without", "a"."""
    targets = [step.target for step in reading.steps if step.target is not None]
    searched = {word.strip("-").casefold() for target in targets for word in bare_words(target.query)}
    return not searched.isdisjoint(language.function_words())

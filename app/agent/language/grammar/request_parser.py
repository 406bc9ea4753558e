"""Split the text of a request into tokens, in the languages in which it may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.agent.language.grammar.request import Request, request_tokens
from app.agent.language.meaning.actions import Action
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import ActionFrame, Language
from app.agent.language.words.tokens import Token
from app.agent.language.words.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The context of a request, on which its meaning depends besides its words.

    Args:
        dialog: The state of the conversation.
        vocabulary_in: Returns the vault's vocabulary for a language.
        allowed: The actions that may run, by id.
        now: The time that relative dates refer to.
    """

    dialog: DialogState
    vocabulary_in: Callable[[Language], Vocabulary]
    allowed: Mapping[str, Action]
    now: datetime


class RequestParser:
    """Makes requests of texts.

    Args:
        languages: The languages, default first.
        tool_frames: The frames of the tools' examples, which are in the first language.
    """

    def __init__(self, languages: Sequence[Language], tool_frames: Sequence[ActionFrame]) -> None:
        self.languages = languages
        self._tool_frames = tool_frames

    def requests(self, text: str, context: RequestContext) -> list[Request]:
        """Return a text as a request in each language that knows a word, or else in each; likeliest first."""
        by_likelihood = self._by_likelihood(text, context.dialog)
        known = [pair for pair in by_likelihood if pair[0].coverage(pair[1])] or by_likelihood
        return [self.request(text, language, tokens, context) for language, tokens in known]

    def likeliest_request(self, text: str, context: RequestContext) -> Request:
        """Return a text as a request in its likeliest language."""
        language, tokens = self._by_likelihood(text, context.dialog)[0]
        return self.request(text, language, tokens, context)

    def request(
        self, text: str, language: Language, tokens: tuple[Token, ...], context: RequestContext
    ) -> Request:
        """Return some tokens of a text as a request in a language."""
        vocabulary = context.vocabulary_in(language)
        nouns = language.table("doubts")["templates"]
        vocabulary.hides_templates = not any(token.key in nouns for token in tokens)
        tool_frames = self._tool_frames if language is self.languages[0] else ()
        return Request(
            text,
            language,
            tokens,
            vocabulary,
            DateParser(language, context.now),
            context.dialog,
            context.allowed,
            (*language.frames, *tool_frames),
        )

    def has_pronoun(self, text: str) -> bool:
        """Return whether a request has a pronoun for a note, such as "it" or "that note"."""
        language, tokens = self._by_likelihood(text, DialogState())[0]
        return language.has_phrase(tokens, "it")

    def language_of(self, text: str, dialog: DialogState) -> Language:
        """Return the language that knows the largest share of a request's words, or that of the dialog."""
        return self._by_likelihood(text, dialog)[0][0]

    def is_in_no_language(self, text: str) -> bool:
        """Return whether no language knows a word of a text."""
        by_language = self._by_likelihood(text, DialogState())
        return all(language.coverage(tokens) == 0 for language, tokens in by_language)

    def _by_likelihood(self, text: str, dialog: DialogState) -> list[tuple[Language, tuple[Token, ...]]]:
        """Return the request's tokens in each language, the language that knows the most words first.

        If several languages know as many, the one of the open question or of the last request comes first.
        """
        tokenized = [(language, request_tokens(text, language)) for language in self.languages]
        question = dialog.question
        asked = [option.reading for option in question.options] if question is not None else []
        asked += [question.partial] if question is not None and question.partial is not None else []
        before = asked[0] if asked else dialog.last
        last = before.language if before is not None else ""
        return sorted(tokenized, key=lambda pair: (-pair[0].coverage(pair[1]), pair[0].code != last))

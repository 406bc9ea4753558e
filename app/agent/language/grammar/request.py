"""A request in one language, with the parsers for its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.agent.language.grammar.frames import FrameParser
from app.agent.language.grammar.mentions import EntityMention, MentionFinder
from app.agent.language.grammar.note_sets import NoteSetParser
from app.agent.language.meaning.actions import Action
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import Reading
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import ActionFrame, Language
from app.agent.language.words.tokens import Token, tokenize
from app.agent.language.words.vocabulary import Vocabulary

_MAX_CONTINUATION_WORDS = 6
_DAY_OR_NUMBER = re.compile(r"\d{1,2}\.\d{1,2}\.")
_SENTENCE_END = re.compile(r"\s*(?:$|\s[A-Z])")


@dataclass(frozen=True, slots=True)
class Request:
    """A request in one language.

    Args:
        text: The request.
        language: The language in which it is read.
        tokens: Its tokens.
        vocabulary: The names in the vault.
        dates: The parser for its dates.
        dialog: The state of the conversation.
        allowed: The actions that may run, by id.
        frames: The phrasings of the actions in the language.
        needs_confirmation: Whether the agent asks before any change, for example because the request asks a
            question.
    """

    text: str
    language: Language
    tokens: tuple[Token, ...]
    vocabulary: Vocabulary
    dates: DateParser
    dialog: DialogState
    allowed: Mapping[str, Action]
    frames: tuple[ActionFrame, ...]
    needs_confirmation: bool = False
    _mentions: dict[tuple[Token, ...], tuple[EntityMention, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _set_parsers: dict[bool, NoteSetParser] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def set_parser(self, *, follows: bool = False) -> NoteSetParser:
        """Return a parser for noun phrases; `follows` is True after a step whose notes "these" refers to."""
        if follows not in self._set_parsers:
            self._set_parsers[follows] = NoteSetParser(
                self.text, self.language, self.vocabulary, self.dates, self.dialog, follows
            )
        return self._set_parsers[follows]

    def frame_parser(self, *, follows: bool) -> FrameParser:
        """Return a parser for clauses; `follows` is True after a step whose notes "these" refers to."""
        sets = self.set_parser(follows=follows)
        return FrameParser(self.text, self.language, self.vocabulary, sets, self.allowed, self.frames)

    def actions_at(self, tokens: Sequence[Token], position: int) -> set[str]:
        """Return the actions with a verb phrase that begins at a token."""
        return {
            frame.action
            for frame in self.frames
            if not frame.by_relation and any(phrase.longest_match(tokens, position) for phrase in frame.say)
        }

    def has_action_at(self, action: str, tokens: Sequence[Token], position: int) -> bool:
        """Return whether a verb phrase of this action begins at a token."""
        return any(
            frame.action == action
            and not frame.by_relation
            and any(phrase.longest_match(tokens, position) for phrase in frame.say)
            for frame in self.frames
        )

    def mentions(self, tokens: Sequence[Token]) -> tuple[EntityMention, ...]:
        """Split some of the request's tokens into mentions and other words, without punctuation."""
        key = tuple(tokens)
        if key not in self._mentions:
            finder = MentionFinder(
                self.text, key, self.language, self.vocabulary, self.set_parser(), self.dates
            )
            self._mentions[key] = finder.find()
        return self._mentions[key]

    @property
    def continues_list(self) -> bool:
        """True for a short request that follows a list and contains no word for notes: "the oldest?"."""
        words = [token.key for token in self.tokens if token.is_word]
        nouns = self.language.words("note_nouns") - self.language.words("result_pronouns")
        starts_anew = nouns | self.language.words("universal")
        return (
            (len(self.dialog.them) > 1 or self._follows_superlative or self._follows_empty_list)
            and len(words) <= _MAX_CONTINUATION_WORDS
            and not starts_anew.intersection(words)
        )

    @property
    def _follows_empty_list(self) -> bool:
        """True if the search of the last request found nothing."""
        return self.dialog.has_search and not self.dialog.results and not self.dialog.attached

    @property
    def _follows_superlative(self) -> bool:
        """True if the last request selected one note of an ordered set: "the shortest"."""
        target = self.dialog.last.last.target if self.dialog.last is not None else None
        return (
            self.dialog.has_search
            and target is not None
            and bool(target.order)
            and target.limit in (1, -1)
            and len(target.notes) != 1
        )

    def is_marked(self, text: str) -> bool:
        """Return whether a text is a quoted one, or a link or tag, of the request."""
        return any(not token.is_word and token.value == text for token in self.tokens)

    def writes(self, reading: Reading) -> bool:
        """Return whether a reading changes something, or has an action that is no longer allowed."""
        return any(writes(self.allowed, step.action) for step in reading.steps)


def writes(allowed: Mapping[str, Action], action: str) -> bool:
    """Return whether an action changes something, or is no longer allowed."""
    return action not in allowed or allowed[action].writes


def request_tokens(text: str, language: Language) -> tuple[Token, ...]:
    """Return the tokens of a request.

    At the end of a sentence, "7.5." is a day only after a word such as "by"; else it is the number 7.5.
    """
    tokens: list[Token] = []
    for token in tokenize(text, language.contractions, language.words("noise")):
        last = tokens[-1].value.casefold() if tokens else ""
        if (
            token.is_word
            and _DAY_OR_NUMBER.fullmatch(token.value)
            and _SENTENCE_END.match(text, token.end)
            and last not in language.table("stated_values")["day_leads"]
        ):
            end, number = token.end - 1, token.value[:-1]
            tokens.append(Token("word", number, number, token.start, end))
            token = Token("mark", ".", ".", end, token.end)
        tokens.append(token)
    return tuple(tokens)


def without_marks_at_end(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens without trailing punctuation."""
    end = len(tokens)
    while end and tokens[end - 1].kind == "mark":
        end -= 1
    return tokens[:end]

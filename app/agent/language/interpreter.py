"""Interpret a request as a pipeline of steps, a question to the user, or work that needs a model.

The request is split into clauses, each clause is parsed as an action on a set of notes, and the reading that
explains the most words wins. A reading that writes but explains too few words is never run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.agent.language.actions import TOOL_PREFIX, Action
from app.agent.language.dates import DateParser
from app.agent.language.dialog import DialogState
from app.agent.language.frames import ClauseReading, FrameParser
from app.agent.language.intent_model import intent_model
from app.agent.language.intent_reading import IntentReader
from app.agent.language.lexicon import ActionFrame, Language
from app.agent.language.mentions import find_mentions
from app.agent.language.notation import serialize
from app.agent.language.note_sets import NoteSetParser, is_search
from app.agent.language.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.tokens import Token, tokenize
from app.agent.language.vocabulary import Vocabulary, correct_spelling
from app.vault.path import NotePath

MIN_READ_SCORE = 0.62
MIN_WRITE_SCORE = 0.8
MIN_CONFIRM_SCORE = 0.6
MAX_RIVAL_GAP = 0.03
MIN_QUESTION_SCORE = 0.85
"""Minimum score of a search for words if the request is a question."""
GUESS_SCORE = 0.63
"""Score of a request without a verb, read as a search for words."""
CORRECTED_WRITE_SCORE = MIN_WRITE_SCORE - 0.01
STRONG = 0.85
"""Minimum score at which the grammar's reading is preferred to the intent model's."""
LEARNED = 0.5
"""Minimum probability at which an action of the intent model is run."""
ASKED_ABOUT = 0.25
"""Minimum probability at which an action of the intent model is offered in a question."""
CONSIDERED = 0.1
CONTRADICTED = 0.6
"""Probability of another action from which the agent asks before a change of the grammar's reading."""
_SPLIT_PENALTY = 0.02
_MAX_CLAUSES = 4
_MAX_OPTIONS = 4

Describe = Callable[[Reading], str]


@dataclass(frozen=True, slots=True)
class _Request:
    """A request in one language, with its parsers."""

    text: str
    language: Language
    tokens: tuple[Token, ...]
    vocabulary: Vocabulary
    dates: DateParser
    dialog: DialogState
    allowed: Mapping[str, Action]
    asks: bool = False
    """True for a question; the agent asks before it changes anything on a question."""


class Interpreter:
    """Interpret requests in several languages.

    Args:
        languages: The languages, default first.
        describe: Describe a reading in a few words, for the answers of a question.
        tool_frames: The frames of the tools' examples, which are in the first language.
    """

    def __init__(
        self, languages: Sequence[Language], describe: Describe, tool_frames: Sequence[ActionFrame] = ()
    ) -> None:
        self._languages = languages
        self._describe = describe
        self._tool_frames = tool_frames

    def interpret(
        self,
        text: str,
        dialog: DialogState,
        vocabulary_in: Callable[[Language], Vocabulary],
        allowed: Mapping[str, Action],
        now: datetime,
    ) -> Interpretation:
        """Return the interpretation of `text`.

        Args:
            text: The request.
            dialog: The state of the conversation.
            vocabulary_in: Return the vault's vocabulary for a language.
            allowed: The allowed actions, by id.
            now: The time that relative dates refer to.
        """
        if dialog.question is not None and (
            answer := self._answer(text, dialog, vocabulary_in, allowed, now)
        ):
            return answer
        best: tuple[float, Interpretation] | None = None
        for language, tokens in self._by_likelihood(text):
            dates = DateParser(language, now)
            request = _Request(text, language, tokens, vocabulary_in(language), dates, dialog, allowed)
            found = self._interpret(request, is_likeliest=best is None)
            if found[0] >= MIN_READ_SCORE:
                return found[1]
            if best is None or found[0] > best[0]:
                best = found
        assert best is not None
        return best[1]

    def _by_likelihood(self, text: str) -> list[tuple[Language, tuple[Token, ...]]]:
        """Return the request's tokens in each language, the language that knows the most words first."""
        found = [
            (language, tokenize(text, language.contractions, language.words("noise")))
            for language in self._languages
        ]
        return sorted(found, key=lambda pair: -pair[0].coverage(pair[1]))

    def _frames_of(self, language: Language) -> tuple[ActionFrame, ...]:
        own = self._tool_frames if language is self._languages[0] else ()
        return (*language.frames, *own)

    # One language

    def _interpret(self, request: _Request, *, is_likeliest: bool) -> tuple[float, Interpretation]:
        language = request.language
        bare = _without_marks_at_end(request.tokens)
        if not bare:
            return 1.0, Reply("", understood=False)
        if reply := self._small_talk(language, bare):
            return 1.05, reply
        if (refined := self._refined(request, bare)) is not None and refined.score >= MIN_READ_SCORE:
            return refined.score, self._decided(request, [refined])
        tokens = self._without_courtesies(language, bare)
        if not tokens:
            return 0.9, Reply("", understood=False)
        if reply := self._small_talk(language, tokens):
            return 1.05, reply
        if (refined := self._refined(request, tokens)) is not None and refined.score >= MIN_READ_SCORE:
            return refined.score, self._decided(request, [refined])
        if reply := self._only_small_talk(language, tokens):
            return 1.0, reply
        first = next((token.key for token in tokens if token.is_word), "")
        plain = self._without_reason(language, tokens)
        # No reading explains the words of a reason.
        request = replace(request, asks=first in language.words("question_words") or plain != tokens)
        tokens = plain
        found = self._readings(request, tokens, follows=False)
        found = [
            reading
            for reading in found
            if all(step.target is None or is_search(step.target.query) for step in reading.steps)
        ]
        asks = tokens[0].key in language.words("asking_words")
        if asks:
            found = [reading for reading in found if not self._writes(request, reading)]
        if not found or found[0].score < MIN_WRITE_SCORE:
            corrected_tokens = self._corrected(request, tokens)
            if corrected_tokens != tokens:
                again = [
                    replace(
                        reading,
                        score=min(reading.score * 0.97, CORRECTED_WRITE_SCORE)
                        if self._writes(request, reading)
                        else reading.score * 0.97,
                    )
                    for reading in self._readings(request, corrected_tokens, follows=False)
                    if not (asks and self._writes(request, reading))
                ]
                found = sorted([*found, *again], key=lambda reading: -reading.score)
        best = found[0].score if found else 0.0
        wants_model = self._wants_model(language, tokens)
        if wants_model and best < 0.97:
            return max(best, 0.85), wants_model
        if (learned := self._learned(request, tokens, found)) is not None:
            return learned
        if self._unsupported(language, tokens) and (best < 0.97 or found[0].last.action == "find"):
            return max(best, 0.85), Reply("unsupported", understood=False)
        if (
            found
            and asks
            and best < MIN_QUESTION_SCORE
            and found[0].steps[0].action == "find"
            and len(found[0].steps) == 1
        ):
            return max(best, 0.7), ContentQuestion(request.text)
        if found and best >= MIN_CONFIRM_SCORE:
            return best, self._decided(request, found)
        if is_likeliest and self._is_question(language, bare) and len(tokens) > 2:
            return max(best, 0.5), ContentQuestion(request.text)
        if is_likeliest and (bare_name := self._bare_name(request, tokens)):
            return bare_name.score, self._decided(request, [bare_name])
        return best, Reply("", understood=False)

    # Intent model

    def _learned(
        self, request: _Request, tokens: tuple[Token, ...], found: list[Reading]
    ) -> tuple[float, Interpretation] | None:
        """Return the intent model's interpretation if the grammar has none or a conflicting one.

        Returns None if the grammar's reading is kept.
        """
        reader, ranked = self._reader(request, tokens, follows=False)
        label, odds = ranked[0]
        best = found[0] if found else None
        stands = (
            best is not None
            and best.score >= STRONG
            and best.certain
            and not best.missing
            and not best.unexplained
        )
        if best is not None and best.last.action.startswith(TOOL_PREFIX) and best.score >= MIN_READ_SCORE:
            return None  # a tool's example that the model does not know
        if stands and best is not None:
            doubtful = self._writes(request, best) and len(best.steps) == 1 and odds >= CONTRADICTED
            if not doubtful or label.partition(".")[0] == best.last.action or _related_label(label, best):
                return None
        if label == "none" and odds >= LEARNED:
            return odds, Reply("unsupported", understood=False)
        if label == "model" and odds >= LEARNED:
            return odds, ModelRequired("This")
        if label == "question" and odds >= LEARNED:
            return odds, ContentQuestion(request.text)
        if label == "open" and request.asks and odds < STRONG:
            return odds, ContentQuestion(request.text)
        candidates: list[Reading] = []
        if (steps := self._by_clauses(request, tokens)) and (
            best is None or len(best.steps) < len(steps.steps)
        ):
            candidates.append(steps)
        for name, share in ranked[:_MAX_OPTIONS]:
            if share >= CONSIDERED and len(candidates) < _MAX_OPTIONS - 1:
                candidates += reader.readings(name, share, request.allowed)
        if (
            best is not None
            and len(best.steps) == 1
            and not _is_clear(best)
            and not best.last.action.startswith("tool")
        ):
            # The grammar knows the verb but finds too many words in place of a name.
            again = [
                reading
                for reading in reader.readings(best.last.action, best.score, request.allowed)
                if _is_clear(reading)
            ]
            if again and not self._writes(request, again[0]):
                return best.score, again[0]
            candidates = [*again, *candidates]
        searches = best is not None and not best.certain and best.last.action in ("find", "count")
        if searches and best is not None and len(best.steps) == 1 and best.score >= MIN_CONFIRM_SCORE:
            # The grammar's search words may not be topics: omit them.
            again = reader.readings(best.last.action, best.score, request.allowed)
            if again and (label in ("find", "count") or not candidates or candidates[0].score < ASKED_ABOUT):
                return best.score, again[0]
        if not candidates:
            return None
        first = candidates[0]
        if (
            best is not None
            and best.score >= MIN_READ_SCORE
            and best.last.action == first.last.action
            and best.certain
        ):
            return None
        if first.score >= LEARNED and not self._writes(request, first) and _is_clear(first):
            return first.score, first
        if first.score < ASKED_ABOUT:
            return None
        if best is not None and best.score >= MIN_CONFIRM_SCORE and not best.missing:
            candidates.insert(1, best)
        return max(first.score, MIN_READ_SCORE), self._choice(request, candidates)

    def _reader(
        self, request: _Request, tokens: tuple[Token, ...], *, follows: bool
    ) -> tuple[IntentReader, list[tuple[str, float]]]:
        """Return the reader that fills the roles, and the actions by probability."""
        language = request.language
        sets = NoteSetParser(
            request.text, language, request.vocabulary, request.dates, request.dialog, follows
        )
        mentions = find_mentions(request.text, tokens, language, request.vocabulary, sets, request.dates)
        model = intent_model()
        reader = IntentReader(request.text, tokens, mentions, language, sets, request.dialog, model.words)
        return reader, model.rank(mentions)

    def _by_clauses(self, request: _Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Return the steps of a request, clause by clause; None if a clause is unclear."""
        language = request.language
        clauses: list[list[Token]] = [[]]
        position = 0
        while position < len(tokens):
            after = max(
                language.match_prefix(tokens, position, "then"),
                language.match_prefix(tokens, position, "and"),
            )
            ends = tokens[position].kind == "mark" and tokens[position].key in (",", ";", ".", "!", "?")
            joined = after > position and after < len(tokens) and tokens[after].key in language.verbs()
            if (ends or joined) and clauses[-1]:
                clauses.append([])
            if ends or joined:
                position = max(after, position + 1)
                continue
            clauses[-1].append(tokens[position])
            position += 1
        parts = [self._without_courtesies(language, tuple(part)) for part in clauses if part]
        parts = [part for part in parts if part]
        if not 2 <= len(parts) <= _MAX_CLAUSES:
            return None
        steps: list[PipelineStep] = []
        score = 1.0
        for part in parts:
            read = self._clause(request, part, follows=bool(steps))
            if read is None:
                return None
            steps += read.steps
            score = min(score, read.score)
        return Reading(tuple(steps), score, language=language.code, certain=False)

    def _clause(self, request: _Request, tokens: tuple[Token, ...], *, follows: bool) -> Reading | None:
        """Parse one clause with the grammar, or else with the intent model."""
        grammar = [
            _to_reading(clause, request.language)
            for clause in self._frames(request, follows).readings(tokens)
        ][:1]
        if grammar and grammar[0].score >= STRONG and not grammar[0].missing and not grammar[0].unexplained:
            return grammar[0]
        reader, ranked = self._reader(request, tokens, follows=follows)
        found = reader.readings(*ranked[0], request.allowed) if ranked[0][1] >= LEARNED else []
        found = [reading for reading in found if _is_clear(reading)]
        return found[0] if found else None

    def _choice(self, request: _Request, readings: Sequence[Reading]) -> Interpretation:
        """Ask which of some readings is meant."""
        if question := self._name_question(request, readings[0]):
            return question
        options: dict[str, ClarificationOption] = {}
        for reading in readings:
            if not any(step.target and step.target.unknown for step in reading.steps):
                label = self._describe(reading)
                options.setdefault(label, ClarificationOption(label, reading))
        shown = tuple(options.values())[:_MAX_OPTIONS]
        return Clarification("Is this what you mean?" if len(shown) == 1 else "What do you mean?", shown)

    def _small_talk(self, language: Language, tokens: Sequence[Token]) -> Interpretation | None:
        if language.matches_phrase(tokens, "small_talk", "help"):
            return Reading((PipelineStep("help"),), 1.0, language=language.code)
        for kind in ("greeting", "thanks", "cancelled"):
            if language.matches_phrase(tokens, "small_talk", kind):
                return Reply(kind)
        return None

    def _only_small_talk(self, language: Language, tokens: Sequence[Token]) -> Interpretation | None:
        """Parse several small-talk phrases in a row: "thanks, that was all"."""
        clauses: list[list[Token]] = [[]]
        for token in tokens:
            if token.kind == "mark":
                clauses.append([])
            else:
                clauses[-1].append(token)
        replies = [self._small_talk(language, clause) for clause in clauses if clause]
        return replies[0] if len(replies) > 1 and all(isinstance(reply, Reply) for reply in replies) else None

    def _without_reason(self, language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """Return the tokens without a final clause that gives a reason: ", it is a guess"."""
        for position in range(1, len(tokens) - 1):
            if (
                tokens[position].kind == "mark"
                and language.match_prefix(tokens, position + 1, "reasons") > position + 1
            ):
                return tokens[:position]
        return tokens

    def _without_courtesies(self, language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        phrases = language.phrases("courtesies")
        position, end = 0, len(tokens)
        while position < end:
            if tokens[position].kind == "mark":
                position += 1
                continue
            after = max(
                (m.end for p in phrases if (m := p.longest_match(tokens, position))), default=position
            )
            if after == position or after >= end:
                break
            position = after
        changed = True
        while changed and end > position:
            changed = False
            if tokens[end - 1].kind == "mark":
                end, changed = end - 1, True
                continue
            for start in range(max(position + 1, end - 5), end):
                if any(phrase.matches_all(tokens[start:end]) for phrase in phrases) and tokens[
                    start
                ].key not in (
                    "then",
                    "again",
                    "first",
                    "next",
                ):
                    end, changed = start, True
                    break
        return tokens[position:end]

    def _corrected(self, request: _Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """Return the tokens with misspelled words of the language corrected; keep names of notes."""
        known = request.language.vocabulary()
        corrected: list[Token] = []
        for token in tokens:
            right = None
            if token.is_word and token.key not in known and not request.vocabulary.notes(token.value):
                right = correct_spelling(token.key, known, request.language.data.get("endings", ()))
            corrected.append(replace(token, key=right) if right else token)
        return tuple(corrected)

    @staticmethod
    def _writes(request: _Request, reading: Reading) -> bool:
        return any(request.allowed[step.action].writes for step in reading.steps)

    # Clauses

    def _readings(
        self, request: _Request, tokens: tuple[Token, ...], *, follows: bool, depth: int = 0
    ) -> list[Reading]:
        """Return the readings of the tokens as one or several steps, best first."""
        tokens = self._without_courtesies(request.language, tokens)
        if not tokens:
            return []
        frames = self._frames(request, follows)
        unsplit = [_to_reading(clause, request.language) for clause in frames.readings(tokens)]
        found = unsplit[:6]
        if not follows and (phrase := self._noun_phrase(request, tokens)):
            found.append(phrase)
        if depth < _MAX_CLAUSES:
            for first, second in self._cuts(request, frames, tokens):
                heads = [
                    _to_reading(clause, request.language)
                    for clause in frames.readings(self._without_courtesies(request.language, first))
                ][:2]
                if not heads or heads[0].score < MIN_CONFIRM_SCORE or heads[0].missing:
                    continue
                tails = self._readings(request, second, follows=True, depth=depth + 1)
                for head in heads[:1]:
                    for tail in tails[:2]:
                        found.append(_join_readings(head, tail))
        return sorted(found, key=lambda reading: -reading.score)

    def _noun_phrase(self, request: _Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Parse a request without a verb, such as "notes tagged core", as a search for these notes."""
        if "find" not in request.allowed:
            return None
        sets = NoteSetParser(
            request.text, request.language, request.vocabulary, request.dates, request.dialog
        )
        parsed = sets.parse(tokens)
        if parsed is None or parsed.notes.notes or parsed.notes.unknown or not parsed.has_head:
            return None
        if tokens[0].key in request.language.verbs() and parsed.has_bare_topic:
            return None
        if parsed.notes.is_everything and not parsed.notes.order:
            return None
        return Reading(
            (PipelineStep("find", parsed.notes),),
            parsed.fit - 0.03,
            parsed.unexplained,
            language=request.language.code,
        )

    def _frames(self, request: _Request, follows: bool) -> FrameParser:
        sets = NoteSetParser(
            request.text, request.language, request.vocabulary, request.dates, request.dialog, follows
        )
        return FrameParser(
            request.text,
            request.language,
            request.vocabulary,
            sets,
            request.allowed,
            self._frames_of(request.language),
        )

    def _cuts(
        self, request: _Request, frames: FrameParser, tokens: tuple[Token, ...]
    ) -> Iterable[tuple[tuple[Token, ...], tuple[Token, ...]]]:
        """Return the positions where one clause may end and the next may begin."""
        language = request.language
        for position in range(1, len(tokens)):
            after = max(
                language.match_prefix(tokens, position, "then"),
                language.match_prefix(tokens, position, "and"),
            )
            if tokens[position].kind == "mark" and tokens[position].key in (",", ";", ".", "!", "?"):
                after = max(after, position + 1)
                after = max(
                    after,
                    language.match_prefix(tokens, after, "then"),
                    language.match_prefix(tokens, after, "and"),
                )
            if after == position or after >= len(tokens):
                continue
            rest = self._without_courtesies(language, tokens[after:])
            if rest and frames.has_trigger(rest, 0):
                yield tokens[:position], tokens[after:]

    # Choice of a reading

    def _decided(self, request: _Request, found: list[Reading]) -> Interpretation:
        """Return the reading to run, or the question to ask."""
        best = found[0]
        rivals = [
            rival
            for rival in found[1:8]
            if best.score - rival.score < MAX_RIVAL_GAP
            and not rival.missing
            and not rival.same_meaning(best)
            and _is_alternative(request, rival, best)
            and not _is_same_change(rival, best)
            and rival.verb_words >= best.verb_words
        ]
        if question := self._name_question(request, best):
            return question
        if best.missing:
            return Clarification(_question_for(best), (), best)
        writes = self._writes(request, best)
        if any(
            request.allowed[step.action].writes and step.target and step.target.is_everything
            for step in best.steps
        ):
            every = "This would change every note in the vault. Is this what you mean?"
            return Clarification(every, (ClarificationOption(self._describe(best), best),))
        if rivals and not best.missing and (writes or any(self._writes(request, rival) for rival in rivals)):
            options = [ClarificationOption(self._describe(reading), reading) for reading in (best, *rivals)][
                :_MAX_OPTIONS
            ]
            if len({option.label for option in options}) > 1:
                return Clarification("What do you mean?", tuple(options))
        if writes and (
            best.score < MIN_WRITE_SCORE
            or best.unexplained
            or not best.certain
            or request.asks
            or not self._accounts_for_all(request, best)
        ):
            return Clarification("Is this what you mean?", (ClarificationOption(self._describe(best), best),))
        if best.score < MIN_READ_SCORE:
            return Clarification("Is this what you mean?", (ClarificationOption(self._describe(best), best),))
        return best

    def _accounts_for_all(self, request: _Request, reading: Reading) -> bool:
        """Return whether the reading contains every mention and every unknown word of the request.

        The check uses only the finished reading. A change that fails it needs a question first.
        """
        if all(step.action.startswith(TOOL_PREFIX) for step in reading.steps):
            return True  # an example of a tool is a whole request
        language = request.language
        serialized = serialize(reading).casefold()
        if any(_SEPARATOR.search(text) for text in _bare_values(request, reading)):
            return False
        known = language.vocabulary() | language.all_words()
        sets = NoteSetParser(request.text, language, request.vocabulary, request.dates, request.dialog)
        notes = {path for note_set in sets_of(reading) for path in note_set.notes}
        for mention in find_mentions(
            request.text, request.tokens, language, request.vocabulary, sets, request.dates
        ):
            words = [token.value.casefold() for token in mention.tokens]
            if all(word in serialized for word in words) or all(
                token.key in known for token in mention.tokens
            ):
                continue
            named = mention.notes.notes if mention.notes is not None else ()
            if (named and set(named) <= notes) or (mention.value and mention.value.casefold() in serialized):
                continue
            if mention.kind in ("date", "rel", "num", "prop"):
                continue  # written in another form: a fraction for a percentage, a day for "yesterday"
            return False
        return True

    def _name_question(self, request: _Request, reading: Reading) -> Clarification | None:
        """Ask which note is meant if a name fits several notes or none."""
        for index, step in enumerate(reading.steps):
            for role, notes in (("target", step.target), *step.arguments.items()):
                if not isinstance(notes, NoteSet) or not notes.unknown:
                    continue
                options = []
                for path in notes.candidates:
                    chosen = NoteSet(notes=(path,))
                    meant = (
                        replace(step, target=chosen) if role == "target" else step.with_argument(role, chosen)
                    )
                    resolved = replace(
                        reading, steps=(*reading.steps[:index], meant, *reading.steps[index + 1 :])
                    )
                    options.append(ClarificationOption(path, resolved))
                if not notes.unknown.strip():
                    cleared = replace(step, target=None) if role == "target" else step
                    partial = replace(
                        reading,
                        steps=(*reading.steps[:index], cleared, *reading.steps[index + 1 :]),
                        missing=role,
                    )
                    return Clarification("Which note?", (), partial)
                if options:
                    several = len(request.vocabulary.notes(notes.unknown)) > 1
                    question = (
                        f"Several notes are named “{notes.unknown}”. Which one?"
                        if several
                        else f"No note is named “{notes.unknown}”. Did you mean one of these?"
                    )
                    return Clarification(question, tuple(options), replace(reading, missing=role))
                return Clarification(
                    f"No note is named “{notes.unknown}”. Which note do you mean?",
                    (),
                    replace(
                        reading,
                        steps=(
                            *reading.steps[:index],
                            replace(step, target=None) if role == "target" else step,
                            *reading.steps[index + 1 :],
                        ),
                        missing=role,
                    ),
                )
        return None

    def _bare_name(self, request: _Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Interpret a request that is only a name or a condition: open the note, or find the notes."""
        sets = NoteSetParser(
            request.text, request.language, request.vocabulary, request.dates, request.dialog
        )
        named = sets.parse_reference(tokens) or sets.find_named(tokens)
        if "open" in request.allowed and named and len(named.notes.notes) == 1:
            return Reading((PipelineStep("open", named.notes),), 0.8, language=request.language.code)
        if "find" not in request.allowed or len(tokens) > 4:
            return None
        parsed = sets.parse(tokens)
        if parsed and not parsed.notes.unknown and parsed.fit >= 0.55 and parsed.notes.query:
            return Reading((PipelineStep("find", parsed.notes),), GUESS_SCORE, language=request.language.code)
        known = request.language.vocabulary() - request.language.words("note_nouns")
        if len(tokens) <= 2 and all(token.is_word and token.key not in known for token in tokens):
            return Reading(
                (PipelineStep("find", NoteSet(query=" ".join(t.value for t in tokens))),),
                0.63,
                language=request.language.code,
            )
        return None

    # Requests that need a model or are impossible

    def _wants_model(self, language: Language, tokens: Sequence[Token]) -> ModelRequired | None:
        for work in language.model_work:
            phrases = work.say
            if any(
                phrase.longest_match(tokens, position)
                for position in range(min(3, len(tokens)))
                for phrase in phrases
            ):
                return ModelRequired(work.work)
        return None

    def _unsupported(self, language: Language, tokens: Sequence[Token]) -> bool:
        return any(phrase.longest_match(tokens, 0) for phrase in language.phrases("unsupported")) or any(
            phrase.longest_match(tokens, position)
            for position in range(len(tokens))
            for phrase in language.phrases("unsupported_anywhere")
        )

    def _is_question(self, language: Language, tokens: Sequence[Token]) -> bool:
        first = next((token for token in tokens if token.is_word), None)
        asks = any(token.kind == "mark" and "?" in token.key for token in tokens)
        return asks or (first is not None and first.key in language.words("question_words"))

    # Follow-ups

    def _refined(self, request: _Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Interpret a change to the previous request: "only the ones tagged core", "no, octant instead"."""
        last = request.dialog.last
        if last is None or request.dialog.question is not None:
            return None
        language = request.language
        sets = NoteSetParser(request.text, language, request.vocabulary, request.dates, request.dialog)
        step = last.last
        finds = step.action in ("find", "count") and step.target is not None
        for kind in ("only", "also", "without"):
            after = language.match_prefix(tokens, 0, "refine", kind)
            if not finds or after == 0 or after >= len(tokens):
                continue
            parsed = sets.parse(tokens[after:])
            if parsed is None or parsed.notes.unknown or not parsed.notes.query or parsed.unexplained:
                continue
            if kind == "also" and not parsed.has_head:
                continue
            assert step.target is not None
            query = parsed.notes.query
            if kind == "only":
                notes = step.target.with_query(query)
            elif kind == "also":
                notes = step.target.or_query(query)
            else:
                notes = step.target.with_query(f"-({query})" if " " in query else f"-{query}")
            return Reading((replace(step, target=notes),), 0.9, language=language.code)
        return (
            self._same_again(request, tokens, sets, step)
            or self._instead(request, tokens, sets, step)
            or self._on_others(request, tokens, sets, step)
        )

    def _on_others(
        self, request: _Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
    ) -> Reading | None:
        """Repeat the last action on other notes ("same tag for H4 and K1") or revert it ("not K1")."""
        language = request.language
        if step.target is None or not request.allowed[step.action].writes:
            return None
        mentions = find_mentions(request.text, tokens, language, request.vocabulary, sets, request.dates)
        notes = [
            mention
            for mention in mentions
            if mention.kind == "note" and mention.notes is not None and mention.notes.notes
        ]
        words = [mention.tokens[0] for mention in mentions if mention.kind == "word"]
        if not notes or len(notes) + len(words) != len(mentions):
            return None
        paths = tuple(
            dict.fromkeys(path for mention in notes if mention.notes for path in mention.notes.notes)
        )
        certain = not any(mention.is_near for mention in notes)
        target = NoteSet(notes=paths)
        if all(token.key in language.words("same_again") for token in words):
            again = replace(step, target=target)
            return Reading((again,), 0.9, language=language.code, certain=certain)
        opposite = _OPPOSITES.get(step.action)
        if opposite and words and all(token.key in language.words("not_that") for token in words):
            undone = PipelineStep(opposite, target, step.arguments)
            return Reading((undone,), 0.9, language=language.code, certain=certain)
        return None

    def _same_again(
        self, request: _Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
    ) -> Reading | None:
        """Repeat the last action on another note: "and to K1", "what about H2?", "H2 as well"."""
        after = request.language.match_prefix(tokens, 0, "refine", "same")
        end = len(tokens)
        for start in range(max(1, end - 2), end):
            if request.language.matches_phrase(tokens[start:end], "refine", "also") or (
                request.language.matches_phrase(tokens[start:end], "courtesies") and after == 0
            ):
                end = start
                break
        if step.target is None or (after == 0 and end == len(tokens)) or after >= end:
            return None
        named = sets.find_named(tokens[after:end])
        if named is None or len(named.notes.notes) != 1:
            return None
        if step.target.notes:
            meant = replace(step, target=named.notes)
            words = [token for token in (*tokens[:after], *tokens[end:]) if token.kind != "mark"]
            again = request.language.words("same_again")
            certain = all(token.key in again for token in words)
            return Reading((meant,), 0.9, language=request.language.code, certain=certain)
        name = NotePath.on_disk(named.notes.notes[0]).stem_path
        query = re.sub(r"((?:links-to|linked-from):)(?:\"[^\"]*\"|\S+)", rf'\1"{name}"', step.target.query)
        if query == step.target.query:
            return None
        return Reading(
            (replace(step, target=replace(step.target, query=query)),), 0.9, language=request.language.code
        )

    def _instead(
        self, request: _Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
    ) -> Reading | None:
        language = request.language
        position, end, is_cued = 0, len(tokens), False
        after = language.match_prefix(tokens, 0, "refine", "instead")
        if after > position:
            position, is_cued = after, True
        for start in range(max(0, end - 3), end):
            if start > position and any(
                p.matches_all(tokens[start:end]) for p in language.phrases("refine", "instead")
            ):
                end, is_cued = start, True
                break
        while position < end and tokens[position].kind == "mark":
            position += 1
        rest = _without_marks_at_end(tokens[position:end])
        if not is_cued or not rest or step.target is None or len(rest) > 8:
            return None
        named = sets.find_named(rest)
        if named and named.notes.notes and step.target.notes:
            # The previous change is kept, so ask whether to make it here as well.
            meant = replace(step, target=named.notes)
            return Reading((meant,), 0.92, language=language.code, certain=False)
        if step.action in ("find", "count"):
            parsed = sets.parse(rest)
            if parsed and not parsed.notes.notes and not parsed.notes.unknown and parsed.fit >= 0.55:
                return Reading((replace(step, target=parsed.notes),), 0.9, language=language.code)
            if parsed and (parsed.notes.unknown or parsed.notes.notes):
                words = " ".join(token.value for token in rest)
                return Reading((replace(step, target=NoteSet(query=words)),), 0.85, language=language.code)
        return None

    # Answers to a question

    def _answer(
        self,
        text: str,
        dialog: DialogState,
        vocabulary_in: Callable[[Language], Vocabulary],
        allowed: Mapping[str, Action],
        now: datetime,
    ) -> Interpretation | None:
        """Interpret `text` as the answer to the open question; None if it is a new request."""
        question = dialog.question
        assert question is not None
        wanted = " ".join(text.split()).strip(" .!?").casefold()
        for option in question.options:
            if wanted in (option.label.casefold(), option.label.casefold().removesuffix(".md")):
                return option.reading
        for language in self._languages:
            tokens = _without_marks_at_end(tokenize(text, language.contractions, language.words("noise")))
            if not tokens:
                continue
            if language.matches_phrase(tokens, "refine", "no"):
                return Reply("cancelled")
            if question.options and language.matches_phrase(tokens, "refine", "yes"):
                return question.options[0].reading
            if (
                question.options
                and (index := _parse_ordinal(language, tokens, len(question.options))) is not None
            ):
                return question.options[index].reading
        if question.partial is None or not question.partial.missing:
            return None
        plain = replace(dialog, question=None)
        for language in self._languages:
            request = _Request(
                text,
                language,
                tokenize(text, language.contractions, language.words("noise")),
                vocabulary_in(language),
                DateParser(language, now),
                plain,
                allowed,
            )
            fresh = self._readings(
                request,
                self._without_courtesies(language, _without_marks_at_end(request.tokens)),
                follows=False,
            )
            begins = request.tokens[0].key in language.verbs() if request.tokens else False
            if fresh and (
                (fresh[0].score >= 0.95 and not fresh[0].missing and not fresh[0].unexplained)
                or (begins and fresh[0].score >= MIN_CONFIRM_SCORE)
            ):
                return None
            if (filled := self._filled(request, question.partial)) is not None:
                return self._decided(request, [filled])
        return None

    def _filled(self, request: _Request, partial: Reading) -> Reading | None:
        """Return the reading with the request's text as the value of the missing role."""
        step, role = partial.last, partial.missing
        frame = next(
            candidate for candidate in self._frames_of(request.language) if candidate.action == step.action
        )
        frames = self._frames(request, follows=len(partial.steps) > 1)
        tokens = _without_marks_at_end(request.tokens)
        bound = frames.fill(request.allowed[step.action], frame, role, tokens)
        if bound is None:
            return None
        values = dict(bound)
        target = values.pop("target", step.target)
        merged = PipelineStep(
            step.action, target if isinstance(target, NoteSet) else None, {**step.arguments, **values}
        )
        missing = next(
            (
                need
                for need in request.allowed[step.action].needs
                if (merged.target is None if need == "target" else need not in merged.arguments)
            ),
            "",
        )
        return Reading((*partial.steps[:-1], merged), 0.95, (), missing, request.language.code)


def _parse_ordinal(language: Language, tokens: Sequence[Token], count: int) -> int | None:
    """Return the index that an answer such as "the second one" or "2" names."""
    table = language.table("ordinals")
    words = [token for token in tokens if token.kind != "mark"]
    named = [table[token.key] for token in words if token.key in table]
    if len(named) == 1 and len(words) <= 4:
        ordinal = int(named[0])
        return count - 1 if ordinal == -1 else ordinal - 1 if ordinal <= count else None
    if len(words) == 1 and words[0].value.isdecimal() and 1 <= int(words[0].value) <= count:
        return int(words[0].value) - 1
    return None


def _to_reading(clause: ClauseReading, language: Language) -> Reading:
    missing = clause.missing[0] if clause.missing else ""
    return Reading(
        (clause.step,),
        clause.score,
        clause.unexplained,
        missing,
        language.code,
        clause.trigger,
        clause.certain,
    )


def _join_readings(head: Reading, tail: Reading) -> Reading:
    """Join two readings; "it" in the second refers to the notes of the first."""
    # After a step without notes (a renamed tag), "it" refers to no note.
    refers = tail.steps[0].target is not None and bool(tail.steps[0].target.source)
    has_notes = head.last.target is not None or head.last.action == "create_note"
    score = (head.score * 0.5 + tail.score * 0.5 + min(head.score, tail.score)) / 2 - _SPLIT_PENALTY
    return Reading(
        (*head.steps, *tail.steps),
        score,
        (*head.unexplained, *tail.unexplained),
        tail.missing,
        head.language,
        head.verb_words + tail.verb_words,
        head.certain and tail.certain and (has_notes or not refers),
    )


_SEPARATOR = re.compile(r"[;!?]|[.,]\s")
_NAME_ROLES = ("name", "new_name", "folder", "new_tag")


def _bare_values(request: _Request, reading: Reading) -> list[str]:
    """Return the names in a reading that are not quoted in the request."""
    values = [
        str(name)
        for step in reading.steps
        for role in _NAME_ROLES
        for name in _as_tuple(step.arguments.get(role, ()))
    ]
    in_quotes = {token.value for token in request.tokens if token.kind in ("quoted", "link")}
    return [name for name in values if name not in in_quotes]


def _as_tuple(value: object) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)


def sets_of(reading: Reading) -> list[NoteSet]:
    """Yield every set of notes in a reading."""
    return [
        notes
        for step in reading.steps
        for notes in (step.target, *step.arguments.values())
        if isinstance(notes, NoteSet)
    ]


_OPPOSITES = {"add_tag": "remove_tag", "remove_tag": "add_tag"}
_FAMILIES = (
    frozenset(("set_type", "set_property", "set_confidence")),
    frozenset(("remove_all_tags", "remove_tag", "remove_property")),
    frozenset(("remove_text", "delete")),
)


def _related_label(label: str, best: Reading) -> bool:
    """Return whether a predicted action is equivalent to the parsed one."""
    pair = {label.partition(".")[0], best.last.action}
    return any(pair <= family for family in _FAMILIES) or label in ("none", "ask", "question", "model")


def _is_clear(reading: Reading) -> bool:
    """Return whether every note of a reading is resolved."""
    return not any(
        notes.unknown
        for step in reading.steps
        for notes in (step.target, *step.arguments.values())
        if isinstance(notes, NoteSet)
    )


def _is_same_change(reading: Reading, best: Reading) -> bool:
    """Return whether two readings describe the same change; the better explained one then wins."""
    if len(reading.steps) != len(best.steps) and reading.steps[0].action == best.steps[0].action:
        return True  # "create X and tag it Y" as one step or as two
    pair = {reading.last.action, best.last.action}
    return len(pair) == 2 and any(pair <= family for family in _FAMILIES)


def _is_alternative(request: _Request, other: Reading, best: Reading) -> bool:
    """Return whether two readings are alternatives; different views of the same notes are not."""
    kinds = [
        tuple(request.allowed[step.action].writes for step in reading.steps) for reading in (other, best)
    ]
    return any(kinds[0]) or any(kinds[1])


_QUESTIONS = {
    "target": "Which note?",
    "other": "Which note should be merged into it?",
    "to": "Which note should it be linked to?",
    "name": "What should the new note be called?",
    "new_name": "What should it be called?",
    "tag": "Which tag?",
    "new_tag": "What should the tag be called?",
    "folder": "Which folder?",
    "text": "Which text?",
    "old": "Which words?",
    "heading": "Under which heading?",
    "key": "Which property?",
    "value": "Which value?",
    "type": "Which type?",
    "confidence": "Which confidence, from 0 to 1?",
    "query": "What are you looking for?",
}


def _question_for(reading: Reading) -> str:
    return _QUESTIONS.get(reading.missing, "What do you mean?")


def _without_marks_at_end(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    end = len(tokens)
    while end and tokens[end - 1].kind == "mark":
        end -= 1
    return tokens[:end]

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
from app.agent.language.content_questions import as_content_question, asking_language
from app.agent.language.dates import DateParser
from app.agent.language.dialog import DialogState
from app.agent.language.frames import ClauseReading, FrameParser
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
from app.agent.language.role_reading import RoleReader, normalized, split_clauses
from app.agent.language.span_model import span_model
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
CONSIDERED = 0.04
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
            if best is None:
                likeliest = request
            if best is None or found[0] > best[0]:
                best = found
            if found[0] >= MIN_READ_SCORE:
                best = found
                break
        assert best is not None
        if dialog.question is not None or asking_language(text, self._languages) is None:
            return best[1]
        odds = dict(self._role_reader(likeliest, likeliest.tokens, follows=False).ranked())
        return as_content_question(best[1], text, self._languages, odds)

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

    # Words by role

    def _learned(
        self, request: _Request, tokens: tuple[Token, ...], found: list[Reading]
    ) -> tuple[float, Interpretation] | None:
        """Return the interpretation if the grammar has none, or one that the learned readers doubt.

        Returns None if the grammar's reading is kept.
        """
        best = found[0] if found else None
        if best is not None and best.last.action.startswith(TOOL_PREFIX) and best.score >= MIN_READ_SCORE:
            return None  # a tool's example that the models do not know
        reader = self._role_reader(request, tokens, follows=False)
        ranked = reader.ranked()
        label, odds = ranked[0]
        roles = reader.readings()
        if (steps := self._by_clauses(request, tokens)) is not None:
            roles.insert(0, steps)
        if tokens[0].key in request.language.words("asking_words"):
            roles = [reading for reading in roles if not self._writes(request, reading)]
        stands = (
            best is not None
            and best.score >= STRONG
            and best.certain
            and not best.missing
            and not best.unexplained
        )
        agreed = best is not None and any(_means_same(best, reading) for reading in roles)
        if best is not None and (cleaner := _without_common_words(best, roles)) is not None:
            return max(best.score, MIN_READ_SCORE), cleaner
        if stands and best is not None:
            if agreed or (not self._writes(request, best) and not _is_doubted(best, label, odds)):
                return None
            same = [reading for reading in roles if reading.steps[0].action == best.steps[0].action]
            actions = [step.action for step in best.steps]
            stands = self._writes(request, best)
            if len(actions) > 1 and label.partition(".")[0] in actions:
                return None
            if label.partition(".")[0] == best.last.action or _related_label(label, best):
                # The readers agree on the action: ask only if they disagree on its values.
                if not same or not same[0].certain or same[0].score < LEARNED:
                    return None
            elif odds < CONTRADICTED and len(actions) > 1:
                return None
        if label == "none" and odds >= LEARNED:
            return odds, Reply("unsupported", understood=False)
        if label == "model" and odds >= LEARNED:
            return odds, ModelRequired("This")
        if label == "question" and odds >= LEARNED:
            return odds, ContentQuestion(request.text)
        if label == "open" and request.asks and odds < STRONG:
            return odds, ContentQuestion(request.text)
        if agreed:
            return None
        if not roles:
            return None
        first = roles[0]
        if first.score < ASKED_ABOUT and reader.is_mostly_unknown:
            return None
        sure = best is not None and best.certain and best.score >= STRONG and not stands
        if first.score >= LEARNED and not self._writes(request, first) and _is_clear(first) and not sure:
            return first.score, first
        if stands and best is not None:
            return best.score, self._choice(request, [best, *roles])
        candidates = [reading for reading in roles if reading.score >= CONSIDERED or reading is first]
        candidates = [reading for reading in candidates if reader.uses_names(reading)] or candidates
        own = [reading for reading in found[:3] if reading.score >= MIN_CONFIRM_SCORE and not reading.missing]
        candidates[1:1] = own[:1]
        candidates += own[1:]
        if not candidates:
            return None
        return max(first.score, MIN_READ_SCORE), self._choice(request, candidates)

    def _role_reader(self, request: _Request, tokens: tuple[Token, ...], *, follows: bool) -> RoleReader:
        """Return the reader that finds the values of a clause by their roles."""
        language = request.language
        sets = NoteSetParser(
            request.text, language, request.vocabulary, request.dates, request.dialog, follows
        )
        mentions = find_mentions(request.text, tokens, language, request.vocabulary, sets, request.dates)
        frames = self._frames(request, follows)
        return RoleReader(
            tokens,
            mentions,
            language,
            sets,
            frames,
            request.dialog,
            request.allowed,
            self._frames_of(language),
        )

    def _by_clauses(self, request: _Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Return the steps of a request, clause by clause; None for one clause, or if a clause is unclear."""
        language = request.language
        sets = NoteSetParser(request.text, language, request.vocabulary, request.dates, request.dialog)
        mentions = find_mentions(request.text, tokens, language, request.vocabulary, sets, request.dates)
        parts = [self._without_courtesies(language, part) for part in split_clauses(tokens, mentions)]
        parts = [part for part in parts if part]
        if len(parts) < 2:
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
        """Parse one clause with the grammar, or else by its roles."""
        grammar = [
            _to_reading(clause, request.language)
            for clause in self._frames(request, follows).readings(tokens)
        ][:1]
        if grammar and grammar[0].score >= STRONG and not grammar[0].missing and not grammar[0].unexplained:
            return grammar[0]
        found = self._role_reader(request, tokens, follows=follows).readings()
        found = [reading for reading in found if _is_clear(reading)]
        return found[0] if found else None

    def _choice(self, request: _Request, readings: Sequence[Reading]) -> Interpretation:
        """Ask which of some readings is meant; readings with an unknown note only if there is no other."""
        readings = [reading for reading in readings if _is_clear(reading)] or readings
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
        if step.action in _LISTINGS and request.dialog.results:
            finds, step = True, PipelineStep("find", NoteSet(notes=request.dialog.results))
        for kind in ("only", "also", "without"):
            after = language.match_prefix(tokens, 0, "refine", kind)
            if not finds or after == 0 or after >= len(tokens):
                continue
            parsed = sets.parse(tokens[after:])
            if parsed is None or parsed.notes.unknown or not parsed.notes.query or parsed.unexplained:
                continue
            if kind == "also" and (not parsed.has_head or step.target is None or step.target.notes):
                continue
            assert step.target is not None
            query = parsed.notes.query
            if kind == "only":
                notes = step.target.with_query(query)
            elif kind == "also":
                notes = step.target.or_query(query)
            else:
                notes = step.target.with_query(f"-({query})" if " " in query else f"-{query}")
            # "And between 1740 and 1760" may add to a comparison or take its place.
            compares = kind == "also" and "[" in query
            meant = replace(step, target=notes)
            return Reading((meant,), 0.9, language=language.code, certain=not compares)
        step = last.last
        return (
            self._same_again(request, tokens, sets, step)
            or self._instead(request, tokens, sets, step)
            or self._on_others(request, tokens, sets, step)
            or self._revalued(request, tokens, sets, step)
        )

    def _on_others(
        self, request: _Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
    ) -> Reading | None:
        """Repeat the last action on other notes ("same tag for H4 and K1") or revert it ("not K1")."""
        language = request.language
        if step.target is None or step.action in ("find", "count"):
            return None
        mentions = find_mentions(request.text, tokens, language, request.vocabulary, sets, request.dates)
        notes = [
            mention
            for mention in mentions
            if mention.kind == "note" and mention.notes is not None and mention.notes.notes
        ]
        words = [mention.tokens[0] for mention in mentions if mention.kind == "word"]
        again_words = language.words("same_again")
        if not notes:
            return self._on_pointed(request, tokens, sets, step)
        if len(notes) + len(words) != len(mentions):
            return None
        paths = tuple(
            dict.fromkeys(path for mention in notes if mention.notes for path in mention.notes.notes)
        )
        certain = not any(mention.is_near for mention in notes)
        target = NoteSet(notes=paths)
        if words and all(token.key in again_words for token in words):
            again = replace(step, target=target)
            return Reading((again,), 0.9, language=language.code, certain=certain)
        opposite = _OPPOSITES.get(step.action)
        if opposite and words and all(token.key in language.words("not_that") for token in words):
            undone = PipelineStep(opposite, target, step.arguments)
            return Reading((undone,), 0.9, language=language.code, certain=certain)
        return None

    def _on_pointed(
        self, request: _Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
    ) -> Reading | None:
        """Repeat the last action on the notes of a pronoun: "and this one", "the second one too"."""
        language = request.language
        again_words = language.words("same_again")
        words = [token for token in tokens if token.kind != "mark"]
        for start in range(len(words)):
            for end in range(len(words), start, -1):
                rest = (*words[:start], *words[end:])
                if not rest or not all(token.key in again_words for token in rest):
                    continue
                part = words[start:end]
                found = sets.parse_reference(part) or sets.find_similar(part)
                if (
                    found is not None
                    and found.notes.notes
                    and found.notes.notes != (step.target or NoteSet()).notes
                ):
                    return Reading(
                        (replace(step, target=found.notes),), 0.9, language=language.code, certain=False
                    )
        return None

    def _revalued(
        self, request: _Request, tokens: tuple[Token, ...], sets: NoteSetParser, step: PipelineStep
    ) -> Reading | None:
        """Correct the value of the last change: "make that 70 %", "no, 1767"."""
        language = request.language
        if step.target is None or not request.allowed[step.action].writes:
            return None
        mentions = find_mentions(request.text, tokens, language, request.vocabulary, sets, request.dates)
        values = [mention for mention in mentions if mention.kind in ("num", "date", "quoted")]
        words = [mention.tokens[0] for mention in mentions if mention.kind == "word"]
        if not values or len(values) + len(words) != len(mentions):
            return None
        if not all(token.key in language.words("corrects") for token in words):
            return None
        value = values[-1]
        for role in _CORRECTED_ROLES:
            known = step.arguments.get(role)
            if known is None or (value.kind == "num") != isinstance(known, int | float):
                continue
            frame = next(frame for frame in self._frames_of(language) if frame.action == step.action)
            bound = self._frames(request, False).fill(request.allowed[step.action], frame, role, value.tokens)
            if bound is not None and role in bound:
                meant = step.with_argument(role, bound[role])
                return Reading((meant,), 0.9, language=language.code, certain=False)
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
                p.matches_all(tokens[start:end]) for p in language.phrases("refine", "instead_after")
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
    plain = language.words("result_nouns") | language.words("fillers") | language.words("determiners")
    if len(named) == 1 and all(token.key in table or token.key in plain for token in words):
        ordinal = int(named[0])
        return count - 1 if ordinal == -1 else ordinal - 1 if ordinal <= count else None
    if len(words) == 1 and words[0].value.isdecimal() and 1 <= int(words[0].value) <= count:
        return int(words[0].value) - 1
    return None


def _to_reading(clause: ClauseReading, language: Language) -> Reading:
    missing = clause.missing[0] if clause.missing else ""
    return Reading(
        (normalized(clause.step),),
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


_LISTINGS = frozenset(("backlinks", "outgoing", "related", "similar", "mentions", "meaning", "what_supports"))
_CORRECTED_ROLES = ("confidence", "value", "tag", "text", "new_name", "folder", "name")
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


def _means_same(reading: Reading, other: Reading) -> bool:
    """Return whether two readings have the same steps, in whatever order their conditions stand."""
    return len(reading.steps) == len(other.steps) and all(
        one.action == two.action
        and _unordered(one.target) == _unordered(two.target)
        and {name: _unordered(value) for name, value in one.arguments.items()}
        == {name: _unordered(value) for name, value in two.arguments.items()}
        for one, two in zip(reading.steps, other.steps, strict=True)
    )


def _is_doubted(best: Reading, label: str, odds: float) -> bool:
    """Return whether a search for words is more likely another request, by the intent model."""
    (*before, step) = best.steps
    if before or step.action not in ("find", "count") or step.target is None or odds < LEARNED:
        return False
    words = [word for word in step.target.query.split() if ":" not in word]
    return bool(words) and label.partition(".")[0] not in ("find", "count", "meaning", "open")


def _without_common_words(best: Reading, roles: Sequence[Reading]) -> Reading | None:
    """Return the search without common words that the grammar took for topics; None if there are none."""
    if best.last.action not in ("find", "count") or len(best.steps) > 1 or best.last.target is None:
        return None
    words = best.last.target.query.split()
    for reading in roles:
        target = reading.last.target
        if len(reading.steps) > 1 or reading.last.action != best.last.action or target is None:
            continue
        if not target.query and not target.order:
            continue
        kept = target.query.split()
        extra = [word for word in words if word not in kept]
        if (
            extra
            and all(word in words for word in kept)
            and all(word.casefold().strip('"()') in span_model().words for word in extra)
        ):
            return replace(reading, certain=best.certain)
    return None


def _unordered(value: object) -> object:
    if isinstance(value, NoteSet):
        words = frozenset(value.query.casefold().split())
        return words, frozenset(value.notes), value.source, value.pick, value.order, value.limit
    return frozenset(value) if isinstance(value, tuple) else value


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

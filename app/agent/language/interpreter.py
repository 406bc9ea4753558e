"""Interpret a request as a pipeline of steps, a question to the user, or work that needs a model.

The request is split into clauses, each clause is parsed as an action on a set of notes, and the reading that
explains the most words wins. A reading that writes but explains too few words is never run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from app.agent.language.actions import TOOL_PREFIX, Action
from app.agent.language.choices import (
    FAMILIES,
    MIN_CONFIRM_SCORE,
    MIN_READ_SCORE,
    MIN_WRITE_SCORE,
    Describe,
    ReadingChooser,
    is_clear,
)
from app.agent.language.content_questions import as_content_question, asking_language
from app.agent.language.dates import DateParser
from app.agent.language.dialog import NOTE_ROLES, DialogState
from app.agent.language.follow_ups import refined_reading, with_undo_first
from app.agent.language.frames import ClauseReading, FrameParser
from app.agent.language.lexicon import ActionFrame, Language
from app.agent.language.note_sets import is_search
from app.agent.language.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.request import Request, without_marks_at_end
from app.agent.language.role_reading import RoleReader, normalized, split_clauses
from app.agent.language.span_model import span_model
from app.agent.language.tokens import Token, tokenize
from app.agent.language.undoing import named_undo
from app.agent.language.vocabulary import Vocabulary, correct_spelling

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
NONSENSE = 0.1
"""Score below which no reading is offered: in the seen requests such a question is seldom the right one."""
SURE_OF_UNDO = 0.97
"""Score from which an undo is run without a question; other words may say what to undo."""
CONTRADICTED = 0.6
"""Probability of another action from which the agent asks before a change of the grammar's reading."""
_UNLEARNED = frozenset(("undo", "list_tasks", "list_tags", "properties_of", "what_supports"))
"""Actions with values that the models do not know."""
_ONLY_TARGET = 0.72
_CREATION_ROLES = {"new_name": "name", "folder": "folder", "tag": "tag", "text": "text", "type": "type"}
"""The values of "call it X and put it in People", and their roles in the creation of the note."""
_SPLIT_PENALTY = 0.02
_MAX_CLAUSES = 4


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
        self._chooser = ReadingChooser(describe)
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
        for language in self._languages:
            words = without_marks_at_end(tokenize(text, language.contractions, language.words("noise")))
            if dialog.question is None and language.matches_phrase(words, "refine", "no"):
                return self._objection(language, dialog, allowed)
        for language, tokens in self._by_likelihood(text):
            dates = DateParser(language, now)
            request = Request(
                text,
                language,
                tokens,
                vocabulary_in(language),
                dates,
                dialog,
                allowed,
                self._frames_of(language),
            )
            found = self._interpret(request, is_likeliest=best is None)
            if best is None:
                likeliest = request
            if best is None or found[0] > best[0]:
                best = found
            if found[0] >= MIN_READ_SCORE:
                best = found
                break
        assert best is not None
        if asking_language(text, self._languages) is None:
            return best[1]
        odds = dict(self._role_reader(likeliest, likeliest.tokens, follows=False).ranked())
        return as_content_question(best[1], text, self._languages, odds)

    def language_of(self, text: str) -> Language:
        """Return the language that knows the most words of a request."""
        return self._by_likelihood(text)[0][0]

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

    def _interpret(self, request: Request, *, is_likeliest: bool) -> tuple[float, Interpretation]:
        language = request.language
        bare = without_marks_at_end(request.tokens)
        if not bare:
            return 1.0, Reply("", understood=False)
        if reply := self._small_talk(language, bare):
            return 1.05, reply
        if (refined := refined_reading(request, bare)) is not None and refined.score >= MIN_READ_SCORE:
            return refined.score, self._chooser.decide(request, with_undo_first(request, refined))
        tokens = self._without_courtesies(language, bare)
        if not tokens:
            return 0.9, Reply("", understood=False)
        if reply := self._small_talk(language, tokens):
            return 1.05, reply
        if (refined := refined_reading(request, tokens)) is not None and refined.score >= MIN_READ_SCORE:
            return refined.score, self._chooser.decide(request, with_undo_first(request, refined))
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
        found = [named_undo(request, reading) for reading in found]
        asks = tokens[0].key in language.words("asking_words")
        if asks:
            found = [reading for reading in found if not request.writes(reading)]
        if not found or found[0].score < MIN_WRITE_SCORE:
            corrected_tokens = self._corrected(request, tokens)
            if corrected_tokens != tokens:
                again = [
                    replace(
                        reading,
                        score=min(reading.score * 0.97, CORRECTED_WRITE_SCORE)
                        if request.writes(reading)
                        else reading.score * 0.97,
                    )
                    for reading in self._readings(request, corrected_tokens, follows=False)
                    if not (asks and request.writes(reading))
                ]
                found = sorted([*found, *again], key=lambda reading: -reading.score)
        best = found[0].score if found else 0.0
        wants_model = self._wants_model(language, tokens)
        if wants_model and best < 0.97:
            return max(best, 0.85), wants_model
        if self._unsupported(language, tokens) and (best < 0.97 or found[0].last.action == "find"):
            return max(best, 0.85), Reply("unsupported", understood=False)
        if (learned := self._learned(request, tokens, found)) is not None:
            return learned
        if (
            found
            and asks
            and best < MIN_QUESTION_SCORE
            and found[0].steps[0].action == "find"
            and len(found[0].steps) == 1
        ):
            return max(best, 0.7), ContentQuestion(request.text)
        if found and best >= MIN_CONFIRM_SCORE:
            return best, self._chooser.decide(request, found)
        if is_likeliest and self._is_question(language, bare) and len(tokens) > 2:
            return max(best, 0.5), ContentQuestion(request.text)
        if is_likeliest and (bare_name := self._bare_name(request, tokens)):
            return bare_name.score, self._chooser.decide(request, [bare_name])
        return best, Reply("", understood=False)

    def _objection(
        self, language: Language, dialog: DialogState, allowed: Mapping[str, Action]
    ) -> Interpretation:
        """Return the meaning of "no" without a question: perhaps to undo the change just made."""
        steps = dialog.last.steps if dialog.last is not None else ()
        made = bool(dialog.changes) and any(allowed[step.action].writes for step in steps)
        if not made or "undo" not in allowed:
            return Reply("cancelled")
        undo = PipelineStep("undo", None, {"scope": "last"})
        return self._chooser.confirm(Reading((undo,), 1.0, language=language.code))

    # Words by role

    def _learned(
        self, request: Request, tokens: tuple[Token, ...], found: list[Reading]
    ) -> tuple[float, Interpretation] | None:
        """Return the interpretation if the grammar has none, or one that the learned readers doubt.

        Returns None if the grammar's reading is kept.
        """
        best = found[0] if found else None
        if best is not None and best.last.action.startswith(TOOL_PREFIX) and best.score >= MIN_READ_SCORE:
            return None  # a tool's example that the models do not know
        if best is not None and _lacks_only_note(best) and best.score >= _ONLY_TARGET:
            return None  # only the note is missing, or its name, which the agent asks for
        if best is not None and best.last.action in _UNLEARNED and best.score >= STRONG and best.certain:
            if any(name in best.last.arguments for name in ("due", "uses", "about", "side")):
                return None
            if best.last.action == "undo" and best.last.target is not None:
                return None
        reader = self._role_reader(request, tokens, follows=False)
        ranked = reader.ranked()
        label, odds = ranked[0]
        roles = reader.readings()
        if (steps := self._by_clauses(request, tokens)) is not None:
            roles.insert(0, steps)
        if tokens[0].key in request.language.words("asking_words"):
            roles = [reading for reading in roles if not request.writes(reading)]
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
            undoes = best.last.action == "undo" and best.score < SURE_OF_UNDO
            if (agreed and not undoes) or (not request.writes(best) and not _is_doubted(best, label, odds)):
                return None
            same = [reading for reading in roles if reading.steps[0].action == best.steps[0].action]
            actions = [step.action for step in best.steps]
            stands = request.writes(best)
            if len(actions) > 1 and label.partition(".")[0] in actions:
                return None
            if label.partition(".")[0] == best.last.action or _related_label(label, best):
                # The readers agree on the action: ask if they disagree on its values.
                if not same and not undoes:
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
        likely = max(first.score, best.score if best is not None else 0.0)
        if likely < NONSENSE or (first.score < ASKED_ABOUT and reader.is_mostly_unknown):
            return None
        target = first.last.target
        if reader.is_mostly_unknown and target is not None and target.unknown and likely < STRONG:
            return likely, Reply("", understood=False)
        sure = best is not None and best.certain and best.score >= STRONG and not stands
        if first.score >= LEARNED and not request.writes(first) and is_clear(first) and not sure:
            return first.score, first
        if stands and best is not None:
            return best.score, self._chooser.ask(request, [best, *roles])
        candidates = [reading for reading in roles if reading.score >= CONSIDERED or reading is first]
        candidates = [reading for reading in candidates if reader.uses_names(reading)] or candidates
        own = [reading for reading in found[:3] if reading.score >= MIN_CONFIRM_SCORE and not reading.missing]
        candidates[1:1] = own[:1]
        candidates += own[1:]
        if not candidates:
            return None
        return max(first.score, MIN_READ_SCORE), self._chooser.ask(request, candidates)

    def _role_reader(self, request: Request, tokens: tuple[Token, ...], *, follows: bool) -> RoleReader:
        """Return the reader that finds the values of a clause by their roles."""
        language = request.language
        sets = request.sets(follows=follows)
        mentions = request.mentions(tokens)
        frames = request.frame_parser(follows=follows)
        return RoleReader(
            tokens,
            mentions,
            language,
            sets,
            frames,
            request.dialog,
            request.allowed,
            request.frames,
        )

    def _by_clauses(self, request: Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Return the steps of a request, clause by clause; None for one clause, or if a clause is unclear."""
        language = request.language
        mentions = request.mentions(tokens)
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

    def _clause(self, request: Request, tokens: tuple[Token, ...], *, follows: bool) -> Reading | None:
        """Parse one clause with the grammar, or else by its roles."""
        grammar = [
            _to_reading(clause, request.language)
            for clause in request.frame_parser(follows=follows).readings(tokens)
        ][:1]
        if grammar and grammar[0].score >= STRONG and not grammar[0].missing and not grammar[0].unexplained:
            return grammar[0]
        found = self._role_reader(request, tokens, follows=follows).readings()
        found = [reading for reading in found if is_clear(reading)]
        return found[0] if found else None

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

    def _corrected(self, request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
        """Return the tokens with misspelled words of the language corrected; keep names of notes."""
        known = request.language.vocabulary()
        corrected: list[Token] = []
        for token in tokens:
            right = None
            if token.is_word and token.key not in known and not request.vocabulary.notes(token.value):
                right = correct_spelling(token.key, known, request.language.data.get("endings", ()))
            corrected.append(replace(token, key=right) if right else token)
        return tuple(corrected)

    # Clauses

    def _readings(
        self, request: Request, tokens: tuple[Token, ...], *, follows: bool, depth: int = 0
    ) -> list[Reading]:
        """Return the readings of the tokens as one or several steps, best first."""
        tokens = self._without_courtesies(request.language, tokens)
        if not tokens:
            return []
        frames = request.frame_parser(follows=follows)
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

    def _noun_phrase(self, request: Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Parse a request without a verb, such as "notes tagged core", as a search for these notes."""
        if "find" not in request.allowed:
            return None
        sets = request.sets()
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

    def _cuts(
        self, request: Request, frames: FrameParser, tokens: tuple[Token, ...]
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

    def _bare_name(self, request: Request, tokens: tuple[Token, ...]) -> Reading | None:
        """Interpret a request that is only a name or a condition: open the note, or find the notes."""
        sets = request.sets()
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
            tokens = without_marks_at_end(tokenize(text, language.contractions, language.words("noise")))
            if not tokens:
                continue
            if language.matches_phrase(tokens, "refine", "no"):
                return Reply("cancelled")
            if question.options and language.matches_phrase(tokens, "refine", "yes"):
                return question.options[0].reading
            last = question.options[-1] if question.options else None
            is_all = last is not None and "all" in str(last.reading.last.arguments.get("occurrence", ""))
            if (
                is_all
                and last is not None
                and any(
                    language.matches_phrase(tokens, name)
                    for name in ("both", "them", "everywhere", "everything")
                )
            ):
                return last.reading
            if (
                question.options
                and (index := _parse_ordinal(language, tokens, len(question.options))) is not None
            ):
                return question.options[index].reading
        plain = replace(dialog, question=None)
        requests = [
            Request(
                text,
                language,
                tokens,
                vocabulary_in(language),
                DateParser(language, now),
                plain,
                allowed,
                self._frames_of(language),
            )
            for language, tokens in self._by_likelihood(text)
        ]
        for request in requests:
            if (creation := self._completed_creation(request, question)) is not None:
                return creation
        if question.partial is None or not question.partial.missing:
            return None
        if question.partial.missing in NOTE_ROLES and asking_language(text, self._languages) is not None:
            return None
        for request in requests:
            language = request.language
            fresh = self._readings(
                request,
                self._without_courtesies(language, without_marks_at_end(request.tokens)),
                follows=False,
            )
            begins = request.tokens[0].key in language.verbs() if request.tokens else False
            if fresh and (
                (fresh[0].score >= 0.95 and not fresh[0].missing and not fresh[0].unexplained)
                or (begins and fresh[0].score >= MIN_CONFIRM_SCORE)
            ):
                return None
            filled = self._filled(request, question.partial)
            if filled is None:
                continue
            target = filled.last.target
            unknown = target is not None and bool(target.unknown)
            if question.partial.missing == "target" and unknown and not _names_resemble(target):
                continue  # not the name of a note, so a new request
            verbs = frozenset[str]().union(*(one.verbs() for one in self._languages))
            first = request.tokens[0].key if request.tokens else ""
            if question.partial.missing == "name" and first in verbs and len(request.tokens) > 1:
                filled = replace(filled, certain=False)  # perhaps a request, not the name
            return self._chooser.decide(request, [filled])
        return None

    def _completed_creation(self, request: Request, question: Clarification) -> Reading | None:
        """Return the creation that the question is about, with the name and values of "call it X"."""
        readings = [*(option.reading for option in question.options), question.partial]
        base = next(
            (one for one in readings if one is not None and one.steps[0].action == "create_note"), None
        )
        if base is None:
            return None
        tokens = self._without_courtesies(request.language, without_marks_at_end(request.tokens))
        found = self._readings(request, tokens, follows=True)[:1] if tokens else []
        if not found or found[0].score < MIN_WRITE_SCORE or found[0].missing or found[0].unexplained:
            return None
        values = dict(base.steps[0].arguments)
        for step in found[0].steps:
            own = dict(step.arguments)
            if step.target is None or step.target.source != "previous" or set(own) - set(_CREATION_ROLES):
                return None
            values.update({_CREATION_ROLES[name]: value for name, value in own.items()})
        if not any("new_name" in step.arguments for step in found[0].steps):
            return None  # which of the names is meant is still open
        created = PipelineStep("create_note", None, values)
        return Reading((created,), MIN_WRITE_SCORE, language=request.language.code)

    def _filled(self, request: Request, partial: Reading) -> Reading | None:
        """Return the reading with the request's text as the value of the missing role."""
        step, role = partial.last, partial.missing
        frame = next((one for one in request.frames if one.action == step.action and not one.hashtag), None)
        if frame is None:
            return None  # no words for the action in this language
        frames = request.frame_parser(follows=len(partial.steps) > 1)
        tokens = without_marks_at_end(request.tokens)
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


def _lacks_only_note(best: Reading) -> bool:
    """Return whether a reading lacks only its note, or the name of a new one."""
    target = best.last.target
    points_at_nothing = target is not None and bool(target.unknown) and not target.unknown.strip()
    return best.missing in ("target", "name") or points_at_nothing


def _names_resemble(notes: NoteSet | None) -> bool:
    """Return whether names resemble the words for a note."""
    return notes is not None and bool(notes.candidates)


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


def _related_label(label: str, best: Reading) -> bool:
    """Return whether a predicted action is equivalent to the parsed one."""
    pair = {label.partition(".")[0], best.last.action}
    return any(pair <= family for family in FAMILIES) or label in ("none", "ask", "question", "model")


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

"""Resolve names, pronouns and ordinals to notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.readings import NoteSet, PipelineStep
from app.agent.language.words.dates import DateParser
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, span_text
from app.agent.language.words.vault_words import NAME_WORD
from app.agent.language.words.vocabulary import Vocabulary
from app.vault.path import NotePath, name_key
from app.vault.reference import parse_reference

_MAX_NAME_TOKENS = 10
NAMED_FIT, POINTED_FIT, CUED_FIT, BARE_FIT, NEAR_FIT, UNKNOWN_FIT = 1.0, 0.97, 0.92, 0.6, 0.8, 0.45


@dataclass(frozen=True, slots=True)
class ParsedSet:
    """The notes that a noun phrase refers to.

    Args:
        notes: The notes.
        fit: How well the words fit, from 0 to 1.
        unexplained: The words that the set does not account for.
        has_head: Whether the phrase has a word for notes, a name, a pronoun or a condition.
        has_bare_topic: Whether some words without a cue are read as words to search for.
        is_certain: Whether the words can refer only to these notes.
        is_near: Whether the words only resemble the name of the note.
    """

    notes: NoteSet
    fit: float
    unexplained: tuple[str, ...] = ()
    has_head: bool = False
    has_bare_topic: bool = False
    is_certain: bool = True
    is_near: bool = False


class NoteReferenceParser:
    """Parse the references to notes in one request.

    Args:
        request: The request's text.
        language: The lexicon of its language.
        vocabulary: The vocabulary of the vault.
        dates: The date parser.
        dialog: The state that pronouns refer to.
        follows: Whether the clause follows a step whose result "these" refers to.
    """

    def __init__(
        self,
        request: str,
        language: Language,
        vocabulary: Vocabulary,
        dates: DateParser,
        dialog: DialogState,
        follows: bool = False,
    ) -> None:
        self._request = request
        self._language = language
        self._vocabulary = vocabulary
        self.dates = dates
        self._dialog = dialog
        self._follows = follows

    def says_everything(self, tokens: Sequence[Token]) -> bool:
        """Return whether the words refer to every note: "everything", "all my notes"."""
        function_words = self._language.words("determiners") | self._language.words("fillers")
        words = [token for token in tokens if token.kind != "mark"]
        return any(
            self._language.matches_phrase(words[start:], "everything")
            for start in range(len(words))
            if all(token.key in function_words for token in words[:start])
        )

    def implied_notes(self) -> NoteSet | None:
        """Return the notes of a request that names none: the last step's result, or "it"; else None."""
        if self._follows:
            return NoteSet(source="previous")
        notes = self._first_existing(self._dialog.it).notes
        return notes if notes.notes else None

    def notes_of_tasks(self) -> NoteSet | None:
        """Return the notes whose tasks the last step listed or changed; None after another step.

        After a list of a note's tasks, "check off the milk" means one of them.
        """
        last = self._dialog.last.last if self._dialog.last is not None else None
        is_about_tasks = last is not None and last.action in ("list_tasks", *TASK_ACTIONS)
        return last.target if last is not None and is_about_tasks and not self._follows else None

    def narrowed_tasks(self, step: PipelineStep, tokens: Sequence[Token]) -> PipelineStep:
        """Return a list of tasks with what it keeps of the list that it narrows down: "only the garden"."""
        last = self._dialog.last.last if self._dialog.last is not None else None
        is_narrower = self._language.match_prefix(tokens, 0, "refine", "only") > 0
        if last is None or not is_narrower or {last.action, step.action} != {"list_tasks"}:
            return step
        return replace(
            step, target=step.target or last.target, arguments={**last.arguments, **step.arguments}
        )

    @property
    def implies_one(self) -> bool:
        """True if "it" is unambiguous: after a step, or if no list or uncertain request came before it."""
        dialog = self._dialog
        has_only_results = bool(dialog.results) and not dialog.focus
        return self._follows or not (dialog.has_list or dialog.is_doubtful or has_only_results)

    def parse_reference(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Parse a pronoun, an ordinal, or "everything"; return None for other words."""
        language, dialog = self._language, self._dialog
        generic_words = language.words("note_nouns") | language.words("fillers")
        if tokens and self.end_of_vault(tokens, 0) == len(tokens):
            return ParsedSet(NoteSet(), CUED_FIT, has_head=True)
        if language.matches_phrase(tokens, "everything") and (
            len(tokens) > 1 or tokens[0].key not in generic_words
        ):
            return ParsedSet(NoteSet(), CUED_FIT, has_head=True)
        if language.matches_phrase(tokens, "both") and len(dialog.results) == 2:
            both = NoteSet(notes=dialog.results)
            return ParsedSet(both, POINTED_FIT, has_head=True, is_certain=not dialog.is_doubtful)
        if (ordinal := self.ordinal_in(tokens)) is not None:
            return self._nth_result(ordinal)
        # The German "diesen" may mean one note or the listed ones.
        is_list = bool(dialog.them and not dialog.this) and language.matches_phrase(tokens, "them")
        if not is_list and language.matches_phrase(tokens, "this"):
            return self._first_existing(dialog.this)
        is_one = dialog.is_about_one and language.matches_phrase(tokens, "it")  # the German "sie"
        if not is_one and language.matches_phrase(tokens, "them"):
            if self._follows:
                return ParsedSet(NoteSet(source="previous"), POINTED_FIT, has_head=True)
            says_all = any(token.key in language.words("universal") for token in tokens)
            if says_all and (whole := dialog.whole_list) is not None:
                return ParsedSet(whole, POINTED_FIT, has_head=True, is_certain=not dialog.is_doubtful)
            if dialog.them:
                them = NoteSet(notes=dialog.them)
                return ParsedSet(them, POINTED_FIT, has_head=True, is_certain=not dialog.is_doubtful)
            return replace(self._first_existing(dialog.it), is_certain=False)
        if language.matches_phrase(tokens, "it"):
            if self._follows:
                return ParsedSet(NoteSet(source="previous"), POINTED_FIT, has_head=True)
            # After a list, "it" may be one of its notes.
            return replace(self._first_existing(dialog.it), is_certain=self.implies_one)
        return None

    def end_of_vault(self, tokens: Sequence[Token], position: int) -> int:
        """Return the end of a phrase for the whole vault at a position; the position if there is none.

        "The docs" are all notes, even if a note has this name; "Docs" may be the note.
        """
        end = self._language.match_prefix(tokens, position, "scopes", "vault")
        return end if all(token.value.islower() for token in tokens[position:end]) else position

    def _first_existing(self, paths: tuple[str, ...]) -> ParsedSet:
        """Return the first of the paths that has a file; a set with an unknown note if none has."""
        if path := self._dialog.first_existing(paths, self._vocabulary.has_file):
            return ParsedSet(NoteSet(notes=(path,)), POINTED_FIT, has_head=True)
        return ParsedSet(NoteSet(unknown=" "), UNKNOWN_FIT)

    def ordinal_in(self, tokens: Sequence[Token]) -> int | None:
        """Return the position in a list that the words name ("the second one", -1 is the last), or None."""
        table = self._language.table("ordinals")
        ordinals = [
            (position, table[token.key]) for position, token in enumerate(tokens) if token.key in table
        ]
        if len(ordinals) != 1:
            numbers = [int(t.value) for t in tokens if t.is_word and t.value.isdecimal() and len(t.value) < 4]
            nouns = self._language.phrases("number_nouns")
            if len(numbers) == 1 and len(tokens) >= 2 and any(p.longest_match(tokens, 0) for p in nouns):
                return numbers[0]
            return None
        position, ordinal = ordinals[0]
        allowed = self._language.words("result_nouns") | self._language.words("fillers")
        rest = [token for index, token in enumerate(tokens) if index != position and token.kind != "mark"]
        return int(ordinal) if all(token.key in allowed for token in rest) else None

    def _nth_result(self, ordinal: int) -> ParsedSet:
        if self._follows:
            return ParsedSet(NoteSet(source="previous", pick=ordinal), POINTED_FIT, has_head=True)
        results = self._dialog.them
        if results and -len(results) <= ordinal <= len(results):
            notes = NoteSet(notes=(results[ordinal - 1 if ordinal > 0 else ordinal],))
            return ParsedSet(notes, POINTED_FIT, has_head=True, is_certain=not self._dialog.is_doubtful)
        return ParsedSet(NoteSet(unknown=" "), UNKNOWN_FIT)

    def find_named(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find a note by its exact name, path, alias or link, or a daily note by its date.

        Words such as "the note" are ignored. A name shared by several notes, or the name of a missing daily
        note, results in an unknown note. Return None if no note has the name.
        """
        for part in self._bare_names(tokens):
            text = self._name_text(part)
            if text.islower() and self._vocabulary.find_category(text):
                continue  # "all movies" means the notes in the category; "Movies" means its own note
            is_shorter = part[-1] is not tokens[-1]
            if is_shorter and self._is_plural_of_notes(tokens) and self._vocabulary.find_value(text):
                continue  # "the sci-fi notes"
            if paths := self._vocabulary.notes(text):
                if len(paths) == 1:
                    return ParsedSet(NoteSet(notes=paths), NAMED_FIT, has_head=True)
                return ParsedSet(NoteSet(unknown=text, candidates=paths), NAMED_FIT - 0.05, has_head=True)
        return self._periodic_note(tokens) or self._note_of_day(tokens)

    def find_described(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find the notes with some words in their names: "the note on the Board"; None for other words."""
        language = self._language
        start = language.match_prefix(tokens, 0, "name_leads")
        words = [token for token in tokens[start:] if token.key not in language.words("determiners")]
        if not (start and words) or tokens[0].key in language.words("one_of") | language.words("new_words"):
            return None
        paths = self._vocabulary.notes_with_words([token.key for token in words])
        if len(paths) == 1:
            return ParsedSet(NoteSet(notes=paths), CUED_FIT, has_head=True, is_certain=False)
        name = self._name_text(words)
        return ParsedSet(NoteSet(unknown=name, candidates=paths), CUED_FIT, has_head=True) if paths else None

    def _is_plural_of_notes(self, tokens: Sequence[Token]) -> bool:
        """Return whether the last word is a plural such as "notes"."""
        language = self._language
        return tokens[-1].key in language.words("note_nouns") - language.words("single_nouns")

    def day(self, tokens: Sequence[Token]) -> date | None:
        """Parse a day such as "tomorrow"; return None for other words."""
        return self.dates.parse_day(tokens)

    def days_ahead(self, tokens: Sequence[Token]) -> str | None:
        """Parse days in the future as an ISO date or `first..last`; return None for other words."""
        return self.dates.days_ahead(tokens)

    def _periodic_note(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find the note of a day or another period: "today's journal", "the journal for March", "the 6th"."""
        language = self._language
        if (day := self.dates.parse_latest_day(tokens)) is not None:
            paths = self._vocabulary.notes(self._vocabulary.period_name(day.isoformat()))
            if paths:
                return ParsedSet(NoteSet(notes=paths[:1]), NAMED_FIT, has_head=True)
        words = [token for token in tokens if token.is_word]
        today = self._vocabulary.period_name(self.dates.today.isoformat())
        if language.matches_phrase(words, "dates", "todays_note") and self._vocabulary.names_day(today):
            paths = self._vocabulary.notes(today)
            return ParsedSet(
                NoteSet(notes=paths[:1]) if paths else NoteSet(unknown=today), NAMED_FIT, has_head=True
            )
        has_other_tokens = any(not token.is_word and token.key != "." for token in tokens)
        if has_other_tokens or not any(token.key in language.words("daily_nouns") for token in words):
            return None
        ignored = language.words("daily_nouns") | language.words("note_nouns") | language.words("fillers")
        leads = {word for phrase in language.phrases("dates", "span") for word in phrase.first}
        adjectives = language.table("day_adjectives")
        rest = [
            replace(token, key=adjectives.get(token.key, token.key))
            for token in map(without_possessive, words)
        ]
        for start in range(len(rest)):
            span = self.dates.parse_span(rest, start)
            if span is None or not span.note_name:
                continue
            others = {token.key for token in (*rest[:start], *rest[span.end :])}
            if others <= ignored | leads:
                if paths := self._vocabulary.notes(self._vocabulary.period_name(span.note_name)):
                    return ParsedSet(NoteSet(notes=paths[:1]), NAMED_FIT, has_head=True)
                # "A note from March 9" may also mean one that was changed on that day.
                if span.first == span.last and others <= ignored:
                    return ParsedSet(
                        NoteSet(unknown=self._vocabulary.period_name(span.note_name)),
                        NAMED_FIT - 0.05,
                        has_head=True,
                    )
        return None

    def _note_of_day(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find the note with a day and words in its name: "Monday's planning", "the board meeting of May 5".

        Words for the kind of the note, such as "meeting", need not be in the name. A weekday may be the last
        one or the coming one.
        """
        language, vocabulary = self._language, self._vocabulary
        many = language.words("note_nouns") - language.words("single_nouns") - language.words("fillers")
        words = [self._without_plural_day(token) for token in tokens if token.is_word]
        has_other_tokens = any(not token.is_word and token.key not in ".,’'" for token in tokens)
        if has_other_tokens or not 1 < len(words) <= _MAX_NAME_TOKENS:
            return None
        if any(token.key in many for token in words):
            return None
        leads = {word for phrase in language.phrases("dates", "span") for word in phrase.first}
        small_words = language.words("fillers") | language.words("daily_nouns") | leads
        for start in range(len(words)):
            days, end = self._days_at(words, start)
            keys = {token.key for token in (*words[:start], *words[end:])} - small_words
            if not days or not keys:
                continue
            names = [vocabulary.period_name(day.isoformat()) for day in days]
            paths = dict.fromkeys(path for name in names for path in vocabulary.notes_with_word(name))
            counts = {path: count for path in paths if (count := self._count_words(path, keys)) is not None}
            fitting = [path for path in counts if counts[path] == max(counts.values())]
            if len(fitting) == 1:
                return ParsedSet(NoteSet(notes=tuple(fitting)), NAMED_FIT, has_head=True)
            if fitting:
                unknown = NoteSet(unknown=self._name_text(tokens), candidates=tuple(fitting))
                return ParsedSet(unknown, NAMED_FIT - 0.05, has_head=True)
        return None

    def _days_at(self, words: Sequence[Token], start: int) -> tuple[set[date], int]:
        """Return the days that the words at a position may mean, and the index of the next word."""
        if (day := self.dates.parse_latest_day(words[start:])) is not None:
            return {day}, len(words)
        ahead, span = self.dates.parse_ahead(words[start:]), self.dates.parse_span(words, start)
        end = max(span.end if span else 0, start + ahead.end if ahead else 0)
        spans = [own for own in (span, ahead) if own and own.end + (start if own is ahead else 0) == end]
        return {own.first for own in spans if own.first and own.first == own.last}, end

    def _count_words(self, path: str, keys: set[str]) -> int | None:
        """Return how many words a note's name has, if it has all but those for its kind; else None.

        Words for its kind, such as those for its folder, may be the only ones.
        """
        name, meetings = NotePath.on_disk(path), self._language.words("meeting_nouns")
        known = set(NAME_WORD.findall(name_key(name.name)))
        folder = name_key(name.folder.rpartition("/")[2])
        kinds = {folder, *self._vocabulary.plural_stems(folder)}
        kinds |= meetings if keys & known or kinds & meetings else set()
        # "Die Vorstandssitzung" is that of the "Vorstand".
        parts = {key.removesuffix(noun) for key in keys for noun in meetings if key.endswith(noun)}
        stems = {form for part in parts for form in (part.rstrip("-"), part.rstrip("-s")) if form in known}
        missing = {key for key in keys - known if not any(key.startswith(stem) for stem in stems)}
        return len(keys - missing) if missing <= kinds else None

    def _without_plural_day(self, token: Token) -> Token:
        """Return a day without a possessive ending, also one without an apostrophe: "mondays planning"."""
        token = without_possessive(token)
        adjectives = self._language.table("day_adjectives")
        key = adjectives.get(token.key, token.key)
        is_day = key.endswith("s") and self.dates.is_date_word(key[:-1])
        return replace(token, key=key[:-1] if is_day else key)

    def _name_text(self, tokens: Sequence[Token]) -> str:
        if len(tokens) == 1 and tokens[0].kind == "link":
            return parse_reference(tokens[0].value).target
        if len(tokens) == 1:
            return tokens[0].value
        return span_text(self._request, tuple(tokens))

    def _bare_names(self, tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
        """Yield the tokens, then the tokens without words such as "the note called …"."""
        yield tokens
        start, end = self._language.match_prefix(tokens, 0, "name_leads"), len(tokens)
        if start == self._language.match_prefix(tokens, 0, "this"):
            start = 0  # "this note" introduces no name
        if 0 < start < end:
            yield tokens[start:]
            while start < end - 1 and tokens[start].key in self._language.words("determiners"):
                start += 1
                yield tokens[start:]
        nouns, fillers = self._language.words("note_nouns"), self._language.words("fillers")
        # "It" before a name is a note of its own: "tag it feature and draft".
        fillers -= self._pronouns
        position = 0
        while position < end - 1 and tokens[position].is_word and tokens[position].key in fillers:
            position += 1
            yield tokens[position:end]
        last = end
        while last - 1 > position and tokens[last - 1].is_word and tokens[last - 1].key in nouns:
            last -= 1
            yield tokens[position:last]
            if 0 < start < last:
                yield tokens[start:last]

    @cached_property
    def _pronouns(self) -> frozenset[str]:
        """The words that mean a note and are no determiners, such as "it"."""
        words = frozenset(phrase.text for phrase in self._language.phrases("it"))
        return words - self._language.words("determiners")

    def _parse_names(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Parse a list of names ("H1, H2 and H3"); return None for other words."""
        pieces: list[list[Token]] = [[]]
        position = 0
        while position < len(tokens):
            after = self._language.match_prefix(tokens, position, "and")
            if tokens[position].key == "," or after > position:
                pieces.append([])
                position = max(after, position + 1)
                continue
            pieces[-1].append(tokens[position])
            position += 1
        pieces = [piece for piece in pieces if piece]
        if len(pieces) < 2:
            return None
        paths: dict[str, None] = {}
        for piece in pieces:
            parsed = self.parse_reference(piece) or self.find_named(piece)
            if parsed is None or not parsed.notes.notes:
                return None
            paths |= dict.fromkeys(parsed.notes.notes)
        return ParsedSet(NoteSet(notes=tuple(paths)), NAMED_FIT, has_head=True)

    def find_similar(self, tokens: Sequence[Token]) -> ParsedSet | None:
        """Find a note whose name resembles the words; None if they can't be a name.

        Without a clear match, the note is unknown, with candidates if there are any.
        """
        if len(tokens) > _MAX_NAME_TOKENS or not all(
            token.kind in ("word", "quoted", "link", "mark") for token in tokens
        ):
            return None
        best: ParsedSet | None = None
        for part in self._bare_names(tokens):
            text = self._name_text(part)
            near = self._vocabulary.find_similar_notes(text)
            if near.is_clear:
                return ParsedSet(NoteSet(notes=near.paths[:1]), NEAR_FIT, has_head=True, is_near=True)
            if near.paths and best is None:
                best = ParsedSet(NoteSet(unknown=text, candidates=near.paths), 0.5)
        if best:
            return best
        *_, last = self._bare_names(tokens)
        return ParsedSet(NoteSet(unknown=self._name_text(last)), UNKNOWN_FIT)


def without_possessive(token: Token) -> Token:
    """Return the token without a possessive ending: "today" for "today's"."""
    for ending in ("'s", "’s"):
        if token.key.endswith(ending):
            return replace(token, key=token.key.removesuffix(ending))
    return token

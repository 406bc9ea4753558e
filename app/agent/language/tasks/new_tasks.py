"""Parse requests for new tasks: "add a task to H1: call Ann by Friday", "add todos: buy milk, call Ann"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.grammar.text_places import Place, PlaceParser
from app.agent.language.meaning.actions import TASK_ACTIONS
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tasks.task_matching import task_text
from app.agent.language.words.task_texts import (
    OPEN_TASK,
    has_task_date,
    split_due_day,
    task_line,
    with_first_due_date,
    without_full_stop,
)
from app.agent.language.words.tokens import MAX_TOKENS, Token, span_text, written_text
from app.vault.markdown.tasks import with_due_date

_SCORE = 0.98
_MAX_LEAD_TOKENS = 12
_LIST_BOX = re.compile(r"^[-*+] +(?:\[ \] *)?")
_FINISHED_BOX = re.compile(r"^[-*+] +\[[^ ]\]")
_ANY_TEXT = "x"
_END_MARKS = re.compile(r"[?!…]+|\.{2,}")


def parse_new_tasks(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the readings of a request that adds tasks to a note, the likeliest first; none for others.

    Several readings mean that the end of a task or the note is unclear. If no note is known, `missing` is
    "target".
    """
    if "append" not in request.allowed or len(request.tokens) >= MAX_TOKENS or not tokens:
        return []
    tokens = _without_courtesy(request, tokens)
    parser = _NewTaskParser(request, tokens)
    if readings := parser.called_tasks():
        return readings
    return next((readings for lead in parser.leads() if (readings := parser.readings(lead))), [])


def _without_courtesy(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens without "please" at their end, which is no part of a task."""
    courtesies = request.language.table("new_tasks")["courtesies"]
    rest = tuple(trim_marks(tokens))
    has_courtesy = len(rest) > 1 and rest[-1].is_word and rest[-1].key in courtesies
    return tuple(trim_marks(rest[:-1])) if has_courtesy else tokens


def adds_tasks(step: PipelineStep) -> bool:
    """Return whether a step adds tasks to a note, perhaps to a new one."""
    return step.action in ("append", "prepend", "create_note") and str(
        step.arguments.get("text", "")
    ).startswith(OPEN_TASK)


def follows_tasks(request: Request) -> bool:
    """Return whether the last request listed, added or changed tasks."""
    last = request.dialog.last.last if request.dialog.last is not None else None
    return last is not None and (last.action in ("list_tasks", *TASK_ACTIONS) or adds_tasks(last))


def _is_dated(step: PipelineStep) -> bool:
    """Return whether all tasks that a step adds have a date."""
    return all(has_task_date(line) for line in str(step.arguments["text"]).splitlines())


def tasks_of(step: PipelineStep, paths: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the tasks that a step adds to notes, each as its note's path and its text."""
    lines = str(step.arguments["text"]).splitlines()
    return tuple((path, task_text(line)) for path in paths for line in lines)


@dataclass(frozen=True, slots=True)
class _Lead:
    """The words before the texts of new tasks.

    Args:
        end: The position of the first token after them.
        place: The place that they name.
        count: The number of tasks that they announce; 0 for several.
        is_bare: Whether a colon must follow, since they have no verb.
        needs_day: Whether the texts are only tasks if they have a due date: "add a reminder: pay by Friday".
    """

    end: int
    place: Place
    count: int
    is_bare: bool = False
    needs_day: bool = False


class _NewTaskParser:
    def __init__(self, request: Request, tokens: tuple[Token, ...]) -> None:
        self._request = request
        self._language = request.language
        self._tokens = tokens
        self._sets = request.set_parser()
        self._places = PlaceParser(request)
        self._follows_tasks = follows_tasks(request)

    # The words before the tasks

    def leads(self) -> Iterator[_Lead]:
        """Yield the ways in which the request may begin to add a task: "add two tasks to H1"."""
        tokens = self._tokens
        for start in range(min(len(tokens), _MAX_LEAD_TOKENS)):
            before = self._places.parse(tokens[:start])
            if before is None:
                continue
            bare_end = self._match(tokens, start, "bare")
            if bare_end > start:
                yield _Lead(bare_end, before, 1, is_bare=True)
            if self._follows_tasks and (again_end := self._match(tokens, start, "again")) > start:
                yield _Lead(again_end, before, 1)
            end = self._language.match_prefix(tokens, start, "reminders", "tasks")
            if end > start and self._request.dialog.this:
                yield _Lead(end, before, 1, needs_day=True)
            if (noun := self._noun(tokens, start)) is not None and noun[1] != 1:
                yield _Lead(noun[0], before, noun[1], is_bare=True)
            verb_end = self._match(tokens, start, "verbs")
            if verb_end == start:
                continue
            for position in range(verb_end, min(len(tokens), verb_end + _MAX_LEAD_TOKENS)):
                between = self._places.parse(tokens[verb_end:position])
                place = before.joined(between) if between is not None else None
                noun = self._noun(tokens, position)
                if self._follows_tasks and (again_end := self._match(tokens, position, "again")) > position:
                    noun = noun or (again_end, 1)
                if place is not None and noun is not None:
                    yield _Lead(noun[0], place, noun[1])
                elif place is not None and (end := self._pronoun(tokens, position)) > position:
                    yield _Lead(end, place, 1, is_bare=True)
                elif place is not None and (end := self._noun_of_dated(tokens, position)) > position:
                    yield _Lead(end, place, 1, is_bare=True, needs_day=True)

    def _pronoun(self, tokens: Sequence[Token], position: int) -> int:
        """Return the end of "one", which is a task after other tasks; else the position."""
        return self._match(tokens, position, "pronouns") if self._follows_tasks else position

    def _match(self, tokens: Sequence[Token], position: int, name: str) -> int:
        return self._language.match_prefix(tokens, position, "new_tasks", name)

    def _words(self, name: str) -> frozenset[str]:
        return frozenset(self._language.table("new_tasks")[name])

    def _noun(self, tokens: Sequence[Token], position: int) -> tuple[int, int] | None:
        """Return the end of "a new task" or "three tasks", and the number of tasks (0 for several)."""
        count = 0
        plain = self._language.words("determiners") | self._words("adjectives")
        while position < len(tokens):
            number = self._request.dates.parse_number(tokens[position].key)
            if number is None and tokens[position].key not in plain:
                break
            count = number or count
            position += 1
        if position == len(tokens):
            return None
        if tokens[position].key in self._words("one") and count < 2:
            return position + 1, 1
        return (position + 1, count) if tokens[position].key in self._words("several") else None

    def _noun_of_dated(self, tokens: Sequence[Token], position: int) -> int:
        """Return the end of "a new reminder", which is a task if it has a due date; else the position."""
        start = position
        while start < len(tokens) and tokens[start].key in self._language.words("determiners") | self._words(
            "adjectives"
        ):
            start += 1
        end = self._match(tokens, start, "dated")
        return end if end > start else position

    def called_tasks(self) -> list[Reading]:
        """Return the tasks of requests such as "add pay rent as a task"; none for other requests.

        Without a verb that adds it, the text may be another request: "treat it all as a task".
        """
        tokens, table = self._tokens, self._language.table("new_tasks")
        for at in range(1, len(tokens)):
            for name, count in (("as_one", 1), ("as_several", 0)):
                after = self._match(tokens, at, name)
                tail = self._tail(tokens[after:]) if after > at else None
                start = self._match(tokens, 0, "verbs")
                if tail is None or (start == 0 and self._request.actions_at(tokens, 0)):
                    continue  # "tag it as a task"
                text = [*tokens[start:at]]
                while text and not text[-1].value.strip("-–—,;:."):
                    text = text[:-1]
                plain = {*self._language.words("determiners"), *table["list_nouns"]} if count == 0 else set()
                while text and text[0].key in plain:
                    text = text[1:]
                while start > 0 and text and text[-1].key in table["last_words"]:
                    text = text[:-1]  # "write the gutter down as a task"
                is_pronoun = not text or self._sets.parse_reference(text) is not None
                if is_pronoun or text[0].key in self._language.words("question_words"):
                    return []
                has_mark = not tokens[at - 1].value.strip("-–—,;:.")
                is_led = has_mark and self._match(tokens, at, "verbs") > at
                has_place = any(token.key in table["list_nouns"] for token in text) or any(
                    self._places.parse(text[cut:]) for cut in range(1, len(text))
                )
                is_ordered = (start > 0 and not has_place) or is_led
                is_statement = not self._words("statement_words").isdisjoint(token.key for token in text)
                if (is_statement and not is_ordered) or self._may_name_property(text, is_ordered=is_ordered):
                    return []  # "I don't want this as a task", "set type as task"
                readings = self._append_readings(self._possible_lines(text, count)[:1], tail[1], tail[0])
                return readings if is_ordered else [replace(own, is_certain=False) for own in readings]
        return []

    def _may_name_property(self, tokens: Sequence[Token], *, is_ordered: bool) -> bool:
        """Return whether words are a property ("set type as task"), or contain one without an order."""
        nouns = self._language.table("property_values")["nouns"]
        find = self._request.vocabulary.find_property
        are_properties = [token.key in nouns or find(token.key) is not None for token in tokens]
        return all(are_properties) if is_ordered else any(are_properties)

    # The tasks

    def readings(self, lead: _Lead) -> list[Reading]:
        """Return the readings of the words after a lead; none if they are no tasks."""
        lead, tokens = self._with_partly_named_note(lead), self._tokens
        particle_end = self._match(tokens, lead.end, "particles")
        colon = next((at for at in range(lead.end, len(tokens)) if tokens[at].key == ":"), None)
        if colon is not None:
            start = particle_end if particle_end > lead.end else lead.end
            between = self._words_before_colon(tokens[start:colon])
            place = lead.place.joined(between[1]) if between is not None else None
            if between is not None and place is not None and colon + 1 < len(tokens):
                listed = self._listed(tokens[colon + 1 :], lead, place, between[0])
                return [own for own in listed if not lead.needs_day or _is_dated(own.last)]
            if between is None and self._begins_with_place(tokens[start:colon]):
                return []  # "add a task for the office there: call Ann" names an unknown place
        if lead.is_bare:
            return []
        found = self._unlisted(tokens[lead.end :], lead)
        dated = (replace(own, is_certain=False) for own in found if _is_dated(own.last))
        return list(dated) if lead.needs_day else found

    def _words_before_colon(self, tokens: Sequence[Token]) -> tuple[date | None, Place] | None:
        """Parse the words between a lead and a colon: the due date and the place of the tasks."""
        words = self._before_particle(tokens)
        last_words = self._words("last_words")
        while words:
            if found := self._tail(words):
                return found
            if words[-1].key not in last_words:
                return None
            words = words[:-1]
        return self._tail(words)

    def _with_partly_named_note(self, lead: _Lead) -> _Lead:
        """Return a lead with the note that the next words name in part: "to the MacBook: …"."""
        tokens = self._tokens[lead.end : lead.end + _MAX_LEAD_TOKENS]
        ends = {":", *self._words("infinitives"), *self._words("particles")}
        is_end = [token.key in ends or token.kind == "quoted" for token in tokens]
        end = next((at for at in range(2, len(tokens)) if is_end[at]), 0)
        if not end or self._places.parse(tokens[:end]) is not None:
            return lead
        named = self._places.parse_part_of_name(tokens[:end])
        place = lead.place.joined(named) if named is not None else None
        return replace(lead, end=lead.end + end, place=place) if place is not None else lead

    def _begins_with_place(self, tokens: Sequence[Token]) -> bool:
        after = max(self._match(tokens, 0, name) for name in ("places", "headings"))
        has_article = 0 < after < len(tokens) and tokens[after].key in self._language.words("determiners")
        return after > 0 and (has_article or tokens[0].key not in self._words("infinitives"))

    def _before_particle(self, tokens: Sequence[Token]) -> Sequence[Token]:
        ends = tokens and self._match(tokens, len(tokens) - 1, "particles") == len(tokens)
        return tokens[:-1] if ends else tokens

    def _listed(
        self, tokens: tuple[Token, ...], lead: _Lead, place: Place, day: date | None
    ) -> list[Reading]:
        """Return the readings of the tasks after a colon; those without a due date are due on the day."""
        whole = self._append_readings(self._possible_lines(tokens, lead.count), place, day)
        comma = max((at for at, token in enumerate(tokens) if token.key == ","), default=0)
        last = self._places.parse(tokens[comma + 1 :]) if comma else None
        both = place.joined(last) if last is not None and last.notes is not None else None
        if both is None:
            return whole
        shorter = self._append_readings(self._possible_lines(tokens[:comma], lead.count), both, day)
        # "Call Ann by Friday, also in this note" names the note; "…, for Anna" may be a part of the task.
        return shorter if both.is_pronoun else shorter + whole

    def _possible_lines(self, tokens: Sequence[Token], count: int) -> list[list[str]]:
        """Return the lines of the announced number of tasks, in each way to split them; perhaps none."""
        if count == 1:
            return self._all_lines([self._split_at_nouns(tokens)])
        pieces = self._pieces(tokens)
        whole = self._split_at_last_and(pieces)
        if whole != pieces and count not in (len(pieces), len(whole)):
            return self._all_lines([whole, pieces])
        if count == len(whole):
            pieces = whole
        is_doubtful = count not in (0, len(pieces)) and len(pieces) > 1
        return self._all_lines([pieces, [list(tokens)]] if is_doubtful else [pieces])

    def _unlisted(self, tokens: tuple[Token, ...], lead: _Lead) -> list[Reading]:
        """Return the readings of tasks without a colon; a note before them belongs to their place."""
        tokens = tuple(trim_marks(tokens))
        if tokens and tokens[0].key in self._words("postponements"):
            return []  # "put the task off until Monday"
        rest, place = self._split_place(tokens, lead.place)
        return self._without_colon(rest, place, lead.count)

    def _without_colon(self, tokens: tuple[Token, ...], lead_place: Place, count: int) -> list[Reading]:
        """Return the readings of quoted tasks, or of a task that ends with a day."""
        if self._begins_with_unknown_place(tokens):
            return []
        if len(tokens) > 1 and tokens[0].key in self._words("infinitives"):
            tokens = tokens[1:]
        if not tokens:
            return []
        quoted = self._quoted(tokens)
        if quoted:
            texts, rest = quoted
            tail = self._tail(rest)
            place = lead_place.joined(tail[1]) if tail is not None else None
            if tail is None or place is None or count not in (0, len(texts)):
                return []
            return self._append_readings([self._lines(texts, tail[0])], place)
        if count != 1:
            return []
        return self._with_day(tokens, lead_place)

    def _split_place(self, tokens: tuple[Token, ...], place: Place) -> tuple[tuple[Token, ...], Place]:
        """Return the words after the note that they begin with, and the place with that note."""
        for end in range(len(tokens), 0, -1):
            named = self._places.parse(tokens[:end])
            # A heading would take the whole task.
            if named is not None and named.notes is not None and not named.heading:
                both = place.joined(named)
                return (tokens, place) if both is None else (tuple(trim_marks(tokens[end:])), both)
        return tokens, place

    def _begins_with_unknown_place(self, tokens: tuple[Token, ...]) -> bool:
        """Return whether words begin with a heading, or a note that does not exist: "to Shopping to pay"."""
        infinitives = self._words("infinitives")
        after = max(self._match(tokens, 0, name) for name in ("places", "headings"))
        if after == 0 or infinitives.isdisjoint(token.key for token in tokens[after + 1 :]):
            return False
        # "To send it to Ann" begins with no place.
        return tokens[0].key not in infinitives or tokens[after].value[:1].isupper()

    def _with_day(self, tokens: tuple[Token, ...], lead_place: Place) -> list[Reading]:
        """Return the readings of a task that ends with its due date."""
        *others, last = self._split_at_nouns(tokens)
        if others:
            whole = self._append_readings(self._all_lines([[*others, last]]), lead_place)
            for cut in range(1, len(last)):
                tail = self._places.parse(last[cut:])
                place = lead_place.joined(tail) if tail is not None and tail.notes is not None else None
                if place is not None:
                    shorter = self._append_readings(self._all_lines([[*others, last[:cut]]]), place)
                    # "… due Monday to Errands" names the note, "send it to Anna" perhaps not.
                    return shorter if self._split_day(last[:cut])[1] is not None else shorter + whole
            return whole
        for cut in range(1, len(tokens) + 1):
            tail = self._places.parse(tokens[cut:])
            place = lead_place.joined(tail) if tail is not None else None
            text, day = self._split_day(tokens[:cut]) if place is not None else ("", None)
            if day is None or place is None:
                continue
            end = tokens[0].start + len(text)
            words = tuple(token for token in tokens if token.end <= end)
            return self._task_readings(words, day, place)
        return []

    def _task_readings(self, words: tuple[Token, ...], day: date | None, place: Place) -> list[Reading]:
        """Return the readings of a task whose last words may name its note: "send the report to Anna"."""
        task = tuple(self._before_particle(words))
        if not task:
            return []
        whole = self._append_readings([self._lines([written_text(self._request.text, task)], day)], place)
        for at in range(1, len(task)):
            named = self._places.parse(task[at:])
            inner = place.joined(named) if named is not None else None
            if inner is not None:
                text = written_text(self._request.text, task[:at])
                shorter = self._append_readings([self._lines([text], day)], inner)
                # "Füge die Aufgabe X zu H1 hinzu" names the note of the verb.
                return shorter if len(task) < len(words) else shorter + whole
        return whole

    def _tail(self, tokens: Sequence[Token]) -> tuple[date | None, Place] | None:
        """Parse the words after a quoted task: its due date and its place, in any order."""
        tokens = trim_marks(tokens)
        if tokens and self._match(tokens, 0, "particles") > 0:
            tokens = trim_marks(tokens[1:])
        for cut in range(len(tokens) + 1):
            for first, second in ((tokens[:cut], tokens[cut:]), (tokens[cut:], tokens[:cut])):
                place = self._places.parse(self._before_particle(trim_marks(second)))
                if place is None:
                    continue
                day = self._day(first)
                if day is not None or not trim_marks(first):
                    return day, place
        return None

    def _day(self, tokens: Sequence[Token]) -> date | None:
        tokens = trim_marks(tokens)
        if not tokens:
            return None
        text = span_text(self._request.text, tuple(tokens)).strip("()")
        rest, day = split_due_day(f"{_ANY_TEXT}, {text}", self._language, self._request.dates)
        return day if rest == _ANY_TEXT else None

    def _split_day(self, tokens: Sequence[Token]) -> tuple[str, date | None]:
        text = span_text(self._request.text, tuple(tokens))
        return split_due_day(text, self._language, self._request.dates)

    # Lists

    def _quoted(self, tokens: Sequence[Token]) -> tuple[list[str], tuple[Token, ...]] | None:
        """Return the quoted texts at the start of the tokens, and the tokens after them."""
        texts: list[str] = []
        position = 0
        while position < len(tokens):
            at = max(position, self._language.match_prefix(tokens, position, "and")) if texts else position
            while texts and at < len(tokens) and tokens[at].kind == "mark":
                at = max(at + 1, self._language.match_prefix(tokens, at + 1, "and"))
            if at >= len(tokens) or tokens[at].kind != "quoted":
                break
            texts.append(tokens[at].value)
            position = at + 1
        return (texts, tuple(tokens[position:])) if texts else None

    def _pieces(self, tokens: Sequence[Token]) -> list[list[Token]]:
        """Split a list at its line breaks, or else at commas.

        A date and a place stay with the piece before them.
        """
        text = self._request.text
        lines = {at for at in range(1, len(tokens)) if "\n" in text[tokens[at - 1].end : tokens[at].start]}
        pieces: list[list[Token]] = []
        current: list[Token] = []
        for at, token in enumerate(tokens):
            is_comma = token.key in (",", ";") and not lines
            if at in lines or is_comma:
                pieces.append(current)
                current = []
            if not is_comma:
                current.append(token)
        pieces.append(current)
        joined: list[list[Token]] = []
        for piece in pieces:
            after = self._language.match_prefix(piece, 0, "and") if piece else 0
            words = piece[after:] if after < len(piece) else []
            if joined and not lines and self._continues(joined[-1], words):
                joined[-1] += words
            elif words:
                joined.append(words)
        return joined

    def _continues(self, before: Sequence[Token], words: Sequence[Token]) -> bool:
        """Return whether words after a comma are no task: a day, the year of a day, or a place."""
        if not words:
            return False
        place = self._places.parse(words)
        is_place = place is not None and place.notes is not None
        is_year = re.fullmatch(r"\d{4}", words[0].key) is not None
        ends_with_year = is_year and self._split_day([*before, *words])[1] is not None
        return is_place or ends_with_year or self._day(words) is not None

    def _split_at_last_and(self, pieces: list[list[Token]]) -> list[list[Token]]:
        """Return the pieces with the last one split at its last conjunction: "pack and call Ann"."""
        last = pieces[-1] if pieces else []
        for at in range(len(last) - 1, 0, -1):
            after = self._language.match_prefix(last, at, "and")
            if at < after < len(last):
                return [*pieces[:-1], last[:at], last[after:]]
        return pieces

    def _split_at_nouns(self, tokens: Sequence[Token]) -> list[list[Token]]:
        """Split a task at "and a task" or "and another to": "pack the bag and another to call Ann"."""
        leads = {":", *self._words("infinitives")}
        for at in range(1, len(tokens) - 2):
            after = self._language.match_prefix(tokens, at, "and")
            noun = self._noun(tokens, after) if after > at else None
            end = noun[0] if noun is not None and noun[1] == 1 else 0
            if after > at and not end:
                again = self._match(tokens, after, "again")
                end = again if after < again < len(tokens) and tokens[again].key in leads else 0
            if 0 < end < len(tokens) - 1:
                rest = tokens[end + 1 :] if tokens[end].key in leads else tokens[end:]
                return [list(tokens[:at]), *self._split_at_nouns(rest)]
        return [list(tokens)]

    # Readings

    def _lines(self, texts: Sequence[str], day: date | None) -> list[str]:
        lines = [f"{OPEN_TASK}{text}" for text in texts]
        return [with_due_date(line, day) for line in lines] if day is not None else lines

    def _line(self, tokens: Sequence[Token]) -> str:
        """Return the line of one task; empty if it has no text."""
        tokens = trim_marks(tokens)
        if not tokens:
            return ""
        if quoted := self._quoted(tokens):
            texts, rest = quoted
            if not trim_marks(rest):
                return f"{OPEN_TASK}{_LIST_BOX.sub('', texts[0])}" if len(texts) == 1 else ""
            if len(texts) == 1 and (day := self._day(rest)) is not None:
                return with_due_date(f"{OPEN_TASK}{texts[0]}", day)
        text = written_text(self._request.text, tuple(tokens))
        if _FINISHED_BOX.match(text):
            return ""
        text = without_full_stop(_LIST_BOX.sub("", text))
        if tokens[-1] is self._tokens[-1] and not self._is_polite and self._split_day(tokens)[1] is None:
            after = self._request.text[tokens[-1].end :].strip()
            text += after if _END_MARKS.fullmatch(after) else ""
        return task_line(text, self._language, self._request.dates) if text else ""

    @property
    def _is_polite(self) -> bool:
        """True if the request begins with a courtesy, so that its question mark is no part of a task."""
        return self._request.tokens[0] is not self._tokens[0]

    def _all_lines(self, lists: Sequence[Sequence[Sequence[Token]]]) -> list[list[str]]:
        texts = [[self._line(piece) for piece in pieces] for pieces in lists]
        return texts if all(lines and all(lines) for lines in texts) else []

    def _append_readings(
        self, texts: Sequence[list[str]], place: Place, day: date | None = None
    ) -> list[Reading]:
        """Return a reading for each list of lines, at each note that may be meant.

        Args:
            texts: The lists of lines.
            place: The place of the tasks.
            day: The due date of the lines without one.
        """
        notes: list[NoteSet | None] = [*self._notes(place)] or [None]
        readings: list[Reading] = []
        # All ways to split the tasks at the likeliest note come first.
        for note in notes:
            for lines in texts:
                dated = [line if day is None else with_first_due_date(line, day) for line in lines]
                step = place.step("\n".join(dated), note)
                reading = self._reading(step)
                readings.append(reading if note is not None else replace(reading, missing="target"))
        return readings

    def _reading(self, step: PipelineStep) -> Reading:
        return Reading((step,), _SCORE, language=self._language.code, verb_words=1)

    def _notes(self, place: Place) -> list[NoteSet]:
        """Return the notes that may be meant, the likeliest first."""
        dialog = self._request.dialog
        if place.notes is not None and place.is_certain:
            return [place.notes]
        implied = place.notes or self._sets.implied_notes()
        if implied is None or not implied.notes:
            return []
        if place.notes is None and self._sets.implies_one:
            return [implied]
        others = (*dialog.this[:1], *reversed(dialog.recent))
        paths = dict.fromkeys((*implied.notes, *filter(self._request.vocabulary.has_file, others)))
        return [NoteSet(notes=(path,)) for path in paths][:3]

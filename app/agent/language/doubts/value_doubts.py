"""Find reasons to ask before a change whose values may be wrong: texts, names, numbers and days."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from app.agent.language.doubts.stated_amounts import added_amount
from app.agent.language.doubts.stated_days import gives_only_day, in_month_of
from app.agent.language.grammar.note_facts import PropertiesOf, present_values
from app.agent.language.grammar.request import Request, writes
from app.agent.language.grammar.said_words import WORD, SaidWords
from app.agent.language.meaning.actions import TASK_ACTIONS, TOOL_PREFIX
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading, as_tuple
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.task_texts import OPEN_TASK, has_task_date
from app.agent.language.words.tokens import MAX_TOKENS, Token, tokenize
from app.vault.markdown.tasks import with_due_date
from app.vault.path import name_key

_NUMBER_WITH_DOTS = re.compile(r"\+\d+|\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?")
_DIGIT = re.compile(r"\d")
_NUMBER_WITH_UNIT = re.compile(r"([-+]?\d+(?:[.,]\d+)?)\s*[^\W\d_]+\.?")
_TIME = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm|h)?")
_WEEK_DAYS = 7
_MIN_SPELLED_VALUE = 6
"""The minimum length of a value that may be a misspelling of another one."""
_MAX_WORDS_AFTER_UNDO = 2


class ValueDoubts:
    """The doubts about the values of a change.

    Args:
        request: The request.
        reading: The change.
        found: The same with the found notes in place of its searches.
        said: The words of the request.
        properties_of: Returns the properties of the note at a path.
    """

    def __init__(
        self,
        request: Request,
        reading: Reading,
        found: Reading,
        said: SaidWords,
        properties_of: PropertiesOf,
    ) -> None:
        self._request = request
        self._reading = reading
        self._found = found
        self._said = said
        self._properties_of = properties_of

    @property
    def is_in_doubt(self) -> bool:
        """True if the change may be meant for another value, or not as a change."""
        return (
            self._is_asked
            or self._is_hedged
            or any(
                self._has_no_value(step)
                or self._has_no_words(step)
                or bool(self._other_text(step))
                or self._is_weak_deletion(step)
                or self._may_be_renaming(step)
                or self._has_clause(step)
                or self._replaces_value(step)
                or self._moves_other_day(step)
                or self._is_number_with_dots(step)
                or self._has_property_of_other_name(step)
                or self._names_property_in_value(step)
                or self._loses_type(step)
                or self._goes_back(step)
                or self._leaves_out_folder(step)
                or self._has_more_than_task(step)
                or self._leaves_out_words(step)
                or self._place_in_text(step) is not None
                or self._is_whole_request(step)
                or self._describes_task(step)
                or self._undated_task(step) is not None
                or self._has_order_in_text(step)
                or self._is_amount(step)
                for step in self._changes()
            )
        )

    def other_changes(self) -> list[Reading]:
        """Return changes with another action or value that are likelier; mostly none."""
        step, dialog = self._reading.last, self._request.dialog
        if self._may_be_renaming(step) and "rename" in self._request.allowed and dialog.it:
            known = step.target or NoteSet(notes=dialog.it[:1])
            name = step.arguments["name" if step.action == "create_note" else "text"]
            if not isinstance(name, str):
                return []
            return [self._instead(PipelineStep("rename", known, {"new_name": name}))]
        if place := self._place_in_text(step):
            text, notes = place
            return [self._instead(replace(step.with_argument("text", text), target=notes))]
        if (dated := self._undated_task(step)) is not None:
            return [self._instead(step.with_argument("text", dated))]
        if other := self._other_text(step):
            return [self._instead(step.with_argument("value", other))]
        if self._has_no_words(step) and dialog.it:
            notes = step.target or NoteSet(notes=dialog.it[:1])
            others = {name: value for name, value in step.arguments.items() if name != "query"}
            return [self._instead(replace(step, target=notes, arguments=others))]
        match = _NUMBER_WITH_UNIT.fullmatch(str(step.arguments.get("value", "")))
        if match is not None and self._loses_type(step):
            number = match[1].replace(",", ".")
            value = float(number) if "." in number else int(number)
            return [self._instead(step.with_argument("value", value))]
        return []

    def _instead(self, step: PipelineStep) -> Reading:
        return replace(self._reading, steps=(*self._reading.steps[:-1], step))

    def _changes(self) -> Iterator[PipelineStep]:
        return (step for step in self._reading.steps if writes(self._request.allowed, step.action))

    def _found_notes(self, step: PipelineStep) -> tuple[str, ...]:
        """Return the notes of one of the change's steps, with those of its search."""
        at = next(at for at, own in enumerate(self._reading.steps) if own is step)
        target = self._found.steps[at].target
        if target is not None and target.source == "previous" and at:
            target = self._found.steps[0].target
        return target.notes if target is not None else ()

    def _has_no_value(self, step: PipelineStep) -> bool:
        """Return whether a tag or value is only a word such as "it" or "then": "add a field topics to it"."""
        values = [step.arguments.get(role, "") for role in ("tag", "value")]
        texts = {str(text).casefold() for value in values for text in as_tuple(value)}
        words = texts & self._said.word_list("no_values")
        return any(token.is_word and token.key in words for token in self._request.tokens)

    def _other_text(self, step: PipelineStep) -> str:
        """Return the other known text that a value may mean, or misspell: "to read" or "read"."""
        key, value = str(step.arguments.get("key", "")), step.arguments.get("value")
        if step.action != "set_property" or not isinstance(value, str) or self._request.is_marked(value):
            return ""
        said, find = self._request.text.casefold(), self._request.vocabulary.find_text_of
        cue, _, rest = value.casefold().partition(" ")
        before = said.partition(f" {value.casefold()}")[0].split()
        longer = f"{before[-1]} {value}" if before and f" {value.casefold()}" in said else ""
        others = (rest if f" {cue} {rest}" in said else "", longer)
        if other := next((own for text in others if text and (own := find(key, text)) and own != value), ""):
            return other
        forms = {name_key(value), *self._request.vocabulary.singular_forms(name_key(value))}
        known = find(key, value) or ""  # "portugese"
        return known if name_key(known) not in forms and len(value) >= _MIN_SPELLED_VALUE else ""

    def _has_no_words(self, step: PipelineStep) -> bool:
        """Return whether the words for a task are only words such as "with that": "done with that too"."""
        if step.action not in TASK_ACTIONS or "query" not in step.arguments:
            return False
        language = self._request.language
        plain = language.function_words() | language.words("fillers") | language.words("determiners")
        words = tokenize(str(step.arguments["query"]), language.contractions)
        return bool(words) and all(token.is_word and token.key in plain for token in words)

    @property
    def _is_asked(self) -> bool:
        """True if the request ends with a question mark of its own, and is no polite order: "tag late?"."""
        tokens = [token for token in self._request.tokens if token.kind != "mark"]
        is_text = any(text.rstrip().endswith("?") for text in self._said.texts)
        is_text = is_text or not (tokens and tokens[-1].is_word)
        return self._request.text.rstrip().endswith("?") and not is_text and not self._said.says("polite")

    @property
    def _is_hedged(self) -> bool:
        """True if a request is only a thought: "perhaps delete it"."""
        words = self._said.word_list("hedges") & {*WORD.findall(self._request.text.casefold())}
        return any(not any(word in text for text in self._said.texts) for word in words)

    def _is_weak_deletion(self, step: PipelineStep) -> bool:
        """Return whether a verb for a deletion also means taking something out of a note: "remove it".

        A name in its own spelling, or a word such as "note", leaves no doubt. Other verbs may also be about
        what the note describes: "kill Grusk", "scrap the garden bench".
        """
        if step.action != "delete":
            return False
        nouns = self._request.language.words("note_nouns") | self._request.language.words("single_nouns")
        if self._said.says("world_verbs"):
            return nouns.isdisjoint(token.key for token in self._said.tokens)
        if not self._said.says("removals"):
            return False
        is_spelled = any(
            token.kind != "word" or token.value[:1].isupper()
            for mention in self._said.mentions
            if mention.kind == "note"
            for token in mention.tokens
        )
        return not is_spelled and nouns.isdisjoint(token.key for token in self._said.tokens)

    def _has_clause(self, step: PipelineStep) -> bool:
        """Return whether an unquoted name or value may end earlier: "rename it to Log unless Ann objects".

        It may also be a description: "rename it to something shorter".
        """
        roles = {"rename": ("new_name",), "set_property": ("value",), "replace": ("text",)}
        for role in roles.get(step.action, ()):
            text = step.arguments.get(role)
            if not isinstance(text, str) or self._request.is_marked(text):
                continue
            if role == "value" and ", " in text:
                return True  # perhaps a list
            first, *others = text.casefold().split() or [""]
            if (
                not self._said.word_list("name_ends").isdisjoint(others)
                or not self._said.word_list("last_words").isdisjoint(others[-1:])
                or first in self._said.word_list("descriptions")
            ):
                return True
        return False

    def _replaces_value(self, step: PipelineStep) -> bool:
        """Return whether a change replaces a value that may have to stay: "add the alias X to it".

        One value also hardly replaces several without a question.
        """
        if step.action not in ("set_property", "set_type") or step.target is None:
            return False
        key = name_key(str(step.arguments.get("key", "type")))
        new = as_tuple(step.arguments.get("value", step.arguments.get("type")))
        for properties in map(self._properties_of, self._found_notes(step)):
            for name, value in properties.items():
                old = value if isinstance(value, list | tuple) else [value]
                is_unlike = self._said.says("additions") or len(new) == 1 < len(old)
                kept, known = {str(text) for text in new}, {str(text) for text in old}
                is_removal = isinstance(step.arguments.get("value"), tuple) and kept < known
                if name_key(name) == key and value and is_unlike and not (known <= kept or is_removal):
                    return True
        return False

    def _is_asked_for_month(self, present: str, due: str) -> bool:
        """Return whether the change of a task asks for the month of its new day: "push it to the 25th"."""
        today = self._request.dates.today
        moved = in_month_of(date.fromisoformat(present), date.fromisoformat(due), today)
        return moved is not None and gives_only_day(self._request, self._reading)

    def _moves_other_day(self, step: PipelineStep) -> bool:
        """Return whether a new day may be meant for a note or its property, is a period, or is earlier.

        "Move the wedding to May" may be about the note Wedding instead of a task.
        """
        if step.action != "reschedule_task":
            return False
        due, query = str(step.arguments.get("due", "")), str(step.arguments.get("query", ""))
        days = ISO_DAY.findall(query)
        if ".." in due:
            return True
        if days and ISO_DAY.fullmatch(due) and due < max(days):
            return not self._is_asked_for_month(max(days), due)
        language, listed = self._request.language, self._request.dialog.tasks
        is_listed = step.arguments.get("query") in [text for _, text in listed]
        if is_listed or self._said.has_one_of(language.words("task_nouns")):
            return False
        kinds = {mention.kind for mention in self._said.mentions}
        dates = [mention for mention in self._said.mentions if mention.kind == "date"]
        return not kinds.isdisjoint(("prop", "note")) or len(dates) > 1

    def _is_number_with_dots(self, step: PipelineStep) -> bool:
        """Return whether a number may be another one, or a day: "3.900", "31.3.", "+3"."""
        if step.action != "set_property":
            return False
        old_values, text = self._old_values(step), self._request.text.rstrip("?!")
        if old_values and all(isinstance(old, int | float) for old in old_values):
            text = text.removesuffix(".")  # the full stop
        return any(_NUMBER_WITH_DOTS.fullmatch(word) for word in text.split())

    def _names_property_in_value(self, step: PipelineStep) -> bool:
        """Return whether a value begins like another property: "add the topic Art to the episode"."""
        value, language = step.arguments.get("value"), self._request.language
        words = value.split() if step.action == "set_property" and isinstance(value, str) else []
        if len(words) < 3 or words[0].casefold() not in language.words("determiners"):
            return False
        return self._request.vocabulary.find_property(words[1]) is not None

    def _has_property_of_other_name(self, step: PipelineStep) -> bool:
        """Return whether a new property may be meant as a note: "… to 7 and of the second to 8"."""
        key = str(step.arguments.get("key", ""))
        language, names = self._request.language, self._request.vocabulary
        nouns = language.table("property_values")["nouns"]
        if (
            step.action != "set_property"
            or self._request.is_marked(key)
            or names.find_property(key) is not None
        ):
            return False
        if any(token.key in nouns for token in self._request.tokens):
            return False
        word = key.casefold()
        is_owner = word in language.table("ordinals") or word.endswith(("'s", "’s")) or bool(names.notes(key))
        return is_owner or (len(self._reading.steps) > 1 and bool(names.find_similar_notes(key).paths))

    def _loses_type(self, step: PipelineStep) -> bool:
        """Return whether a text would replace a number, a date or a checkbox: "200 g" instead of 400.

        Words in place of a number or a date are hardly a mistake ("never"); digits may be.
        """
        value = step.arguments.get("value")
        if step.action != "set_property" or not isinstance(value, str) or self._request.is_marked(value):
            return False
        if not _DIGIT.search(value) or ISO_DAY.fullmatch(value):
            return any(isinstance(old, bool) for old in self._old_values(step)) and not self._is_state(value)
        return any(
            isinstance(old, int | float) or ISO_DAY.fullmatch(str(old)) for old in self._old_values(step)
        )

    def _is_state(self, value: str) -> bool:
        """Return whether a value is one of a checkbox."""
        table = self._request.language.table("property_values")
        return value.casefold() in ("true", "false", *table["checked"], *table["unchecked"])

    def _old_values(self, step: PipelineStep) -> list[object]:
        """Return the present values of the property that a step sets, in each of its notes."""
        return present_values(self._properties_of, self._found_notes(step), step.arguments.get("key", ""))

    def _has_more_than_task(self, step: PipelineStep) -> bool:
        """Return whether a new task has two days or a change of a task: "found one, tick it"."""
        text = str(step.arguments.get("text", "")).casefold()
        if not text.startswith(OPEN_TASK):
            return False
        dates = [mention for mention in self._said.mentions if mention.kind == "date"]
        if has_task_date(text) and len(dates) > 1:
            return True  # "sow on 1 March, plant out by 15 May"
        return not self._said.word_list("task_changes").isdisjoint(WORD.findall(text))

    def _undated_task(self, step: PipelineStep) -> str | None:
        """Return a new task with the day at the end of its text as its due date: "buy candles in a week".

        Return None without such a day, and for a task with a date.
        """
        text = str(step.arguments.get("text", ""))
        if step.action not in ("append", "prepend") or not text.startswith(OPEN_TASK) or "\n" in text:
            return None
        task = text.removeprefix(OPEN_TASK)
        own = tokenize(task, self._request.language.contractions)
        if has_task_date(task) or len(own) >= MAX_TOKENS:
            return None
        time = self._time_at_end(own)
        for start in range(1, time):
            first, _, last = (self._request.dates.days_ahead(own[start:time]) or "").partition("..")
            if not ISO_DAY.fullmatch(first) or first < str(self._request.dates.today):
                continue
            day = date.fromisoformat(last or first)
            if (day - date.fromisoformat(first)).days < _WEEK_DAYS:
                end = start - (own[start - 1].key in self._said.word_list("due_leads"))
                words = task[: own[max(end, 1)].start].rstrip(" ,:;–-")
                clock = f" {task[own[time].start :]}" if time < len(own) else ""
                return with_due_date(f"{OPEN_TASK}{words}{clock}", day)
        return None

    def _time_at_end(self, tokens: Sequence[Token]) -> int:
        """Return the position of the time that ends a task's text ("at 11"), or the end without one."""
        table, end = self._request.language.table("stated_values"), len(tokens)
        number = end - (tokens[-1].key in table["clock_words"]) - 1
        is_time = number > 1 and _TIME.fullmatch(tokens[number].key) is not None
        return number - 1 if is_time and tokens[number - 1].key in table["time_cues"] else end

    def _is_amount(self, step: PipelineStep) -> bool:
        """Return whether an added text is only an amount, so that a property may be meant: "add 5 hours"."""
        return added_amount(self._request, step) is not None

    def _has_order_in_text(self, step: PipelineStep) -> bool:
        """Return whether an added text ends with what may be another order: "…, and tag it brass"."""
        text, language = step.arguments.get("text"), self._request.language
        if (
            step.action not in ("append", "prepend")
            or not isinstance(text, str)
            or self._request.is_marked(text)
        ):
            return False
        tokens = tokenize(text.removeprefix(OPEN_TASK), language.contractions)
        if len(tokens) >= MAX_TOKENS:
            return False
        objects = self._said.word_list("objects") | self._said.word_list("order_objects")
        ends = {
            after for at in range(1, len(tokens)) if (after := language.match_prefix(tokens, at, "and")) > at
        }
        return any(
            tokens[at].key in language.verbs() and at + 1 < len(tokens) and tokens[at + 1].key in objects
            for at in ends
            if at < len(tokens)
        )

    def _leaves_out_words(self, step: PipelineStep) -> bool:
        """Return whether the words after an added text may belong to it: "add a line, the thumb is fine"."""
        text = step.arguments.get("text")
        if (
            step.action not in ("append", "prepend")
            or not isinstance(text, str)
            or self._request.is_marked(text)
        ):
            return False
        end = self._request.text.casefold().rfind(text.casefold())
        after = WORD.findall(self._request.text[end + len(text) :].casefold()) if end >= 0 and text else []
        language = self._request.language
        rest = tokenize(self._request.text[end + len(text) :].strip(" ,.;!"), language.contractions)
        if end == 0 and language.matches_phrase(rest, "added_lines", "after_fact"):
            return False  # "he is back in May, note that"
        cues = self._said.word_list("place_cues") | language.words("fillers")
        return bool(after) and after[0] not in cues | self._said.word_list("polite")

    def _place_in_text(self, step: PipelineStep) -> tuple[str, NoteSet] | None:
        """Return the text and the note of "add a line: milk to Shopping" if all of it is read as the text."""
        text, mention = step.arguments.get("text"), self._said.mentions[-1]
        if step.action not in ("append", "prepend") or not isinstance(text, str) or mention.kind != "note":
            return None
        cues = self._said.word_list("destination_cues")
        start = mention.tokens[0].start
        before = self._request.text[:start].rstrip()
        cue = before.rpartition(" ")[2]
        place = self._request.text[len(before) - len(cue) :]
        is_place = cue.casefold() in cues and text.endswith(place) and len(text) > len(place)
        if not is_place or mention.notes is None or mention.notes == step.target:
            return None
        return text.removesuffix(place).strip(), mention.notes

    def _is_whole_request(self, step: PipelineStep) -> bool:
        """Return whether a tool would get the whole request as a text, so that it may be another order."""
        text = self._request.text.casefold()
        values = (str(value).casefold() for value in step.arguments.values())
        return step.action.startswith(TOOL_PREFIX) and any(
            value and text.startswith(value) for value in values
        )

    def _leaves_out_folder(self, step: PipelineStep) -> bool:
        """Return whether a request for a move has another folder: "move these to A and those to B"."""
        if step.action != "move" or step.target is None:
            return False
        used = f"{step.arguments['folder']} {step.target.query}".casefold()
        find = self._request.vocabulary.find_folder
        names = [token.value for token in self._request.tokens[1:] if token.value[:1].isupper()]
        folders = [folder for name in names if (folder := find(name)) is not None]
        return any(folder.casefold() not in used for folder in folders)

    def _goes_back(self, step: PipelineStep) -> bool:
        """Return whether an undo may be another step, or the first of two: "bring it back, X instead".

        "Go back" may mean the note before if the last request changed nothing.
        """
        last = self._request.dialog.last
        if step.action != "undo":
            return False
        has_changed = last is None or self._request.writes(last)
        if "what" in step.arguments and self._goes_on_after_comma:
            return True  # "undo the delete, keep the note in Archive"
        return self._said.says("sequels") or (not has_changed and self._said.says("returns"))

    @property
    def _goes_on_after_comma(self) -> bool:
        """True if several words follow a comma, and no exception: "…, but not the tag"."""
        tokens, language = self._request.tokens, self._request.language
        comma = next((at for at, token in enumerate(tokens) if token.key == ","), len(tokens))
        after = [token for token in tokens[comma + 1 :] if token.is_word]
        is_exception = language.match_prefix(after, 0, "undo", "except") > 0
        return len(after) > _MAX_WORDS_AFTER_UNDO and not is_exception

    def _describes_task(self, step: PipelineStep) -> bool:
        """Return whether the words for a task refer to something: "tick off the task that asked for it"."""
        listed = [text for _, text in self._request.dialog.tasks]
        query = str(step.arguments.get("query", ""))
        if step.action not in TASK_ACTIONS or query in listed or self._request.is_marked(query):
            return False
        return not self._said.word_list("objects").isdisjoint(query.casefold().split())

    def _may_be_renaming(self, step: PipelineStep) -> bool:
        """Return whether a known note may get a new name: "make the note just X", "the note is now X"."""
        language, said = self._request.language, self._said.tokens
        # "Note" is no verb at the beginning of "the note is now X".
        positions = {"create_note": range(len(said)), "append": range(1)}.get(step.action, range(0))
        return any(language.match_prefix(said, at, "one_note") > at + 1 for at in positions if said)

"""Find the edits that replace or remove a text in notes, or add an item to a list."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import datetime

from app.agent.generic_formatting import wikilink
from app.agent.language.meaning.readings import PipelineStep, as_tuple
from app.agent.language.words.dates import DateParser
from app.agent.language.words.heading_names import named_heading
from app.agent.language.words.lexicon import Language, languages
from app.agent.language.words.task_texts import split_due_day
from app.agent.language.words.text_lists import is_list_name
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.list_places import ListPlace, find_list, may_be_item
from app.agent.pipeline.note_texts import lines_of, read_whole
from app.agent.pipeline.step_arguments import written_text
from app.agent.pipeline.tool_calls import ToolCalls
from app.errors import AmbiguousError, NotFoundError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import section
from app.vault.markdown.scan import scan
from app.vault.markdown.tasks import with_due_date
from app.vault.path import NotePath

_MAX_ITEM_WORDS = 5
_LEADING_NUMBER = re.compile(r"\s*(\d+).*", re.DOTALL)
_BULLET = re.compile(r"[-*+][ \t]+(?!\[.\]\s)")
_NUMBER_MARK = re.compile(r"(\d{1,9})[.)][ \t]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LAST_LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")


class TextEdits:
    """Finds the calls that change a text in notes.

    Args:
        tools: Reads the notes, and tells the user why there are no calls.
        verbatim: The texts that the request quotes or calls a line, which are written as they are.
        language: The language of the request.
        now: Returns the current time.
        keeps_words: Whether added texts keep the day at their end, since the user dictated or saw them.
    """

    def __init__(
        self,
        tools: ToolCalls,
        verbatim: Collection[str],
        language: Language,
        now: Callable[[], datetime],
        *,
        keeps_words: bool = False,
    ) -> None:
        self._tools = tools
        self._language = language
        self._now = now
        self._verbatim = verbatim
        self._keeps_words = keeps_words

    async def replacement_calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
        """Return the calls that replace every occurrence of a text as whole words.

        If a note can't be read or has none, tell the user and return None.
        """
        calls: list[Arguments] = []
        for path in paths:
            text, old = await read_whole(self._tools, path), str(step.arguments["old"])
            if text is None:
                return None
            body = text[read_frontmatter(text).body_start :]
            first, last = 0, len(body)
            if heading := str(step.arguments.get("heading", "")):
                if (bounds := self._section_of(path, text, heading)) is None:
                    return None
                first, last = (at - (len(text) - len(body)) for at in bounds)
            word = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)")
            places = [
                at
                for at, match in enumerate(re.finditer(re.escape(old), body), 1)
                if first <= match.start() < last and word.match(body, match.start())
            ]
            if not places and heading:
                self._tools.say(f"“{old}” does not occur under “{heading}”. Nothing was changed.")
                return None
            if not places:
                self._tools.say(
                    f"“{old}” does not occur as a whole word in {wikilink(path)}. Nothing was changed."
                )
                return None
            # Replace the last occurrence first, so that the others keep their numbers.
            calls += [replacement_call(step, path, place) for place in reversed(places)]
        return calls

    async def number_calls(self, step: PipelineStep, paths: tuple[str, ...]) -> list[Arguments] | None:
        """Return the calls that replace a number, which is no part of another one: not the 9.4 of 19.4.

        If a note can't be read or has only such parts, tell the user and return None.
        """
        calls: list[Arguments] = []
        for path in paths:
            whole, old = await read_whole(self._tools, path), str(step.arguments["old"])
            if whole is None:
                return None
            body = whole[read_frontmatter(whole).body_start :]
            number = re.compile(rf"(?<!\d)(?<!\d[.,:]){re.escape(old)}(?![.,:]?\d)")
            found = list(re.finditer(re.escape(old), body))
            places = [at for at, match in enumerate(found, 1) if number.match(body, match.start())]
            if found and not places and old not in self._verbatim:
                self._tools.say(
                    f"{old} is only a part of other numbers in {wikilink(path)}. Nothing was changed."
                )
                return None
            # The tool asks which of several is meant, and says that there is none.
            calls.append(replacement_call(step, path, places[0] if len(places) == 1 else 0))
        return calls

    def _section_of(self, path: str, text: str, heading: str) -> tuple[int, int] | None:
        """Return the start and end of a heading's section; tell the user and return None without one."""
        try:
            found = section(text, heading)
        except (NotFoundError, AmbiguousError):
            self._tools.say(f"{wikilink(path)} has no single heading “{heading}”. Nothing was changed.")
            return None
        return found.start, found.end

    async def removal_calls(self, paths: tuple[str, ...], words: str) -> list[Arguments] | None:
        """Return the calls that remove `words` from each note, or the list item that contains nothing else.

        A link whose target contains the words, or whose text is these words, is removed as a whole, unless
        the words are also elsewhere. If a note can't be read or does not contain the words, tell the user
        and return None.
        """
        # Casefolding could change the length of a line, and with it the position of the words.
        text = re.escape(words)
        target = rf"[^\[\]|]*(?<!\w){text}(?!\w)[^\[\]|]*(?:\|[^\[\]]*)?"
        link = re.compile(rf"(?<!!)\[\[(?:{target}|[^\[\]|]*\|{text})\]\]|{text}", re.IGNORECASE)
        plain = re.compile(text, re.IGNORECASE)
        calls: list[Arguments] = []
        for path in paths:
            whole = await read_whole(self._tools, path)
            if whole is None:
                return None
            start = read_frontmatter(whole).body_start
            matches = {match[0] for line, _ in lines_of(whole, start) for match in link.finditer(line)}
            pattern = link if len(matches) == 1 else plain
            found = [(line, at) for line, at in lines_of(whole, start) if pattern.search(line)]
            if not found:
                self._tools.say(f"“{words}” does not occur in {wikilink(path)}.")
                return None
            items = [own for own in found if pattern.fullmatch(item_text(own[0]))]
            if len(items) == 1:
                calls.append(line_removal(path, whole, *items[0]))
            else:
                old = _with_comma(pattern, (items or found)[0][0])
                calls.append({"name": path, "op": "replace", "old": old, "text": ""})
        return calls

    async def addition(self, path: str, text: object, heading: str = "") -> Arguments:
        """Return the call that adds a text to the end of a note, or of the section below a heading.

        The text becomes an item of the list there if nothing else is there, if the name of the note is one of
        a list, if its number is the next one of a numbered list, or if the text is the items of a list: a
        tuple. Without a heading "tasks" or "list", the list itself is meant.
        """
        outcome = await self._tools.call("read_note", {"name": path})
        whole = str(outcome.result["text"]) if outcome.success else ""
        if heading and not (heading := self._known_heading(whole, heading)):
            text = as_tuple(text)  # an item of the list
        place: Arguments = {"op": "insert_under", "heading": heading} if heading else {"op": "append"}
        call: Arguments = {"name": path, **place}
        texts = tuple(map(str, as_tuple(text)))
        numbered = _continued_numbers(find_list(whole, heading, is_numbered=True), texts)
        found, texts = numbered or (find_list(whole, heading), texts)
        continues_numbers = numbered is not None
        is_list = continues_numbers or isinstance(text, tuple) or (not heading and _is_list_by_name(path))
        is_item = is_list or (found is not None and found.is_only_text and found.takes(texts[0]))
        is_remark = isinstance(text, str) and text in self._verbatim
        if is_remark and is_list:  # "add the line Black Dog to Playlist" is an item
            is_remark = len(texts[0].split()) > _MAX_ITEM_WORDS
        if found is not None and found.item[4] and is_remark:
            is_item = False  # a remark is no task
        if found is None or not is_item or not all(map(may_be_item, texts)):
            return {**call, "text": written_text(texts if len(texts) > 1 else texts[0])}
        if found.has_due_tasks and (dated := tuple(map(self._dated, texts))) != texts:
            texts = dated
        lines = found.lines(texts)
        if found.is_last:
            return {**call, "text": lines}
        may_insert = found.is_only_list and (isinstance(text, tuple) or found.precedes_tags)
        if not (may_insert or continues_numbers):
            return {**call, "text": written_text(texts if len(texts) > 1 else texts[0])}
        # Below the last item, before the other text.
        first = whole.rfind("\n", 0, found.end) + 1
        old = whole[first : found.end]
        number = whole.count(old, read_frontmatter(whole).body_start, first) + 1
        return {"name": path, "op": "replace", "old": old, "text": f"{old}\n{lines}", "occurrence": number}

    def _known_heading(self, text: str, words: str) -> str:
        """Return the heading that words name; an empty text for a list without a heading.

        The heading may have other words without a meaning of their own.
        """
        like = named_heading(words, [own.text for own in scan(text).headings], self._language)
        if like or (found := find_list(text)) is None or not (found.is_last or found.is_only_list):
            return like or words
        is_tasks = not self._language.words("task_nouns").isdisjoint(words.casefold().split())
        return "" if is_list_name(words, self._language) or (is_tasks and found.item[4]) else words

    def _dated(self, text: str) -> str:
        """Return an item of a list of tasks with the deadline at its end as its due date: "mop by Friday"."""
        if self._keeps_words or text in self._verbatim:
            return text
        dates = DateParser(self._language, self._now())
        rest, day = split_due_day(text, self._language, dates, needs_deadline=True)
        return with_due_date(rest, day) if day is not None else text


def _continued_numbers(
    place: ListPlace | None, texts: tuple[str, ...]
) -> tuple[ListPlace, tuple[str, ...]] | None:
    """Return a numbered list and texts without their numbers if these continue it: "4. Rest"; else None.

    A single point, "- Rest", continues the list at the end of its note or section.
    """
    if place is None or not place.is_numbered:
        return None
    first = int(_LEADING_NUMBER.sub(r"\1", place.lines(("",))))
    is_point = place.is_last and len(texts) == 1 and _BULLET.match(texts[0]) is not None
    marks = [_BULLET.match(text) if is_point else _NUMBER_MARK.match(text) for text in texts]
    numbers = [first] if is_point else [int(mark[1]) for mark in marks if mark]
    rest = tuple(text[mark.end() :] for text, mark in zip(texts, marks, strict=True) if mark)
    is_next = numbers == [first + at for at in range(len(texts))]
    return (place, rest) if is_next and all(map(may_be_item, rest)) else None


def _is_list_by_name(path: str) -> bool:
    name = NotePath.on_disk(path).name
    return any(is_list_name(name, language) for language in languages())


def _with_comma(pattern: re.Pattern[str], line: str) -> str:
    """Return the words in a line, with the comma that they leave: "lemon, sage, honey" without "sage"."""
    match = pattern.search(line)
    assert match is not None
    before, after = line[: match.start()], line[match.end() :]
    if before.endswith(", ") and (not after.strip() or after.startswith(",")):
        return f", {match[0]}"
    is_first = not item_text(before) or before.endswith(": ")
    return f"{match[0]}, " if is_first and after.startswith(", ") else match[0]


def replacement_call(step: PipelineStep, path: str, occurrence: int) -> Arguments:
    """Return the call that replaces an occurrence of a text, counted from 1; 0 stands for the only one."""
    old, text = str(step.arguments["old"]), str(step.arguments["text"])
    call: Arguments = {"name": path, "op": "replace", "old": old, "text": text}
    return {**call, "occurrence": occurrence} if occurrence else call


def line_removal(path: str, text: str, line: str, at: int) -> Arguments:
    """Return the call that removes a line at a position of a note's text, with one of its line ends."""
    start, after = read_frontmatter(text).body_start, at + len(line)
    end = _LINE_END.match(text, after)
    if end is None and after == len(text) and (before := _LAST_LINE_END.search(text, start, at)):
        at = before.start()
    old = text[at : end.end() if end else after]
    call: Arguments = {"name": path, "op": "replace", "old": old, "text": ""}
    if text.count(old, start) > 1:
        call["occurrence"] = text.count(old, start, at) + 1
    return call


def item_text(line: str) -> str:
    """Return the text of a list item or task without its mark."""
    return line.strip().lstrip("-*+ ").removeprefix("[ ] ").removeprefix("[x] ").strip()

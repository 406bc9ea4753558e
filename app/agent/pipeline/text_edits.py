"""Find the edits that replace or remove a text in notes, or add an item to a list."""

from __future__ import annotations

import re
from collections.abc import Collection

from app.agent.generic_formatting import wikilink
from app.agent.language.lexicon import languages
from app.agent.language.readings import PipelineStep
from app.agent.language.text_lists import is_list_name
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.note_texts import read_whole
from app.agent.pipeline.tool_calls import ToolCalls
from app.agent.result_formatting import strip_properties
from app.errors import AmbiguousError, NotFoundError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import section
from app.vault.markdown.tables import add_rows
from app.vault.path import NotePath

_LIST_ITEM = re.compile(r"([ \t]*[-*+] )(\[.\] )?")
_BLOCK_START = re.compile(r"\s*(#{1,6} |>|\||```|\d+[.)] )")


class TextEdits:
    """Finds the calls that change a text in notes.

    Args:
        tools: Reads the notes, and tells the user why there are no calls.
        quoted: The texts that the request quotes, which are written as they are.
    """

    def __init__(self, tools: ToolCalls, quoted: Collection[str]) -> None:
        self._tools = tools
        self._quoted = quoted

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

    async def have_tables(self, step: PipelineStep, paths: tuple[str, ...]) -> bool:
        """Return whether each note has a table for a new row; tell the user if one has none."""
        heading = str(step.arguments.get("heading", ""))
        for path in paths:
            if (text := await read_whole(self._tools, path)) is None:
                return False
            try:
                is_found = add_rows(text, str(step.arguments["text"]), heading) is not None
            except (NotFoundError, AmbiguousError):
                continue  # the tool says so
            if not is_found:
                where = f" under “{heading}”" if heading else ""
                self._tools.say(f"{wikilink(path)} has no table{where}. Nothing was changed.")
                return False
        return True

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

        If a note can't be read or does not contain the words, tell the user and return None.
        """
        # Casefolding could change the length of a line, and with it the position of the words.
        pattern = re.compile(re.escape(words), re.IGNORECASE)
        calls: list[Arguments] = []
        for path in paths:
            outcome = await self._tools.call("read_note", {"name": path})
            if not outcome.success:
                self._tools.say_result("read_note", {"name": path}, outcome)
                return None
            text = strip_properties(str(outcome.result["text"]))
            lines = [line for line in text.splitlines() if pattern.search(line)]
            if not lines:
                self._tools.say(f"“{words}” does not occur in {wikilink(path)}.")
                return None
            items = [line for line in lines if item_text(line).casefold() == words.casefold()]
            if len(items) == 1 and text.count(f"{items[0]}\n") == 1:
                calls.append({"name": path, "op": "replace", "old": f"{items[0]}\n", "text": ""})
            else:
                old = pattern.findall((items or lines)[0])[0]
                calls.append({"name": path, "op": "replace", "old": old, "text": ""})
        return calls

    async def as_item(self, path: str, text: str) -> str:
        """Return an added line as an item if the note is a list by its name and ends with one."""
        name = NotePath.on_disk(path).name
        is_list = any(is_list_name(name, language) for language in languages())
        if not is_list or "\n" in text.strip() or text in self._quoted:
            return text
        outcome = await self._tools.call("read_note", {"name": path})
        last = str(outcome.result["text"]).rstrip().rpartition("\n")[2] if outcome.success else ""
        item = _LIST_ITEM.match(last)
        if item is None or _LIST_ITEM.match(text) or _BLOCK_START.match(text):
            return text
        return f"{item[1]}{'[ ] ' if item[2] else ''}{text}"


def replacement_call(step: PipelineStep, path: str, occurrence: int) -> Arguments:
    """Return the call that replaces an occurrence of a text, counted from 1; 0 stands for the only one."""
    old, text = str(step.arguments["old"]), str(step.arguments["text"])
    call: Arguments = {"name": path, "op": "replace", "old": old, "text": text}
    return {**call, "occurrence": occurrence} if occurrence else call


def item_text(line: str) -> str:
    """Return the text of a list item or task without its mark."""
    return line.strip().lstrip("-*+ ").removeprefix("[ ] ").removeprefix("[x] ").strip()

"""Find the list in a note that an added text continues."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from app.agent.pipeline.note_texts import lines_of
from app.errors import AmbiguousError, NotFoundError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.headings import section
from app.vault.markdown.masking import code_spans
from app.vault.markdown.tasks import task_facts

_ITEM = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)(\[.\][ \t]+)?(.*)")
# A thematic break has the same characters as items.
_RULE = re.compile(r" {0,3}([-*])([ \t]*\1){2,}[ \t]*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_BLOCK_START = re.compile(r"\s*(#{1,6} |>|\||```|~~~|([-*+]|\d{1,9}[.)])[ \t])")
_TAGS = re.compile(r"\s*#[^\s#]+(\s+#[^\s#]+)*\s*")
_SENTENCE_END = re.compile(r"[.!?][\"”“)]?$|[.!?]\s+[A-ZÄÖÜ]")
_MIN_SENTENCE_WORDS = 3
_MIN_CHECKLIST = 3


@dataclass(frozen=True, slots=True)
class ListPlace:
    """The last list of a note, or of a section of it.

    Args:
        end: The position after the text of the list's last line.
        item: The last item that is not part of another item.
        texts: The texts of the items.
        is_only_text: Whether no other text is around it but headings, tags and a line that introduces it; at
            the end of a checklist, one paragraph may be before it.
        is_last: Whether no text follows it.
        precedes_tags: Whether only tags or tasks follow it.
        is_only_list: Whether there is no other list.
        has_due_tasks: Whether the last item is a task, and an item has a due date.
    """

    end: int
    item: re.Match[str]
    texts: tuple[str, ...]
    is_only_text: bool
    is_last: bool
    precedes_tags: bool
    is_only_list: bool
    has_due_tasks: bool

    @property
    def is_numbered(self) -> bool:
        """True if the items have numbers and are no tasks."""
        return self.item[2][:-1].isdigit() and not self.item[4]

    def takes(self, text: str) -> bool:
        """Return whether a text is like the items: no sentence among items that are none."""
        return not is_sentence(text) or any(map(is_sentence, self.texts))

    def lines(self, texts: Sequence[str]) -> str:
        """Return texts as further items, tasks among tasks."""
        indent, mark, space, box = self.item[1], self.item[2], self.item[3], "[ ] " if self.item[4] else ""
        number = int(mark[:-1]) if mark[:-1] else None
        marks = [mark if number is None else f"{number + at}{mark[-1]}" for at in range(1, len(texts) + 1)]
        return "\n".join(f"{indent}{own}{space}{box}{text}" for own, text in zip(marks, texts, strict=True))


@dataclass(slots=True)
class _List:
    """A list in a note: its items, and the position after the text of its last line."""

    items: list[re.Match[str]]
    end: int

    @property
    def has_tasks(self) -> bool:
        return bool(self.items[-1][4])


def find_list(text: str, heading: str = "", *, is_numbered: bool = False) -> ListPlace | None:
    """Return the last list of a note, or of the section below a heading; None without one.

    With `is_numbered`, only a list whose last item has a number counts.
    """
    start, end = read_frontmatter(text).body_start, len(text)
    if heading:
        try:
            found = section(text, heading)
        except (NotFoundError, AmbiguousError):
            return None
        start, end = found.start, found.own_end
    lists, others = _lists_in(text, start, end)
    known = [own for own in lists if not is_numbered or own.items[-1][2][:-1].isdigit()]
    if heading and (plain := [own for own in known if not own.has_tasks]):
        known = lists = plain  # the tasks after them take no text
    if not known:
        return None
    items, after = known[-1].items, known[-1].end
    least = min(len(item[1]) for item in items)
    last = [item for item in items if len(item[1]) == least][-1]
    rest = [line for line in text[after:end].split("\n") if line.strip()]
    is_checklist = len(items) >= _MIN_CHECKLIST and all(item[4] for item in items)
    max_others = 1 if is_checklist and len(lists) == 1 and not rest else 0
    return ListPlace(
        after,
        last,
        tuple(item[5] for item in items),
        is_only_text=len(others) <= max_others and any(item[5].strip() for item in items),
        is_last=not rest,
        precedes_tags=all(
            _TAGS.fullmatch(line) or ((item := _ITEM.fullmatch(line)) and item[4]) for line in rest
        ),
        is_only_list=len(lists) == 1,
        has_due_tasks=bool(last[4]) and any(task_facts(item[5]).due for item in items),
    )


def _lists_in(text: str, start: int, end: int) -> tuple[list[_List], list[str]]:
    """Return the lists in a part of a note, and its lines of prose without those that introduce a list."""
    code = code_spans(text, start)
    lists: list[_List] = []
    others: list[str] = []
    is_in_list = is_spaced = False
    for line, at in lines_of(text[:end], start):
        is_text = _RULE.fullmatch(line) or _is_within(code, at)
        if not is_text and (item := _ITEM.fullmatch(line)):
            # An empty line is between notes and the tasks after them.
            is_other = is_spaced and is_in_list and lists[-1].has_tasks != bool(item[4])
            if not is_in_list or is_other:
                lists.append(_List([], at))
                if others and others[-1].endswith(":"):
                    others.pop()
            lists[-1].items.append(item)
            lists[-1].end = at + len(line)
            is_in_list = True
        elif is_in_list and line.strip() and line[0] in " \t":
            lists[-1].end = at + len(line)
        elif line.strip():
            is_in_list = False
            others += [] if _HEADING.match(line) or _TAGS.fullmatch(line) else [line.rstrip()]
        is_spaced = not line.strip()
    return lists, others


def _is_within(spans: Sequence[tuple[int, int]], at: int) -> bool:
    """Return whether a position is in one of some spans, which are in order, but not at its start."""
    index = bisect_left(spans, at, key=lambda span: span[0]) - 1
    return index >= 0 and at < spans[index][1]


def is_sentence(text: str) -> bool:
    """Return whether a text is prose: it ends like a sentence of several words."""
    return len(text.split()) >= _MIN_SENTENCE_WORDS and _SENTENCE_END.search(text.strip()) is not None


def may_be_item(text: str) -> bool:
    """Return whether a text is one line that has no Markdown of its own, such as a heading or a task."""
    return bool(text.strip()) and "\n" not in text.strip() and _BLOCK_START.match(text) is None

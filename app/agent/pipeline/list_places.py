"""Find the list in a note that an added text continues."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    # Each list as its items, and the position after the last line of each.
    lists: list[list[re.Match[str]]] = []
    ends: list[int] = []
    others: list[str] = []
    is_in_list, is_spaced, at = False, False, start
    code = iter([*code_spans(text, start), (len(text), len(text))])
    code_start, code_end = next(code)
    for part in text[start:end].splitlines(keepends=True):
        line = part.rstrip("\r\n")
        while at >= code_end < len(text):
            code_start, code_end = next(code)
        is_code = code_start < at < code_end
        if not is_code and not _RULE.fullmatch(line) and (item := _ITEM.fullmatch(line)):
            # An empty line is between notes and the tasks after them.
            is_other = is_spaced and is_in_list and bool(item[4]) != bool(lists[-1][-1][4])
            if not is_in_list or is_other:
                lists.append([])
                ends.append(at)
                if others and others[-1].endswith(":"):
                    others.pop()
            lists[-1].append(item)
            ends[-1] = at + len(line)
            is_in_list = True
        elif is_in_list and line.strip() and line[0] in " \t":
            ends[-1] = at + len(line)
        elif line.strip():
            is_in_list = False
            others += [] if _HEADING.match(line) or _TAGS.fullmatch(line) else [line.rstrip()]
        is_spaced = not line.strip()
        at += len(part)
    known = [own for own in zip(lists, ends, strict=True) if not is_numbered or own[0][-1][2][:-1].isdigit()]
    if heading and (plain := [own for own in known if not own[0][-1][4]]):
        known, lists = plain, [own for own, _ in plain]  # the tasks after them take no text
    if not known:
        return None
    items, after = known[-1]
    least = min(len(item[1]) for item in items)
    top = [item for item in items if len(item[1]) == least]
    rest = text[after:end]
    is_last = not rest.strip()
    is_checklist = is_last and len(lists) == 1 and all(item[4] for item in items)
    is_checklist = is_checklist and len(items) >= _MIN_CHECKLIST
    return ListPlace(
        after,
        top[-1],
        tuple(item[5] for item in items),
        is_only_text=len(others) <= (1 if is_checklist else 0) and any(item[5].strip() for item in items),
        is_last=is_last,
        precedes_tags=all(
            _TAGS.fullmatch(line) or ((item := _ITEM.fullmatch(line)) and item[4])
            for line in rest.split("\n")
            if line.strip()
        ),
        is_only_list=len(lists) == 1,
        has_due_tasks=bool(top[-1][4]) and any(task_facts(item[5]).due for item in items),
    )


def is_sentence(text: str) -> bool:
    """Return whether a text is prose: it ends like a sentence of several words."""
    return len(text.split()) >= _MIN_SENTENCE_WORDS and _SENTENCE_END.search(text.strip()) is not None


def may_be_item(text: str) -> bool:
    """Return whether a text is one line that has no Markdown of its own, such as a heading or a task."""
    return bool(text.strip()) and "\n" not in text.strip() and _BLOCK_START.match(text) is None

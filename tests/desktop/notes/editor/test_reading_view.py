"""The live preview and the reading view find the same headings, tasks, links and tables in a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote

import pytest
from PySide6.QtGui import QTextDocument

from app.desktop.notes.editor import tables
from app.desktop.notes.editor.inline_scanner import scan_inline
from app.desktop.notes.editor.line_scanner import LineKind, ScannedLine, scan_lines
from app.desktop.notes.editor.live_editor import LiveEditor
from app.vault.markdown.render import render
from app.vault.markdown.render_values import Interaction
from tests.benchmarks.editor_texts import TOUR

_NO_INLINE = {
    LineKind.PROPERTIES,
    LineKind.CODE,
    LineKind.FENCE_OPEN,
    LineKind.FENCE_CLOSE,
    LineKind.MATH,
    LineKind.COMMENT,
    LineKind.HTML,
}


class Elements(NamedTuple):
    """The elements that a view shows of a note; the cells of a table are the alignments of each row."""

    headings: list[tuple[int, str]]
    tasks: list[tuple[bool, str]]
    links: list[tuple[str, str]]
    tables: list[list[list[str]]]


class _ElementCollector(HTMLParser):
    """Collects the elements in the reading view's HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = Elements([], [], [], [])
        self._level = 0
        self._in_table = False
        self._task = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag[0] == "h" and tag[1:].isdigit():
            self._level = int(tag[1:])
            self.elements.headings.append((self._level, ""))
        elif tag == "table":
            self._in_table = attributes.get("border") == "1"
            if self._in_table:
                self.elements.tables.append([])
        elif tag == "tr" and self._in_table:
            self.elements.tables[-1].append([])
        elif tag in ("td", "th") and self._in_table:
            self.elements.tables[-1][-1].append(attributes["align"])
        elif tag == "a" and (href := attributes.get("href")):
            self._link(*href.split(":", 1)) if ":" in href else None

    def _link(self, scheme: str, rest: str) -> None:
        if scheme == "task":
            self._task = unquote(rest.split("#", 1)[1])
        elif scheme in ("unresolved", "tag"):
            kind = "note" if scheme == "unresolved" else "tag"
            self.elements.links.append((kind, _name(unquote(rest))))
        elif scheme != "fold":
            self.elements.links.append(("address", f"{scheme}:{rest}"))

    def handle_endtag(self, tag: str) -> None:
        if tag[0] == "h" and tag[1:].isdigit():
            self._level = 0
        elif tag == "table":
            self._in_table = False

    def handle_data(self, data: str) -> None:
        if self._task and data.strip():
            self.elements.tasks.append((data != "☐", self._task))
            self._task = ""
        elif self._level:
            level, text = self.elements.headings[-1]
            self.elements.headings[-1] = (level, text + data)


def in_reading_view(text: str) -> Elements:
    collector = _ElementCollector()
    collector.feed(render(text, lambda name: None, interaction=Interaction(frozenset(range(9)))))
    return collector.elements


def in_live_preview(text: str) -> Elements:
    elements = Elements([], [], [], [])
    lines = text.split("\n")
    scans = scan_lines(lines)
    for number, (line, scan) in enumerate(zip(lines, scans, strict=True)):
        if scan.kind is LineKind.HEADING:
            elements.headings.append((scan.level, _shown(line, scan)))
        elif scan.kind is LineKind.SETEXT:
            elements.headings.append((scan.level, _shown(lines[number - 1], scans[number - 1])))
        elif scan.kind is LineKind.TASK:
            elements.tasks.append((scan.detail != " ", line[scan.marker :]))
        elif scan.kind is LineKind.TABLE:
            if number + 1 < len(scans) and scans[number + 1].kind is LineKind.TABLE_DELIMITER:
                elements.tables.append([])
                columns = [
                    one or "left" for one in tables.alignments(lines[number + 1], scans[number + 1].marker)
                ]
            cells = tables.cell_ranges(line, scan.marker)
            elements.tables[-1].append(columns[: len(cells)])
        if scan.kind not in _NO_INLINE:
            links = scan_inline(line[scan.marker :]).links
            elements.links.extend(
                (one.kind, _name(one.target) if one.kind == "note" else one.target)
                for one in links
                if one.kind != "footnote"
            )
    return elements


def _name(target: str) -> str:
    """Return the note that a link leads to, without the heading or block."""
    return re.split(r"[#^]", target)[0]


def _shown(line: str, scan: ScannedLine) -> str:
    text = line[scan.marker :]
    for start, end in sorted(scan_inline(text).hidden, reverse=True):
        text = text[:start] + text[end:]
    return text.strip()


@pytest.mark.parametrize(
    "text",
    [
        TOUR,
        "One\n===\n\nTwo *em* [[L|word]]\n---\n\n# A `code` and ==mark== #tag\n\n###### Six\n\n#no-heading",
        "```md\n# no\n- [ ] no [[no]]\n| a | b |\n|---|---|\n```\n\n~~~\n## no\n~~~\n\n`[[no]]` and `#no`",
        "> # Quoted\n> - [x] done [[A]]\n>\n> | a | b |\n> |:-:|--:|\n> | 1 | [[B]] |",
        "1. [ ] one\n2. [X] two\n   - [ ] three\n* [-] given up\n* [/] half\n- [] none\n- [ ]none",
        "| a | b | c |\n| :-- | :-: | --: |\n| [[x\\|y]] | `a \\| b` | #t |",
        "[[Note#Part|words]] [[Note^x]] ![[Embed]] [web](https://e.org/x) <https://e.org> \\[[no]] \\#no",
        "%%\n# hidden [[no]]\n%%\n\nText %% [[no]] #no %% end\n\n<!-- [[no]] -->\n\n$[[no]]$ and $$x$$",
        "Text\n- [ ] task at once\n# Heading at once\n| a |\n|---|\n| b |",
    ],
)
def test_both_views_show_the_same(text: str) -> None:
    assert in_live_preview(text)._asdict() == in_reading_view(text)._asdict()


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[[Note#Part]]", "Note > Part"),
        ("[[dir/Note # One## Two#^b1]]", "dir/Note > One > Two > ^b1"),
        ("[[#Part]]", "Part"),
        ("[[#^b1]]", "^b1"),
        ("[[Note^b1]]", "Note > ^b1"),
        ("[[Note#]]", "Note"),
        ("[[Note#Part|words]]", "words"),
        ("a ![[Note#Part]]", "a Note > Part"),
        ("[words](Note.md#Part)", "words"),
    ],
)
def test_links_to_headings_have_the_same_text_in_both_views(
    make_editor: Callable[..., LiveEditor], link: str, expected: str
) -> None:
    cell = link.replace("|", "\\|")
    editor = make_editor(f"first\n\n{link}\n\n| a |\n|---|\n| {cell} |\n\nend")
    editor.viewport().repaint()
    for line in (2, 6):
        (fragment,) = editor.flow.row(line).fragments
        assert fragment.layout.text() == expected and fragment.layout.lineCount() == 1
        assert fragment.column_of(fragment.offset_of(fragment.end)) == fragment.end
    page = QTextDocument()
    page.setHtml(render(link, lambda name: None))
    assert page.toPlainText().strip() == expected

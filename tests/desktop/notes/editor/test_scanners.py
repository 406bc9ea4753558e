"""The scanners' results for lines and their contents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.notes.editor import inline_scanner as inline
from app.desktop.notes.editor.inline_scanner import scan_inline
from app.desktop.notes.editor.line_scanner import LineKind, scan_line, scan_lines

K = LineKind
_LINES = st.lists(
    st.sampled_from(
        [
            "",
            "text",
            "# head",
            "===",
            "---",
            "```python",
            "```",
            "~~~",
            "$$",
            "> quote",
            "> > deep",
            "> [!note]- title",
            "> ```",
            "- item",
            "  - nested",
            "1. one",
            "- [x] done",
            "| a | b |",
            "| - | - |",
            "a | b",
            "- | -",
            "%%",
            "<div>",
            "![[a.png]]",
            "    indented",
            "[^1]: note",
        ]
    ),
    max_size=14,
)


def kinds(text: str) -> list[LineKind]:
    return [one.kind for one in scan_lines(text.split("\n"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: 1\n---\ntext", [K.PROPERTIES] * 3 + [K.TEXT]),
        ("text\n---", [K.TEXT, K.SETEXT]),
        ("text\n\n---", [K.TEXT, K.BLANK, K.RULE]),
        ("```py\n# no heading\n```\n# heading", [K.FENCE_OPEN, K.CODE, K.FENCE_CLOSE, K.HEADING]),
        ("````\n```\n````", [K.FENCE_OPEN, K.CODE, K.FENCE_CLOSE]),
        ("| a |\n| - |\n| 1 |\n\ntext", [K.TABLE, K.TABLE_DELIMITER, K.TABLE, K.BLANK, K.TEXT]),
        ("a | b\n- | -\n1 | 2", [K.TEXT, K.TABLE_DELIMITER, K.TABLE]),
        ("$$\nx\n$$\ntext", [K.MATH] * 3 + [K.TEXT]),
        ("$$x$$\ntext", [K.MATH, K.TEXT]),
        ("%%\nhidden\n%%\ntext", [K.COMMENT] * 3 + [K.TEXT]),
        ("<div>\n# no\n\n# yes", [K.HTML, K.HTML, K.BLANK, K.HEADING]),
        ("    code\ntext\n    more text", [K.CODE, K.TEXT, K.TEXT]),
        ("- a\n\n    text of the item", [K.LIST_ITEM, K.BLANK, K.TEXT]),
        ("![[a.png|300]]\n![alt](b.jpg)\n![[Note#Head]]", [K.EMBED] * 3),
        ("text\n-", [K.TEXT, K.LIST_ITEM]),
        ("[^a]: words", [K.FOOTNOTE]),
        ("> ```\n> # no\n> ```\n> # yes", [K.FENCE_OPEN, K.CODE, K.FENCE_CLOSE, K.HEADING]),
    ],
)
def test_line_kinds_follow_markdown(text: str, expected: list[LineKind]) -> None:
    assert kinds(text) == expected


def test_callouts_nest_and_keep_their_kinds() -> None:
    lines = scan_lines(["> [!warning]- A", "> text", "> > [!tip] B", "> > deep", "> back", "none"])
    assert [one.quotes for one in lines] == [
        ("warning",),
        ("warning",),
        ("warning", "tip"),
        ("warning", "tip"),
        ("warning",),
        (),
    ]
    assert lines[0].fold == "-" and lines[0].kind is K.CALLOUT and lines[2].kind is K.CALLOUT


def test_the_depth_of_items_follows_their_indents() -> None:
    lines = scan_lines(["- a", "  - b", "      - c", "  - d", "- e", "\t- f"])
    assert [one.level for one in lines] == [0, 1, 2, 1, 0, 1]


@given(_LINES, st.data())
def test_a_scan_from_the_middle_equals_a_full_scan(lines: list[str], data) -> None:
    expected = scan_lines(lines)
    at = data.draw(st.integers(0, len(lines)))
    state = expected[at - 1].state if at else ()
    for number in range(at, len(lines)):
        line = scan_line(lines[number], state, is_first=number == 0)
        assert line == expected[number]
        state = line.state


def shown(text: str) -> str:
    scan, hidden_columns = scan_inline(text), set()
    for start, end in scan.hidden:
        hidden_columns.update(range(start, end))
    return "".join(
        " > " * (at in scan.separators) + char for at, char in enumerate(text) if at not in hidden_columns
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a **b** *c* ***d*** `e` ~~f~~ ==g==", "a b c d e f g"),
        ("[[Note|alias]] and [[Note#Part]]", "alias and Note > Part"),
        ("[words](https://a.example/x_(y)) <https://b.example>", "words https://b.example"),
        ("see [![logo](x.png)](https://a.example) there", "see logo there"),
        ('[![[x.png]] and *words*](a_(b) "title")', "x.png and words"),
        ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4"),
        ("\\*no\\* emphasis", "*no* emphasis"),
        ("`**code**` stays", "**code** stays"),
        ("text[^1] and more ^block", "text1 and more "),
        ("text^[a *note* on [[N|it]]] goes on", "texta note on it goes on"),
        ("x^[open and 2^[", "x^[open and 2^["),
        ("**bold with *nested* words**", "bold with nested words"),
        ("$a*b*c$ is math", "$a*b*c$ is math"),
        ("%%hidden **no**%%", "%%hidden **no**%%"),
    ],
)
def test_markup_is_distinguished_from_text(text: str, expected: str) -> None:
    assert shown(text) == expected


def test_links_have_their_targets() -> None:
    links = scan_inline("[[N#H|A]] [t](dir/N%20M.md#H) https://a.example/x #tag/sub [^f]").links
    assert [(link.kind, link.target) for link in links] == [
        ("note", "N#H"),
        ("address", "dir/N%20M.md#H"),
        ("address", "https://a.example/x"),
        ("tag", "tag/sub"),
        ("footnote", "f"),
    ]


@given(st.text(st.sampled_from("ab*_`[]()#=~$%^\\ |!<>é🧭"), max_size=40))
def test_spans_and_markup_are_inside_the_line(text: str) -> None:
    scan = scan_inline(text)
    for start, end, bits in scan.spans:
        assert 0 <= start <= end <= len(text) and bits
    for start, end in scan.hidden:
        assert 0 <= start <= end <= len(text)
    for start, end, target in scan.embeds:
        assert text[start] == "!" and text[end - 1] in "])" and target
    assert all(text[at - 1] in "# ^" or text[at] == "^" for at in scan.separators)
    assert not scan_inline("x" * (inline.MAX_STYLED_LENGTH + 1) + "**b**").spans

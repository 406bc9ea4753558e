"""Rendering of text and links, during which nothing loads, runs or hangs."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QTextBrowser

from app.vault.markdown.render import render
from app.vault.markdown.render_math import math_html
from app.vault.markdown.render_values import Interaction, NoteTarget, RenderColors

NOTES = {
    "Note": "---\na: 1\n---\n# One\nfirst\n\n## Two\nsecond ^b1\n\n- item ^b2\n",
    "Lists": "- one\n- two\n  more ^item\n\n1. alpha\n2. beta ^number\n\n- red\n- blue\n\n^list\n",
    "Self": "me ![[Self]]\n\n![[Self]]",
    "Ring A": "in a\n\n![[Ring B]]",
    "Ring B": "in b\n\n![[Ring A]]",
    **{f"Deep{i}": f"depth {i}\n\n![[Deep{i + 1}]]" for i in range(8)},
    **{f"Wide{i}": f"![[Wide{i + 1}]]\n\n" * 30 for i in range(5)},
}


def resolve(name):
    if name.endswith((".png", ".pdf")):
        return NoteTarget(f"files/{name}")
    return NoteTarget(f"dir/{name}.md", lambda: NOTES[name]) if name in NOTES else None


class Document(QTextDocument):
    """Records the requested resources."""

    def __init__(self):
        super().__init__()
        self.asked = []

    def loadResource(self, kind, url):
        self.asked.append(f"{url.scheme()}:{url.path(QUrl.ComponentFormattingOption.FullyDecoded)}")
        return None


def document(text, qapp, **options):
    shown = Document()
    shown.setHtml(render(text, resolve, **options))
    shown.size()
    return shown


def plain(text, qapp):
    return document(text, qapp).toPlainText().strip("\n\ufffc\ufdd0\ufdd1 ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\na: 1\n---\nbody", "body"),
        ("a %%hidden%% b <!-- no --> c", "a b c"),
        ("a\n%%\nhidden\n\n%%\nb", "a\nb"),
        ("`%%kept%%`", "%%kept%%"),
        ("text ^block-1", "text"),
        ("==a *b*==", "a b"),
        ("[[Note|shown]] [[Note#One#Two]] [[#Here]]", "shown Note > One > Two Here"),
        ("a [some_key:: value] b (other:: x)", "a some key: value b other: x"),
        ("supports:: [[Note]]", "supports: Note"),
        ("$E = mc^2$", "E = mc2"),
        (r"costs \$5, $6 and $7", "costs $5, $6 and $7"),
        (r"\[[not]] \#no", "[[not]] #no"),
        ("<b>bold</b> <script>x</script>", "bold x"),
        ("<script>\nx\n</script>\n", ""),
        ("&lt;b&gt; a < b", "<b> a < b"),
        ("> [!tip]- My *title*\n> body", "✦\xa0 My title\nbody"),
        ("> [!unknown-kind]\n> body", "✎\xa0 Unknown-kind\nbody"),
        ("- [ ] open\n- [x] done", "☐\xa0 open\n☑\xa0 done"),
        ("- [/] half\n- [>] later\n- [-] no", "[/]\xa0 half\n[>]\xa0 later\n☒\xa0 no"),
        ("![[Missing]]", "Missing"),
        ("one\ntwo", "one\u2028two"),
    ],
)
def test_note_syntax_is_rendered(text, expected, qapp):
    found = re.sub(r"[\ufdd0\ufdd1\ufffc]", "", plain(text, qapp))
    assert re.sub(r"\s+", " ", found).strip() == re.sub(r"\s+", " ", expected)


def test_the_box_of_a_task_stands_beside_its_text_in_a_list_with_empty_lines(qapp):
    lines = plain("- one\n\n- [ ] two\n\n  more", qapp).split("\n")
    assert [" ".join(line.split()) for line in lines] == ["one", "☐ two", "more"]


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("[[Note]]", "note:dir/Note.md"),
        ("[[Note#Some: Heading]]", "note:dir/Note.md#some%20heading"),
        ("[[Note#A#B]]", "note:dir/Note.md#a%23b"),
        ("[[Note#^b1]]", "note:dir/Note.md#%5Eb1"),
        ("[x](Note#Two)", "note:dir/Note.md#two"),
        ("[[No such]]", "unresolved:No%20such"),
        ("[x](no%20such.md)", "unresolved:no%20such.md"),
        ("[[#Here]]", "#here"),
        ("#tag/日", "tag:tag/%E6%97%A5"),
        ("https://example.org/a", "https://example.org/a"),
        ("[x](https://example.org)", "https://example.org"),
        ("![x](https://example.org/a.png)", "https://example.org/a.png"),
        ("<img src='https://example.org/a.png'>", "https://example.org/a.png"),
    ],
)
def test_link_targets_are_resolved(text, href):
    assert f'href="{href}"' in render(text, resolve)


def test_an_image_stays_out_of_attributes():
    html = render('<div><a href="https://example.org/<img src=a.png>">x</a></div>', resolve)
    assert '<a style="color:#3d49bd;" href="https://example.org/">x</a>' in html


def test_a_forged_placeholder_of_an_image_is_dropped():
    assert "<div>ab</div>" in render("<div>a&#xE000;7&#xE001;b</div>", resolve)


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](file:///etc/passwd)",
        "[x](data:text/html,x)",
        "<a href='javascript:alert(1)'>x</a>",
        "<iframe src='https://x.org'></iframe>",
        "<p style='background:url(https://x.org/a)'>x</p>",
        "<div onclick='x()'>x</div>",
        "<object data='file:///x'></object>",
        "<img src='file:///etc/passwd'>",
        "![x](file:///etc/passwd)",
        "<link rel=stylesheet href=https://x.org/a.css>",
        "<table background='https://x.org/a.png'><tr><td>x</td></tr></table>",
        '[[Note|"><img src=x>]]',
        '#a"onclick="x',
        "<img src=x onerror=alert(1)//><b ",
    ],
)
def test_nothing_loads_or_runs(text, qapp):
    bad = r"<[^>]*(javascript:|file:|data:|onclick|onerror|background=|url\(|<iframe|<script)"
    assert not re.search(bad, render(text, resolve))
    assert all(name.startswith("vault:") for name in document(text, qapp).asked)


def test_images_of_the_vault(qapp):
    html = render("![[a b.png|640x480]] ![alt|100](c.png) <img src='d.png' width=5>", resolve)
    assert '<img src="vault:files/a%20b.png" width="640" height="480"' in html
    assert '<img src="vault:files/c.png" width="100"' in html
    assert '<img src="vault:files/d.png" width="5"' in html
    assert "vault:files/a b.png" in document("![[a b.png]]", qapp).asked


def test_anchors_can_be_jumped_to(qapp):
    browser = QTextBrowser()
    browser.resize(300, 100)
    filler = "line\n\n" * 60
    text = f"# Top\n{filler}## Some: [[Note]] heading\n{filler}last ^b-1\n\n{filler}"
    browser.setHtml(render(text, resolve))
    browser.show()
    places = []
    for name in ("top", "some note heading", "top#some note heading", "Some: [[Note]] heading", "^b-1"):
        browser.scrollToAnchor(name)
        places.append(browser.verticalScrollBar().value())
    assert places[0] < places[1] == places[2] == places[3] < places[4]


@pytest.mark.parametrize("item", ["", "- ", "- [x] "])
@pytest.mark.parametrize(
    "picture", ["![[a.png|20x400]]", "![a|20x400](a.png)", "<img src='a.png' width=20 height=400>"]
)
def test_there_is_no_gap_below_a_line_with_a_picture(picture: str, item: str, qapp):
    page = document(f"{item}before {picture} after\nsecond", qapp)
    block = page.begin()
    while "second" not in block.text():
        block = block.next()
    first, second = (block.layout().lineAt(number) for number in range(2))
    assert first.height() > 400 and second.y() - first.y() < 430


def test_embeds(qapp):
    assert "first" in plain("![[Note]]", qapp)
    section = plain("![[Note#Two]]", qapp)
    assert "second" in section
    assert "first" not in section
    block = plain("![[Note#^b1]]", qapp)
    assert "second" in block
    assert "Two" not in block
    assert "item" in plain("![[Note#^b2]]", qapp)
    assert "first" not in plain("text ![[Note]] in a line", qapp)


def test_a_block_id_embeds_its_item_or_the_list_above_it(qapp):
    item = plain("![[Lists#^item]]", qapp)
    assert "two" in item and "more" in item and "one" not in item
    numbered = plain("![[Lists#^number]]", qapp)
    assert "beta" in numbered and "alpha" not in numbered
    above = plain("![[Lists#^list]]", qapp)
    assert "red" in above and "blue" in above and "beta" not in above


FOLDED = {
    "Tea": "> [!note]- Leaves\n> green\n>\n> > [!tip]- Deep\n> > steep\n> - [ ] same\n\n> [!tip]+ Cup\n> two",
    "Own": "> [!note]- Mine\n> hidden\n\n![[Tea]]\n\n- [ ] same\n\n> [!note]- Last\n> end",
}


def folded(text: str, *toggled: str) -> str:
    """Render with these callouts folded otherwise than the note says."""

    def resolve(name):
        return NoteTarget(f"{name}.md", FOLDED[name]) if name in FOLDED else None

    return render(text, resolve, interaction=Interaction(frozenset(toggled)))


def test_callouts_of_an_embedded_note_are_folded_and_open_on_their_own():
    html = folded(FOLDED["Own"])
    assert not re.search("hidden|green|steep|end", html) and all(
        f"{one}" in html for one in ("Leaves", "two")
    )
    names = [unquote(name) for name in re.findall('href="fold:([^"]+)"', html)]
    assert names == ["0", "0 Tea.md", "2 Tea.md", "1"]
    opened = folded(FOLDED["Own"], "0 Tea.md")
    assert "green" in opened and not re.search("hidden|steep|end", opened)
    assert "two" not in folded(FOLDED["Own"], "2 Tea.md")
    assert "end" in folded(FOLDED["Own"], "0 Tea.md", "1"), "the name does not depend on what is open"
    assert "green" in render(FOLDED["Own"], lambda name: NoteTarget("Tea.md", FOLDED["Tea"])), "on paper"


def test_only_tasks_of_the_note_itself_are_checked_and_hidden_ones_count():
    html = folded("> [!note]- Title\n> - [ ] same\n\n- [ ] same\n\n![[Tea]]", "0 Tea.md")
    assert re.findall('href="(task:[^"]+)"', html) == ["task:1#same"] and html.count("same") == 3


def test_the_line_of_a_done_task_is_crossed_out_but_not_what_is_below_it(qapp):
    text = "- [x] done [[Note]] #tag\n  more\n  - [ ] open\n  - item\n- [-] dropped\n- [/] half"
    shown = document(text, qapp, colors=RenderColors(text="#111111", muted="#888888"))
    found = {}
    block = shown.begin()
    while block.isValid():
        for one in block:
            look = one.fragment().charFormat()
            for word in re.findall(r"\w+", one.fragment().text()):
                found[word] = (look.fontStrikeOut(), look.foreground().color().name() == "#888888")
                assert not look.fontUnderline()
        block = block.next()
    assert found.pop("Note") == found.pop("tag") == (True, False)
    assert {word for word, look in found.items() if look == (True, True)} == {"done", "dropped"}
    assert {word for word, look in found.items() if look == (False, False)} == {
        "more",
        "open",
        "item",
        "half",
    }


def test_nested_embeds_are_limited(qapp):
    assert plain("![[Ring A]]", qapp).count("in a") == 1
    assert plain("![[Self]]", qapp).count("me") == 1
    assert "depth 2" in plain("![[Deep0]]", qapp)
    assert "depth 3" not in plain("![[Deep0]]", qapp)
    assert len(render("![[Wide0]]", resolve)) < 2_000_000
    assert "in a" not in render("![[Ring A]]", resolve, path="dir/Ring A.md")


def test_a_note_embeds_its_own_parts_once():
    text = "## A\n\nin a\n\n![[#B]]\n\n## B\n\nin b ![[#B]]\n\n![[#B]]\n"

    def own(name):
        return NoteTarget("Own.md", text) if name in ("", "Own") else None

    html = render(text, own, path="Own.md")
    assert html.count("in a") == 1
    assert html.count("in b") == 3


def test_notes_are_read_only_where_they_are_embedded():
    read = []
    render("[[Note]] ![[pic.png]]", lambda name: NoteTarget(f"{name}.md", lambda: read.append(name)))
    assert read == []


def test_colors_go_by_the_theme():
    callouts = {"note": "#123456"}
    dark = RenderColors(text="#eeeeee", background="#111111", is_dark=True, callouts=callouts)
    html = render("> [!note] x\n\n```python\nx = 1\n```", resolve, dark)
    assert "#eeeeee" in html
    assert 'bgcolor="#123456"' in html


def test_links_and_marks_of_raw_html_have_the_colors():
    colors = RenderColors(link="#abcdef")
    for text in ("<a href='https://x.org'>a</a> <mark>b</mark>", "<div><a href='https://x.org'>a</a></div>"):
        assert 'style="color:#abcdef;" href="https://x.org"' in render(text, resolve, colors)


def test_tables_footnotes_and_code(qapp):
    table = "| a | b |\n|---|--:|\n| [[Note\\|x]] | 1 |\n\n"
    text = f"{table}foot[^1]\n\n[^1]: the *note*\n\n```py\nx = '<b>'\n```\n"
    shown = plain(text, qapp)
    assert all(part in shown for part in ("x", "foot", "the note", "x = '<b>'"))
    assert '<a href="#fn1"' in render(text, resolve)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "> " * 5_000,
        "- " * 5_000,
        "*a_ " * 9_000,
        "[[a" * 13_000,
        "==a" * 13_000,
        "(a:: " * 8_000,
        "`" * 39_000,
        "x" * 1_000_000,
        "> [!note]\n" * 2_000,
        "<b>" * 10_000,
        "<div>" * 8_000,
        "$a " * 13_000,
        "# a\n" * 3_000,
        "^" * 39_000,
        "{" * 20_000,
        "$$" + "{" * 30_000 + "$$",
        "|a" * 5_000 + "\n" + "|-" * 5_000,
    ],
    ids=range(18),
)
def test_hostile_text_is_rendered(text):
    assert render(text, resolve).endswith("</body></html>")


@pytest.mark.parametrize(
    ("tex", "html"),
    [
        (r"\frac{a+b}{2}", "(a+b)⁄2"),
        (r"x_{i}^2", "x<sub>i</sub><sup>2</sup>"),
        (r"\sqrt 2 \le \alpha", "√2 ≤α"),
        ("a < b", "a &lt; b"),
        (r"\unknown", "\\unknown "),
        ("^", "<sup></sup>"),
        ("{", ""),
        ("a}b", "a}b"),
    ],
)
def test_math(tex, html):
    assert math_html(tex) == html


pieces = st.lists(
    st.sampled_from(
        [
            "[[Note]]",
            "![[Note]]",
            "[",
            "]",
            "(",
            ")",
            "#t",
            "==",
            "%%",
            "`",
            "$",
            "<b>",
            "</b>",
            "<img src=x>",
            "^b",
            "a::",
            " ",
            "\n",
            "\n\n",
            "> [!note] ",
            "> ",
            "- ",
            "- [x] ",
            "|",
            "\n|-|-|\n",
            "# ",
            "```\n",
            "[^1]",
            "[^1]: x",
            "*",
            "<div>",
            "\\",
            "---\n",
            "\0",
            "\ue0000\ue001",
            "é",
        ]
    ),
    max_size=25,
).map("".join)


@given(pieces)
def test_any_text_is_rendered_in_balance(text):
    html = render(text, resolve)
    for name in ("table", "td", "tr", "span", "sup"):
        assert len(re.findall(f"<{name}[ >]", html)) == html.count(f"</{name}>"), name


def test_real_notes_are_rendered(real_notes, qapp):
    for path in real_notes[::10]:
        shown = document(path.read_bytes().decode(), qapp)
        assert all(name.startswith("vault:") for name in shown.asked), path

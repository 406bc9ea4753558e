from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.desktop.notes.html_to_markdown import html_to_markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One <strong>bold</strong> and <i>thin</i></p>", "One **bold** and *thin*"),
        ("<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li>x</li><li>y</li></ol>", "3. x\n4. y"),
        ("<h2>Title</h2><blockquote><p>q</p></blockquote>", "## Title\n\n> q"),
        ("<table><tr><th>A</th></tr><tr><td>2|3</td></tr></table>", "| A |\n| --- |\n| 2\\|3 |"),
        ("<pre><code>x = 1\n  y</code></pre>", "```\nx = 1\n  y\n```"),
        ('<a href="https://x.org/a b">there</a>', "[there](https://x.org/a%20b)"),
        ("<p><mark>lit</mark> <em>x</em></p>", "==lit== *x*"),
        ('<b style="font-weight:normal;"><p>from <b>Docs</b></p></b>', "from **Docs**"),
        ("<p>around</p><!--StartFragment--><b>in</b><!--EndFragment-->", "**in**"),
        ("<p>only words</p>", ""),
        ("<span style='color:red'>only colors</span>", ""),
    ],
)
def test_formatting_becomes_markdown_and_plain_words_stay_plain(html: str, markdown: str) -> None:
    assert html_to_markdown(html) == markdown


def test_nothing_harmful_is_kept() -> None:
    html = (
        '<b>x</b><script>alert(1)</script><style>b{}</style><a href="javascript:go()">bad</a>'
        '<img src="file:///etc/passwd"><a href="data:text/html,x">d</a>'
    )
    markdown = html_to_markdown(html)
    assert markdown.startswith("**x**")
    for word in ("alert", "javascript", "file:", "data:", "{}"):
        assert word not in markdown


@given(st.text(alphabet="<>ab/=\"' li&;#x", max_size=200))
def test_broken_html_never_fails(html: str) -> None:
    assert isinstance(html_to_markdown(f"<b>{html}"), str)

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.globs import Glob, word_matches
from app.vault.path import NotePath


@pytest.mark.parametrize(
    ("glob", "path", "meant"),
    [
        ("**", "a/b.md", True),
        ("Journal", "Journal/x.md", True),
        ("journal/**", "Journal/x.md", True),
        ("Journal/", "Journal/x.md", True),
        ("Journal/", "Journal.md", False),
        ("Journal", "Journal.md", True),
        ("Proj", "Projects/x.md", False),
        ("proj", "proj-old/x.md", False),
        ("*.md", "a/b.md", True),
        ("a/*", "a/b.md", True),
        ("a/*", "a/b/c.md", False),
        ("Areas/Health", "areas/health/x.md", True),
        ("Areas/Health", "more/areas/health/x.md", False),
        ("[a-c]x.md", "bx.md", True),
        ("[!ab]x.md", "ax.md", False),
        ("[!ab]x.md", "cx.md", True),
        ("[-]x.md", "-x.md", True),
        ("[a-]x.md", "-x.md", True),
        ("[!-z]x.md", "ax.md", True),
        ("[!-z]x.md", "-x.md", False),
        ("{a,b}/**", "b/x.md", True),
        ("**/secret/**", "secret/x.md", True),
        ("**/secret/**", "a/secret/x.md", True),
        ("/root.md", "root.md", True),
        ("/root.md", "a/root.md", False),
        ("caf\u00e9", "Cafe\u0301/x.md", True),
        ("x{", "x{.md", True),
        ("[", "[.md", True),
    ],
)
def test_globs_match_as_documented(glob, path, meant):
    assert Glob(glob).matches(NotePath.on_disk(path)) is meant


@given(st.text(max_size=40), st.text(min_size=1, max_size=40))
def test_every_text_is_a_glob(glob, path):
    Glob(glob).matches(NotePath(path))
    word_matches(glob, path)


@given(st.lists(st.text("abc -é", min_size=1), min_size=1, max_size=4).map("/".join))
def test_a_plain_path_means_itself(path):
    if path.strip("/") and path == path.strip("/"):
        assert Glob(f"/{path}").matches(NotePath(path))


def test_hostile_globs_cost_nothing():
    glob = Glob("*a" * 200 + "b")
    # Without an end, a match that tries every combination would fail by the time limit of a test.
    assert not glob.matches(NotePath("a" * 5000))


def test_words():
    assert word_matches("*", "mcp") and word_matches("claude*", "Claude Desktop")
    assert word_matches("Agent", "agent") and not word_matches("Agent", "Agent 2")

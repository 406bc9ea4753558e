"""A note is public only if that is certain; every other note is hidden from models."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.markdown.privacy import HEAD_BYTES, classify_privacy, is_private
from app.vault.markdown.scan import scan
from app.vault.note import Privacy
from tests.support.private_notes import VARIANTS, written

OPEN = {
    "no properties": b"# Tea\n\nPrivate talk about AI: it is private.\n",
    "empty": b"",
    "other properties": b"---\ntitle: x\n---\nai: private\n",
    "said to be public": b"---\nai: public\n---\nprivate\n",
    "something else": b"---\nai: generated\n---\n",
    "empty value": b"---\nai:\n---\n",
    "a YAML error elsewhere": b"---\ntitle: Re: plan\n---\nwhatever\n",
    "author handle": b"---\nauthor: @me\n---\n",
    "a rule as the first line": b"---\n\nThis is a poem.\n",
    "a rule after a blank line": b"\n---\n\nThis is a poem.\n",
    "in a block of text": b"---\ntext: |\n  ai: private\n---\n",
    "in a comment": b"---\n# ai: private\nx: 1\n---\n",
    "later bytes that are no UTF-8": b"---\nx: 1\n---\n" + b"words " * 400 + b"\xe9t\xe9\n",
    "a backslash": b"---\npath: C:\\ideas: x\n---\n",
}
UNKNOWN = {
    "a refusal in other words": b"---\nai: false\n---\n",
    "Latin-1 at the beginning": "Grüße\n".encode("latin-1"),
    "UTF-16 that says nothing of it": "---\ntitle: x\n---\n".encode("utf-16"),
    "no UTF-8 in the properties": b"---\ntitle: \xff\n---\n",
    "an unreadable value": b"---\nai: [\n---\n",
    "escapes in what can't be read": b'---\n"\\x61i": @\n---\n',
    "no end within what is read": b"---\ntitle: x\n" + b"word " * HEAD_BYTES,
    "a NUL": b"---\ntitle: \0\n---\n",
}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_spelling_of_private_hides_the_note(name):
    assert is_private(written(VARIANTS[name]))


@pytest.mark.parametrize("name", [name for name in VARIANTS if "MiB" not in name])
def test_the_text_that_tools_parse_is_judged_alike(name):
    assert scan(written(VARIANTS[name]).decode("utf-8", "replace")).is_private


@pytest.mark.parametrize("name", OPEN)
def test_provably_public_notes_are_public(name):
    assert classify_privacy(OPEN[name]).privacy is Privacy.PUBLIC


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_note_that_cannot_be_judged_is_hidden_with_a_reason(name):
    verdict = classify_privacy(UNKNOWN[name])
    assert verdict.privacy is Privacy.UNKNOWN and verdict.hides and verdict.reason


_LINE = st.sampled_from(
    [
        "title: Re: plan",
        "author: @me",
        "open: [",
        "deep: " + "[" * 30,
        "tab:\tx",
        "x: &a 1",
        "- item",
        "",
        "# comment",
        "text: >",
        "  more",
        "...",
        "? key",
        '"quoted: x',
        "{a: b",
        "é: ü",
        "%TAG",
        "🍵: 'x",
    ]
)


@given(
    before=st.lists(_LINE, max_size=6),
    after=st.lists(_LINE, max_size=6),
    line=st.sampled_from(
        ["ai: private", "AI: Private", "ai: [private]", '"ai": "private"', "ai:\n  - private"]
    ),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    close=st.sampled_from(["---", "...", "", "--- "]),
    lead=st.sampled_from(["", "\ufeff", "\n", " ", "\u200b"]),
)
def test_whatever_else_the_properties_hold_a_private_line_hides_the_note(
    before, after, line, newline, close, lead
):
    if any(one.startswith(("text:", '"quoted')) for one in before):
        before = [one for one in before if not one.startswith(("text:", '"quoted'))]
    whole = "\n".join([f"{lead}---", *before, line, *after, close, "body", ""])
    assert is_private(whole.replace("\n", newline).encode())


@given(st.binary(max_size=2000))
def test_judging_never_fails(content):
    assert classify_privacy(content).privacy in Privacy
    assert classify_privacy(b"---\n" + content).privacy in Privacy


@given(st.text(max_size=300), st.integers(0, 300))
def test_the_beginning_of_a_private_note_never_counts_as_public(body, cut):
    whole = f"---\nai: private\n---\n{body}".encode()
    assert is_private(whole[: max(cut, 4)], complete=False)

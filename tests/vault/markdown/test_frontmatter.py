"""Parsing of properties is safe: nothing runs, and limits hold."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.vault.markdown.frontmatter import read_frontmatter


def values(block):
    return read_frontmatter(f"---\n{block}\n---\nbody").properties


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("a: 1\nb: 1.5\nc: true\nd: null\ne:", {"a": 1, "b": 1.5, "c": True, "d": None, "e": None}),
        ("a: 2022-06-09", {"a": "2022-06-09"}),
        ("a: 2022-06-09T10:00:00", {"a": "2022-06-09T10:00:00"}),
        ("a: 2001-12-14 21:59:43.10 -5", {"a": "2001-12-14T21:59:43.10-05:00"}),
        ("a: 2022-13-45", {"a": "2022-13-45"}),
        ("a: yes\nb: 12:30\nc: 007", {"a": "yes", "b": "12:30", "c": "007"}),
        ("1: a\ntrue: b\n2022-01-01: c", {"1": "a", "true": "b", "2022-01-01": "c"}),
        ("a: x\na: y", {"a": "y"}),
        ("a: [1, [2]]\nb: {c: d}", {"a": [1, [2]], "b": {"c": "d"}}),
        ("a: {{title}}", {"a": {"{title}": None}}),
        ("a: .inf\nb: .nan\nc: 1e999", {"a": ".inf", "b": ".nan", "c": "1e999"}),
        ("a: " + "9" * 5000, {"a": "9" * 5000}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: >-\n  folded\n  text\nb: |\n  kept\n", {"a": "folded text", "b": "kept\n"}),
        ('{"a": 1, "b": ["x"]}', {"a": 1, "b": ["x"]}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ("a:\tx", {"a": "x"}),
        ("# only a comment", {}),
        ("", {}),
    ],
)
def test_references_are_parsed(block, expected):
    assert values(block) == expected


@pytest.mark.parametrize(
    "block",
    [
        "a: [1",
        "a: b: c",
        "just text",
        "- a\n- b",
        "a:\n\tb: 1",
        "a: !!python/object/apply:os.system ['true']",
        "a: " + "[" * 50 + "]" * 50,
        "a: " + "[" * 30000,
        '{"a": ' + "[" * 700 + "]" * 700 + "}",
        "a: *nothing",
        "a: x\0y",
        "a: " + "x" * 70_000,
        "l0: &l0 [x]\n" + "\n".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]" for i in range(1, 9)),
        "a: &a [" + "x," * 5000 + "]\n" + "\n".join(f"b{i}: *a" for i in range(10)),
        "a: 1\n...\nb: 2",
    ],
)
def test_a_block_that_may_not_be_read_is_a_problem(block):
    found = read_frontmatter(f"---\n{block}\n---\nbody")
    assert found.problem
    assert found.properties == {}
    assert f"---\n{block}\n---\nbody"[found.body_start :] == "body"


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\na: 1\n---\nbody", "body"),
        ("---\r\na: 1\r\n---\r\nbody", "body"),
        ("\ufeff---\na: 1\n---\nbody", "body"),
        ("---  \na: 1\n--- \nbody", "body"),
        ("---\n---\nbody", "body"),
        ("---\na: 1\n---", ""),
        ("\ufeffbody", "body"),
        ("body", "body"),
        (" ---\na: 1\n---\n", " ---\na: 1\n---\n"),
        ("---\nunclosed", "---\nunclosed"),
        ("----\na: 1\n---\n", "----\na: 1\n---\n"),
        ("---\na: |\n  x\n  ---\n---\nbody", "body"),
    ],
)
def test_the_start_of_the_body_is_found(text, body):
    assert text[read_frontmatter(text).body_start :] == body


@given(st.text())
def test_any_block_is_parsed_or_reported(block):
    found = read_frontmatter(f"---\n{block}\n---\nbody")
    json.dumps(found.properties, allow_nan=False)
    assert found.problem is None or found.properties == {}


printable = st.text(st.characters(exclude_categories=["C"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | printable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abcd", min_size=1), json_values, max_size=4))
def test_json_is_read(data):
    assert values(json.dumps(data)) == data

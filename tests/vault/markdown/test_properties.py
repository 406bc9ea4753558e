"""Edits of a property change only its lines, and reading returns the value that was set."""

from __future__ import annotations

import datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.properties import remove_property, rename_property, set_property

NOTE = (
    "\ufeff---\r\n# kept comment\r\ntitle: 'x'  # why\r\ntags: [a, \"b\"] # t\r\nlist:\r\n"
    "  - one # first\r\n  # about two\r\n  - 'two'\r\ntext: |\r\n  several\r\n"
    "  lines\r\n\r\nempty:\r\nday: 2022-06-09\r\n---\r\nbody"
)


def changed_lines(before, after):
    old, new = before.split("\r\n"), after.split("\r\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("key", "value", "gone", "come"),
    [
        ("title", "it's", ["title: 'x'  # why"], ["title: 'it''s'  # why"]),
        ("TITLE", 5, ["title: 'x'  # why"], ["title: 5  # why"]),
        ("tags", ["a", "b", "c d"], ['tags: [a, "b"] # t'], ['tags: [a, "b", c d] # t']),
        ("tags", ["b"], ['tags: [a, "b"] # t'], ['tags: ["b"] # t']),
        ("tags", ["x", "a", "b"], ['tags: [a, "b"] # t'], ['tags: [x, a, "b"] # t']),
        ("list", ["one", "two", "- three"], [], ['  - "- three"']),
        ("list", ["two"], ["  - one # first"], []),
        ("list", ["one", "2"], ["  - 'two'"], ["  - '2'"]),
        ("text", "one", ["text: |", "  several", "  lines"], ["text: one"]),
        ("text", "a\nb", ["text: |", "  several", "  lines"], ["text: |-", "  a", "  b"]),
        ("empty", "[[N]]", ["empty:"], ['empty: "[[N]]"']),
        ("day", datetime.date(2023, 1, 2), ["day: 2022-06-09"], ["day: 2023-01-02"]),
        ("new", ["a", "b"], [], ["new:", "  - a", "  - b"]),
        ("new", {"a": [1, None]}, [], ["new: {a: [1, null]}"]),
        ("new key:", True, [], ['"new key:": true']),
        ("title", None, ["title: 'x'  # why"], ["title:  # why"]),
    ],
)
def test_set(key, value, gone, come):
    assert changed_lines(NOTE, set_property(NOTE, key, value)) == (gone, come)


def test_setting_what_is_there_changes_nothing():
    for key, value in read_frontmatter(NOTE).properties.items():
        assert set_property(NOTE, key, value) == NOTE


@pytest.mark.parametrize("key", ["title", "tags", "list", "empty", "day"])
def test_remove(key):
    after = remove_property(NOTE, key)
    assert key not in read_frontmatter(after).properties
    assert all(line in NOTE.split("\r\n") for line in after.split("\r\n"))
    assert "# kept comment" in after


def test_a_block_is_created_and_removed_with_its_last_property():
    for text in ("body", "", "\ufeffbody\r\nmore", "---\nruler"):
        after = set_property(text, "a", 1)
        assert read_frontmatter(after).properties == {"a": 1}
        assert remove_property(after, "a") == text
    assert set_property("a\r\nb", "k", "v") == "---\r\nk: v\r\n---\r\na\r\nb"
    assert remove_property("---\n# c\na: 1\n---\n", "a") == "---\n# c\n---\n"


def test_json_blocks_stay_json():
    text = '---\n{"a": 1, "b": "x"}\n---\n'
    assert set_property(text, "a", ["é"]) == '---\n{"a": ["é"], "b": "x"}\n---\n'
    assert set_property(text, "c", None) == '---\n{"a": 1, "b": "x", "c": null}\n---\n'
    assert remove_property(text, "a") == '---\n{"b": "x"}\n---\n'
    assert remove_property(text, "b") == '---\n{"a": 1}\n---\n'


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("---\na: [1\n---\n", "b"),
        ("---\njust text\n---\n", "a"),
        ("---\na: 1\na: 2\n---\n", "a"),
        ("---\na: &x [1]\nb: *x\n---\n", "a"),
        ('---\n{"a": "\\ud83d\\ude00"}\n---\n', "a"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(text, key):
    with pytest.raises(InvalidParametersError):
        set_property(text, key, "new")


def test_an_alias_is_replaced_without_its_anchor():
    assert set_property("---\na: &x [1]\nb: *x\n---\n", "b", [2]) == "---\na: &x [1]\nb: [2]\n---\n"


@pytest.mark.parametrize("value", [object(), float("nan"), float("inf"), b"x", "\ud800", {"a": {1, 2}}])
def test_values_no_block_can_hold_are_refused(value):
    with pytest.raises(InvalidParametersError):
        set_property("", "a", value)


def test_nested_blocks_and_indented_keys():
    text = "---\n  a:\n    b: 1\n    c:\n      - x\n  d: 2\n---\n"
    assert set_property(text, "a", 1) == "---\n  a: 1\n  d: 2\n---\n"
    assert set_property(text, "e", ["y"]) == text.replace("  d: 2\n", "  d: 2\n  e:\n    - y\n")
    assert remove_property(text, "a") == "---\n  d: 2\n---\n"


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "yes",
        "No",
        "null",
        "~",
        "1",
        "1.0",
        "1e3",
        "0x1",
        "007",
        "12:30",
        "2022-01-01",
        "2022-01-01 10:00:00",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "[[N]]",
        "{a}",
        "'",
        '"',
        "\\",
        "a\nb",
        "a\n",
        "\n",
        " a",
        "a ",
        "a\tb",
        "=",
        "<<",
        "!a",
        "&a",
        "*a",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "---",
        "...",
        "a:",
        ":a",
        "?",
        "-",
        "a,b",
        "é",
        "🎉",
        "\u2028",
        "\x85",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
blocks = st.sampled_from(
    [
        NOTE,
        "",
        "body",
        "---\n---\n",
        "---\r\na: 1\r\n---",
        "---\nk: [a, b]\nz: 1\n---\nx",
        '---\n{"k": 1, "z": [2]}\n---\n',
        "---\nk:\n- a\n- b # c\nz: 1\n---\n",
        "---\nk: >-\n  folded\n  text\n\n# c\nz: 1\n---\n",
        "---\nk: {a: 1}\n---\n",
        "---\nk:\n  - a: 1\n    b: 2\n  - c\nz:\n---\n",
        "---\nk: 'q'  \nz: \"w\"\n---\n",
        "---\nz: |+\n  a\n\n---\n",
        "---\nk:\n    - - 1\n      - 2\n    -\n---\n",
        "---\nk: a\n  b\n  c # d\n---\n",
        "---\nk: [\n  a, # x\n  b\n]\n---\n",
    ]
)


@given(blocks, st.sampled_from(["k", "z", "new"]), values)
def test_what_is_set_is_read_and_nothing_else_changes(text, key, value):
    before = read_frontmatter(text)
    after = set_property(text, key, value)
    found = read_frontmatter(after)
    assert found.properties == {**before.properties, key: value}
    assert type(found.properties[key]) is type(value)
    assert after[found.body_start :] == text[before.body_start :]
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    assert read_frontmatter(remove_property(after, key)).properties == {
        name: value for name, value in before.properties.items() if name != key
    }


@pytest.mark.parametrize(
    ("key", "new_key", "gone", "come"),
    [
        ("title", "Name", ["title: 'x'  # why"], ["Name: 'x'  # why"]),
        ("TITLE", "Title", ["title: 'x'  # why"], ["Title: 'x'  # why"]),
        ("tags", "two words", ['tags: [a, "b"] # t'], ['two words: [a, "b"] # t']),
        ("list", "items", ["list:"], ["items:"]),
        ("text", "x: y", ["text: |"], ['"x: y": |']),
        ("empty", "- odd", ["empty:"], ['"- odd":']),
        ("missing", "other", [], []),
        ("day", "day", [], []),
    ],
)
def test_only_the_name_of_a_renamed_property_changes(key, new_key, gone, come):
    assert changed_lines(NOTE, rename_property(NOTE, key, new_key)) == (gone, come)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('---\n{"a": 1, b: 2}\n---\n', '---\n{"z": 1, b: 2}\n---\n'),
        ("---\n  a: 1\n  b: 2\n---\n", "---\n  z: 1\n  b: 2\n---\n"),
        ("---\n'a' : {a: 1}\n---\na: 1\n", "---\nz : {a: 1}\n---\na: 1\n"),
    ],
)
def test_nested_and_quoted_names_are_told_apart(text, expected):
    assert rename_property(text, "a", "z") == expected


@pytest.mark.parametrize(
    ("text", "new_key"),
    [
        ("---\na: 1\nb: 2\n---\n", "b"),
        ("---\na: 1\nb: 2\n---\n", "B"),
        ("---\na: 1\n---\n", "  "),
        ("---\na: 1\na: 2\n---\n", "z"),
        ("---\na: [\n---\n", "z"),
    ],
)
def test_a_property_is_not_renamed_if_a_value_would_be_lost(text, new_key):
    with pytest.raises(InvalidParametersError):
        rename_property(text, "a", new_key)


@given(texts)
def test_other_yaml_readers_see_the_same_text(value):
    block = set_property("", "a", value).split("---\n")[1] if "---" not in value else "a: x"
    read = yaml.safe_load(block)["a"]
    assert block == "a: x" or read == value or str(read).replace(" ", "T") == value


@given(st.lists(texts, max_size=5), st.lists(texts, max_size=5), st.booleans())
def test_any_list_becomes_any_other(old, new, flow):
    text = set_property("---\nk: []\nz: 1\n---\n" if flow else "---\nz: 1\n---\n", "k", old)
    assert read_frontmatter(set_property(text, "k", new)).properties == {"k": new, "z": 1}


def test_every_real_block(real_notes):
    """A property is added and removed, and each one is set again: the rest stays byte for byte."""
    for path in real_notes:
        text = path.read_bytes().decode()
        found = read_frontmatter(text)
        if found.problem:
            with pytest.raises(InvalidParametersError):
                set_property(text, "x", 1)
            continue
        if found.properties or not found.span:
            assert remove_property(set_property(text, "test-key", ["[[a]]"]), "test-key") == text, path
        for key in list(found.properties)[:3]:
            is_one = [e.key.text.casefold() for e in found.tree.entries].count(key.casefold()) == 1
            if is_one and key.isalpha():
                assert rename_property(rename_property(text, key, "test-key"), "test-key", key) == text, path
            if [e.key.text for e in found.tree.entries].count(key) > 1:
                continue
            after = set_property(text, key, "some: text")
            assert read_frontmatter(after).properties == {**found.properties, key: "some: text"}, path
            assert after[read_frontmatter(after).body_start :] == text[found.body_start :], path

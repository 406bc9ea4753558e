"""Queries are parsed into a tree, or rejected with the position and the expected input."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from app.errors import QueryError
from app.index.query import MAX_DEPTH, MAX_QUERY_CHARS, parse
from app.index.query_ast import (
    And,
    FieldFilter,
    Node,
    Not,
    Or,
    OrphanFilter,
    PhraseTerm,
    PropertyFilter,
    RegexTerm,
    SimilarityFilter,
    ValueComparison,
    WordTerm,
    explain,
)
from app.index.query_serializer import serialize_query

A, B, C = WordTerm("a"), WordTerm("b"), WordTerm("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a b ", And((A, B))),
        ("a b", And((A, WordTerm("b", prefix=True)))),
        ("a OR b c ", Or((A, And((B, C))))),
        ("(a OR b) c ", And((Or((A, B)), C))),
        ("a -b ", And((A, Not(B)))),
        ("-(a b) ", Not(And((A, B)))),
        ("ORANGE or ", And((WordTerm("ORANGE"), WordTerm("or")))),
        (r'"say \"hi\" \\ now"', PhraseTerm(r'say "hi" \ now')),
        ('""', PhraseTerm("")),
        (r"/a\/b\d+/ ", RegexTerm(r"a/b\d+", 0)),
        ("wor* x ", And((WordTerm("wor", prefix=True), WordTerm("x")))),
        ("10:30 ", WordTerm("10:30")),
        ("https://a.b ", WordTerm("https://a.b")),
        ("file:a ", FieldFilter("file", A)),
        ("FILE: a ", FieldFilter("file", A)),
        ('path:"a b" ', FieldFilter("path", PhraseTerm("a b"))),
        ("tag:#x/y", FieldFilter("tag", WordTerm("#x/y"))),
        ("line:(a -b) ", FieldFilter("line", And((A, Not(B))))),
        ("block:/x/ ", FieldFilter("block", RegexTerm("x", 6))),
        ("match-case:line:(a b) ", FieldFilter("match-case", FieldFilter("line", And((A, B))))),
        ("section:(match-case:a b) ", FieldFilter("section", And((FieldFilter("match-case", A), B)))),
        ("task:", FieldFilter("task", PhraseTerm(""))),
        ("task-todo: a ", FieldFilter("task-todo", A)),
        ('task-done:"" ', FieldFilter("task-done", PhraseTerm(""))),
        ("orphan: a ", And((OrphanFilter(), A))),
        ("type:a ", FieldFilter("type", A)),
        ("rel:supports", FieldFilter("rel", WordTerm("supports"))),
        ('links-to:"My note" ', FieldFilter("links-to", PhraseTerm("My note"))),
        ("linked-from:a ", FieldFilter("linked-from", A)),
        ('similar:"free will" ', SimilarityFilter("free will", 8)),
        ("[p]", PropertyFilter("p")),
        ("[ my prop : a ]", PropertyFilter("my prop", A)),
        ('["p:q"]', PropertyFilter("p:q")),
        ("[p:null]", PropertyFilter("p", None, empty=True)),
        ('[p:"null"]', PropertyFilter("p", PhraseTerm("null"))),
        ("[p:<5]", PropertyFilter("p", ValueComparison("<", "5"))),
        ("[p:>= 2024-01-01]", PropertyFilter("p", ValueComparison(">=", "2024-01-01"))),
        ("[p:a OR b]", PropertyFilter("p", Or((A, B)))),
        ("[p:(a OR b) -c]", PropertyFilter("p", And((Or((A, B)), Not(C))))),
        ("[p:/x.y/]", PropertyFilter("p", RegexTerm("x.y", 3))),
        ("[p]a ", And((PropertyFilter("p"), A))),
        ("知识 管理 ", And((WordTerm("知识"), WordTerm("管理")))),
    ],
)
def test_every_form_of_a_query_is_parsed(text: str, tree: Node) -> None:
    assert parse(text) == tree
    assert explain(tree).english


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("task:", "has a task"),
        ("task-todo:", "has an open task"),
        ("task-done:", "has a completed task"),
        ("backlinks:", "with a backlink"),
        ("backlinks:supports", "with a backlink of type “supports”"),
        ("ignore-case:a ", "“a” ignoring case"),
    ],
)
def test_a_field_is_explained_with_and_without_a_value(text: str, words: str) -> None:
    node = parse(text)
    assert node is not None and explain(node).english == words


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_is_no_query(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("(a b", 4, '")" to close the "(" at position 0'),
        ("a )", 2, 'an opening "("'),
        ("()", 1, "a word"),
        ("a OR", 4, "after OR"),
        ("OR a", 0, "a word"),
        ("a - b", 3, 'right after "-"'),
        ("-", 1, 'right after "-"'),
        ('say "hi', 7, "to end the phrase that begins at position 4"),
        ("/abc", 4, "to end the regular expression"),
        ("tag:", 4, "after tag:"),
        ("tag: OR b", 5, "after tag:"),
        ("line:(tag:x)", 6, "inside line:"),
        ("[", 1, "the name of a property"),
        ("[p", 2, '"]" to close the "[" at position 0'),
        ("[p:]", 3, "a word"),
        ("[p:", 3, "a value"),
        ("[p:<]", 4, "a number or a date after <"),
        ("similar:", 8, "text in quotes"),
        ("similar:(a b)", 8, "text in quotes"),
        ("a" * (MAX_QUERY_CHARS + 1), MAX_QUERY_CHARS, "at most"),
        ("(" * 200 + "a" + ")" * 200, MAX_DEPTH, "levels of brackets"),
    ],
)
def test_a_bad_query_names_the_place_and_what_was_expected(text: str, position: int, expected: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert caught.value.data["position"] == position
    assert expected in str(caught.value.data["expected"])
    assert caught.value.type == "invalid_parameters"


def without_places(node: Node) -> Node:
    """Return the tree without the positions of its parts."""
    match node:
        case RegexTerm() | SimilarityFilter():
            return replace(node, position=0)
        case And(items) | Or(items):
            return replace(node, items=tuple(map(without_places, items)))
        case Not(item) | FieldFilter(_, item):
            return replace(node, item=without_places(item))
        case PropertyFilter(_, value) if value is not None:
            return replace(node, value=without_places(value))
        case _:
            return node


_PIECES = (
    "a",
    "OR",
    "(",
    ")",
    "-",
    '"',
    "[",
    "]",
    "p:",
    ":",
    "null",
    "<5",
    ">=",
    "<",
    "=",
    "/",
    "\\",
    "tag:",
    "line:",
    "task:",
    "match-case:",
    "orphan:",
    "similar:",
    "links-to:",
    "*",
    " ",
    " ",
    "x*",
    "知",
)


@settings(max_examples=400)
@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_a_search_that_is_written_down_is_read_as_the_same(text: str) -> None:
    try:
        node = parse(text)
    except QueryError:
        assume(False)
    assume(node is not None)
    again = parse(serialize_query(node))
    assert again is not None
    assert without_places(again) == without_places(node)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (And((A, WordTerm("b", prefix=True))), "a b*"),
        (And((Or((A, B)), Not(FieldFilter("tag", WordTerm("x"))))), "(a OR b) -tag:x "),
        (PropertyFilter("p", ValueComparison("<", "= 5")), '[p:<"= 5"]'),
        (PropertyFilter("a:b", None, empty=True), '["a:b":null]'),
        (RegexTerm(r"a/b\d"), r"/a\/b\d/"),
    ],
)
def test_a_query_is_serialized(node: Node, text: str) -> None:
    assert serialize_query(node) == text


@given(st.text(alphabet='ab -"()[]/\\:<>=OR*#\n漢tagline', max_size=40))
def test_any_text_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    try:
        node = parse(text)
    except QueryError as error:
        assert 0 <= error.data["position"] <= len(text)
        assert error.data["expected"]
    else:
        assert (node is None) == (not text.strip())

"""Edits of relations keep every other character and every other relation."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.errors import InvalidParametersError, NotFoundError
from app.vault.markdown.body_edits import insert_under
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.markdown.relation_edits import add_relation, append_prose, change_relation, remove_relation
from app.vault.markdown.scan import scan


def first(text: str, at: int = 0):
    return scan(text).relations[at]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("- supports [[A]]\n", "- contradicts [[A]] (confidence: 0.4)\n"),
        ("- supports [[A]] (confidence: 0.9, said so)\n", "- contradicts [[A]] (confidence: 0.4, said so)\n"),
        ("- supports [[A]] (why not)\r\n", "- contradicts [[A]] (confidence: 0.4, why not)\r\n"),
        ("> * supports: [[A|x]] (confidence: 80 %) #t", "> * contradicts: [[A|x]] (confidence: 0.4) #t"),
        ('- "relates to" [[A]]', "- contradicts [[A]] (confidence: 0.4)"),
        ("supports:: [[A]]\n", "contradicts:: [[A]] (confidence: 0.4)\n"),
        ("So [supports:: [[A]]] it is", "So [contradicts:: [[A]] (confidence: 0.4)] it is"),
        ("So (**supports**:: [[A]] (x)) it", "So (**contradicts**:: [[A]] (confidence: 0.4, x)) it"),
    ],
)
def test_a_single_relation_is_changed_in_place(text: str, after: str) -> None:
    assert change_relation(text, first(text), kind="CONTRADICTS", confidence=0.4) == after


def test_one_of_several_gets_a_line_of_its_own() -> None:
    text = "- supports [[A]], [[B]] and [[C]] (confidence: 0.5)\n"
    after = change_relation(text, first(text, 1), kind="contradicts")
    assert after.startswith("- supports [[A]] and [[C]] (confidence: 0.5)\n")
    assert after.endswith("## Relations\n\n- contradicts [[B]] (confidence: 0.5)\n")


def test_a_link_written_with_escapes_keeps_its_block() -> None:
    text = '---\nsupports: "[[A#^b|caf\\u00e9]]"\n---\nx\n'
    after = change_relation(text, first(text), confidence=0.5)
    assert after == "x\n\n## Relations\n\n- supports [[A#^b|café]] (confidence: 0.5)\n"


def test_a_property_becomes_an_item_and_the_other_links_of_it_stay() -> None:
    text = '---\ntype: claim # mine\nsupports: ["[[A]]", "[[B]]"]\n---\nText\n'
    after = change_relation(text, first(text), confidence=0.7)
    assert after == (
        '---\ntype: claim # mine\nsupports: ["[[B]]"]\n---\nText\n\n## Relations\n\n'
        "- supports [[A]] (confidence: 0.7)\n"
    )
    alone = "---\ntype: claim\nsupports: [[A]]\n---\nText\n"
    assert remove_relation(alone, first(alone)) == "---\ntype: claim\n---\nText\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\n- supports [[A]] (x)\nb\n", "a\nb\n"),
        ("a\r\n- supports [[A]]", "a"),
        ("- supports [[A]]\n", ""),
        ("- supports [[A]], [[B]]\n", "- supports [[B]]\n"),
        ("So [supports:: [[A]]] it is\n", "So it is\n"),
        ("x\n- [ ] supports:: [[A]]\ny", "x\ny"),
        ("x\n\n## Relations\n\n- supports [[A]]\n", "x\n"),
        ("x\n\n## Relations\n\n- supports [[A]]\n- cites [[B]]\n", "x\n\n## Relations\n\n- cites [[B]]\n"),
        ("x\n\n## Relations\n- supports [[A]]\n\n## More\ny", "x\n\n## More\ny"),
        ("## Relations\n- supports [[A]]\n### More\ny", "## Relations\n### More\ny"),
        ("x\n## Ties\n- supports [[A]]\n", "x\n## Ties\n"),
    ],
)
def test_removing(text: str, after: str) -> None:
    assert remove_relation(text, first(text)) == after


def test_a_remark_can_be_dropped() -> None:
    text = "- supports [[A]] (confidence: 0.9, said so)\n"
    assert change_relation(text, first(text), keep_note=False) == "- supports [[A]] (confidence: 0.9)\n"


def test_relations_that_cannot_be_written_are_refused() -> None:
    text = "- supports [[A]]\n"
    with pytest.raises(InvalidParametersError):
        change_relation(text, first(text), confidence=1.5)
    with pytest.raises(InvalidParametersError):
        change_relation(text, first(text), kind="!")
    with pytest.raises(NotFoundError):
        change_relation("- cites [[B]]\n", first(text), confidence=0.5)


_NAMES = st.sampled_from(["A", "Note two", "Ordner/ä", "鄭和", "A|alias", "B#head"])
_TYPES = st.sampled_from(["supports", "contradicts", "relates to", "part_of", "Is-A"])
_REMARKS = st.sampled_from(["", " (why)", " (confidence: 0.3)", " (confidence: 90%, a (b) c)", " #tag"])


@st.composite
def _line(draw: st.DrawFn) -> str:
    name, kind, remark = draw(_NAMES), draw(_TYPES), draw(_REMARKS)
    shape = draw(st.sampled_from(["item", "two", "field", "inside", "plain", "heading", "code"]))
    word = kind.replace(" ", "_")
    return {
        "item": f"- {word} [[{name}]]{remark}",
        "two": f"* {word} [[{name}]], [[Other]]{remark}",
        "field": f"{kind}:: [[{name}]]",
        "inside": f"As ({kind}:: [[{name}]]) it is.",
        "plain": f"Only [[{name}]] in a sentence{remark}",
        "heading": "## Relations",
        "code": f"`- {word} [[{name}]]`",
    }[shape]


_TEXTS = st.tuples(
    st.lists(_line(), min_size=1, max_size=7),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(["", "\ufeff", "---\ntype: claim\ncites: '[[S]]' # s\n---\n"]),
).map(lambda parts: parts[3] + parts[1].join(parts[0]) + (parts[1] if parts[2] else ""))


@given(_TEXTS, st.integers(0, 20), st.sampled_from(["SUPPORTS", "CAUSES", None]), st.floats(0, 1))
def test_an_edit_touches_only_its_own_relation(text: str, at: int, kind: str | None, number: float) -> None:
    before = scan(text)
    assume(before.relations)
    relation = before.relations[at % len(before.relations)]
    number = round(number, 3)
    after = change_relation(text, relation, kind=kind, confidence=number)
    said = [(r.type, r.link.target, r.confidence, r.note) for r in before.relations]
    said.remove((relation.type, relation.link.target, relation.confidence, relation.note))
    said.append((kind or relation.type, relation.link.target, number, relation.note))
    found = [(r.type, r.link.target, r.confidence, r.note) for r in scan(after).relations]
    assert sorted(map(repr, found)) == sorted(map(repr, said))
    # Every other line is unchanged, including its newline (a last line without one gets one).
    old, new = text.splitlines(keepends=True), after.splitlines(keepends=True)
    del old[relation.line - 1]
    kept = iter(new)
    for line in old:
        assert any(line in (other, other.rstrip("\r\n")) for other in kept), (text, after)


@given(_TEXTS, st.integers(0, 20))
def test_removing_leaves_every_other_relation(text: str, at: int) -> None:
    before = scan(text)
    assume(before.relations)
    relation = before.relations[at % len(before.relations)]
    after = scan(remove_relation(text, relation)).relations
    found = [(r.type, r.link.target, r.confidence, r.note) for r in after]
    said = [(r.type, r.link.target, r.confidence, r.note) for r in before.relations]
    said.remove((relation.type, relation.link.target, relation.confidence, relation.note))
    assert sorted(map(repr, found)) == sorted(map(repr, said))


@given(st.floats(0, 1))
def test_a_written_confidence_is_read_again(number: float) -> None:
    text = add_relation("", "supports", "A", number)
    (relation,) = scan(text).relations
    assert relation.confidence == pytest.approx(number, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            "A.\n- [ ] a\n\n## Relations\n\n- cites [[B]]\n",
            "A.\n- [ ] a\n- [ ] b\n\n## Relations\n\n- cites [[B]]\n",
        ),
        ("A.  \r\n\r\n## Relations\r\n- cites [[B]]", "A.  \r\n- [ ] b\r\n\r\n## Relations\r\n- cites [[B]]"),
        (
            "---\nz: 1\n---\n## Relations\n- cites [[B]]\n",
            "---\nz: 1\n---\n- [ ] b\n\n## Relations\n- cites [[B]]\n",
        ),
        ("## Relations\n- cites [[B]]\nText\n", "## Relations\n- cites [[B]]\nText\n- [ ] b\n"),
        ("## Relations\n- cites [[B]]\n## More\nText", "## Relations\n- cites [[B]]\n## More\nText\n- [ ] b"),
        ("A.\n", "A.\n- [ ] b\n"),
    ],
)
def test_text_is_added_before_a_final_section_of_relations(text, after):
    assert append_prose(text, "- [ ] b") == after


def test_a_relation_is_added_to_the_final_section():
    text = "A.\n\n## Relations\n- cites [[B]]\n"
    assert append_prose(text, "- supports [[C]]") == f"{text}- supports [[C]]\n"


_ADDITIONS = st.lists(
    st.sampled_from(
        ["- [ ] b", "```", "~~~~", "<!-- x", "-->", "%%", "$$", "## Head", "---", "text", "", "> q"]
    ),
    min_size=1,
    max_size=4,
).map("\n".join)


@given(_TEXTS, _ADDITIONS)
def test_added_text_takes_in_no_relation(text: str, addition: str) -> None:
    for note in (text, f"{text}\n\n## Relations\n\n- cites [[B]]\n- supports [[C]]\n"):
        after = append_prose(note, addition)
        assert [(r.type, r.link.target) for r in scan(after).relations] == [
            (r.type, r.link.target) for r in scan(note).relations
        ]


def test_text_before_the_relations_does_not_become_properties() -> None:
    after = append_prose("## Relations\n- cites [[B]]\n", "---\na: 1\n---")
    assert not scan(after).properties and len(scan(after).relations) == 1


@pytest.mark.parametrize("section", ["## Relations\n", "## Relations\n\n- cites [[B]]\n"])
@pytest.mark.parametrize("addition", ["```\ncode", "<!-- x", "## Relations\n```"])
def test_an_unclosed_block_is_added_after_the_relations(addition: str, section: str) -> None:
    text = f"A.\n\n{section}"
    after = append_prose(text, addition)
    assert after.startswith(text) and after[len(text) :].strip() == addition


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("- cites [[B]]\n", "- cites [[B]]\n\nOil it.\n"),
        ("- [ ] a\r\n  more\r\nand more", "- [ ] a\r\n  more\r\nand more\r\n\r\nOil it."),
        ("> 1. a\n", "> 1. a\n\nOil it.\n"),
        ("A.\n- a\n\n## Relations\n- cites [[B]]\n", "A.\n- a\n\nOil it.\n\n## Relations\n- cites [[B]]\n"),
        ("- cites [[B]]\n\n", "- cites [[B]]\n\nOil it.\n"),
        ("- a\n## More\nText.\n", "- a\n## More\nText.\nOil it.\n"),
        ("---\nlist:\n- a\n---\n", "---\nlist:\n- a\n---\nOil it.\n"),
    ],
)
def test_text_after_a_list_item_is_not_a_part_of_the_item(text: str, after: str) -> None:
    assert append_prose(text, "Oil it.") == after


@pytest.mark.parametrize(
    ("text", "addition", "gap"),
    [
        ("> quoted\nmore", "Text.", "\n"),
        ("> quoted", "> more", ""),
        ("> [!note]\n> quoted", "# Head", ""),
        ("| a |\n|---|\n| b |", "Text.", "\n"),
        ("| a |\n|---|\n| b |", "| c |", ""),
        ("See.[^1]\n\n[^1]: Nor a hero.", "Text.", "\n"),
        ("Text.", "---", "\n"),
        ("Text.", "More.", ""),
        ("# Head", "---", ""),
    ],
)
def test_added_text_joins_no_quotation_table_footnote_or_heading(text: str, addition: str, gap: str) -> None:
    assert append_prose(text, addition) == f"{text}\n{gap}{addition}"
    assert append_prose(f"{text}\n", addition) == f"{text}\n{gap}{addition}\n"


def test_text_under_a_heading_is_not_a_part_of_the_last_item() -> None:
    text = "## Log\n- cites [[B]]\n\n## End\n"
    assert insert_under(text, "Log", "Oil it.") == "## Log\n- cites [[B]]\n\nOil it.\n\n## End\n"
    assert insert_under(text, "Log", "- Oil it.") == "## Log\n- cites [[B]]\n- Oil it.\n\n## End\n"


LINES = (
    "- supports [[A]] (confidence: 1)",
    "- [ ] a",
    "* [x] b 📅 2026-03-01",
    "  1) c",
    "> - supports [[D]]",
    "  more",
    "text",
    "> quoted",
    "| a |",
    "[^1]: note",
    "supports:: [[B]]",
    "## Relations",
    "```",
    "",
)


def items(text: str) -> list[str]:
    """Return the paragraphs in list items and quotations."""
    depth, found = 0, []
    for token in MarkdownIt("commonmark").parse(text[read_frontmatter(text).body_start :]):
        depth += token.nesting if token.type.startswith(("list_item", "blockquote")) else 0
        found += [token.content] if token.type == "inline" and depth else []
    return found


@example(["- supports [[A]] (confidence: 1)", "", "  more"], "oil it", "", "\n", False)
@given(
    st.lists(st.sampled_from(LINES), max_size=7),
    st.sampled_from(["oil it", "one\ntwo", "[[C]] is near", "- [ ] new", "# Head"]),
    st.sampled_from(["", "---\nstate: on\nsupports: '[[A]]'\n---\n"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_added_text_changes_no_relation_task_or_item(lines, addition, properties, newline, ends) -> None:
    text = (properties + "\n".join(lines) + "\n" * ends).replace("\n", newline)
    after = append_prose(text, addition)
    before, now = scan(text), scan(after)
    fields = [(r.type, r.link.target, r.confidence, r.note) for r in before.relations]
    assert [(r.type, r.link.target, r.confidence, r.note) for r in now.relations] == fields
    assert now.properties == before.properties
    tasks = [(task.text, task.done) for task in before.tasks]
    added = Counter((task.text, task.done) for task in now.tasks) - Counter(tasks)
    assert set(added) <= {("new", False)} and len(now.tasks) == len(tasks) + added.total()
    assert not Counter(items(text)) - Counter(items(after))

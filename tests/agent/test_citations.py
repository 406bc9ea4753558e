"""Citations of a model are checked byte for byte against the current notes; invalid ones are marked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agent.citations import NO_PASSAGE, NOT_FOUND, NOT_IN_NOTES, CitationChecker
from app.vault.note import Span
from app.vault.path import NotePath
from app.vault.reference import parse_reference
from app.vault.span_reference import find_span, fragment_of

NOTE = "# H1\n\nThe first sea clock (1735): 34 kg of brass. It has [[Gimbal|rings]].\n\nAnother line. ^id\n"
SENTENCE = "The first sea clock (1735): 34 kg of brass."
START = NOTE.index(SENTENCE)
FRAGMENT = fragment_of(NOTE, Span(START, START + len(SENTENCE)))


def read(target: str) -> tuple[NotePath, str] | None:
    return (NotePath("Instruments/H1.md"), NOTE) if target in ("H1", "Instruments/H1") else None


def check(answer: str, *, claims: bool = True) -> str:
    return CitationChecker(read).check(answer, claims=claims)


def test_a_valid_citation_becomes_a_link_to_the_passage() -> None:
    answer_text = check(f'It weighs "34 kg of brass" [[H1#{FRAGMENT}]].')
    assert answer_text == f'It weighs "34 kg of brass" [[Instruments/H1#{FRAGMENT}|H1]].'


def test_a_quotation_before_a_plain_link_is_looked_up() -> None:
    answer_text = check("It has “34 kg of brass” ([[H1]]).")
    link = parse_reference(answer_text[answer_text.index("[[") : answer_text.index("]]") + 2])
    span = find_span(NOTE, link.heading or "")
    assert span is not None and NOTE[span.start : span.end] == "34 kg of brass"
    assert "==" not in answer_text


@pytest.mark.parametrize(
    "answer",
    [
        'It weighs "35 kg of brass" [[H1#{0}]].',
        'It weighs "34 kg of Brass" [[H1]].',
        "It is heavy [[H1#span=1-9-0123456789]].",
        "It is heavy [[H1#span=what]].",
        "It is heavy [[H1#^gone]].",
        'It weighs "34 kg of brass" [[No such note]].',
        "It is heavy [[No such note#^id]].",
    ],
)
def test_an_invalid_citation_is_marked_and_links_to_no_passage(answer: str) -> None:
    answer_text = check(answer.format(FRAGMENT))
    assert NOT_FOUND in answer_text and "#" not in answer_text


def test_statements_without_a_citation_are_marked_one_by_one() -> None:
    answer = (
        f"Here is what I found:\n\n- It is heavy. [[H1#{FRAGMENT}]]\n- It is red all over.\n\n"
        "It was loved by everyone, see [[H1]]. Shall I look further?\n\n```\nprint the code here now\n```\n"
    )
    assert check(answer) == (
        f"Here is what I found:\n\n- It is heavy. [[Instruments/H1#{FRAGMENT}|H1]]\n"
        f"- It is red all over. {NOT_IN_NOTES}\n\n"
        f"It was loved by everyone, see [[H1]]. {NO_PASSAGE} Shall I look further?\n\n"
        "```\nprint the code here now\n```\n"
    )


def test_what_is_no_statement_about_the_notes_is_left_alone() -> None:
    said = "I renamed [[H1]] to [[H2]]. It took a moment."
    assert check(said, claims=False) == said


def test_a_model_cannot_set_the_marks_itself() -> None:
    assert check(f"All is well {NOT_FOUND}", claims=False) == "All is well citation not found"


def test_a_block_id_cites_too() -> None:
    assert check("There is another line [[H1#^id]].") == "There is another line [[Instruments/H1#^id|H1]]."


@given(st.text(alphabet="ab .,\n()*-", max_size=60), st.text(alphabet="ab .,\n()*-", max_size=60))
def test_links_to_missing_passages_are_removed_from_answers(before: str, after: str) -> None:
    answer_text = check(f"{before}[[H1#span=3-9-aaaaaaaaaa]]{after}", claims=False)
    assert "span=" not in answer_text and NOT_FOUND in answer_text

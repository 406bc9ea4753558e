"""Passages are ranked as answers to a question."""

from __future__ import annotations

import pytest

from app.answering.passages import split_passages
from app.answering.question import parse_question
from app.answering.ranking import Candidate, CandidateScorer
from app.vault.markdown.scan import scan
from app.vault.path import NotePath

PERSON = """---
created: 2023-09-12
rating: 7
role: Founder and writer
---
He keeps bees.
"""
RELEASES = """# Releases

- Version 7.0.10.15 closed a hole.
- Version 0.10.14 fixed the list.
- Version 0.10.15 fixed the player.
- Version 0.0.15 was the first one.
"""


def ranked(question: str, name: str, text: str) -> list[str]:
    """Return the texts of a note's passages, best first."""
    passages = split_passages(text, scan(text))
    pool = [Candidate(NotePath(f"{name}.md"), name, passage) for passage in passages]
    scorer = CandidateScorer(parse_question(question), pool)
    ranking = scorer.rank(scorer.select_promising(40, {}), None)
    return [passage.candidate.passage.text for passage in ranking.passages]


@pytest.mark.parametrize(
    ("question", "has_date", "has_rating"),
    [
        ("what does Steph Ango say about bees?", False, False),
        ("was sagt Steph Ango über Bienen?", False, False),
        ("who is Steph Ango?", False, False),
        ("when did I meet Steph Ango?", True, False),
        ("what rating does Steph Ango have?", False, True),
    ],
)
def test_a_date_or_number_answers_only_a_question_that_asks_for_it(
    question: str, has_date: bool, has_rating: bool
) -> None:
    texts = ranked(question, "Steph Ango", PERSON)
    assert ("created: 2023-09-12" in texts, "rating: 7" in texts) == (has_date, has_rating)
    assert "role: Founder and writer" in texts


def test_a_version_is_one_word() -> None:
    assert ranked("what changed in 0.10.15?", "Releases", RELEASES)[0] == "Version 0.10.15 fixed the player."
    assert parse_question("what changed in v0.10.15?").words == ("chang", "v0.10.15")


def test_a_related_form_of_a_word_is_found() -> None:
    text = "- The clock stands there.\n- The inventor lived here.\n"
    assert ranked("who invented it?", "House", text)[0] == "The inventor lived here."


COMPANY = """# Harbor Press

## Founded 1887

Two sisters printed maps.

## Printed in Bergen

## Staff

They hired a binder in 1902.
"""


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("when was Harbor Press founded?", "Founded 1887"),
        ("in which year was Harbor Press founded?", "Founded 1887"),
        ("when did Harbor Press hire a binder?", "They hired a binder in 1902."),
        ("where was it printed?", "Printed in Bergen"),
    ],
)
def test_a_heading_with_the_answer_is_found(question: str, best: str) -> None:
    assert ranked(question, "Harbor Press", COMPANY)[0] == best


@pytest.mark.parametrize(
    "question", ["what did Harbor Press print?", "who founded it?", "when was the staff hired?"]
)
def test_a_heading_without_the_answer_is_no_passage(question: str) -> None:
    found = ranked(question, "Harbor Press", COMPANY)
    assert not {"Harbor Press", "Staff", "Founded 1887"} & {*found}

"""A question offers the likely readings, and the complete one of the grammar."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.agent.language.interpretation.offered_options import offered_options
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.notation import parse
from app.agent.language.model.candidates import MeaningCandidate
from app.agent.language.model.decision import options_of, weigh_options
from tests.agent.language.model.test_program import request


@pytest.mark.parametrize(
    ("line", "is_offered"),
    [("find [type:source [year:>=1700]]", True), ("find [type:source late]", False)],
)
def test_a_question_offers_the_complete_reading_of_the_grammar(line: str, is_offered: bool) -> None:
    reading = parse(line, lambda _: (), ACTIONS)
    assert reading is not None
    reading = replace(reading, score=0.9, is_certain=False)
    written = [
        MeaningCandidate(0.2, parse(f"find [path:Sources/] order={order} limit=1", lambda _: (), ACTIONS))
        for order in ("name", "words", "modified", "created")
    ]
    options = weigh_options(options_of(written, [reading], asks=False))
    offered = offered_options(options, request("sources"))[:4]
    assert (reading in [option.reading for option in offered]) is is_offered

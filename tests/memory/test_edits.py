"""Edits of blocks: replacements that are refused, and those that are not."""

from __future__ import annotations

import pytest

from app.errors import InvalidParametersError, LimitError, NotFoundError
from app.memory import edits
from app.memory.block import Block
from app.memory.serialization import MAX_BLOCK_BYTES

NOTES = Block.new("scriptorium", "notes").with_text("one two one")


@pytest.mark.parametrize("new", [r"\3", "\\"])
def test_a_replacement_that_the_expression_cannot_expand_is_refused(new: str) -> None:
    with pytest.raises(InvalidParametersError, match="not a valid replacement"):
        edits.replace(NOTES, "one", new, "regex")


def test_the_size_limit_counts_the_text_after_the_replacement() -> None:
    half = "a" * (MAX_BLOCK_BYTES // 2 + 1)
    assert edits.replace(NOTES.with_text(half), half, "b" * len(half), "all").text == "b" * len(half)
    for mode in ("all", "regex"):
        with pytest.raises(LimitError):
            edits.replace(NOTES.with_text("a" * 9), "a", half, mode)


def test_an_expression_that_is_not_valid_is_explained() -> None:
    with pytest.raises(InvalidParametersError, match=r"regular expression: missing \): \("):
        edits.replace(NOTES, "(", "", "regex")


def test_a_missing_occurrence_is_counted_in_the_error() -> None:
    with pytest.raises(NotFoundError, match="occurs only once"):
        edits.replace(NOTES, "two", "2", "nth", 2)
    with pytest.raises(NotFoundError, match="occurs only 2 times"):
        edits.replace(NOTES, "one", "1", "nth", 3)

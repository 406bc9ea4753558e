"""The list that an added text continues is found."""

from __future__ import annotations

import pytest

from app.agent.pipeline.list_places import find_list


def test_the_last_list_has_its_items_and_its_end() -> None:
    text = "---\na: 1\n---\n- one\n\nText.\n\n- two\n  - inner\n- three\n"
    found = find_list(text)
    assert found is not None and found.texts == ("two", "inner", "three") and found.item[5] == "three"
    assert text[found.end :] == "\n" and not found.is_only_list and not found.is_only_text


@pytest.mark.parametrize("rule", ["* * *", "---", "- - -", "***"])
def test_a_thematic_break_is_no_list(rule) -> None:
    assert find_list(f"Text.\n\n{rule}\n") is None


def test_code_contains_no_list() -> None:
    assert find_list("Text.\n\n```\n- one\n- two\n```\n") is None
    found = find_list("- one\n\n```\n- two\n```\n\n- three\n")
    assert found is not None and found.texts == ("three",)


def test_an_item_with_inline_code_is_an_item() -> None:
    found = find_list("- `one`\n- `two` and `three`\n")
    assert found is not None and found.is_only_text and len(found.texts) == 2


@pytest.mark.parametrize(
    ("text", "takes"), [("Sectional went well.", False), ("two oars", True), ("buy oars!", True)]
)
def test_a_sentence_is_no_item_among_words(text, takes) -> None:
    found = find_list("# Boat\n\n- [ ] mend the sail\n- [ ] paint the hull\n")
    assert found is not None
    assert found.takes(text) == takes

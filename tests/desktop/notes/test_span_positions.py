"""A span of Markdown is found in the text of its rendered page."""

from __future__ import annotations

import pytest

from app.desktop.notes.span_positions import find_on_page

SOURCE = "# Head\n\nThe **bold** [[Note|name]] said\nso. Twice.\n\n- item: Twice.\n\n😀 At the end.\n"
PAGE = "Head\nThe bold name said so. Twice.\nitem: Twice.\n😀 At the end.\n"


@pytest.mark.parametrize(
    ("span", "shown"),
    [
        ("The **bold** [[Note|name]] said\nso.", "The bold name said so."),
        ("item: Twice.", "item: Twice."),
        ("At the end.", "At the end."),
    ],
)
def test_marks_and_line_breaks_do_not_matter(span: str, shown: str) -> None:
    start = SOURCE.index(span)
    span_on_page = find_on_page(SOURCE, start, start + len(span), PAGE)
    assert span_on_page is not None
    units = PAGE.encode("utf-16-le")
    assert units[2 * span_on_page[0] : 2 * span_on_page[1]].decode("utf-16-le") == shown


def test_the_second_occurrence_is_found() -> None:
    start = SOURCE.rindex("Twice")
    span_on_page = find_on_page(SOURCE, start, start + len("Twice"), PAGE)
    assert span_on_page is not None and span_on_page[0] == PAGE.rindex("Twice")


def test_hidden_text_has_no_position() -> None:
    assert find_on_page("---\nborn: 1693\n---\nText", 4, 14, "Text") is None

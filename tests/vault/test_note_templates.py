from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError
from app.vault.markdown.frontmatter import read_frontmatter
from app.vault.note_templates import expand, with_properties

NOW = datetime(2026, 3, 1, 14, 5)


def test_placeholders_are_filled_in_and_the_cursor_is_found() -> None:
    made = expand("# {{title}}\n{{date}} {{time}} {{Date:dddd}}\n- {{cursor}}!\n{{other}} {{", "Tea", NOW)
    assert made.text == "# Tea\n2026-03-01 14:05 Sunday\n- !\n{{other}} {{"
    assert made.cursor == made.text.index("!")


def test_the_formats_of_the_user_hold_where_none_is_given() -> None:
    made = expand("{{date}} {{date:YYYY}} {{time}}", "", NOW, date_format="D.M.", time_format="h A")
    assert made.text == "1.3. 2026 2 PM" and made.cursor is None


def test_a_title_with_placeholders_is_not_expanded_again() -> None:
    assert expand("{{title}}", "{{date}}", NOW).text == "{{date}}"


@given(st.text(alphabet=st.characters(exclude_characters="{}")), st.text())
def test_text_without_placeholders_stays(text: str, title: str) -> None:
    assert expand(text, title, NOW).text == text
    made = expand(f"{text}{{{{cursor}}}}{text}", title, NOW)
    assert made.text == text * 2 and made.cursor == len(text)


@pytest.mark.parametrize(
    ("text", "template", "after"),
    [
        ("text", "no block", "text"),
        ("# Own\n", "---\na: 1\n---\nbody", "---\na: 1\n---\n# Own\n"),
        ("# Own\n", "---\na: 1\n---", "---\na: 1\n---\n# Own\n"),
        (
            "---\nTags: [a]\nx: mine # kept\n---\nbody",
            "---\ntags: b\nX: theirs\ny: [1, 2]\n---\nother",
            "---\nTags: [a, b]\nx: mine # kept\ny: [1, 2]\n---\nbody",
        ),
    ],
)
def test_properties_of_a_template_go_into_those_of_the_note(text: str, template: str, after: str) -> None:
    found, wanted = with_properties(text, template), after
    assert read_frontmatter(found).properties == read_frontmatter(wanted).properties
    assert found[read_frontmatter(found).body_start :] == text[read_frontmatter(text).body_start :]
    assert ("mine # kept" in found) == ("mine # kept" in text)


@pytest.mark.parametrize(("text", "template"), [("---\na: [\n---\n", "---\nb: 1\n---\n")] * 1)
def test_properties_that_cant_be_read_are_left_alone(text: str, template: str) -> None:
    for note, other in ((text, template), (template, text)):
        with pytest.raises(InvalidParametersError):
            with_properties(note, other)

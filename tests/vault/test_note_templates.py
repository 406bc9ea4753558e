from __future__ import annotations

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from app.vault.note_templates import expand

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

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import ConflictError
from app.vault.markdown.scan import scan
from app.vault.markdown.tasks import set_task_done, task_facts, with_due_date, without_due_date


@pytest.mark.parametrize(
    "text",
    [
        "Call Ann 📅 2026-03-01",
        "Call Ann [due:: 2026-03-01]",
        "Call Ann (due:: 2026-03-01)",
        "Call Ann due: 2026-03-01",
        "📅 2026-03-01 Call Ann",
        "Call Ann @2026-03-01",
        "Call Ann @due(2026-03-01)",
        "Call Ann due:: [[2026-03-01]]",
    ],
)
def test_due_dates_of_the_usual_kinds_are_read(text: str) -> None:
    facts = task_facts(text)
    assert facts.due == date(2026, 3, 1) and facts.text == "Call Ann"


def test_tags_are_read_and_what_is_no_day_is_left() -> None:
    facts = task_facts("Buy #home/garden soil 📅 2026-02-31, see page #3")
    assert facts.tags == ("home/garden",) and facts.due is None
    assert facts.text == "Buy #home/garden soil 📅 2026-02-31, see page #3"


def test_a_task_that_has_moved_is_found_by_its_text() -> None:
    text = "# T\r\n\r\n- [ ] one\r\n> 1. [X] two  \r\n- [ ] one"
    assert set_task_done(text, 3, "one", done=True) == text.replace("- [ ] one\r\n", "- [x] one\r\n")
    assert set_task_done(text, 1, "two", done=False) == text.replace("[X]", "[ ]")
    with pytest.raises(ConflictError):
        set_task_done(text, 3, "three", done=True)


LINES = st.lists(
    st.sampled_from(["- [ ] a", "* [x] b  ", "  1. [ ] c", "> - [X] d #t", "text", "", "```", "- [] no"]),
    max_size=12,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_only_the_box_of_that_task_changes(lines: list[str], end: str, done: bool) -> None:
    text = end.join(lines)
    for task in scan(text).tasks:
        after = set_task_done(text, task.line, task.text, done=done)
        now = {t.line: (t.text, t.done) for t in scan(after).tasks}
        expected = {t.line: (t.text, t.done) for t in scan(text).tasks}
        assert now == {**expected, task.line: (task.text, done)}
        assert sum(a != b for a, b in zip(text, after, strict=True)) <= 1


@pytest.mark.parametrize(
    ("task", "rescheduled"),
    [
        ("- [ ] Call Ann 📅 2026-03-20 #phone", "- [ ] Call Ann 📅 2026-04-02 #phone"),
        ("- [ ] Call Ann [due:: 2026-03-20]", "- [ ] Call Ann [due:: 2026-04-02]"),
        ("- [ ] Call Ann @2026-03-20 about 2025-01-01", "- [ ] Call Ann @2026-04-02 about 2025-01-01"),
        ("- [ ] Call Ann by 2026-03-20", "- [ ] Call Ann by 2026-04-02"),
        ("- [ ] Compare 2025-01-01 and 2025-02-01", "- [ ] Compare 2025-01-01 and 2025-02-01 📅 2026-04-02"),
        ("- [ ] Call Ann ", "- [ ] Call Ann 📅 2026-04-02"),
        ("- [ ] Call Ann ^abc", "- [ ] Call Ann 📅 2026-04-02 ^abc"),
        ("- [ ] Call Ann ⏳ 2026-03-18 📅 2026-03-20", "- [ ] Call Ann ⏳ 2026-03-18 📅 2026-04-02"),
        ("- [ ] Call Ann ⏳ 2026-03-18", "- [ ] Call Ann ⏳ 2026-04-02"),
        ("- [ ] Call Ann ➕ 2026-03-01", "- [ ] Call Ann ➕ 2026-03-01 📅 2026-04-02"),
        ("- [ ] Call Ann 🛫 2026-03-01", "- [ ] Call Ann 🛫 2026-03-01 📅 2026-04-02"),
        ("- [ ] Call Ann [start:: 2026-03-01]", "- [ ] Call Ann [start:: 2026-03-01] 📅 2026-04-02"),
        ("- [ ] Read [[Log/2026-03-01|it]]", "- [ ] Read [[Log/2026-03-01|it]] 📅 2026-04-02"),
        ("- [ ] Read [it](2026-03-01.md)", "- [ ] Read [it](2026-03-01.md) 📅 2026-04-02"),
        ("- [ ] Call Ann by 2026-03-20 ➕ 2026-03-01", "- [ ] Call Ann by 2026-04-02 ➕ 2026-03-01"),
        ("- [ ] Call Ann 📅 2026-02-31", "- [ ] Call Ann 📅 2026-04-02"),
    ],
)
def test_only_the_due_date_of_a_task_changes(task: str, rescheduled: str) -> None:
    assert with_due_date(task, date(2026, 4, 2)) == rescheduled


@pytest.mark.parametrize(
    ("task", "undated"),
    [
        ("- [ ] Call Ann 📅 2026-03-20", "- [ ] Call Ann"),
        ("- [ ] Call Ann 📅 2026-03-20 #phone ^abc", "- [ ] Call Ann #phone ^abc"),
        ("- [ ] Call Ann [due:: 2026-03-20] ➕ 2026-03-01", "- [ ] Call Ann ➕ 2026-03-01"),
        ("- [ ] Call Ann ⏳ 2026-03-18 📅 2026-03-20", "- [ ] Call Ann ⏳ 2026-03-18"),
        ("- [ ] Read the minutes of 2026-03-20", "- [ ] Read the minutes of 2026-03-20"),
    ],
)
def test_only_the_due_date_of_a_task_is_removed(task: str, undated: str) -> None:
    assert without_due_date(task) == undated


@pytest.mark.parametrize("task", ["Pay rent ^abc", "Pay rent 📅 2026-03-20 ^abc", "Pay rent\t^a-1  "])
def test_a_rescheduled_task_keeps_its_block_id(task: str) -> None:
    line = f"- [ ] {task}"
    rescheduled = scan(with_due_date(line, date(2026, 4, 2)))
    assert [block.id for block in rescheduled.blocks] == [block.id for block in scan(line).blocks]
    assert task_facts(rescheduled.tasks[0].text).due == date(2026, 4, 2)


def test_a_due_date_is_preferred_to_a_scheduled_day() -> None:
    facts = task_facts("Call Ann ⏳ 2026-03-18 📅 2026-03-20")
    assert facts.due == date(2026, 3, 20) and facts.text == "Call Ann ⏳ 2026-03-18"

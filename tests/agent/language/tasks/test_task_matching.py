"""Tasks are found by the words of a request, in other forms, and by the name of their note."""

from __future__ import annotations

import pytest

from app.agent.language.tasks.task_matching import matching_tasks, names_task, task_text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("I repotted the blueberry", ["Repot the bigger one"]),
        ("the kitchen drawer", ["Drawer next to the oven sticks"]),
        ("the blueberry", ["Call the blueberry farm"]),
        ("kitchen", ["Drawer next to the oven sticks", "Paint"]),
        ("call bob", ["Call Bob"]),
        ("the car", []),
        ("die Küche", []),
        ("I called Bob", ["Call Bob"]),
        ("clean the gutters", ["Clean the gutters"]),
        ("train for the run", ["Train for the run"]),
    ],
)
def test_a_task_is_found_by_other_forms_of_its_words_and_by_its_note(words, expected):
    tasks = [
        ("Garden/Blueberry.md", "- [ ] Repot the bigger one"),
        ("Rooms/Kitchen.md", "- [ ] Drawer next to the oven sticks"),
        ("Rooms/Kitchen.md", "- [ ] Paint"),
        ("Calls.md", "- [ ] Call the blueberry farm"),
        ("Calls.md", "- [ ] Call Bob"),
        ("Calls.md", "- [ ] Die Bank anrufen"),
        ("House.md", "- [ ] Clear the gutters"),
        ("House.md", "- [ ] Clean the gutters"),
        ("House.md", "- [ ] Mark the trail for the run"),
        ("House.md", "- [ ] Train for the run"),
    ]
    assert [line.removeprefix("- [ ] ") for _, line in matching_tasks(words, tasks, "en")] == expected


def test_only_the_tasks_with_exactly_the_words_match_if_there_are_any():
    tasks = [("A.md", "- [ ] Paint the hall"), ("B.md", "- [ ] Paint the hall, then the door")]
    assert matching_tasks("paint the hall", tasks, "en") == tasks[:1]
    assert matching_tasks("the painting of the hall", tasks, "en") == tasks


@pytest.mark.parametrize(
    ("words", "text", "is_named"),
    [
        ("paint the hall", "Paint the hall 📅 2026-03-20", True),
        ("painting halls", "Paint the hall", True),
        ("paint the door", "Paint the hall", False),
        ("the one with it", "Paint the hall", False),
        ("", "Paint the hall", False),
    ],
)
def test_a_task_is_named_by_all_content_words(words, text, is_named):
    assert names_task(words, text, "en") is is_named


@pytest.mark.parametrize(
    "line", ["- [ ] Paint", "  * [x] Paint", "12. [ ] Paint", "> - [/] Paint", "Paint", "+ [ ]  Paint "]
)
def test_the_text_of_a_task_has_no_box(line):
    assert task_text(line) == "Paint"

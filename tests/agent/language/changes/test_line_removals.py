"""A whole line, or a task with its box and date, is removed from a note, and never the note."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import answers, fill, order, say, talk, text

__all__ = ["talk"]
BODY = (
    "---\nname: rope\n---\n# Errands\n\n"
    "- [ ] Fix the borders 📅 2026-12-11\n- [ ] Write docs\n\nBuy rope.\nEnd."
)
WITHOUT_BORDERS = BODY.replace("- [ ] Fix the borders 📅 2026-12-11\n", "")
WITHOUT_DOCS = BODY.replace("- [ ] Write docs\n", "")


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("delete the line with Fix the borders from Errands", WITHOUT_BORDERS),
        ("remove the task Fix the borders from Errands", WITHOUT_BORDERS),
        ("delete the task Write docs from Errands", WITHOUT_DOCS),
        ("remove the line Fix the borders, due 2026-12-11 from Errands", WITHOUT_BORDERS),
        ("delete the line about rope from Errands", BODY.replace("Buy rope.\n", "")),
        ("delete the line about the docs from Errands", WITHOUT_DOCS),
        ("delete the line “End.” from Errands", BODY.removesuffix("\nEnd.")),
        ("lösche die Zeile mit Fix the borders aus Errands", WITHOUT_BORDERS),
        ("entferne die Aufgabe Write docs aus Errands", WITHOUT_DOCS),
        ("delete the borders task from Errands", WITHOUT_BORDERS),
        ("drop the docs writing line from Errands", WITHOUT_DOCS),
        ("remove the “Buy rope” line from Errands", BODY.replace("Buy rope.\n", "")),
    ],
)
async def test_the_whole_line_goes(talk, approver, request_text, expected) -> None:
    await fill(talk, Errands=BODY)
    approver.asked.clear()
    await say(talk, request_text)
    assert text(talk, "Errands.md") == expected and len(approver.asked) == 1


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("drop that task completely", WITHOUT_DOCS),
        ("drop that task, Ann has done it", WITHOUT_DOCS),
        ("delete this task", WITHOUT_DOCS),
        ("delete the task", WITHOUT_DOCS),
        ("streich diese Aufgabe ganz", WITHOUT_DOCS),
    ],
)
async def test_the_task_in_focus_goes(talk, request_text, expected) -> None:
    await fill(talk, Errands=BODY)
    await say(talk, "mark the task Write docs in Errands as done", "reopen it", request_text)
    assert text(talk, "Errands.md") == expected


async def test_a_listed_task_goes_by_its_position_or_words(talk) -> None:
    await fill(talk, Errands=BODY)
    await say(talk, "open tasks in Errands", "delete the first task")
    assert text(talk, "Errands.md") == WITHOUT_BORDERS
    await say(talk, "open tasks in Errands", "drop the docs task")
    assert text(talk, "Errands.md") == WITHOUT_BORDERS.replace("- [ ] Write docs\n", "")


async def test_one_of_several_lines_is_asked_for(talk) -> None:
    await fill(talk, Errands="- rope\n- rope and nails\n- nails\n")
    await say(talk, "delete the line with nail from Errands")
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert [choice.label for choice in question.choices] == ["- rope and nails", "- nails"]
    await say(talk, "the second")
    assert text(talk, "Errands.md") == "- rope\n- rope and nails\n"


async def test_a_missing_line_is_reported_and_the_note_is_not_offered_for_deletion(talk, approver) -> None:
    await fill(talk, Errands=BODY)
    approver.asked.clear()
    await say(talk, "delete the task Call Ann from Errands")
    assert answers(talk)[-1] == "No task in [[Errands]] contains “Call Ann”. Nothing was changed."
    await say(talk, "delete the line from Errands")
    question = talk.items[-1]
    labels = [choice.label for choice in question.choices] if isinstance(question, Question) else []
    assert not any(label.startswith("delete") for label in labels) and not approver.asked


async def test_a_tag_named_like_a_task_is_no_task(talk) -> None:
    await fill(talk, Trip="---\ntags: [todo]\n---\n- [ ] tag the photos\n")
    await say(talk, "get rid of the todo tag on Trip")
    assert "- [ ] tag the photos" in text(talk, "Trip.md") and "todo" not in text(talk, "Trip.md")


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("remove the line eggs from Shopping", "# List,- milk,- bread"),
        ("remove eggs from Shopping", "# List,- milk,- bread"),
        ("remove the line bread from Shopping", "# List,- milk,- eggs"),
        ("remove bread from Shopping", "# List,- milk,- eggs"),
        ("entferne bread aus Shopping", "# List,- milk,- eggs"),
    ],
)
@pytest.mark.parametrize("is_ended", [True, False])
async def test_a_line_goes_with_one_line_end(talk, newline, request_text, expected, is_ended) -> None:
    end = newline if is_ended else ""
    file = talk.workspace.root / "Shopping.md"
    lines = ("# List", "- milk", "- eggs", "- bread")
    file.write_text(newline.join(lines) + end, newline="")
    await talk.workspace.index.scan()
    await order(talk, request_text)
    assert text(talk, "Shopping.md") == expected.replace(",", newline) + end


PARAGRAPH = "Ropes of hemp are kept dry, since they rot within a year if they lie on the wet ground."


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("delete the line with hemp from Errands", PARAGRAPH),
        ("lösche die Zeile mit Knots aus Errands", "## Knots"),
    ],
)
async def test_a_heading_or_a_paragraph_is_asked_about(talk, request_text, line) -> None:
    body = f"# Errands\n\n{PARAGRAPH}\n\n## Knots\n- bowline\n"
    await fill(talk, Errands=body)
    await say(talk, request_text)
    question = talk.items[-1]
    assert isinstance(question, Question) and text(talk, "Errands.md") == body
    assert [choice.label for choice in question.choices] == [line]
    await say(talk, "1")
    assert text(talk, "Errands.md") == body.replace(f"{line}\n", "")


LINKS = "---\nstatus: open\n---\n- [ ] Read [[Dry Walls]] #todo\n- moss on the barn\n- golden paint\n"


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("delete the dry walls task", "- [ ] Read [[Dry Walls]] #todo\n"),
        ("remove the line about the moss from the text", "- moss on the barn\n"),
        ("get rid of the barn bullet point", "- moss on the barn\n"),
        ("lösche die Zeile über moss aus dem Text", "- moss on the barn\n"),
    ],
)
async def test_a_line_is_known_by_the_words_before_its_noun(talk, request_text, line) -> None:
    await fill(talk, Roof=LINKS)
    await say(talk, "open Roof", request_text)
    assert text(talk, "Roof.md") == LINKS.replace(line, "")


@pytest.mark.parametrize(
    "request_text",
    ["remove the old line", "delete the status line", "delete the open task", "delete the Roof line"],
)
async def test_no_line_goes_if_its_words_may_mean_something_else(talk, request_text) -> None:
    await fill(talk, Roof=LINKS)
    await say(talk, "open Roof", request_text)
    assert text(talk, "Roof.md") == LINKS


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("See [[Chip log]] and [[Octant]].", "See  and [[Octant]]."),
        ("See [[Octant|the chip log]] today.", "See [[Octant|the ]] today."),
        ("See [[Octant|chip log]] today.", "See  today."),
    ],
)
async def test_removed_words_leave_no_broken_link(talk, line, rest) -> None:
    await fill(talk, Instruments__H1=f"{line}\nMore.\n")
    await order(talk, 'remove "chip log" from H1')
    assert text(talk, "Instruments/H1.md").splitlines()[0] == rest


@pytest.mark.parametrize("old", ["Ann", "Octant"])
async def test_words_that_are_also_elsewhere_or_parts_of_a_name_remove_no_link(talk, old) -> None:
    note = "See [[Annual report]] and ![[photo of Octant.png]].\n"
    await fill(talk, Roof=note)
    await say(talk, f"= remove_text [@Roof] old={old}")
    assert (
        text(talk, "Roof.md") == note.replace(old, "")
        if old == "Octant"
        else "report]]" in text(talk, "Roof.md")
    )


async def test_a_task_with_parts_of_the_words_is_asked_about(talk) -> None:
    note = "- [ ] Replace the door seal\n"
    await fill(talk, Roof=note)
    await say(talk, "open Roof", "delete the or task", "delete the place task")
    assert text(talk, "Roof.md") == note


async def test_no_words_are_removed_from_a_link(talk) -> None:
    await fill(talk, Roof=LINKS)
    await say(talk, "= remove_text [@Roof] old=walls")
    assert text(talk, "Roof.md") == LINKS.replace("[[Dry Walls]]", "")

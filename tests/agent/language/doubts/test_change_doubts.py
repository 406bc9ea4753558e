"""The agent asks before a change that may mean other notes than those it has found."""

from __future__ import annotations

import pytest

from app.agent.language.doubts.change_doubts import ChangeDoubts
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, parse
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.transcript import Question
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, names, say, state, talk, text

__all__ = ["talk"]


def choices(talk) -> list[str]:
    """Return the notation of the choices of the last question."""
    assert isinstance(talk.items[-1], Question), talk.items[-1]
    return [choice.reply.removeprefix("= ") for choice in talk.items[-1].choices]


H1, H2, H3, H4 = (f"Instruments/H{number}.md" for number in range(1, 5))
COOK, GRAHAM = "People/James Cook.md", "People/George Graham.md"
LINK = Reading((PipelineStep("relate", None, {"to": "x"}),), 1.0)
OPPOSED = Reading((PipelineStep("what_supports", NoteSet(notes=(H4,))),), 1.0)
SEARCH = Reading((PipelineStep("find"),), 1.0)


def doubts(talk, text_of_request: str, notation: str, **state: object) -> ChangeDoubts:
    """Return the doubts about a change in a state of the conversation, with a note on the screen."""
    agent = talk.workspace.agent._builtin
    dialog = DialogState(open_note=OPEN, **state)
    request = agent._requests.request_of(text_of_request, dialog)
    reading = parse(notation, request.vocabulary.notes, ACTIONS)
    return ChangeDoubts(request, reading, reading, agent._properties_of, agent._words().templates)


@pytest.mark.parametrize(
    ("request_text", "notation", "state"),
    [
        ("set its status to done", "set_property [@H4] key=status value=done", {"focus": (H4,)}),
        ("tag it late", "add_tag [@H4] tag=late", {"focus": (H4,), "recent": (H3, H4)}),
        ("tag it late, please?", "add_tag [@H4] tag=late", {"focus": (H4,)}),
        ("tag him pacific", "add_tag [@James Cook] tag=pacific", {"focus": (COOK,), "recent": (H4, COOK)}),
        ("tagge ihn mit pazifik", "add_tag [@James Cook] tag=pazifik", {"focus": (COOK,), "recent": (COOK,)}),
        ("tag both x", "add_tag [@H1, @H2] tag=x", {"results": (H1, H2), "last": SEARCH, "recent": (H3, H4)}),
        ("tag them x", "add_tag [@H1, @H2] tag=x", {"results": (H1, H2), "recent": (H3, H4)}),
        ("tag the three x", "add_tag [@H1, @H2, @H3] tag=x", {"results": (H1, H2, H3), "last": SEARCH}),
        (
            "tag all instruments brass",
            "add_tag [path:Instruments/] tag=brass",
            {"last": LINK, "recent": (H1, H2)},
        ),
        ("tag this note brass", "add_tag [@H1] tag=brass", {"last": LINK, "recent": (H1, H2)}),
        ("tag the notes of the last two weeks x", "add_tag [@H1, @H2, @H3] tag=x", {}),
        ("remove H4", "delete [@H4]", {}),
        ("set its status to done", "set_property [@H4] key=status value=done", {"focus": (H4,)}),
        ("tag all people x", "add_tag [path:People/] tag=x", {}),
        ("tag every person x", "add_tag [path:People/] tag=x", {}),
        ("add brass to all notes in Instruments", "append [path:Instruments/] text=brass", {}),
        ("move it to May 3", "reschedule_task [@H4] due=2026-05-03", {"focus": (H4,)}),
        ("remove the word brass from h4", "remove_text [@H4] old=brass", {}),
        ("set fee of h4 to 3.9", "set_property [@H4] key=fee value=3.9", {}),
        ("tag h4 as journal", "add_tag [@H4] tag=journal", {}),
        ("new note brochure", "create_note name=brochure", {}),
        ("bring it back", "undo scope=last", {}),
        ('tick off "feed it"', 'complete_task query="feed it"', {}),
        ('rename h4 to "Watch for the sea"', 'rename [@H4] new_name="Watch for the sea"', {}),
        ("rename h4 to Sea watch", 'rename [@H4] new_name="Sea watch"', {}),
        ("set motto to x as well", "set_property [@James Cook] key=motto value=x", {"focus": (COOK,)}),
        ("move the task of h4 to 23 April", "reschedule_task [@H4] due=2026-04-23", {}),
        ("add brass to it please", "append [@H4] text=brass", {"focus": (H4,)}),
        ("add brass to the note", "append [@H4] text=brass", {"focus": (H4,)}),
        ("delete it", "delete [@H4]", {"focus": (H4,)}),
        ("delete this note", "delete [@H1]", {}),
        ("delete the note", "delete [@H4]", {"focus": (H4,)}),
        ("rename that note to Nara", "rename [@H4] new_name=Nara", {"focus": (H4,), "only_asked": (H4,)}),
        ("rename it to Nara", "rename [@H4] new_name=Nara", {"focus": (H4,), "only_asked": (H4,)}),
        ("tag the note x", "add_tag [@H4] tag=x", {"focus": (H4,), "only_asked": (H4,)}),
        ("rename the note H4 to Nara", "rename [@H4] new_name=Nara", {"focus": (H4,), "only_asked": (H4,)}),
        ("remove the note", "delete [@H4]", {"focus": (H4,)}),
        ("tag the first one x", "add_tag [@H1] tag=x", {"asked": "who made it?", "results": (H1, H2)}),
        ("tag them x", "add_tag [@H1, @H2] tag=x", {"asked": "who made it?", "results": (H1, H2)}),
        ("tag h4 x", "add_tag [@H4] tag=x", {"asked": "who made it?", "focus": (H1,)}),
        ("tag this note x", "add_tag [@H1] tag=x", {"asked": "who made it?"}),
        ('append "Is it true?" to it', 'append [@H4] text="Is it true?"', {"focus": (H4,)}),
        ("create a note called This thing", 'create_note name="This thing"', {"focus": (H4,)}),
    ],
)
async def test_a_clear_order_is_not_in_doubt(talk, request_text, notation, state) -> None:
    found = doubts(talk, request_text, notation, **state)
    assert not found.means_others and not found.is_in_doubt


@pytest.mark.parametrize(
    ("request_text", "notation", "state"),
    [
        ("tag late?", "add_tag [@H4] tag=late", {"focus": (H4,)}),
        ("rename it to Nara?", "rename [@H4] new_name=Nara", {"focus": (H4,)}),
        ("tag it then", "add_tag [@H4] tag=then", {"focus": (H4,)}),
        ("remove it", "delete [@H4]", {"focus": (H4,)}),
        ("entferne das", "delete [@H4]", {"focus": (H4,)}),
        ("tag both x", "add_tag [@H1, @H2, @H3] tag=x", {"results": (H1, H2, H3), "last": SEARCH}),
        ("tag both x", "add_tag [@H1, @H2] tag=x", {"results": (H1, H2), "recent": (H3, H4), "last": LINK}),
        ("tag it x", "add_tag [@H1] tag=x", {"focus": (H1,), "recent": (H2, H1), "last": LINK}),
        ("tag it x", "add_tag [@H1] tag=x", {"focus": (H1,), "asked": "is that one a copy of H4?"}),
        # Several notes
        ("set their status to done", "set_property [@H4] key=status value=done", {"focus": (H4,)}),
        ("set the status of all h4 to done", "set_property [@H4] key=status value=done", {}),
        ("tag the first one x", "add_tag [@H4] tag=x", {"focus": (H4,)}),
        ("delete all colleagues", "delete [path:People/]", {}),
        ('add "brass" under Instruments', "append [path:Instruments/] text=brass", {}),
        ("tag it, the list, x", "add_tag [@H1, @H2] tag=x", {"focus": (H1,)}),
        ("tag that one x", "add_tag [@H4] tag=x", {"focus": (H4,), "last": OPPOSED}),
        ("delete that", "delete [@H1]", {}),
        # Values
        ("todo: ask for half → May 8", 'append [@H4] text="- [ ] ask for half → May 8"', {}),
        ("task on H4: found one, tick it", 'append [@H4] text="- [ ] found one, tick it"', {}),
        ("add a line, thumb healed fine", 'append [@H4] text="thumb healed"', {"focus": (H4,)}),
        ("push it to 2031-03-21", 'reschedule_task [@H4] query="oil it 📅 2031-04-14" due=2031-03-21', {}),
        ("rename h4 to something shorter", 'rename [@H4] new_name="something shorter"', {}),
        ("set status of h4 to done or late", 'set_property [@H4] key=status value="done or late"', {}),
        ("add the motto x to it", "set_property [@James Cook] key=born value=x", {"focus": (COOK,)}),
        ("move it to May", "reschedule_task [@H4] due=2026-05-01..2026-05-31", {"focus": (H4,)}),
        ("set fee of h4 to 3.900", "set_property [@H4] key=fee value=3.9", {}),
        ("set best-before of h4 to 31.3.", "set_property [@H4] key=best-before value=31.3", {}),
        ("go back", "undo scope=last", {"last": SEARCH}),
        ("perhaps delete h4", "delete [@H4]", {}),
        (
            "todo: oil it, due May 2, and tag it x",
            'append [@H4] text="- [ ] oil it, due May 2, and tag it x"',
            {},
        ),
        ("move kendall to 6 April", "reschedule_task due=2026-04-06 query=kendall", {}),
        ("move A to May 2 and B to May 3", 'reschedule_task due=2026-05-03 query="A to May 2 and B"', {}),
        ("move h4 to People and h3 to Sources", "move [@H4] folder=Sources", {}),
        ("add the type tool to h4", "set_type [@H4] type=tool", {}),
        ("set topics of h4 to Sea, Time", 'set_property [@H4] key=topics value="Sea, Time"', {}),
        ("bring it back, merge instead", "undo scope=last", {"last": LINK}),
        ("tick off the task that asked for it", 'complete_task query="asked for it"', {}),
        ("rename h4 to Watch for the sea", 'rename [@H4] new_name="Watch for the sea"', {}),
        ("benenne h4 in Uhr falls Ann will um", 'rename [@H4] new_name="Uhr falls Ann will"', {}),
        ("set born to 1729 as well", "set_property [@James Cook] key=born value=1729", {"focus": (COOK,)}),
        ("move h4 to 23 April", "reschedule_task [@H4] due=2026-04-23", {}),
        ("link it to h1 and h2", "relate [@H1] to=H2", {"focus": (H4,)}),
        ('the note is now "Watch"', "append [@H4] text=Watch", {"focus": (H4,)}),
        ("make the note just Smoother", "create_note name=Smoother", {"focus": (H4,)}),
    ],
)
async def test_an_order_that_may_mean_something_else_is_in_doubt(talk, request_text, notation, state) -> None:
    found = doubts(talk, request_text, notation, **state)
    assert found.is_in_doubt and not found.means_others


@pytest.mark.parametrize(
    ("request_text", "notation", "state"),
    [
        ("tag him x", "add_tag [@H4] tag=x", {"focus": (H4,), "recent": (GRAHAM, H4)}),
        ("verschlagworte ihn mit x", "add_tag [@H4] tag=x", {"focus": (H4,), "recent": (GRAHAM, H4)}),
        ("tag him x", "add_tag [@James Cook] tag=x", {"focus": (COOK,), "recent": (GRAHAM, COOK)}),
        ("tag him x", "add_tag [@H1] tag=x", {}),
        ("link it to that", "relate [@H4] to=H4", {"focus": (H4,), "recent": (H3, H4)}),
        ("add a line here", 'append [path:Claims/] text="a line"', {}),
        ("delete the page", "delete [@H4]", {"focus": (H4,), "only_asked": (H4,)}),
        ("move the note to People", "move [@H4] folder=People", {"focus": (H4,), "only_asked": (H4,)}),
        ("merge the note into H3", "merge [@H3] other=H4", {"focus": (H4,), "only_asked": (H4,)}),
        ("benenne die Notiz um in Nara", "rename [@H4] new_name=Nara", {"only_asked": (H4,)}),
    ],
)
async def test_an_order_that_fits_other_notes_better_offers_these(
    talk, request_text, notation, state
) -> None:
    found = doubts(talk, request_text, notation, **state)
    assert found.means_others
    assert all(change.last.target != change.last.arguments.get("to") for change in found.other_changes())


async def test_a_named_note_has_no_alternatives(talk) -> None:
    found = doubts(talk, "remove h4", "delete [@H4]", focus=(H3,), recent=(H2, H3))
    assert found.is_in_doubt and not found.other_changes()


async def test_missing_notes_are_not_offered(talk) -> None:
    found = doubts(talk, "tag him x", "add_tag [@H4] tag=x", focus=(H4,), recent=("Gone.md", H4))
    offered = [change.last.target.notes for change in found.other_changes()]
    assert offered and all("Gone.md" not in notes for notes in offered)


async def test_here_is_the_note_on_the_screen(talk) -> None:
    await say(talk, "append Brass to H3", "replace 'Brass' with 'Steel' here")
    assert choices(talk)[0].startswith(f"replace [@{OPEN.removesuffix('.md')}]")
    assert "Brass" in text(talk, "Instruments/H3.md")


async def test_the_notes_of_an_answer_are_offered(talk) -> None:
    found = doubts(talk, "tag it x", "add_tag [@H1] tag=x", focus=(H1,), asked="is it a copy?", results=(H4,))
    assert found.other_changes()[0].last.target.notes == (H4,)


async def test_a_person_comes_first_if_the_request_says_him(talk) -> None:
    await say(talk, "link H3 to George Graham", "tag him with london")
    offered = choices(talk)
    assert offered[0].startswith("add_tag [@People/George Graham]")
    assert any("@Instruments/H3]" in choice for choice in offered)
    assert "london" not in text(talk, "Instruments/H3.md")
    await talk.say(f"= {offered[0]}", open_note=OPEN)
    assert "london" in text(talk, "People/George Graham.md")


async def test_him_is_the_only_person_that_was_mentioned(talk) -> None:
    await say(talk, "open James Cook", "tag him with pacific")
    assert "pacific" in text(talk, "People/James Cook.md")


async def test_a_note_is_not_linked_to_itself(talk) -> None:
    await say(talk, "open K1", "open Larcum Kendall", "link him to that")
    before = text(talk, "People/Larcum Kendall.md")
    offered = choices(talk)
    assert offered and all("K1" in choice and "Larcum Kendall" in choice for choice in offered)
    assert text(talk, "People/Larcum Kendall.md") == before


@pytest.mark.parametrize("request_text", ["tag both with pair", "tag the two with pair"])
async def test_a_number_that_differs_from_the_listed_notes_is_a_question(talk, request_text) -> None:
    await say(talk, "show H1, H2 and H3")
    await say(talk, request_text)
    assert isinstance(talk.items[-1], Question)
    assert not any("pair" in text(talk, f"Instruments/{name}.md") for name in ("H1", "H2", "H3"))


async def test_a_pronoun_is_no_value(talk) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, "open H4", "add a field motto to it")
    assert isinstance(talk.items[-1], Question)
    assert text(talk, "Instruments/H4.md") == before


@pytest.mark.parametrize("request_text", ["remove it", "tag late?"])
async def test_an_unclear_order_is_a_question(talk, request_text) -> None:
    before = text(talk, "Instruments/H4.md")
    await say(talk, "open H4", request_text)
    assert choices(talk)
    assert text(talk, "Instruments/H4.md") == before


async def test_a_polite_order_is_carried_out(talk) -> None:
    await say(talk, "open H4", "could you tag it brass?")
    assert "brass" in text(talk, "Instruments/H4.md")


async def test_a_template_is_changed_only_if_the_request_says_so(talk) -> None:
    await fill(talk, Templates__Person="A template.\n")
    await say(talk, "tag the person note with brass")
    assert "brass" not in text(talk, "Templates/Person.md")
    await say(talk, "tag the template Person with brass")
    if isinstance(talk.items[-1], Question):
        await talk.say(f"= {choices(talk)[0]}", open_note=OPEN)
    assert "brass" in text(talk, "Templates/Person.md")


async def test_a_property_that_only_other_notes_have_is_a_question(talk) -> None:
    await say(talk, "open Gimbal", "set born to 1545")
    assert isinstance(talk.items[-1], Question)
    assert "1545" not in text(talk, "Concepts/Gimbal.md")


async def test_after_a_renaming_the_listed_notes_have_their_new_names(talk) -> None:
    await say(talk, "show H1 and H2", "rename H2 to H2 of 1741")
    state = await say(talk, "= list_tags")
    assert names(state.results) == ["H1", "H2 of 1741"]


async def test_after_an_undone_renaming_the_listed_notes_have_their_old_names(talk) -> None:
    await say(talk, "show H1 and H2", "rename H2 to H2 of 1741", "undo")
    state = await say(talk, "= list_tags")
    assert names(state.results) == ["H1", "H2"]
    assert "Instruments/H2 of 1741.md" not in state.recent


async def test_tasks_that_are_due_are_listed_by_day(talk) -> None:
    await say(
        talk,
        'create a note called Later with the text "- [ ] call Ann 📅 2031-04-20"',
        'create a note called Sooner with the text "- [ ] call Bob 📅 2031-04-02"',
        "= list_tasks state=open due=2031-04-01..2031-04-30",
    )
    listed = answers(talk)[-1]
    assert listed.index("call Bob") < listed.index("call Ann")


async def test_a_question_says_how_many_notes_it_is_about(talk) -> None:
    paths = ("Oven", "Kettle", "Manuals__Index", "Manuals__Oven_manual")
    await fill(talk, **{f"Machines__{name}": "A machine." for name in paths})
    reading = Reading((PipelineStep("add_tag", NoteSet(query="path:Machines/"), {"tag": ("x",)}),), 1.0)
    assert await talk.workspace.agent._builtin._extent(reading) == "4 notes, 2 in subfolders"
    reading = Reading((PipelineStep("find", NoteSet(query="path:Machines/")),), 1.0)
    assert await talk.workspace.agent._builtin._extent(reading) == ""


@pytest.mark.parametrize(
    ("request_text", "added"),
    [
        ("add a paragraph: It stands in Greenwich.", "It stands in Greenwich."),
        ("füge einen Absatz hinzu: Steht heute in Greenwich.", "Steht heute in Greenwich."),
        ("append: was repaired in H3", "was repaired in H3"),
    ],
)
async def test_a_name_in_a_text_is_not_the_changed_note(talk, request_text, added) -> None:
    before = text(talk, "Instruments/H2.md")
    await say(talk, "open H2", request_text)
    assert text(talk, "Instruments/H2.md") == f"{before}{added}\n"


@pytest.mark.parametrize(
    ("request_text", "notes"),
    [
        ("add a line: he moved to Greenwich", ["H2", "Greenwich"]),
    ],
)
async def test_a_place_at_the_end_of_a_text_is_a_question(talk, request_text, notes) -> None:
    await say(talk, "open H2", request_text)
    assert [
        choice.partition("[@")[2].partition("]")[0].rpartition("/")[2] for choice in choices(talk)
    ] == notes


def question_about(notes: NoteSet) -> Clarification:
    """Return a question that offers a change of some notes."""
    change = Reading((PipelineStep("add_tag", notes, {"tag": ("x",)}),), 1.0)
    return Clarification("", (ClarificationOption("", change),))


ABOUT_H4 = question_about(NoteSet(notes=(H4,)))
ABOUT_INSTRUMENTS = question_about(NoteSet(query="path:Instruments/"))


@pytest.mark.parametrize(
    ("request_text", "notation", "state"),
    [
        ("tag it x", "add_tag [@H1] tag=x", {"question": ABOUT_H4}),
        ("tag it x", "add_tag [@H1] tag=x", {"unanswered": (ABOUT_H4,)}),
        ("tagge es mit x", "add_tag [@H1] tag=x", {"unanswered": (ABOUT_H4,)}),
        ("add a line: cleaned", "append [@H1] text=cleaned", {"unanswered": (ABOUT_H4,)}),
        ("tag them x", "add_tag [@H4] tag=x", {"unanswered": (ABOUT_INSTRUMENTS,)}),
        ("tagge sie mit x", "add_tag [@H1] tag=x", {"unanswered": (ABOUT_INSTRUMENTS,)}),
        ("tag it x", "add_tag [@H4] tag=x", {"focus": (H4,), "has_switched": True}),
    ],
)
async def test_an_unnamed_note_may_be_that_of_an_unanswered_question(
    talk, request_text, notation, state
) -> None:
    assert doubts(talk, request_text, notation, **state).means_others


@pytest.mark.parametrize(
    ("request_text", "notation", "state"),
    [
        ("tag this note x", "add_tag [@H1] tag=x", {"unanswered": (ABOUT_H4,)}),
        ("tag it x", "add_tag [@H4] tag=x", {"unanswered": (ABOUT_H4,)}),
        ("tag h3 x", "add_tag [@H3] tag=x", {"unanswered": (ABOUT_H4,)}),
        (
            "tag the second one x",
            "add_tag [@H2] tag=x",
            {"unanswered": (ABOUT_H4,), "results": (H1, H2), "last": SEARCH},
        ),
        ("tag it x", "add_tag [@H1] tag=x", {"unanswered": (ABOUT_H4,), "has_switched": True}),
        ("tag h4 x", "add_tag [@H4] tag=x", {"has_switched": True}),
    ],
)
async def test_an_unanswered_question_leaves_no_doubt_about_a_stated_note(
    talk, request_text, notation, state
) -> None:
    assert not doubts(talk, request_text, notation, **state).means_others


async def test_the_note_of_an_unanswered_question_is_offered_first(talk) -> None:
    found = doubts(talk, "tag it x", "add_tag [@H1] tag=x", unanswered=(ABOUT_H4,))
    assert found.other_changes()[0].last.target.notes == (H4,)
    found = doubts(talk, "tag them x", "add_tag [@H1] tag=x", unanswered=(ABOUT_INSTRUMENTS,))
    assert found.other_changes()[0].last.target.query == "path:Instruments/"


async def test_a_question_is_unanswered_until_a_request_is_about_one_note(talk) -> None:
    await say(talk, "set status of H4 to done or late", "set status of H3 to done or late")
    before = text(talk, OPEN)
    await say(talk, "list all tags", "tag it brass")
    assert isinstance(talk.items[-1], Question) and text(talk, OPEN) == before
    assert not any("@Instruments/H1]" in choice for choice in choices(talk)[:1])
    await say(talk, "open H2", "tag it brass")
    assert "brass" in text(talk, H2)


async def test_it_is_not_the_last_changed_note_after_another_one_was_opened(talk) -> None:
    await say(talk, "tag H2 with brass")
    await talk.say("tag it wood", open_note=H3)
    assert isinstance(talk.items[-1], Question)
    assert not any("wood" in text(talk, path) for path in (H2, H3))
    await talk.say("tag this note wood", open_note=H3)
    assert "wood" in text(talk, H3)


async def test_a_closed_note_is_not_another_opened_one(talk) -> None:
    await say(talk, "tag H2 with brass")
    await talk.say("tag it wood", open_note=None)
    assert "wood" in text(talk, H2)


@pytest.mark.parametrize("request_text", ["merge H1 with H2", "merge H1 and H2"])
async def test_a_merge_without_a_direction_offers_both(talk, request_text) -> None:
    await say(talk, request_text)
    first, second, *_ = choices(talk)
    assert first.startswith("merge [@Instruments/H1]") and second.startswith("merge [@Instruments/H2]")
    assert text(talk, H1) and text(talk, H2)


async def test_a_merge_with_a_direction_is_carried_out(talk) -> None:
    await say(talk, "merge H2 into H1")
    assert not any(str(path) == H2 for path in talk.workspace.index.note_paths())


async def test_one_note_is_hardly_several(talk) -> None:
    assert doubts(talk, "delete the note about brass", "delete [@H1, @H2]").is_in_doubt
    assert not doubts(talk, "delete every note about brass", "delete [@H1, @H2]").is_in_doubt


async def test_the_person_that_a_note_is_linked_to_is_a_person(talk) -> None:
    state = {"focus": (H4,), "recent": (COOK, H4)}
    assert doubts(talk, "link h3 to him", 'relate [@H3] to="H4"', **state).means_others
    state = {"focus": (COOK,), "recent": (H4, COOK)}
    assert not doubts(talk, "link h3 to him", 'relate [@H3] to="James Cook"', **state).means_others


async def test_a_person_of_a_list_may_be_meant_instead_of_a_new_one(talk) -> None:
    state = {"results": (GRAHAM, H4), "recent": (H2, H3), "last": SEARCH}
    assert doubts(talk, "tag him x", "add_tag [@James Cook] tag=x", **state).means_others
    assert not doubts(talk, "tag him x", "add_tag [@George Graham] tag=x", **state).means_others


@pytest.mark.parametrize(
    ("first", "request_text", "action"),
    [
        ("when was H4 made?", "rename the note to Nara", "rename"),
        ("what are the tasks of H4?", "delete the note", "delete"),
        ("welche Aufgaben hat H4?", "lösche die Notiz", "delete"),
    ],
)
async def test_a_note_that_was_only_asked_about_is_no_change_without_a_question(
    talk, first, request_text, action
) -> None:
    await fill(talk, Instruments__H4="---\nmade: 1759\n---\n- [ ] oil it\n")
    await say(talk, first, request_text)
    screen, asked = choices(talk)
    assert screen.startswith(f"{action} [@{OPEN.removesuffix('.md')}]")
    assert asked.startswith(f"{action} [@{H4.removesuffix('.md')}]")


async def test_a_note_that_was_shown_is_the_note(talk) -> None:
    await say(talk, "show me H4", "what links to it?", "move the note to People")
    assert "H4" in text(talk, "People/H4.md")


CHECKED = "tag H4 with brass"


@pytest.mark.parametrize(
    ("before", "request_text"),
    [
        ((CHECKED,), "add a task: polish the case"),
        ((CHECKED,), 'add the sentence "It is kept at Greenwich."'),
        (("set status of H4 to lent",), "add a line: Lent until May."),
        ((CHECKED, "list all people"), "add a task: polish the case"),
    ],
)
async def test_a_note_named_in_passing_comes_after_the_one_on_the_screen(talk, before, request_text) -> None:
    await say(talk, *before)
    made = len(state(talk).changes)
    await say(talk, request_text)
    assert len(state(talk).changes) == made
    first, second = choices(talk)[:2]
    assert f"@{OPEN.removesuffix('.md')}]" in first and f"@{H4.removesuffix('.md')}]" in second


@pytest.mark.parametrize(
    ("before", "request_text"),
    [
        (CHECKED, "add a task to it: polish the case"),
        (CHECKED, "also add a task: polish the case"),
        ("open H4", "add a task: polish the case"),
        ("rename H4 to H5", "add a task: polish the case"),
        ("set status of H4 to lent", "set the status to sold"),
    ],
)
async def test_a_note_in_talk_is_changed_at_once(talk, before, request_text) -> None:
    changed = "Instruments/H5.md" if "H5" in before else H4
    await say(talk, before)
    if isinstance(talk.items[-1], Question):
        await say(talk, f"= {choices(talk)[0]}")
    await say(talk, request_text)
    assert "- [ ] polish the case\n" in text(talk, changed) or "status: sold\n" in text(talk, changed)


@pytest.mark.parametrize("before", [(), ("open H1",)])
async def test_there_is_the_note_of_the_listed_tasks(talk, before) -> None:
    await fill(
        talk, Atlas="- [ ] Draw the coast\n", Coast='---\nproject: "[[Atlas]]"\n---\n- [ ] Measure it\n'
    )
    await say(talk, *before, "what's open for Atlas?", "add a task there: buy paper")
    assert choices(talk)[0].startswith("append [@Atlas]")
    await say(talk, "what tasks are open?", "add a task: buy ink")
    assert "buy ink" not in text(talk, "Atlas.md")


async def test_a_change_after_an_answer_offers_the_note_on_the_screen_first(talk) -> None:
    for request_text in ("tag it early", "add the tag early"):
        await say(talk, "how did sailors find the time at sea?", request_text)
        assert f"@{OPEN.removesuffix('.md')}]" in choices(talk)[0]
        assert any("Celestial navigation" in choice for choice in choices(talk)[1:])
    assert names((await say(talk, "who made the first detent escapement?", "open that")).focus) == [
        "Detent escapement"
    ]


async def test_a_pronoun_in_a_first_question_is_the_note_on_the_screen(talk) -> None:
    await say(talk, "how much did it weigh?", "list backlinks")
    assert "H1" in names(state(talk).last.last.target.notes)


@pytest.mark.parametrize("request_text", ["open the voyage", "open that voyage", "öffne die Voyage"])
async def test_a_kind_of_notes_is_no_template(talk, request_text) -> None:
    await fill(
        talk, Templates__Voyage="A template.\n", Voyages__Beagle="A ship.\n", Voyages__Arago="A ship.\n"
    )
    await say(talk, request_text)
    assert state(talk).focus != ("Templates/Voyage.md",)
    await say(talk, "open the template Voyage")
    assert state(talk).focus == ("Templates/Voyage.md",)
    await say(talk, "new voyage: Dolphin")
    assert choices(talk)[0].startswith("create_note name=Dolphin")
    assert "template=Templates/Voyage" in choices(talk)[0]


async def test_there_is_not_every_note_with_the_tag(talk) -> None:
    await say(talk, f"{PREFIX} add_tag [@H2, @H3] tag=recheck", "the case of H4 is 13 cm, not 12")
    made = len(state(talk).changes)
    await say(talk, "remove the recheck tag there")
    assert len(state(talk).changes) == made


async def test_the_note_of_passages_that_are_no_answer_is_not_in_talk(talk) -> None:
    await say(talk, "how do I sharpen the spring of a clock?")
    assert state(talk).results and state(talk).subject == ()


async def test_a_value_on_the_screen_is_not_replaced_after_a_question_about_another_note(talk) -> None:
    await say(talk, f"{PREFIX} set_property [@H1] key=weight value=34", "backlinks of K1", "the weight is 2")
    assert "weight: 34" in text(talk, H1)
    assert choices(talk)[:2] == [
        f"set_property [@{path.removesuffix('.md')}] key=weight value=2" for path in (H1, "Instruments/K1.md")
    ]


async def test_a_misspelled_value_is_asked_about(talk) -> None:
    await say(
        talk, f"{PREFIX} set_property [@H4] key=finish value=lacquered", "set finish of K1 to laqcuered"
    )
    assert "finish" not in text(talk, "Instruments/K1.md")
    assert {"laqcuered", "lacquered"} == {choice.rpartition("=")[2] for choice in choices(talk)[:2]}

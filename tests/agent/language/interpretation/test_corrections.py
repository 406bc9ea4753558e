"""Corrections of the last change: proposed again after a denial, and taken back first if it was made."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import serialize
from app.agent.transcript import AgentText, Question
from app.permissions.approval import Denied
from tests.agent.language.meaning.test_dialog import OPEN, fill, order, say, state, talk, text
from tests.agent.test_session import yes

__all__ = ["talk"]
TASKS = "- [ ] oil it 📅 2031-12-04\n- [ ] call Ann\n"


def last_change(talk) -> str:
    """Return the last reading that the agent proposed, in its notation."""
    last = state(talk).last
    assert last is not None
    return serialize(last)


@pytest.mark.parametrize(
    ("request_text", "correction", "change"),
    [
        ("tag H3 with brass", "no, I meant H4", "add_tag [@Instruments/H4] tag=brass"),
        ("tag H3 with brass", "not H3, I meant H4", "add_tag [@Instruments/H4] tag=brass"),
        ("tag H3 with brass", "I meant the tag steel, not brass", "add_tag [@Instruments/H3] tag=steel"),
        ("tag H3 with brass", "sorry, I meant steel", "add_tag [@Instruments/H3] tag=steel"),
        ("tagge H3 mit messing", "nein, ich meinte H4", "add_tag [@Instruments/H4] tag=messing"),
        ("tagge H3 mit messing", "nein, ich meinte stahl", "add_tag [@Instruments/H3] tag=stahl"),
        ("move H3 to Events", "no, to Concepts", "move [@Instruments/H3] folder=Concepts"),
        ("rename H3 to Third", "no, to Number three", 'rename [@Instruments/H3] new_name="Number three"'),
        (
            "set the year of H3 to 1750",
            "make it 1757 instead",
            "set_property [@Instruments/H3] key=year value=1757",
        ),
        (
            "setze year von H3 auf 1750",
            "nein, auf 1757",
            "set_property [@Instruments/H3] key=year value=1757",
        ),
        (
            "set the year of H3 to 1750",
            "I meant the date",
            "set_property [@Instruments/H3] key=date value=1750",
        ),
        ("delete H3", "no, I meant H4", "delete [@Instruments/H4]"),
        ('append "oil it" to H3', "no, to H4", 'append [@Instruments/H4] text="oil it"'),
        ('append "oil it" to H3', "no, at the top please", 'prepend [@Instruments/H3] text="oil it"'),
        ('append "oil it" to H3', 'no, "wind it"', 'append [@Instruments/H3] text="wind it"'),
        (
            "add a task to H3: oil it by 2031-12-04",
            "no, 2031-12-05",
            'append [@Instruments/H3] text="- [ ] oil it 📅 2031-12-05"',
        ),
        (
            "add a task to H3: oil it by 2031-12-04",
            "no, friday, 2031-12-05",
            'append [@Instruments/H3] text="- [ ] oil it 📅 2031-12-05"',
        ),
    ],
)
async def test_a_denied_change_is_proposed_again_with_the_correction(
    talk, approver, request_text, correction, change
) -> None:
    approver.answers = [Denied(), Denied()]
    await order(talk, request_text)
    assert len(approver.asked) == 1
    await order(talk, correction)
    assert len(approver.asked) == 2 and last_change(talk) == change


@pytest.mark.parametrize(
    ("request_text", "correction"),
    [
        ("tag H3 with brass", "sorry, steel"),
        ("tag H3 with brass", "sorry, typo"),
        ("tag H3 with brass", "make it shorter"),
        ("tagge H3 mit messing", "nein, quatsch"),
        ("rename H3 to Third", "make it pretty"),
        ("move H3 to Events", "make it shorter"),
    ],
)
@pytest.mark.parametrize("answer", [yes, Denied()])
async def test_words_that_the_vault_does_not_know_are_a_value_only_after_a_question(
    talk, approver, request_text, correction, answer
) -> None:
    approver.answers = [answer]
    await say(talk, request_text, correction)
    assert isinstance(talk.items[-1], Question) and len(approver.asked) == 1


async def test_a_note_may_be_the_corrected_value(talk, approver) -> None:
    made = '= set_property [@Instruments/H3] key=maker value="[[John Harrison]]"'
    await say(talk, made, "no, George Graham")
    assert isinstance(talk.items[-1], Question) and len(approver.asked) == 1
    assert talk.items[-1].choices[0].reply.startswith("= set_property [@Instruments/H3] key=maker")


async def test_a_tag_that_a_note_had_before_stays(talk) -> None:
    await order(talk, "tag H4, H1 and Gimbal with instrument")
    for request_text in ("no, not H1", "undo the tag on H1"):
        await order(talk, request_text)
        assert "instrument" in text(talk, "Instruments/H1.md")


async def test_a_change_of_another_note_is_taken_back_first(talk) -> None:
    await order(talk, "tag H3 with brass", "no, I meant H4")
    assert "brass" not in text(talk, "Instruments/H3.md") and "brass" in text(talk, "Instruments/H4.md")


async def test_a_wrong_tag_does_not_stay(talk) -> None:
    await order(talk, "tag H3 with brass", "I meant the tag steel, not brass")
    after = text(talk, "Instruments/H3.md")
    assert "steel" in after and "brass" not in after


async def test_a_replaced_value_needs_no_undo(talk, approver) -> None:
    await order(talk, "set the year of H3 to 1750", "no, 1757")
    assert "year: 1757" in text(talk, "Instruments/H3.md") and len(approver.asked) == 2
    await order(talk, "move H3 to Events", "no, to Concepts")
    assert last_change(talk) == "move [@Events/H3] folder=Concepts"
    assert "year: 1757" in text(talk, "Concepts/H3.md")


async def test_only_the_last_change_is_corrected(talk, approver) -> None:
    approver.answers = [Denied()]
    await order(talk, "tag H1 with brass")
    approver.answers = [yes]
    await order(talk, "no, I meant H4", "tag H2 with steel")
    approver.answers = [Denied()]
    await order(talk, "tag H3 with steel")
    approver.answers = [yes]
    await order(talk, "no, I meant K1")
    assert last_change(talk) == "add_tag [@Instruments/K1] tag=steel"
    assert "steel" in text(talk, "Instruments/H2.md") and "brass" in text(talk, "Instruments/H4.md")


async def test_a_denial_of_a_proposal_undoes_no_earlier_change(talk, approver) -> None:
    await order(talk, "tag H2 with steel")
    approver.answers = [Denied()]
    await order(talk, "tag H3 with steel", "no")
    assert isinstance(talk.items[-1], AgentText)
    assert "steel" in text(talk, "Instruments/H2.md")


async def test_the_other_one_of_two_listed_notes_is_meant(talk) -> None:
    await fill(talk, Milk="zebra", Bread="zebra")
    await order(talk, "find notes about zebra", "tag the first one animal", "not that one, the other one")
    first, second = state(talk).them
    assert "animal" not in text(talk, first) and "animal" in text(talk, second)


async def test_the_note_is_asked_for_if_the_other_one_is_unknown(talk, approver) -> None:
    approver.answers = [Denied()]
    await order(talk, "tag H3 with brass", "not that one, the other one")
    assert talk.items[-1].text == "Which note?"
    approver.answers = [yes]
    await order(talk, "H4")
    assert "brass" in text(talk, "Instruments/H4.md")


async def test_a_name_that_may_be_either_end_of_a_relation_is_asked_about(talk, approver) -> None:
    approver.answers = [Denied()]
    await say(talk, "link H3 to H4", "no, I meant K1")
    assert isinstance(talk.items[-1], Question) and len(talk.items[-1].choices) == 2


@pytest.mark.parametrize(
    "request_text",
    [
        "no longer a draft",
        "no wait, H4 stays",
        "no, open H4",
        "not good",
        "nein danke",
        "no idea who made it",
    ],
)
async def test_other_requests_after_a_change_correct_nothing(talk, request_text) -> None:
    await say(talk, "tag H3 with brass")
    before = text(talk, "Instruments/H3.md"), text(talk, "Instruments/H4.md"), text(talk, OPEN)
    await say(talk, request_text)
    assert (text(talk, "Instruments/H3.md"), text(talk, "Instruments/H4.md"), text(talk, OPEN)) == before


async def test_a_note_is_left_out_of_a_change(talk) -> None:
    await order(talk, "tag H2, H3 and H4 with brass", "not H3 please")
    assert "brass" not in text(talk, "Instruments/H3.md")
    assert all("brass" in text(talk, f"Instruments/H{number}.md") for number in (2, 4))


@pytest.mark.parametrize(
    ("request_text", "correction", "change"),
    [
        (
            "rename the property year to date made",
            "no, I meant made",
            "rename_property key=year new_key=made",
        ),
        (
            "benenne die Eigenschaft year in jahr um",
            "nein, ich meinte baujahr",
            "rename_property key=year new_key=baujahr",
        ),
        (
            "rename the property year to made",
            "no, call it my year",
            'rename_property key=year new_key="my year"',
        ),
        (
            "rename the folder Concepts to Articles",
            "no, I meant Saved articles",
            'rename_folder folder=Concepts new_name="Saved articles"',
        ),
        (
            "rename the folder Concepts to Articles",
            "no, I meant the folder Events",
            "rename_folder folder=Events new_name=Articles",
        ),
        (
            "set the year of H3 to 1750",
            "no, I meant the 1757 one",
            "set_property [@Instruments/H3] key=year value=1757",
        ),
        (
            "rename H3 to Third and tag it brass",
            "no, I meant Third (London)",
            'rename [@Instruments/H3] new_name="Third (London)" | add_tag [@Instruments/H3] tag=brass',
        ),
    ],
)
async def test_denied_renames_values_and_plans_are_corrected(
    talk, approver, request_text, correction, change
) -> None:
    approver.answers = [Denied(), Denied()]
    await order(talk, request_text, correction)
    assert len(approver.asked) == 2 and last_change(talk) == change


async def test_a_correction_of_several_moves_keeps_all_notes(talk) -> None:
    await order(talk, "move H3, H4 to Events", "no, I meant to Concepts")
    assert text(talk, "Concepts/H3.md") and text(talk, "Concepts/H4.md")


async def test_a_plan_stops_at_a_denied_undo(talk, approver) -> None:
    await order(talk, "tag H3 with brass")
    approver.answers = [Denied()]
    await order(talk, "no, I meant the tag steel")
    assert len(approver.asked) == 2
    approver.answers = [yes, yes]
    await order(talk, "no, I meant the tag iron")
    after = text(talk, "Instruments/H3.md")
    assert "iron" in after and "brass" not in after and "steel" not in after


async def test_a_rename_is_corrected_by_an_undo_and_another_rename(talk) -> None:
    await fill(talk, Tart="## Tips\n")
    await order(talk, "rename the heading Tips to Notes in Tart", "no, I meant Best hints")
    assert text(talk, "Tart.md") == "## Best hints\n"


async def test_the_changes_of_an_open_question_are_corrected(talk, approver) -> None:
    await say(talk, "tag Octent with brass")
    assert isinstance(talk.items[-1], Question) and not approver.asked
    await say(talk, "no, I meant H4")
    assert not approver.asked or last_change(talk) == "add_tag [@Instruments/H4] tag=brass"
    await say(talk, "yes")
    assert "brass" in text(talk, "Instruments/H4.md") and "brass" not in text(talk, "Instruments/Octant.md")


async def test_a_place_is_chosen_in_words_that_correct(talk) -> None:
    await fill(talk, Errands="tea\ntea\n")
    await say(talk, "replace tea with milk in Errands", "no, just the first one")
    assert text(talk, "Errands.md") == "milk\ntea\n"


@pytest.mark.parametrize("request_text", ["no, show me the events", "no, it was a good idea"])
async def test_other_requests_correct_nothing(talk, approver, request_text) -> None:
    approver.answers = [Denied()]
    await order(talk, "tag H3 with brass", request_text)
    assert len(approver.asked) == 1


@pytest.mark.parametrize(
    ("correction", "answer"),
    [
        ("not Dune", "I have not changed [[Dune]] in this conversation."),
        ("no, not Dune", "I have not changed [[Dune]] in this conversation."),
        ("nicht Dune", "In diesem Gespräch habe ich [[Dune]] nicht geändert."),
    ],
)
async def test_a_correction_about_an_unchanged_note_says_so(talk, approver, correction, answer) -> None:
    await fill(talk, Dune="---\ntags: [trial]\n---\n")
    await say(talk, "tag Dune and K1 with trial", correction)
    assert isinstance(talk.items[-1], AgentText) and talk.items[-1].text == answer
    assert len(approver.asked) == 1 and text(talk, "Dune.md") == "---\ntags: [trial]\n---\n"


async def test_a_tag_of_an_earlier_change_is_taken_back_after_a_question(talk, approver) -> None:
    await say(talk, "tag H3 with trial", "tag H3 and K1 with trial", "not H3")
    assert isinstance(talk.items[-1], Question) and len(approver.asked) == 2


@pytest.mark.parametrize(
    ("request_text", "correction", "swapped"),
    [
        ("merge Dune into Alien", "no, the other way round", 'merge [@Dune] other="@Alien"'),
        ("link Dune to Alien", "the other way around", 'relate [@Alien] to="@Dune"'),
        ("verknüpfe Dune mit Alien", "nein, umgekehrt", 'relate [@Alien] to="@Dune"'),
    ],
)
async def test_a_change_of_two_notes_is_reversed(talk, approver, request_text, correction, swapped) -> None:
    await fill(talk, Dune="# Dune\n", Alien="# Alien\n")
    approver.answers = [Denied(), yes]
    await order(talk, request_text, correction)
    assert len(approver.asked) == 2 and last_change(talk) == swapped


async def test_a_merge_that_was_made_is_undone_and_reversed(talk) -> None:
    await fill(talk, Dune="# Dune\n", Alien="# Alien\n")
    await order(talk, "merge Dune into Alien", "no, the other way round")
    paths = {str(path) for path in talk.workspace.index.note_paths()}
    assert "Dune.md" in paths and "Alien.md" not in paths


@pytest.mark.parametrize(
    ("request_text", "correction"),
    [
        ("delete H3", "no, another one"),
        ("lösche H3", "nein, eine andere"),
        ("tag H3 with brass", "no, the other one"),
    ],
)
async def test_for_another_note_the_agent_asks_which(talk, request_text, correction) -> None:
    before = text(talk, "Instruments/H3.md")
    await say(talk, request_text, correction)
    assert isinstance(talk.items[-1], Question) and not talk.items[-1].choices
    change = request_text.split()[0]
    await say(talk, "H4")
    assert text(talk, "Instruments/H3.md") == before
    if change == "tag":
        assert "brass" in text(talk, "Instruments/H4.md")
    else:
        assert "Instruments/H4.md" not in {str(path) for path in talk.workspace.index.note_paths()}


async def test_the_tag_is_taken_back_from_a_note_that_got_it(talk) -> None:
    await order(talk, "tag H3 and K1 with trial", "oops, not K1")
    assert "trial" not in text(talk, "Instruments/K1.md") and "trial" in text(talk, "Instruments/H3.md")


@pytest.mark.parametrize(
    ("request_text", "correction", "change"),
    [
        ("tag H3 with brass", "steel is better", "add_tag [@Instruments/H3] tag=steel"),
        ("tag H3 with brass", "stahl wäre besser", "add_tag [@Instruments/H3] tag=stahl"),
        ("move H3 to Events", "better Concepts", "move [@Instruments/H3] folder=Concepts"),
        (
            "rename H3 to Third",
            "Number three sounds better",
            'rename [@Instruments/H3] new_name="Number three"',
        ),
        ("rename the tag brass to metal", "hm, metals is better", "rename_tag tag=brass new_tag=metals"),
        ("rename the tag brass to metal", 'better "steel"', "rename_tag tag=brass new_tag=steel"),
    ],
)
async def test_the_better_value_alone_is_a_correction(
    talk, approver, request_text, correction, change
) -> None:
    approver.answers = [Denied(), Denied()]
    await say(talk, request_text)
    await say(talk, correction)
    if isinstance(talk.items[-1], Question):
        await say(talk, talk.items[-1].choices[0].reply)
    assert last_change(talk) == change


async def test_the_better_value_after_an_undo_is_asked_about(talk) -> None:
    await order(talk, "move H3 to Events")
    await say(talk, "undo")
    await say(talk, "better Concepts")
    question = talk.items[-1]
    assert isinstance(question, Question)
    assert "Concepts" in question.choices[0].label


async def test_another_order_after_better_is_no_value(talk) -> None:
    await order(talk, "move H3 to Events")
    await say(talk, "that is better")
    assert isinstance(talk.items[-1], AgentText)

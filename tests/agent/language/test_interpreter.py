"""Requests are parsed as pipelines over sets of notes; one that is not fully explained never writes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.agent.builtin import BuiltinAgent
from app.agent.language.doubts.dropped_conditions import with_every_condition
from app.agent.language.doubts.dropped_values import with_dropped_value
from app.agent.language.grammar.request import Request
from app.agent.language.interpretation.choices import ReadingChooser
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.interpretation.outcomes import meaning_of
from app.agent.language.lookups.negations import with_negation
from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, parse, serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
    parenthesize,
)
from app.agent.language.model import candidates as request_candidates
from app.agent.language.model.candidates import MeaningCandidate
from app.agent.language.words.chips import describe_readings, reading_chips, with_value
from app.agent.language.words.lexicon import languages
from app.agent.language.words.tokens import tokenize
from app.agent.language.words.vault_words import VaultWords
from app.index.resolver import Resolver
from app.toolkit.registry import ToolRegistry
from app.tools import CATALOG, CATEGORIES
from app.vault.path import NotePath
from tests.agent.language.model.test_program import request
from tests.support.everyday_requests import HERE, read, sample_agent

NOWHERE = replace(HERE, open_note=None)


@pytest.fixture(scope="module")
def agent() -> BuiltinAgent:
    return sample_agent()


@pytest.mark.parametrize(
    ("request_text", "reading"),
    [
        ("show me notes tagged instrument but not core", "find [tag:instrument -tag:core]"),
        ("tag Gimbal with #mechanics and #todo", "add_tag [@Concepts/Gimbal] tag=mechanics,todo"),
        ("notes changed in the last 3 days", "find [modified:>=2026-03-15 modified:<=2026-03-18]"),
        ("which notes have no links at all?", "find [orphan:]"),
        ("notes nobody links to", 'find [-backlinks:""]'),
        ("claims that nothing supports", "find [path:Claims/ -backlinks:supports]"),
        ("claims without a supports relation", "find [path:Claims/ -rel:supports]"),
        ("Notizen, auf die niemand verlinkt", 'find [-backlinks:""]'),
        ("link the mentions of Greenwich", "link_mentions [@Concepts/Greenwich]"),
        ("are there any broken links?", "unresolved_links"),
        ("hypotheses with confidence under 0.5", "find [type:hypothesis [confidence:<0.5]]"),
        (
            "link H3 to George Graham as inspired by with confidence 0.8",
            'relate [@Instruments/H3] to="@People/George Graham" type=inspired_by confidence=0.8',
        ),
        ("rename this note to First sea clock", 'rename [@Instruments/H1] new_name="First sea clock"'),
        ("undo everything you did today", "undo scope=today"),
        ("öffne H4", "open [@Instruments/H4]"),
        ("benenne Octant in Oktant um", "rename [@Instruments/Octant] new_name=Oktant"),
        ("welche Notizen haben keine Links?", "find [orphan:]"),
        ("opne H4", "open [@Instruments/H4]"),
        ("the 3 longest notes", "find [*] order=words limit=3"),
        ("notes about longitude but not latitude", "find [longitude -latitude]"),
        ("anything due this week?", "list_tasks state=open due=2026-03-16..2026-03-22"),
        ('find tag:instrument AND links-to:"Latitude"', 'find [tag:instrument links-to:"Latitude"]'),
        ("path:Concepts NOT tag:navigation", "find [path:Concepts -tag:navigation]"),
        ('tag:clock "war AND peace" NOT "do NOT touch"', 'find [tag:clock "war AND peace" -"do NOT touch"]'),
        ("rel:derived_from", "find [rel:derived_from]"),
        ("tag:clock.", "find [tag:clock]"),
        ("tag:clock brass", "find [tag:clock brass]"),
        (
            "notes changed between 10 and 17 March",
            "find [modified:>=2026-03-10 modified:<=2026-03-17]",
        ),
        (
            "notes changed between the 10th and the 17th of March",
            "find [modified:>=2026-03-10 modified:<=2026-03-17]",
        ),
        ("notes changed since the beginning of March", "find [modified:>=2026-03-01]"),
        ("open the Scilly disaster", "open [@Events/Scilly disaster of 1707]"),
        ("open Le Roy", "open [@People/Pierre Le Roy]"),
        (
            "set year to 1766 in Nautical Almanac",
            "set_property [@Sources/Nautical Almanac] key=year value=1766",
        ),
    ],
)
def test_a_request_is_interpreted(agent: BuiltinAgent, request_text: str, reading: str) -> None:
    found = read(agent, request_text)
    assert isinstance(found, Reading)
    assert serialize(found) == reading


@pytest.mark.parametrize(
    ("before", "follow_up", "after"),
    [
        (
            "find [modified:>=2026-03-09 modified:<=2026-03-15]",
            "and the week before",
            "find [modified:>=2026-03-02 modified:<=2026-03-08]",
        ),
        (
            "find [created:>=2026-03-01 created:<=2026-03-18]",
            "one month earlier",
            "find [created:>=2026-02-01 created:<=2026-02-28]",
        ),
        ("find [modified:2026-03-17]", "one day later", "find [modified:2026-03-18]"),
        ("find [modified:2026-03-17]", "und am Tag davor", "find [modified:2026-03-16]"),
        ("count [[year:>=1740] [year:<=1749]]", "ten years later", "count [[year:>=1750] [year:<=1759]]"),
        (
            "set_property [@Instruments/H2] key=deadline value=2026-03-18",
            "hmm, one week later",
            "set_property [@Instruments/H2] key=deadline value=2026-03-25",
        ),
    ],
)
def test_a_follow_up_moves_the_dates(agent: BuiltinAgent, before: str, follow_up: str, after: str) -> None:
    last = parse(before, lambda name: (f"{name}.md",), ACTIONS)
    assert last is not None
    found = read(agent, follow_up, replace(HERE, last=last))
    assert isinstance(found, Reading) and serialize(found) == after


def test_a_task_of_the_notes_just_listed_is_changed_without_a_question(agent: BuiltinAgent) -> None:
    tasks = Reading((PipelineStep("list_tasks", NoteSet(notes=("Instruments/H1.md",))),), 1.0)
    found = read(agent, "tick off paint wall", replace(HERE, last=tasks))
    assert isinstance(found, Reading)
    assert serialize(found) == 'complete_task [@Instruments/H1] query="paint wall"'


def test_conditions_are_added_to_the_last_search_as_an_alternative(agent: BuiltinAgent) -> None:
    search = Reading((PipelineStep("find", NoteSet(query="tag:core")),), 1.0)
    found = read(agent, "and those tagged star", replace(HERE, last=search))
    assert isinstance(found, Reading) and serialize(found) == "find [tag:core OR tag:star]"


@pytest.mark.parametrize("text", ["claims", "instruments", "concepts", "Events"])
def test_the_name_of_a_folder_means_its_notes(agent: BuiltinAgent, text: str) -> None:
    found = read(agent, text)
    assert isinstance(found, Reading) and serialize(found) == f"find [path:{text.capitalize()}/]"


def test_a_single_noun_offers_no_change(agent: BuiltinAgent) -> None:
    found = read(agent, "Ereignisse")
    assert isinstance(found, Clarification | Reading)
    readings = [found] if isinstance(found, Reading) else [option.reading for option in found.options]
    steps = [step for reading in readings for step in reading.steps]
    assert steps and not any(agent.actions()[step.action].writes for step in steps)


@pytest.mark.parametrize("text", ["one week later", "no, 1767", "no", "and to K1", "no, K1 instead"])
def test_a_follow_up_of_an_action_that_is_switched_off_is_no_error(agent: BuiltinAgent, text: str) -> None:
    last = Reading((PipelineStep("switched_off", NoteSet(query="tag:core"), {"value": 1766}),), 1.0)
    found = read(agent, text, replace(HERE, last=last))
    assert not isinstance(found, Reading) or found.last.action != "switched_off"


@pytest.mark.parametrize("text", ["größe>=10", "Straße", "heißt H4 groß?"])
def test_words_with_letters_that_folding_lengthens_are_whole(text: str) -> None:
    tokens = tokenize(text, {})
    assert "".join(token.key for token in tokens) == "".join(text.casefold().split())
    assert all(text[token.start : token.end] == token.value for token in tokens)


def test_a_follow_up_of_days_moves_a_daily_note_and_due_tasks(agent: BuiltinAgent) -> None:
    tasks = read(agent, "anything due this week?")
    assert isinstance(tasks, Reading)
    journal = Reading((PipelineStep("open", NoteSet(notes=("Journal/2026-03-16.md",))),), 1.0)
    missing = read(agent, "the day after", replace(HERE, last=journal))
    assert isinstance(missing, Clarification) and "2026-03-17" in missing.question
    later = read(agent, "and the week after", replace(HERE, last=tasks))
    assert (
        isinstance(later, Reading) and serialize(later) == "list_tasks state=open due=2026-03-23..2026-03-29"
    )


@pytest.mark.parametrize("text", ["translate H4 into French", "übersetze das ins Englische"])
def test_requests_that_need_a_model_are_recognized(agent: BuiltinAgent, text: str) -> None:
    assert isinstance(read(agent, text), ModelRequired)


@pytest.mark.parametrize("text", ["delete", "tag", "create a note", "delete everything", "delete Ktxqz Vwrp"])
def test_a_change_that_is_not_clear_is_asked_about(agent: BuiltinAgent, text: str) -> None:
    assert isinstance(read(agent, text), Clarification)


def test_requests_that_cannot_be_fulfilled_are_not_guessed(agent: BuiltinAgent) -> None:
    found = read(agent, "asdf qwer zxcv uiop hjkl")
    assert isinstance(found, Reply) and not found.understood
    assert isinstance(read(agent, "what's the weather like"), ContentQuestion | Reply)


def test_a_short_request_without_an_action_is_searched_for(agent: BuiltinAgent) -> None:
    search = read(agent, "remind me tomorrow")
    assert isinstance(search, Reading) and search.score == GUESS_SCORE
    assert serialize(read(agent, "leather straps")) == "find [leather straps]"


def test_a_short_request_that_names_a_note_is_asked_about(agent: BuiltinAgent) -> None:
    question = read(agent, "where does H4 appear")
    assert isinstance(question, Clarification) and len(question.options) > 1


def test_a_question_about_the_notes_is_no_command(agent: BuiltinAgent) -> None:
    assert isinstance(read(agent, "who invented the marine chronometer?"), ContentQuestion | Reading)


def test_a_follow_up_changes_the_last_reading(agent: BuiltinAgent) -> None:
    first = read(agent, "show notes tagged core")
    assert isinstance(first, Reading)
    second = read(agent, "also the ones tagged star", replace(HERE, last=first))
    assert isinstance(second, Reading) and serialize(second) == "find [tag:core OR tag:star]"


def test_an_ordinal_means_a_note_of_the_last_list(agent: BuiltinAgent) -> None:
    state = replace(HERE, results=("Instruments/H2.md", "Instruments/H3.md"))
    found = read(agent, "open the second one", state)
    assert isinstance(found, Reading) and serialize(found) == "open [@Instruments/H3]"


WORDS = sorted(languages()[0].vocabulary())[::7]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.text(max_size=60), st.lists(st.sampled_from([*WORDS, "H4", "#core", '"x"', ","]), max_size=9)
    )
)
def test_no_request_writes_with_words_left_over(agent: BuiltinAgent, said: str | list[str]) -> None:
    found = read(agent, said if isinstance(said, str) else " ".join(said))
    if isinstance(found, Reading) and any(agent.actions()[step.action].writes for step in found.steps):
        assert not found.unexplained
        assert not any(step.target and step.target.is_everything for step in found.steps)


CHANGES = [
    "tag H4 with core",
    "delete H4",
    "rename Octant to Oktant",
    "move H4 to Events",
    "set the status of H4 to done",
    'append "a b" to H4',
    "remove the tag core from H4",
    "merge H2 into H1",
    "link H3 to George Graham",
    'replace "a" with "b" in H4',
    'create a note called "Shopping"',
    "lösche H4",
    "tagge Gimbal mit core",
]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(CHANGES), st.integers(0, 9), st.sampled_from([*WORDS, "zorblax", "not", "unless", "if"])
)
def test_a_word_that_a_change_does_not_account_for_is_asked_about(
    agent: BuiltinAgent, change: str, at: int, word: str
) -> None:
    plain = read(agent, change)
    assert isinstance(plain, Reading) and plain.is_certain
    words = change.split(" ")
    if word in ("not", "unless", "if", "zorblax"):
        found = read(agent, " ".join((*words[:at], word, *words[at:])))
        if isinstance(found, Reading) and any(ACTIONS[step.action].writes for step in found.steps):
            # The word became a part of a value that something introduces ("to", "called", quotes).
            assert word in serialize(found)
            assert found.last.action == plain.last.action


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "find notes about longitude and tag them navigation, then summarize them",
            "find [longitude] | add_tag [these] tag=navigation | summarize [these]",
        ),
        ("instruments except H1", 'find [path:Instruments/ -path:"Instruments/H1.md"]'),
    ],
)
def test_what_the_grammar_reads_whole_is_run_or_offered(
    agent: BuiltinAgent, text: str, expected: str
) -> None:
    found = read(agent, text)
    read_as = [found] if isinstance(found, Reading) else []
    if isinstance(found, Clarification):
        read_as = [option.reading for option in found.options]
    assert expected in [serialize(one) for one in read_as]


@pytest.mark.parametrize("text", ["tag both with sky", "set the status of the H4 one to done"])
def test_a_change_of_one_note_is_asked_about_if_the_words_may_mean_others(
    agent: BuiltinAgent, text: str
) -> None:
    found = read(agent, text)
    assert not (isinstance(found, Reading) and ACTIONS[found.last.action].writes)


@pytest.mark.parametrize(("action", "runs"), [("find", True), ("delete", False)])
def test_conditions_that_only_the_grammar_finds_refine_searches_but_no_changes(
    agent: BuiltinAgent, monkeypatch: pytest.MonkeyPatch, action: str, runs: bool
) -> None:
    broader = parse(f"{action} [path:Instruments/]", lambda _: (), ACTIONS)
    assert broader is not None
    monkeypatch.setattr(request_candidates, "candidates", lambda _: [MeaningCandidate(0.9, broader)])
    found = read(agent, f"{action} notes in Instruments tagged core")
    if runs:
        assert isinstance(found, Reading) and "tag:core" in serialize(found)
    else:
        assert isinstance(found, Clarification)


@pytest.mark.parametrize(
    "text", ["note: buy milk", "type: contract", "type:entity outside People & Instruments", "brass clock"]
)
def test_sentences_are_no_typed_searches(agent: BuiltinAgent, text: str) -> None:
    found = read(agent, text)
    assert not isinstance(found, Reading) or found.last.target != NoteSet(query=text) or found.score < 1


def test_a_question_offers_no_answer_from_the_notes_if_the_search_is_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading = parse("open [@Instruments/H4]", lambda name: (f"{name}.md",), ACTIONS)
    likely = [
        MeaningCandidate(0.6, reading),
        MeaningCandidate(0.15, outcome="question"),
        MeaningCandidate(0.15, outcome="model"),
    ]
    monkeypatch.setattr(request_candidates, "candidates", lambda _: likely)
    found = read(sample_agent(off="search"), "frobnicate the fourth one")
    assert isinstance(found, Clarification)
    assert {option.reading.last.action for option in found.options} == {"open", "model"}


def test_a_question_offers_an_answer_from_the_notes_and_a_model(
    agent: BuiltinAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = parse("find [path:Instruments/]", lambda _: (), ACTIONS)
    assert search is not None
    likely = [
        MeaningCandidate(0.6, search),
        MeaningCandidate(0.15, outcome="question"),
        MeaningCandidate(0.15, outcome="model"),
    ]
    monkeypatch.setattr(request_candidates, "candidates", lambda _: likely)
    found = read(agent, "frobnicate the instruments")
    assert isinstance(found, Clarification)
    assert {option.reading.last.action for option in found.options} == {"find", "question", "model"}
    place = {option.reading.last.action: index for index, option in enumerate(found.options, 1)}
    asked = replace(HERE, question=found)
    assert read(agent, f"number {place['question']}", asked) == ContentQuestion("frobnicate the instruments")
    assert isinstance(read(agent, f"number {place['model']}", asked), ModelRequired)
    for option in found.options:
        assert read(agent, f"= {serialize(option.reading)}") == meaning_of(option.reading)


def test_a_typed_pipeline_with_a_question_is_no_pipeline(agent: BuiltinAgent) -> None:
    for text in ("= find [path:Instruments] | question", "= question | find [path:Instruments]"):
        assert not isinstance(read(agent, text), Reading | ContentQuestion)


def test_the_words_before_a_folder_are_no_part_of_its_name(agent: BuiltinAgent) -> None:
    question = read(agent, "move this note")
    assert isinstance(question, Clarification)
    found = read(agent, "to the folder Museum", replace(HERE, question=question))
    assert isinstance(found, Reading) and serialize(found) == "move [@Instruments/H1] folder=Museum"


@given(st.lists(st.sampled_from([w for w in WORDS if w.isalpha()]), min_size=1, max_size=4))
def test_a_name_is_taken_only_where_something_introduces_it(agent: BuiltinAgent, words: list[str]) -> None:
    bare = read(agent, f"create a note {' '.join(words)}")
    # "A note with the title X" has the cue "title", which is also a noun.
    assert not (isinstance(bare, Reading) and bare.last.action == "create_note" and bare.is_certain) or (
        serialize(bare).count("name=") and set(words) & {"called", "named", "title", "titled", "entitled"}
    )
    quoted = read(agent, f'create a note called "{" ".join(words)}"')
    assert isinstance(quoted, Reading) and quoted.last.arguments["name"] == " ".join(words)


@pytest.mark.parametrize(
    "text",
    [
        "rename it",
        "put it into H4",
        "tag those harrison",
        "did you tag H4 with core?",
        "I tagged H4 with core",
        "should I delete H4",
        "make a note for John Bird then",
        "find sextant and tag them map",
        "mark H4 as zorblax",
        "set the temperature to 3",
        "füge bei allen Ereignissen das Schlagwort geschichte hinzu",
        "put the note H4 in a folder called Makers; Arnold as well",
        "delete H4 tomorrow",
        "lower it by 0.2",
        "replace every brass with bronze",
        "create a note called Tea in the style of H4",
        "merge H2 and H1",
        "delete the tag core",
        "rename the tag core to important and delete it",
    ],
)
def test_what_may_mean_something_else_is_no_change(agent: BuiltinAgent, text: str) -> None:
    found = read(agent, text)
    assert not (isinstance(found, Reading) and any(ACTIONS[step.action].writes for step in found.steps))


TWO = replace(HERE, results=("Instruments/H2.md", "Instruments/H3.md"))


@pytest.mark.parametrize(
    ("before", "text", "reading"),
    [
        ("find [instrument]", "tag these core", "add_tag [@Instruments/H2, @Instruments/H3] tag=core"),
        ("find [instrument]", "tag both with core", "add_tag [@Instruments/H2, @Instruments/H3] tag=core"),
        ("find [instrument]", "open the first one", "open [@Instruments/H2]"),
        ("find [instrument]", "summarize them", "summarize [@Instruments/H2, @Instruments/H3]"),
        ("find [tag:core]", "also the ones tagged star", "find [tag:core OR tag:star]"),
        ("find [sextant]", "no, octant instead", "find [octant]"),
        ("open [@Instruments/H3]", "not that one, H2", "open [@Instruments/H2]"),
        ("add_tag [@Instruments/H4] tag=core", "same for H2", "add_tag [@Instruments/H2] tag=core"),
        ("add_tag [@Instruments/H4] tag=core", "and K1 too", "add_tag [@Instruments/K1] tag=core"),
        ("add_tag [@Instruments/H4] tag=core", "undo both", 'undo scope="last:2"'),
        ("add_tag [@Instruments/H4] tag=core", "undo that", "undo scope=last"),
    ],
)
def test_what_was_said_before_is_part_of_the_request(
    agent: BuiltinAgent, before: str, text: str, reading: str
) -> None:
    last = parse(before, lambda name: (f"{name}.md",), ACTIONS)
    found = read(agent, text, replace(TWO, last=last))
    assert isinstance(found, Reading) and serialize(found) == reading


def test_it_is_asked_about_after_a_list_and_taken_after_one_note(agent: BuiltinAgent) -> None:
    listed = parse("find [instrument]", lambda _: (), ACTIONS)
    assert isinstance(read(agent, "delete it", replace(TWO, last=listed)), Clarification)
    shown = parse("open [@Instruments/H3]", lambda name: (f"{name}.md",), ACTIONS)
    found = read(agent, "delete it", replace(HERE, last=shown, focus=("Instruments/H3.md",)))
    assert isinstance(found, Reading) and serialize(found) == "delete [@Instruments/H3]"


def test_a_chosen_option_and_a_chip_keep_the_language_of_the_request(agent: BuiltinAgent) -> None:
    plain = parse("find [tag:core]", lambda _: (), ACTIONS)
    assert plain is not None
    german = replace(plain, language="de")
    option = ClarificationOption(serialize(german), german)
    asked = replace(HERE, question=Clarification("Which of these do you mean?", (option,)))
    for state, language in ((asked, "de"), (replace(HERE, last=german), "de"), (HERE, "en")):
        found = read(agent, f"{PREFIX} find [tag:core]", state)
        assert isinstance(found, Reading) and found.language == language


def test_the_first_one_is_the_only_note_of_a_list(agent: BuiltinAgent) -> None:
    listed = replace(
        HERE, results=("Instruments/H2.md",), last=parse("find [instrument]", lambda _: (), ACTIONS)
    )
    found = read(agent, "the first one", listed)
    assert isinstance(found, Reading) and serialize(found) == "open [@Instruments/H2]"


@pytest.mark.parametrize("text", ["the second one", "second one", "die zweite"])
def test_only_an_ordinal_opens_a_note_of_the_list(agent: BuiltinAgent, text: str) -> None:
    listed = replace(TWO, last=parse("find [instrument]", lambda _: (), ACTIONS))
    found = read(agent, text, listed)
    assert isinstance(found, Reading) and serialize(found) == "open [@Instruments/H3]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zeig mir alle Journale aus Februar 2021", "find [path:journals/ file:2021_02]"),
        ("Tagebucheinträge vom Februar 2021", "find [path:journals/ file:2021_02]"),
        ("diary entries from february 2021", "find [path:journals/ file:2021_02]"),
    ],
)
def test_journals_are_the_notes_of_their_folder(text: str, expected: str) -> None:
    resolver = Resolver()
    for day in ("2021_02_07", "2021_02_14", "2021_03_01"):
        resolver.add(NotePath(f"journals/{day}.md"))
    diary = BuiltinAgent(ToolRegistry(CATEGORIES, CATALOG), resolver, VaultWords)
    found = read(diary, text, DialogState())
    assert isinstance(found, Reading) and serialize(found) == expected


async def test_a_question_for_a_missing_property_means_one_that_the_note_has(
    agent: BuiltinAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = parse("properties_of [@Instruments/H3] about=year", lambda name: (f"{name}.md",), ACTIONS)
    state = replace(HERE, focus=("Instruments/H3.md",))
    for properties, about in (({"published": "1757-01-01"}, "published"), ({"year": 1757}, "year")):
        facts = agent._comparison._facts
        monkeypatch.setattr(facts, "_properties_of", lambda _, known=properties: known)
        for text in ("when was it published?", "wann wurde es veröffentlicht?"):
            assert asked is not None
            found = await agent.compare_with_vault(asked, text, state)
            assert isinstance(found, Reading) and found.last.arguments == {"about": about}


def test_the_empty_ones_are_notes_of_the_list(agent: BuiltinAgent) -> None:
    listed = replace(TWO, last=parse("find [instrument]", lambda _: (), ACTIONS))
    found = read(agent, "delete the untagged ones", listed)
    assert isinstance(found, Clarification)
    deletions = [option.reading for option in found.options if option.reading.last.action == "delete"]
    assert [serialize(deletion) for deletion in deletions] == ["delete [these untagged:]"]
    shown = read(agent, "the ones without links", listed)
    assert isinstance(shown, Reading) and serialize(shown) == "find [instrument orphan:]"


def test_a_question_offers_no_reading_that_leaves_out_a_value_of_another_one() -> None:
    plain = parse('create_note name="Tart"', lambda _: (), ACTIONS)
    whole = parse('create_note name="Tart" folder=Concepts', lambda _: (), ACTIONS)
    assert plain is not None and whole is not None
    asked = request("create a note called Tart in Concepts")
    options = tuple(ClarificationOption(serialize(reading), reading) for reading in (plain, whole))
    question = Clarification("Which of these do you mean?", options)
    kept = with_every_condition(asked, question)
    assert isinstance(kept, Clarification)
    assert [option.reading for option in kept.options] == [whole]
    assert with_every_condition(request("create a note called Tart"), question) is question


@pytest.mark.parametrize("text", ["set status to done", "set its status to done"])
def test_a_value_to_set_is_no_condition_on_the_notes(agent: BuiltinAgent, text: str) -> None:
    found = read(agent, text, NOWHERE)
    assert isinstance(found, Clarification) and found.question == "Which note?"


def test_words_of_one_language_are_not_searched_for_in_the_other_language(agent: BuiltinAgent) -> None:
    found = read(agent, "show the second one", NOWHERE)
    readings = [option.reading for option in found.options] if isinstance(found, Clarification) else [found]
    assert all(not isinstance(reading, Reading) or reading.language == "en" for reading in readings)


def test_the_question_what_a_note_is_about_asks_for_a_summary(agent: BuiltinAgent) -> None:
    found = read(agent, "worum geht es darin?", replace(HERE, focus=("Instruments/H3.md",)))
    assert isinstance(found, Reading) and serialize(found) == "summarize [@Instruments/H3]"


@pytest.mark.parametrize("text", ["what type is it?", "welchen Typ hat es?"])
def test_a_question_for_the_type_of_a_note_is_no_search(agent: BuiltinAgent, text: str) -> None:
    found = read(agent, text, replace(HERE, focus=("Instruments/H3.md",)))
    assert isinstance(found, Reading) and serialize(found) == "properties_of [@Instruments/H3]"


names = st.sampled_from(["Instruments/H1.md", "People/John Harrison.md"])
queries = st.sampled_from(["tag:core", "orphan:", "[confidence:<0.5]", 'links-to:"H4"', "a OR b", ""])
values = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12),
    st.integers(0, 99),
)


@example("", [], "C:\\new")
@example("", [], "NAN")
@given(queries, st.lists(names, max_size=2, unique=True), values)
def test_the_notation_is_read_back(query: str, paths: list[str], value: object) -> None:
    step = PipelineStep(
        "set_property", NoteSet(query=query, notes=tuple(paths)), {"key": "k", "value": value}
    )
    found = parse(serialize(Reading((step,), 1.0)), lambda name: (f"{name}.md",), ACTIONS)
    assert found is not None
    assert found.last.target == step.target
    assert (
        str(found.last.arguments["value"]) == str(value) or float(str(value)) == found.last.arguments["value"]
    )


def test_removing_a_chip_removes_its_condition(agent: BuiltinAgent) -> None:
    found = read(agent, "show me notes tagged instrument but not core")
    assert isinstance(found, Reading)
    labels = {chip.label: chip.without for chip in reading_chips(found)}
    assert list(labels) == ["notes", "tag:instrument", "−tag:core"]
    again = read(agent, labels["−tag:core"])
    assert isinstance(again, Reading) and serialize(again) == "find [tag:instrument]"


@pytest.mark.parametrize(
    ("text", "label", "value", "reading"),
    [
        (
            "show me notes tagged instrument but not core",
            "tag:instrument",
            "star",
            "find [tag:star -tag:core]",
        ),
        (
            "show me notes tagged instrument but not core",
            "−tag:core",
            "a b",
            'find [tag:instrument -tag:"a b"]',
        ),
        ("show H4", "H4", "Concepts/Gimbal", "read [@Concepts/Gimbal]"),
        ("tag H4 with #core and #star", "tag: star", "clock", "add_tag [@Instruments/H4] tag=core,clock"),
        (
            "link H3 to George Graham as inspired by",
            "to: George Graham",
            "People/John Harrison",
            'relate [@Instruments/H3] to="@People/John Harrison" type=inspired_by',
        ),
        ('append "a" to H4', "text: a", 'say "x" \\', 'append [@Instruments/H4] text="say \\"x\\" \\\\"'),
        ("notes about longitude", "longitude", "moon OR stars", "find [moon OR stars]"),
    ],
)
def test_a_chip_can_get_another_value(
    agent: BuiltinAgent, text: str, label: str, value: str, reading: str
) -> None:
    found = read(agent, text)
    assert isinstance(found, Reading)
    chip = next(one for one in reading_chips(found) if one.label == label)
    again = read(agent, with_value(chip.change, chip.kind, value))
    assert isinstance(again, Reading) and serialize(again) == reading


def test_labels_of_readings_differ_where_their_long_values_differ() -> None:
    long = "A text that is longer than a chip may be, and ends with "
    texts = (f"{long}a", f"{long}b", "short", f"Not {long}a")
    readings = [Reading((PipelineStep("append", NoteSet(notes=("H4.md",)), {"text": t}),), 1) for t in texts]
    labels = describe_readings(readings)
    assert labels[:3] == [f"append · H4 · text: {text}" for text in texts[:3]]
    assert labels[3].startswith("append · H4 · text: Not A text") and labels[3].endswith("…")


@pytest.mark.parametrize(
    ("notation", "english", "german"),
    [
        ("undo scope=last", "undo · the last change", "rückgängig · die letzte Änderung"),
        ("undo scope=last:2", "undo · the last 2 changes", "rückgängig · die letzten 2 Änderungen"),
        ("list_tasks state=open", "tasks · not done", "Aufgaben · nicht erledigt"),
        (
            "list_tasks state=done due=..2026-11-28",
            "tasks · done · due by 2026-11-28",
            "Aufgaben · erledigt · fällig bis 2026-11-28",
        ),
        (
            "find [tag:clock] | add_tag [these] tag=brass",
            "notes · tag:clock · then add tag · the same · tag: brass",
            "Notizen · tag:clock · dann Tag hinzufügen · dieselben · Tag: brass",
        ),
    ],
)
def test_a_label_is_in_words(notation, english, german) -> None:
    reading = parse(f"= {notation}", lambda name: (), ACTIONS)
    assert describe_readings([reading]) == [english]
    assert describe_readings([replace(reading, language="de")]) == [german]


def test_a_chip_with_the_name_of_no_note_does_nothing(agent: BuiltinAgent) -> None:
    found = read(agent, "delete H4")
    assert isinstance(found, Reading)
    chip = next(one for one in reading_chips(found) if one.label == "H4")
    again = read(agent, with_value(chip.change, chip.kind, "No such note"))
    assert isinstance(again, Reply) and "No such note" in again.text


def test_every_phrase_of_every_language_can_be_matched() -> None:
    for language in languages():
        actions = {frame.action for frame in language.frames}
        assert actions <= set(ACTIONS)
        assert {"find", "create_note", "add_tag", "delete", "undo"} <= actions
        for frame in language.frames:
            assert set(frame.roles) | set(frame.direct) <= {
                "target",
                "other",
                "to",
                "tag",
                "new_tag",
                "folder",
                "name",
                "new_name",
                "text",
                "old",
                "heading",
                "new_heading",
                "key",
                "new_key",
                "value",
                "type",
                "parent",
                "confidence",
                "query",
                "due",
                "about",
            }


@pytest.mark.parametrize("request_text", ["tag it people and todo", "delete the note", "lösche die Notiz"])
def test_words_for_one_note_never_mean_a_set_of_notes(agent: BuiltinAgent, request_text: str) -> None:
    found = read(agent, request_text, NOWHERE)
    assert isinstance(found, Clarification) and found.question == "Which note?"
    assert found.partial is not None and found.partial.missing == "target"


@pytest.mark.parametrize("text", ["= find [*] limit=abc", "= find [*] pick=x", "= find [*] limit=9999999999"])
def test_a_typed_number_that_is_none_is_not_understood(agent: BuiltinAgent, text: str) -> None:
    assert not isinstance(read(agent, text), Reading | ContentQuestion)


def test_alternatives_are_enclosed_before_they_are_combined() -> None:
    assert parenthesize("a OR b") == "(a OR b)"
    assert parenthesize("(a OR b) OR c") == "((a OR b) OR c)"
    assert parenthesize("(a OR b)") == "(a OR b)"
    assert parenthesize('(a OR ")")') == '(a OR ")")'
    assert parenthesize("(a OR b) c") == "(a OR b) c"
    assert parenthesize('"a OR b" c') == '"a OR b" c'


@pytest.mark.parametrize("request_text", ["open the note called the note", "delete the note called file"])
def test_a_name_of_only_a_noun_is_asked_about(agent: BuiltinAgent, request_text: str) -> None:
    assert isinstance(read(agent, request_text), Clarification)


LISTED = DialogState(
    results=("Sources/William Andrewes 1996.md", "Sources/Dava Sobel 1995.md"),
    last=Reading((PipelineStep("find", NoteSet(query="path:Sources/")),), 1.0),
)
BACKLINKS = DialogState(
    focus=("Concepts/Greenwich.md",),
    results=("Concepts/Prime meridian.md", "Events/Trial of H4.md", "People/Edmond Halley.md"),
    last=Reading((PipelineStep("backlinks", NoteSet(notes=("Concepts/Greenwich.md",))),), 1.0),
)


@pytest.mark.parametrize("text", ["show me the note", "zeig mir die notiz"])
def test_the_note_is_never_every_note(agent: BuiltinAgent, text: str) -> None:
    asked = read(agent, text, NOWHERE)
    assert isinstance(asked, Clarification) and asked.question == "Which note?"
    found = read(agent, text, replace(NOWHERE, focus=("Instruments/K1.md",)))
    assert isinstance(found, Reading) and found.last.target == NoteSet(notes=("Instruments/K1.md",))


@pytest.mark.parametrize(
    "text", ["can you write me a poem about him?", "kannst du mir ein Gedicht über Harrison schreiben?"]
)
def test_an_order_in_the_form_of_a_question_is_an_order(agent: BuiltinAgent, text: str) -> None:
    assert read(agent, text, NOWHERE) == ModelRequired("Writing new text")


@pytest.mark.parametrize("text", ["how many of them are events?", "wie viele davon sind Ereignisse?"])
def test_a_count_of_listed_notes_counts_only_those(agent: BuiltinAgent, text: str) -> None:
    counted = read(agent, text, BACKLINKS)
    assert isinstance(counted, Reading) and counted.last.action == "count"
    assert counted.last.target == NoteSet(notes=BACKLINKS.results, query="path:Events/")


def test_an_ordinal_leaves_out_changes_of_other_notes(agent: BuiltinAgent) -> None:
    _, second = LISTED.results
    asked = read(agent, "mark the second one as read", LISTED)
    readings = [option.reading for option in asked.options] if isinstance(asked, Clarification) else [asked]
    actions = agent.actions()
    changed = [r.last.target.notes for r in readings if any(actions[s.action].writes for s in r.steps)]
    assert changed and set(changed) == {(second,)}


def test_a_label_counts_many_notes_and_a_change_names_them() -> None:
    notes = NoteSet(notes=tuple(f"Instruments/H{number}.md" for number in range(1, 6)))
    change = Reading((PipelineStep("add_tag", notes, {"tag": ("clock",)}),), 1.0)
    assert describe_readings([change]) == ["add tag · 5 notes · tag: clock"]
    assert [chip.label for chip in reading_chips(change)][1:3] == ["H1", "H2"]
    found = Reading((PipelineStep("find", notes),), 1.0)
    assert [chip.label for chip in reading_chips(found)] == ["notes", "5 notes"]


@pytest.mark.parametrize(
    ("text", "query", "is_refused"),
    [
        ("delete the expensive notes", "[cost]", True),
        ("delete the expensive notes", "[cost:>100]", False),
        ("delete the expensive notes", "[total-cost:>100]", False),
        ("delete the expensive notes", "[cost:100]", True),
        ("delete the settled notes", "[paid:true]", False),
        ("delete the settled notes", "[paid]", True),
    ],
)
def test_a_property_without_a_comparison_expresses_no_condition(
    text: str, query: str, is_refused: bool
) -> None:
    reading = parse(f"delete [{query}]", lambda _: (), ACTIONS)
    assert reading is not None
    found = with_every_condition(request(text), reading)
    assert isinstance(found, Reply) if is_refused else found == reading


@pytest.mark.parametrize(
    ("text", "is_asked"),
    [
        ("set the prep time to 9", True),
        ("set prep-time to 9", True),
        ("set the prep time of notes that have a prep time to 9", False),
    ],
)
def test_a_property_named_in_two_words_is_no_condition_on_the_notes(text: str, is_asked: bool) -> None:
    reading = parse("set_property [[prep-time]] key=prep-time value=9", lambda _: (), ACTIONS)
    assert reading is not None
    found = ReadingChooser(serialize).decide(request(text), [reading])
    assert (isinstance(found, Clarification) and found.question == "Which note?") is is_asked


@pytest.mark.parametrize("word", ["draft", "Draft", "to-do", "trips/2026"])
def test_a_single_quoted_word_that_is_added_may_be_a_tag(agent: BuiltinAgent, word: str) -> None:
    found = read(agent, f'add "{word}" to this one')
    assert isinstance(found, Clarification)
    offered = [serialize(option.reading) for option in found.options]
    assert offered[:2] == [f"append [@Instruments/H1] text={word}", f"add_tag [@Instruments/H1] tag={word}"]


def test_the_request_model_runs_once_for_a_change(
    agent: BuiltinAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[Request] = []

    def record(asked: Request) -> list[MeaningCandidate]:
        requests.append(asked)
        return []

    monkeypatch.setattr(request_candidates, "candidates", record)
    found = read(agent, "delete this note")
    assert isinstance(found, Clarification) and len(requests) == 1


def test_both_readings_are_in_the_question(agent: BuiltinAgent) -> None:
    found = read(agent, "what's my vault like")
    assert isinstance(found, Clarification)
    assert "vault_info" in [serialize(option.reading) for option in found.options]


@pytest.mark.parametrize(
    ("text", "search", "negated"),
    [
        ("notes that aren't claims", "find [path:Claims/]", "find [-path:Claims/]"),
        ("what has no year", "find [tag:source [year]]", "find [tag:source -[year]]"),
        ("not serviced since 1760", "find [[last-serviced:>=1760]]", "find [[last-serviced:<1760]]"),
        ("sources besides books", "find [books]", "find [-books]"),
        ("unread, not yet finished", "find [[read:false]]", None),
        ("everything but claims", "find [-type:claim]", None),
        ("all sources", "find [type:source]", None),
        ("do not open it", "open [@Instruments/H1]", None),
    ],
)
def test_a_search_without_the_negation_of_the_request_is_in_question(
    text: str, search: str, negated: str | None
) -> None:
    reading = parse(search, lambda name: (f"{name}.md",), ACTIONS)
    assert reading is not None
    found = with_negation(request(text), reading)
    if negated is None:
        assert found is reading
    else:
        assert isinstance(found, Clarification)
        assert [serialize(option.reading) for option in found.options] == [negated, search]


def test_besides_excludes(agent: BuiltinAgent) -> None:
    found = read(agent, "notes tagged instrument besides core")
    assert isinstance(found, Reading) and serialize(found) == "find [tag:instrument -tag:core]"


@pytest.mark.parametrize(
    ("text", "narrower", "is_stated"),
    [
        ("my portugese sources", "find [type:source [cuisine:Portuguese]]", True),
        ("which sources are clocks", "find [type:source tag:thing/clock]", True),
        ("my sources", "find [type:source [cuisine:Portuguese]]", False),
        ("my portugese sources", "find [type:source [cuisine:Portuguese]] order=name limit=1", False),
        ("my portugese sources", "find [type:claim [cuisine:Portuguese]]", False),
    ],
)
def test_a_search_without_a_stated_value_is_in_question(text: str, narrower: str, is_stated: bool) -> None:
    searched, other = (parse(line, lambda _: (), ACTIONS) for line in ("find [type:source]", narrower))
    assert searched is not None and other is not None
    for probability in (0.05, 0.01):
        written = [MeaningCandidate(0.7, searched), MeaningCandidate(probability, other)]
        found = with_dropped_value(request(text), searched, lambda given=written: given)
        if is_stated and probability > 0.02:
            assert isinstance(found, Clarification)
            assert [option.reading for option in found.options] == [other, searched]
        else:
            assert found is searched

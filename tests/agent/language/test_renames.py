"""Requests that rename properties, headings and folders: one change, one approval, or a precise refusal."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.lexicon import languages
from app.settings import PermissionSettings, Rule
from app.vault.path import NotePath
from tests.agent.language.meaning.test_dialog import OPEN, answers, fill, order, say, state, talk, text
from tests.support.everyday_requests import read, sample_agent
from tests.support.tool_calls import warnings_of

__all__ = ["talk"]
HERE = NoteSet(notes=(OPEN,))
SOURCES = NoteSet(query="path:Sources/")


def step(action: str, target: NoteSet | None = None, **arguments: object) -> PipelineStep:
    return PipelineStep(action, target, arguments)


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("rename the property year to published", step("rename_property", key="year", new_key="published")),
        (
            "please call the property year just published instead",
            step("rename_property", key="year", new_key="published"),
        ),
        (
            "rename the folder Claims to Theses instead",
            step("rename_folder", folder="Claims", new_name="Theses"),
        ),
        (
            'rename the folder Claims to "Theses instead"',
            step("rename_folder", folder="Claims", new_name="Theses instead"),
        ),
        (
            "Benenne den Ordner Claims in Thesen um stattdessen",
            step("rename_folder", folder="Claims", new_name="Thesen"),
        ),
        (
            "rename the field year to published everywhere",
            step("rename_property", key="year", new_key="published"),
        ),
        (
            "rename the year property to year of print in all sources",
            step("rename_property", SOURCES, key="year", new_key="year of print"),
        ),
        (
            "in this note, rename the property year to published",
            step("rename_property", HERE, key="year", new_key="published"),
        ),
        (
            "rename the property year to published in all notes",
            step("rename_property", key="year", new_key="published"),
        ),
        (
            "Benenne in allen Quellen die Eigenschaft year in Jahr um",
            step("rename_property", SOURCES, key="year", new_key="Jahr"),
        ),
        ("Eigenschaft year in Jahr umbenennen", step("rename_property", key="year", new_key="Jahr")),
        ("rename the heading Trial to Log", step("rename_heading", HERE, heading="Trial", new_heading="Log")),
        (
            "rename the section Testing of H4 to Sea log",
            step(
                "rename_heading",
                NoteSet(notes=("Instruments/H4.md",)),
                heading="Testing",
                new_heading="Sea log",
            ),
        ),
        (
            "Benenne in dieser Notiz die Überschrift Probe in Logbuch um",
            step("rename_heading", HERE, heading="Probe", new_heading="Logbuch"),
        ),
        ("rename the folder Sources to Library", step("rename_folder", folder="Sources", new_name="Library")),
        ("rename my Sources folder to Library", step("rename_folder", folder="Sources", new_name="Library")),
        ("Benenne den Ordner Sources in Werke um", step("rename_folder", folder="Sources", new_name="Werke")),
        ("move the folder Sources into People", step("move_folder", folder="Sources", parent="People")),
        ("move the folder Sources to the root", step("move_folder", folder="Sources", parent="/")),
        ("Verschiebe den Ordner Sources nach People", step("move_folder", folder="Sources", parent="People")),
    ],
)
def test_a_rename_is_understood_at_once(request_text, expected) -> None:
    reading = read(sample_agent(), request_text)
    assert isinstance(reading, Reading) and reading.steps == (expected,)


@pytest.mark.parametrize(
    ("request_text", "action"),
    [
        ("change the property status to done", "set_property"),
        ("rename the tag core to heart", "rename_tag"),
        ("rename H4 to Watch", "rename"),
        ("move the notes in Sources to People", "move"),
    ],
)
def test_other_changes_stay_what_they_are(request_text, action) -> None:
    reading = read(sample_agent(), request_text)
    steps = reading.options[0].reading.steps if isinstance(reading, Clarification) else reading.steps
    assert [step.action for step in steps] == [action]


async def test_a_property_is_renamed_in_all_notes_with_one_approval(talk, approver) -> None:
    await fill(talk, Jaws="---\nlast: 1\n---\n", Alien="---\nlast: 2\n---\n")
    approver.asked.clear()
    replies = await say(talk, "rename the property last to last_seen")
    assert text(talk, "Jaws.md") == "---\nlast_seen: 1\n---\n" and len(approver.asked) == 1
    assert answers(talk)[-1].startswith("Renamed the property last to last_seen in 2 notes.")
    assert len(replies.changes) == 1
    await say(talk, "undo the rename")
    assert text(talk, "Alien.md") == "---\nlast: 2\n---\n"


async def test_a_property_is_renamed_in_the_listed_notes_only(talk) -> None:
    await fill(talk, Jaws="---\nlast: 1\n---\n#film\n", Alien="---\nlast: 2\n---\n", Duel="#film\n")
    await say(talk, "notes tagged film", "rename the property last to seen in them")
    assert "seen: 1" in text(talk, "Jaws.md") and "last: 2" in text(talk, "Alien.md")


async def test_an_unknown_property_is_refused_at_once(talk, approver) -> None:
    await say(talk, "rename the property lost to found")
    assert answers(talk)[-1] == "No note has the property “lost”." and not approver.asked


@pytest.mark.parametrize(
    "request_text",
    ["rename year to published", "rename year to published everywhere", "benenne year in Jahr um"],
)
def test_a_property_that_is_not_called_one_is_a_question(request_text) -> None:
    reading = read(sample_agent(), request_text)
    assert isinstance(reading, Clarification)
    assert [option.reading.last.action for option in reading.options] == ["rename_property"]


@pytest.mark.parametrize(
    ("request_text", "question"),
    [
        ("rename the property year", "What should the property be called?"),
        ("rename the folder to Library", "Which folder?"),
        ("move the folder to People", "Which folder?"),
        ("move the folder Sources", "Into which folder?"),
    ],
)
def test_a_missing_part_is_asked_for(request_text, question) -> None:
    reading = read(sample_agent(), request_text)
    assert isinstance(reading, Clarification) and reading.question == question


async def test_a_folder_moves_to_the_root_of_the_vault(talk) -> None:
    await fill(talk, Old__One="1\n")
    (talk.workspace.root / "Archive").mkdir()
    await say(talk, "move the folder Old into Archive", "move the folder Archive/Old to the root")
    assert text(talk, "Old/One.md") == "1\n"


async def test_a_heading_of_several_notes_is_refused(talk, approver) -> None:
    await say(talk, "rename the heading Relations to Links in all sources")
    assert (
        answers(talk)[-1].startswith("I can rename a heading in only one note at a time.")
        and not approver.asked
    )


async def test_a_heading_is_renamed_with_its_links(talk) -> None:
    await fill(talk, Kettle="## Notes\n", Cup="[[Kettle#Notes]]\n")
    await say(talk, "rename the heading Notes to Log in Kettle")
    assert text(talk, "Kettle.md") == "## Log\n" and text(talk, "Cup.md") == "[[Kettle#Log]]\n"


async def test_an_unknown_heading_is_refused_with_those_of_the_note(talk) -> None:
    await fill(talk, Kettle="## Notes\n")
    await say(talk, "rename the heading Nope to Log in Kettle")
    assert answers(talk)[-1].endswith("Did you mean one of these?\n- Notes")


async def test_it_is_the_note_at_its_new_path_after_a_folder_moved_and_moved_back(talk) -> None:
    await say(talk, "open Nautical Almanac", "rename the folder Sources to Library")
    assert state(talk).focus == ("Library/Nautical Almanac.md",)
    await say(talk, "undo")
    assert state(talk).focus == ("Sources/Nautical Almanac.md",)
    await say(talk, "redo", "move the folder Library into People", "tag it moved")
    assert "moved" in text(talk, "People/Library/Nautical Almanac.md")


@pytest.mark.parametrize(
    "requests",
    [
        ("rename the folder Sources to Library and tag Nautical Almanac as moved",),
        ("rename the folder Sources to Library, then rename Nautical Almanac to Almanac and tag it moved",),
        ("notes in Sources", "rename the folder Sources to Library, then tag these moved"),
        ("Benenne den Ordner Sources in Library um und tagge Nautical Almanac mit moved",),
    ],
)
async def test_later_steps_use_the_new_paths_after_a_folder_rename(talk, requests) -> None:
    await order(talk, *requests)
    names = ("Nautical Almanac", "Almanac")
    paths = [
        f"Library/{name}.md" for name in names if talk.workspace.index.note(NotePath(f"Library/{name}.md"))
    ]
    assert len(paths) == 1 and "moved" in text(talk, paths[0])


async def test_a_missing_folder_is_refused_at_once(talk, approver) -> None:
    await say(talk, "rename the folder Nope to Library")
    assert answers(talk)[-1] == "There is no folder “Nope” with files in it." and not approver.asked


async def test_links_and_tasks_of_the_vault_survive_a_folder_rename(talk) -> None:
    before = talk.workspace.index.stats().unresolved
    await say(talk, "rename the folder Instruments to Clocks")
    assert talk.workspace.index.stats().unresolved == before
    assert talk.workspace.index.note(NotePath("Clocks/H4.md"))


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        (
            "rename the folder Instruments to .obsidian",
            "The folder “.obsidian” would be hidden: no part of its path may start with a dot."
            " Nothing was changed.",
        ),
        (
            "rename the folder Instruments to ../x",
            "'../x' can't be a path in the vault: it has an empty part, '.' or '..'.",
        ),
        (
            "move the folder Sources into ../People",
            "'../People/Sources' can't be a path in the vault: it has an empty part, '.' or '..'.",
        ),
        (
            "benenne den Ordner Instruments in .alt um",
            "Der Ordner „.alt“ wäre versteckt: Kein Teil seines Pfads darf mit einem Punkt beginnen."
            " Es wurde nichts geändert.",
        ),
        (
            "verschiebe den Ordner Sources nach Sources",
            "Ein Ordner kann nicht in sich selbst verschoben werden. Es wurde nichts geändert.",
        ),
    ],
)
async def test_a_folder_name_keeps_its_dots_and_is_refused(talk, approver, request_text, answer) -> None:
    await say(talk, request_text)
    assert answers(talk)[-1] == answer and not approver.asked


@pytest.mark.parametrize(
    ("request_text", "role", "name"),
    [
        ("move H4 to the folder ../x", "folder", "../x"),
        ("move H4 to .hidden", "folder", ".hidden"),
        ("rename the folder Sources to Library.", "new_name", "Library"),
    ],
)
def test_a_name_keeps_the_dots_before_it_and_not_the_one_after(request_text, role, name) -> None:
    reading = read(sample_agent(), request_text)
    steps = reading.options[0].reading.steps if isinstance(reading, Clarification) else reading.steps
    assert steps[0].arguments[role] == name


async def test_a_german_answer_to_a_rename_has_one_paragraph_a_sentence(talk) -> None:
    await fill(
        talk,
        Box__One="1\n",
        Box__Two="2\n",
        Zed="---\nsee: '[[Box/One#A]]'\n---\n## Trial\n[[Box/One]]\n",
        Y="[[Zed#Trial]]\n",
    )
    (talk.workspace.root / "Box" / ".hidden").write_text("x")
    await say(talk, "benenne den Ordner Box in Kiste um")
    assert answers(talk)[-1] == (
        "2 Dateien von „Box“ nach „Kiste“ verschoben. Mit „rückgängig“ nimmst du es zurück.\n\n"
        "1 versteckte oder ausgeschlossene Datei bleibt in „Box“.\n\nLinks in 1 Notiz aktualisiert."
    )
    await say(talk, "benenne die Überschrift Trial in Zed in Test um")
    assert answers(talk)[-1] == (
        "Die Überschrift „Trial“ in [[Zed]] heißt jetzt „Test“. Mit „rückgängig“ nimmst du es zurück.\n\n"
        "Links in 1 Notiz aktualisiert."
    )


async def test_a_german_answer_names_the_notes_that_are_left_out(talk) -> None:
    both = "---\nlast: 1\nseen: 2\n---\n"
    await fill(talk, One="---\nlast: 1\n---\n", Both=both)
    (talk.workspace.root / "All.base").write_text("filters: last > 1\n")
    await talk.workspace.index.scan()
    await say(talk, "benenne die Eigenschaft last in seen um")
    assert answers(talk)[-1] == (
        "Die Eigenschaft last heißt jetzt seen, in 1 Notiz. Mit „rückgängig“ nimmst du es zurück.\n\n"
        "- [[One]]\n\nUnverändert:\n\n- Both.md: Die Notiz hat „last“ und „seen“.\n"
        "- All.base: Diese Base verwendet vielleicht die Eigenschaft. Benenne sie dort auch um."
    )
    await say(talk, "benenne die Eigenschaft last in seen um")
    assert answers(talk)[-1] == (
        "„last“ lässt sich nicht umbenennen.\n\nUnverändert:\n\n- Both.md: Die Notiz hat „last“ und „seen“."
    )
    assert text(talk, "Both.md") == both


async def test_a_german_answer_says_that_hidden_files_keep_a_folder_where_it_is(talk) -> None:
    await fill(talk, Secret__One="x\n", Secret__Sub__Two="x\n")
    hide = Rule(effect="deny", glob="Secret/Sub/**", operations=("read",))
    talk.workspace.policy.configure(PermissionSettings(rules=(hide,)))
    await say(talk, "benenne den Ordner Secret in Public um")
    assert answers(talk)[-1] == (
        "Der Ordner „Secret“ kann nicht verschoben werden. Es wurde nichts geändert. Verschiebe ihn selbst."
    )


async def test_the_approval_says_that_the_app_reads_a_renamed_property(talk, approver) -> None:
    await fill(talk, Diary="---\nai: private\n---\n", Tea="---\naliases: [Cha]\n---\n")
    approver.asked.clear()
    await say(talk, "rename the property ai to access", "rename the property aliases to names in Tea")
    assert [warnings_of(request) for request in approver.asked] == [
        ("Scriptorium reads “ai”, but not “access”.", "2 notes are no longer private."),
        ("Scriptorium reads “aliases”, but not “names”.",),
    ]


@pytest.mark.parametrize(("uses_model", "label"), [(False, " · 1 note"), (True, "")])
async def test_a_model_does_not_learn_how_many_notes_a_change_is_about(talk, uses_model, label) -> None:
    await fill(talk, Diary="---\nai: private\ntags: [zoo]\n---\n")
    reading = Reading((PipelineStep("add_tag", NoteSet(query="tag:zoo"), {"tag": ("x",)}),), 1.0)
    question = Clarification("Which one?", (ClarificationOption("", reading),))
    asked: list[str] = []
    turn = SimpleNamespace(
        caller=SimpleNamespace(uses_model=uses_model),
        conversation=talk.id,
        agent="",
        prompt=SimpleNamespace(open_note=None, notes=()),
        ask=lambda question, choices: asked.extend(choice.label for choice in choices),
    )
    await talk.workspace.agent._builtin._ask(turn, question, languages()[0])
    assert asked == [label]


@pytest.mark.parametrize(
    ("request_text", "target", "new_key"),
    [
        ("rename the property year to published only in the sources", SOURCES, "published"),
        ("rename the property year back to published, just in Sources", SOURCES, "published"),
        ("benenne die Eigenschaft year nur in den Quellen in published um", SOURCES, "published"),
    ],
)
def test_only_before_the_place_is_no_part_of_the_new_name(request_text, target, new_key) -> None:
    reading = read(sample_agent(), request_text)
    first = reading.options[0].reading if isinstance(reading, Clarification) else reading
    assert first.last.arguments == {"key": "year", "new_key": new_key}
    assert first.last.target == target


async def test_a_name_that_contains_a_preposition_is_whole(talk) -> None:
    await fill(talk, **{"WIP How to work with it all": "Text."})
    replies = await order(talk, "rename WIP How to work with it all to How to work with it all")
    assert replies.changes[-1].arguments["new_name"] == "How to work with it all"


async def test_a_capital_letter_means_the_note_of_this_name(talk) -> None:
    await fill(talk, Tags="About tags.\n")
    replies = await say(talk, "open tags")
    assert replies.last.last.action == "list_tags"
    replies = await say(talk, "open Tags")
    assert replies.focus == ("Tags.md",)


TOLD_RENAMES = [
    ("the folder Sources should just be called Books", "rename_folder folder=Sources new_name=Books"),
    ("the property year should be called published", "rename_property key=year new_key=published"),
    ("call the property year just published, in all notes", "rename_property key=year new_key=published"),
    (
        "in H4 the property year should be called made like in my other notes",
        "rename_property [@Instruments/H4] key=year new_key=made",
    ),
    ("the tag person needs to be renamed to people", "rename_tag tag=person new_tag=people"),
    ("call the tag person human", "rename_tag tag=person new_tag=human"),
    (
        "the heading Trial of H4 should be Sea log",
        'rename_heading [@Instruments/H4] heading=Trial new_heading="Sea log"',
    ),
    ("der Ordner Sources soll Bücher heißen", "rename_folder folder=Sources new_name=Bücher"),
    ("nenn die Eigenschaft year überall Jahr", "rename_property key=year new_key=Jahr"),
    (
        "die Eigenschaft year in H4 soll Jahr heißen",
        "rename_property [@Instruments/H4] key=year new_key=Jahr",
    ),
]


@pytest.mark.parametrize(("request_text", "notation"), TOLD_RENAMES)
def test_a_name_that_something_should_have_is_a_rename(request_text: str, notation: str) -> None:
    found = read(sample_agent(), request_text)
    reading = found.options[0].reading if isinstance(found, Clarification) else found
    assert isinstance(reading, Reading)
    assert serialize(reading) == notation


@pytest.mark.parametrize(
    "request_text",
    [
        "call the property year published from now and for ever",
        "the year of H4 should be 1759",
        "the tag of H4 should be brass",
        "the property year should stay",
    ],
)
def test_other_words_for_what_should_be_rename_nothing_at_once(request_text: str) -> None:
    found = read(sample_agent(), request_text)
    actions = {own.action for own in found.steps} if isinstance(found, Reading) else set()
    assert not {action for action in actions if action.startswith("rename")}


@pytest.mark.parametrize(
    "request_text",
    [
        "In all the board games rename the property last to played",
        "rename the property last to played in all board games",
        "in my board games the property last should be called played",
        "In allen board games benenne die Eigenschaft last in played um",
    ],
)
async def test_a_property_is_renamed_in_a_category_of_two_words(talk, request_text) -> None:
    game = "---\ncategories: ['[[Board games]]']\nlast: 2026-03-01\n---\n"
    await fill(talk, Library__Azul=game, Library__Hanabi=game, Library__Alien="---\nlast: 2026-03-02\n---\n")
    await order(talk, request_text)
    assert "played: 2026-03-01" in text(talk, "Library/Azul.md")
    assert "played: 2026-03-01" in text(talk, "Library/Hanabi.md")
    assert text(talk, "Library/Alien.md") == "---\nlast: 2026-03-02\n---\n"


async def test_a_property_of_a_named_note_is_renamed_there(talk) -> None:
    clip = "---\nsource: https://example.org\n---\n"
    await fill(talk, Clips__Buy_wisely=clip, Clips__Other=clip)
    await order(talk, "in Buy wisely rename the property source to url")
    assert text(talk, "Clips/Buy wisely.md") == clip.replace("source", "url")
    assert text(talk, "Clips/Other.md") == clip

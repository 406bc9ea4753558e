"""A slash in a new name separates an existing folder from the name, or is a part of the name."""

from __future__ import annotations

from app.vault.path import NotePath
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.doubts.test_stated_values import fill_books
from tests.agent.language.meaning.test_dialog import fill, say, talk

__all__ = ["talk"]


async def test_a_new_name_may_have_an_existing_folder(talk) -> None:
    await fill_books(talk)
    await say(talk, "rename James Joyce to Books/Joyce")
    assert NotePath("Books/Joyce.md") in talk.workspace.index.note_paths()


async def test_a_note_is_not_moved_into_a_second_folder_of_the_same_name(talk) -> None:
    await fill_books(talk)
    await say(talk, "rename H4 to books/Watch")
    assert NotePath("Books/Watch.md") in talk.workspace.index.note_paths()


async def test_a_path_in_the_notes_own_folder_is_a_new_name(talk) -> None:
    await fill_books(talk)
    await say(talk, "rename Orlando to books/Orlando 2")
    assert NotePath("Books/Orlando 2.md") in talk.workspace.index.note_paths()


async def test_a_new_folder_is_made_in_the_named_one(talk) -> None:
    await fill_books(talk)
    await fill(talk, People__Ann="")
    await say(talk, "rename Ann to books/New/Anna")
    assert NotePath("Books/New/Anna.md") in talk.workspace.index.note_paths()


async def test_the_answer_to_a_question_may_have_a_slash(talk) -> None:
    await fill_books(talk)
    await say(talk, "create a note", "Oil/wax mix")
    assert choices(talk)[0] == 'create_note name="Oil-wax mix"'


async def test_the_parent_of_a_new_folder_is_spelled_as_on_disk(talk) -> None:
    await fill_books(talk)
    await say(talk, "move James Joyce to BOOKS/authors")
    assert NotePath("Books/authors/James Joyce.md") in talk.workspace.index.note_paths()

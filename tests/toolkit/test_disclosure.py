"""An outcome names no hidden note except those that the caller named, and keeps all text of notes."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.toolkit.disclosure import HIDDEN_PLACEHOLDER, filter_outcome
from app.toolkit.hidden_paths import HiddenPaths
from app.toolkit.outcome import ToolOutcome
from app.vault.path import NotePath

NAMES = ["Diary.md", "Plans/Größe & more.md", 'Q "x".md', "a/b/Café.md", "a/b/c/d.md"]
HIDDEN = HiddenPaths(map(NotePath, NAMES))


@dataclass
class Sees:
    """The visibility of a call."""

    hidden: HiddenPaths = HIDDEN

    def hidden_paths(self) -> HiddenPaths:
        return self.hidden


def filtered(outcome: ToolOutcome, **given: object) -> ToolOutcome:
    return filter_outcome(outcome, Sees(), given)


FORMS = [str, str.upper, str.lower, lambda name: unicodedata.normalize("NFD", name)]


@pytest.mark.parametrize("form", range(len(FORMS)))
@pytest.mark.parametrize("name", NAMES)
def test_a_hidden_name_is_never_revealed(name, form):
    spelled = FORMS[form](name)
    error = {"type": "conflict", "message": f"{spelled} is in the way.", "candidates": [spelled, "Tea.md"]}
    failed = filtered(ToolOutcome(False, message=f"See {spelled}.", error=error))
    assert failed.error == {
        "type": "conflict",
        "message": failed.error["message"],
        "candidates": ["Tea.md"],
    }
    result = {
        "paths": ["Tea.md", spelled],
        "left_out": [f"{spelled}: it can't be read"],
        "hits": [{"path": spelled, "text": "x"}, {"path": "Tea.md", "text": "y"}],
        "output": f"?? {spelled}\n?? Tea.md",
    }
    done = filtered(ToolOutcome(True, result, f"Moved {spelled}."))
    assert done.result["paths"] == ["Tea.md"] and done.result["hits"] == [{"path": "Tea.md", "text": "y"}]
    for one in (failed, done):
        assert not HIDDEN.in_text(json.dumps(one.as_dict(), ensure_ascii=False))
        assert HIDDEN_PLACEHOLDER in one.message


def test_a_name_of_emoji_is_found_in_json_that_escapes_it():
    name = f"{'🌱' * 20}.md"
    hidden = HiddenPaths([NotePath(name)])
    text = json.dumps({"output": f"removed: {name}"})
    assert hidden.in_text(text) == set(hidden.keys)


def test_names_given_by_the_caller_and_text_of_notes_stay():
    outcome = ToolOutcome(
        False, message="There is no file Diary.md.", error={"message": "Diary.md", "path": "Diary.md"}
    )
    assert filtered(outcome, name="Diary.md") == outcome == filtered(outcome, name="[[diary]]")
    text = ToolOutcome(True, {"text": "see Diary.md", "unresolved_links": ["Diary.md"]}, "Read Tea.")
    assert filtered(text) == text
    other = ToolOutcome(True, {"paths": ["Other/Diary.md"]}, "Moved Other/Diary.md.")
    assert filtered(other) == other


@given(st.lists(st.text(max_size=8), min_size=1, max_size=5), st.text(max_size=60))
def test_the_search_finds_the_paths_that_are_there(names, text):
    paths = [NotePath(f"{name}.md") for name in names]
    hidden = HiddenPaths(paths)
    for spelled in (
        f"{text} {paths[0]}",
        f"{text}: {paths[0]} is there",
        json.dumps([str(paths[0])], ensure_ascii=False),
    ):
        assert paths[0].key in hidden.in_text(spelled)
    assert all(key in NotePath(text).key for key in hidden.in_text(text))


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_every_outcome_can_be_sent(text):
    outcome = ToolOutcome(True, {text: [text, {text: text}], "path": text}, text, words=text)
    json.dumps(filtered(outcome).as_dict(), ensure_ascii=False).encode()

"""Completions while a query is typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.index.completion import complete
from app.index.query import parse
from app.index.query_completion import completion_target_at, insertion
from tests.index.conftest import IndexedVault, MakeVault


@pytest.mark.parametrize(
    ("typed", "kind", "word", "replaced"),
    [
        ("ta", "operator", "ta", "ta"),
        ("word lin", "operator", "lin", "lin"),
        ("-tas", "operator", "tas", "tas"),
        ("tag:", "tag", "", ""),
        ("tag:pro", "tag", "pro", "pro"),
        ("a -tag:#pro", "tag", "pro", "#pro"),
        ("tag:(one OR tw", "tag", "tw", "tw"),
        ("tag: in", "tag", "in", "in"),
        ("#pro", "tag", "#pro", "#pro"),
        ("[", "property", "", "["),
        ("x [sta", "property", "sta", "[sta"),
        ("[status:", "value", "", "[status:"),
        ('[status:"in pr', "value", "in pr", '[status:"in pr'),
        ('links-to:"My no', "note", "My no", '"My no'),
        ("linked-from:a", "note", "a", "a"),
        ("file:ga", "file", "ga", "ga"),
        ("path:pro", "folder", "pro", "pro"),
        ("match-case:path:pro", "folder", "pro", "pro"),
        ("type:hy", "type", "hy", "hy"),
        ("rel:sup", "relation", "sup", "sup"),
        ("[status:done] ty", "operator", "ty", "ty"),
        ("(tag:a) pa", "operator", "pa", "pa"),
    ],
)
def test_the_completed_part_of_a_query_is_recognized(typed: str, kind: str, word: str, replaced: str) -> None:
    wanted = completion_target_at(typed, len(typed))
    assert wanted is not None
    assert (wanted.kind, wanted.word) == (kind, word)
    assert typed[wanted.start : wanted.end] == replaced


@pytest.mark.parametrize(
    "typed", ["", "a", "word ", '"tag:', "/tag:a", "content:ta", "line:(ta", "10:30", "[a:b OR c", "知识"]
)
def test_nothing_is_completed_elsewhere(typed: str) -> None:
    assert completion_target_at(typed, len(typed)) is None


@given(st.text(alphabet='ab -"()[]/\\:<>=OR*#tagfilepth', max_size=30), st.integers(0, 30))
def test_any_cursor_position_in_any_text_is_handled(text: str, cursor: int) -> None:
    wanted = completion_target_at(text, cursor)
    assert wanted is None or 0 <= wanted.start <= wanted.end <= len(text)


@given(
    st.sampled_from(["tag:", "links-to:", "path:", "[status:", "["]),
    st.text(alphabet='ab "()[]/\\:-*#<OR', min_size=1, max_size=12).filter(str.strip),
)
def test_inserted_completions_can_be_parsed(typed: str, name: str) -> None:
    wanted = completion_target_at(typed, len(typed))
    assert wanted is not None
    text = insertion(wanted, name)
    assert parse(typed[: wanted.start] + text) is not None


@pytest.fixture
async def vault(make_vault: MakeVault) -> IndexedVault:
    return await make_vault(
        {
            "projects/Garden plan.md": "---\nstatus: in progress\ntags: [garden/plan]\n---\n"
            "- supports [[Rake]]",
            "projects/old/Shed.md": "---\nstatus: done\ndone: true\nscore: 3\n"
            "LÖST: '[[Rake]]'\n---\n#garden #tools",
            "Rake.md": "---\ntype: hypothesis\nstatus: [done, late]\n---\n",
        }
    )


@pytest.mark.parametrize(
    ("typed", "texts"),
    [
        ("ta", ["tag:", "task:", "task-todo:", "task-done:"]),
        ("tag:gar", ["garden", "garden/plan"]),
        ("#too", ["tag:tools"]),
        ("path:pro", ["projects/", "projects/old/"]),
        ("links-to:gar", ['"Garden plan"']),
        ("file:rak", ["Rake"]),
        ("type:h", ["hypothesis"]),
        ("rel:sup", ["supports"]),
        ("rel:lös", ["löst"]),
        ("[sta", ["[status]"]),
        ("[status:", ["[status:done]", '[status:"in progress"]', "[status:late]"]),
        ("[done:t", ["[done:true]"]),
        ("[score:", ["[score:3]"]),
    ],
)
async def test_names_are_completed_in_their_own_spelling(
    vault: IndexedVault, typed: str, texts: list[str]
) -> None:
    found = await vault.index.searcher.suggest(typed, len(typed))
    assert found is not None
    assert [one.text for one in found[1]] == texts
    for text in texts:
        assert parse(typed[: found[0].start] + text + (" a" if text.endswith(":") else "")) is not None


async def test_counts_are_shown(vault: IndexedVault) -> None:
    found = await vault.index.searcher.suggest("tag:gar", 7)
    assert found is not None
    assert [(one.shown, one.count) for one in found[1]] == [("garden", 2), ("garden/plan", 1)]


async def test_a_complete_name_is_not_suggested(vault: IndexedVault) -> None:
    assert await vault.index.searcher.suggest("tag:tools", 9) is None


def test_a_word_is_found_after_letters_that_folding_makes_longer() -> None:
    assert complete(["ßßßß tea", "steam"], "tea", 5) == ("ßßßß tea", "steam")

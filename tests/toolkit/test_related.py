"""Related notes: every reason counts and is reported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.embeddings.vector_table import VectorHit
from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.toolkit.related import RelatednessReason, _combine_reasons, find_related_notes
from app.vault.path import NotePath

NOTES = {
    "Bread.md": "---\ntags: [food, sourdough]\n---\nSee [[Flour]].",
    "Flour.md": "---\ntags: [food]\n---\nOf wheat.",
    "Starter.md": "---\ntags: [food, sourdough]\n---\nFeeds [[Bread]].",
    "Cake.md": "---\ntags: [food]\n---\nSweet.",
    "Taxes.md": "In July. ![[Bread.png]]",
    "Bread.png": "",
}
LIKE_BREAD = {"Cake.md": 0.8, "Flour.md": 0.5}
BREAD = NotePath.parse("Bread.md")


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[VaultIndex]:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name, text in NOTES.items():
        (vault / name).write_text(text, "utf-8")
    vault_index = VaultIndex(vault, tmp_path / "cache", IndexSettings(), EventBus())
    await vault_index.open()
    await vault_index.scan(lambda progress: None, lambda: False)
    yield vault_index
    await vault_index.close()


def like(path: NotePath, limit: int, least: float) -> tuple[VectorHit, ...]:
    return tuple(VectorHit(NotePath.parse(name), "", 1, score) for name, score in LIKE_BREAD.items())


async def test_each_note_comes_with_all_its_reasons(index: VaultIndex) -> None:
    matches = {
        one.path.name: one for one in find_related_notes(index, like, BREAD, ("food", "sourdough"), 10)
    }
    assert set(matches) == {"Flour", "Starter", "Cake"}
    why = [(reason.kind, reason.tag) for reason in matches["Starter"].reasons]
    assert why == [("BACKLINK_FROM", ""), ("SHARED_TAG", "sourdough"), ("SHARED_TAG", "food")]
    assert matches["Cake"].reasons[0] == RelatednessReason("SEMANTICALLY_RELATED", 0.8)
    assert {reason.kind for reason in matches["Flour"].reasons} == {
        "FORWARDLINK_TO",
        "SHARED_TAG",
        "SEMANTICALLY_RELATED",
    }


async def test_without_vectors_links_and_tags_are_left(index: VaultIndex) -> None:
    found = find_related_notes(index, None, BREAD, ("food", "sourdough"), 10)
    assert [one.path.name for one in found] == ["Starter", "Flour", "Cake"]
    assert len(find_related_notes(index, None, BREAD, ("food",), 1)) == 1


reasons = st.builds(
    RelatednessReason,
    st.sampled_from(["FORWARDLINK_TO", "BACKLINK_FROM", "SHARED_TAG", "SEMANTICALLY_RELATED"]),
    st.floats(0, 1),
)


@given(st.lists(reasons, min_size=1, max_size=6), reasons)
def test_another_reason_never_makes_it_less_related(
    some: list[RelatednessReason], more: RelatednessReason
) -> None:
    before, after = _combine_reasons(BREAD, tuple(some)), _combine_reasons(BREAD, (*some, more))
    assert 0 <= before.score <= after.score <= 1
    assert len(after.reasons) == len(some) + 1

"""After a rename, every link still leads to its note in its original style, and nothing else changes."""

from __future__ import annotations

import posixpath

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.index.records import LinkRecord
from app.index.renames import plan_renames
from app.index.resolver import Resolver
from app.vault.markdown.scan import scan
from app.vault.note import Link, LinkStyle
from app.vault.path import NotePath
from tests.index.conftest import IndexedVault, MakeVault


async def new_targets(vault: IndexedVault, moves: dict[str, str]) -> dict[str, list[str | None]]:
    """Return the new target of each link of each note to rewrite."""
    plan = await vault.index.moves_to_rewrite({NotePath(old): NotePath(new) for old, new in moves.items()})
    found: dict[str, list[str | None]] = {}
    for path, rewrite in plan.rewrites.items():
        text = (vault.root / path.text).read_text()
        found[path.text] = [rewrite(link) for link in scan(text).links]
    return found


async def test_each_style_is_kept(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "dir/Old.md": "x",
            "dir/b.md": "[[Old#H|alias]] [[Old.md]] [[./Old]] [t](Old.md#h) [t](./Old.md)",
            "other/c.md": "[[dir/Old]] [[../dir/Old]] [t](../dir/Old.md)\n"
            "[t](dir/Old.md) [t](/dir/Old.md) [[x]]",
        }
    )
    assert await new_targets(vault, {"dir/Old.md": "dir/New name.md"}) == {
        "dir/b.md": ["New name", "New name.md", "./New name", "New name.md", "./New name.md"],
        "other/c.md": [
            "dir/New name",
            "../dir/New name",
            "../dir/New name.md",
            "dir/New name.md",
            "/dir/New name.md",
            None,
        ],
    }


async def test_a_move_leaves_short_links_that_still_lead_there(make_vault: MakeVault) -> None:
    vault = await make_vault({"N.md": "x", "a.md": "[[N]] [t](N.md) [[N|x]]", "d/b.md": "[[../N]]"})
    assert await new_targets(vault, {"N.md": "archive/N.md"}) == {"d/b.md": ["../archive/N"]}


async def test_a_move_among_notes_of_the_same_name_gets_a_folder(make_vault: MakeVault) -> None:
    vault = await make_vault({"N.md": "x", "b/N.md": "y", "s.md": "[[N]] and [[b/N]]"})
    assert await new_targets(vault, {"N.md": "c/N.md"}) == {"s.md": ["c/N", None]}


async def test_links_in_the_moved_note_still_lead_where_they_did(make_vault: MakeVault) -> None:
    vault = await make_vault(
        {
            "a/N.md": "[[sibling]] [[./sibling]] [t](sibling.md) [[Far]] [[#H]] [[N]]",
            "a/sibling.md": "1",
            "b/sibling.md": "2",
            "Far.md": "3",
        }
    )
    assert await new_targets(vault, {"a/N.md": "b/N.md"}) == {
        "a/N.md": ["a/sibling", "../a/sibling", "../a/sibling.md", None, None, None]
    }


async def test_a_folder_moves_as_one(make_vault: MakeVault) -> None:
    files = {"a/N.md": "[[M]] [t](M.md) [[./M]]", "a/M.md": "[[a/N]]", "s.md": "[[a/N]] [[M]]"}
    vault = await make_vault(files)
    assert await new_targets(vault, {"a/N.md": "z/N.md", "a/M.md": "z/M.md"}) == {
        "a/M.md": ["z/N"],
        "s.md": ["z/N", None],
    }


async def test_ambiguous_links_are_listed_and_not_touched(make_vault: MakeVault) -> None:
    vault = await make_vault({"a/N.md": "1", "bb/N.md": "2", "s.md": "[[N]] [[a/N]]"})
    plan = await vault.index.moves_to_rewrite({NotePath("a/N.md"): NotePath("a/M.md")})
    assert [(link.source.text, link.target_text) for link in plan.ambiguous] == [("s.md", "N")]
    (rewrite,) = plan.rewrites.values()
    assert [rewrite(link) for link in scan("[[N]] [[a/N]]").links] == [None, "a/M"]


async def test_links_that_a_new_name_would_capture_are_listed(make_vault: MakeVault) -> None:
    vault = await make_vault({"Old.md": "1", "sub/Home.md": "2", "s.md": "[[Home]] [[Later]]"})
    plan = await vault.index.moves_to_rewrite({NotePath("Old.md"): NotePath("Home.md")})
    assert [(link.source.text, link.target_text) for link in plan.captured] == [("s.md", "Home")]
    assert plan.rewrites == {}


async def test_an_attachment_keeps_its_suffix(make_vault: MakeVault) -> None:
    vault = await make_vault({"p.png": b"x", "a.md": "![[p.png|100]] ![t](p.png)"})
    assert await new_targets(vault, {"p.png": "img/q.jpg"}) == {"a.md": ["q.jpg", "img/q.jpg"]}


FOLDERS = ("", "a/", "b/", "a/c/")
PLACES = st.builds("{}{}.md".format, st.sampled_from(FOLDERS), st.sampled_from(["n", "m", "k", "N"]))


def link_of(text: str, style: LinkStyle) -> Link:
    written = f"[[{text}]]" if style is LinkStyle.WIKI else f"[t]({text})"
    return scan(written).links[0]


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(
    st.lists(PLACES, unique_by=str.lower, min_size=2, max_size=8),
    st.integers(0, 7),
    PLACES,
    st.integers(0, 7),
    st.data(),
)
def test_after_a_rename_each_link_leads_to_its_note(
    paths: list[str], moved: int, new: str, source: int, data: st.DataObject
) -> None:
    old = NotePath(paths[moved % len(paths)])
    if NotePath(new).key in {path.lower() for path in paths}:
        return
    names = Resolver()
    for number, path in enumerate(paths):
        names.add(NotePath(path), number)
    origin = NotePath(paths[source % len(paths)])
    target = NotePath(data.draw(st.sampled_from(paths)))
    style = data.draw(st.sampled_from(LinkStyle))
    relative = posixpath.relpath(target.text, origin.folder or ".")
    spellings = [target.name, target.stem_path, target.text, f"/{target.text}", relative]
    text = data.draw(st.sampled_from(spellings))
    entry, ambiguous = names.pick(text, origin)
    record = LinkRecord(
        origin, entry.path if entry else None, text, "LINKS_TO", None, None, False, ambiguous, 1, ""
    )
    moves = {old: NotePath(new)}
    plan = plan_renames(names, moves, [record])
    rewrite = plan.rewrites.get(origin)
    said = (rewrite(link_of(text, style)) if rewrite else None) or text
    names.remove(old)
    names.add(NotePath(new), 99)
    after, unsure = names.pick(said, moves.get(origin, origin))
    if entry is None:
        assert said == text
    elif record in plan.ambiguous or record in plan.captured:
        assert said == text
        assert ambiguous or entry.path != old
    else:
        assert after is not None
        assert after.path == moves.get(entry.path, entry.path)
        assert ambiguous or not unsure or (old not in (entry.path, origin))

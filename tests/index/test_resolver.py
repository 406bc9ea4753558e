"""Resolution of links by the rules of the vault format."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import AmbiguousError, NotFoundError
from app.index.names import link_key, target_key
from app.index.resolver import Resolver
from app.vault.path import NotePath
from tests.index.conftest import tables


def resolver(*paths: str, aliases: bool = False) -> Resolver:
    found = Resolver(aliases)
    for number, path in enumerate(paths):
        found.add(NotePath(path), number)
    return found


def meant(names: Resolver, target: str, source: str | None = None) -> str | None:
    path = names.resolve(target, NotePath(source) if source else None).path
    return path.text if path else None


def test_an_exact_path_comes_first_so_a_root_note_beats_a_sibling() -> None:
    names = resolver("N.md", "dir/N.md", "dir/source.md")
    assert meant(names, "N", "dir/source.md") == "N.md"
    assert not names.resolve("N", NotePath("dir/source.md")).ambiguous


def test_next_comes_the_folder_of_the_source() -> None:
    names = resolver("a/N.md", "dir/N.md", "b/N.md")
    assert meant(names, "N", "dir/source.md") == "dir/N.md"
    assert not names.resolve("N", NotePath("dir/source.md")).ambiguous


def test_next_comes_the_shortest_path_flagged_ambiguous_with_ties_by_name() -> None:
    names = resolver("long/er/N.md", "bb/N.md", "aa/N.md")
    resolution = names.resolve("N", NotePath("x/source.md"))
    assert resolution.path == NotePath("aa/N.md")
    assert resolution.ambiguous
    assert [path.text for path in resolution.candidates] == ["aa/N.md", "bb/N.md", "long/er/N.md"]


def test_a_folder_matches_whole_parts_from_the_right() -> None:
    names = resolver("work/projects-old/N.md", "work/my-projects/N.md", "work/projects/N.md")
    assert meant(names, "projects/N", "source.md") == "work/projects/N.md"
    assert meant(names, "old/N", "source.md") is None
    assert meant(names, "work/N", "source.md") is None


def test_a_folder_qualified_name_is_looked_for_in_the_sources_folder_too() -> None:
    names = resolver("a/sub/N.md", "b/sub/N.md")
    assert meant(names, "sub/N", "b/source.md") == "b/sub/N.md"
    assert names.resolve("sub/N", NotePath("c/source.md")).ambiguous


@pytest.mark.parametrize("target", ["note", "NOTE", "Note.md", "note.MD", " Note ", "/Note", "./Note"])
def test_case_suffix_and_surrounding_spaces_do_not_matter(target: str) -> None:
    assert meant(resolver("Note.md"), target, "source.md") == "Note.md"


def test_names_compare_in_nfc() -> None:
    decomposed = unicodedata.normalize("NFD", "Café.md")
    names = resolver(decomposed)
    assert meant(names, "café", "source.md") == decomposed
    assert meant(names, unicodedata.normalize("NFD", "CAFÉ"), "source.md") == decomposed


def test_relative_targets_start_at_the_source() -> None:
    names = resolver("a/N.md", "b/N.md", "N.md")
    assert meant(names, "./N", "a/source.md") == "a/N.md"
    assert meant(names, "../b/N", "a/source.md") == "b/N.md"
    assert meant(names, "../N.md", "a/source.md") == "N.md"
    assert meant(names, "../../N", "a/source.md") is None
    assert meant(names, "/b/N", "a/source.md") == "b/N.md"


def test_an_empty_target_is_the_source_itself() -> None:
    names = resolver("a/N.md")
    assert meant(names, "", "a/N.md") == "a/N.md"
    assert meant(names, "") is None


def test_urls_and_unknown_names_are_unresolved() -> None:
    names = resolver("z.md", "x.y/z.md")
    assert meant(names, "https://x.y/z", "source.md") is None
    assert meant(names, "nothing", "source.md") is None


def test_attachments_are_found_by_their_full_name_and_notes_first() -> None:
    names = resolver("img/a.png", "img.md", "deep/b.png.md", "x/b.png")
    assert meant(names, "a.png", "s.md") == "img/a.png"
    assert meant(names, "a", "s.md") is None
    assert meant(names, "b.png", "x/s.md") == "x/b.png"


def test_a_name_that_ends_like_a_suffix() -> None:
    names = resolver("foo.md.md", "dir/foo.md")
    assert meant(names, "foo.md", "s.md") == "dir/foo.md"
    assert meant(names, "foo.md.md", "s.md") == "foo.md.md"
    assert meant(resolver("foo.md.md"), "foo.md", "s.md") == "foo.md.md"


def test_both_suffixes_of_notes_at_one_place() -> None:
    names = resolver("N.markdown", "N.md")
    assert meant(names, "N.markdown", "s.md") == "N.markdown"
    assert meant(names, "N.md", "s.md") == "N.md"
    assert meant(names, "N", "s.md") == "N.md"
    assert names.resolve("N", NotePath("s.md")).ambiguous


def test_notes_that_differ_only_by_case() -> None:
    names = resolver("Note.md", "note.md")
    assert meant(names, "Note", "s.md") == "Note.md"
    assert meant(names, "note", "s.md") == "note.md"
    assert names.resolve("NOTE", NotePath("s.md")).ambiguous


def test_ten_thousand_notes_of_one_name() -> None:
    names = Resolver()
    names.load_rows((f"folder {n:05}/N.md", n, "[]", None) for n in range(10_000))
    assert names.pick("N", NotePath("folder 09999/s.md"))[0].path.text == "folder 09999/N.md"
    assert names.resolve("N", None).ambiguous
    names.remove(NotePath("folder 00000/N.md"))
    names.add(NotePath("N.md"), 10_001)
    assert meant(names, "N", "elsewhere/s.md") == "N.md"
    assert len(names) == names.notes == 10_000


def test_aliases_are_targets_only_when_the_settings_say_so() -> None:
    for on in (False, True):
        names = Resolver(on)
        names.add(NotePath("N.md"), 1, aliases=("Other name",))
        assert meant(names, "other NAME", "s.md") == ("N.md" if on else None)
        names.add(NotePath("Other name.md"), 2)
        assert meant(names, "Other name", "s.md") == "Other name.md"


# Tools


def test_a_write_needs_one_candidate_and_lists_them_else() -> None:
    names = resolver("N.md", "dir/N.md", "dir/Other.md")
    with pytest.raises(AmbiguousError) as caught:
        names.resolve_strictly("N")
    assert caught.value.data["candidates"] == ["N.md", "dir/N.md"]
    for candidate in ("N.md", "dir/N.md"):
        assert names.resolve_strictly(candidate).text == candidate
    assert names.resolve_strictly("dir/N").text == "dir/N.md"
    assert names.resolve_strictly("/N").text == "N.md"
    assert names.resolve_strictly("[[other#Heading|shown]]").text == "dir/Other.md"


def test_a_whole_path_is_enough_when_it_is_also_the_tail_of_another() -> None:
    names = resolver("dir/N.md", "x/dir/N.md")
    assert names.resolve_strictly("dir/N").text == "dir/N.md"


def test_a_write_never_means_an_attachment_or_an_alias() -> None:
    names = resolver("a.png")
    names.add(NotePath("N.md"), 7, aliases=("Nick",))
    for name in ("a.png", "Nick"):
        with pytest.raises(NotFoundError):
            names.resolve_strictly(name)
    assert names.resolve_for_reading("nick").text == "N.md"


def test_the_id_property_names_a_note_but_never_another_ones_name() -> None:
    names = resolver("Plain.md")
    names.add(NotePath("x/N.md"), 5, note_id="abc/1")
    names.add(NotePath("Thief.md"), 6, note_id="Plain")
    assert names.resolve_strictly("abc/1").text == "x/N.md"
    with pytest.raises(AmbiguousError):
        names.resolve_strictly("Plain")
    assert names.resolve_strictly("Plain.md").text == "Plain.md"


def test_reading_takes_the_root_note_and_then_aliases() -> None:
    names = resolver("N.md", "dir/N.md", "a/M.md", "b/M.md")
    assert names.resolve_for_reading("N").text == "N.md"
    with pytest.raises(AmbiguousError):
        names.resolve_for_reading("M")
    names.add(NotePath("P.md"), 8, aliases=("same",))
    names.add(NotePath("Q.md"), 9, aliases=("Same",))
    with pytest.raises(AmbiguousError):
        names.resolve_for_reading("SAME")


def test_near_misses_are_suggested() -> None:
    names = resolver("Photosynthesis.md", "Phone.md", "dir/Unrelated.md")
    names.add(NotePath("Plants.md"), 9, aliases=("Photosintesis",))
    with pytest.raises(NotFoundError) as caught:
        names.resolve_strictly("Photosynthesys")
    assert caught.value.data["suggestions"][:2] == ["Photosynthesis.md", "Plants.md"]
    assert names.suggest("zzzzzz") == ()


# Invariants

FOLDERS = st.sampled_from(["", "a/", "b/", "a/b/", "b/a/", "Ä/"])
NAMES = st.sampled_from(["n", "N", "m", "é", "x.md", "a"])
PATHS = st.builds("{}{}{}".format, FOLDERS, NAMES, st.sampled_from([".md", ".markdown", ".png"]))
TARGETS = st.one_of(
    PATHS, st.builds("{}{}{}".format, st.sampled_from(["", "/", "./", "../"]), FOLDERS, NAMES), NAMES
)


@given(st.lists(PATHS, unique=True, max_size=12), st.lists(st.integers(0, 11)), TARGETS, PATHS)
def test_adding_and_removing_is_as_loading(
    paths: list[str], removed: list[int], target: str, source: str
) -> None:
    changed = Resolver()
    for number, path in enumerate(paths):
        changed.add(NotePath(path), number)
    for index in removed:
        if index < len(paths):
            changed.remove(NotePath(paths[index]))
    loaded = Resolver()
    loaded.load_rows(changed.rows())
    assert changed.resolve(target, NotePath(source)) == loaded.resolve(target, NotePath(source))
    assert changed.notes == loaded.notes
    assert tables(changed) == tables(loaded)


@given(st.lists(PATHS, unique=True, max_size=12), PATHS, TARGETS, PATHS)
def test_only_links_with_its_link_key_notice_a_new_file(
    paths: list[str], new: str, target: str, source: str
) -> None:
    names = resolver(*(path for path in paths if path != new))
    before = names.resolve(target, NotePath(source))
    names.add(NotePath(new), 99)
    entry = names.entry(NotePath(new))
    if names.resolve(target, NotePath(source)) != before and target_key(target):
        assert link_key(target_key(target)) in names.link_keys(entry)


@given(st.lists(PATHS, unique=True, min_size=1, max_size=12), PATHS)
def test_the_shortest_text_means_the_note_and_no_tail_of_it_does(paths: list[str], source: str) -> None:
    names = resolver(*paths)
    for path in map(NotePath, paths):
        text = names.shortest(path, NotePath(source))
        resolution = names.resolve(text, NotePath(source))
        assert resolution.path == path
        assert not resolution.ambiguous


@given(st.lists(PATHS, unique=True, min_size=1, max_size=8), PATHS, TARGETS)
def test_a_preview_leaves_no_trace(paths: list[str], new: str, target: str) -> None:
    names = resolver(*paths)
    before = tables(names)
    known = names.entries()
    with names.preview({NotePath(paths[0]): NotePath(new)}):
        assert NotePath(new) in names
    assert sorted(names.entries(), key=str) == sorted(known, key=str)
    loaded = Resolver()
    loaded.load_rows(names.rows())
    assert tables(names) == tables(loaded) == before


def test_cached_resolutions_are_dropped_with_each_change() -> None:
    names = resolver("a/Tea.md")
    assert names.resolve_for_reading("Tea").text == names.resolve_for_reading("Tea").text == "a/Tea.md"
    names.add(NotePath("Tea.md"), 7)
    assert names.resolve_for_reading("Tea").text == "Tea.md"
    with names.preview({NotePath("Tea.md"): NotePath("Coffee.md")}):
        assert names.resolve_for_reading("Tea").text == "a/Tea.md"
    assert names.resolve_for_reading("Tea").text == "Tea.md"
    names.remove(NotePath("Tea.md"))
    assert names.resolve_for_reading("Tea").text == "a/Tea.md"
    names.load_rows([])
    with pytest.raises(NotFoundError):
        names.resolve_for_reading("Tea")

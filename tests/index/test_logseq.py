"""Logseq vaults: links find pages by the names that file names and page properties give them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from app.errors import AmbiguousError, NotFoundError
from app.index.logseq import PageNames, page_names, stated_names
from app.vault.path import NotePath
from tests.index.conftest import MakeVault
from tests.index.test_renames import new_targets

CONFIG = "logseq/config.edn"
TRIPLE_LOWBAR = "{:meta/version 1\n :file/name-format :triple-lowbar}\n"


def a_graph(**pages: str) -> dict[str, str]:
    return {CONFIG: TRIPLE_LOWBAR, **{f"pages/{name}.md": text for name, text in pages.items()}}


@pytest.mark.parametrize(
    ("name", "page", "legacy_page"),
    [
        ("Board___Tool___Saw", "Board/Tool/Saw", "Board/Tool/Saw"),
        ("Board%2FTool", "Board/Tool", "Board/Tool"),
        ("What%3F", "What?", "What?"),
        ("100% sure %zz", "100% sure %zz", "100% sure %zz"),
        ("caf%C3%A9 %FF", "café %FF", "café %FF"),
        ("config.edn", "config.edn", "config/edn"),
        ("CON___", "CON", "CON"),
        ("More ____Cont", "More /_Cont", "More /_Cont"),
        ("a__b", "a__b", "a__b"),
        ("___", "___", "___"),
    ],
)
def test_a_file_name_stores_the_name_of_a_page(name: str, page: str, legacy_page: str) -> None:
    assert PageNames().decode(name) == page
    assert PageNames(is_legacy=True).decode(name) == legacy_page


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (TRIPLE_LOWBAR, PageNames()),
        ("{:file/name-format :legacy}", PageNames(is_legacy=True)),
        ("{;; :file/name-format :triple-lowbar\n}", PageNames(is_legacy=True)),
    ],
)
def test_the_configuration_states_how_files_are_named(tmp_path: Path, config: str, names: PageNames) -> None:
    (tmp_path / "logseq").mkdir()
    assert page_names(tmp_path) is None
    (tmp_path / CONFIG).write_text(config)
    assert page_names(tmp_path) == names


def test_a_copy_without_configuration_has_both_folders(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    assert page_names(tmp_path) is None
    (tmp_path / "journals").mkdir()
    assert page_names(tmp_path) == PageNames()


@pytest.mark.parametrize(
    ("text", "title", "aliases"),
    [
        ("alias:: Saws, Hand saw\ntype:: [[Tool]]\n\n- x", None, ("Saws", "Hand saw")),
        ("- title:: A/B\n  alias:: [[Ann, B]], C, #D\n- alias:: no", "A/B", ("Ann, B", "C", "D")),
        ("\r\nTitle:: A\r\nAlias:: b\r\n", "A", ("b",)),
        ("Text\nalias:: no", None, ()),
        ("type:: x\n\nalias:: no", None, ()),
        ("title::\nalias:: \n", None, ()),
        ("", None, ()),
    ],
)
def test_the_properties_of_a_page_name_it(text: str, title: str | None, aliases: tuple[str, ...]) -> None:
    assert stated_names(text) == (title, aliases)


async def test_links_find_pages_by_all_their_names(make_vault: MakeVault) -> None:
    files = a_graph(
        Board___Saw="alias:: Saws, saw\n\n- x",
        Old="title:: New/Name\n\n- x",
        **{"Why%3F": "- x"},
        a="[[board/saw]] [[Saws]] [[Saw]] [[New/Name]] [[Old]] [[Why?]] [[Board___Saw]] [[Saw/Board]]",
    )
    vault = await make_vault(files)
    assert [target for _, target in vault.links("pages/a.md")] == [
        "pages/Board___Saw.md",
        "pages/Board___Saw.md",
        "pages/Board___Saw.md",
        "pages/Old.md",
        "pages/Old.md",
        "pages/Why%3F.md",
        "pages/Board___Saw.md",
        None,
    ]
    assert vault.sources("pages/Board___Saw.md") == ["pages/a.md"] * 4
    assert [name for name, _ in vault.index.unresolved()] == ["Saw/Board"]
    assert vault.index.note(NotePath("pages/Board___Saw.md")).title == "Board/Saw"
    assert vault.index.note(NotePath("pages/Old.md")).title == "New/Name"
    assert vault.index.graph().edges.shape == (8, 2)
    del files[CONFIG]
    other = await make_vault(files)
    assert [target for _, target in other.links("pages/a.md")].count(None) == 6


async def test_a_link_follows_the_names_that_change(make_vault: MakeVault) -> None:
    vault = await make_vault(a_graph(A___B="- x", a="[[A/B]] [[B]]"))
    assert vault.links("pages/a.md") == [("A/B", "pages/A___B.md"), ("B", None)]
    # The alias has the same last part as the page's name.
    await vault.save("pages/A___B.md", "alias:: B\n")
    assert vault.links("pages/a.md")[1] == ("B", "pages/A___B.md")
    await vault.save("pages/B.md", "- A page of its own.")
    assert vault.links("pages/a.md")[1] == ("B", "pages/B.md")
    (vault.root / "pages/A___B.md").unlink()
    await vault.index.refresh((), [NotePath("pages/A___B.md")])
    assert vault.links("pages/a.md") == [("A/B", None), ("B", "pages/B.md")]


async def test_an_index_is_brought_up_to_date_when_a_vault_becomes_one_of_logseq(
    make_vault: MakeVault, reopened: object
) -> None:
    vault = await make_vault({"A___B.md": "alias:: C\n", "a.md": "[[A/B]] [[C]]"})
    assert [target for _, target in vault.links("a.md")] == [None, None]
    vault.write(CONFIG, TRIPLE_LOWBAR)
    vault.index = await reopened(vault)
    assert [target for _, target in vault.links("a.md")] == ["A___B.md", None]
    assert (await vault.index.scan()).indexed == 2
    assert [target for _, target in vault.links("a.md")] == ["A___B.md", "A___B.md"]
    vault.index = await reopened(vault)
    assert (await vault.index.scan()).indexed == 0


async def test_a_rename_writes_the_new_name_of_the_page(make_vault: MakeVault) -> None:
    vault = await make_vault(
        a_graph(
            A___B="alias:: Bee\n",
            a="[[A/B]] [[A/B|text]] [[Bee]] [t](A___B.md) [[A___B.md]] [[A___B]] [[x]]",
        )
    )
    moves = {"pages/A___B.md": "pages/A___C%3F.md"}
    assert await new_targets(vault, moves) == {
        "pages/a.md": ["A/C?", "A/C?", None, "A___C%3F.md", "A___C%3F.md", "A/C?", None]
    }
    assert vault.links("pages/a.md")[0] == ("A/B", "pages/A___B.md")


async def test_a_page_whose_new_name_another_note_has_is_linked_by_its_file(make_vault: MakeVault) -> None:
    vault = await make_vault(a_graph(A___B="- x", a="[[A/B]]", **{"A/C": "- another note"}))
    assert await new_targets(vault, {"pages/A___B.md": "pages/A___C.md"}) == {"pages/a.md": ["A___C"]}


async def test_tools_find_pages_by_name_and_suggest_it_for_links(make_vault: MakeVault) -> None:
    vault = await make_vault(
        a_graph(A___B="alias:: Bee\n", C="alias:: Both\n", D="alias:: Both\n", Plain="- x")
    )
    names, path = vault.index.resolver, NotePath("pages/A___B.md")
    for reference in ("A/B", "a/b", "Bee", "A___B", "pages/A___B.md"):
        assert names.resolve_strictly(reference) == names.resolve_for_reading(reference) == path
    with pytest.raises(AmbiguousError):
        names.resolve_strictly("Both")
    with pytest.raises(NotFoundError) as missing:
        names.resolve_strictly("A/Bx")
    assert missing.value.data["suggestions"] == ["pages/A___B.md"]
    assert names.shortest(path, None) == "A/B"
    assert names.shortest(path, None, as_file=True) == "A___B"
    assert names.shortest(NotePath("pages/Plain.md"), None) == "Plain"
    vault.write("pages/A___C%23.md", "- x")
    await vault.index.refresh([NotePath("pages/A___C%23.md")])
    assert names.shortest(NotePath("pages/A___C%23.md"), None) == "A___C%23"
    assert names.copy().resolve("A/B", None).path == path


def test_many_unclosed_links_are_read_in_no_time() -> None:
    started = time.perf_counter()
    _, aliases = stated_names(f"alias:: [[A, [b] c]], [[{',[[c' * 20_000}\n")
    assert aliases == ("A, [b] c", "[[", "[[c")
    assert time.perf_counter() - started < 2

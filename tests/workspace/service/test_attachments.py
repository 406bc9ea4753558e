from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.errors import StorageError
from app.vault.path import NotePath
from app.workspace import VaultService

NOTE = NotePath.parse("Sub/Note.md")


@pytest.mark.parametrize(
    ("setting", "folder"),
    [("", "Attachments/"), ("/", ""), ("./", "Sub/"), ("./files", "Sub/files/"), ("Media/In", "Media/In/")],
)
async def test_files_go_to_the_folder_of_the_settings(
    open_notes: Callable, tmp_path: Path, setting: str, folder: str
) -> None:
    (tmp_path / "vault/Sub").mkdir(parents=True)
    (tmp_path / "vault/Sub/Note.md").write_text("x")
    vault: VaultService = await open_notes(tmp_path / "vault")
    vault.settings.current.editor.attachment_folder = setting
    path = await vault.attachments.add(NOTE, "pic.png", b"one")
    assert path.text == f"{folder}pic.png"
    assert (tmp_path / "vault" / path.text).read_bytes() == b"one"


async def test_no_file_is_replaced_and_the_same_is_not_written_twice(
    open_notes: Callable, tmp_path: Path
) -> None:
    vault: VaultService = await open_notes(tmp_path / "vault")
    first = await vault.attachments.add(NOTE, "pic.png", b"one")
    other = await vault.attachments.add(NOTE, "PIC.png", b"two")
    same = await vault.attachments.add(NOTE, "pic.png", b"one")
    assert (first, other.text, same) == (first, "Attachments/PIC 1.png", first)
    assert (tmp_path / "vault/Attachments/pic.png").read_bytes() == b"one"
    assert len(vault.history.commits()) == 2


@pytest.mark.parametrize("name", ["../../up.png", "con.png", "a:b?*|.png", ".hidden", "x" * 400 + ".png", ""])
async def test_odd_names_stay_in_the_folder(open_notes: Callable, tmp_path: Path, name: str) -> None:
    vault: VaultService = await open_notes(tmp_path / "vault")
    path = await vault.attachments.add(NOTE, name, b"x")
    assert path.folder == "Attachments" and not path.is_hidden
    assert (tmp_path / "vault" / path.text).read_bytes() == b"x"


async def test_files_of_the_vault_are_linked_where_they_are(open_notes: Callable, tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / "Sub").mkdir(parents=True)
    (root / "Sub/Note.md").write_text("x")
    (root / "Sub/here.pdf").write_bytes(b"pdf")
    (tmp_path / "data.csv").write_text("1,2")
    vault: VaultService = await open_notes(root)
    links = await vault.attachments.link_files(
        NOTE, [root / "Sub/here.pdf", tmp_path / "data.csv", root / "Sub/Note.md"]
    )
    assert links == ["![[here.pdf]]", "[[data.csv]]", "[[Note]]"]
    assert (root / "Attachments/data.csv").read_text() == "1,2"
    assert vault.attachments.link(NOTE, NOTE, embed=True) == "![[Note]]"
    with pytest.raises(StorageError):
        await vault.attachments.link_files(NOTE, [tmp_path / "gone.txt"])

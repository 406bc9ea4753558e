"""Daily notes and templates on a real vault, with Obsidian's settings and the user's."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from app.errors import InvalidPathError
from app.vault.path import NotePath
from app.workspace import VaultService

NOW = datetime(2026, 3, 1, 14, 5)


def write(root: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))


async def test_the_note_of_a_day_is_made_once_by_obsidians_formats(
    open_notes: Callable, tmp_path: Path
) -> None:
    write(
        tmp_path / "vault",
        {
            ".obsidian/daily-notes.json": {
                "folder": "Journal",
                "format": "YYYY/MM-DD dddd",
                "template": "Templates/Day",
            },
            "Templates/Day.md": "# {{title}}\n\n- {{cursor}}\n",
            "Templates/Other.md": "{{time}}\n",
        },
    )
    vault: VaultService = await open_notes(tmp_path / "vault")
    made = await vault.templates.daily_note(NOW)
    assert made.path.text == "Journal/2026/03-01 Sunday.md" and made.created and not made.problem
    text = (tmp_path / "vault" / made.path.text).read_text()
    assert text == "# 03-01 Sunday\n\n- \n" and made.cursor == text.index("- ") + 2
    again = await vault.templates.daily_note(NOW)
    assert again.path == made.path and not again.created
    (commit,) = vault.history.commits()
    assert commit.author == "You"
    assert [path.name for path in vault.templates.paths()] == ["Day", "Other"]
    other = vault.templates.expand_template(NotePath.parse("Templates/Other.md"), "x", NOW)
    assert other.text == "14:05\n"


async def test_the_users_own_settings_come_first(open_notes: Callable, tmp_path: Path) -> None:
    write(tmp_path / "vault", {".obsidian/daily-notes.json": {"folder": "Journal"}, "A.md": "a"})
    vault: VaultService = await open_notes(tmp_path / "vault")
    vault.settings.current.editor.daily_folder = "Days"
    vault.settings.current.editor.daily_template = "Gone"
    made = await vault.templates.daily_note(NOW)
    assert made.path.text == "Days/2026-03-01.md" and "Gone" in made.problem
    vault.settings.current.editor.daily_format = "[a:b]"
    with pytest.raises(InvalidPathError, match="not a valid file name"):
        await vault.templates.daily_note(NOW)


async def test_a_random_note_is_another_one(open_notes: Callable, tmp_path: Path) -> None:
    write(tmp_path / "vault", {"A.md": "a", "B.md": "b"})
    vault: VaultService = await open_notes(tmp_path / "vault")
    a, b = NotePath.parse("A.md"), NotePath.parse("B.md")
    assert vault.notes.random(a) == b and vault.notes.random(b) == a

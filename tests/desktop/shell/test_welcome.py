from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtWidgets import QLabel, QToolButton

from app import paths
from app.desktop.shell import vault_preflight
from app.desktop.shell.folder_drop import dropped_folder
from app.desktop.shell.welcome import Welcome
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedLabel
from app.settings.recent import RecentVaults


def rows(welcome: Welcome) -> list[QToolButton]:
    return [b for b in welcome.findChildren(QToolButton, "recentVault") if b.parent() is not None]


def test_recent_vaults_are_kept_newest_first_and_once(tmp_path: Path) -> None:
    recent = RecentVaults()
    for name in ("a", "b", "a"):
        (tmp_path / name).mkdir(exist_ok=True)
        recent.add(tmp_path / name)
    assert [vault.name for vault in RecentVaults().list_vaults()] == ["a", "b"]
    recent.remove(str(tmp_path / "a"))
    assert [vault.name for vault in recent.list_vaults()] == ["b"]
    assert recent.contains(tmp_path / "b") and not recent.contains(tmp_path / "a")
    (tmp_path / "b").rmdir()
    assert not recent.contains(tmp_path / "b"), "a vault that is gone is said to be"


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": 1}', "null", '[{"path": "x"}]'])
def test_a_damaged_list_of_vaults_counts_as_empty(text: str) -> None:
    (paths.data_folder() / "recent.json").write_text(text)
    assert RecentVaults().list_vaults() == ()


def test_the_list_is_short(tmp_path: Path) -> None:
    recent = RecentVaults()
    for number in range(30):
        (tmp_path / str(number)).mkdir()
        recent.add(tmp_path / str(number))
    assert len(recent.list_vaults()) == 12
    assert len(json.loads((paths.data_folder() / "recent.json").read_text())) == 12


def test_a_click_on_a_recent_vault_opens_it(qtbot, tmp_path: Path) -> None:
    RecentVaults().add(tmp_path)
    welcome = Welcome(ThemeSource("light"), RecentVaults())
    qtbot.addWidget(welcome)
    (row,) = rows(welcome)
    with qtbot.waitSignal(welcome.open_requested) as caught:
        row.click()
    assert caught.args == [str(tmp_path.resolve())]


def test_the_icons_of_recent_vaults_follow_the_theme(qtbot, tmp_path: Path) -> None:
    RecentVaults().add(tmp_path)
    theme = ThemeSource("light")
    welcome = Welcome(theme, RecentVaults())
    qtbot.addWidget(welcome)
    label = rows(welcome)[0].findChild(QLabel)
    before = label.pixmap().toImage()
    theme.set("dark")
    assert not before.isNull() and label.pixmap().toImage() != before


def test_the_names_of_recent_vaults_are_aligned(qtbot, tmp_path: Path) -> None:
    for name in ("a", "a much longer name"):
        (tmp_path / name).mkdir()
        RecentVaults().add(tmp_path / name)
    welcome = Welcome(ThemeSource("light"), RecentVaults())
    qtbot.addWidget(welcome)
    welcome.resize(900, 700)
    welcome.show()
    lefts = {
        label.x()
        for row in rows(welcome)
        for label in row.findChildren(QLabel)
        if label.property("textSize") == "strong"
    }
    assert len(lefts) == 1 and lefts.pop() < 60


def test_a_missing_vault_is_marked_and_can_be_forgotten(qtbot, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    RecentVaults().add(gone)
    gone.rmdir()
    welcome = Welcome(ThemeSource("light"), RecentVaults())
    qtbot.addWidget(welcome)
    (row,) = rows(welcome)
    assert "is missing" in row.toolTip()
    (forget,) = (b for b in welcome.findChildren(QToolButton) if "Remove gone" in b.toolTip())
    forget.click()
    assert RecentVaults().list_vaults() == ()


def test_the_buttons_ask_for_a_folder_and_for_the_sample(qtbot) -> None:
    welcome = Welcome(ThemeSource("dark"), RecentVaults())
    qtbot.addWidget(welcome)
    asked: list[str] = []
    welcome.pick_requested.connect(lambda: asked.append("folder"))
    welcome.sample_requested.connect(lambda: asked.append("sample"))
    welcome.pick_button.click()
    welcome.sample_button.click()
    assert asked == ["folder", "sample"]


def test_a_folder_of_notes_is_a_vault(tmp_path: Path) -> None:
    (tmp_path / "A.md").write_text("a")
    assert vault_preflight.open_warning(vault_preflight.inspect_folder(tmp_path)) is None


def test_notes_in_hidden_folders_do_not_make_a_vault(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "A.md").write_text("a")
    (tmp_path / "photo.jpg").write_text("a")
    warning = vault_preflight.open_warning(vault_preflight.inspect_folder(tmp_path))
    assert warning is not None and "no Markdown notes" in warning and "1 other" in warning


def test_home_and_the_disks_root_are_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / "A.md").write_text("a")
    assert "home folder" in (vault_preflight.open_warning(vault_preflight.inspect_folder(tmp_path)) or "")
    root = vault_preflight.FolderFacts(Path("/"), note_count=5, other_count=5, is_complete=True)
    assert "root of a disk" in (vault_preflight.open_warning(root) or "")


def test_very_many_other_files_are_asked_about(tmp_path: Path) -> None:
    facts = vault_preflight.FolderFacts(tmp_path, note_count=3, other_count=200_000, is_complete=False)
    assert "200,000" in (vault_preflight.open_warning(facts) or "")


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        vault_preflight.inspect_folder(tmp_path / "gone")


def test_only_a_folder_counts_as_dropped(tmp_path: Path) -> None:
    (tmp_path / "A.md").write_text("a")
    data = QMimeData()
    assert dropped_folder(data) is None
    data.setUrls([QUrl("https://example.org/x"), QUrl.fromLocalFile(str(tmp_path / "A.md"))])
    assert dropped_folder(data) is None
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])
    assert dropped_folder(data) == tmp_path


def test_the_long_name_of_a_recent_vault_is_elided_after_its_path(qtbot, tmp_path: Path) -> None:
    for name in ("Garden", "A folder with quite a long name that does not fit on one line of the list"):
        (tmp_path / name).mkdir()
        RecentVaults().add(tmp_path / name)
    welcome = Welcome(ThemeSource("light"), RecentVaults())
    qtbot.addWidget(welcome)
    welcome.resize(700, 700)
    welcome.show()
    long_name, short_name = (row.findChildren(ElidedLabel)[0] for row in rows(welcome))
    assert long_name.width() < long_name.sizeHint().width()
    assert short_name.width() == short_name.sizeHint().width()

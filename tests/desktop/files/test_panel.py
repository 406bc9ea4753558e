from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QMenu

from app.desktop.bridge import ServiceThread, VaultClient
from app.desktop.files.model import NOTE_MIME, FileTreeModel, FolderListing
from app.desktop.files.panel import FilesPanel
from app.desktop.theme.theme import ThemeSource
from app.settings import Settings
from app.vault.path import NotePath
from tests.desktop.open_vault import OpenVault, service_of
from tests.desktop.workspace_access import in_workspace


def row_paths(model: FileTreeModel, parent: QModelIndex | None = None) -> list[str]:
    """Return every row, folders with a slash, depth first."""
    paths: list[str] = []
    parent = parent or QModelIndex()
    if model.canFetchMore(parent):
        model.fetchMore(parent)
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        path, is_folder = model.path_at(index)
        paths.append(f"{path}/" if is_folder else path)
        assert model.parent(index) == parent
        paths += row_paths(model, index)
    return paths


def tree(*paths: str) -> FileTreeModel:
    model = FileTreeModel(ThemeSource("light"))
    model.reset(FolderListing.of(paths))
    row_paths(model)  # The tester would fill in folders while it handles a signal, which no view does.
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning, model)
    return model


def test_folders_come_first_then_names_whatever_their_case(qapp) -> None:
    model = tree("b.md", "A.md", "z/y/n.md", "z/m.md", "C/k.md")
    assert row_paths(model) == ["C/", "C/k.md", "z/", "z/y/", "z/y/n.md", "z/m.md", "A.md", "b.md"]


def test_a_new_note_adds_its_folders_and_the_last_note_removes_them(qapp) -> None:
    model = tree("a.md")
    model.add("new/deep/n.md")
    model.add("new/deep/n.md")
    assert row_paths(model) == ["new/", "new/deep/", "new/deep/n.md", "a.md"]
    model.remove("new/deep/n.md")
    model.remove("never/there.md")
    assert row_paths(model) == ["a.md"]


names = st.text(alphabet="abAB", min_size=1, max_size=2)
files = st.builds(lambda parts, name: "/".join([*parts, f"{name}.md"]), st.lists(names, max_size=2), names)


@given(st.lists(files, max_size=12), st.lists(st.tuples(st.booleans(), files), max_size=20))
def test_changes_one_by_one_end_where_a_fresh_listing_does(
    qapp, start: list[str], changes: list[tuple[bool, str]]
) -> None:
    model = tree(*set(start))
    expected = set(start)
    row_paths(model)
    for adds, path in changes:
        if adds:
            model.add(path)
            expected.add(path)
        else:
            model.remove(path)
            expected.discard(path)
    assert row_paths(model) == row_paths(tree(*expected))


def test_a_dragged_note_is_a_link_for_a_text(qapp) -> None:
    model = tree("folder/A note.md")
    data = model.mimeData([model.index_of("folder/A note.md")])
    assert data.text() == "[[A note]]"
    assert bytes(data.data(NOTE_MIME).data()).decode() == "folder/A note.md"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "Sub").mkdir()
    (tmp_path / "One.md").write_text("one #x")
    (tmp_path / "Sub" / "Two.md").write_text("two")
    (tmp_path / "picture.png").write_bytes(b"x")
    return tmp_path


def test_the_panel_shows_the_vault_and_follows_it(
    gui, wait_until, service: ServiceThread, vault: Path
) -> None:
    async def main() -> None:
        open_vault = OpenVault(vault, Settings())
        await service.call(open_vault.index.open)
        client = VaultClient(service, service_of(open_vault))
        await in_workspace(client, lambda w: w.start_scan(lambda progress: None))
        panel = FilesPanel(client, ThemeSource("light"))
        await wait_until(lambda: panel.model.rowCount())
        assert row_paths(panel.model) == ["Sub/", "Sub/Two.md", "One.md"]

        opened: list[str] = []
        panel.open_requested.connect(lambda path, fragment: opened.append(path))
        panel.tree.clicked.emit(panel.model.index_of("One.md"))
        assert opened == ["One.md"]

        panel._show_menu(panel.tree.visualRect(panel.model.index_of("One.md")).center())
        (menu,) = panel.findChildren(QMenu)
        assert [action.isSeparator() for action in menu.actions()][-2:] == [True, False]
        assert menu.actions()[-1].text() == "Delete…"
        menu.close()

        (vault / "Three.md").write_text("three")
        (vault / "Sub" / "Two.md").unlink()
        await in_workspace(
            client, lambda w: w.index.refresh([NotePath("Three.md")], [NotePath("Sub/Two.md")])
        )
        await wait_until(lambda: row_paths(panel.model) == ["One.md", "Three.md"])

        panel.filter.setText("thr")
        panel.filter.returnPressed.emit()
        await wait_until(lambda: opened == ["One.md", "Three.md"])
        panel.filter.clear()
        panel.select("Three.md")
        assert panel.model.path_at(panel.tree.currentIndex()) == ("Three.md", False)
        (vault / "Three.md").unlink()
        await in_workspace(client, lambda w: w.index.refresh([], [NotePath("Three.md")]))
        await wait_until(lambda: row_paths(panel.model) == ["One.md"])
        assert not panel.tree.currentIndex().isValid()
        assert not panel.tree.selectionModel().hasSelection()

        panel._show_attachments(True)
        await wait_until(lambda: "picture.png" in row_paths(panel.model))
        await client.close()
        panel.deleteLater()

    gui(main())


def test_expanded_folders_stay_expanded(gui, wait_until, service: ServiceThread, vault: Path) -> None:
    async def main() -> None:
        open_vault = OpenVault(vault, Settings())
        await service.call(open_vault.index.open)
        client = VaultClient(service, service_of(open_vault))
        await in_workspace(client, lambda w: w.start_scan(lambda progress: None))
        panel = FilesPanel(client, ThemeSource("light"))
        await wait_until(lambda: panel.model.rowCount())
        panel.expand_folders(["Sub", "not there"])
        await panel.reload()
        assert panel.expanded_folders() == ["Sub"]
        await client.close()
        panel.deleteLater()

    gui(main())


def test_a_vault_that_is_being_read_is_not_called_empty(
    gui, wait_until, service: ServiceThread, tmp_path: Path
) -> None:
    async def main() -> None:
        open_vault = OpenVault(tmp_path, Settings())
        await service.call(open_vault.index.open)
        client = VaultClient(service, service_of(open_vault))
        panel = FilesPanel(client, ThemeSource("light"))
        panel.set_scanning(True)
        await panel.loading_task
        assert panel._stack.currentWidget() is panel.tree
        panel.set_scanning(False)
        await wait_until(lambda: panel._stack.currentWidget() is panel._empty)
        (tmp_path / "One.md").write_text("one")
        await in_workspace(client, lambda w: w.start_scan(lambda progress: None))
        await wait_until(lambda: panel._stack.currentWidget() is panel.tree)
        await client.close()
        panel.deleteLater()

    gui(main())

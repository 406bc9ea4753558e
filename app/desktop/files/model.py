"""The vault's files as a tree model, filled folder by folder on expansion.

`FolderListing` is built in the service thread: for each folder its sorted subfolders and files. The model
creates nodes only for expanded folders and applies changes file by file, so that neither a vault of 100,000
notes nor a save delays a frame.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field

from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.desktop.theme.theme import ThemeSource, icon
from app.vault.path import NotePath, name_key

NOTE_MIME = "application/x-scriptorium-note"
_Index = QModelIndex | QPersistentModelIndex
_ROOT_INDEX = QModelIndex()
# Constants, since a tree requests the flags tens of thousands of times.
_ROW_FLAGS = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_FOLDER_FLAGS = _ROW_FLAGS | Qt.ItemFlag.ItemIsDropEnabled
_FILE_FLAGS = _ROW_FLAGS | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemNeverHasChildren
_Entry = tuple[tuple[int, str], str]


def sort_entry(path: str, is_folder: bool) -> _Entry:
    """Return the sort key and path of a row: folders first, then by name."""
    return (0 if is_folder else 1, name_key(path.rpartition("/")[2])), path


@dataclass(slots=True)
class FolderListing:
    """Sorted rows by folder; the root is the empty string."""

    folders: dict[str, list[_Entry]] = field(default_factory=lambda: {"": []})

    @classmethod
    def of(cls, paths: Iterable[str]) -> FolderListing:
        """Return the listing of these files."""
        listing = cls()
        for path in paths:
            folder = path.rpartition("/")[0]
            listing._rows_of(folder).append(sort_entry(path, False))
        for rows in listing.folders.values():
            rows.sort()
        return listing

    def contains(self, path: str) -> bool:
        """Return whether the file is listed."""
        return self.row(path, False) is not None

    def row(self, path: str, is_folder: bool) -> int | None:
        """Return the row of a file or folder within its parent."""
        rows = self.folders.get(path.rpartition("/")[0], [])
        entry = sort_entry(path, is_folder)
        row = bisect_left(rows, entry)
        return row if row < len(rows) and rows[row] == entry else None

    def _rows_of(self, folder: str) -> list[_Entry]:
        rows = self.folders.get(folder)
        if rows is None:
            rows = self.folders[folder] = []
            self._rows_of(folder.rpartition("/")[0]).append(sort_entry(folder, True))
        return rows


class _FileTreeNode:
    """A folder or file that a view has requested."""

    __slots__ = ("children", "is_folder", "parent", "path")

    def __init__(self, path: str, is_folder: bool, parent: _FileTreeNode | None) -> None:
        self.path = path
        self.is_folder = is_folder
        self.parent = parent
        self.children: dict[tuple[str, bool], _FileTreeNode] = {}


class FileTreeModel(QAbstractItemModel):
    """The model; `path_at` and `index_of` convert between rows and paths."""

    def __init__(self, theme: ThemeSource, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._listing = FolderListing()
        self._root = _FileTreeNode("", True, None)
        theme.changed.connect(self._load_icons)
        self._load_icons()

    def reset(self, listing: FolderListing) -> None:
        """Replace the listing."""
        self.beginResetModel()
        self._listing = listing
        self._root = _FileTreeNode("", True, None)
        self.endResetModel()

    def add(self, path: str) -> None:
        """Add a new file, and its folders if they are new."""
        if not self._listing.contains(path):
            self._add_folder(path.rpartition("/")[0])
            self._insert(path, False)

    def remove(self, path: str) -> None:
        """Remove a file, and folders that become empty."""
        if self._listing.contains(path):
            self._remove_row(path, False)
            folder = path.rpartition("/")[0]
            while folder and not self._listing.folders[folder]:
                self._remove_row(folder, True)
                del self._listing.folders[folder]
                folder = folder.rpartition("/")[0]

    def path_at(self, index: _Index) -> tuple[str, bool]:
        """Return the path of the row, and whether it is a folder."""
        node = self._node(index)
        return node.path, node.is_folder

    def index_of(self, path: str, is_folder: bool = False) -> QModelIndex:
        """Return the index of a path; an invalid index if it is not listed."""
        row = self._listing.row(path, is_folder)
        if row is None:
            return QModelIndex()
        return self.createIndex(
            row, 0, self._child(self._folder_node(path.rpartition("/")[0]), path, is_folder)
        )

    def rowCount(self, parent: _Index = _ROOT_INDEX) -> int:
        """Return the number of rows of `parent`."""
        node = self._node(parent)
        return len(self._listing.folders.get(node.path, ())) if node.is_folder else 0

    def columnCount(self, parent: _Index = _ROOT_INDEX) -> int:
        """Return one column."""
        return 1

    def index(self, row: int, column: int, parent: _Index = _ROOT_INDEX) -> QModelIndex:
        """Return the index of a row in `parent`."""
        node = self._node(parent)
        rows = self._listing.folders.get(node.path, []) if node.is_folder else []
        if column or not 0 <= row < len(rows):
            return QModelIndex()
        key, path = rows[row]
        return self.createIndex(row, 0, self._child(node, path, key[0] == 0))

    def parent(self, index: _Index = _ROOT_INDEX) -> QModelIndex:  # type: ignore[override]
        """Return the index of the folder that contains `index`."""
        node = self._node(index).parent
        if node is None or node.parent is None:
            return QModelIndex()
        row = self._listing.row(node.path, True)
        return self.createIndex(row, 0, node) if row is not None else QModelIndex()

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return the data of `index` for `role`."""
        if not index.isValid():
            return None
        node = self._node(index)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return node.path.rpartition("/")[2] if node.is_folder else NotePath(node.path).name
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icons["folder" if node.is_folder else _file_kind(node.path)]
        if role == Qt.ItemDataRole.ToolTipRole:
            return node.path
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Return the item flags of a row."""
        if not index.isValid():
            return Qt.ItemFlag.ItemIsDropEnabled
        return _FOLDER_FLAGS if self._node(index).is_folder else _FILE_FLAGS

    def mimeTypes(self) -> list[str]:
        """Return the MIME types of dragged rows."""
        return [NOTE_MIME]

    def mimeData(self, indexes: Iterable[QModelIndex]) -> QMimeData:
        """Return the dragged notes as paths, and as wikilinks for text fields."""
        paths = [self._node(index).path for index in indexes]
        data = QMimeData()
        data.setData(NOTE_MIME, "\n".join(paths).encode())
        data.setText("\n".join(f"[[{NotePath(path).name}]]" for path in paths))
        return data

    def supportedDragActions(self) -> Qt.DropAction:
        """Return copy (insert links) and move (to a folder)."""
        return Qt.DropAction.CopyAction | Qt.DropAction.MoveAction

    def _load_icons(self, *_: object) -> None:
        theme = self._theme.theme
        self._icons = {
            "folder": icon(theme, "folder-simple", theme.faint),
            "note": icon(theme, "file-text", theme.faint),
            "image": icon(theme, "image", theme.faint),
            "other": icon(theme, "paperclip", theme.faint),
        }

    def _node(self, index: _Index) -> _FileTreeNode:
        node = index.internalPointer() if index.isValid() else None
        return node if isinstance(node, _FileTreeNode) else self._root

    def _child(self, node: _FileTreeNode, path: str, is_folder: bool) -> _FileTreeNode:
        child = node.children.get((path, is_folder))
        if child is None:
            child = node.children[path, is_folder] = _FileTreeNode(path, is_folder, node)
        return child

    def _folder_node(self, folder: str) -> _FileTreeNode:
        """Return the node of a listed folder."""
        if not folder:
            return self._root
        return self._child(self._folder_node(folder.rpartition("/")[0]), folder, True)

    def _index_of_folder(self, folder: str) -> QModelIndex:
        return self.index_of(folder, True) if folder else QModelIndex()

    def _add_folder(self, folder: str) -> None:
        if folder not in self._listing.folders:
            self._add_folder(folder.rpartition("/")[0])
            self._listing.folders[folder] = []
            self._insert(folder, True)

    def _insert(self, path: str, is_folder: bool) -> None:
        folder = path.rpartition("/")[0]
        rows = self._listing.folders[folder]
        row = bisect_left(rows, sort_entry(path, is_folder))
        self.beginInsertRows(self._index_of_folder(folder), row, row)
        insort(rows, sort_entry(path, is_folder))
        self.endInsertRows()

    def _remove_row(self, path: str, is_folder: bool) -> None:
        folder = path.rpartition("/")[0]
        row = self._listing.row(path, is_folder)
        if row is None:
            return
        self.beginRemoveRows(self._index_of_folder(folder), row, row)
        del self._listing.folders[folder][row]
        self._folder_node(folder).children.pop((path, is_folder), None)
        self.endRemoveRows()


_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".avif")


def _file_kind(path: str) -> str:
    suffix = NotePath(path).suffix
    if NotePath(path).is_note:
        return "note"
    return "image" if suffix in _IMAGE_SUFFIXES else "other"

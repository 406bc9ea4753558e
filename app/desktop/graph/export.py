"""Export the graph as PNG or SVG: show the dialog, draw in a thread and report the result."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QImageWriter
from PySide6.QtWidgets import QDialog

from app.desktop.graph.export_dialog import ExportOptions, GraphExportDialog
from app.desktop.graph.snapshot import GraphSnapshot, draw_pixels, draw_shapes, graph_aspect, take_snapshot
from app.desktop.graph.view import GraphView
from app.desktop.runtime import tasks
from app.desktop.widgets import dialogs
from app.graph.svg import StoppedError, write_svg
from app.storage.files import replacing

_FILTERS = {"png": "PNG (*.png)", "svg": "SVG (*.svg)"}


class GraphExport(QObject):
    """Exports the current view or the whole graph."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view
        view.export_requested.connect(self.begin)

    def begin(self, kind: str) -> None:
        """Show the options for a "png" or "svg" image, then let the user choose a file and export to it.

        If the graph is empty, a toast says so instead.
        """
        tasks.start(self._ask_and_save(kind), owner=self._view, action=self.tr("export the graph"))

    async def _ask_and_save(self, kind: str) -> None:
        view, window = self._view, self._view.window()
        if not len(view.canvas.scene.graph):
            view.toast.show_message(self.tr("The graph is empty: nothing to export"))
            return
        aspect = view.canvas.width() / max(1, view.canvas.height())
        dialog = GraphExportDialog(kind, aspect, graph_aspect(view.canvas), window)
        if await dialogs.run_dialog(dialog) != int(QDialog.DialogCode.Accepted):
            return
        options = dialog.options
        file = await dialogs.pick_save_file(window, self.tr("Export graph"), f"graph.{kind}", _FILTERS[kind])
        if file is not None:
            await self.save(file, options)

    async def save(self, file: Path, options: ExportOptions) -> None:
        """Draw the graph and write it to `file`.

        A toast or an error message shows the result; after an error or cancellation, an existing file is
        unchanged.
        """
        view = self._view
        snapshot = take_snapshot(view.canvas, view.annotations.discs, view.annotations.ticks, options)
        view.toast.show_message(self.tr("Exporting the graph…"))
        stopped = threading.Event()
        try:
            await asyncio.to_thread(_write, snapshot, file, stopped)
        except asyncio.CancelledError:
            stopped.set()
            raise
        except (OSError, MemoryError) as error:
            reason = getattr(error, "strerror", None) or str(error) or self.tr("There is not enough memory")
            text = self.tr("{0}\n\n{1}. No file was written. Choose another folder or a smaller image.")
            title = self.tr("Could not export the graph")
            await dialogs.show_message(view.window(), title, text.format(file, reason))
            return
        view.toast.show_message(self.tr("Saved as {0}").format(file.name))


def _write(snapshot: GraphSnapshot, file: Path, stopped: threading.Event) -> None:
    """Draw the graph and write it to `file`; slow, so call it in a thread.

    Setting `stopped` abandons the export and leaves the file unchanged.

    Raises:
        OSError: The file can't be written.
        MemoryError: There is not enough memory for the image.
    """
    with suppress(StoppedError):
        if snapshot.options.kind == "svg":
            write_svg(draw_shapes(snapshot), file, stopped)
            return
        image = draw_pixels(snapshot)
        with replacing(file) as temporary:
            writer = QImageWriter(str(temporary), b"png")
            if not writer.write(image):
                raise OSError(0, writer.errorString())
            if stopped.is_set():
                raise StoppedError

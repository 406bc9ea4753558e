"""The dialog for exporting the graph: area, size, labels and background."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QFormLayout, QLabel, QSpinBox, QWidget

from app.desktop.widgets.dialogs import SheetDialog
from app.desktop.widgets.plain_labels import show_text

_MIN_SIDE_PX, _MAX_SIDE_PX = 200, 12_000
_MAX_PIXELS = 120_000_000


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export; `width` and `height` are in pixels, before `scale` multiplies them.

    Args:
        kind: "png" or "svg".
        width: The image's width.
        height: The image's height.
        scale: The factor for both.
        whole_graph: True for the whole graph, false for the current view.
        labels: True to draw labels.
        transparent: True to leave out the background.
    """

    kind: str
    width: int
    height: int
    scale: int
    whole_graph: bool
    labels: bool
    transparent: bool

    @property
    def pixels(self) -> tuple[int, int]:
        """The size of the image in the file, in pixels."""
        return self.width * self.scale, self.height * self.scale


class GraphExportDialog(SheetDialog):
    """Asks for the options of an export; `options` has the user's choice.

    Args:
        kind: "png" or "svg".
        aspect: The current view's width divided by its height.
        whole_aspect: The whole graph's width divided by its height.
        parent: The window.
    """

    def __init__(self, kind: str, aspect: float, whole_aspect: float, parent: QWidget | None) -> None:
        super().__init__(parent, "")
        self.setWindowTitle(self.tr("Export graph"))
        self.set_heading(self.tr("Export as PNG") if kind == "png" else self.tr("Export as SVG"))
        self._kind, self._aspects = kind, {True: whole_aspect, False: aspect}
        self.area = QComboBox()
        self.area.addItem(self.tr("Whole graph"), True)
        self.area.addItem(self.tr("Current view"), False)
        self.width_box = QSpinBox()
        self.width_box.setRange(_MIN_SIDE_PX, _MAX_SIDE_PX)
        self.width_box.setSingleStep(100)
        self.width_box.setSuffix(self.tr(" px"))
        self.width_box.setGroupSeparatorShown(True)
        self.width_box.setValue(2400)
        self.scale = QComboBox()
        for factor in (1, 2, 3):
            self.scale.addItem(f"{factor} ×", factor)
        self.labels = QCheckBox(self.tr("Labels"))
        self.labels.setChecked(True)
        self.transparent = QCheckBox(self.tr("Transparent background"))
        self.size_label = QLabel()
        self.size_label.setProperty("tone", "muted")
        page = QWidget()
        form = QFormLayout(page)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.addRow(self.tr("Area"), self.area)
        form.addRow(self.tr("Width"), self.width_box)
        if kind == "png":
            form.addRow(self.tr("Scale"), self.scale)
        form.addRow("", self.labels)
        form.addRow("", self.transparent)
        form.addRow("", self.size_label)
        for label, widget in (
            (self.tr("Area"), self.area),
            (self.tr("Width"), self.width_box),
            (self.tr("Scale"), self.scale),
        ):
            widget.setAccessibleName(label)
        self.area.setToolTip(self.tr("Export the whole graph or only the current view"))
        self.width_box.setToolTip(self.tr("Larger images show more labels"))
        self.scale.setToolTip(self.tr("2× and 3× are sharper in print"))
        self.transparent.setToolTip(self.tr("Export without a background color"))
        self.labels.setToolTip(self.tr("Label the nodes where space allows"))
        self.add_body(page)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.save_button = self.add_button(self.tr("Save as…"), int(QDialog.DialogCode.Accepted), "primary")
        self.save_button.setDefault(True)
        for signal in (
            self.area.currentIndexChanged,
            self.width_box.valueChanged,
            self.scale.currentIndexChanged,
        ):
            signal.connect(self._show_size)
        self._show_size()
        self.width_box.setFocus()

    @property
    def options(self) -> ExportOptions:
        """The chosen options."""
        whole_graph, width = bool(self.area.currentData()), self.width_box.value()
        height = max(_MIN_SIDE_PX, round(width / max(0.05, self._aspects[whole_graph])))
        scale = int(self.scale.currentData()) if self._kind == "png" else 1
        return ExportOptions(
            self._kind,
            width,
            height,
            scale,
            whole_graph,
            self.labels.isChecked(),
            self.transparent.isChecked(),
        )

    def _show_size(self) -> None:
        width, height = self.options.pixels
        is_allowed = width * height <= _MAX_PIXELS or self._kind == "svg"
        text = self.tr("{0} × {1} pixels").format(f"{width:,}", f"{height:,}")
        if not is_allowed:
            text = self.tr("{0} is too large. Choose a smaller width or scale.").format(text)
        show_text(self.size_label, text, "muted" if is_allowed else "danger")
        self.save_button.setEnabled(is_allowed)

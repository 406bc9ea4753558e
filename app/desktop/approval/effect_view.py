"""An effect outside the notes: its exact text and arguments, with hidden characters marked."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.desktop.runtime.translation import translate
from app.desktop.theme.colors import Theme
from app.desktop.widgets.diff.canvas import DiffCanvas
from app.desktop.widgets.diff.row_layout import DiffMode, layout_rows
from app.desktop.widgets.plain_labels import plain_label
from app.permissions.approval import Effect
from app.permissions.impact import has_side_effects
from app.vault.diff import compare
from app.vault.invisible_chars import escape_hidden


class EffectView(QWidget):
    """Shows the exact text that will be run, sent or fetched, and the arguments."""

    def __init__(self, effect: Effect, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 0)
        layout.setSpacing(4)
        heading = plain_label(
            translate("Approval", "{0} (exact text)").format(escape_hidden(effect.kind).capitalize()),
            "muted",
        )
        heading.setContentsMargins(20, 0, 20, 0)
        layout.addWidget(heading)
        if has_side_effects(effect):
            warning = plain_label(self.tr("Scriptorium can't undo this."), "warning")
            warning.setContentsMargins(20, 0, 20, 0)
            layout.addWidget(warning)
        self.canvas = _text_canvas(effect.text, theme, translate("Approval", "Exact text"))
        layout.addWidget(self.canvas, 2)
        if effect.arguments:
            heading = plain_label(translate("Approval", "Arguments"), "muted")
            heading.setContentsMargins(20, 4, 20, 0)
            layout.addWidget(heading)
            text = "\n".join(f"{name} = {value}" for name, value in effect.arguments)
            layout.addWidget(_text_canvas(text, theme, translate("Approval", "Arguments")), 1)


def _text_canvas(text: str, theme: Theme, name: str) -> DiffCanvas:
    """Return a canvas that shows `text`, with every line marked as unchanged."""
    # Add a line break, so that a final line break in the text shows as an empty line.
    content = text.encode("utf-8", "surrogatepass") + b"\n"
    diff = compare(content, content)
    canvas = DiffCanvas(theme)
    canvas.setAccessibleName(name)
    canvas.setAccessibleDescription(escape_hidden(text))
    diff_rows = layout_rows(diff, DiffMode.TEXT, range(len(diff.before)))

    def measure() -> None:
        diff_rows.prepare(canvas.measure(False)(diff_rows))
        canvas.arrange()

    canvas.measure_requested.connect(measure)
    canvas.show_rows(diff_rows)
    return canvas

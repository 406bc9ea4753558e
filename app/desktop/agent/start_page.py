"""The start page of the agent panel: an explanation, and examples to send with a click."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.desktop.theme.colors import Theme
from app.desktop.theme.icons import icon
from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets.panel import ElidedButton
from app.desktop.widgets.plain_labels import wrapped_label

_EXAMPLES = (
    # Not translated: the built-in agent understands requests in English.
    ("magnifying-glass", "find notes about {name}"),
    ("arrow-bend-up-left", "what links to {name}?"),
    ("tag", "tag {name} with #reviewed"),
    ("pencil-simple", "add a line to {name}: to be checked"),
)


class ExampleButton(ElidedButton):
    """A button that sends an example request."""

    def __init__(self, theme: ThemeSource, symbol: str, text: str) -> None:
        super().__init__()
        self._theme = theme
        self._symbol = symbol
        self.prompt = text
        self.setProperty("role", "suggestion")
        # A single ampersand would mark a shortcut.
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._apply_theme)
        self._apply_theme(theme.theme)

    def _apply_theme(self, theme: Theme) -> None:
        self.setIcon(icon(theme, self._symbol, theme.accent))


class StartPage(QWidget):
    """Explains how changes are reviewed, and offers examples; `chosen` carries the text of an example."""

    chosen = Signal(str)

    def __init__(self, theme: ThemeSource, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = ""
        self._buttons: tuple[ExampleButton, ...] = ()
        self._icon_label = QLabel()
        heading = QLabel(self.tr("How can I help?"))
        heading.setProperty("textSize", "heading")
        self._text = wrapped_label(tone="muted")
        self.show_program("")
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 20, 20, 20)
        column.setSpacing(8)
        column.addStretch(2)
        for widget in (self._icon_label, heading, self._text):
            column.addWidget(widget)
        column.addSpacing(8)
        self._examples = QVBoxLayout()
        self._examples.setSpacing(8)
        column.addLayout(self._examples)
        column.addStretch(3)
        theme.changed.connect(self._apply_theme)
        self._apply_theme(theme.theme)

    @property
    def suggestions(self) -> tuple[ExampleButton, ...]:
        """The buttons of the examples."""
        return self._buttons

    def show_program(self, name: str) -> None:
        """Explain how changes by the external agent `name` (the app's own agent if empty) are reviewed."""
        text = self.tr("The agent shows you every change before it is written. You approve or deny it.")
        if name:
            text = self.tr(
                "{0} is an external program. You review the changes that it proposes. Changes that it makes"
                " without asking are marked as such, and you can undo them."
            ).format(name)
        self._text.setText(text)

    def suggest(self, name: str) -> None:
        """Show examples about the note `name`; none if the name is empty."""
        if name == self._name:
            return
        self._name = name
        for button in self._buttons:
            self._examples.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = ()
        for symbol, label in _EXAMPLES if name else ():
            button = ExampleButton(self._theme, symbol, label.format(name=name))
            button.clicked.connect(lambda _=False, prompt=button.prompt: self.chosen.emit(prompt))
            self._examples.addWidget(button)
            self._buttons = (*self._buttons, button)

    def _apply_theme(self, theme: Theme) -> None:
        side = round(28 * self._theme.zoom)
        self._icon_label.setPixmap(icon(theme, "sparkle", theme.accent).pixmap(side, side))

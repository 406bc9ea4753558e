"""The dialog to edit a source's name, address, interval or globs."""

from __future__ import annotations

from pydantic import ValidationError
from PySide6.QtWidgets import QDialog, QFormLayout, QLineEdit, QPlainTextEdit, QSpinBox, QWidget

from app.desktop.theme.theme import ThemeSource
from app.desktop.widgets import dialogs
from app.desktop.widgets.plain_labels import wrapped_label
from app.desktop.widgets.validation_text import problem_text
from app.errors import ScriptoriumError
from app.sources.config import (
    MAX_NAME_CHARS,
    FeedConfig,
    FolderStreamConfig,
    SourceConfig,
    VaultStreamConfig,
)
from app.vault.globs import Glob


class SourceDialog(dialogs.SheetDialog):
    """Edits the settings of one source; `config` is the edited configuration once the dialog is accepted.

    Errors are shown in the dialog, which stays open with the typed text. `problem` is an error to show
    initially.
    """

    def __init__(
        self, config: SourceConfig, theme: ThemeSource, parent: QWidget | None, problem: str = ""
    ) -> None:
        super().__init__(parent, self.tr("Edit source"))
        self.config = config
        self.setMinimumWidth(round(460 * theme.zoom))
        self.name = QLineEdit(config.name)
        self.name.setMaxLength(MAX_NAME_CHARS)
        self.name.setToolTip(self.tr("Name shown in the panel and to agents"))
        form = QWidget()
        self._form = QFormLayout(form)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setVerticalSpacing(10)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.addRow(self.tr("&Name"), self.name)
        self.address: QLineEdit | None = None
        self.minutes: QSpinBox | None = None
        self.globs: QPlainTextEdit | None = None
        if isinstance(config, FeedConfig):
            self._add_feed_fields(config)
        elif isinstance(config, VaultStreamConfig | FolderStreamConfig):
            self._add_globs_field(config, theme)
        self.add_body(form)
        self.problem = wrapped_label(problem, "danger")
        self.problem.setVisible(bool(problem))
        self.add_body(self.problem)
        self.add_button(self.tr("Cancel"), int(QDialog.DialogCode.Rejected))
        self.save_button = self.add_button(self.tr("Save"), 0, "primary")
        self.save_button.clicked.disconnect()
        self.save_button.clicked.connect(self._accept)
        self.save_button.setDefault(True)
        self.name.setFocus()

    def _add_feed_fields(self, config: FeedConfig) -> None:
        self.address = QLineEdit(config.url)
        self.address.setMaxLength(4000)
        self.address.setToolTip(self.tr("Address of an RSS or Atom feed"))
        self.minutes = QSpinBox()
        self.minutes.setRange(5, 7 * 24 * 60)
        self.minutes.setValue(config.minutes)
        self.minutes.setSuffix(self.tr(" minutes"))
        self.minutes.setToolTip(self.tr("Time between checks of the feed (at least 5 minutes)"))
        self._form.addRow(self.tr("&Address"), self.address)
        self._form.addRow(self.tr("Check &every"), self.minutes)

    def _add_globs_field(self, config: VaultStreamConfig | FolderStreamConfig, theme: ThemeSource) -> None:
        self.globs = QPlainTextEdit("\n".join(config.globs))
        self.globs.setPlaceholderText(
            self.tr("One pattern per line, such as Projects/** or *.csv. Leave empty for all files.")
        )
        self.globs.setToolTip(self.tr("Files to report: * matches within a folder, ** across folders"))
        self.globs.setTabChangesFocus(True)
        self.globs.setFixedHeight(round(110 * theme.zoom))
        self._form.addRow(self.tr("&Files"), self.globs)

    def _accept(self) -> None:
        try:
            self.config = self._edited_config()
        except (ValidationError, ScriptoriumError) as error:
            if isinstance(error, ScriptoriumError):
                text = error.message
            else:
                text = problem_text(error.errors(include_url=False)[0], type(self.config))
            self.problem.setText(text)
            self.problem.show()
        else:
            self.accept()

    def _edited_config(self) -> SourceConfig:
        """Return the configuration with the entered values.

        Raises:
            ValidationError: A value is invalid.
            ScriptoriumError: A glob is invalid.
        """
        values: dict[str, object] = self.config.model_dump()
        values["name"] = self.name.text().strip()
        if self.address is not None and self.minutes is not None:
            values |= {"url": self.address.text().strip(), "minutes": self.minutes.value()}
        if self.globs is not None:
            lines = (line.strip() for line in self.globs.toPlainText().splitlines())
            globs = tuple(dict.fromkeys(line for line in lines if line))
            for glob in globs:
                Glob(glob)
            values["globs"] = globs
        return type(self.config).model_validate(values)

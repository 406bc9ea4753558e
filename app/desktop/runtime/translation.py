"""Translate strings outside QObject classes, in calls that `packaging/translations.py` can extract."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app.translatable_text import TranslatableText

translate = QCoreApplication.translate


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:
    """Mark a string for translation and return it unchanged; `translate` translates it where it is shown.

    Args:
        context: The context of the translation.
        text: The string, as a literal.
    """
    return text


@dataclass(frozen=True, slots=True)
class PluralText:
    """A string that contains a number, in the user's language: "1 note", "2,000 notes".

    `packaging/translations.py` extracts the text for 1, with the text for other numbers as its comment. In
    the .ts file, the message needs `numerus="yes"`, which gives it a form for each plural of the language.
    English needs no translation file.

    Attributes:
        context: The context of the translation.
        one: The text for 1, as a literal. {0} stands for the number.
        many: The text for every other number, as a literal.
    """

    context: str
    one: str
    many: str

    def format(self, count: int, *values: object) -> str:
        """Return the text for a number.

        Args:
            count: The number.
            values: The values for {1}, {2} and so on.
        """
        return _translate_template(self.context, self.one, self.many, count).format(f"{count:,}", *values)


def translate_text(text: TranslatableText) -> str:
    """Return a text of the core in the user's language."""
    return text.render(_translate_template)


def translate_setting(text: str) -> str:
    """Return a title, description or choice of the settings, or another model, in the user's language.

    `packaging/translations.py` extracts the texts from the models.
    """
    return translate("Settings", text) if text else ""


def _translate_template(context: str, one: str, many: str, count: int) -> str:
    text = translate(context, one, many or None, count)
    return many if many and text == one and count != 1 else text

"""Translation of texts outside of QObject classes, in calls that pyside6-lupdate can extract."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

translate = QCoreApplication.translate


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:
    """Mark a text for translation and return it unchanged; `translate` translates it where it is shown.

    Args:
        context: The context of the translation.
        text: The text, a literal.
    """
    return text

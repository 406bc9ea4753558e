"""Texts of the core in English, which a front end can translate without taking them apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

Translator = Callable[[str, str, str, int], str]
"""Returns the template in the user's language, given the context, the text, the plural and the count."""


@dataclass(frozen=True, slots=True)
class TranslatableText:
    """A text for the user: a template in English and the values that it names.

    There is no implicit conversion to `str`, so that a front end chooses: the command line and the servers
    use `english`, the window `translate_text` in `desktop/runtime/translation.py`.

    Attributes:
        context: The context of the translation.
        text: The template, as a literal. {0} stands for the first value; with `plural`, the text for 1.
        plural: If the first value is a count, the text for every number but 1, as a literal.
        values: The values; those that are texts are translated, too, and integers are grouped by thousands.
        is_capitalized: Whether the text starts with a capital letter, whatever the template starts with.
    """

    context: str
    text: str
    plural: str = ""
    values: tuple[object, ...] = ()
    is_capitalized: bool = False

    @classmethod
    def verbatim(cls, text: str) -> TranslatableText:
        """Return a text that is the same in every language, such as a name."""
        return cls("", "{0}", values=(text,))

    def fill(self, *values: object) -> TranslatableText:
        """Return the text with these values."""
        return replace(self, values=values)

    def capitalized(self) -> TranslatableText:
        """Return the text with a capital letter at its start."""
        return replace(self, is_capitalized=True)

    @property
    def english(self) -> str:
        """The text in English."""
        return self.render(_english_template)

    def render(self, translator: Translator) -> str:
        """Return the text with the templates that `translator` returns."""
        first = self.values[0] if self.plural else None
        count = first if isinstance(first, int) else -1
        # A verbatim text has no context.
        template = translator(self.context, self.text, self.plural, count) if self.context else self.text
        rendered = template.format(*(_render_value(value, translator) for value in self.values))
        return rendered[:1].upper() + rendered[1:] if self.is_capitalized else rendered


def _english_template(context: str, text: str, plural: str, count: int) -> str:
    return plural if plural and count != 1 else text


def _render_value(value: object, translator: Translator) -> str:
    if isinstance(value, TranslatableText):
        return value.render(translator)
    return f"{value:,}" if isinstance(value, int) else str(value)

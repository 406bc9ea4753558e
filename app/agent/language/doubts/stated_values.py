"""Find what a change of a property may mean besides the value in the request: a link, a list or a day."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.changes.property_lines import bound_value, end_phrase
from app.agent.language.doubts.stated_amounts import (
    changed_by,
    increased_number,
    is_number,
    says_add,
)
from app.agent.language.doubts.stated_days import with_nearest_year
from app.agent.language.grammar.note_facts import PropertiesOf, present_values
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import PipelineStep
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.lexicon import languages
from app.agent.language.words.linked_values import PLAIN, are_notes, linked_value, may_be_noun
from app.agent.language.words.text_lists import split_items
from app.agent.language.words.tokens import DOTTED_NUMBER, tokenize
from app.agent.language.words.vault_words import VaultWords, property_label
from app.vault.path import NotePath, name_key

_MAX_KNOWN = 2


class StatedValues:
    """Finds the values that a request may mean for a property: "Woolf" the known author Virginia Woolf.

    Args:
        request: The request.
        properties_of: Returns the properties of the note at a path.
        words: The vault's properties.
    """

    def __init__(self, request: Request, properties_of: PropertiesOf, words: VaultWords) -> None:
        self._request = request
        self._language = request.language
        self._names = request.vocabulary
        self._properties_of = properties_of
        self._words = words

    def alternatives(self, step: PipelineStep) -> Sequence[PipelineStep]:
        """Return the changes that set a property to another value than the request's words."""
        key, value = str(step.arguments["key"]), step.arguments["value"]
        if is_number(value) and (days := self._days(step, self._request.text.split()[-1])):
            return [*(step.with_argument("value", day) for day in days), step]
        if is_number(value):
            numbers = self._numbers(step, value)
            return [step.with_argument("value", number) for number in numbers] or [step]
        if isinstance(value, tuple):
            items = tuple(self._known_item(key, item) for item in value)
            plain = tuple(self._known_item(key, item, is_whole=True) for item in value)
            return [step.with_argument("value", values) for values in dict.fromkeys((items, plain))]
        if not isinstance(value, str) or not value or self._request.is_marked(value):
            return [step]
        if (stated := self._without_other_words(step, value)) != value:
            return self.alternatives(step.with_argument("value", stated))
        if states := self._states(step, key, value):
            return [step.with_argument("value", state) for state in states]
        if known_value := self._translated(key, value):
            return [step.with_argument("value", known_value), step]
        if days := self._days(step, value):
            return [*(step.with_argument("value", day) for day in days), step]
        if dated := with_nearest_year(self._request, step, self._old_values(step)):
            return dated
        if PLAIN.fullmatch(value):
            return [step]
        if own := self._own_link(step, value):
            return [step.with_argument("value", own)]
        if parts := self._parts(step, key, value):
            return [step.with_argument("value", parts), step]
        if known := self._known_links(key, value):
            return [*(step.with_argument("value", link) for link in known), step]
        links = self._names.links_of(key)
        is_noun = may_be_noun(self._language, value) and not self._names.known_link(key, value)
        if is_noun and links and are_notes(self._names, links):
            return [step, step.with_argument("value", f"[[{value}]]")]
        return [step.with_argument("value", linked_value(self._names, self._language, key, value))]

    def _without_other_words(self, step: PipelineStep, value: str) -> object:
        """Return a value without words that close the sentence: "e-mail in the end", "1300 these days".

        Only the number remains of one with words such as "more like a" if the property has numbers.
        """
        request, at = self._request, self._request.text.find(value)
        words = tuple(own for own in request.tokens if at <= own.start and own.end <= at + len(value))
        if at < 0 or len(words) < 2 or self._words.has_text(str(step.arguments["key"]), value):
            return value
        rest = words[: end_phrase(request, words, 1, len(words))]
        old_values, plain = self._old_values(step), self._language.function_words()
        has_number = bool(old_values) and all(map(is_number, old_values)) and rest[-1].key.isdecimal()
        if has_number and all(own.key in plain for own in rest[:-1]):
            rest = rest[-1:]
        return value if len(rest) == len(words) else bound_value(request, rest)

    def _numbers(self, step: PipelineStep, value: object) -> Sequence[object]:
        """Return what a number may mean: a sum, thousands, or a text with leading zeros."""
        if (changed := changed_by(self._request, value, self._old_values(step))) is not None:
            return [changed]
        if not says_add(self._request):
            return self._thousands(value) or self._with_zeros(step, value)
        return [*increased_number(self._request, step, value, self._old_values(step)), value]

    def _known_item(self, key: str, item: object, *, is_whole: bool = False) -> object:
        """Return an item of a list as known in the vault; one that may mean several links stays as it is.

        With `is_whole`, it is not a part of a known name, except of the only linked one.
        """
        if not isinstance(item, str) or not item or self._request.is_marked(item):
            return item
        known = self._known_links(key, item)
        if is_whole and known != [*self._names.links_with(key, item)]:
            known = []
        return known[0] if len(known) == 1 else linked_value(self._names, self._language, key, item)

    def _own_link(self, step: PipelineStep, value: str) -> str:
        """Return the present link of a property to the same name; empty without one."""
        links = [str(old) for old in self._old_values(step) if str(old).startswith("[[")]
        return next((link for link in links if name_key(property_label(link)) == name_key(value)), "")

    def _states(self, step: PipelineStep, key: str, value: str) -> list[str]:
        """Return the values of a checkbox that "yes" or "off" means; also the word if it may be a text."""
        table = self._language.table("property_values")
        states = {**dict.fromkeys(table["checked"], "true"), **dict.fromkeys(table["unchecked"], "false")}
        if value.casefold() not in states or not self._words.is_checkbox(key):
            return []
        is_checkbox = any(isinstance(old, bool) for old in self._old_values(step))
        return [states[value.casefold()], *([] if is_checkbox else [value])]

    def _translated(self, key: str, value: str) -> str:
        """Return the known text of a property that a new text translates: "high" for "hoch"; or no text."""
        if self._words.has_text(key, value):
            return ""
        tables = (language.table("value_synonyms") for language in languages()[1:])
        texts = (text for table in tables for text in table.get(value.casefold(), ()))
        return next((known for text in texts if (known := self._names.find_text_of(key, text))), "")

    def _with_zeros(self, step: PipelineStep, value: object) -> list[object]:
        """Return a number, and the text "007" in the request that means it; none without leading zeros."""
        texts = [token.value for token in self._request.tokens if token.value.startswith("0")]
        text = next((text for text in texts if text.lstrip("0") == str(value)), "")
        if not text:
            return []
        is_text = any(isinstance(old, str) for old in self._old_values(step))
        return [text, value] if is_text else [value, text]

    def _old_values(self, step: PipelineStep) -> list[object]:
        notes = step.target.notes if step.target is not None else ()
        return present_values(self._properties_of, notes, step.arguments["key"])

    def _thousands(self, value: object) -> list[object]:
        """Return both numbers that "51.000" may mean in a language with decimal points; none for others."""
        texts = (token.value for token in self._request.tokens)
        text = next((text for text in texts if DOTTED_NUMBER.fullmatch(text) and "," not in text), "")
        if text.count(".") != 1 or float(text) != value:
            return []
        return [value, int(text.replace(".", ""))]

    def _days(self, step: PipelineStep, value: str) -> list[str]:
        """Return the day that a text such as "31.3." may mean if the property has a day."""
        day = self._request.dates.numeric_day(value)
        has_day = any(ISO_DAY.fullmatch(str(old)) for old in self._old_values(step))
        return [day.isoformat()] if day is not None and has_day else []

    def _parts(self, step: PipelineStep, key: str, value: str) -> tuple[str, ...]:
        """Return the values of a list ("Theo and Ida") as known in the vault; none for a single value."""
        links = self._names.links_of(key)
        is_list = self._words.is_list(key) or any(isinstance(old, list) for old in self._old_values(step))
        is_known = self._words.has_text(key, value) or bool(self._names.notes(value))
        if not (links or is_list) or is_known or len(self._known_links(key, value)) == 1:
            return ()
        tokens = tokenize(value, self._language.contractions)
        items = split_items(value, tokens, self._language, with_links=True)
        return tuple(str(self._known_item(key, item)) for item in items)

    def _known_links(self, key: str, value: str) -> list[str]:
        """Return the linked texts of a property, and the note, of which a text is only a part."""
        links = self._names.links_of(key)
        if not links or self._names.known_link(key, value):
            return []
        known = [*self._names.links_with(key, value)]
        linked = [path for link in links for path in self._names.notes(property_label(link))]
        folders = {NotePath.on_disk(path).folder for path in linked}
        if not known and value[:1].isupper() and (path := self._names.note_with_words(value, folders)):
            known = [f"[[{NotePath.on_disk(path).name}]]"]
        return known[:_MAX_KNOWN]

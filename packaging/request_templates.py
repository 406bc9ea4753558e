"""Expand request templates: lines in `packaging/requests` with choices and slots become sentences."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import tokenize

TEMPLATES = Path(__file__).parent / "requests"
OUTSIDE = ""
"""The role of a word that belongs to no value."""
TOPIC_SLOT = "{topic}"
VARIANTS = {"": 8, "_lookups": 20, "_changes": 24}
"""The number of random wordings per line, by suffix of the file name; equal ones count once."""
LEAD_SHARE = 0.25
TRAIL_SHARE = 0.15
_PIECE = re.compile(r"[()\[\]|]|\{\w+(?::\w*)?\}|[^\s()\[\]|{}]+")
_SLOT = re.compile(r"\{(\w+)(?::(\w*))?\}")

MASKS = frozenset(("note", "tag", "kind", "prop", "num", "date", "rel"))
"""Slots of which the models see only the kind."""
WORDINGS = frozenset(("one", "set", "object", "finds", "thats"))
FINDS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(MASKS, ("target",)),
    "topic": ("topic",),
    "quoted": ("topic",),
}
_ON_NOTES = {"note": ("target",), "kind": ("target",), "date": ("target",)}
ROLES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "append": {**_ON_NOTES, "topic": ("text",), "quoted": ("text",)},
    "prepend": {**_ON_NOTES, "topic": ("text",), "quoted": ("text",)},
    "replace": {**_ON_NOTES, "topic": ("old", "text"), "quoted": ("old", "text")},
    "remove_text": {**_ON_NOTES, "topic": ("old",), "quoted": ("old",)},
    "complete_task": {**_ON_NOTES, "topic": ("query",), "quoted": ("query",)},
    "reopen_task": {**_ON_NOTES, "topic": ("query",), "quoted": ("query",)},
    "add_tag": {**_ON_NOTES, "tag": ("tag",), "topic": ("tag",), "quoted": ("tag",)},
    "remove_tag": {**_ON_NOTES, "tag": ("tag",), "topic": ("tag",), "quoted": ("tag",)},
    "rename_tag": {"tag": ("tag", "new_tag"), "quoted": ("new_tag",), "topic": ("new_tag",)},
    "set_property": {
        **_ON_NOTES,
        "prop": ("key",),
        "num": ("value",),
        "topic": ("value",),
        "quoted": ("value",),
    },
    "set_confidence": {**_ON_NOTES, "num": ("confidence",)},
    "remove_property": {**_ON_NOTES, "prop": ("key",)},
    "rename": {**_ON_NOTES, "topic": ("new_name",), "quoted": ("new_name",)},
    "move": {"note": ("target",), "kind": ("folder",), "topic": ("folder",), "quoted": ("folder",)},
    "delete": _ON_NOTES,
    "merge": {"note": ("target", "other")},
    "relate": {"note": ("target", "to"), "rel": ("type",), "num": ("confidence",)},
    "unrelate": {"note": ("target", "to")},
    "explain_relation": {"note": ("target", "to")},
    "set_type": {"note": ("target",), "kind": ("type",)},
    "recalculate": _ON_NOTES,
    "create_note": {"topic": ("name",), "quoted": ("name",), "kind": ("folder",), "tag": ("tag",)},
}
"""The roles of slots without one, by action and slot: the first such slot's, the second's and so on."""


@dataclass(frozen=True)
class TemplateWord:
    """A word of a sentence and its role; the key of a slot is its kind in braces."""

    key: str
    role: str = OUTSIDE


@dataclass(frozen=True)
class Sentence:
    """A sentence: its words, its label and its language."""

    words: tuple[TemplateWord, ...]
    label: str
    language: Language


class Corpus:
    """The sentences of one language, from its templates and the values for their slots.

    Args:
        language: The language.
        chance: The random generator.
    """

    def __init__(self, language: Language, chance: random.Random) -> None:
        self._language = language
        self._chance = chance
        self._values = {
            name.removeprefix("."): lines
            for part in ("_values", "_lookups")
            for name, lines in sections(TEMPLATES / f"{language.code}{part}.txt")
            if part == "_values" or name.startswith(".")
        }
        pointing = [phrase.text for name in ("this", "it", "them") for phrase in language.phrases(name)]
        self._pointing = frozenset(text for text in pointing if text.isalpha()) - {"that", "das", "die"}

    def sentences(self) -> Iterator[Sentence]:
        """Yield the sentences of the language's files, several wordings of each line."""
        for part, count in VARIANTS.items():
            for label, lines in sections(TEMPLATES / f"{self._language.code}{part}.txt"):
                if label.startswith("."):
                    continue
                defaults = {} if part == "_changes" else ROLES.get(label.partition(".")[0], FINDS)
                for line in lines:
                    wordings = {tuple(self._expand_with_lead(line, label, defaults)) for _ in range(count)}
                    for words in sorted(wordings, key=str):
                        yield Sentence(words, label, self._language)

    def _expand_with_lead(
        self, line: str, label: str, defaults: Mapping[str, Sequence[str]]
    ) -> Iterator[TemplateWord]:
        """Yield the words of one wording of a line, sometimes with words before and after it."""
        chance, wraps = self._chance, label not in ("none", "help", "ask")
        if wraps and chance.random() < LEAD_SHARE:
            yield from map(TemplateWord, chance.choice(self._values["lead"]).split())
        yield from self._expand_line(line, defaults)
        if wraps and chance.random() < TRAIL_SHARE:
            yield from map(TemplateWord, chance.choice(self._values["trail"]).split())

    def _expand_line(self, line: str, defaults: Mapping[str, Sequence[str]]) -> Iterator[TemplateWord]:
        """Yield the words of one wording of a line."""
        counts: dict[str, int] = {}
        quotes = self._chance.random() < 0.35
        for piece in expand(line, self._chance):
            if match := _SLOT.fullmatch(piece):
                slot, role = match[1], match[2]
                if role is None and slot in defaults:
                    shared = "words" if slot in ("topic", "quoted") else slot
                    choices = defaults[slot]
                    role = choices[min(counts.get(shared, 0), len(choices) - 1)]
                    counts[shared] = counts.get(shared, 0) + 1
                yield from self._fill_slot(slot, role, quotes)
            elif defaults and defaults is not FINDS and piece in self._pointing:
                yield TemplateWord(piece, "target")
            else:
                yield TemplateWord(piece)

    def _fill_slot(self, slot: str, role: str | None, quotes: bool) -> Iterator[TemplateWord]:
        chance = self._chance
        if slot in WORDINGS:
            for word in self._wording(slot):
                yield replace(word, role=word.role if word.role == "topic" else "target")
            return
        role = slot if role is None else role
        role = {"content": "text", "new": "text", "words": "topic"}.get(role, role)
        if role in ("key", "tag") and slot in ("prop", "tag"):
            # A name that the vault does not have yet.
            new = {"prop": ("{quoted}", "", "", "", ""), "tag": ("{quoted}", "")}[slot]
            mask = chance.choice((*new, *[f"{{{slot}}}"] * 6))
            yield TemplateWord(mask or TOPIC_SLOT, role)
            return
        if slot in MASKS:
            # The date parser reads a year of the distant past as a number.
            yield TemplateWord("{num}" if slot == "date" and chance.random() < 0.4 else f"{{{slot}}}", role)
            return
        if slot == "quoted" or (quotes and slot not in ("label", "topic", "words", "folder", "type")):
            yield TemplateWord("{quoted}", role)
            return
        masks = {
            "label": "tag tag tag kind",
            "folder": "kind kind kind kind",
            "value": "num num date quoted",
            "type": "kind kind kind kind kind kind",
        }
        mask = chance.choice((masks.get(slot, "").split() + [""] * 8)[:8])
        if mask:
            yield TemplateWord(f"{{{mask}}}", role)
            return
        name = {"topic": "words", "type": "label"}.get(slot, slot)
        text = chance.choice(self._values.get(name) or self._values["words"])
        while text.startswith("@"):
            text = chance.choice(self._values[text[1:]])
        for token in tokenize(text, {}):
            key = token.key if token.is_word else token.key[:1]
            yield TemplateWord(key, role)

    def _wording(self, name: str) -> Iterator[TemplateWord]:
        """Yield the words of a phrase for notes."""
        line = self._chance.choice(self._values[name])
        if line.startswith("@"):
            yield from self._wording(line[1:])
            return
        for piece in expand(line, self._chance):
            if match := _SLOT.fullmatch(piece):
                yield from self._fill_slot(match[1], match[2], False)
            else:
                yield TemplateWord(piece, "target")


def sections(file: Path) -> list[tuple[str, list[str]]]:
    """Return the headings and lines of a template file's sections."""
    found: list[tuple[str, list[str]]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\[([\w.:]+)\]", line.strip()):
            found.append((match[1], []))
        elif line.strip() and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def expand(text: str, chance: random.Random) -> list[str]:
    """Return the pieces of one wording of a line, casefolded except for slots."""
    pieces = _PIECE.findall(text)

    def sequence(at: int, closing: str) -> tuple[list[list[object]], int]:
        options: list[list[object]] = [[]]
        while at < len(pieces) and pieces[at] != closing:
            piece = pieces[at]
            at += 1
            if piece == "|":
                options.append([])
            elif piece in "([":
                inner, at = sequence(at, ")" if piece == "(" else "]")
                at += 1
                options[-1].append([*inner, []] if piece == "[" else inner)
            else:
                options[-1].append(piece)
        return options, at

    def flatten(parts: list[object]) -> Iterator[str]:
        for part in parts:
            if isinstance(part, list):
                yield from flatten(chance.choice(part))
            else:
                yield str(part)

    options, _ = sequence(0, "")
    return [piece if piece.startswith("{") else piece.casefold() for piece in flatten(chance.choice(options))]

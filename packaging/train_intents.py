"""Train the model that ranks actions for requests: `python packaging/train_intents.py [--check]`.

The examples are in `packaging/intents/*.txt` (written, with choices that are expanded here) and in the
seen half of the evaluation set. The result is `resources/language/intents.npz`; the same examples give the
same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import random
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.agent.language import span_model  # noqa: E402
from app.agent.language.dates import DateParser  # noqa: E402
from app.agent.language.dialog import DialogState  # noqa: E402
from app.agent.language.intent_model import BUCKETS, MODEL_FILE, TOPIC_SLOT, features, mask_words  # noqa: E402
from app.agent.language.lexicon import Language, languages  # noqa: E402
from app.agent.language.mentions import EntityMention, find_mentions  # noqa: E402
from app.agent.language.note_sets import NoteSetParser  # noqa: E402
from app.agent.language.span_model import (  # noqa: E402
    OUTSIDE,
    SPAN_FILE,
    RequestItem,
    item_features,
    word_shape,
)
from app.agent.language.tokens import Token, tokenize  # noqa: E402
from app.agent.language.vocabulary import VaultWords, Vocabulary  # noqa: E402
from app.index.resolver import Resolver  # noqa: E402
from app.vault.path import NotePath  # noqa: E402

EXAMPLES = Path(__file__).parent / "intents"
SEEN = ROOT / "tests" / "evaluation" / "requests_seen.txt"
SAMPLE = ROOT / "resources" / "sample-vault"
OUTPUT = ROOT / "resources" / "language" / MODEL_FILE
SPAN_OUTPUT = ROOT / "resources" / "language" / SPAN_FILE
VARIANTS = {"": 8, "_lookups": 20, "_changes": 24}
SPAN_EPOCHS = 4
LEAD_SHARE = 0.25
SEEN_WEIGHT = 3
"""The weight of a request of the seen half; it counts more than a generated one."""
TRAIL_SHARE = 0.15
EPOCHS = 16
RATE = 0.5
DECAY = 2e-5
SEED = 7
_PIECE = re.compile(r"[()\[\]|]|\{\w+(?::\w*)?\}|[^\s()\[\]|{}]+")
_SLOT = re.compile(r"\{(\w+)(?::(\w*))?\}")
_SAME = {"read": "open", "count_these": "count", "meaning": "find", "remove_all_tags": "remove_tag"}

Example = tuple[tuple[str, ...], str]
Roles = tuple[tuple[tuple[RequestItem, str], ...], str]

MASKS = frozenset(("note", "tag", "kind", "prop", "num", "date", "rel"))
"""Slots that the models see by their kind only."""
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
"""The roles of the slots of examples that name none, by action: those of the first, the second and so on."""
JOINTS: Mapping[str, Sequence[str]] = {
    "en": (
        "and",
        ",",
        ", then",
        "then",
        "and then",
        ".",
        ";",
        ", and",
        "after that",
        "and also",
        "and afterwards",
    ),
    "de": ("und", ",", ", dann", "dann", "und dann", ".", ";", "danach", "und danach"),
}
"""Words between two requests in one."""


@dataclass(frozen=True)
class Word:
    """A word of an example, its role, and its shape; the key of a slot is its kind in braces."""

    key: str
    role: str = OUTSIDE
    shape: str = "a"
    is_value: bool = False


@dataclass(frozen=True)
class Sentence:
    """An example: its words, its label and its language."""

    words: tuple[Word, ...]
    label: str
    language: Language


class Corpus:
    """The examples of one language, and what fills their slots.

    Args:
        language: The language.
        chance: The source of choices.
    """

    def __init__(self, language: Language, chance: random.Random) -> None:
        self._language = language
        self._chance = chance
        self._values = {
            name.removeprefix("."): lines
            for part in ("_values", "_lookups")
            for name, lines in sections(EXAMPLES / f"{language.code}{part}.txt")
            if part == "_values" or name.startswith(".")
        }
        pointing = [phrase.text for name in ("this", "it", "them") for phrase in language.phrases(name)]
        self._pointing = frozenset(text for text in pointing if text.isalpha()) - {"that", "das", "die"}

    def sentences(self) -> Iterator[Sentence]:
        """Yield the examples of all files of the language, several ways to say each line."""
        for part, count in VARIANTS.items():
            for label, lines in sections(EXAMPLES / f"{self._language.code}{part}.txt"):
                if label.startswith("."):
                    continue
                defaults = {} if part == "_changes" else ROLES.get(label.partition(".")[0], FINDS)
                for line in lines:
                    ways = {tuple(self._wrapped(line, label, defaults)) for _ in range(count)}
                    for words in sorted(ways, key=str):
                        yield Sentence(words, label, self._language)

    def _wrapped(self, line: str, label: str, defaults: Mapping[str, Sequence[str]]) -> Iterator[Word]:
        """Yield the words of one way to say a line, sometimes with words before and after it."""
        chance, wraps = self._chance, label not in ("none", "help", "ask")
        if wraps and chance.random() < LEAD_SHARE:
            yield from map(Word, chance.choice(self._values["lead"]).split())
        yield from self._said(line, defaults)
        if wraps and chance.random() < TRAIL_SHARE:
            yield from map(Word, chance.choice(self._values["trail"]).split())

    def _said(self, line: str, defaults: Mapping[str, Sequence[str]]) -> Iterator[Word]:
        """Yield the words of one way to say a line."""
        counts: dict[str, int] = {}
        quotes = self._chance.random() < 0.35
        lowers = self._chance.random() < 0.5
        for piece in expanded(line, self._chance):
            if match := _SLOT.fullmatch(piece):
                slot, role = match[1], match[2]
                if role is None and slot in defaults:
                    shared = "words" if slot in ("topic", "quoted") else slot
                    choices = defaults[slot]
                    role = choices[min(counts.get(shared, 0), len(choices) - 1)]
                    counts[shared] = counts.get(shared, 0) + 1
                yield from self._filled(slot, role, quotes, lowers)
            elif defaults and defaults is not FINDS and piece in self._pointing:
                yield Word(piece, "target")
            else:
                yield Word(piece)

    def _filled(self, slot: str, role: str | None, quotes: bool, lowers: bool) -> Iterator[Word]:
        chance = self._chance
        if slot in WORDINGS:
            for word in self._wording(slot, lowers):
                yield replace(word, role=word.role if word.role == "topic" else "target")
            return
        role = slot if role is None else role
        role = {"content": "text", "new": "text", "words": "topic"}.get(role, role)
        if role in ("key", "tag") and slot in ("prop", "tag"):
            # A name that the vault does not have yet.
            new = {"prop": ("{quoted}", "", "", "", ""), "tag": ("{quoted}", "")}[slot]
            mask = chance.choice((*new, *[f"{{{slot}}}"] * 6))
            yield Word(mask or TOPIC_SLOT, role, is_value=True)
            return
        if slot in MASKS:
            # A year before our time is a number to the parser of dates.
            yield Word("{num}" if slot == "date" and chance.random() < 0.4 else f"{{{slot}}}", role)
            return
        if slot == "quoted" or (quotes and slot not in ("label", "topic", "words", "folder", "type")):
            yield Word("{quoted}", role)
            return
        masks = {
            "label": "tag tag tag kind",
            "folder": "kind kind kind kind",
            "value": "num num date quoted",
            "type": "kind kind kind kind kind kind",
        }
        mask = chance.choice((masks.get(slot, "").split() + [""] * 8)[:8])
        if mask:
            yield Word(f"{{{mask}}}", role)
            return
        name = {"topic": "words", "type": "label"}.get(slot, slot)
        text = chance.choice(self._values.get(name) or self._values["words"])
        while text.startswith("@"):
            text = chance.choice(self._values[text[1:]])
        for token in tokenize(text, {}):
            key = token.key if token.is_word else token.key[:1]
            yield Word(key, role, word_shape(token.value.lower() if lowers else token.value), is_value=True)

    def _wording(self, name: str, lowers: bool) -> Iterator[Word]:
        """Yield the words of a wording of notes."""
        line = self._chance.choice(self._values[name])
        if line.startswith("@"):
            yield from self._wording(line[1:], lowers)
            return
        for piece in expanded(line, self._chance):
            if match := _SLOT.fullmatch(piece):
                yield from self._filled(match[1], match[2], False, lowers)
            else:
                yield Word(piece, "target")


def sections(file: Path) -> list[tuple[str, list[str]]]:
    """Return the sections of an examples file: their headings and lines."""
    found: list[tuple[str, list[str]]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\[([\w.:]+)\]", line.strip()):
            found.append((match[1], []))
        elif line.strip() and not line.startswith("#"):
            found[-1][1].append(line)
    return found


def expanded(text: str, chance: random.Random) -> list[str]:
    """Return one way to say a line of the examples."""
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

    def said(parts: list[object]) -> Iterator[str]:
        for part in parts:
            if isinstance(part, list):
                yield from said(chance.choice(part))
            else:
                yield str(part)

    options, _ = sequence(0, "")
    return [piece if piece.startswith("{") else piece.casefold() for piece in said(chance.choice(options))]


def known_words(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Return the words that the models know: those of the wordings, not those of the values."""
    known: set[str] = set()
    for sentence in sentences:
        for word in sentence.words:
            if not word.is_value and not word.key.startswith("{"):
                known.update(sentence.language.contractions.get(word.key, word.key).split())
    return frozenset(word for word in known if any(map(str.isalnum, word)))


def as_items(sentence: Sentence, known: frozenset[str]) -> tuple[tuple[RequestItem, str], ...]:
    """Return an example as the span model sees it, with the role of each item."""
    found: list[tuple[RequestItem, str]] = []
    language = sentence.language
    for word in sentence.words:
        if word.key.startswith("{"):
            found.append((RequestItem(word.key, "A" if word.key == "{note}" else "a"), word.role))
            continue
        for part in language.contractions.get(word.key, word.key).split():
            if part in language.words("noise") and not word.role:
                continue
            if part in own_properties(language) or part in own_dates(language):
                mask = "{prop}" if part in own_properties(language) else "{date}"
                found.append((RequestItem(mask, word.shape), word.role))
                continue
            is_mark = not any(map(str.isalnum, part)) and part not in ("&", "+", "->", "/", "=")
            key = part if part in known or is_mark else TOPIC_SLOT
            found.append((RequestItem(key, "" if is_mark else word.shape), word.role))
    return tuple(with_relations(found, language))


@cache
def own_properties(language: Language) -> frozenset[str]:
    """Return the words of a language that always name a property."""
    return frozenset(word for words in language.table("properties").values() for word in words)


@cache
def own_dates(language: Language) -> frozenset[str]:
    """Return the words of a language that alone are a date."""
    return frozenset(("today", "yesterday")) if language.code == "en" else frozenset(("heute", "gestern"))


def with_relations(
    items: Sequence[tuple[RequestItem, str]], language: Language
) -> Iterator[tuple[RequestItem, str]]:
    """Yield the items with the words of a relation as one item, as requests are masked."""
    tokens = [Token("word", item.key, item.key, 0, 0) for item, _ in items]
    position = 0
    while position < len(items):
        end = max(
            (
                match.end
                for phrases in language.relations.values()
                for phrase in phrases
                if (match := phrase.longest_match(tokens, position))
            ),
            default=position,
        )
        if end > position and len({role for _, role in items[position:end]}) == 1:
            yield RequestItem("{rel}", "a"), items[position][1]
            position = end
            continue
        yield items[position]
        position += 1


def as_seen(items: Sequence[tuple[RequestItem, str]]) -> tuple[str, ...]:
    """Return an example as the intent model sees it."""
    made: list[str] = []
    for item, _ in items:
        is_mark = item.shape == "" and not item.key.startswith("{")
        if is_mark or (item.key == TOPIC_SLOT and made and made[-1] == TOPIC_SLOT):
            continue
        made.append(item.key)
    return tuple(made)


class SampleVault:
    """The names of the sample vault, used to interpret the requests of the seen half."""

    def __init__(self) -> None:
        self._resolver = Resolver()
        for file in sorted(SAMPLE.rglob("*")):
            if file.is_file():
                self._resolver.add(NotePath.on_disk(file.relative_to(SAMPLE).as_posix()))
        text = "\n".join(file.read_text(encoding="utf-8") for file in sorted(SAMPLE.rglob("*.md")))
        tags = sorted(
            {
                tag.strip()
                for line in re.findall(r"^tags:\s*\[(.*)\]", text, re.MULTILINE)
                for tag in line.split(",")
            }
        )
        types = sorted(set(re.findall(r"^type:\s*(\w+)", text, re.MULTILINE)))
        properties = sorted(set(re.findall(r"^(\w+):\s", text, re.MULTILINE)))
        self._words = VaultWords(tuple(tags), tuple(types), tuple(properties))
        self._now = datetime(2026, 3, 18, 12)

    def mentions(self, text: str, language: Language) -> tuple[EntityMention, ...]:
        """Return the mentions in a request."""
        tokens = tokenize(text, language.contractions, language.words("noise"))
        vocabulary = Vocabulary(
            self._resolver,
            self._words,
            language.data.get("plurals", ()),
            language.table("types"),
            language.table("nouns"),
        )
        dates = DateParser(language, self._now)
        sets = NoteSetParser(text, language, vocabulary, dates, DialogState())
        return find_mentions(text, tokens, language, vocabulary, sets, dates)


def label_of(gold: str) -> str:
    """Return the label of a reading in the format of the evaluation sets; empty if it is not learned."""
    if " | " in gold:
        return ""
    action = gold.split()[0] if gold.split() else ""
    if action == "list_tasks":
        return f"list_tasks.{match[1]}" if (match := re.search(r"state=(\w+)", gold)) else "list_tasks.open"
    if action == "undo":
        return f"undo.{match[1]}" if (match := re.search(r"scope=(\S+)", gold)) else "undo.last"
    if action == "set_property" and "key=confidence" in gold:
        return "set_confidence"
    if action == "replace" and re.search(r'text=""', gold):
        return "remove_text"
    return _SAME.get(action, action)


def seen_requests(file: Path = SEEN) -> list[tuple[str, str]]:
    """Return the requests of a file of the evaluation set with their labels."""
    found: list[tuple[str, str]] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        text, sign, gold = line.partition(" => ")
        if sign and not line.startswith("#") and (label := label_of(gold.split(" || ")[0].strip())):
            found.append((text.removeprefix("+").strip(), label))
    return found


def language_of(text: str) -> Language:
    """Return the language that knows most words of a request."""
    known = languages()
    return max(known, key=lambda one: one.coverage(tokenize(text, one.contractions, one.words("noise"))))


def examples(
    requests: list[tuple[str, str]], sentences: Sequence[Sentence], known: frozenset[str]
) -> list[Example]:
    """Return every example as the intent model sees it."""
    chance = random.Random(SEED)
    found = [(as_seen(as_items(sentence, known)), sentence.label) for sentence in sentences]
    vault = SampleVault()
    labels = {label for _, label in found}
    seen: list[Example] = []
    for text, label in requests:
        if label in labels:
            seen.append((mask_words(vault.mentions(text, language_of(text)), known), label))
    varied = [*found, *seen]
    for words, label in found + seen * SEEN_WEIGHT:
        kept = tuple(word for word in words if word.startswith("{") or chance.random() > 0.12)
        if kept and kept != words:
            varied.append((kept, label))
    return [*sorted(set(varied)), *seen * SEEN_WEIGHT]


def span_examples(
    sentences: Sequence[Sentence], known: frozenset[str]
) -> tuple[list[Roles], list[tuple[tuple[RequestItem, ...], tuple[float, ...]]]]:
    """Return the examples of roles, and the examples of boundaries: two requests in one, or a single one."""
    chance = random.Random(SEED)
    clauses = [(as_items(sentence, known), sentence) for sentence in sentences]
    roles: list[Roles] = []
    for items, sentence in clauses:
        if not items or (sentence.label in ("model", "question", "none", "ask", "help")):
            continue
        roles.append((tuple(with_noise(items, sentence.language, chance)), sentence.label))
    boundaries: list[tuple[tuple[RequestItem, ...], tuple[float, ...]]] = []
    by_language: dict[str, list[tuple[tuple[RequestItem, str], ...]]] = {}
    for items, sentence in clauses:
        if items and sentence.label not in ("none", "ask"):
            by_language.setdefault(sentence.language.code, []).append(items)
    for code, found in by_language.items():
        for items in chance.sample(found, len(found) // 2):
            other = chance.choice(found)
            joint = chance.choice(JOINTS[code]).split()
            both = [item for item, _ in items]
            targets = [0.0] * len(both)
            for index, word in enumerate(joint):
                both.append(RequestItem(word, "a" if word.isalpha() else ""))
                targets.append(float(index == 0))
            both += [item for item, _ in other]
            targets += [0.0] * len(other)
            boundaries.append((tuple(both), tuple(targets)))
            boundaries.append((tuple(item for item, _ in items), (0.0,) * len(items)))
    return roles, boundaries


def with_noise(
    items: Sequence[tuple[RequestItem, str]], language: Language, chance: random.Random
) -> Iterator[tuple[RequestItem, str]]:
    """Yield the items with words that mean nothing between them, and with some of them misspelled."""
    fillers = sorted(language.words("noise") | {"please", "bitte"})
    previous = ""
    for item, role in items:
        if chance.random() < 0.04 and not (role and role == previous):
            yield RequestItem(chance.choice((*fillers, TOPIC_SLOT)), "a"), OUTSIDE
        known = item.shape == "a" and not role and chance.random() < 0.03
        yield (RequestItem(TOPIC_SLOT, "a") if known else item), role
        previous = role


def trained_spans(
    roles: Sequence[Roles],
    boundaries: Sequence[tuple[tuple[RequestItem, ...], tuple[float, ...]]],
    known: frozenset[str],
) -> dict[str, npt.NDArray[np.generic]]:
    """Return the arrays of the span model, trained by AdaGrad on one example at a time."""
    names = [OUTSIDE, *sorted({role for items, _ in roles for _, role in items} - {OUTSIDE})]
    labels = ["", *sorted({label for _, label in roles})]
    number = {role: at for at, role in enumerate(names)}
    place = {label: at for at, label in enumerate(labels)}
    count = len(names)
    weights = np.zeros((span_model.BUCKETS, count))
    squares = np.full_like(weights, 1e-3)
    moves = np.zeros((len(labels), count + 1, count))
    move_squares = np.full_like(moves, 1e-3)
    chance = np.random.default_rng(SEED)
    prepared = []
    for items, label in roles:
        rows, _ = item_features([item for item, _ in items], label)
        prepared.append((rows, np.array([number[role] for _, role in items]), place[label]))
    for epoch in range(SPAN_EPOCHS):
        rate = 0.3 * (1 - epoch / SPAN_EPOCHS) + 0.02
        for at in chance.permutation(len(prepared)):
            rows, targets, label_at = prepared[at]
            before = np.concatenate(([count], targets[:-1]))
            logits = weights[rows].sum(axis=1) + moves[label_at][before]
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            odds /= odds.sum(axis=1, keepdims=True)
            odds[np.arange(len(targets)), targets] -= 1
            flat = rows.ravel()
            step = np.repeat(odds, rows.shape[1], axis=0)
            np.add.at(squares, flat, step * step)
            np.subtract.at(weights, flat, rate * step / np.sqrt(squares[flat]))
            move_squares[label_at, before] += odds * odds
            moves[label_at, before] -= rate * odds / np.sqrt(move_squares[label_at, before])
    edge = np.zeros(span_model.BUCKETS)
    edge_squares = np.full(span_model.BUCKETS, 1e-3)
    for epoch in range(2):
        rate = 0.3 * (1 - epoch / 2) + 0.02
        for at in chance.permutation(len(boundaries)):
            joined, ends = boundaries[at]
            _, rows = item_features(joined, "")
            wrong = 1 / (1 + np.exp(-edge[rows].sum(axis=1))) - np.array(ends)
            flat, step = rows.ravel(), np.repeat(wrong, rows.shape[1])
            np.add.at(edge_squares, flat, step * step)
            np.subtract.at(edge, flat, rate * step / np.sqrt(edge_squares[flat]))
    scales = np.maximum(np.abs(weights).max(axis=0), 1e-6) / 127
    edge_scale = float(np.abs(edge).max()) / 127
    head = {"roles": names, "labels": labels, "words": sorted(known)}
    return {
        "head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8),
        "weights": np.rint(weights / scales).astype(np.int8),
        "scales": scales.astype(np.float32),
        "moves": moves.astype(np.float32),
        "boundary": np.rint(edge / edge_scale).astype(np.int8),
        "boundary_scale": np.array(edge_scale),
    }


def trained(found: list[Example]) -> tuple[list[str], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return labels, weights and bias of a softmax over the features, trained by AdaGrad on batches."""
    labels = sorted({label for _, label in found})
    index = {label: at for at, label in enumerate(labels)}
    rows = [features(words) for words, _ in found]
    targets = np.array([index[label] for _, label in found])
    share = np.bincount(targets, minlength=len(labels)) / len(targets)
    weight = (1 / np.sqrt(share * len(labels)))[targets]
    weights = np.zeros((BUCKETS, len(labels)), dtype=np.float64)
    bias = np.zeros(len(labels))
    squares = np.full_like(weights, 1e-4)
    chance = np.random.default_rng(SEED)
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS) + 0.02
        for at in chance.permutation(len(rows)):
            row = rows[at]
            scale = 1 / np.sqrt(len(row))
            logits = weights[row].sum(axis=0) * scale + bias
            odds = np.exp(logits - logits.max())
            odds /= odds.sum()
            odds[targets[at]] -= 1
            odds *= weight[at]
            step = odds[None, :] * scale + DECAY * weights[row]
            squares[row] += step * step
            weights[row] -= rate * step / np.sqrt(squares[row])
            bias -= 0.01 * odds
    return labels, weights.astype(np.float32), bias.astype(np.float32)


def sources() -> dict[str, str]:
    """Return the hash of every file that the model is made from."""
    files = [*sorted(EXAMPLES.glob("*.txt")), SEEN]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def sentences() -> list[Sentence]:
    """Return the written examples of all languages."""
    chance = random.Random(SEED)
    return [sentence for language in languages() for sentence in Corpus(language, chance).sentences()]


def model_bytes(requests: list[tuple[str, str]]) -> tuple[bytes, bytes]:
    """Return the intent model, trained on the written examples and on `requests`, and the span model."""
    written = sentences()
    known = known_words(written)
    found = examples(requests, written, known)
    labels, weights, bias = trained(found)
    scales = np.maximum(np.abs(weights).max(axis=0), 1e-6) / 127
    small = np.rint(weights / scales).astype(np.int8)
    head = json.dumps({"labels": labels, "words": sorted(known), "sources": sources()}).encode()
    intents = {
        "head": np.frombuffer(head, dtype=np.uint8),
        "weights": small,
        "scales": scales.astype(np.float32),
        "bias": bias,
    }
    return packed(intents), packed(trained_spans(*span_examples(written, known), known))


def packed(arrays: Mapping[str, npt.NDArray[np.generic]]) -> bytes:
    """Return arrays as the bytes of an .npz file without times."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            inner = io.BytesIO()
            np.save(inner, array)
            file.writestr(
                zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), inner.getvalue(), zipfile.ZIP_DEFLATED
            )
    return buffer.getvalue()


def main() -> int:
    """Train and write the file; with --check, report whether the file matches the training result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    made = dict(zip((OUTPUT, SPAN_OUTPUT), model_bytes(seen_requests()), strict=True))
    if given.check:
        same = all(file.read_bytes() == content for file, content in made.items())
        print("The models are up to date." if same else "The models are out of date: train them again.")
        return 0 if same else 1
    for file, content in made.items():
        file.write_bytes(content)
        print(f"{file.relative_to(ROOT)}: {len(content):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Sequence models over the words of a request: where a clause ends, and which words fill which role.

Both are linear models over hashed features of a word and its neighbors, trained on the same examples as the
intent model by `packaging/train_intents.py`. Names of the vault are masked by their kind, so the models learn
how people phrase a request ("{note} needs the tag …"), in any order of its parts.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.agent.language.intent_model import TOPIC_SLOT
from app.agent.language.mentions import EntityMention
from app.agent.language.tokens import Token
from app.paths import resources_folder

BUCKETS = 1 << 15
OUTSIDE = ""
"""The role of words that are part of no value."""
SPAN_FILE = "spans.npz"
_EDGE = "<>"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RequestItem:
    """A word, a mark or a mention of a request, as the models see it.

    Args:
        key: The word if the models know it, `{topic}` if not, or the kind of a mention.
        shape: Whether the word is capitalized or contains a digit.
        tokens: The tokens of the item.
    """

    key: str
    shape: str = ""
    tokens: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class RoleSpan:
    """The tokens of the value of a role."""

    role: str
    tokens: tuple[Token, ...]


def request_items(
    tokens: Sequence[Token], mentions: Sequence[EntityMention], known: frozenset[str]
) -> tuple[RequestItem, ...]:
    """Return the items of a request: its mentions, its other words and its marks, in order."""
    items: list[RequestItem] = []
    rest = list(mentions)
    position = 0
    while position < len(tokens):
        token = tokens[position]
        mention = rest[0] if rest else None
        if mention is None or mention.tokens[0] != token:
            items.append(RequestItem(token.key[:1], "", (token,)))
            position += 1
            continue
        rest.pop(0)
        if mention.kind == "word":
            key = token.key if token.key in known else TOPIC_SLOT
        else:
            key = f"{{{mention.kind}}}"
        items.append(RequestItem(key, word_shape(token.value), mention.tokens))
        position += len(mention.tokens)
    return tuple(items)


def word_shape(text: str) -> str:
    """Return a feature of the letters of a word: a digit, a capital letter, or neither."""
    return "0" if any(map(str.isdigit, text)) else "A" if text[:1].isupper() else "a"


def item_features(
    items: Sequence[RequestItem], label: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the hashed features of each item, a row each, for the role model and for the boundary model.

    Args:
        items: The items of a clause or a request.
        label: The intent, with which some features are combined.
    """
    keys = [_EDGE, _EDGE, *(item.key for item in items), _EDGE, _EDGE, _EDGE]
    shapes = ["", "", *(item.shape for item in items), "", "", ""]
    rows: list[list[int]] = []
    plain_rows: list[list[int]] = []
    before = _EDGE
    quoted = notes = 0
    after: list[str] = []
    following = _EDGE
    for item in reversed(items):
        after.append(following)
        if item.key != TOPIC_SLOT:
            following = item.key
    after.reverse()
    all_notes = sum(item.key == "{note}" for item in items)
    for index, item in enumerate(items):
        here = index + 2
        window = {
            "a": keys[here],
            "b": keys[here - 1],
            "c": keys[here + 1],
            "d": before,
            "e": after[index],
            "f": f"{keys[here - 1]} {keys[here]}",
            "g": f"{keys[here]} {keys[here + 1]}",
            "h": f"{quoted} {keys[here]}",
            "i": f"{notes} {keys[here]} {all_notes}",
            "j": f"{before} {keys[here]} {after[index]}",
        }
        names = [f"{name}{value}" for name, value in window.items()]
        names += [
            f"k{keys[here - 2]}",
            f"l{keys[here + 2]}",
            f"m{keys[here - 2]} {keys[here - 1]}",
            f"n{keys[here + 1]} {keys[here + 2]}",
            f"o{shapes[here]} {shapes[here - 1]}",
            f"p{keys[here - 1]} {keys[here]} {keys[here + 1]}",
            f"q{index == 0} {index == len(items) - 1}",
            f"r{keys[here + 1]} {keys[here + 2]} {keys[here + 3]}",
        ]
        plain_rows.append([_bucket(name) for name in names])
        rows.append(plain_rows[-1] + [_bucket(f"{label}|{name}{value}") for name, value in window.items()])
        if item.key != TOPIC_SLOT:
            before = item.key
        quoted += item.key == "{quoted}"
        notes += item.key == "{note}"
    return np.array(rows, dtype=np.int64), np.array(plain_rows, dtype=np.int64)


def _bucket(name: str) -> int:
    return zlib.crc32(name.encode()) % BUCKETS


class SpanModel:
    """The trained models of roles and of boundaries between clauses.

    Args:
        path: The model file.

    Attributes:
        roles: The roles, `OUTSIDE` first.
        words: The words that the models know.
    """

    def __init__(self, path: Path) -> None:
        with np.load(path) as data:
            head = json.loads(bytes(data["head"]).decode())
            self.roles: tuple[str, ...] = tuple(head["roles"])
            self.words = frozenset(head["words"])
            self._labels = {label: index for index, label in enumerate(head["labels"])}
            self._weights: npt.NDArray[np.int8] = data["weights"]
            self._scales: npt.NDArray[np.float32] = data["scales"]
            self._moves: npt.NDArray[np.float32] = data["moves"]
            self._boundary: npt.NDArray[np.int8] = data["boundary"]
            self._boundary_scale = float(data["boundary_scale"])

    def boundaries(self, items: Sequence[RequestItem]) -> list[float]:
        """Return the probability, for each item, that it joins two clauses."""
        if not items:
            return []
        _, rows = item_features(items, "")
        sums = self._boundary[rows].sum(axis=1, dtype=np.int32) * self._boundary_scale
        return [float(value) for value in 1 / (1 + np.exp(-sums))]

    def spans(self, items: Sequence[RequestItem], label: str) -> tuple[tuple[RoleSpan, ...], float]:
        """Return the values of a clause by role, and the probability of the least certain item.

        Args:
            items: The items of the clause.
            label: The intent of the clause.
        """
        if not items:
            return (), 1.0
        rows, _ = item_features(items, label)
        scores = self._weights[rows].sum(axis=1, dtype=np.int32) * self._scales
        moves = self._moves[self._labels.get(label, 0)]
        path, least = _best_path(scores.astype(np.float64), moves.astype(np.float64))
        found: list[RoleSpan] = []
        previous = 0
        for item, role in zip(items, path, strict=True):
            if role and role == previous:
                found[-1] = RoleSpan(self.roles[role], (*found[-1].tokens, *item.tokens))
            elif role:
                found.append(RoleSpan(self.roles[role], item.tokens))
            previous = role
        return tuple(found), least


def _best_path(scores: Floats, moves: Floats) -> tuple[list[int], float]:
    """Return the most likely sequence of roles, and the lowest probability in it.

    Args:
        scores: The score of each role for each item.
        moves: The score of a role after another; its last row is for the first item.
    """
    count = scores.shape[1]
    total = _log_odds(scores[0] + moves[count])
    steps: list[Floats] = []
    back: list[npt.NDArray[np.int64]] = []
    for row in scores[1:]:
        step = np.stack([_log_odds(row + moves[previous]) for previous in range(count)])
        joined = total[:, None] + step
        back.append(joined.argmax(axis=0))
        steps.append(step)
        total = joined.max(axis=0)
    path = [int(total.argmax())]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    path.reverse()
    odds = [float(_log_odds(scores[0] + moves[count])[path[0]])]
    odds += [float(step[path[index], path[index + 1]]) for index, step in enumerate(steps)]
    return path, float(np.exp(min(odds)))


def _log_odds(row: Floats) -> Floats:
    shifted = row - row.max()
    result: Floats = shifted - np.log(np.exp(shifted).sum())
    return result


@cache
def span_model() -> SpanModel:
    """Return the model that ships with the app."""
    return SpanModel(resources_folder() / "language" / SPAN_FILE)

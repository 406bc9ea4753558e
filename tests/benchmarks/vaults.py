"""Generate vaults of Markdown files with realistic text: `write_vault(folder, 10_000)`.

Words follow Zipf's law over a vocabulary made of syllables, notes have the sizes of real ones (many short,
few long, a median of about 1.5 kB), half of them have properties, and their text contains headings, lists,
tasks, tags, quotes, code, comments and relations. A note has three links on average: most lead to notes
nearby or to hubs, and one in twenty-five to a missing note. The same size gives the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

_ONSETS = ("b br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sh sl st str t th tr v w y z", "aeiou")
_ENDS = ("", "", "n", "r", "s", "l", "t", "nd", "ck", "st", "m")
_TYPES = ("hypothesis", "observation", "source", "concept", "entity")
_RELATIONS = ("supports", "contradicts", "relates_to", "cites", "part_of", "derived_from")
_CODE = (
    "```python\ndef total(rows: list[int]) -> int:\n    # [[not a link]] #nottag\n    return sum(rows)\n```\n"
)
_SEED = 1
_CJK = "知识管理是一个长期的过程需要不断地记录整理和回顾自己的想法与笔记方法工具习惯写作"


def words(count: int) -> list[str]:
    """Return `count` words by descending frequency; short ones are frequent, as in natural languages."""
    dice = random.Random(_SEED)
    onsets = _ONSETS[0].split()
    unique_words: dict[str, None] = {}
    while len(unique_words) < count:
        syllables = 1 + (len(unique_words) > 150) + (dice.random() < 0.4) + (dice.random() < 0.2)
        word = "".join(dice.choice(onsets) + dice.choice(_ONSETS[1]) for _ in range(syllables))
        unique_words[word + dice.choice(_ENDS)] = None
    return list(unique_words)


class _Writer:
    """Writes the notes of one vault, one after the other."""

    def __init__(self, size: int) -> None:
        self.dice = random.Random(_SEED)
        self.vocabulary = words(min(60_000, 4_000 + size))
        self.weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self.vocabulary))))
        self.names = self._names(size)
        self.folders = [self._folder(size) for _ in range(max(3, size // 60))]
        self.tags = [self._tag() for _ in range(max(20, size // 40))]

    def _names(self, size: int) -> list[str]:
        unique_names: dict[str, None] = {}
        while len(unique_names) < size:
            name = " ".join(self.dice.choice(self.vocabulary) for _ in range(self.dice.randint(1, 4)))
            unique_names[name.capitalize() if self.dice.random() < 0.9 else f"{name} {len(unique_names)}"] = (
                None
            )
        return list(unique_names)

    def _folder(self, size: int) -> str:
        depth = self.dice.choice((1, 1, 2, 2, 3) if size > 500 else (0, 1, 1))
        return "/".join(self.dice.choice(self.vocabulary[:400]).capitalize() for _ in range(depth))

    def _tag(self) -> str:
        return "/".join(self.dice.choice(self.vocabulary[:2000]) for _ in range(self.dice.choice((1, 1, 2))))

    def _random_words(self, count: int) -> str:
        return " ".join(self.dice.choices(self.vocabulary, cum_weights=self.weights, k=count))

    def sentence(self) -> str:
        return f"{self._random_words(self.dice.randint(5, 18)).capitalize()}."

    def target(self, number: int) -> str:
        """Return a link target: a note nearby, a hub, or a missing note."""
        size, dice = len(self.names), self.dice
        chance = dice.random()
        if chance < 0.04:
            return f"{self._random_words(2)} not yet"
        if chance < 0.3:
            return self.names[int(size * dice.random() ** 3)]
        return self.names[max(0, min(size - 1, number + int(dice.gauss(0, 40))))]

    def link(self, number: int) -> str:
        name, form = self.target(number), self.dice.random()
        if form < 0.7:
            return f"[[{name}]]"
        if form < 0.9:
            return f"[[{name}|{self._random_words(2)}]]"
        return f"[[{name}#{self._random_words(1).capitalize()}]]"

    def properties(self, number: int) -> str:
        dice = self.dice
        lines = [f"created: 20{dice.randint(15, 25)}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02}"]
        lines.append("tags: [" + ", ".join(dice.sample(self.tags, dice.randint(0, 3))) + "]")
        if dice.random() < 0.3:
            lines += [f"type: {dice.choice(_TYPES)}", f"confidence: {dice.random():.2f}"]
        if dice.random() < 0.2:
            lines.append(f"aliases:\n  - {self._random_words(2)}")
        if dice.random() < 0.2:
            lines.append(f"status: {dice.choice(('draft', 'done', 'waiting'))}")
        if dice.random() < 0.1:
            lines.append(f'supports: "[[{self.target(number)}]]"')
        return "---\n" + "\n".join(lines) + "\n---\n"

    def paragraph(self, links: list[str]) -> str:
        sentences = [self.sentence() for _ in range(self.dice.randint(1, 6))]
        if links:
            sentences.insert(self.dice.randint(0, len(sentences)), f"{self._random_words(3)} {links.pop()}.")
        if self.dice.random() < 0.15:
            sentences.append(f"#{self.dice.choice(self.tags)}")
        return " ".join(sentences) + "\n"

    def block(self, links: list[str]) -> str:
        dice, kind = self.dice, self.dice.random()
        if kind < 0.6:
            return self.paragraph(links)
        if kind < 0.75:
            return f"## {self._random_words(3).capitalize()}\n"
        if kind < 0.87:
            return "".join(
                f"- {self._random_words(dice.randint(3, 10))}\n" for _ in range(dice.randint(2, 6))
            )
        if kind < 0.91:
            boxes = (f"- [{dice.choice(' x')}] {self._random_words(5)}\n" for _ in range(3))
            return "".join(boxes)
        if kind < 0.94:
            return f"> {self.sentence()}\n"
        if kind < 0.96:
            return _CODE
        if kind < 0.98:
            return "".join(dice.choices(_CJK, k=40)) + "。\n"
        return f"%% {self._random_words(6)} [[{self._random_words(1)}]] %% and `code [[x]]` here.\n"

    def note(self, number: int) -> str:
        dice = self.dice
        links = [self.link(number) for _ in range(dice.choice((1, 2, 3, 3, 4, 5)))]
        length = min(int(dice.lognormvariate(7.1, 0.8)), 60_000)
        parts = [self.properties(number)] if dice.random() < 0.5 else []
        parts.append(f"# {self.names[number]}\n")
        size = 0
        while size < length:
            parts.append(self.block(links))
            size += len(parts[-1])
        if links:
            parts.append("## Relations\n" + "".join(self.relation(link) for link in links))
        return "\n".join(parts)

    def relation(self, link: str) -> str:
        return f"- {self.dice.choice(_RELATIONS)} {link} (confidence: {self.dice.random():.1f})\n"

    def notes(self) -> Iterator[tuple[str, str]]:
        for number, name in enumerate(self.names):
            folder = self.folders[(number // 60) % len(self.folders)]
            yield f"{folder}/{name}.md" if folder else f"{name}.md", self.note(number)


def notes(size: int) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each note of a generated vault."""
    return _Writer(size).notes()


def write_vault(folder: Path, size: int) -> Path:
    """Write a generated vault to `folder` and return the folder.

    Raises:
        FileExistsError: The folder exists.
    """
    folder.mkdir(parents=True)
    folders: set[Path] = set()
    for path, text in notes(size):
        file = folder / path
        if file.parent not in folders:
            file.parent.mkdir(parents=True, exist_ok=True)
            folders.add(file.parent)
        file.write_text(text, encoding="utf-8", newline="\n")
    return folder

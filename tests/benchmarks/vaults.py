"""A vault of any size, written to disk: `python -m tests.benchmarks.vaults SIZE FOLDER`.

The links are those of `graphs.vault` (nested communities around hubs, three a note); around them stand words
with a vocabulary's usual frequencies, headings, tags, properties and tasks. Some notes are what real vaults
hold seldom and windows stumble over: `BUSIEST` is linked from a fifth of all notes, `LONGEST` is a text of
3 MB, `RICHEST` has 2,000 links. The same size and seed give the same bytes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.benchmarks.graphs import vault as graph_of

BUSIEST, LONGEST, RICHEST = "Home.md", "Archive/Everything.md", "Archive/Index of links.md"
LONGEST_BYTES = 3_000_000
RICHEST_LINKS = 2_000
_SYLLABLES = [f"{a}{b}" for a in "bdfgklmnprstv" for b in "aeio"]
_WORDS = 20_000
_TAGS = 1_200
_PER_FOLDER = 120
_TYPES = ("concept", "person", "project", "source")


def write_vault(folder: Path, size: int, seed: int = 1) -> int:
    """Write a vault of about `size` notes into the empty `folder`; how many there are.

    Raises:
        FileExistsError: There is something in it.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty")
    count = 0
    for path, text in _notes(size, np.random.default_rng(seed), seed):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        count += 1
    return count


def _notes(size: int, rng: np.random.Generator, seed: int) -> Iterator[tuple[str, str]]:
    graph = graph_of(size, seed)
    vocabulary = _vocabulary(rng)
    names = _names(size, vocabulary, rng)
    links: list[list[int]] = [[] for _ in range(size)]
    for source, target in graph.edges.tolist():
        links[source].append(target)
    words = enumerate(vocabulary[:_TAGS])
    tags = [f"{vocabulary[each % 60]}/{word}" if each % 3 else word for each, word in words]
    busy = rng.random(size) < 0.2
    for note in range(size):
        yield _path(note, names), _text(note, names, links[note], tags, vocabulary, busy[note], rng)
    yield BUSIEST, "# Home\n\nWhere everything begins.\n"
    yield LONGEST, _long_text(names, vocabulary, rng)
    chosen = [names[int(each)] for each in rng.integers(0, size, RICHEST_LINKS)]
    yield RICHEST, "# Index of links\n\n" + "".join(f"- [[{name}]]\n" for name in chosen)


def _vocabulary(rng: np.random.Generator) -> list[str]:
    lengths = rng.integers(1, 5, _WORDS)
    parts = (rng.integers(0, len(_SYLLABLES), length) for length in lengths)
    return ["".join(_SYLLABLES[int(each)] for each in word) for word in parts]


def _names(size: int, vocabulary: list[str], rng: np.random.Generator) -> list[str]:
    """Two or three words and the number, so that each name is one note's."""
    picks = rng.integers(0, len(vocabulary), (size, 3))
    return [
        " ".join(vocabulary[word] for word in picks[note, : 2 + note % 2]).capitalize() + f" {note}"
        for note in range(size)
    ]


def _path(note: int, names: list[str]) -> str:
    folder = note // _PER_FOLDER
    return f"Area {folder % 24 + 1:02}/Topic {folder // 24 + 1:03}/{names[note]}.md"


def _text(
    note: int,
    names: list[str],
    links: list[int],
    tags: list[str],
    vocabulary: list[str],
    busy: bool,
    rng: np.random.Generator,
) -> str:
    chosen = [tags[int(each) % _TAGS] for each in rng.zipf(1.6, 2)]
    head = f"---\ntype: {_TYPES[note % 4]}\ntags: [{', '.join(chosen)}]\n---\n"
    lines = [head, f"# {names[note]}\n", _sentences(vocabulary, rng, 5)]
    for place, target in enumerate(links):
        if place % 3 == 2:
            lines.append(f"## {_sentence(vocabulary, rng)[:30]}\n")
        lines.append(f"{_sentence(vocabulary, rng)} [[{names[target]}]] {_sentence(vocabulary, rng)}\n")
    if busy:
        lines.append("Up to [[Home]].\n")
    if note % 7 == 0:
        lines.append(f"- [ ] {_sentence(vocabulary, rng)}\n- [x] {_sentence(vocabulary, rng)}\n")
    return "\n".join(lines)


def _long_text(names: list[str], vocabulary: list[str], rng: np.random.Generator) -> str:
    parts = ["# Everything\n"]
    length = 0
    while length < LONGEST_BYTES:
        part = f"## {_sentence(vocabulary, rng)[:40]}\n\n{_sentences(vocabulary, rng, 12)}\n"
        part += f"- see [[{names[int(rng.integers(len(names)))]}]]\n"
        parts.append(part)
        length += len(part)
    return "\n".join(parts)


def _sentences(vocabulary: list[str], rng: np.random.Generator, count: int) -> str:
    return " ".join(_sentence(vocabulary, rng) for _ in range(count)) + "\n"


def _sentence(vocabulary: list[str], rng: np.random.Generator) -> str:
    """Words as frequent as their rank says (Zipf)."""
    ranks = (rng.pareto(0.9, 11) * 4).astype(np.int64) % _WORDS
    return " ".join(vocabulary[int(each)] for each in ranks).capitalize() + "."


def main(arguments: list[str]) -> int:
    """Write the vault that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.vaults")
    parser.add_argument("size", type=int)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    print(f"{write_vault(options.folder, options.size)} notes in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

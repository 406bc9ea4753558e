"""What finds the note that was meant: its words, its meaning, or both; on real notes.

Run: python -m tests.benchmarks.retrieval [--check] [vault …]

Some notes of each vault are copied, without their titles and first sentences; the app's own index and vectors
are made of what is left. Then three kinds of questions are asked, of which the answer is known:
the title of a note (whose body is left), its first sentence (whose rest is left), and a known item: three
of its rarer words. Printed are the mean reciprocal rank among the first ten, and the share of notes that are
among them. With --check it ends with status 1 when another way is clearly better than the app's.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.embeddings.chunker import readable
from app.embeddings.client import Embedder
from app.embeddings.fusion import blended, share_of_meaning
from app.embeddings.model_choice import ModelChoice
from app.embeddings.update import Update
from app.embeddings.vectors import VectorStore
from app.events import EventBus
from app.index.vault_index import VaultIndex
from app.settings import IndexSettings
from app.toolkit.meaning import Meaning
from app.vault.journal import Journal
from app.vault.markdown.scan import scan
from app.vault.path import NotePath
from app.vault.store import NoteStore

VAULTS = Path(__file__).resolve().parents[3] / "shared" / "vaults"
DEFAULT = ("knowledge-garden", "logseq-docs")
NOTES, QUESTIONS, DEPTH, TOP = 1000, 200, 50, 10
# The app's way may be this far from the best of the table: one question in two hundred.
SLACK = 0.005
_SENTENCE = re.compile(r"[^.!?。！？\n]{25,300}[.!?。！？]")
_WORD = re.compile(r"[^\W\d_]{4,}")
Scored = list[tuple[NotePath, float]]
Way = Callable[[str, Scored, Scored], Scored]


@dataclass(frozen=True)
class Question:
    """A text and the note that it should find."""

    kind: str
    text: str
    answer: NotePath


def reciprocal(words: Scored, meant: Scored, depth: float) -> Scored:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): only places count."""
    scores: dict[NotePath, float] = {}
    for ranking in (words, meant):
        for place, (key, _) in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (depth + place)
    return sorted(scores.items(), key=lambda one: -one[1])


def stretched(words: Scored, meant: Scored, share: float) -> Scored:
    """The sum of both scores, each stretched to 0 … 1 between its last and its first."""
    scores: dict[NotePath, float] = {}
    for ranking, weight in ((words, 1.0 - share), (meant, share)):
        if ranking:
            low, high = ranking[-1][1], ranking[0][1]
            for key, one in ranking:
                place = (one - low) / (high - low) if high > low else 1.0
                scores[key] = scores.get(key, 0.0) + weight * place
    return sorted(scores.items(), key=lambda one: -one[1])


APP = "the app: blended by script"
SHIPPED = ModelChoice()
WAYS: dict[str, Way] = {
    "full text": lambda _, words, meant: words,
    "meaning": lambda _, words, meant: meant,
    "reciprocal rank, depth 60": lambda _, words, meant: reciprocal(words, meant, 60),
    "reciprocal rank, depth 10": lambda _, words, meant: reciprocal(words, meant, 10),
    "stretched scores, 0.3 meaning": lambda _, words, meant: stretched(words, meant, 0.3),
    "stretched scores, 0.5 meaning": lambda _, words, meant: stretched(words, meant, 0.5),
    "blended, 0.5 meaning": lambda _, words, meant: blended(words, meant, 0.5),
    APP: lambda text, words, meant: blended(words, meant, share_of_meaning(text, SHIPPED)),
}


def prepare(vault: Path, target: Path, chance: random.Random) -> list[Question]:
    """Write notes without titles and first sentences to `target`; the questions about them."""
    files = sorted(path for path in vault.rglob("*.md") if "/." not in str(path))
    chance.shuffle(files)
    kept: list[tuple[NotePath, str, str, str]] = []
    for file in files:
        text = file.read_text("utf-8", "replace")
        parsed = scan(text)
        body = re.sub(r"(?m)^#\s.*$", "", text[parsed.body_start :], count=1)
        sentence = _SENTENCE.search(body)
        if parsed.is_private or sentence is None or len(body) < 300 or len(file.stem) < 8:
            continue
        rest = body[: sentence.start()] + body[sentence.end() :]
        if len(readable(rest)) < 200:
            continue
        path = NotePath.parse(f"n{len(kept):04}.md")
        (target / str(path)).write_text(rest, "utf-8")
        kept.append((path, file.stem, readable(sentence[0]), readable(rest)))
        if len(kept) == NOTES:
            break
    common = Counter(word for *_, rest in kept for word in {w.casefold() for w in _WORD.findall(rest)})
    questions = []
    for path, title, sentence_text, rest in chance.sample(kept, min(QUESTIONS, len(kept))):
        questions.append(Question("title → body", re.sub(r"[-_.]+", " ", title), path))
        questions.append(Question("first sentence → rest", sentence_text, path))
        words = sorted({w.casefold() for w in _WORD.findall(rest)}, key=lambda w: (common[w], w))
        # Not the rarest of all: what one remembers of a note is not a word that no other has.
        recalled = [word for word in words if common[word] > 2][:8]
        if len(recalled) >= 3:
            questions.append(Question("known item", " ".join(chance.sample(recalled, 3)), path))
    return questions


async def answers(vault: Path, work: Path) -> list[tuple[Question, Scored, Scored]]:
    """Each question with what the words find and what the meaning finds."""
    target = work / "vault"
    target.mkdir()
    questions = prepare(vault, target, random.Random(4))
    index = VaultIndex(target, work / "cache", IndexSettings(), EventBus())
    store = NoteStore(target, Journal(work / "data"))
    vectors, embedder = VectorStore(work / "cache"), Embedder()
    try:
        await index.open()
        await index.scan(lambda progress: None, lambda: False)
        await Update(vectors, index, store, embedder).run()
        meaning = Meaning(embedder, vectors)
        print(f"{vault.name}: {vectors.notes} notes, {len(vectors)} chunks, {len(questions)} questions")
        found = []
        for question in questions:
            words = list(await index.ranked(question.text, DEPTH))
            meant = [(hit.path, hit.score) for hit in await meaning.like_text(question.text, DEPTH, 0.0)]
            found.append((question, words, meant))
        return found
    finally:
        await embedder.close()
        vectors.close()
        await index.close()


def score(ranking: Sequence[tuple[NotePath, float]], answer: NotePath) -> tuple[float, float]:
    """The reciprocal rank among the first ten, and whether the answer is among them."""
    for place, (path, _) in enumerate(ranking[:TOP], 1):
        if path == answer:
            return 1.0 / place, 1.0
    return 0.0, 0.0


def table(found: list[tuple[Question, Scored, Scored]]) -> dict[str, float]:
    """Print a line for each way; the mean over the kinds of questions of the reciprocal rank, by way."""
    kinds = list(dict.fromkeys(question.kind for question, *_ in found))
    print(f"{'MRR@10 (recall@10)':<34}" + "".join(f"{kind:>26}" for kind in [*kinds, "mean"]))
    means = {}
    for name, way in WAYS.items():
        cells, every = [], []
        for kind in kinds:
            asked = [one for one in found if one[0].kind == kind]
            scores = [score(way(q.text, words, meant), q.answer) for q, words, meant in asked]
            rank = sum(one for one, _ in scores) / len(scores)
            recall = sum(one for _, one in scores) / len(scores)
            cells.append(f"{rank:>17.3f} ({recall:.3f})")
            every.append(rank)
        means[name] = sum(every) / len(every)
        print(f"{name:<34}" + "".join(f"{cell:>26}" for cell in cells) + f"{means[name]:>26.3f}")
    return means


def main() -> int:
    """Print a table for each vault and one for all; the process's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vaults", nargs="*", type=Path, help="folders of notes; only read")
    parser.add_argument("--check", action="store_true", help="end with 1 when the app's way is not the best")
    given = parser.parse_args()
    every: list[tuple[Question, Scored, Scored]] = []
    for vault in given.vaults or [VAULTS / name for name in DEFAULT]:
        with tempfile.TemporaryDirectory() as work:
            found = asyncio.run(answers(vault, Path(work)))
        table(found)
        every += found
    print("all")
    means = table(every)
    best = max(means, key=lambda name: means[name])
    print(f"best: {best}; the app: {means[APP]:.3f}, {means[best] - means[APP]:.3f} less")
    if given.check and means[APP] < means[best] - SLACK:
        print(f"MISSED: the app's ranking is {means[best] - means[APP]:.3f} worse than {best}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

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
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from app.agent.language.dates import DateParser  # noqa: E402
from app.agent.language.dialog import DialogState  # noqa: E402
from app.agent.language.intent_model import BUCKETS, MODEL_FILE, TOPIC_SLOT, features, mask_words  # noqa: E402
from app.agent.language.lexicon import Language, languages  # noqa: E402
from app.agent.language.mentions import EntityMention, find_mentions  # noqa: E402
from app.agent.language.note_sets import NoteSetParser  # noqa: E402
from app.agent.language.tokens import tokenize  # noqa: E402
from app.agent.language.vocabulary import VaultWords, Vocabulary  # noqa: E402
from app.index.resolver import Resolver  # noqa: E402
from app.vault.path import NotePath  # noqa: E402

EXAMPLES = Path(__file__).parent / "intents"
SEEN = ROOT / "tests" / "evaluation" / "requests_seen.txt"
SAMPLE = ROOT / "resources" / "sample-vault"
OUTPUT = ROOT / "resources" / "language" / MODEL_FILE
VARIANTS = 16
EPOCHS = 24
RATE = 0.5
DECAY = 2e-5
SEED = 7
_PIECE = re.compile(r"[()\[\]|]|\{\w+\}|[^\s()\[\]|{}]+")
_SAME = {"read": "open", "count_these": "count", "meaning": "find", "remove_all_tags": "remove_tag"}

Example = tuple[tuple[str, ...], str]


def expanded(text: str, chance: random.Random) -> list[str]:
    """Return one random expansion of a line of the examples."""
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
    return list(said(chance.choice(options)))


def written_examples(chance: random.Random) -> list[tuple[list[str], str, Language]]:
    """Return the examples of the files, expanded."""
    found: list[tuple[list[str], str, Language]] = []
    for language in languages():
        label = ""
        for line in (EXAMPLES / f"{language.code}.txt").read_text(encoding="utf-8").splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            if match := re.fullmatch(r"\[([\w.:]+)\]", line.strip()):
                label = match[1]
                continue
            ways = {" ".join(expanded(line, chance)) for _ in range(VARIANTS)}
            found += [(way.casefold().split(), label, language) for way in sorted(ways)]
    return found


def words_of(texts: list[tuple[list[str], str, Language]]) -> frozenset[str]:
    """Return the words that the model knows."""
    known: set[str] = set()
    for words, _, language in texts:
        for word in words:
            known.update(language.contractions.get(word, word).split())
    return frozenset(word for word in known if not word.startswith("{") and any(map(str.isalnum, word)))


def as_seen(words: list[str], language: Language, known: frozenset[str]) -> tuple[str, ...]:
    """Return a written example in the form that the model receives."""
    made: list[str] = []
    for word in words:
        for part in language.contractions.get(word, word).split():
            if not part.startswith("{") and part not in known:
                continue
            if part in language.words("noise") or (part == TOPIC_SLOT and made and made[-1] == TOPIC_SLOT):
                continue
            made.append(part)
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
            self._resolver, self._words, language.data.get("plurals", ()), language.table("types")
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


def examples(requests: list[tuple[str, str]]) -> tuple[list[Example], frozenset[str]]:
    """Return every example in the form that the model receives, and the words that it knows."""
    chance = random.Random(SEED)
    texts = written_examples(chance)
    known = words_of(texts)
    found = [(as_seen(words, language, known), label) for words, label, language in texts]
    vault = SampleVault()
    labels = {label for _, label in found}
    for text, label in requests:
        if label in labels:
            found += [(mask_words(vault.mentions(text, language_of(text)), known), label)] * 4
    varied = list(found)
    for words, label in found:
        kept = tuple(word for word in words if word.startswith("{") or chance.random() > 0.12)
        if kept and kept != words:
            varied.append((kept, label))
    return sorted(set(varied)), known


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


def model_bytes(requests: list[tuple[str, str]]) -> bytes:
    """Return the file of a model trained on the written examples and on `requests`."""
    found, known = examples(requests)
    labels, weights, bias = trained(found)
    scales = np.maximum(np.abs(weights).max(axis=0), 1e-6) / 127
    small = np.rint(weights / scales).astype(np.int8)
    head = json.dumps({"labels": labels, "words": sorted(known), "sources": sources()}).encode()
    arrays = {
        "head": np.frombuffer(head, dtype=np.uint8),
        "weights": small,
        "scales": scales.astype(np.float32),
        "bias": bias,
    }
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
    made = model_bytes(seen_requests())
    if given.check:
        same = OUTPUT.read_bytes() == made
        print("The model is up to date." if same else "The model is not the one that the examples give.")
        return 0 if same else 1
    OUTPUT.write_bytes(made)
    print(f"{OUTPUT.relative_to(ROOT)}: {len(made):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Train the request model: `python packaging/train_request_model.py`; run by hand, takes an hour.

The first stage writes the examples (`request_examples.py`), creates a temporary environment with the
packages in `PINS` and runs this file again inside it. The second stage trains the networks of
`app/agent/language/model/request_model.py` with JAX, which has small wheels for every platform, and writes
`resources/language/requests.npz`. The vectors of word pieces are the principal components of the shipped
English model's embeddings. The same examples give the same weights on one machine, but not to the last bit on
another, so `tests/agent/language/model/test_request_model.py` compares the hashes of the sources, not the
weights.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import multiprocessing
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import export_model

ROOT = Path(__file__).resolve().parent.parent
REQUESTS = Path(__file__).parent / "requests"
SEEN = ROOT / "tests" / "evaluation" / "requests_seen.txt"
OUTPUT = ROOT / "resources" / "language" / "requests.npz"
EMBEDDINGS = ROOT / "resources" / "models" / "all-MiniLM-L6-v2-int8"
PINS = ("jax==0.10.2", "optax==0.2.8", "numpy==2.4.6", "onnx==1.23.2")
END = "</s>"
CLASSES = (
    *("word", "mark", "note", "near", "names", "quoted", "link", "hashtag"),
    *("tag", "kind", "value", "prop", "num", "date", "rel"),
)
MAX_ITEMS, MAX_SYMBOLS, MAX_STATE_SYMBOLS = 60, 48, 12
PIECE_SIZE, WORD_SIZE, CLASS_SIZE, STATE_SIZE, SYMBOL_SIZE = 96, 64, 16, 24, 64
HIDDEN = 128
FLAGS, FIELD_FLAGS, MAX_FIELDS = 9, 12, 76
SHAPES = (
    *((9, 8, 36), (16, 12, 36), (9, 8, MAX_FIELDS), (16, 12, MAX_FIELDS)),
    *((28, 24, MAX_FIELDS), (MAX_ITEMS, MAX_SYMBOLS, MAX_FIELDS)),
)
"""Numbers of items, symbols and fields to which batches are padded: each shape is compiled once."""
SIMILAR_CLASSES = ("word", "prop", "kind")
EPOCHS, BATCH, RATE, DROPOUT = 22, 64, 2e-3, 0.35
WORD_DROPOUT, FIELD_DROPOUT = 0.2, 0.5
"""Share of the words, and of the properties' names, that training represents only by their pieces, so that
the model reads unknown ones."""
TEMPLATE_SHARE = 0.3
"""Share of the templates in each epoch."""
MIN_WORD_COUNT = 2
SEEDS = (0, 1)
"""One network is trained with each seed."""
VALUE_SYMBOLS = frozenset(
    ("word", "text=", "old=", "name=", "new_name=", "value=", "tag=", "new_tag=", "heading=", "task", "file:")
)
"""Symbols whose span may contain any words, so that training may replace them."""
FILLERS = ("please", "just", "then", "now", "pls", "again", "the", "my", "note", "ok", ",", "a", "thing")

Example = dict[str, Any]
Arrays = dict[str, Any]


def main() -> int:
    """Run the stage that the arguments select, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "scriptorium-train-venv")
    parser.add_argument("--examples", type=Path, help="examples that are already written, as JSON")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        train(arguments.examples)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        examples = arguments.examples
        if examples is None:
            examples = Path(folder, "examples.json")
            script = Path(__file__).with_name("request_examples.py")
            subprocess.check_call([sys.executable, str(script), "--output", str(examples)])
        python = export_model.ensure_environment(arguments.venv, PINS)
        return subprocess.call([str(python), __file__, "--inside", "--examples", str(examples)])


def sources() -> dict[str, str]:
    """Return the SHA-256 of the files with conversations and templates, by name."""
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in [*sorted(REQUESTS.glob("*.txt")), SEEN]
    }


# Second stage


class WordPieceVectors:
    """The embedding model's word pieces, with the principal components of their vectors."""

    def __init__(self) -> None:
        import numpy as np
        import onnx
        from onnx import numpy_helper

        sys.path.insert(0, str(ROOT))
        tensors = {
            tensor.name: tensor for tensor in onnx.load(str(EMBEDDINGS / "model.onnx")).graph.initializer
        }
        name = "encoder.embeddings.word_embeddings.weight"
        raw = numpy_helper.to_array(tensors[f"{name}_quantized"]).astype(np.float32)
        zero = numpy_helper.to_array(tensors[f"{name}_zero_point"]).astype(np.float32)
        table = (raw - zero) * numpy_helper.to_array(tensors[f"{name}_scale"])
        known = json.loads((EMBEDDINGS / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
        rows_by_piece = {
            piece: at
            for piece, at in known.items()
            if piece.isascii() and re.fullmatch(r"(##)?[a-z]+|(##)?[0-9]|[^\w\s]", piece)
        }
        rows = table[list(rows_by_piece.values())]
        rows = rows - rows.mean(axis=0)
        _, _, directions = np.linalg.svd(rows, full_matrices=False)
        vectors = rows @ directions[:PIECE_SIZE].T
        self.pieces = list(rows_by_piece)
        self.vectors = (vectors / vectors.std()).astype(np.float32)
        self._splitter = _splitter(self.pieces)
        self._known: dict[str, Any] = {}
        self._units: dict[str, Any] = {}

    def vector(self, text: str) -> Any:
        """Return the mean vector of a text's pieces; zeros for none."""
        import numpy as np

        if text not in self._known:
            indices = self._splitter(text)
            zeros = np.zeros(PIECE_SIZE, np.float32)
            self._known[text] = self.vectors[indices].mean(axis=0) if indices else zeros
        return self._known[text]

    def similarities(self, texts: Sequence[str], others: Sequence[str]) -> Any:
        """Return the largest cosine between each text and the others; 0 without others."""
        import numpy as np

        if not texts or not others:
            return np.zeros(len(texts), np.float32)
        return (np.stack(list(map(self._unit, texts))) @ np.stack(list(map(self._unit, others))).T).max(
            axis=1
        )

    def _unit(self, text: str) -> Any:
        import numpy as np

        if text not in self._units:
            vector = self.vector(text)
            self._units[text] = vector / (np.linalg.norm(vector) or 1.0)
        return self._units[text]


def _splitter(pieces: Sequence[str]) -> Any:
    from app.agent.language.model.word_pieces import WordPieces as Splitter

    return Splitter(pieces).split


def symbol_count(program: Sequence[Any]) -> int:
    """Return the length of a program: a span counts as two, and the end symbol as one."""
    return sum(2 if isinstance(symbol, list) else 1 for symbol in program) + 1


def shape_of(examples: Sequence[Example]) -> tuple[int, int, int]:
    """Return the first of `SHAPES` that holds all examples."""
    items = max(len(example["items"]) for example in examples)
    symbols = max(symbol_count(example["program"]) for example in examples)
    fields = max(len(example["fields"]) for example in examples)
    return next(shape for shape in SHAPES if items <= shape[0] and symbols <= shape[1] and fields <= shape[2])


class TrainingVocabulary:
    """Assign numbers to words, symbols and states."""

    def __init__(self, examples: Sequence[Example]) -> None:
        counts = Counter(words for example in examples for words, _, _ in example["items"] if words)
        counts.update(words for example in examples for words, _ in example["fields"])
        self.words = ["", *(word for word, count in counts.most_common() if count >= MIN_WORD_COUNT)]
        symbols = {symbol for example in examples for symbol in example["program"] if isinstance(symbol, str)}
        self.symbols = [END, *sorted(symbols)]
        self.states = ["", *sorted({state for example in examples for state in example["state"]})]
        self.word_at = {word: at for at, word in enumerate(self.words)}
        self.symbol_at = {symbol: at for at, symbol in enumerate(self.symbols)}
        self.state_at = {state: at for at, state in enumerate(self.states)}


class Augmentation:
    """Vary examples: replace words in values, and drop, misspell and insert other words.

    Args:
        chance: The random generator.
        words: Replacements for words in values.
    """

    def __init__(self, chance: random.Random, words: Sequence[str]) -> None:
        self._chance = chance
        self._words = words

    def vary(self, example: Example) -> Example:
        """Return a variant of an example."""
        chance = self._chance
        program = example["program"]
        inside, symbol = set[int](), ""
        for element in program:
            if isinstance(element, str):
                symbol = element
            elif symbol in VALUE_SYMBOLS:
                inside.update(range(element[0], element[1] + 1))
        exchanges = chance.random() < 0.5
        items = []
        for at, (words, kind, flags) in enumerate(example["items"]):
            if kind == "word" and at in inside:
                if exchanges and chance.random() < 0.8:
                    words = chance.choice(self._words)
                    flags = [0, 0, 0, 0, 0, *flags[5:7], 0, int(chance.random() < 0.2)]
            elif kind in ("word", "mark") and at not in inside:
                words = self._misspell(words)
            elif kind == "note" and chance.random() < 0.05:
                kind = "near"
            items.append((words, kind, flags))
        state = [entry if chance.random() > 0.03 else "" for entry in example["state"]]
        if chance.random() < 0.15:
            items, program = self._with_filler(items, program)
        return {"items": items, "fields": example["fields"], "program": program, "state": state}

    def _misspell(self, word: str) -> str:
        draw = self._chance.random()
        if draw < 0.04:
            return ""
        if draw < 0.07 and len(word) > 3:
            at = self._chance.randrange(len(word) - 1)
            if self._chance.random() < 0.5:
                return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            return word[:at] + word[at + 1 :]
        return word

    def _with_filler(self, items: list[Any], program: list[Any]) -> tuple[list[Any], list[Any]]:
        spans = [span for span in program if isinstance(span, list)]
        places = [at for at in range(len(items)) if not any(first <= at <= last for first, last in spans)]
        if not places or len(items) >= MAX_ITEMS:
            return items, program
        at, word = self._chance.choice(places), self._chance.choice(FILLERS)
        filler = (word, "mark" if word == "," else "word", [0, 0, 0, 0, 0, 0, int(at == 0), 0, 1])
        moved = [
            [element[0] + (element[0] >= at), element[1] + (element[1] >= at)]
            if isinstance(element, list)
            else element
            for element in program
        ]
        return [*items[:at], filler, *items[at:]], moved


def make_batch(
    examples: Sequence[Example],
    vocabulary: TrainingVocabulary,
    pieces: WordPieceVectors,
    chance: random.Random,
) -> Arrays:
    """Return the arrays of a padded batch; some words are represented only by their pieces."""
    import numpy as np

    count = len(examples)
    width, length, field_count = shape_of(examples)
    batch: Arrays = {
        "word": np.zeros((count, width), np.int32),
        "class": np.zeros((count, width), np.int32),
        "flags": np.zeros((count, width, FLAGS), np.float32),
        "pieces": np.zeros((count, width, PIECE_SIZE), np.float32),
        "mask": np.zeros((count, width), np.float32),
        "field": np.zeros((count, field_count), np.int32),
        "field_pieces": np.zeros((count, field_count, PIECE_SIZE), np.float32),
        "field_flags": np.zeros((count, field_count, FIELD_FLAGS), np.float32),
        "field_mask": np.zeros((count, field_count), np.float32),
        "state": np.zeros((count, MAX_STATE_SYMBOLS), np.int32),
        "target": np.zeros((count, length), np.int32),
        "target_mask": np.zeros((count, length), np.float32),
    }
    for row, example in enumerate(examples):
        for at, (words, kind, flags) in enumerate(example["items"]):
            if chance.random() >= WORD_DROPOUT:
                batch["word"][row, at] = vocabulary.word_at.get(words, 0)
            batch["class"][row, at] = CLASSES.index(kind)
            batch["flags"][row, at] = flags
            batch["pieces"][row, at] = pieces.vector(words)
            batch["mask"][row, at] = 1
        asked = [words for words, kind, _ in example["items"] if kind in SIMILAR_CLASSES]
        if example["fields"]:
            names, flags = zip(*example["fields"], strict=True)
            size = len(names)
            known = [
                vocabulary.word_at.get(words, 0) if chance.random() >= FIELD_DROPOUT else 0 for words in names
            ]
            batch["field"][row, :size] = known
            batch["field_pieces"][row, :size] = np.stack(list(map(pieces.vector, names)))
            batch["field_flags"][row, :size, :-1] = flags
            batch["field_flags"][row, :size, -1] = pieces.similarities(names, asked)
            batch["field_mask"][row, :size] = 1
        for at, state in enumerate(example["state"]):
            batch["state"][row, at] = vocabulary.state_at.get(state, 0)
        numbers: list[int] = []
        for symbol in example["program"]:
            if isinstance(symbol, list):
                # The memory of the fields follows that of the padded items.
                shift = width - len(example["items"]) if symbol[0] >= len(example["items"]) else 0
                numbers += [len(vocabulary.symbols) + end + shift for end in symbol]
            else:
                numbers.append(vocabulary.symbol_at[symbol])
        numbers.append(vocabulary.symbol_at[END])
        batch["target"][row, : len(numbers)] = numbers
        batch["target_mask"][row, : len(numbers)] = 1
    return batch


def initial_weights(vocabulary: TrainingVocabulary, key: Any) -> Arrays:
    """Return random weights; their names and shapes are those of the shipped file."""
    import jax
    import jax.numpy as jnp

    keys = iter(jax.random.split(key, 64))

    def normal(*shape: int, scale: float | None = None) -> Any:
        return jax.random.normal(next(keys), shape) * (scale or 1 / math.sqrt(shape[0]))

    both, entry = 2 * HIDDEN, WORD_SIZE + CLASS_SIZE + FLAGS + STATE_SIZE
    weights: Arrays = {
        "word": normal(len(vocabulary.words), WORD_SIZE, scale=0.1),
        "piece_in": normal(PIECE_SIZE, WORD_SIZE, scale=0.5 / math.sqrt(PIECE_SIZE)),
        "field_w": normal(WORD_SIZE + FIELD_FLAGS, both),
        "field_b": jnp.zeros(both),
        "class": normal(len(CLASSES), CLASS_SIZE, scale=0.5),
        "state": normal(len(vocabulary.states), STATE_SIZE, scale=0.3),
        "init_w": normal(both + STATE_SIZE, both),
        "init_b": jnp.zeros(both),
        "symbol": normal(len(vocabulary.symbols), SYMBOL_SIZE, scale=0.3),
        "copy": normal(both, SYMBOL_SIZE),
        "dec_x": normal(SYMBOL_SIZE + both, 3 * both),
        "dec_b": jnp.zeros(3 * both),
        "dec_h": normal(both, 3 * both),
        "dec_c": jnp.zeros(3 * both),
        "attend": normal(both, both, scale=0.25 / math.sqrt(both)),
        "point": normal(both, both, scale=0.25 / math.sqrt(both)),
        "point_q": normal(2 * both, both),
        "out_w": normal(2 * both, len(vocabulary.symbols)),
        "out_b": jnp.zeros(len(vocabulary.symbols)),
    }
    for layer, size in (("0", entry), ("1", both)):
        for direction in "fb":
            name = f"enc{layer}{direction}"
            weights |= {
                f"{name}_x": normal(size, 3 * HIDDEN),
                f"{name}_b": jnp.zeros(3 * HIDDEN),
                f"{name}_h": normal(HIDDEN, 3 * HIDDEN),
                f"{name}_c": jnp.zeros(3 * HIDDEN),
            }
    return weights


def gru(projected: Any, recurrent: Any, state: Any) -> Any:
    """Return the next state of gated recurrent units."""
    import jax
    import jax.numpy as jnp

    size = state.shape[-1]
    reset = jax.nn.sigmoid(projected[..., :size] + recurrent[..., :size])
    update = jax.nn.sigmoid(projected[..., size : 2 * size] + recurrent[..., size : 2 * size])
    fresh = jnp.tanh(projected[..., 2 * size :] + reset * recurrent[..., 2 * size :])
    return (1 - update) * fresh + update * state


def log_probabilities(weights: Arrays, batch: Arrays, key: Any) -> Any:
    """Return the log probabilities of all symbols and pointers, given the symbols before."""
    import jax
    import jax.numpy as jnp

    keys = iter(jax.random.split(key, 8))

    def drop_out(values: Any, share: float) -> Any:
        return values * jax.random.bernoulli(next(keys), 1 - share, values.shape) / (1 - share)

    def layer(name: str, values: Any, *, backward: bool) -> Any:
        inputs = values @ weights[f"{name}_x"] + weights[f"{name}_b"]

        def step(state: Any, entry: Any) -> Any:
            projected, mask = entry
            after = gru(projected, state @ weights[f"{name}_h"] + weights[f"{name}_c"], state)
            after = jnp.where(mask[:, None] > 0, after, state)
            return after, after

        first = jnp.zeros((values.shape[0], HIDDEN))
        _, outputs = jax.lax.scan(step, first, (inputs.swapaxes(0, 1), batch["mask"].T), reverse=backward)
        return outputs.swapaxes(0, 1)

    state = (weights["state"][batch["state"]] * (batch["state"] > 0)[..., None]).sum(1)
    words = weights["word"][batch["word"]] + batch["pieces"] @ weights["piece_in"]
    shared = jnp.broadcast_to(state[:, None], (*batch["word"].shape, STATE_SIZE))
    values = jnp.concatenate([words, weights["class"][batch["class"]], batch["flags"], shared], -1)
    values = drop_out(values, DROPOUT * 0.6)
    for number in "01":
        both = [layer(f"enc{number}{way}", values, backward=way == "b") for way in "fb"]
        values = drop_out(jnp.concatenate(both, -1), DROPOUT)
    items = values * batch["mask"][..., None]
    hidden = (1 - batch["mask"]) * -1e9
    summary = jnp.concatenate([(items + hidden[..., None]).max(1), state], -1)
    first = jnp.tanh(summary @ weights["init_w"] + weights["init_b"])
    names = weights["word"][batch["field"]] + batch["field_pieces"] @ weights["piece_in"]
    fields = jnp.tanh(
        jnp.concatenate([names, batch["field_flags"]], -1) @ weights["field_w"] + weights["field_b"]
    )
    fields = drop_out(fields, DROPOUT * 0.5) * batch["field_mask"][..., None]
    memory = jnp.concatenate([items, fields], 1)
    hidden = jnp.concatenate([hidden, (1 - batch["field_mask"]) * -1e9], 1)
    count = weights["symbol"].shape[0]
    target = batch["target"]
    before = jnp.concatenate([jnp.zeros((target.shape[0], 1), jnp.int32), target[:, :-1]], 1)
    place = jnp.clip(before - count, 0, memory.shape[1] - 1)
    inputs = jnp.where(
        (before < count)[..., None],
        weights["symbol"][jnp.clip(before, 0, count - 1)],
        jnp.take_along_axis(memory, place[..., None], 1) @ weights["copy"],
    )
    inputs = drop_out(inputs, DROPOUT * 0.5)

    def step(carried: Any, entry: Any) -> Any:
        state, context = carried
        projected = jnp.concatenate([entry, context], -1) @ weights["dec_x"] + weights["dec_b"]
        state = gru(projected, state @ weights["dec_h"] + weights["dec_c"], state)
        # The memory is longer than a program, so the other side is multiplied by the weights.
        share = jax.nn.softmax(jnp.einsum("nd,nid->ni", state @ weights["attend"].T, memory) + hidden)
        context = jnp.einsum("ni,nid->nd", share, memory)
        return (state, context), (state, context)

    start = (first, jnp.zeros((target.shape[0], memory.shape[2])))
    _, (states, contexts) = jax.lax.scan(step, start, inputs.swapaxes(0, 1))
    both = drop_out(jnp.concatenate([states, contexts], -1).swapaxes(0, 1), DROPOUT)
    symbols = both @ weights["out_w"] + weights["out_b"]
    asked = both @ weights["point_q"] @ weights["point"].T
    pointed = jnp.einsum("ntd,nid->nti", asked, memory) + hidden[:, None]
    return jax.nn.log_softmax(jnp.concatenate([symbols, pointed], -1))


def train(file: Path) -> None:
    """Train on the examples of a file, each network in a process of its own, and write the model."""
    written, templates = load_examples(file)
    pieces, vocabulary = WordPieceVectors(), TrainingVocabulary([*written, *templates])
    print(
        f"{len(written)} requests, {len(templates)} templates, {len(vocabulary.symbols)} symbols", flush=True
    )
    arrays: Arrays = {"pieces": pieces.vectors}
    # Batches this small keep only one core busy.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), mp_context=context) as processes:
        for number, weights in enumerate(processes.map(train_network, SEEDS, [file] * len(SEEDS))):
            arrays |= {f"{number}/{name}": array for name, array in weights.items()}
    OUTPUT.write_bytes(pack(arrays, vocabulary, pieces))
    print(f"{OUTPUT.relative_to(ROOT)}: {OUTPUT.stat().st_size:,} bytes")


def load_examples(file: Path) -> tuple[list[Example], list[Example]]:
    """Return the written requests and the templates of a file, without those that are too long."""
    data = json.loads(file.read_text(encoding="utf-8"))
    written, templates = (
        [
            example
            for example in data[name]
            if 0 < len(example["items"]) <= MAX_ITEMS and symbol_count(example["program"]) <= MAX_SYMBOLS
        ]
        for name in ("written", "templates")
    )
    return written, templates


def train_network(seed: int, file: Path) -> Arrays:
    """Train a network on the examples of a file and return its weights."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    written, templates = load_examples(file)
    pieces, vocabulary = WordPieceVectors(), TrainingVocabulary([*written, *templates])
    values = sorted(
        {
            words
            for example in written
            for words, kind, _ in example["items"]
            if kind == "word" and words.isalpha() and len(words) > 2
        }
    )
    values += [piece for piece in pieces.pieces if piece.isalpha() and len(piece) > 3][::8]
    chance = random.Random(seed)
    augmentation = Augmentation(chance, values)
    drawn = int(len(templates) * TEMPLATE_SHARE)
    steps = EPOCHS * math.ceil((len(written) + drawn) / BATCH)
    schedule = optax.warmup_cosine_decay_schedule(0, RATE, 200, steps)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))
    key = jax.random.PRNGKey(seed)
    weights = initial_weights(vocabulary, key)
    moments = optimizer.init(weights)

    def loss(weights: Arrays, batch: Arrays, key: Any) -> Any:
        predicted = log_probabilities(weights, batch, key)
        right = jnp.take_along_axis(predicted, batch["target"][..., None], -1)[..., 0]
        return -(right * batch["target_mask"]).sum() / batch["target"].shape[0]

    @jax.jit
    def update(weights: Arrays, moments: Any, batch: Arrays, key: Any) -> Any:
        value, gradient = jax.value_and_grad(loss)(weights, batch, key)
        change, moments = optimizer.update(gradient, moments, weights)
        return optax.apply_updates(weights, change), moments, value

    for epoch in range(EPOCHS):
        begin, total = time.monotonic(), 0.0
        examples = [augmentation.vary(example) for example in [*written, *chance.sample(templates, drawn)]]
        chance.shuffle(examples)
        examples.sort(key=lambda example: SHAPES.index(shape_of([example])))
        batches = [examples[at : at + BATCH] for at in range(0, len(examples), BATCH)]
        chance.shuffle(batches)
        for batch in batches:
            full = [*batch, *chance.choices(examples, k=BATCH - len(batch))]
            key, used = jax.random.split(key)
            weights, moments, value = update(
                weights, moments, make_batch(full, vocabulary, pieces, chance), used
            )
            total += float(value)
        seconds = time.monotonic() - begin
        print(
            f"network {seed}, epoch {epoch + 1}: loss {total / len(batches):.3f}, {seconds:.0f} s", flush=True
        )
    return {name: np.asarray(value, np.float32) for name, value in weights.items()}


def pack(arrays: Mapping[str, Any], vocabulary: TrainingVocabulary, pieces: WordPieceVectors) -> bytes:
    """Return the model as an .npz file without timestamps; matrices as 8-bit integers with scales."""
    import numpy as np

    head = {
        "symbols": vocabulary.symbols,
        "words": vocabulary.words,
        "classes": CLASSES,
        "states": vocabulary.states,
        "pieces": pieces.pieces,
        "networks": len(SEEDS),
        "sources": sources(),
    }
    stored: Arrays = {"head": np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)}
    for name, array in arrays.items():
        if array.ndim < 2:
            stored[name] = array
            continue
        scale = (np.maximum(np.abs(array).max(axis=0), 1e-8) / 127).astype(np.float32)
        stored[name] = np.rint(array / scale).astype(np.int8)
        stored[f"{name}.scale"] = scale
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in stored.items():
            inner = io.BytesIO()
            np.save(inner, array)
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            file.writestr(entry, inner.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


if __name__ == "__main__":
    sys.exit(main())

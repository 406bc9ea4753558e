"""Request model: small neural networks that write the program of a request.

In each network, an encoder (two bidirectional layers of gated recurrent units) reads the items of the request
and the state of the conversation, and a recurrent decoder writes the program symbol by symbol. Each symbol
comes from the list of symbols or points to an item of the request, a property of the vault or a known
condition, so that values are copied and never invented. The networks see only the kind of a note's name or a
quoted text, not its words. They were trained
from different random seeds, and the mean of their probabilities is more reliable than those of any single
network. `packaging/train_request_model.py` trains them.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.conditions import condition_kinds, condition_slots, top_level_parts
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.model.item_spans import RequestItem
from app.agent.language.model.known_conditions import known_conditions
from app.agent.language.model.symbols import END, Symbol
from app.agent.language.model.word_pieces import WordPieces
from app.agent.language.words.vault_words import name_parts, name_words
from app.paths import resources_folder
from app.vault.path import name_key

MODEL_FILE = "requests.npz"
MAX_SYMBOLS = 48
_MAX_KNOWN_TEXTS = 2048
MAX_ITEMS = 60
_MIN_SHARE_OF_BEST = 0.001
"""Minimum probability of an unfinished program, as a share of that of the likeliest finished one."""
CLASSES = (
    "word",
    "mark",
    "note",
    "near",
    "names",
    "quoted",
    "link",
    "hashtag",
    "tag",
    "kind",
    "value",
    "prop",
    "num",
    "date",
    "rel",
)
SIMILAR_CLASSES = ("word", "prop", "kind")
"""The classes of items whose words are compared with the names of fields."""
_NAMED = frozenset(("note", "near", "names", "quoted", "link", "hashtag", "value", "num"))
MAX_STATE_SYMBOLS = 12
_SMALL_NUMBER = re.compile(r"1?\d|20")

Array = npt.NDArray[np.float32]
ItemInput = tuple[str, str, list[int]]
FieldInput = tuple[str, list[float]]


@dataclass(frozen=True, slots=True)
class ScoredProgram:
    """A program and its probability."""

    symbols: tuple[Symbol, ...]
    probability: float


def state_symbols(state: DialogState) -> list[str]:
    """Return the symbols that describe a conversation's state to the model, at most `MAX_STATE_SYMBOLS`."""
    step = state.last.last if state.last is not None else None
    count = len(state.them)
    results = str(count) if count < 3 else "many"
    symbols = [
        f"last:{step.action if step is not None else 'none'}",
        f"results:{results}",
        "focus" if state.focus else "nofocus",
        "lost" if state.is_lost else "found",
    ]
    symbols += ["values"] * bool(state.values)
    if step is not None:
        symbols += [f"argument:{role}" for role in step.arguments]
    if step is not None and (target := step.target) is not None:
        symbols += [f"condition:{kind}" for kind in condition_kinds(target.query)]
        symbols += ["order"] * bool(target.order) + ["limit"] * bool(target.limit)
        symbols += ["named:one" if target.is_single else "named:many"] * bool(target.notes)
    return symbols[:MAX_STATE_SYMBOLS]


def item_inputs(request: Request, items: Sequence[RequestItem]) -> list[ItemInput]:
    """Return the model's input for the first `MAX_ITEMS` items: the words, class and flags of each."""
    vocabulary = request.vocabulary
    inputs: list[ItemInput] = []
    for at, item in enumerate(items[:MAX_ITEMS]):
        token, mention = item.tokens[0], item.mention
        match mention.kind:
            case "note":
                is_single = mention.notes is not None and len(mention.notes.notes) == 1
                kind = "near" if mention.is_near else "note" if is_single else "names"
            case "quoted":
                kind = "link" if token.kind == "link" else "quoted"
            case "tag":
                kind = "hashtag" if token.kind == "tag" else "tag"
            case "word":
                kind = "mark" if token.kind == "mark" else "word"
            case other:
                kind = other
        is_small = kind == "num" and _SMALL_NUMBER.fullmatch(
            token.value
        )  # a count of notes, or a position in a list
        words = "" if kind in _NAMED and not is_small else " ".join(part.key for part in item.tokens)
        text = mention.value if mention.kind in ("kind", "value") else token.value
        flags = [
            int(vocabulary.find_tag(text) is not None),
            int(vocabulary.find_folder(text) is not None),
            int(vocabulary.find_type(text) is not None),
            int(vocabulary.find_property(text) is not None),
            int(vocabulary.find_value(text) is not None),
            int(text[:1].isupper()),
            int(at == 0),
            int(any(char.isdigit() for char in text)),
            int(token.is_word and token.key in request.language.vocabulary()),
        ]
        inputs.append((words, kind, flags))
    return inputs


def field_inputs(request: Request) -> list[FieldInput]:
    """Return the model's input for each of the vocabulary's fields and each known condition: words and flags.

    There are eleven flags. The first seven describe a field: the shares of its four kinds of values, whether
    the request contains a part of its name, whether it contains a synonym, and whether the last step had a
    condition on the field, sorted by it or showed it. For a condition, the fifth is whether the request
    contains a word of it, and the other six are 0. The last four describe a condition: whether the input is
    one, belongs to the last search, excludes notes, and is about a kind of notes. For a field, they are 0.
    """
    language, dialog = request.language, request.dialog
    keys = {token.key for token in request.tokens if token.is_word}
    forms = keys.union(*(request.vocabulary.singular_forms(key) for key in keys))
    synonyms = language.implied_properties(keys)
    last = dialog.last.last if dialog.last is not None else None
    used: set[str] = set()
    if last is not None:
        used |= {str(last.arguments.get(role, "")).casefold() for role in ("key", "about")}
        if last.target is not None:
            used |= {last.target.order.lstrip("-").casefold()}
            used |= {slot for part in top_level_parts(last.target.query) for slot in condition_slots(part)}
    inputs: list[FieldInput] = []
    for field in request.vocabulary.fields:
        key = name_key(field.name)
        parts = name_parts(key)
        flags = [
            *(field.dates, field.numbers, field.checkboxes, field.links),
            float(bool(parts & forms)),
            float(bool(parts & synonyms)),
            float(key in used),
        ]
        inputs.append((" ".join(name_words(key)), [*flags, 0.0, 0.0, 0.0, 0.0]))
    for condition in known_conditions(request):
        is_said = not forms.isdisjoint(condition.words.split())
        kinds = (condition.is_last, condition.is_negated, condition.is_kind)
        flags = [0.0, 0.0, 0.0, 0.0, float(is_said), 0.0, 0.0, 1.0, *map(float, kinds)]
        inputs.append((condition.words, flags))
    return inputs


class RequestModel:
    """Write programs for requests.

    Args:
        data: The bytes of the model's file.
    """

    def __init__(self, data: bytes) -> None:
        with np.load(io.BytesIO(data)) as file:
            head: dict[str, Any] = json.loads(bytes(file["head"]))
            arrays: dict[str, Array] = {}
            for name in file.files:
                if name == "head" or name.endswith(".scale"):
                    continue
                array = file[name]
                if array.dtype == np.int8:
                    arrays[name] = array.astype(np.float32) * file[f"{name}.scale"]
                else:
                    arrays[name] = array.astype(np.float32)
        self.symbols: list[str] = head["symbols"]
        self._networks = [
            _Network(
                {
                    name.partition("/")[2] or name: array
                    for name, array in arrays.items()
                    if _belongs_to(name, number)
                },
                head,
            )
            for number in range(head["networks"])
        ]

    def programs(
        self,
        items: Sequence[ItemInput],
        fields: Sequence[FieldInput],
        state: Sequence[str],
        width: int = 14,
    ) -> list[ScoredProgram]:
        """Return the likeliest programs, at most `width`, with their mean probabilities in the networks."""
        if not items:
            return []
        # Several threads mostly wait for one another, because the matrices are small: on a busy machine, they
        # take five times as long as one thread.
        with _thread_pools().limit(limits=1, user_api="blas"):
            return self._programs(items, fields, state, width)

    def _programs(
        self, items: Sequence[ItemInput], fields: Sequence[FieldInput], state: Sequence[str], width: int
    ) -> list[ScoredProgram]:
        totals: dict[tuple[Symbol, ...], float] = {}
        for network in self._networks:
            for program in network.programs(items, fields, state, width):
                share = program.probability / len(self._networks)
                totals[program.symbols] = totals.get(program.symbols, 0.0) + share
        ranked = sorted(totals, key=lambda symbols: -totals[symbols])
        return [ScoredProgram(symbols, totals[symbols]) for symbols in ranked[:width]]


def _belongs_to(name: str, number: int) -> bool:
    """Return whether an array belongs to a network, or to all of them."""
    return "/" not in name or name.startswith(f"{number}/")


class _Network:
    def __init__(self, weights: Mapping[str, Array], head: Mapping[str, Any]) -> None:
        self._weights = weights
        self._symbols: list[str] = head["symbols"]
        self._words = {word: at for at, word in enumerate(head["words"])}
        self._classes = {name: at for at, name in enumerate(head["classes"])}
        self._states = {name: at for at, name in enumerate(head["states"])}
        self._pieces = WordPieces(head["pieces"])
        self._end = self._symbols.index(END)
        # Every request is compared with the names of all properties.
        self._piece_vector = lru_cache(_MAX_KNOWN_TEXTS)(self._mean_piece_vector)

    def programs(
        self, items: Sequence[ItemInput], fields: Sequence[FieldInput], state: Sequence[str], width: int
    ) -> list[ScoredProgram]:
        """Return the likeliest programs, at most `width`, likeliest first."""
        memory, first = self._encode(items, state)
        if fields:
            memory = np.concatenate((memory, self._encode_fields(items, fields)))
        return self._decode(memory, first, width)

    def _encode_fields(self, items: Sequence[ItemInput], fields: Sequence[FieldInput]) -> Array:
        """Return a row of memory for each field, which pointers can select like an item."""
        w = self._weights
        asked = [self._piece_vector(words) for words, kind, _ in items if kind in SIMILAR_CLASSES]
        names, flags = [words for words, _ in fields], np.array([own for _, own in fields], np.float32)
        pieces = np.stack([self._piece_vector(words) for words in names])
        similarity = np.zeros(len(names), np.float32)
        if asked:
            similarity = (_normalized_rows(pieces) @ _normalized_rows(np.stack(asked)).T).max(axis=1)
        own = w["word"][[self._words.get(words, 0) for words in names]] + pieces @ w["piece_in"]
        rows = np.concatenate((own, flags, similarity[:, None]), axis=1)
        return np.asarray(np.tanh(rows @ w["field_w"] + w["field_b"]), np.float32)

    def _mean_piece_vector(self, words: str) -> Array:
        """Return the mean vector of a text's word pieces; zeros for a text without any."""
        pieces, vectors = self._pieces.split(words), self._weights["pieces"]
        return vectors[pieces].mean(axis=0) if pieces else np.zeros(vectors.shape[1], np.float32)

    def _encode(self, items: Sequence[ItemInput], state: Sequence[str]) -> tuple[Array, Array]:
        w = self._weights
        rows = []
        state_vector = sum(
            (w["state"][self._states[name]] for name in state if name in self._states),
            np.zeros(w["state"].shape[1], np.float32),
        )
        for words, kind, flags in items:
            own = self._words.get(words, 0)
            vector = self._piece_vector(words)
            rows.append(
                np.concatenate(
                    (
                        w["word"][own] + vector @ w["piece_in"],
                        w["class"][self._classes[kind]],
                        np.array(flags, np.float32),
                        state_vector,
                    )
                )
            )
        values = np.stack(rows).astype(np.float32)
        for layer in ("0", "1"):
            forward = self._run(values, f"enc{layer}f")
            backward = self._run(values[::-1], f"enc{layer}b")[::-1]
            values = np.concatenate((forward, backward), axis=1)
        first = np.tanh(np.concatenate((values.max(axis=0), state_vector)) @ w["init_w"] + w["init_b"])
        return values, first

    def _run(self, values: Array, name: str) -> Array:
        w = self._weights
        inputs = values @ w[f"{name}_x"] + w[f"{name}_b"]
        recurrent, bias = w[f"{name}_h"], w[f"{name}_c"]
        state = np.zeros(recurrent.shape[0], np.float32)
        states = np.empty((len(values), len(state)), np.float32)
        for at, row in enumerate(inputs):
            state = _gru(row, state @ recurrent + bias, state)
            states[at] = state
        return states

    def _decode(self, memory: Array, first: Array, width: int) -> list[ScoredProgram]:
        """Return the likeliest programs by a beam search, at most `width`, likeliest first."""
        w, count = self._weights, len(self._symbols)
        keys, pointers = memory @ w["attend"], memory @ w["point"]
        # The numbers after those of the symbols stand for the rows of memory.
        vectors = np.concatenate((w["symbol"], memory @ w["copy"]))
        states, contexts = first[None, :], np.zeros((1, memory.shape[1]), np.float32)
        beams = [[self._end]]
        scores = np.zeros(1, np.float32)
        span_starts = [-1]
        done: list[ScoredProgram] = []
        for _ in range(MAX_SYMBOLS):
            inputs = vectors[[beam[-1] for beam in beams]]
            given = np.concatenate((inputs, contexts), axis=1) @ w["dec_x"] + w["dec_b"]
            states = _gru(given, states @ w["dec_h"] + w["dec_c"], states)
            contexts = _softmax(states @ keys.T) @ memory
            both = np.concatenate((states, contexts), axis=1)
            pointed = (both @ w["point_q"]) @ pointers.T
            logits = np.concatenate((both @ w["out_w"] + w["out_b"], pointed), axis=1)
            for row, start in enumerate(span_starts):
                if start >= 0:
                    logits[row, :start] = -1e9  # a span ends at its first item or after it
            logs = scores[:, None] + np.log(_softmax(logits) + 1e-12)
            kept: list[tuple[int, int, float]] = []
            for index in _largest(logs.ravel(), width * 2):
                row, number = divmod(int(index), logs.shape[1])
                score = float(logs[row, number])
                if number == self._end:
                    done.append(ScoredProgram(self._program(beams[row][1:]), float(np.exp(score))))
                elif len(kept) < width:
                    kept.append((row, number, score))
            done.sort(key=lambda program: -program.probability)
            if not kept or _is_settled(done[:width], float(np.exp(kept[0][2])), width):
                break
            rows = [row for row, _, _ in kept]
            states, contexts = states[rows], contexts[rows]
            beams = [[*beams[row], number] for row, number, _ in kept]
            scores = np.array([score for _, _, score in kept], np.float32)
            span_starts = [
                number if number >= count and span_starts[row] < 0 else -1 for row, number, _ in kept
            ]
        return done[:width]

    def _program(self, numbers: Sequence[int]) -> tuple[Symbol, ...]:
        symbols: list[Symbol] = []
        start = -1
        for number in numbers:
            if number < len(self._symbols):
                symbols.append(self._symbols[number])
            elif start < 0:
                start = number - len(self._symbols)
            else:
                symbols.append((start, number - len(self._symbols)))
                start = -1
        return tuple(symbols)


def _is_settled(best: Sequence[ScoredProgram], likeliest: float, width: int) -> bool:
    """Return whether no unfinished program can be among the best: the likeliest has the given probability."""
    is_full = len(best) == width and likeliest < best[-1].probability
    return is_full or (bool(best) and likeliest < _MIN_SHARE_OF_BEST * best[0].probability)


def _gru(given: Array, recurrent: Array, state: Array) -> Array:
    size = state.shape[-1]
    gates = _sigmoid(given[..., : 2 * size] + recurrent[..., : 2 * size])
    reset, update = gates[..., :size], gates[..., size:]
    fresh = np.tanh(given[..., 2 * size :] + reset * recurrent[..., 2 * size :])
    return np.asarray((1 - update) * fresh + update * state, np.float32)


def _sigmoid(values: Array) -> Array:
    # On small arrays, `np.clip` takes longer than the rest.
    limited = np.minimum(np.maximum(values, -30), 30)
    return np.asarray(1 / (1 + np.exp(-limited)), np.float32)


def _largest(values: Array, count: int) -> Array:
    """Return the indices of the `count` largest values, the largest first."""
    indices = np.argpartition(values, -count)[-count:] if len(values) > count else np.arange(len(values))
    return np.asarray(indices[np.argsort(values[indices])[::-1]])


def _normalized_rows(rows: Array) -> Array:
    """Scale each row to length 1; rows of zeros stay unchanged."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)


def _softmax(values: Array) -> Array:
    raised = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True), np.float32)


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


@cache
def request_model() -> RequestModel:
    """Return the shipped model."""
    return RequestModel((resources_folder() / "language" / MODEL_FILE).read_bytes())

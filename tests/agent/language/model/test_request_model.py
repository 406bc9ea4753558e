"""The request model: its sources, its programs, and the words it copies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from app.agent.language.model.request_model import MAX_SYMBOLS, FieldInput, ItemInput, request_model
from app.agent.language.model.symbols import OUTCOMES
from app.agent.language.model.word_pieces import WordPieces

ROOT = Path(__file__).resolve().parents[4]
MODEL = ROOT / "resources" / "language" / "requests.npz"
SEEN = ROOT / "tests" / "evaluation" / "requests_seen.txt"
STATE = ["last:none", "results:0", "nofocus", "found"]


def words(*texts: str) -> list[ItemInput]:
    """Return items as the model sees them; `{note}` is the name of a note."""
    return [
        ("", "note", [0, 0, 0, 0, 0, 1, int(at == 0), 0, 0])
        if text == "{note}"
        else (text, "word", [0, 0, 0, 0, 0, 0, int(at == 0), 0, 1])
        for at, text in enumerate(texts)
    ]


def test_the_model_was_trained_on_the_shipped_examples() -> None:
    with np.load(MODEL) as file:
        sources = json.loads(bytes(file["head"]))["sources"]
    files = [*sorted((ROOT / "packaging" / "requests").glob("*.txt")), SEEN]
    hashes = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    assert sources == hashes, "run `python packaging/train_request_model.py`"


def test_a_request_is_written_as_a_program_that_points_at_its_words() -> None:
    (first, *_) = request_model().programs(words("delete", "{note}"), [], STATE)
    assert first.symbols == ("delete", "@", (1, 1))
    (first, *_) = request_model().programs(words("tag", "{note}", "as", "horology"), [], STATE)
    assert first.symbols == ("add_tag", "@", (1, 1), "tag=", (3, 3))


def test_probabilities_fall_and_sum_to_at_most_one() -> None:
    found = request_model().programs(words("show", "me", "everything", "about", "{note}"), [], STATE)
    odds = [one.probability for one in found]
    assert odds == sorted(odds, reverse=True)
    assert 0 < sum(odds) <= 1 + 1e-5


def test_programs_name_only_items_of_the_request() -> None:
    items = words(*["anything", "{note}"] * 12)
    programs = request_model().programs(items, [], STATE)
    assert any(isinstance(symbol, tuple) for program in programs for symbol in program.symbols)
    for program in programs:
        assert len(program.symbols) <= MAX_SYMBOLS
        for symbol in program.symbols:
            if isinstance(symbol, tuple):
                assert 0 <= symbol[0] <= symbol[1] < len(items)


def fields(*names: str, numbers: float = 1.0) -> list[FieldInput]:
    """Return properties with numbers as values, as the model sees them."""
    return [(name, [0.0, numbers, *[0.0] * 9]) for name in names]


def test_a_word_for_a_property_points_at_the_property() -> None:
    items = words("how", "much", "did", "{note}", "cost")
    programs = request_model().programs(items, fields("pages", "price", "rooms"), STATE)
    pointed = [program.symbols for program in programs if "about=" in program.symbols]
    assert ("properties_of", "@", (3, 3), "about=", (6, 6)) in pointed
    assert all(
        symbols[-1] in ((5, 5), (6, 6), (7, 7)) or symbols[-1][0] < 5
        for symbols in pointed
        if isinstance(symbols[-1], tuple)
    )


def test_a_request_without_words_has_no_program() -> None:
    assert request_model().programs([], [], STATE) == []


def test_small_talk_is_no_action() -> None:
    (first, *_) = request_model().programs(words("sing", "me", "a", "song", "about", "pizza"), [], STATE)
    assert first.symbols[0] in OUTCOMES


def test_words_are_split_into_the_longest_known_pieces() -> None:
    pieces = WordPieces(["tag", "##ging", "##g", "##ing", "u", "##ber"])
    assert pieces.split("tagging") == [0, 1]
    assert pieces.split("über") == [4, 5], "accents are ignored"
    assert pieces.split("漢字") == []

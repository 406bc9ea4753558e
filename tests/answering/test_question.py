"""Questions are parsed into stems and the expected kind of answer, in English and German."""

from __future__ import annotations

import pytest

from app.answering.question import is_unspaced_sentence, parse_question


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("who invented the chronometer?", "person", ("invent", "chronomet")),
        ("When was it founded?", "time", ("found",)),
        ("how many parts did H3 have?", "number", ("part", "h3")),
        ("where was the conference held?", "place", ("confer", "held")),
        ("why was longitude hard?", "reason", ("longitud", "hard")),
        ("how do I draw in a block?", "way", ("draw", "block")),
        ("what is a gimbal?", None, ("gimbal",)),
        ("wann wurde Greenwich gegründet?", "time", ("greenwich", "gegrund")),
        ("Wie viele Teile hatte H3?", "number", ("teil", "h3")),
    ],
)
def test_kind_and_words(text: str, kind: str | None, words: tuple[str, ...]) -> None:
    parsed = parse_question(text)
    assert (parsed.kind.name if parsed.kind else None, parsed.words) == (kind, words)


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("who copied H4?", "The copy of H4 by Larcum Kendall", "A watch, 13 cm across"),
        ("when was it made?", "Made by hand in 1757", "Made of brass"),
        ("how heavy was it?", "34 kg of brass", "very heavy brass"),
        ("why did it fail?", "because the spring broke", "the spring broke"),
    ],
)
def test_marks_of_an_answer(question: str, yes: str, no: str) -> None:
    parsed = parse_question(question)
    assert parsed.is_answered_by(yes) and not parsed.is_answered_by(no)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("目的地是哪里？", "目的地"),
        ("什么是有机农业？", "有机农业"),
        ("怎么了解用户？", "了解用户"),
        ("にんじんはどこですか？", "にんじん"),
        ("もものレシピは何ですか？", "もものレシピ"),
        ("旅行的目的是什么？", "旅行的目的"),
        ("どうぶつの森はいつ買いましたか？", "どうぶつの森 買いましたか"),
    ],
)
def test_particles_inside_words_are_kept(question: str, topic: str) -> None:
    assert parse_question(question).topic.strip("？ ") == topic


@pytest.mark.parametrize(
    ("text", "is_question"),
    [
        ("どうぶつの森", False),
        ("いつもの買い物", False),
        ("どこかの町", False),
        ("どうすればいい", True),
        ("いつ買った", True),
        ("どこで買った", True),
        ("東京とは", True),
    ],
)
def test_a_question_word_inside_another_word_asks_nothing(text: str, is_question: bool) -> None:
    assert is_unspaced_sentence(text) == is_question

from __future__ import annotations

from pathlib import Path

import pytest

from app.desktop.notes.spelling import SpellChecker


class Words:
    """A dictionary of a few words with enchant's interface."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.asked: list[str] = []

    def check(self, word: str) -> bool:
        self.asked.append(word)
        return word.lower() in self.words

    def suggest(self, word: str) -> list[str]:
        return [each for each in self.words if each[0] == word[0].lower()]


def checker(*dictionaries: Words) -> SpellChecker:
    made = SpellChecker()
    made._dictionaries = dictionaries  # type: ignore[assignment]
    return made


def wrong(made: SpellChecker, text: str) -> list[str]:
    return [text[start:end] for start, end in made.check(text)]


def test_only_words_are_checked_and_each_once() -> None:
    words = Words("the", "tea", "don't", "is", "hot")
    made = checker(words)
    text = "The tea don’t izz hot x1y snake_case http://exmple.org/pth me@exmple.org #tagg C:\\dirr hot izz"
    assert wrong(made, text) == ["izz", "izz"]
    made.check(text)
    assert words.asked.count("izz") == 1


def test_a_word_of_any_language_is_right() -> None:
    made = checker(Words("tea"), Words("tee", "schön"))
    assert wrong(made, "tea Tee schön schon") == ["schon"]
    assert made.suggest("tx") == ["tea", "tee"]


def test_learned_words_are_kept_for_the_next_start(own_folders: Path) -> None:
    made = checker(Words("tea"))
    assert wrong(made, "Gongfu tea") == ["Gongfu"]
    made.learn("Gongfu")
    assert wrong(made, "Gongfu tea") == []
    assert wrong(checker(Words("tea")), "Gongfu tea gongfu") == ["gongfu"]


def test_without_dictionaries_nothing_is_marked() -> None:
    made = SpellChecker()
    made.load(("xx_XX",))
    assert made.languages == () and not made.ready and made.check("Whatevr") == []


def test_dictionaries_of_the_system_are_used() -> None:
    try:
        import enchant
    except ImportError:
        pytest.skip("enchant's library is not on this machine")
    if not enchant.dict_exists("en_US"):
        pytest.skip("there is no English dictionary on this machine")
    made = SpellChecker()
    made.load(("en_US",))
    assert made.languages == ("en_US",) and wrong(made, "Helo world") == ["Helo"]
    assert "Hello" in made.suggest("Helo")

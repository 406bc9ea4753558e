from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest
import shiboken6

from app.desktop.notes.spelling import SpellChecker, Spelling
from app.settings import Settings


class Words:
    """A dictionary of a few words with enchant's interface."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.checked: list[str] = []

    def check(self, word: str) -> bool:
        self.checked.append(word)
        return word.lower() in self.words

    def suggest(self, word: str) -> list[str]:
        return [each for each in self.words if each[0] == word[0].lower()]


def checker(*dictionaries: Words) -> SpellChecker:
    spell_checker = SpellChecker()
    spell_checker._dictionaries = dictionaries  # type: ignore[assignment]
    return spell_checker


def misspelled(spell_checker: SpellChecker, text: str) -> list[str]:
    return [text[start:end] for start, end in spell_checker.check(text)]


def test_only_words_are_checked_and_each_once() -> None:
    words = Words("the", "tea", "don't", "is", "hot")
    spell_checker = checker(words)
    text = "The tea don’t izz hot x1y snake_case http://exmple.org/pth me@exmple.org #tagg C:\\dirr hot izz"
    assert misspelled(spell_checker, text) == ["izz", "izz"]
    spell_checker.check(text)
    assert words.checked.count("izz") == 1


def test_a_word_of_any_language_is_correct() -> None:
    spell_checker = checker(Words("tea"), Words("tee", "schön"))
    assert misspelled(spell_checker, "tea Tee schön schon") == ["schon"]
    assert spell_checker.suggest("tx") == ["tea", "tee"]


def test_learned_words_are_saved(own_folders: Path) -> None:
    spell_checker = checker(Words("tea"))
    assert misspelled(spell_checker, "Gongfu tea") == ["Gongfu"]
    spell_checker.learn("Gongfu")
    assert misspelled(spell_checker, "Gongfu tea") == []
    assert misspelled(checker(Words("tea")), "Gongfu tea gongfu") == ["gongfu"]


def test_without_dictionaries_nothing_is_marked() -> None:
    spell_checker = SpellChecker()
    spell_checker.load(("xx_XX",))
    assert (
        spell_checker.languages == () and not spell_checker.is_ready and spell_checker.check("Whatevr") == []
    )


def test_dictionaries_of_the_system_are_used() -> None:
    try:
        import enchant
    except ImportError:
        pytest.skip("enchant's library is not on this machine")
    if not enchant.dict_exists("en_US"):
        pytest.skip("there is no English dictionary on this machine")
    spell_checker = SpellChecker()
    spell_checker.load(("en_US",))
    assert spell_checker.languages == ("en_US",) and misspelled(spell_checker, "Helo world") == ["Helo"]
    assert "Hello" in spell_checker.suggest("Helo")


def test_a_deleted_spell_checker_stops_loading_dictionaries(gui, wait_until, monkeypatch) -> None:
    events: list[str] = []

    async def load(spelling: Spelling, enabled: bool, languages: tuple[str, ...]) -> None:
        events.append("start")
        try:
            await asyncio.Event().wait()
        finally:
            events.append("end")

    monkeypatch.setattr(Spelling, "_load", load)

    async def main() -> None:
        batch = SimpleNamespace(connect=lambda listener: None)
        spelling = Spelling(SimpleNamespace(settings=Settings(), events=SimpleNamespace(batch=batch)))
        spelling.load_dictionaries()
        await wait_until(lambda: events == ["start"])
        shiboken6.delete(spelling)
        await wait_until(lambda: events == ["start", "end"])

    gui(main())

"""Only texts that may be names become links."""

from __future__ import annotations

import pytest

from app.agent.language.doubts.stated_values import linked_value
from app.agent.language.words.lexicon import languages
from app.agent.language.words.vault_words import VaultWords
from app.agent.language.words.vocabulary import Vocabulary
from app.index.resolver import Resolver
from tests.agent.language.doubts.test_stated_values import fill_books
from tests.agent.language.meaning.test_dialog import say, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("request_text", "line"),
    [
        ("set author of Orlando to unknown", 'author: "unknown"'),
        ("set author of Orlando to old friend", 'author: "old friend"'),
        ("setze author von Orlando auf unbekannt", 'author: "unbekannt"'),
        ("set author of Orlando to Anna Brandt", 'author: "[[Anna Brandt]]"'),
        ("set author of Orlando to The Beatles", 'author: "[[The Beatles]]"'),
        ("setze author von Orlando auf Anna Brandt", 'author: "[[Anna Brandt]]"'),
        ("set author of Orlando to james joyce", 'author: "[[James Joyce]]"'),
        ('set author of Orlando to "Woolf"', 'author: "Woolf"'),
        ("set hours of Orlando to 7", "hours: 7"),
    ],
)
async def test_only_names_become_links(talk, request_text, line) -> None:
    await fill_books(talk)
    await say(talk, request_text)
    assert line in text(talk, "Books/Orlando.md").splitlines()


def test_only_texts_that_may_be_names_become_links() -> None:
    values = (("rating", "[[Great]]"), ("created", "[[2024-01-02]]"), ("title", "x"))
    vocabulary = Vocabulary(Resolver(), VaultWords(values=values))
    english, german = languages()
    for name, value in (("rating", "5"), ("created", "2024-03-03"), ("rating", "true"), ("title", "Fine")):
        assert linked_value(vocabulary, english, name, value) == value
    assert linked_value(vocabulary, english, "rating", "Fine") == "[[Fine]]"
    assert linked_value(vocabulary, english, "rating", "great") == "[[Great]]"
    for value in ("fine", "the Fen", "the aunt", "The aunt"):
        assert linked_value(vocabulary, english, "rating", value) == value
    assert linked_value(vocabulary, english, "rating", "The Fen") == "[[The Fen]]"
    assert linked_value(vocabulary, german, "rating", "Die Tante") == "Die Tante"
    # The values of the property are no notes, so a German noun may be another one of them.
    assert linked_value(vocabulary, german, "rating", "Gut") == "[[Gut]]"

"""Spell the texts of properties as links where the vault has links."""

from __future__ import annotations

import re
from collections.abc import Sequence

from app.agent.language.words.lexicon import Language
from app.agent.language.words.vault_words import property_label
from app.agent.language.words.vocabulary import Vocabulary

PLAIN = re.compile(r"[\d\s.,:/+%-]*|true|false", re.IGNORECASE)
_MAX_COMPARED = 50


def linked_value(vocabulary: Vocabulary, language: Language, name: str, text: str) -> str:
    """Return the text of a property as a link if its other texts are links and it names something.

    A known link or note is spelled as known. Other texts are links only if they may be names: "Brussels",
    but not "unknown" or "the ferry".
    """
    links = vocabulary.links_of(name)
    if not links or "[[" in text or PLAIN.fullmatch(text):
        return text
    if known := vocabulary.known_link(name, text):
        return known
    is_doubtful = may_be_noun(language, text) and are_notes(vocabulary, links)
    return f"[[{text}]]" if _may_be_name(language, text) and not is_doubtful else text


def _may_be_name(language: Language, text: str) -> bool:
    """Return whether a text begins like a name; an article must precede another capital letter."""
    first, *others = text.split() or [""]
    if first.casefold() not in language.words("determiners") or not others:
        return first[:1].isupper()
    return first[:1].isupper() and others[0][:1].isupper() and not language.has_capital_nouns


def may_be_noun(language: Language, text: str) -> bool:
    """Return whether a text is one word with a capital letter in a language that writes nouns so."""
    return language.has_capital_nouns and text[:1].isupper() and " " not in text


def are_notes(vocabulary: Vocabulary, links: Sequence[str]) -> bool:
    """Return whether most of some links lead to notes."""
    compared = links[:_MAX_COMPARED]
    named = [link for link in compared if vocabulary.notes(property_label(link))]
    return 2 * len(named) > len(compared)

"""Recognize texts that list items: "add milk, eggs and bread to the shopping list".

A text that the request adds to a list is one item.

Other texts are written as the user gave them: in quotes, after a colon, or after a word such as "line".
"""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.meaning.readings import PipelineStep
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, span_text
from app.vault.path import NotePath, name_key

_MAX_ITEM_WORDS = 5
_MIN_WORDS_BEFORE_LAST = 4
_MIN_ITEMS, _MIN_ITEMS_OF_NEW_NOTE = 2, 3


def split_items(
    request: str, tokens: Sequence[Token], language: Language, *, with_links: bool = False
) -> tuple[str, ...]:
    """Split words at commas and conjunctions; return no items if they are not at least two short ones.

    With `with_links`, an item may be a link.
    """
    items: list[list[Token]] = [[]]
    position = 0
    while position < len(tokens):
        token = tokens[position]
        after = language.match_prefix(tokens, position, "and")
        if after > position or token.key in (",", ";"):
            items.append([])
            position = max(after, position + 1)
        elif not token.is_word and not (with_links and token.kind == "link"):
            return ()
        else:
            items[-1].append(token)
            position += 1
    filled = [tuple(item) for item in items if item]
    if len(filled) < _MIN_ITEMS or any(len(item) > _MAX_ITEM_WORDS for item in filled):
        return ()
    return tuple(span_text(request, item) for item in filled)


def split_tokens(language: Language, tokens: Sequence[Token]) -> list[list[Token]]:
    """Split a list at commas, semicolons and conjunctions."""
    parts: list[list[Token]] = [[]]
    position = 0
    while position < len(tokens):
        after = language.match_prefix(tokens, position, "and")
        if tokens[position].key in (",", ";") or after > position:
            parts.append([])
            position = max(after, position + 1)
            continue
        parts[-1].append(tokens[position])
        position += 1
    return [part for part in parts if part]


def with_items(request: str, step: PipelineStep, tokens: Sequence[Token], language: Language) -> PipelineStep:
    """Return a step that adds text with the items of a list in place of the text; other steps unchanged.

    A text lists items if the request calls it items, if it is added to a list, or if a new note is made
    "with" at least three of them, or is itself a list.

    Args:
        request: The request's text.
        step: The step.
        tokens: The words of its clause.
        language: The language of the request.
    """
    step = _with_last_words(request, step, language)
    text = step.arguments.get("text")
    if step.action not in ("append", "create_note") or not isinstance(text, str):
        return step
    span = _span_of(request, tokens, text)
    if span is None:
        return step
    items = split_items(request, tokens[span[0] : span[1]], language)
    table = language.table("text_lists")
    before = [*tokens[: span[0]]]
    follows_colon = bool(before) and before[-1].kind == "mark"
    lead = next((token.key for token in reversed(before) if token.kind != "mark"), "")
    is_named = lead in table["item_nouns"] or (follows_colon and is_list_name(lead, language))
    is_verbatim = follows_colon or lead in language.words("text_nouns") | language.words("introduces_text")
    if step.action == "create_note":
        is_long = len(items) >= _MIN_ITEMS_OF_NEW_NOTE or is_list_name(
            str(step.arguments.get("name", "")), language
        )
        is_list = not follows_colon and lead in table["leads"] and is_long
    else:
        others = [token.value for token in (*before, *tokens[span[1] :]) if token.kind != "mark"]
        if not items and any(is_list_name(word, language) for word in others):
            return step.with_argument("text", (text,))
        names = [*others, *(NotePath.on_disk(path).name for path in _notes(step))]
        is_list = not is_verbatim and any(is_list_name(name, language) for name in names)
    return step.with_argument("text", items) if items and (is_named or is_list) else step


def _with_last_words(request: str, step: PipelineStep, language: Language) -> PipelineStep:
    """Return a step that adds an unquoted text with the last word of the request: "speaks to eels too"."""
    text = step.arguments.get("text")
    if step.action != "append" or not isinstance(text, str) or len(text.split()) < _MIN_WORDS_BEFORE_LAST:
        return step
    _, found, rest = request.rpartition(text)
    is_last = bool(found) and rest.strip(" .!").casefold() in language.table("added_lines")["last_words"]
    return step.with_argument("text", f"{text}{rest.rstrip(' .!')}") if is_last and rest[0] == " " else step


def _span_of(request: str, tokens: Sequence[Token], text: str) -> tuple[int, int] | None:
    """Return the first and the last position (exclusive) of the tokens with a text; None without them."""
    for start, token in enumerate(tokens):
        if request.startswith(text, token.start):
            end = token.start + len(text)
            after = next((at for at in range(start, len(tokens)) if tokens[at].start >= end), len(tokens))
            return (start, after) if tokens[after - 1].end == end else None
    return None


def _notes(step: PipelineStep) -> Sequence[str]:
    return step.target.notes if step.target is not None else ()


def is_list_name(name: str, language: Language) -> bool:
    """Return whether a name is one of a list: "Shopping list", "Einkaufsliste", but not "Cellist"."""
    words, table = name_key(name).split(), language.table("text_lists")
    return any(word in table["nouns"] or word.endswith(tuple(table["endings"])) for word in words)

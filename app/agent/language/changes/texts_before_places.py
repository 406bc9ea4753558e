"""Parse requests with a text before its place: "add tea at the end", or as items of a list in focus.

The place is the start or the end of a note, one of its headings, or "the list".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.changes.text_additions import addition
from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.grammar.text_places import Place, PlaceParser
from app.agent.language.meaning.readings import Reading
from app.agent.language.words.text_lists import is_list_name, split_items
from app.agent.language.words.tokens import Token, span_text
from app.vault.path import NotePath

_LIST_MARKS = frozenset(("-", "*"))
_MAX_ITEM_WORDS = 5


def parse_placed_text(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the addition of a text that stands before its place, or of items of a list; none for others."""
    language = request.language
    tokens = tuple(trim_marks(tokens))
    start = language.match_prefix(tokens, 0, "added_lines", "verbs")
    text = tokens[start:]
    if start == 0 or len(text) == 0 or not {"append", "prepend"} <= request.allowed.keys():
        return []
    if text[0].key in _LIST_MARKS and request.set_parser().implies_one:
        return [addition(request, Place(), request.text[text[0].start :].strip())]
    end = len(text) - (text[-1].key in language.table("new_tasks")["particles"])
    places = PlaceParser(request)
    for cut in range(1, end):
        place = places.parse(text[cut:end])
        if place is not None and _takes(request, text[:cut], text[cut:end], place):
            return [addition(request, place, _written(request, text[:cut]))]
        if language.matches_phrase(text[cut:end], "text_lists", "this_list") and not request.dialog.has_list:
            return _items(request, text[:cut], is_sure=False)
    return _items(request, text[:end], is_sure=True)


def _takes(request: Request, text: Sequence[Token], words: Sequence[Token], place: Place) -> bool:
    """Return whether a place is no part of the text before it, which is quoted or no noun for a text."""
    language = request.language
    if text[0].kind == "quoted":
        # "Under Open on the start page" names a note, and "under a new heading" none that exists.
        rest = words[language.match_prefix(words, 0, "new_tasks", "headings") :]
        is_led = place.heading.split(" ")[0].casefold() in language.words("determiners")
        has_place = language.has_phrase(rest, "new_tasks", "places")
        is_heading = bool(place.heading) and not is_led and (place.notes is not None or not has_place)
        return len(text) == 1 and (bool(place.edge) or is_heading)
    has_noun = any(token.key in language.table("new_tasks")["section_nouns"] for token in words)
    is_led = text[0].key in language.words("determiners")
    is_place = bool(place.heading) if has_noun else bool(place.edge) and not is_led
    return is_place and _is_text(request, text)


def _is_text(request: Request, tokens: Sequence[Token]) -> bool:
    """Return whether words are a text, and no tag, property, task or noun for a text: "a line"."""
    language, table = request.language, request.language.table("new_tasks")
    plain = {*language.table("added_lines")["texts"], *language.words("determiners")}
    nouns = {*table["one"], *table["several"], *language.words("tag_nouns"), *language.words("note_nouns")}
    nouns |= {*language.table("property_values")["nouns"], *language.words("relation_nouns")}
    keys = {token.key for token in tokens}
    has_property = any(request.vocabulary.find_property(token.key) for token in tokens[:1])
    return not (keys <= plain or keys & nouns or has_property or any(token.kind == "tag" for token in tokens))


def _written(request: Request, tokens: tuple[Token, ...]) -> str:
    return tokens[0].value if len(tokens) == 1 else span_text(request.text, tokens)


def _items(request: Request, tokens: tuple[Token, ...], *, is_sure: bool) -> list[Reading]:
    """Return the addition of items to the note in focus.

    If the request does not name the list (`is_sure`), the name of the note must be one of a list.
    """
    language, sets = request.language, request.set_parser()
    implied = sets.implied_notes()
    notes = implied.notes if implied is not None else ()
    is_list = len(notes) == 1 and is_list_name(NotePath.on_disk(notes[0]).name, language)
    items = split_items(request.text, tokens, language) or (_written(request, tokens),)
    is_plain = all(token.is_word or token.key == "," for token in tokens) and _is_text(request, tokens)
    is_short = all(len(item.split()) <= _MAX_ITEM_WORDS for item in items)
    # "Add tea to the red box" may name a place, and "add him" a note.
    others = language.function_words() - language.words("determiners") - language.table("numbers").keys()
    joints = [word for phrase in language.phrases("and") for word in phrase.words]
    is_plain = is_plain and all(token.key in joints or token.key not in others for token in tokens)
    if len(notes) != 1 or (is_sure and not is_list) or not is_plain or not is_short:
        return []
    reading = addition(request, Place(), items)
    return [reading if is_list else replace(reading, is_certain=False)]

"""Parse requests that remove one value of a list: "levels: remove 12", "remove the alias Lunars".

A value may also be a tag: "get rid of star", after a list of tags.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tasks.task_references import split_place
from app.agent.language.words.tokens import Token, span_text

_SCORE = 0.98
_MAX_VALUE_WORDS = 5


def parse_removed_tag(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the removal of a tag that a request names without calling it one; none for other requests.

    Tags are in talk, or the verb takes away no text: "get rid of star".
    """
    start = request.language.match_prefix(tokens, 0, "property_values", "removals")
    words, names, last = trim_marks(tokens[start:]), request.vocabulary, request.dialog.last
    if not start or len(words) != 1 or "remove_tag" not in request.allowed:
        return []
    key = words[0].key
    tag = names.find_own_tag(key)
    is_in_talk = last is not None and last.last.action in ("list_tags", "tags_of")
    if not tag or names.notes(key) or names.find_property(key):
        return []
    if not is_in_talk and request.has_action_at("remove_text", tokens, 0):
        return []
    here = None if is_in_talk else request.set_parser().implied_notes()
    steps = [
        PipelineStep("remove_tag", notes, {"tag": (tag,)})
        for notes in (NoteSet(query=f"tag:{tag}"), here)
        if notes
    ]
    return [Reading((step,), _SCORE, language=request.language.code, is_certain=False) for step in steps]


def parse_removed_value(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the removal of a value from a property that is a list; none for other requests."""
    language = request.language
    key = _list_property(request, tokens[0]) if len(tokens) > 2 and tokens[1].key == ":" else ""
    reason, words = ((), tokens[2:]) if key else _reason_and_order(request, tokens)
    verb_end = language.match_prefix(words, 0, "property_values", "removals")
    if verb_end == 0 or not {"remove_property", "set_property"} <= request.allowed.keys():
        return []
    words, path = split_place(request, words[verb_end:])
    if not key:
        key, words = _property_and_value(request, words)
    words = _without_determiners(request, words)
    if reason and key:
        words = reason  # "Ann was ill, remove her from the attendees"
    if not key or not words or len(words) > _MAX_VALUE_WORDS or words[0].key in language.words("universal"):
        return []
    sets = request.set_parser()
    notes = NoteSet(notes=(path,)) if path else sets.implied_notes()
    value = words[0].value if len(words) == 1 else span_text(request.text, tuple(words))
    step = PipelineStep("remove_property", notes, {"key": key, "value": value})
    missing = "" if notes is not None else "target"
    is_certain = path is not None or sets.implies_one
    return [Reading((step,), _SCORE, (), missing, language.code, 1, is_certain)]


def _reason_and_order(request: Request, tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """Return the note named by "Ann was ill, remove her from the attendees", and the order that means it."""
    language = request.language
    comma = max((at for at, token in enumerate(tokens) if token.key == ","), default=0)
    order = tokens[comma + 1 :]
    verb_end = language.match_prefix(order, 0, "property_values", "removals")
    objects = language.table("doubts")["person_pronouns"] + language.table("doubts")["objects"]
    named = [own for own in request.mentions(tokens[:comma]) if own.kind == "note"]
    if not comma or not verb_end or len(named) != 1 or verb_end == len(order):
        return (), tokens
    return (named[0].tokens, order) if order[verb_end].key in objects else ((), tokens)


def _list_property(request: Request, token: Token) -> str:
    """Return the property that a word names if it is a list of values other than tags; else an empty text."""
    key = request.vocabulary.find_property(token.key) if token.is_word else None
    is_tag = token.key in request.language.words("tag_nouns")
    return key if key is not None and not is_tag and request.vocabulary.is_list(key) else ""


def _without_determiners(request: Request, tokens: Sequence[Token]) -> Sequence[Token]:
    start = 0
    start = request.language.after_determiners(tokens, start)
    return trim_marks(tokens[start:])


def _property_and_value(request: Request, tokens: Sequence[Token]) -> tuple[str, Sequence[Token]]:
    """Return the property and the value of "the alias Lunars" and of "12 from the levels"."""
    for at in range(1, len(tokens) - 1):
        after = request.language.match_prefix(tokens, at, "property_values", "sources")
        rest = _without_determiners(request, tokens[after:]) if after > at else ()
        if len(rest) == 1 and (key := _list_property(request, rest[0])):
            return key, tokens[:at]
    words = _without_determiners(request, tokens)
    key = _list_property(request, words[0]) if len(words) > 1 else ""
    return key, words[1:]

"""Parse requests that add a text which is no task.

The text follows a colon ("write in her note: back in May") or "that" ("note that he is back in May"), or is
still missing ("add a line at the end").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.grammar.text_places import Place, PlaceParser
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.tasks.new_tasks import follows_tasks
from app.agent.language.words.lexicon import Language
from app.agent.language.words.task_texts import split_due_day
from app.agent.language.words.tokens import Token, span_text
from app.vault.markdown.tasks import LIST_MARK

_SCORE = 0.95
_TEXT_SCORE = 0.98
_MAX_VALUE_WORDS = 4


def parse_added_line(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the addition of a line whose text is still missing, or None for other requests."""
    for action in ("append", "prepend"):
        if request.language.matches_phrase(tokens, "added_lines", action) and action in request.allowed:
            target = request.set_parser().implied_notes()
            missing = "target" if target is None else "text"
            step = PipelineStep(action, target, {})
            return Reading((step,), _SCORE, (), missing, request.language.code, len(tokens))
    return None


def parse_dictated_text(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the addition of the text after a colon: "write in her note: back in May"; none for others.

    The whole text is written, also what resembles another request. It is no text if it may be tags or the
    value of a property.
    """
    language = request.language
    colon = next((at for at, token in enumerate(tokens) if token.key == ":"), len(tokens))
    if "append" not in request.allowed or colon + 1 >= len(tokens):
        return []
    words, after = tokens[:colon], tokens[colon + 1 :]
    verb_end = language.match_prefix(words, 0, "added_lines", "verbs")
    says_one = language.match_prefix(words, verb_end, "new_tasks", "pronouns") > verb_end > 0
    if follows_tasks(request) and (says_one or _says_again(language, words)):
        return []  # "add one: oil it" is another task
    if language.has_phrase(words, "new_tasks", "dated"):
        dated = span_text(request.text, after)
        if split_due_day(dated, language, request.dates)[1] is not None:
            return []  # "add a reminder: pay by Friday" is a task
    start = max(language.match_prefix(words, 0, "added_lines", name) for name in ("verbs", "bare"))
    # "In" may belong to the verb or to the place: "write in Ann's note: …".
    starts = (at for at in (start, start - 1) if at > 0)
    place = next((found for at in starts if (found := _place_of(request, words[at:])) is not None), None)
    if place is None or _may_be_value(request, after) or request.vocabulary.find_property(words[0].key):
        return []
    is_one = len(after) == 1 and after[0].kind == "quoted"
    text = after[0].value if is_one else request.text[tokens[colon].end :].strip()
    if request.tokens[0] is not tokens[0] and text.endswith("?"):
        text = text[:-1].rstrip()  # the question mark of "could you …"
    is_item = any(token.key in language.table("added_lines")["items"] for token in words)
    return [addition(request, place, f"- {text}" if is_item and not LIST_MARK.match(text) else text)]


def _says_again(language: Language, words: Sequence[Token]) -> bool:
    return language.has_phrase(words, "new_tasks", "again")


def verbatim_texts(request: Request, reading: Reading) -> list[str]:
    """Return the texts that a request quotes, and those that it calls a line or tells the agent to write."""
    table = request.language.table("added_lines")
    words = [token.key for token in request.tokens]
    end = words.index(":") if ":" in words else len(words)
    is_prose = words[0] in table["prose_verbs"] or not set(words[:end]).isdisjoint(table["prose_nouns"])
    quoted = [token.value for token in request.tokens if token.kind == "quoted"]
    added = [str(step.arguments.get("text", "")) for step in reading.steps if step.action == "append"]
    return [*quoted, *added] if is_prose else quoted


def parse_stated_fact(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the addition of a fact, before which the agent asks: "note that he is back"; none for others.

    The place may be between: "write in his note that he is back".
    """
    language, subjects = request.language, request.language.table("added_lines")["subjects"]
    start = language.match_prefix(tokens, 0, "added_lines", "verbs")
    if not start or "append" not in request.allowed:
        return []
    for at in range(start, len(tokens) - 2):
        after = language.match_prefix(tokens, at, "added_lines", "that")
        if not at < after < len(tokens) - 1 or tokens[after].key not in subjects:
            continue
        places = (_place_of(request, tokens[first:at]) for first in (start, start - 1) if first > 0)
        place = Place() if at == start else next(filter(None, places), None)
        if place is None or (at > start and place.notes is None):
            return []
        added = addition(request, place, request.text[tokens[after].start :].strip())
        return [replace(added, is_certain=False)]
    return []


def _place_of(request: Request, words: Sequence[Token]) -> Place | None:
    """Parse all words as a place, before and after which words for a text may stand: "a line under Next"."""
    texts = {*request.language.table("added_lines")["texts"], *request.language.words("determiners")}
    places = PlaceParser(request)
    words = trim_marks(words)
    if words and words[-1].key in request.language.table("new_tasks")["particles"]:
        words = words[:-1]
    for start in range(len(words) + 1):
        for end in range(len(words), start - 1, -1):
            if all(token.key in texts for token in words[end:]) and (place := places.parse(words[start:end])):
                return place
        if start < len(words) and words[start].key not in texts:
            break
    return None


def _may_be_value(request: Request, tokens: Sequence[Token]) -> bool:
    """Return whether a text may be tags, or a property with its value: "rating 5"."""
    nouns = request.language.words("tag_nouns")
    if tokens[0].kind == "tag" or tokens[0].key in nouns:
        return True
    return len(tokens) <= _MAX_VALUE_WORDS and request.vocabulary.find_property(tokens[0].key) is not None


def addition(request: Request, place: Place, text: object) -> Reading:
    """Return the addition of a text at a place; without a note, in the note in focus."""
    target = place.notes or request.set_parser().implied_notes()
    step = place.step(text, target)
    is_certain = place.is_certain if place.notes else request.set_parser().implies_one
    missing = "" if target is not None else "target"
    return Reading((step,), _TEXT_SCORE, (), missing, request.language.code, 1, is_certain)

"""Parse texts for a note that the vault lacks: "add milk and eggs to the shopping list"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.changes.template_notes import creation_of
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.grammar.text_places import PlaceParser
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.text_lists import is_list_name, split_items
from app.agent.language.words.tokens import Token, span_text
from app.vault.path import name_key

_SCORE = 0.95
_MAX_NAME_WORDS = 5


def parse_text_for_missing_note(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the addition of a text to a note that does not exist, which the request names; none for others.

    The name is quoted, capitalized, or one of a list. The agent asks which note is meant, and offers to
    create it.
    """
    language = request.language
    start = language.match_prefix(tokens, 0, "added_lines", "verbs")
    if not start or "append" not in request.allowed:
        return []
    words = without_marks_at_end(tokens)
    if words[-1].key in language.table("new_tasks")["particles"]:
        words = words[:-1]
    for at in range(len(words) - 1, start, -1):
        after = language.match_prefix(words, at, "missing_notes", "places")
        is_of_list = after == at
        after = language.match_prefix(words, at, "missing_notes", "list_places") if is_of_list else after
        if after == at:
            continue
        name = _name_of(request, words[after:], is_of_list=is_of_list)
        text = trim_marks(words[start:at])
        if not name or not text or _is_other_change(request, text) or PlaceParser(request).parse(words[at:]):
            return []
        arguments = {"text": _text_of(request, text, name)}
        step = PipelineStep("append", _missing(request, name), arguments)
        return [Reading((step,), _SCORE, language=language.code, verb_words=1, is_certain=False)]
    return []


def parse_listed_missing_note(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the creation of a listed name without a note: "create the heat pump one"; else None."""
    language, names = request.language, request.dialog.missing
    start = language.match_prefix(tokens, 0, "new_notes", "leads")
    for at in range(start + 1, len(tokens)) if start and "create_note" in request.allowed else ():
        words = [token for token in tokens[start:at] if token.key not in language.words("determiners")]
        if not words or not language.matches_phrase(tokens[at : at + 1], "corrections", "one"):
            continue
        wanted = {token.key for token in words}
        named = [name for name in names if wanted <= {*name_key(name).split()}]
        if len(named) == 1:
            name = Token("quoted", '""', named[0], tokens[1].start, tokens[at].end)
            step = PipelineStep("create_note", None, {"name": named[0]})
            if rest := without_marks_at_end(tokens[at + 1 :]):
                step = creation_of(request, (tokens[0], name, *rest)) or step.with_argument("name", "")
            reading = Reading((step,), _SCORE, language=language.code, verb_words=1)
            return reading if step.arguments.get("name") == named[0] else None
    return None


def with_missing_note(request: Request, reading: Reading) -> Reading:
    """Return a change with the note that the request names instead of the one in focus, if it is missing.

    Other readings stay unchanged. "Set the status of Harbour trip to done" is not about the note in focus.
    """
    step = reading.last
    is_implied = step.target is not None and step.target == request.set_parser().implied_notes()
    if len(reading.steps) > 1 or not is_implied or not request.writes(reading):
        return reading
    values = " ".join(str(value) for value in step.arguments.values()).casefold()
    name = _missing_name(request, values)
    return replace(reading, steps=(replace(step, target=_missing(request, name)),)) if name else reading


def _missing_name(request: Request, values: str) -> str:
    """Return the name of a note that a request is about, but the vault lacks; empty without one.

    Args:
        request: The request.
        values: The values of its reading in lower case, which name no note.
    """
    tokens = request.tokens
    if any(mention.kind == "note" for mention in request.mentions(tokens)):
        return ""
    for at in range(1, len(tokens)):
        start = request.language.match_prefix(tokens, at, "missing_notes", "before_names")
        for end in range(start + 1, len(tokens) + 1) if start > at else ():
            name = _name_of(request, tokens[start:end])
            is_end = end == len(tokens) or not tokens[end].is_word or _ends_name(request, tokens, end)
            if name and is_end and name.casefold() not in values:
                return name
    return ""


def _ends_name(request: Request, tokens: Sequence[Token], position: int) -> bool:
    return request.language.match_prefix(tokens, position, "missing_notes", "after_names") > position


def _missing(request: Request, name: str) -> NoteSet:
    """Return a note without a file, with those that have a similar name."""
    return NoteSet(unknown=name, candidates=request.vocabulary.find_similar_notes(name).paths)


def _name_of(request: Request, tokens: Sequence[Token], *, is_of_list: bool = False) -> str:
    """Return the words as the name of a note that may be missing; empty if they mean something else.

    With `is_of_list`, only the name of a list counts.
    """
    determiners = request.language.words("determiners")
    start = next((at for at, token in enumerate(tokens) if token.key not in determiners), len(tokens))
    words = tuple(tokens[start:])
    if not words or len(words) > _MAX_NAME_WORDS or request.dates.parse_period(words) is not None:
        return ""
    is_marked = len(words) == 1 and words[0].kind in ("quoted", "link")
    name = words[0].value if is_marked else span_text(request.text, words)
    is_name = is_marked or all(token.is_word for token in words)
    is_name = is_name and not any(mention.kind == "note" for mention in request.mentions(words))
    is_name = is_name and not any(_ends_name(request, words, at) for at in range(1, len(words)))
    is_proper = name[0].isupper() and not request.language.has_capital_nouns
    # "The list" is that of the note in focus.
    bare_nouns = request.language.table("text_lists")["bare_nouns"]
    is_list = is_list_name(name, request.language) and name.casefold() not in bare_nouns
    vocabulary = request.vocabulary
    known = (
        *(vocabulary.notes(name), vocabulary.find_tag(name), vocabulary.find_property(name)),
        *(vocabulary.find_folder(name), vocabulary.find_category(name), vocabulary.find_value(name)),
        vocabulary.has_kind(name),
    )
    is_said_as_name = is_list or (not is_of_list and (is_marked or is_proper))
    if not (is_name and is_said_as_name) or any(known):
        return ""
    return name if is_marked else f"{name[0].upper()}{name[1:]}"


def _is_other_change(request: Request, text: Sequence[Token]) -> bool:
    """Return whether the words between the verb and the place are no text, such as a tag or a link."""
    first = next((token for token in text if token.key not in request.language.words("determiners")), text[0])
    nouns = request.language.table("missing_notes")["other_nouns"]
    is_property = request.vocabulary.find_property(first.key) is not None
    names_other = len(text) > 1 and any(mention.kind == "note" for mention in request.mentions(text))
    return first.kind in ("tag", "link") or first.key in nouns or is_property or names_other


def _text_of(request: Request, text: Sequence[Token], name: str) -> str | tuple[str, ...]:
    """Return the words as the text of a note, or as items if its name is one of a list."""
    written = text[0].value if len(text) == 1 else span_text(request.text, tuple(text))
    if not is_list_name(name, request.language):
        return written
    return split_items(request.text, text, request.language) or (written,)

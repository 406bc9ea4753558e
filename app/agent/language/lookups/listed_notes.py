"""Find the listed notes that a request means: "open the Halden one", "tag the other ones"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import MAX_OPTIONS, with_readings_first
from app.agent.language.meaning.readings import (
    Clarification,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.words.tokens import Token
from app.vault.path import NotePath

_ONE_NOTE = "The last list has only 1 note. Nothing was changed."
_FEW_NOTES = "The last list has only {} notes. Nothing was changed."
_MAX_NAME_WORDS = 3


@dataclass(frozen=True, slots=True)
class _Description:
    """The words that describe one of the listed notes, and the positions of the whole phrase."""

    words: tuple[str, ...]
    start: int
    end: int


def with_listed_note(request: Request) -> Request:
    """Return a request with "the Halden one" as a link to the note that has the word in its name.

    Listed notes take precedence over those in their folders.
    """
    description = _description(request)
    path = request.vocabulary.note_near(description.words, request.dialog.them) if description else None
    if description is None or path is None:
        return request
    return _with_link(request, path, description.start, description.end)


def with_listed(request: Request) -> Request:
    """Return a request with "the other ones" as "them", in a dialog that listed only these notes.

    The other ones are the listed notes without those of the last request. A request that names a note, whose
    other notes may be those besides this one, is returned unchanged, and so is one after a list of tasks.
    """
    language, dialog, tokens = request.language, request.dialog, request.tokens
    others = tuple(path for path in dialog.others if request.vocabulary.has_file(path))
    is_part = bool(dialog.rest) or 0 < len(others) < len(dialog.them)
    if not others or not is_part or dialog.tasks or language.matches_phrase(tokens, "refine", "others"):
        return request
    for at in range(1, len(tokens)):
        end = language.match_prefix(tokens, at, "listed", "others")
        before = tokens[at - 1].key
        is_object = before in language.table("listed")["before_others"] or before in language.verbs()
        if end == at or not is_object or any(one.kind == "note" for one in request.mentions(tokens)):
            continue
        word = str(language.table("listed")["them"])
        them = Token("word", word, word, tokens[at].start, tokens[end - 1].end)
        last = Reading((PipelineStep("find", NoteSet(notes=others)),), 1.0, language=language.code)
        listed = replace(dialog, results=others, rest=(), focus=(), attached=(), last=last)
        return replace(request, tokens=(*tokens[:at], them, *tokens[end:]), dialog=listed)
    return request


def without_guessed_note(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return a question instead of a guess which listed note has the words of a description.

    The question offers the listed notes that have the words in their names, or all if none has them; if these
    are too many, it asks for a name.
    """
    description, them = _description(request), request.dialog.them
    if description is None or not them or request.vocabulary.note_near(description.words, them) is not None:
        return interpretation
    match interpretation:
        case Reading():
            readings = [interpretation]
        case Clarification(options=(_, *_)):
            readings = [option.reading for option in interpretation.options]
        case _:
            return interpretation
    known = {*them, *request.dialog.it, *request.dialog.this}
    guessed = [reading for reading in readings if _is_guess(reading, known)]
    if not guessed:
        return interpretation
    first, matching = guessed[0], request.vocabulary.notes_near(description.words, them)
    if not matching and len({reading.last.target for reading in guessed}) > 1:
        return interpretation  # the question offers several notes
    if not matching and len(guessed) == len(readings):
        if len(them) > MAX_OPTIONS:
            cleared = replace(first, steps=(replace(first.last, target=None),), missing="target")
            return Clarification("Which note?", (), cleared)
        matching = list(them)
    meant = [replace(first, steps=(replace(first.last, target=NoteSet(notes=(path,))),)) for path in matching]
    meant += [reading for reading in readings if reading not in guessed]
    return with_readings_first(Clarification("", ()), meant)


def refuse_position(request: Request, tokens: Sequence[Token]) -> Reply | None:
    """Return the reply to "open the third" after a list of two notes; None for other requests."""
    language, listed = request.language, request.dialog.them
    words = [token for token in tokens if token.is_word]
    if not listed or request.dialog.question is not None or request.dialog.tasks:
        return None
    ordinals = language.table("ordinals")
    for verb, determiner, at in zip(words, words[1:], range(2, len(words)), strict=False):
        is_after_verb = verb.key in language.verbs() and determiner.key in language.words("determiners")
        is_beyond = abs(ordinals.get(words[at].key, 0)) > len(listed)
        ends = all(token.key in language.words("result_nouns") for token in words[at + 1 :])
        if is_after_verb and is_beyond and ends:
            return Reply(_FEW_NOTES.format(len(listed)) if len(listed) > 1 else _ONE_NOTE, understood=False)
    return None


def parse_neighbor(request: Request, tokens: Sequence[Token]) -> Reading | Reply | None:
    """Interpret "the next one" after one of the listed notes was shown; None for other requests.

    At an end of the list, it is a reply.
    """
    last, listed = request.dialog.last, request.dialog.them
    target = last.last.target if last is not None and len(last.steps) == 1 else None
    if last is None or target is None or not target.is_single or request.writes(last):
        return None
    if request.dialog.question is not None:
        return None
    for name, distance in (("next", 1), ("previous", -1)):
        if not request.language.matches_phrase(tokens, "listed", name) or target.notes[0] not in listed:
            continue
        at = listed.index(target.notes[0]) + distance
        if not 0 <= at < len(listed):
            return Reply(f"This is the {'last' if distance > 0 else 'first'} note of the list.")
        step = replace(last.last, target=NoteSet(notes=(listed[at],)))
        return Reading((step,), 0.95, language=request.language.code)
    return None


def _is_guess(reading: Reading, known: Collection[str]) -> bool:
    """Return whether a reading is about one of the notes that the request may mean without naming them."""
    target = reading.last.target
    return len(reading.steps) == 1 and target is not None and target.is_single and target.notes[0] in known


def _description(request: Request) -> _Description | None:
    """Return the description of one listed note: "the Halden one", "the one on language"; else None."""
    language, tokens = request.language, request.tokens
    pronouns = language.words("result_pronouns") & language.words("single_nouns")
    plain = language.vocabulary() | language.words("adjectives") | language.words("fillers")
    plain |= frozenset(language.table("ordinals"))
    for at in range(len(tokens)):
        start = at
        while start > max(0, at - _MAX_NAME_WORDS) and tokens[start - 1].is_word:
            if tokens[start - 1].key in plain:
                break
            start -= 1
        is_definite = start > 0 and tokens[start - 1].key in language.words("determiners")
        if start < at and is_definite and tokens[at].key in pronouns:
            return _Description(tuple(token.key for token in tokens[start:at]), start - 1, at + 1)
        first = after = language.match_prefix(tokens, at, "listed", "leads")
        while at < first < len(tokens) and tokens[first].key in language.words("determiners"):
            first += 1
        end = first
        while after > at and end < min(len(tokens), first + _MAX_NAME_WORDS) and tokens[end].is_word:
            if tokens[end].key in plain:
                break
            end += 1
        if end > first:
            return _Description(tuple(token.key for token in tokens[first:end]), at, end)
    return None


def _with_link(request: Request, path: str, start: int, end: int) -> Request:
    """Return a request with a link to a note in place of some tokens."""
    tokens = request.tokens
    name = str(NotePath.on_disk(path).stem_path)
    link = Token("link", "[[]]", name, tokens[start].start, tokens[end - 1].end)
    return replace(request, tokens=(*tokens[:start], link, *tokens[end:]))

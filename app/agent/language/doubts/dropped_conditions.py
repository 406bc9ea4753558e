"""Drop readings that leave out a condition or value of the request: "delete the boring notes"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from app.agent.language.grammar.coverage import accounts_for_all
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import with_options
from app.agent.language.meaning.conditions import condition_slots, top_level_parts
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import Clarification, Interpretation, NoteSet, Reading, Reply
from app.agent.language.words.tokens import Token
from app.agent.language.words.vault_words import name_parts

_MAX_LEAD = 5
_COMPARISON = re.compile(r"\[([^:\]]+):(?:[<>]|true\]|false\])", re.IGNORECASE)
UNKNOWN_CONDITION = "I don't know which notes “{}” means here, so nothing was changed."


def with_every_condition(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return an interpretation without changes to sets of notes that leave out a condition of the request.

    If nothing else is left, the result is a reply that names the condition. A question also loses the options
    that only leave out a value of another option.
    """
    match interpretation:
        case Reading() if word := _dropped_word(request, interpretation):
            return Reply(UNKNOWN_CONDITION.format(word), understood=False)
        case Clarification(options=(_, *_)):
            offered = (*interpretation.options, *interpretation.spare)
            dropped = [_dropped_word(request, option.reading) for option in offered]
            kept = [option for option, word in zip(offered, dropped, strict=True) if not word]
            if not kept:
                return Reply(UNKNOWN_CONDITION.format(next(filter(None, dropped))), understood=False)
            readings = [option.reading for option in kept]
            kept = [
                option
                for option in kept
                if not any(_leaves_out_value(request, option.reading, other) for other in readings)
            ]
            if len(kept) == len(offered):
                return interpretation
            return with_options(interpretation, kept)
        case _:
            return interpretation


def _dropped_word(request: Request, reading: Reading) -> str:
    """Return the first word of a condition that a change to a set of notes leaves out, or an empty text."""
    dialog = request.dialog
    known = {*dialog.them, *dialog.it, *dialog.this, *dialog.recent}
    if word := _missing_name(request, reading, known):
        return word
    if reading.steps[0].action == "create_note":
        return ""  # the changes after it are of the new note
    steps = [
        # A deletion has no value to which the word could belong.
        replace(step, arguments={} if request.allowed[step.action].needs == ("target",) else step.arguments)
        for step in reading.steps
        if step.target is not None and request.writes(replace(reading, steps=(step,)))
    ]
    if not steps:
        return ""
    sets = [step.target for step in steps if step.target is not None]
    is_negated = any(token.key in request.language.words("negations") for token in request.tokens)
    stated = (
        steps if is_negated else [replace(step, target=_without_negations(step.target)) for step in steps]
    )
    serialized = serialize(replace(reading, steps=tuple(stated))).casefold()
    # "Those boring notes" are all of them, "those that are boring" only some.
    is_known = all(notes.notes and known.issuperset(notes.notes) for notes in sets)
    return next(
        (
            token.value
            for position, token, in_clause in _descriptions(request)
            if (in_clause or not is_known or not _is_demonstrative(request, position - 1))
            and token.key not in serialized
            and not _is_expressed(request, position, sets)
        ),
        "",
    )


def _leaves_out_value(request: Request, reading: Reading, other: Reading) -> bool:
    """Return whether a reading lacks a value that another reading has.

    For "create a note Tart in Recipes", the creation without a folder is no alternative to the one with it.
    """
    step, full = reading.last, other.last
    if reading.steps[:-1] != other.steps[:-1] or step.action != full.action:
        return False
    if step.target != full.target:
        return False
    extra = {name: str(value) for name, value in full.arguments.items() if name not in step.arguments}
    if not extra or any(full.arguments.get(name) != value for name, value in step.arguments.items()):
        return False
    used = {token for value in step.arguments.values() for token in _keys(str(value))}
    if any(str(value).startswith("- [ ] ") for value in step.arguments.values()):
        used |= request.language.words("task_nouns")
    stated = {token.key for token in request.tokens if token.is_word} - used
    return all(_keys(value) and _keys(value) <= stated for value in extra.values())


def _keys(text: str) -> set[str]:
    return set(text.casefold().split())


def _is_demonstrative(request: Request, position: int) -> bool:
    """Return whether the word at a position refers to listed notes: "those boring notes"."""
    return position >= 0 and request.language.match_prefix(request.tokens, position, "them") > position


def _without_negations(notes: NoteSet | None) -> NoteSet | None:
    """Return a set without its negated conditions, which don't express what the notes are."""
    if notes is None:
        return None
    parts = (part for part in top_level_parts(notes.query) if not part.startswith("-"))
    return replace(notes, query=" ".join(parts))


def _missing_name(request: Request, reading: Reading, known: Collection[str]) -> str:
    """Return the first word of the name of a missing note, if a known note would be renamed in its place."""
    step = reading.last
    target = step.target
    takes_known = target is not None and bool(target.notes) and set(known).issuperset(target.notes)
    if not takes_known or step.action != "rename":
        return ""
    if target is not None and len(target.notes) > 1:
        return str(step.arguments.get("new_name", ""))
    # "Rename Foo to Bar" does not give the note on the screen the name "Foo to Bar".
    new_name = str(step.arguments.get("new_name", ""))
    words = [token for token in request.tokens if token.is_word and token.value in new_name.split()]
    cues = {
        word
        for frame in request.frames
        if frame.action == "rename"
        for cue in frame.roles.get("new_name", ())
        for word in cue.first
    }
    before = [token for token in request.tokens if words and token.end <= words[0].start]
    is_introduced = bool(before) and before[-1].key in cues
    if not is_introduced and any(token.key in cues for token in words[1:-1]):
        return words[0].value
    if accounts_for_all(request, reading):
        return ""
    serialized = serialize(reading).casefold()
    mentions = request.mentions(request.tokens)
    known_words = request.language.function_words() | request.language.vocabulary()
    return next(
        (
            mention.tokens[0].value
            for mention in mentions
            if mention.kind == "word"
            and mention.tokens[0].key not in known_words
            and mention.tokens[0].key not in serialized
        ),
        "",
    )


def _is_expressed(request: Request, position: int, sets: Sequence[NoteSet]) -> bool:
    """Return whether the notes of a change express the condition that starts at a token."""
    language, tokens = request.language, request.tokens
    for note_filter in language.filters:
        if not note_filter.value and any(
            phrase.longest_match(tokens, position) for phrase in note_filter.say
        ):
            return any(note_filter.query in notes.query for notes in sets)
    parser = request.set_parser()
    named = parser.find_named(tokens[position : position + 2])
    if named is not None and named.notes.notes:
        return any(set(named.notes.notes) <= set(notes.notes) for notes in sets)  # "today's page"
    for start in range(max(0, position - _MAX_LEAD), position + 1):
        part = parser.condition_at(tokens, start)
        if part is not None and part.end > position:
            slots = _slots(part.query)
            return any(slots & _slots(notes.query) for notes in sets)
    implied = language.implied_properties((tokens[position].key,))
    if any(implied & _compared_names(notes) for notes in sets):
        return True
    mention = next((one for one in request.mentions(tokens) if tokens[position] in one.tokens), None)
    if mention is None or mention.kind == "word":
        return False
    is_kind = tokens[min(position + 1, len(tokens) - 1)].key not in language.words("note_nouns")
    return any(notes.notes or len(top_level_parts(notes.query)) > is_kind for notes in sets)


def _compared_names(notes: NoteSet) -> set[str]:
    """Return the parts of the names of the properties by whose values a set is selected or ordered.

    That a property exists does not say that something is "expensive".
    """
    keys = {match[1].casefold() for match in _COMPARISON.finditer(notes.query)}
    return {part for key in (*keys, notes.order.lstrip("-").casefold()) for part in name_parts(key)}


def _slots(query: str) -> set[str]:
    """Return the slots of the conditions of a search."""
    return {slot for part in top_level_parts(query) if part != "OR" for slot in condition_slots(part)}


def _descriptions(request: Request) -> Iterator[tuple[int, Token, bool]]:
    """Yield the words that describe notes, each with its position and whether it is in a clause.

    For example, "boring" in "the boring notes", and in the clause of "notes that are boring".
    """
    language, tokens = request.language, request.tokens
    pronouns = language.words("determiners") | language.words("fillers") | language.words("universal")
    nouns = language.words("note_nouns") - pronouns
    function_words = language.function_words() - language.words("adjectives")
    one = language.words("single_nouns") & language.words("result_pronouns")
    small = nouns | pronouns | language.words("negations")
    plain = small | function_words | language.verbs()

    def is_noun(token: Token) -> bool:
        is_kind = token.is_word and request.vocabulary.find_category(token.key) is not None
        return token.key in nouns or is_kind

    for position, token in enumerate(tokens):
        if not token.is_word or token.key in small or token.key[0].isdigit():
            continue
        following = tokens[position + 1] if position + 1 < len(tokens) else None
        # "The Jamaica one" names a note instead of describing several.
        is_before_noun = following is not None and is_noun(following) and following.key not in one
        in_clause = any(
            (
                language.match_prefix(tokens, start, "description_leads") == position
                and any(map(is_noun, tokens[:start]))
                and tokens[start - 1].kind != "mark"  # "it's a long note, that's fine"
            )
            or (
                language.match_prefix(tokens, start, "clause_leads") == position
                and start > 0
                and is_noun(tokens[start - 1])
            )
            for start in range(max(0, position - _MAX_LEAD), position)
        )
        if in_clause or (is_before_noun and token.key not in plain):
            yield position, token, in_clause

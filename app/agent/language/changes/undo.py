"""Find the change that a request to undo names ("undo the tag on H4"), and redo what was undone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from app.agent.language.grammar.request import Request
from app.agent.language.meaning.actions import FOLDER_ACTIONS, MOVING_ACTIONS
from app.agent.language.meaning.dialog import OwnChange, with_moved_notes
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading, Reply
from app.agent.language.words.chips import describe_readings
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token
from app.vault.path import NotePath, name_key

_SCORE = 0.98
_MAX_DESCRIBED = 3
"""The maximum number of undone changes that an option names."""
_BATCH_ACTIONS = frozenset(
    (
        "add_tag",
        "remove_tag",
        "set_property",
        "set_confidence",
        "remove_property",
        "append",
        "prepend",
        "replace",
    )
)
"""The actions that change several notes in one step of the audit log."""
_WHOLE_CHANGE = "This change affects {} notes and can only be undone for all of them. Nothing was undone."
_NO_CHANGE = "I have not changed anything in this conversation. Nothing was undone."
_UNKNOWN_CHANGE = (
    "I don't know which of my changes are meant, so nothing was undone. Name one kind of change and its note,"
    " for example “undo the tag on H4”."
)
_PERIOD = (
    "I can't undo changes by date. Nothing was undone. Say “undo the last two changes”, “undo everything in"
    " this conversation” or “undo everything you did today”."
)


def parse_redo(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the reading that makes the last undone change again; None for other requests."""
    dialog = request.dialog
    # "Restore it" after an undo brings back what was undone.
    follows_undo = bool(dialog.undone) and dialog.last is not None and dialog.last.last.action == "undo"
    names = ("redo", "restore") if follows_undo else ("redo",)
    is_redo = any(request.language.matches_phrase(tokens, "undoing", name) for name in names)
    if "redo" not in request.allowed or not is_redo:
        return None
    return Reading((PipelineStep("redo"),), 1.0, language=request.language.code)


def resolve_undo(request: Request, reading: Reading) -> Reading:
    """Return an undo of the change that the request names.

    That is the last change of the named kind, in the named notes if there are any. If there is no such
    change, the reading is marked as uncertain, so that the agent asks first; without any change in the
    conversation, it finds none. An undo of the last change is also uncertain while a question about another
    change is open. Readings of other actions are returned unchanged, as is any reading if the request names
    only notes without changes.
    """
    step = reading.steps[0]
    if step.action != "undo" or len(reading.steps) > 1 or step.arguments.get("scope", "last") != "last":
        return reading
    kinds, changes = _kinds(request, request.tokens), request.dialog.changes
    if kinds and not changes:
        # The last change of another conversation is not meant.
        return replace(reading, steps=(PipelineStep("undo", step.target, {"what": kinds[0]}),))
    if not kinds and step.target is None and _asks_about_change(request):
        return replace(reading, is_certain=False)
    notes = set(step.target.notes) if step.target is not None else set()
    candidates = [change for change in changes if not notes or notes & set(change.notes)]
    if not kinds or not candidates:
        return reading
    change = next((candidate for candidate in reversed(candidates) if candidate.action in kinds), None)
    if change is None:
        return replace(reading, is_certain=False)
    if change is changes[-1]:
        return replace(reading, steps=(PipelineStep("undo", None, {"scope": "last"}),))
    target = step.target or NoteSet(notes=change.notes[:1])
    return replace(reading, steps=(PipelineStep("undo", target, {"what": change.action}),))


def undo_choices(request: Request, reading: Reading) -> list[Reading]:
    """Return the undo of all changes that the last request made, and of the last one; else the reading alone.

    "Undo that" may mean either, unless the request says "the last change".
    """
    dialog, plain = request.dialog, PipelineStep("undo", None, {"scope": "last"})
    says_last = _has_phrase(request.language, request.tokens, "last")
    if dialog.made < 2 or reading.steps not in ((plain,), (PipelineStep("undo"),)) or says_last:
        return [reading]
    reading = replace(reading, is_certain=False)
    last = replace(reading, steps=(plain,), score=reading.score - 0.01)
    return [replace(reading, steps=(dialog.undo_of_request,)), last]


def _asks_about_change(request: Request) -> bool:
    """Return whether a question about a change is open, so that this change was not made."""
    question = request.dialog.question
    return question is not None and any(request.writes(option.reading) for option in question.options)


# Several changes


def undone_changes(reading: Reading, changes: Sequence[OwnChange]) -> tuple[OwnChange, ...]:
    """Return the changes of the conversation that a reading undoes, the last one first; none for others."""
    step = reading.steps[0]
    return changes_of_undo(step, changes) if step.action == "undo" and len(reading.steps) == 1 else ()


def changes_of_undo(step: PipelineStep, changes: Sequence[OwnChange]) -> tuple[OwnChange, ...]:
    """Return the changes of the conversation that an undo undoes, the last one first.

    Return none for an undo of changes that may be those of other conversations, and for one whose notes are
    not known yet.
    """
    if step.target is not None and not step.target.notes:
        return ()
    kind, scope = (str(step.arguments.get(name, "")) for name in ("what", "scope"))
    if step.target is not None or kind:
        notes = set(step.target.notes) if step.target is not None else set()
        found = [own for own in changes if kind in ("", own.action) and (not notes or notes & set(own.notes))]
        return tuple(found[-1:])
    latest, count = tuple(changes)[::-1], scope.partition(":")[2]
    match scope:
        case "today":
            return ()
        case "" | "last":
            return latest[:1]
        case _ if scope.startswith("last:"):
            return latest[: int(count)] if count.isdecimal() else ()
        case _:
            return latest


def undoes_nothing(reading: Reading, changes: Sequence[OwnChange]) -> bool:
    """Return whether a reading undoes only a change that the conversation does not have."""
    step = reading.steps[0]
    is_named = (step.target is not None and bool(step.target.notes)) or "what" in step.arguments
    is_undo = step.action == "undo" and len(reading.steps) == 1
    return is_undo and is_named and not undone_changes(reading, changes)


def describe_undo(reading: Reading, changes: Sequence[OwnChange]) -> str:
    """Return a label that says what an undo of a few changes undoes; empty for other readings."""
    undone = undone_changes(reading, changes)
    if not 0 < len(undone) <= _MAX_DESCRIBED or not all(change.action for change in undone):
        return ""
    steps = []
    for change in undone:
        # The notes of a move are the same note by two paths.
        notes = change.notes[:1] if change.action in (*MOVING_ACTIONS, *FOLDER_ACTIONS) else change.notes
        steps.append(PipelineStep(change.action, NoteSet(notes=notes) if notes else None))
    shown = describe_readings([Reading((step,), 1.0, language=reading.language) for step in steps])
    bare = replace(reading, steps=(PipelineStep("undo"),))
    return f"{describe_readings([bare])[0]} · {', '.join(shown)}"


def parse_undo(request: Request, tokens: tuple[Token, ...]) -> Reading | Reply | None:
    """Interpret an undo of certain changes: "undo everything except the rename", "restore the deleted note".

    Return None for other requests. The reply says that there are no changes, or that it is unclear which ones
    are meant.
    """
    language, changes = request.language, request.dialog.changes
    words = tuple(token for token in tokens if token.kind != "mark")
    if "undo" not in request.allowed or not _has_phrase(language, words, "verbs"):
        return None
    if not changes:
        is_partial = _has_phrase(language, words, "all") and _has_phrase(language, words, "except")
        return Reply(_NO_CHANGE) if is_partial else None
    is_whole = language.matches_phrase(words, "undo", "whole") and not _asks_about_change(request)
    if request.dialog.made > 1 and is_whole:
        return Reading((request.dialog.undo_of_request,), _SCORE, language=language.code)
    if _has_phrase(language, words, "periods") and not _kinds(request, words):
        return Reply(_PERIOD)
    cut = next((at for at in range(len(words)) if _match(language, words, at, "except") > at), None)
    if cut is not None:
        kept = _named_changes(request, words[_match(language, words, cut, "except") :])
        if not _has_phrase(language, words[:cut], "all"):
            return None
        named = _named_changes(request, words[:cut]) if _kinds(request, words[:cut]) else changes
        undone = [change for change in named if change not in kept]
        return _undo_of(request, undone) if kept and undone else Reply(_UNKNOWN_CHANGE)
    named = _named_changes(request, words)
    if named and _has_phrase(language, words, "first"):
        return _undo_of(request, named)
    is_deletion = {change.action for change in named} == {"delete"}
    if is_deletion and (len(named) == 1 or _has_phrase(language, words, "all")):
        return _undo_of(request, named)
    kinds = _kinds(request, words)
    if not named and "delete" in kinds:
        return Reading((PipelineStep("undo", None, {"what": "delete"}),), _SCORE, language=language.code)
    if named and (reply := _undo_of_some_notes(request, words, named[-1])) is not None:
        return reply
    if named and _has_phrase(language, words, "several"):
        return _undo_of(request, named)
    if latest := _latest_of_each_kind(request, words):
        return _undo_of(request, latest)
    names_note = any(mention.kind == "note" for mention in request.mentions(words))
    is_of_note = any(_names({word.key for word in words}, path) for change in named for path in change.notes)
    if kinds and len(named) == 1 and (is_of_note or not names_note):
        return _undo_of(request, named)
    return None


def _undo_of_some_notes(
    request: Request, words: Sequence[Token], change: OwnChange
) -> Reading | Reply | None:
    """Return the undo of a change of several notes for those that words name; None for other changes.

    A tag has an opposite. Another change is undone as a whole and made again for the other notes.
    """
    keys, notes = {token.key for token in words}, tuple(dict.fromkeys(change.notes))
    paths = tuple(path for path in notes if _names(keys, path))
    if change.action in (*MOVING_ACTIONS, *FOLDER_ACTIONS) or not 0 < len(paths) < len(notes):
        return None
    changes = request.dialog.changes
    later = changes[changes.index(change) + 1 :]
    if (opposite := change.opposite(paths)) is not None:
        step = with_moved_notes(opposite, later)
        return Reading((step,), _SCORE, language=request.language.code)
    undo = _undo_of(request, [change])
    if change.action not in _BATCH_ACTIONS or isinstance(undo, Reply):
        return Reply(_WHOLE_CHANGE.format(len(notes)))
    others = NoteSet(notes=tuple(path for path in notes if path not in paths))
    again = with_moved_notes(PipelineStep(change.action, others, change.arguments), later)
    # Later changes may have built on this one, so the result may not be that of an undo.
    return replace(undo, steps=(*undo.steps, again), is_certain=False)


def _match(language: Language, words: Sequence[Token], at: int, name: str) -> int:
    return language.match_prefix(words, at, "undo", name)


def _has_phrase(language: Language, words: Sequence[Token], name: str) -> bool:
    return any(_match(language, words, at, name) > at for at in range(len(words)))


def _kinds(request: Request, words: Sequence[Token]) -> list[str]:
    """Return the actions of the changes that words name: "rename", "tagging"."""
    nouns = request.language.table("change_nouns")
    return [action for token in words if token.is_word for action in nouns.get(token.key, ())]


def _latest_of_each_kind(request: Request, words: Sequence[Token]) -> list[OwnChange]:
    """Return the last change of each kind of "the deletion and the tag", oldest first; none for one kind."""
    language, nouns = request.language, request.language.table("change_nouns")
    kinds = [nouns[token.key] for token in words if token.is_word and token.key in nouns]
    has_and = language.has_phrase(words, "and")
    if len(kinds) < 2 or not has_and:
        return []
    changes = request.dialog.changes
    latest = [next((own for own in reversed(changes) if own.action in actions), None) for actions in kinds]
    return [own for own in changes if own in latest] if None not in latest else []


def _named_changes(request: Request, words: Sequence[Token]) -> list[OwnChange]:
    """Return the changes that words name by their kind, their notes, or as the last one; perhaps none.

    A number of notes selects the last change of as many notes, or as many changes of one note each.
    """
    language, changes = request.language, request.dialog.changes
    kinds, keys = _kinds(request, words), {token.key for token in words}
    named = [change for change in changes if not kinds or change.action in kinds]
    counts = [number for key in keys if (number := request.dates.parse_number(key)) and number > 1]
    if _has_phrase(language, words, "last"):
        return named[-counts[0] :] if counts else named[-1:]
    if _has_phrase(language, words, "first"):
        return named[: counts[0]] if counts else named[:1]
    of_notes = [change for change in named if any(_names(keys, path) for path in change.notes)]
    if not kinds and not of_notes:
        return []
    named = of_notes or named
    if not counts:
        return named
    whole = [change for change in named if len(set(change.notes)) == counts[0]][-1:]
    singles = named[-counts[0] :] if len(named) >= counts[0] else []
    return whole or singles


def _names(keys: Collection[str], path: str) -> bool:
    """Return whether words contain the name of a note, which may be deleted."""
    return {*name_key(NotePath.on_disk(path).name).split()}.issubset(keys)


def _undo_of(request: Request, undone: Sequence[OwnChange]) -> Reading | Reply:
    """Return the undo of some changes, the last one first; a reply if the notation can't name them."""
    changes, steps = list(request.dialog.changes), []
    if list(undone) == changes:
        steps = [PipelineStep("undo", None, {"scope": "all"})]
    elif list(undone) == changes[-len(undone) :]:
        scope = "last" if len(undone) == 1 else f"last:{len(undone)}"
        steps = [PipelineStep("undo", None, {"scope": scope})]
    else:
        for change in reversed(undone):
            if change is next((own for own in reversed(changes) if own.action == change.action), None):
                steps.append(PipelineStep("undo", None, {"what": change.action}))
            else:
                of_note = [own for own in changes if change.notes and change.notes[0] in own.notes]
                same = [own for own in of_note if own.action == change.action]
                if not same or same[-1] is not change:
                    return Reply(_UNKNOWN_CHANGE)
                steps.append(PipelineStep("undo", NoteSet(notes=change.notes[:1]), {"what": change.action}))
            changes.remove(change)
    return Reading(tuple(steps), _SCORE, language=request.language.code)

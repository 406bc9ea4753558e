"""Find the change that a request to undo names ("undo the tag on H4"), and redo what was undone."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token


def parse_redo(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the reading that makes the last undone change again; None for other requests."""
    if "redo" not in request.allowed or not request.language.matches_phrase(tokens, "undoing", "redo"):
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
    kinds = [
        action
        for noun, actions in request.language.table("change_nouns").items()
        if any(token.is_word and token.key == noun for token in request.tokens)
        for action in actions
    ]
    changes = request.dialog.changes
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


def _asks_about_change(request: Request) -> bool:
    """Return whether a question about a change is open, so that this change was not made."""
    question = request.dialog.question
    return question is not None and any(request.writes(option.reading) for option in question.options)

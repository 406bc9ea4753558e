"""Choose the change that "undo the tag on H4" and "take the rename back" mean."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request


def resolve_undo(request: Request, reading: Reading) -> Reading:
    """Return an undo of the change that the request names.

    It is the last change of the named kind, in the named notes if there are any. Without such a change the
    reading is uncertain, so that the agent asks first. A reading of anything else is returned as it is.
    """
    step = reading.steps[0]
    if step.action != "undo" or len(reading.steps) > 1 or step.arguments.get("scope", "last") != "last":
        return reading
    kinds = {
        action
        for noun, actions in request.language.table("change_nouns").items()
        if any(token.is_word and token.key == noun for token in request.tokens)
        for action in actions
    }
    changes = request.dialog.changes
    notes = set(step.target.notes) if step.target is not None else set()
    named = [change for change in changes if not notes or notes & set(change.notes)]
    if not kinds or not named:
        return reading
    chosen = next((change for change in reversed(named) if change.action in kinds), None)
    if chosen is None:
        return replace(reading, is_certain=False)
    if chosen is changes[-1]:
        return replace(reading, steps=(PipelineStep("undo", None, {"scope": "last"}),))
    target = step.target or NoteSet(notes=chosen.notes[:1])
    return replace(reading, steps=(PipelineStep("undo", target, {"what": chosen.action}),))

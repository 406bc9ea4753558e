"""The agent without a model: the planner reads the request, tools do the work, answers come from results."""

from __future__ import annotations

from typing import Protocol

from app.agent.planner import AskBack, BuiltinPlanner, CallTool, NeedsModel, PlanContext, Say
from app.agent.transcript import Choice, NoteOpened
from app.agent.turn import Turn

_EXACTLY = "I have to ask back: name the note by its whole path, and say one thing that is to be done."
_ONLY_READS = "I may only read now, so I did not do this: {}"


class Responder(Protocol):
    """Something that answers a turn: the built-in agent or a model."""

    async def respond(self, turn: Turn) -> None:
        """Answer by streaming text and calling tools; returning ends the turn."""
        ...


class BuiltinAgent:
    """Answers by the planner; keeps what each conversation last spoke of, so that "it" is understood."""

    def __init__(self, planner: BuiltinPlanner) -> None:
        self._planner = planner
        self._last: dict[tuple[str, str], PlanContext] = {}

    async def respond(self, turn: Turn) -> None:
        """Do the one thing that the prompt asks for, or ask back, or say what needs a model."""
        context = self._context(turn)
        plan = await self._planner.plan(turn.prompt.text, context)
        match plan:
            case AskBack() if plan.choices and turn.caller.uses_model:
                # Who asks is a model: it is not shown the names of notes that it may not know of.
                turn.say(_EXACTLY)
            case CallTool() if turn.prompt.mode != "propose" and self._planner.writes(plan):
                turn.say(_ONLY_READS.format(plan.understood or plan.tool))
            case CallTool():
                await self._carry_out(turn, plan)
            case AskBack():
                choices = tuple(Choice(label=each.label, reply=each.reply) for each in plan.choices)
                turn.ask(plan.question, choices)
                self._last[_key(turn)] = self._planner.remember(context, plan)
            case NeedsModel():
                turn.say(plan.reason)
            case Say():
                turn.say(plan.text)

    async def _carry_out(self, turn: Turn, plan: CallTool) -> None:
        if plan.understood:
            turn.say(plan.understood)
        outcome = await turn.call(plan.tool, plan.arguments, plan.understood)
        self._last[_key(turn)] = self._planner.remember(self._context(turn), plan)
        turn.say(self._planner.answer(plan, outcome))
        if plan.intent == "open" and outcome.success:
            path = str(outcome.result["path"])
            turn.events.publish(NoteOpened(turn.conversation, turn.caller.turn, path))

    def _context(self, turn: Turn) -> PlanContext:
        known = self._last.get(_key(turn), PlanContext())
        return known.with_open_note(turn.prompt.open_note, turn.prompt.notes)


def _key(turn: Turn) -> tuple[str, str]:
    return turn.conversation, turn.agent

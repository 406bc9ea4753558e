"""The user's rules for the calls in an agent's turn: tools to call first or last, or only one of several."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

from app.errors import LimitError
from app.permissions.caller import Caller
from app.settings import TurnRule
from app.vault.globs import word_matches

_MAX_TRACKED_TURNS = 500


class TurnRules:
    """Tracks the calls of each turn and checks them against the rules; ignores calls outside a turn."""

    def __init__(self) -> None:
        self._rules: tuple[TurnRule, ...] = ()
        self._called: OrderedDict[str, list[str]] = OrderedDict()

    def configure(self, rules: Iterable[TurnRule]) -> None:
        """Replace the rules; they apply to the calls that follow."""
        self._rules = tuple(rules)

    def check(self, tool: str, caller: Caller) -> None:
        """Record a call to `tool` in the caller's turn.

        Raises:
            LimitError: the call violates a rule; `tools` are the tools that the rule names.
        """
        if not caller.turn or not self._rules:
            return
        called = self._called.setdefault(caller.turn, [])
        for rule in self._rules:
            if problem := _violation(rule, tool, called):
                raise LimitError(problem, limit=1, tools=list(rule.tools))
        called.append(tool)
        self._called.move_to_end(caller.turn)
        while len(self._called) > _MAX_TRACKED_TURNS:
            self._called.popitem(last=False)

    def ends(self, tool: str, caller: Caller) -> bool:
        """Return whether a rule makes a call to `tool` end the caller's turn."""
        return bool(caller.turn) and any(rule.kind == "last" and _is_in(tool, rule) for rule in self._rules)


def _violation(rule: TurnRule, tool: str, called: list[str]) -> str:
    """Return why `tool` violates the rule after the tools already called; empty if it does not."""
    names = ", ".join(rule.tools)
    matching = [name for name in called if _is_in(name, rule)]
    if rule.kind == "first" and not matching and not _is_in(tool, rule):
        return f"Call {names} first in this turn."
    if rule.kind == "last" and matching:
        return f"{matching[0]} has already ended this turn."
    if rule.kind == "either" and _is_in(tool, rule) and any(name != tool for name in matching):
        return f"{matching[0]} was already called in this turn; only one of {names} may be called."
    return ""


def _is_in(tool: str, rule: TurnRule) -> bool:
    return any(word_matches(glob, tool) for glob in rule.tools)

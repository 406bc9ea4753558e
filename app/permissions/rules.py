"""The user's and the vault's rules, compiled for matching."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.permissions.caller import Caller, CallerKind
from app.permissions.impact import ImpactPart
from app.permissions.scope import Operation
from app.settings import Effect, Rule
from app.vault.changes import VAULT
from app.vault.globs import Glob, includes_words, word_matches
from app.vault.path import NotePath

OPERATIONS_ON_FILES = frozenset((Operation.READ, Operation.UPDATE, Operation.DELETE))
"""The operations on a file that exists."""


@dataclass(frozen=True, slots=True)
class Restriction:
    """An operation on a file that a rule or a profile denies or asks about.

    `caller` and `tool` are globs over the callers and tools that are restricted.
    """

    operation: Operation
    effect: Effect
    caller: str
    tool: str

    @property
    def hides(self) -> bool:
        """True if it hides the file from these callers."""
        return self.operation is Operation.READ and self.effect == "deny"

    def includes(self, other: Restriction) -> bool:
        """Return whether it restricts the operation of `other` for all its callers and tools."""
        if other.caller.casefold() == CallerKind.USER:
            # As in `CompiledRule`, only the name itself stands for the user.
            includes_callers = self.caller.casefold() == CallerKind.USER
        else:
            includes_callers = includes_words(self.caller, other.caller)
        return (
            includes_callers and self.operation is other.operation and includes_words(self.tool, other.tool)
        )


@dataclass(frozen=True)
class CompiledRule:
    """A compiled rule from the settings or from a vault.

    Only a rule that names `user` applies to the user of the window: "*" matches all other callers, so that a
    rule that restricts agents, or one in a vault, never locks users out of their own notes.
    """

    rule: Rule

    @cached_property
    def place(self) -> str:
        """The glob over document stores: "memory:core/*" matches the memory, a bare glob the vault."""
        head, colon, _ = self.rule.glob.partition(":")
        return head if colon else VAULT

    @property
    def effect(self) -> Effect:
        """The effect: allow, ask or deny."""
        return self.rule.effect

    @cached_property
    def operations(self) -> frozenset[Operation]:
        """The operations that the rule covers."""
        return frozenset(Operation(name) for name in self.rule.operations) or frozenset(Operation)

    @cached_property
    def glob(self) -> Glob:
        """The glob over paths."""
        return Glob(self.rule.glob.partition(":")[2] if self.place else self.rule.glob)

    @cached_property
    def is_everywhere(self) -> bool:
        """True if the rule covers every path of the vault."""
        return self.place == VAULT and self.glob.is_everything

    def is_about(self, caller: Caller, tool: str, op: str = "") -> bool:
        """Return whether the rule applies to calls of `tool` (and its operation `op`) by `caller`.

        A rule about the program for which the caller acts applies too, unless it is an allow rule.
        """
        if not any(word_matches(self.rule.tool, name) for name in (tool, f"{tool}.{op}")):
            return False
        if caller.kind is CallerKind.USER:
            return self.rule.caller.casefold() == CallerKind.USER
        names = [caller.kind.value, caller.name]
        if caller.acting_for and self.effect != "allow":
            names.append(caller.acting_for)
        return any(word_matches(self.rule.caller, name) for name in names)

    def matches(self, path: NotePath) -> bool:
        """Return whether the rule is about a path in the vault, for some operation."""
        return self._matches(VAULT, path)

    def covers(self, part: ImpactPart) -> bool:
        """Return whether the rule covers the part's operation and path directly.

        A rule that restricts every path restricts every store; an allow rule covers only its own store.
        """
        if part.operation not in self.operations:
            return False
        if part.path is None or (part.store_id and self.effect != "allow" and self.is_everywhere):
            return self.is_everywhere
        return self._matches(part.store_id, part.path)

    @cached_property
    def _full_glob(self) -> Glob:
        """The glob with its prefix: a folder of the vault may have a colon in its name."""
        return Glob(self.rule.glob)

    def _matches(self, place: str, path: NotePath) -> bool:
        """Return whether the rule covers a path of a store; a restriction applies under either reading."""
        if self._matches_store(place) and self.glob.matches(path):
            return True
        return place == VAULT != self.place and self.effect != "allow" and self._full_glob.matches(path)

    def _matches_store(self, place: str) -> bool:
        return self.place == place if VAULT in (self.place, place) else word_matches(self.place, place)

    def touches(self, part: ImpactPart) -> bool:
        """Return whether the rule applies to the part, or to a move into or out of the rule's paths.

        For these paths, moving a note out is like deleting it, and moving a note in is like creating it.
        """
        if self.covers(part):
            return True
        if part.path is None or part.other_end is None or not self._matches(part.store_id, part.path):
            return False
        crossing = Operation.DELETE if part.leaves else Operation.CREATE
        return crossing in self.operations and not self._matches(part.store_id, part.other_end)

"""Rules of the user and of the vault, ready to be matched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from app.permissions.caller import Caller, CallerKind
from app.permissions.scope import Operation
from app.permissions.scoping import Part
from app.settings import Effect, Rule
from app.vault.changes import VAULT
from app.vault.globs import Glob, word_matches
from app.vault.path import NotePath


@dataclass(frozen=True)
class CompiledRule:
    """A rule of the settings or of a vault.

    The person at the window is meant only by a rule that names them (`user`): "*" are all others, so that
    a rule which holds agents back, or one that came with a vault, never locks people out of their notes.
    """

    rule: Rule

    @cached_property
    def place(self) -> str:
        """Which places it is about, as a glob: "memory:core/*" is about the memory, a bare glob the vault."""
        head, colon, _ = self.rule.glob.partition(":")
        return head if colon else VAULT

    @property
    def effect(self) -> Effect:
        """allow, ask or deny."""
        return self.rule.effect

    @cached_property
    def operations(self) -> frozenset[Operation]:
        """Which operations it is about."""
        return frozenset(Operation(name) for name in self.rule.operations) or frozenset(Operation)

    @cached_property
    def glob(self) -> Glob:
        """Which paths it is about."""
        return Glob(self.rule.glob.partition(":")[2] if self.place else self.rule.glob)

    @cached_property
    def is_everywhere(self) -> bool:
        """Whether it is about every path of the vault."""
        return self.place == VAULT and self.glob.is_everything

    def is_about(self, caller: Caller, tool: str, op: str = "") -> bool:
        """Whether it concerns calls of `tool` (and its operation `op`) by `caller`."""
        if not any(word_matches(self.rule.tool, name) for name in (tool, f"{tool}.{op}")):
            return False
        if caller.kind is CallerKind.USER:
            return self.rule.caller.casefold() == CallerKind.USER
        names = [caller.kind.value, caller.name]
        if caller.acting_for and self.effect != "allow":
            names.append(caller.acting_for)
        return any(word_matches(self.rule.caller, name) for name in names)

    def covers(self, part: Part) -> bool:
        """Whether the part is plainly one of its operations on one of its paths.

        A rule that holds back everywhere holds back in every place; one that allows does so where it says.
        """
        if part.operation not in self.operations:
            return False
        if part.path is None or (part.place and self.effect != "allow" and self.is_everywhere):
            return self.is_everywhere
        return self._names(part.place, part.path)

    @cached_property
    def _whole(self) -> Glob:
        """The glob with what looks like a place: a folder of the vault may have a colon in its name."""
        return Glob(self.rule.glob)

    def _names(self, place: str, path: NotePath) -> bool:
        """Whether the path of a place is one of its paths; a rule that holds back is read in both ways."""
        if self._is_of(place) and self.glob.matches(path):
            return True
        return place == VAULT != self.place and self.effect != "allow" and self._whole.matches(path)

    def _is_of(self, place: str) -> bool:
        return self.place == place if VAULT in (self.place, place) else word_matches(self.place, place)

    def touches(self, part: Part) -> bool:
        """As `covers`, and a move over the border of its paths counts as what it comes to there.

        To move a note out of what a rule on deleting protects takes it away from there as a delete does;
        to move one in is to create it.
        """
        if self.covers(part):
            return True
        if part.path is None or part.other_end is None or not self._names(part.place, part.path):
            return False
        crossing = Operation.DELETE if part.leaves else Operation.CREATE
        return crossing in self.operations and not self._names(part.place, part.other_end)

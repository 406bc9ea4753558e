"""The policy: decides whether a call is allowed, needs approval, or is denied.

The order is: 1. Hard rules, which nothing can loosen. 2. Deny rules. 3. Operations that always ask. 4. Ask
rules, and changes that their document store asks about. 5. Grants and allow rules. 6. The default: reads in
the vault, and changes that their own document store allows, are allowed; everything else asks. So deny beats
ask beats allow regardless of the order of the rules, and no grant overrides step 3 or 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from app.permissions.approval import GrantOffer
from app.permissions.caller import Caller, CallerKind
from app.permissions.grant_offers import offers_for
from app.permissions.grants import Grants
from app.permissions.impact import EXTERNAL_TOOL, MESSAGE, PAGE, CallFacts, ImpactPart
from app.permissions.pluralize import pluralize
from app.permissions.profiles import allows_note, allows_tool, outside_profile
from app.permissions.rules import OPERATIONS_ON_FILES, CompiledRule, Restriction
from app.permissions.scope import Operation, ScopeKind
from app.settings import CallerProfile, Effect, PermissionSettings, Rule, VaultRules
from app.vault.changes import VAULT
from app.vault.globs import word_matches
from app.vault.path import NotePath

_NO_VAULT_RULES = VaultRules()
_UNREADABLE_RULE = Rule(
    effect="deny", operations=("create", "update", "delete", "administrative", "execute", "network")
)

_ASK_EVERYTHING = Rule(effect="ask")
_ALWAYS_ASKED = {
    Operation.ADMINISTRATIVE: "a change to the vault's setup always needs approval",
    Operation.EXECUTE: "running a program always needs approval",
}


@dataclass(frozen=True, slots=True)
class Allow:
    """The call is allowed: by default, by an allow rule, or by these grants."""

    reason: str
    by: Literal["default", "rule", "grant"] = "default"
    grants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ask:
    """The call needs approval, for this reason; `offers` are the standing permissions to offer with it."""

    reason: str
    offers: tuple[GrantOffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Deny:
    """The call is denied, for this reason."""

    reason: str


Verdict = Allow | Ask | Deny

ProtectionLoss = Literal["", "hidden", "protected"]


class Policy:
    """The policy of one vault.

    Args:
        settings: The user's permission settings.
        grants: The standing permissions.
        vault: The vault's own rules, which can only tighten the settings; None if they could not be read. In
            that case, only the user may change anything, not an agent or another program.
    """

    def __init__(
        self, settings: PermissionSettings, grants: Grants, vault: VaultRules | None = _NO_VAULT_RULES
    ) -> None:
        self._grants = grants
        self.configure(settings, vault)

    def configure(self, settings: PermissionSettings, vault: VaultRules | None = _NO_VAULT_RULES) -> None:
        """Replace the settings and the vault's rules; this also locks or unlocks delete grants.

        The arguments are those of the class.
        """
        additional_rules = vault.tightening_rules if vault is not None else (_UNREADABLE_RULE,)
        if settings.unreadable:
            additional_rules = (*additional_rules, _ASK_EVERYTHING)
        self._rules = tuple(CompiledRule(rule) for rule in (*settings.rules, *additional_rules))
        limits = [settings.bulk_threshold, vault.bulk_threshold if vault else None]
        self.bulk_threshold = min(limit for limit in limits if limit is not None)
        self.approval_timeout = settings.approval_timeout
        self.categories_off = settings.categories_off | frozenset(vault.categories_off if vault else ())
        self._profiles = settings.callers
        self._grants.deletes_unlocked = settings.unlock_delete_grants

    def decide(self, call: CallFacts) -> Verdict:
        """Return the verdict on a proposal, or on reading the notes a call names."""
        steps: tuple[Callable[[CallFacts], Verdict | None], ...] = (
            self._hard_limits,
            self._denied_by_rule,
            self._always_asks,
            self._asked_by_rule,
            self._allowed_by_rule_or_grant,
        )
        for step in steps:
            if (verdict := step(call)) is not None:
                return verdict
        if call.scope.kind is ScopeKind.READ_IN_SCOPE:
            return Allow("reading in the vault")
        if call.access is not None and call.access.effect == "allow":
            return Allow(call.access.reason)
        return Ask("no auto-approve rule covers this action", self._offers(call))

    def may_call(self, caller: Caller, category: str, tool: str, op: str = "") -> bool:
        """Return whether `caller` may call the tool (and its operation `op`) at all.

        It may not if the category is off, a profile of the caller omits the tool, or a deny rule on every
        path and operation matches it.
        """
        if category in self.categories_off:
            return False
        if not all(allows_tool(profile, category, tool, op) for profile in self._profiles_of(caller)):
            return False
        return not any(
            rule.effect == "deny" and rule.is_everywhere and not rule.rule.operations
            for rule in self._rules_for(caller, tool, op)
        )

    def may_write(self, caller: Caller) -> bool:
        """Return whether `caller` may do anything but read."""
        return not any(profile.read_only for profile in self._profiles_of(caller))

    def may_read(self, caller: Caller, tool: str, path: NotePath, place: str = VAULT) -> Effect:
        """Return the effect of the rules on reading `path` through `tool`; "allow" if none matches.

        `place` is the store that holds `path`. The folders in a profile restrict reads in the vault only.
        """
        if place == VAULT and not all(allows_note(profile, path) for profile in self._profiles_of(caller)):
            return "deny"
        part = ImpactPart(Operation.READ, path, store_id=place)
        effects = {rule.effect for rule in self._rules_for(caller, tool) if rule.touches(part)}
        return "deny" if "deny" in effects else "ask" if "ask" in effects else "allow"

    def has_read_rules(self, caller: Caller, tool: str) -> bool:
        """Return whether a rule or a profile restricts what `caller` reads through `tool`."""
        return any(profile.folders for profile in self._profiles_of(caller)) or any(
            rule.effect != "allow" and Operation.READ in rule.operations
            for rule in self._rules_for(caller, tool)
        )

    def protection_lost_by_move(self, old: NotePath, new: NotePath) -> ProtectionLoss:
        """Return how much less a file is protected at `new` than at `old`.

        Returns:
            "hidden" if some caller may not read the file at `old`, and may at `new` without being asked
            about; "protected" if anything else about the file is restricted less for some caller; else "".
        """
        at_new = self._restrictions(new)
        lost: ProtectionLoss = ""
        for restriction in self._restrictions(old):
            remaining = {other.effect for other in at_new if other.includes(restriction)}
            if "deny" in remaining or restriction.effect in remaining:
                continue
            if restriction.hides and not remaining:
                return "hidden"
            lost = "protected"
        return lost

    def patterns_left_by_moves(self, moves: Mapping[NotePath, NotePath]) -> frozenset[str]:
        """Return the globs of rules and the folders of profiles that match an old path, but not the new."""
        patterns: dict[str, Callable[[NotePath], bool]] = {
            folder: partial(_is_under, folder) for profile in self._profiles for folder in profile.folders
        }
        patterns |= {rule.rule.glob: rule.matches for rule in self._rules}
        return frozenset(
            pattern
            for pattern, matches in patterns.items()
            if any(matches(old) and not matches(new) for old, new in moves.items())
        )

    def _restrictions(self, path: NotePath) -> set[Restriction]:
        """Return what the rules and profiles restrict about a file that exists."""
        by_rules = {
            Restriction(operation, rule.effect, rule.rule.caller, rule.rule.tool)
            for rule in self._rules
            if rule.effect != "allow" and rule.matches(path)
            for operation in OPERATIONS_ON_FILES & rule.operations
        }
        return by_rules | {
            Restriction(operation, "deny", profile.caller, "*")
            for profile in self._profiles
            if not allows_note(profile, path)
            for operation in OPERATIONS_ON_FILES
        }

    def _profiles_of(self, caller: Caller) -> list[CallerProfile]:
        """Return the profiles that apply to a caller; none apply to the user acting directly."""
        if caller.kind is CallerKind.USER:
            return []
        names = (caller.kind.value, caller.name, *filter(None, (caller.acting_for,)))
        return [
            caller_profile
            for caller_profile in self._profiles
            if any(word_matches(caller_profile.caller, name) for name in names)
        ]

    def _rules_for(self, caller: Caller, tool: str, op: str = "") -> Iterable[CompiledRule]:
        return (rule for rule in self._rules if rule.is_about(caller, tool, op))

    def _matching_rule(self, call: CallFacts, effect: Effect) -> CompiledRule | None:
        for rule in self._rules_for(call.caller, call.tool, call.op):
            if rule.effect == effect and any(rule.touches(part) for part in call.parts):
                return rule
        return None

    def _hard_limits(self, call: CallFacts) -> Verdict | None:
        writes = call.operation is not Operation.READ
        if call.reads_only and writes and call.effect != PAGE:
            return Deny(f"{call.tool} is read-only, but proposed a change")
        touched = {part.operation for part in call.parts if part.path is not None} - {Operation.READ}
        if call.creates_only and touched - {Operation.CREATE}:
            return Deny(f"{call.tool} can only create notes, but proposed to change one")
        if call.operation is Operation.EXECUTE and not call.executes:
            return Deny(f"{call.tool} is in a category that can't run programs")
        for part in call.parts:
            if writes and part.path is not None and part.path.is_hidden:
                return Deny(f"{part.path} belongs to a program's own data, which tools can't change")
        for profile in self._profiles_of(call.caller):
            if problem := outside_profile(profile, call):
                return Deny(problem)
        if call.access is not None and call.access.effect == "deny":
            return Deny(call.access.reason)
        return None

    def _denied_by_rule(self, call: CallFacts) -> Verdict | None:
        rule = self._matching_rule(call, "deny")
        return Deny(_rule_label(rule.rule)) if rule else None

    def _asked_by_rule(self, call: CallFacts) -> Verdict | None:
        rule = self._matching_rule(call, "ask")
        if rule is not None:
            return Ask(_rule_label(rule.rule))
        return Ask(call.access.reason) if call.access is not None and call.access.effect == "ask" else None

    def _always_asks(self, call: CallFacts) -> Verdict | None:
        if call.scope.kind is ScopeKind.READ_IN_SCOPE:
            return None
        reason = self._always_ask_reason(call)
        if reason:
            return Ask(reason)
        new_folders = [folder for folder in call.scope.outside if self._grants.is_new_outside(folder)]
        if call.scope.kind is ScopeKind.READ_OUT_OF_SCOPE and (new_folders or not call.scope.outside):
            target = new_folders[0] if new_folders else "the target"
            return Ask(f"{target} is outside the vault and has not been read before", self._offers(call))
        return None

    def _always_ask_reason(self, call: CallFacts) -> str:
        if call.caller.tainted:
            return "the caller has read text from outside the vault, so each of its changes needs approval"
        if call.effect == EXTERNAL_TOOL:
            return "the effects of an external tool are unknown, so each call needs approval"
        if call.caller.kind is CallerKind.USER:
            return "your own changes are shown to you before they are written"
        if call.operation in (Operation.ADMINISTRATIVE, Operation.EXECUTE):
            return _ALWAYS_ASKED[call.operation]
        if call.effect == MESSAGE:
            return "a message that leaves this machine always needs approval"
        if call.operation is Operation.DELETE and not self._grants.deletes_unlocked:
            return "deleting always needs approval"
        if call.operation is Operation.DELETE and call.scope.backlinks:
            # The reason is sent to the caller, which may not know of all these notes.
            return "deleting a note with backlinks always needs approval"
        if call.changes_access:
            return "a change to what is private or protected by rules always needs approval"
        if call.always_asks:
            return f"{call.tool} always needs approval"
        if call.scope.files > self.bulk_threshold:
            files = pluralize(call.scope.files, "file")
            limit = f"{self.bulk_threshold} files at once"
            return f"changing more than {limit} always needs approval, and this changes {files}"
        return ""

    def _allowed_by_rule_or_grant(self, call: CallFacts) -> Verdict | None:
        if not call.parts or call.scope.kind is ScopeKind.READ_IN_SCOPE:
            return None
        rules = [r for r in self._rules_for(call.caller, call.tool, call.op) if r.effect == "allow"]
        uncovered = [part for part in call.parts if not any(rule.covers(part) for rule in rules)]
        if not uncovered:
            return Allow("an allow rule in the settings", "rule")
        grants = self._grants.match(uncovered, call.tool, call.scope.outside)
        if grants is None:
            return None
        return Allow("; ".join(grant.label for grant in grants), "grant", tuple(grant.id for grant in grants))

    def _offers(self, call: CallFacts) -> tuple[GrantOffer, ...]:
        return offers_for(call, deletes_unlocked=self._grants.deletes_unlocked)


def _is_under(folder: str, path: NotePath) -> bool:
    return path.is_under(folder)


def _rule_label(rule: Rule) -> str:
    """Return a rule in words, for the log and the caller."""
    if rule is _UNREADABLE_RULE:
        return "the vault's rules can't be read, so agents can't change anything"
    if rule is _ASK_EVERYTHING:
        return "the permission rules can't be read, so everything needs approval"
    operations = ", ".join(rule.operations) or "everything"
    conditions = [
        f"{name} {pattern}"
        for name, pattern in (("caller", rule.caller), ("tool", rule.tool))
        if pattern != "*"
    ]
    target = "the whole vault" if rule.glob == "**" else rule.glob
    return f"a rule says: {rule.effect} {operations} in {target}" + (
        f" ({', '.join(conditions)})" if conditions else ""
    )

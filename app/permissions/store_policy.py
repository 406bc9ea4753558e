"""The verdict of a document store outside the vault on a change to its own documents; part of the policy."""

from __future__ import annotations

from dataclasses import dataclass

from app.settings import Effect


@dataclass(frozen=True, slots=True)
class StoreVerdict:
    """The effect of a store's own permissions on a change to its documents.

    `deny` is a hard rule, `ask` overrides every grant, and `allow` permits a change that no rule denies or
    asks about. `reason` names the permission, for the dialog and the log.
    """

    effect: Effect
    reason: str

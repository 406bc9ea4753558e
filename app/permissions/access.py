"""What a store beside the vault says of a change to its own documents: its part of the policy."""

from __future__ import annotations

from dataclasses import dataclass

from app.settings import Effect


@dataclass(frozen=True, slots=True)
class Access:
    """Whether a caller may make a change, by the permissions of the documents themselves.

    `deny` is a hard rule, `ask` stands above all grants, `allow` lets through what no rule asks about.
    `reason` says which permission it is, for the dialog and the log.
    """

    effect: Effect
    reason: str

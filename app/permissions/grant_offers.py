"""The standing permissions that the dialog offers together with an approval."""

from __future__ import annotations

from dataclasses import replace

from app.permissions.approval import GrantOffer
from app.permissions.grants import offer_label
from app.permissions.impact import CallFacts
from app.permissions.scope import Operation, ScopeKind
from app.vault.path import NotePath

GRANT_MINUTES = 30


def offers_for(call: CallFacts, *, deletes_unlocked: bool) -> tuple[GrantOffer, ...]:
    """Return the offers for a call, narrowest first; none if no standing permission would cover it."""
    if call.scope.kind is ScopeKind.READ_OUT_OF_SCOPE:
        return _with_labels(*_outside_offers(call))
    operations = {part.operation for part in call.parts}
    if len(operations) != 1 or call.caller.tainted or call.scope.store_id:
        return ()
    operation = operations.pop()
    if operation is Operation.NETWORK:
        return _with_labels(GrantOffer("", operation, tool=call.tool))
    if operation is Operation.DELETE and (call.scope.backlinks or not deletes_unlocked):
        return ()
    if operation not in (Operation.CREATE, Operation.UPDATE, Operation.DELETE):
        return ()
    folder = common_folder(tuple(part.path for part in call.parts if part.path is not None)) or None
    offers = [
        GrantOffer("", operation, tool=call.tool, folder=folder),
        GrantOffer("", operation, folder=folder, minutes=GRANT_MINUTES),
    ]
    if operation is not Operation.DELETE:
        if folder is not None:
            offers.append(GrantOffer("", operation, tool=call.tool, folder=folder, always=True))
        offers.append(GrantOffer("", operation))
    return _with_labels(*offers)


def common_folder(paths: tuple[NotePath, ...]) -> str:
    """Return the deepest folder that holds all the paths; empty for the root."""
    if not paths:
        return ""
    folders = [path.folder.split("/") if path.folder else [] for path in paths]
    shared = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return "/".join(shared)


def _outside_offers(call: CallFacts) -> list[GrantOffer]:
    folders = call.scope.outside
    if len(folders) != 1:
        return []
    return [
        GrantOffer("", Operation.READ, tool=call.tool, folder=folders[0]),
        GrantOffer("", Operation.READ, folder=folders[0], always=True),
    ]


def _with_labels(*offers: GrantOffer) -> tuple[GrantOffer, ...]:
    return tuple(replace(offer, label=offer_label(offer)) for offer in offers)

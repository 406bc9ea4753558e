"""Reorder the notes that were just listed: "the newest?", "and the shortest?"."""

from __future__ import annotations

from dataclasses import replace

from app.agent.language.dialog import MAX_RESULTS, DialogState
from app.agent.language.property_conditions import DATE_PROPERTIES
from app.agent.language.readings import NoteSet
from app.agent.language.request import Request


def within_list(request: Request, notes: NoteSet) -> NoteSet:
    """Limit an ordered set of all notes to those just listed, if the request continues the list.

    An order by date uses the date by which the list is sorted. If the dialog holds only part of the list,
    return the search that produced the list, in the new order. Return other sets unchanged.
    """
    dialog = request.dialog
    means_list = replace(notes, limit=None).is_everything or (notes.notes == dialog.them and not notes.query)
    if not (notes.order and means_list and request.continues_list):
        return notes
    order = _continued_order(dialog, notes.order)
    last = dialog.last.last.target if dialog.last is not None and dialog.has_search else None
    is_whole = last is None or (last.limit not in (1, -1) and 0 < len(dialog.results) < MAX_RESULTS)
    if last is None or is_whole or dialog.attached or last.source:
        return replace(notes, notes=dialog.them, order=order)
    return replace(last, order=order, limit=notes.limit)


def _continued_order(dialog: DialogState, order: str) -> str:
    """Return the order, with its date replaced by the one that the previous list is sorted by, if any."""
    last = dialog.last.last.target if dialog.last is not None else None
    key = last.order.removeprefix("-") if last is not None else ""
    dates = ("modified", "created", "dated", *DATE_PROPERTIES)
    if order.removeprefix("-") not in dates or key not in dates:
        return order
    return f"-{key}" if order.startswith("-") else key

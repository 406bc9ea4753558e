"""A search as it is handed to the thread that carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.index.query_tree import Node


@dataclass(frozen=True, slots=True)
class Request:
    """A search and what the service thread found out for it.

    `targets` are the files that the names in `links-to:` and `linked-from:` mean, `similar` the scores of
    notes for each text of `similar:`. Without `private`, private notes are as if they were not there.
    """

    node: Node
    limit: int
    offset: int
    private: bool = True
    targets: Mapping[str, int | None] = field(default_factory=dict)
    similar: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

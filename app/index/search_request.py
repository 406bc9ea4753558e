"""The request for a search, passed to the thread that executes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.index.query_ast import Node

Order = Literal["relevance", "name", "modified", "created"]
Grouping = Literal["", "folder", "type", "tag"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query with the data that the service thread has resolved for it.

    `targets` maps the names in `links-to:` and `linked-from:` to files, and `similar` maps each text in
    `similar:` to the scores of notes. Notes in `hidden` are treated as missing, and so are private notes
    unless `private` is set. Unless `exact` is set, very large numbers of hits are not counted. `order` is an
    `Order`, or one that `value_order.in_value_order` accepts.
    """

    node: Node
    limit: int
    offset: int = 0
    order: str = "relevance"
    group: Grouping = ""
    exact: bool = True
    private: bool = True
    hidden: frozenset[int] = frozenset()
    targets: Mapping[str, int | None] = field(default_factory=dict)
    similar: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

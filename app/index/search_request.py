"""A search as it is handed to the thread that carries it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.index.query_ast import Node

Order = Literal["relevance", "name", "modified", "created"]
Grouping = Literal["", "folder", "type", "tag"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search and what the service thread found out for it.

    `targets` are the files that the names in `links-to:` and `linked-from:` mean, `similar` the scores of
    notes for each text of `similar:`. Notes in `hidden` and, without `private`, private ones are as if
    they were not there. Unless `exact`, very many hits need not be counted.
    """

    node: Node
    limit: int
    offset: int = 0
    order: Order = "relevance"
    group: Grouping = ""
    exact: bool = True
    private: bool = True
    hidden: frozenset[int] = frozenset()
    targets: Mapping[str, int | None] = field(default_factory=dict)
    similar: Mapping[str, Mapping[int, float]] = field(default_factory=dict)

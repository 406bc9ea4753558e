"""The results of an analysis of the graph, as a list of rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnalysisResultRow:
    """One row: the nodes it refers to, its text, and a number or a reason in `detail`."""

    paths: tuple[str, ...]
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """A result: the requested analysis (`kind`), its title, a summary in one sentence, and rows.

    Rows with `can_accept` are suggestions that the user can accept.
    """

    kind: str
    title: str
    summary: str
    rows: tuple[AnalysisResultRow, ...] = ()
    can_accept: bool = False

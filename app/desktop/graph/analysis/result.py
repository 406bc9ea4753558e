"""The results of graph analyses, as lists of rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnalysisResultRow:
    """One row: its nodes, its text, and a detail, for example a score or a reason."""

    paths: tuple[str, ...]
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """A result: the analysis (`kind`, empty for an error), a title, a summary in one sentence, and rows.

    If `can_accept`, the rows are suggested links that the user can accept or dismiss.
    """

    kind: str
    title: str
    summary: str
    rows: tuple[AnalysisResultRow, ...] = ()
    can_accept: bool = False

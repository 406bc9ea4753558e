"""The results of an analysis of the graph, as a list of rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnalysisResultRow:
    """One row: the nodes it refers to, its text, and a number or a reason in `note`."""

    paths: tuple[str, ...]
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """A named result; `kind` is the requested analysis, `words` summarizes the result in a sentence.

    Rows with `can_accept` are suggestions that the user can accept.
    """

    kind: str
    title: str
    words: str
    lines: tuple[AnalysisResultRow, ...] = ()
    can_accept: bool = False

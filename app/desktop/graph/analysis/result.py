"""What an analysis of the graph has found, as it is listed: lines of notes, each with a few words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnalysisResultRow:
    """One line: the nodes it is about, what it says, and a number or a reason in `note`."""

    paths: tuple[str, ...]
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class AnalysisResult:
    """A named result; `kind` is what was asked for, `words` says in a sentence what is seen now.

    Lines with `can_accept` propose something that the user takes or leaves.
    """

    kind: str
    title: str
    words: str
    lines: tuple[AnalysisResultRow, ...] = ()
    can_accept: bool = False

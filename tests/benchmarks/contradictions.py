"""Measure the precision and recall of the CONTRADICTS rule on 100 hand-written pairs of notes.

    python -m tests.benchmarks.contradictions [--wrong] [--half tuned|unseen]

Prints both for the pairs that the rule was tuned on, for the others and for all; `--wrong` also prints each
pair that it misjudges.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from app.analysis.contradiction import find_contradiction
from app.analysis.sentences import split_sentences

PAIRS = Path(__file__).parent.parent / "analysis" / "contradiction_pairs.txt"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two notes, their label and their half: `tuned` (the rule was tuned on it) or `unseen`."""

    half: str
    label: str
    first: str
    second: str

    @property
    def is_reported(self) -> bool:
        """True if the rule finds a contradiction, which must not depend on the order."""
        ours, theirs = split_sentences(self.first), split_sentences(self.second)
        results = find_contradiction(ours, theirs), find_contradiction(theirs, ours)
        assert (results[0] is None) == (results[1] is None), self
        return results[0] is not None


@dataclass(frozen=True, slots=True)
class ContradictionScore:
    """The numbers of correct and wrong reports, and of missed contradictions."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of reports that are correct."""
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        """The share of contradictions that are reported."""
        return self.right / max(1, self.right + self.missed)


def read_pairs() -> tuple[Pair, ...]:
    """Return the pairs in `PAIRS`."""
    lines = (line for line in PAIRS.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return tuple(Pair(*(part.strip() for part in line.split("|"))) for line in lines)


def score(pairs: tuple[Pair, ...]) -> ContradictionScore:
    """Return the rule's score on `pairs`."""
    counted = Counter((pair.label == "contradicts", pair.is_reported) for pair in pairs)
    return ContradictionScore(counted[True, True], counted[False, True], counted[True, False])


def main() -> None:
    """Print the scores."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wrong", action="store_true", help="print each pair that is misjudged")
    parser.add_argument("--half", choices=("tuned", "unseen"), help="only these pairs")
    arguments = parser.parse_args()
    pairs = read_pairs()
    for half in (arguments.half,) if arguments.half else ("tuned", "unseen", "all"):
        selected = tuple(pair for pair in pairs if half in ("all", pair.half))
        scores = score(selected)
        reported, expected = scores.right + scores.wrong, scores.right + scores.missed
        print(
            f"{half:>6}: precision {scores.precision:.2f} ({scores.right} of {reported}), "
            f"recall {scores.recall:.2f} ({scores.right} of {expected}), {len(selected)} pairs"
        )
        for pair in selected if arguments.wrong and half != "all" else ():
            if pair.is_reported != (pair.label == "contradicts"):
                print(f"        {pair.label}: {pair.first} | {pair.second}")


if __name__ == "__main__":
    main()

"""Let judges find the right readings of missed requests without knowing where a reading comes from.

    python -m tests.evaluation.adjudication export unseen FOLDER [--part-size 50]
    python -m tests.evaluation.adjudication import unseen FOLDER

A writer of requests states one or two readings, but an agent can do something else that serves the request
equally well. `export` runs the agent and writes the missed requests to `FOLDER/cases_N.json`: the
conversation, and candidate readings in random order (the writer's, the agent's, and as a control the reading
of some other request). At least two judges write `FOLDER/verdicts_N_NAME.json`: `{"id": ["A", "C"]}` lists
the candidates that are right. `import` appends the agent's readings that all judges call right to the file of
requests, after `|||`, and prints how often the judges called the writers' readings and the controls right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import string
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.agent.language.meaning.actions import ACTIONS
from app.agent.language.meaning.notation import parse, serialize
from app.agent.language.meaning.readings import Clarification, ContentQuestion, ModelRequired, Reading
from tests.evaluation.requests import (
    FILES,
    HERE,
    OPEN_NOTES,
    EvaluatedRequest,
    Evaluation,
    conversations,
    open_evaluation,
    prepared,
)

OUTCOMES = {
    "ask": "The agent asks what the user means.",
    "model": "The agent says that this needs a language model.",
    "question": "The agent answers with passages from the notes.",
    "none": "The agent says that it can't do this, or replies to small talk.",
}
SHOWN_NOTES = 12
SEED = 3


@dataclass
class _Candidate:
    source: str
    reading: str
    """The reading as it stands in a file of requests."""
    shown: str
    notes: list[str] = field(default_factory=list)
    """For each step, the notes that it selects."""


class _CaseCollector:
    """Collects the cases of the missed requests in one vault.

    Args:
        evaluation: The evaluation whose missed requests are collected.
        controls: Readings of other requests.
        chance: Selects a control and the order of the candidates.
    """

    def __init__(self, evaluation: Evaluation, controls: list[str], chance: random.Random) -> None:
        self.cases: list[dict[str, Any]] = []
        self.key: dict[str, dict[str, Any]] = {}
        self._evaluation, self._controls, self._chance = evaluation, controls, chance
        evaluation.on_miss = self._collect

    async def _collect(self, request: EvaluatedRequest, earlier: list[EvaluatedRequest]) -> None:
        interpretation, state = self._evaluation._interpretation, self._evaluation._state
        match interpretation:
            case Reading():
                own = [await self._of_reading("agent", interpretation)]
            case Clarification(options=options):
                own = [await self._of_reading("agent", option.reading) for option in options]
            case ModelRequired():
                own = [_Candidate("agent", "model", OUTCOMES["model"])]
            case ContentQuestion():
                own = [_Candidate("agent", "question", OUTCOMES["question"])]
            case _:
                own = [_Candidate("agent", "none", OUTCOMES["none"])]
        right = [await self._of_line("writer", line) for line in request.gold]
        judged = [await self._of_line("judges", line) for line in request.judged]
        control = await self._of_line("control", self._chance.choice(self._controls))
        candidates: list[_Candidate] = []
        for candidate in (*right, *judged, *own, control):
            if candidate is not None and candidate.shown not in [known.shown for known in candidates]:
                candidates.append(candidate)
        self._chance.shuffle(candidates)
        number = str(request.line)
        lettered = dict(zip(string.ascii_uppercase, candidates, strict=False))
        self.key[number] = {
            "request": request.text,
            "candidates": {letter: [known.source, known.reading] for letter, known in lettered.items()},
        }
        self.cases.append(
            {
                "id": number,
                "vault": self._evaluation._vault,
                "note on the screen": self._evaluation.open_note,
                "conversation before": [
                    {"request": one.text, "carried out": " or ".join(one.gold)} for one in earlier
                ],
                "notes listed before": list(state.them[:SHOWN_NOTES]),
                "note in focus": list(state.it),
                "request": request.text,
                "candidates": {
                    letter: {"reading": known.shown, "selected notes": known.notes}
                    for letter, known in lettered.items()
                },
            }
        )

    async def _of_line(self, source: str, line: str) -> _Candidate | None:
        if line in OUTCOMES:
            return _Candidate(source, line, OUTCOMES[line])
        text, parts = prepared(line)
        try:
            reading = parse(text, self._evaluation._resolve, ACTIONS)
        except (LookupError, ValueError, TypeError):
            return None
        if reading is None:
            return None
        candidate = await self._of_reading(source, reading)
        candidate.reading = line
        candidate.shown += "".join(f' {name}="{value}"' for name, values in parts.items() for value in values)
        return candidate

    async def _of_reading(self, source: str, reading: Reading) -> _Candidate:
        previous: tuple[str, ...] = ()
        selected: list[str] = []
        for step in reading.steps:
            previous = await self._evaluation._paths(step.target, previous)
            if step.target is not None:
                names = ", ".join(previous[:SHOWN_NOTES])
                rest = len(previous) - SHOWN_NOTES
                selected.append(f"{len(previous)}: {names}" + (f" and {rest} more" if rest > 0 else ""))
        line = serialize(reading)
        return _Candidate(source, line, line, selected)


async def export(file: Path, folder: Path, part_size: int) -> None:
    """Write the cases for the judges, and the key that says where each candidate comes from."""
    chance = random.Random(SEED)
    loaded = conversations(file)
    cases: list[dict[str, Any]] = []
    key: dict[str, dict[str, Any]] = {}
    for vault in OPEN_NOTES:
        if own := [conversation for conversation in loaded if conversation.vault == vault]:
            controls = [line for one in own for request in one.requests for line in request.gold]
            async with open_evaluation(vault) as evaluation:
                collector = _CaseCollector(evaluation, controls, chance)
                await evaluation.scores(own)
            cases += collector.cases
            key |= collector.key
    folder.mkdir(parents=True, exist_ok=True)
    chance.shuffle(cases)
    for number, first in enumerate(range(0, len(cases), part_size), 1):
        part = cases[first : first + part_size]
        Path(folder, f"cases_{number}.json").write_text(
            json.dumps(part, indent=1, ensure_ascii=False), "utf-8"
        )
    Path(folder, "key.json").write_text(json.dumps(key, ensure_ascii=False), "utf-8")
    print(f"{len(cases)} missed requests")


def import_verdicts(file: Path, folder: Path) -> None:
    """Append the readings that all judges call right, and print how the judges decided.

    Raises:
        SystemExit: A request has only one judge, or the file of requests has changed since the export.
    """
    key = json.loads(Path(folder, "key.json").read_text("utf-8"))
    requests = {str(one.line): one for conversation in conversations(file) for one in conversation.requests}
    for number, case in key.items():
        if number not in requests or requests[number].text != case["request"]:
            raise SystemExit(f"{file.name} has changed since the export: line {number}")
    judges: dict[str, list[set[str]]] = {}
    for verdicts in sorted(folder.glob("verdicts_*.json")):
        for number, letters in json.loads(verdicts.read_text("utf-8")).items():
            judges.setdefault(number, []).append(set(letters))
    counts: Counter[tuple[str, str]] = Counter()
    accepted: dict[int, list[str]] = {}
    for number, decisions in judges.items():
        if len(decisions) < 2:
            raise SystemExit(f"request {number} has only one judge")
        for letter, (source, reading) in key[number]["candidates"].items():
            yes = sum(letter in decision for decision in decisions)
            counts[source, "all" if yes == len(decisions) else "some" if yes else "none"] += 1
            known = (*requests[number].gold, *requests[number].judged)
            if source == "agent" and yes == len(decisions) and reading not in known:
                accepted.setdefault(int(number), []).append(reading)
    text = "".join(_with_judged(file.read_text("utf-8").splitlines(), accepted))
    file.write_text(text, "utf-8")
    for source in ("writer", "judges", "agent", "control"):
        total = sum(counts[source, result] for result in ("all", "some", "none"))
        print(f"{source}: {total} readings, right for all judges {counts[source, 'all']}", end=", ")
        print(f"for some {counts[source, 'some']}")
    print(f"{len(accepted)} of {len(judges)} missed requests have an equally right reading")


def _with_judged(lines: Iterable[str], accepted: dict[int, list[str]]) -> Iterable[str]:
    for number, line in enumerate(lines, 1):
        if added := accepted.get(number):
            line += (" || " if " ||| " in line else " ||| ") + " || ".join(added)
        yield line + "\n"


def main() -> int:
    """Export cases or import verdicts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=["export", "import"])
    parser.add_argument("half", choices=FILES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part-size", type=int, default=50, help="number of cases in a file")
    arguments = parser.parse_args()
    file = HERE / f"requests_{arguments.half}.txt"
    if arguments.task == "export":
        asyncio.run(export(file, arguments.folder, arguments.part_size))
    else:
        import_verdicts(file, arguments.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

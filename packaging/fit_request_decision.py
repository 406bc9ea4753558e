"""Fit the weights that decide between a request's readings: `python packaging/fit_request_decision.py`.

The requests in `requests/held_out.txt`, on which the request model was not trained, run against the agent on
their vault, each conversation continued with right readings as in `request_examples.py`. The script
prints the weights for `app/agent/language/model/decision.py`, fitted by maximum likelihood, so that an
option's probability estimates how often such an option is right.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from request_alignment import UnalignedError  # noqa: E402
from request_examples import REQUESTS, VaultRun, vault_run  # noqa: E402

from app.agent.language.interpretation import interpretation_choice  # noqa: E402
from app.agent.language.meaning.dialog import DialogState  # noqa: E402
from app.agent.language.meaning.readings import Reading  # noqa: E402
from app.agent.language.model.decision import Option, options_of  # noqa: E402
from app.agent.language.model.symbols import OUTCOMES  # noqa: E402
from tests.evaluation import requests as evaluation  # noqa: E402

HELD_OUT = REQUESTS / "held_out.txt"
PENALTY, STEPS, RATE = 0.004, 800, 0.03


@dataclass
class Judged:
    """The options of a request, and which of them are right."""

    options: list[Option]
    right: list[bool]


async def judge(file: Path) -> list[Judged]:
    """Return the options of a file's requests; requests without options are omitted."""
    conversations = evaluation.conversations(file)
    judged: list[Judged] = []
    for vault in evaluation.OPEN_NOTES:
        if own := [conversation for conversation in conversations if conversation.vault == vault]:
            async with vault_run(vault) as run:
                judged += await _judge_conversations(run, own)
    return judged


async def _judge_conversations(
    run: VaultRun, conversations: Iterable[evaluation.EvaluatedConversation]
) -> list[Judged]:
    judged: list[Judged] = []
    seen: list[list[Option]] = []

    def record_options(*arguments: Any, **named: Any) -> list[Option]:
        seen.append(options_of(*arguments, **named))
        return seen[-1]

    interpretation_choice.options_of = record_options
    for requests in (conversation.requests for conversation in conversations):
        conversation = run.workspace.agent.create().id
        last_commits = run.workspace.journal.commits(1)
        for request in requests:
            run.run._approver.yes = request is not requests[-1]
            known = run.agent._states.get((conversation, ""), DialogState())
            state = run.run._state = known.with_notes(run.run.open_note)
            seen.clear()
            run.agent.interpret(request.text, state)
            if seen:
                options = seen[0]  # Later options are those of a question about the interpretation.
                right = [await is_right(run, option, request.gold) for option in options]
                right[-1] = not any(right)
                judged.append(Judged(options, right))
            if request is not requests[-1]:
                run._reading = None
                with contextlib.suppress(UnalignedError):
                    await run._align(request, state)
                await run.run._turn(conversation, await run._right_line(request) or request.text)
        if run.workspace.journal.commits(1) != last_commits:
            await run.run._reset()
    return judged


async def is_right(run: VaultRun, option: Option, gold: tuple[str, ...]) -> bool:
    """Return whether an option is right: one of the gold readings or outcomes."""
    if option.reading is None:
        if option.outcome == "question":
            return any(outcome in ("question", "model") or outcome.startswith("meaning") for outcome in gold)
        return option.outcome in gold
    return await fits(run, option.reading, gold)


async def fits(run: VaultRun, reading: Reading, gold: tuple[str, ...]) -> bool:
    """Return whether a reading is one of the gold readings."""
    for outcome in gold:
        if outcome in OUTCOMES:
            continue
        try:
            if outcome == reading.last.action or await run.run._same(reading, outcome):
                return True
        except (LookupError, AttributeError):  # the conversation has fewer notes than its writer expected
            continue
    return False


def fit_weights(requests: list[Judged]) -> dict[str, float]:
    """Return the weights that make the right options most likely."""
    names = list(
        dict.fromkeys(name for request in requests for option in request.options for name in option.features)
    )
    tables = [
        np.array([[option.features.get(name, 0.0) for name in names] for option in request.options])
        for request in requests
    ]
    rights = [np.array(request.right, float) for request in requests]
    weights, mean, square = np.zeros(len(names)), np.zeros(len(names)), np.zeros(len(names))
    for step in range(1, STEPS + 1):
        gradient = -PENALTY * weights
        for table, right in zip(tables, rights, strict=True):
            scores = table @ weights
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            wanted = shares * right
            gradient += table.T @ (wanted / (wanted.sum() + 1e-9) - shares) / len(requests)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        weights += RATE * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def main() -> int:
    """Print the weights."""
    for name, weight in fit_weights(asyncio.run(judge(HELD_OUT))).items():
        print(f'    "{name}": {weight},')
    return 0


if __name__ == "__main__":
    sys.exit(main())

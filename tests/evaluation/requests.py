"""Score the built-in agent on requests in everyday language: `python -m tests.evaluation.requests`.

Each conversation runs against the real agent on a copy of its vault. For each file, the script prints how
many requests were understood at once, understood after one question, refused correctly or missed, and the
wrong writes: changes that the agent would have proposed although the request asked for something else.
README.md describes the format of the files.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import re
import shutil
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

from app.agent.builtin import BuiltinAgent
from app.agent.language.meaning.actions import ACTIONS, TASK_ACTIONS, TOOL_PREFIX
from app.agent.language.meaning.conditions import states_kind
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import PREFIX, parse, serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
    as_tuple,
)
from app.agent.language.tasks.task_matching import matching_tasks
from app.agent.language.words.dates import shifted_day
from app.agent.transcript import TurnFinished
from app.agent.turn import UserPrompt
from app.errors import InvalidParametersError, QueryError
from app.index.query_serializer import quote_value
from app.permissions.approval import ApprovalRequest, Approved, Decision, Denied
from app.settings import Settings
from app.vault.markdown.tasks import task_facts
from app.vault.path import NotePath, name_key
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.public_vaults import unpack_vaults

HERE = Path(__file__).resolve().parent
SAMPLE = HERE.parents[1] / "resources" / "sample-vault"
VAULTS = HERE / "vaults"
NOW = datetime(2026, 3, 18, 12)
UNTYPED = "relates_to"
"""The type of a relation without a named type."""
OPEN_NOTES = {
    "sample": "Instruments/H1.md",
    "leisure": "Library/Arrival.md",
    "office": "Projects/Charger 2.md",
    "research": "Literature/Ravndal 2014.md",
    "campaign": "Characters/Seraphine Osk.md",
    "kitchen": "Recipes/Dal makhani.md",
    "studio": "Clients/Hollis and Wren.md",
    "naturalist": "Species/Curlew.md",
    "cards": "Cards/Stalker.md",
    "household": "Appliances/Dishwasher.md",
    "school": "Classes/9B.md",
    "club": "Members/Ilse Marten.md",
    "operations": "Services/Gateway.md",
    "family": "Notes/Agnes Holloway.md",
    "travel": "Notes/Lisbon.md",
    "workshop": "Jobs/Brass hinge box.md",
    "choir": "Pieces/Northern Lights.md",
    "newsroom": "Stories/Harbour dredging.md",
    "kepano": "References/Blade Runner.md",
}
"""The vaults, each with the note on the screen."""
EVERY_NOTE = "modified:>=1970"
TEMPLATES = "Templates/"
"""The folder whose notes don't count as notes of a kind."""
DAYS = {
    "Instruments/H4.md": (2026, 3, 17),
    "Instruments/K1.md": (2026, 3, 16),
    "People/James Cook.md": (2026, 3, 10),
}
OLD_DAY = (2026, 1, 15)
OLDER_DAY = (2025, 12, 1)
LAST_DAY, DAYS_OF_CHANGES = date(2026, 3, 17), 500
SEEN = HERE / "requests_seen.txt"
KNOWN_GAPS = HERE / "known_gaps.txt"
SAMPLE_EVERY = 4
_FOLDERS = sorted(
    {folder.name for root in (SAMPLE, *VAULTS.iterdir()) for folder in root.iterdir() if folder.is_dir()}
)
_FOLDER = re.compile(rf'path:"?(?P<name>{"|".join(_FOLDERS)})"?(?=[\s\]])')
"""A folder without the slash at its end: its query would also match names of notes."""
_CREATED = re.compile(r'create_note name=(?:"([^"]*)"|(\S+))')
_TASK_CHANGE = re.compile(
    r'replace (?P<notes>\[@[^\]]*\]) old~=(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))'
    r' text~="?(?P<mark>\[[ x]\]|\d{4}-\d\d-\d\d)"?(?=$| \|)'
)
"""A replacement of the checkbox or date of a task."""
_LINK = re.compile(r"\[\[(?:[^\]|#]*/)?([^\]|#]+)[^\]]*\]\]")
"""A link, with the name of its note."""
RANKS = {"at once": 0, "refused": 0, "by question": 1, "missed": 2, "wrong write": 3}
MISSES = ("missed", "wrong write")
UNDERSTOOD_TARGET = 0.9
LATENCY_TARGET_MS = 150.0
FILES = ("seen", "unseen", "newer_unseen", "users_seen", "users_unseen")


@dataclass(frozen=True)
class EvaluatedRequest:
    """A request, its correct interpretations, those that judges call equally right, and its line number."""

    text: str
    gold: tuple[str, ...]
    judged: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True)
class EvaluatedConversation:
    """A vault and the requests that follow one another in it."""

    vault: str
    requests: list[EvaluatedRequest]


@dataclass
class Score:
    """The result of one request: `at once`, `by question`, `refused`, `missed`, or `wrong write`.

    `strict` is the verdict without the readings that only judges call right.
    """

    request: EvaluatedRequest
    verdict: str
    strict: str
    interpretation: str
    milliseconds: float


@dataclass
class _Approver:
    """Approve during a conversation, and deny in its last turn; count the proposals."""

    yes: bool = True
    proposals: int = 0

    async def decide(self, request: ApprovalRequest) -> Decision:
        """Approve or deny."""
        self.proposals += 1
        return Approved(request.proposal) if self.yes else Denied("evaluation")


def conversations(file: Path) -> list[EvaluatedConversation]:
    """Return the conversations of a file."""
    loaded: list[EvaluatedConversation] = []
    vault = "sample"
    is_new = True
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("#"):
            vault = line.removeprefix("# vault: ").strip() if line.startswith("# vault: ") else vault
            is_new = True
            continue
        if not line.strip():
            is_new = True
            continue
        text, _, gold = line.partition(" => ")
        gold, _, judged = gold.partition(" ||| ")
        if is_new:
            loaded.append(EvaluatedConversation(vault, []))
        loaded[-1].requests.append(
            EvaluatedRequest(
                text.removeprefix("+").strip(), _alternatives(gold), _alternatives(judged), number
            )
        )
        is_new = False
    return loaded


def _alternatives(readings: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in re.split(r"\s\|\|\s", readings) if part.strip())


class Evaluation:
    """A copy of one vault with the agent, restored after each conversation that changed it.

    `on_miss` is called with each missed request and those before it in the conversation.
    """

    def __init__(self, vault: str, root: Path, workspace: Workspace, approver: _Approver) -> None:
        self._vault = vault
        self.open_note = OPEN_NOTES[vault]
        self._root = root
        self._workspace = workspace
        self._approver = approver
        self._agent: BuiltinAgent = workspace.agent._builtin
        self._agent._requests.now = lambda: NOW
        self._interpretation: Interpretation | None = None
        self._state = DialogState()
        self._milliseconds = 0.0
        self.on_miss: Callable[[EvaluatedRequest, list[EvaluatedRequest]], Awaitable[None]] | None = None
        original = self._agent._requests.interpret

        def interpret(text: str, state: DialogState) -> Interpretation:
            self._state = state
            start = time.perf_counter()
            self._interpretation = original(text, state)
            self._milliseconds = (time.perf_counter() - start) * 1000
            return self._interpretation

        self._agent._requests.interpret = interpret  # type: ignore[method-assign]

    async def scores(self, conversations: Iterable[EvaluatedConversation]) -> list[Score]:
        """Return the scores of all requests."""
        scores: list[Score] = []
        for conversation in conversations:
            scores += await self._run_conversation(conversation.requests)
        return scores

    async def _run_conversation(self, requests: list[EvaluatedRequest]) -> list[Score]:
        conversation = self._workspace.agent.create().id
        scores: list[Score] = []
        last_commits = self._workspace.journal.commits(1)
        for at, request in enumerate(requests):
            self._approver.yes = request is not requests[-1]
            state = self._agent._states.get((conversation, ""), DialogState()).with_notes(self.open_note)
            self._interpretation = await self._agent.compare_with_vault(
                self._agent.interpret(request.text, state), request.text, state
            )
            # Judged before the execution, since a deleted note could no longer be compared.
            accepted = request
            verdict, answer = await self._rehearsed_verdict(accepted, state)
            strict = verdict
            if self.on_miss is not None and verdict in MISSES:
                await self.on_miss(request, requests[:at])
            if request.judged and verdict in MISSES:
                accepted = replace(request, gold=request.judged)
                verdict, answer = await self._rehearsed_verdict(accepted, state)
            milliseconds = self._milliseconds
            shown = (
                serialize(self._interpretation)
                if isinstance(self._interpretation, Reading)
                else _shown(self._interpretation)
            )
            is_last = request is requests[-1]
            if not answer and not is_last and verdict in MISSES:
                # As if the user had rephrased it: the next request continues from the right reading.
                await self._turn(conversation, await self.right_line(request) or request.text)
            elif answer or not is_last:  # The last turn changes nothing: it would be denied.
                await self._turn(conversation, request.text)
            if answer:
                # The question counts only if its answer leads to the interpretation with which the
                # conversation continues.
                state = self._agent._states.get((conversation, ""), DialogState()).with_notes(self.open_note)
                self._interpretation = self._agent.interpret(answer, state)
                if (await self._verdict(accepted))[0] not in ("at once", "refused"):
                    verdict = strict = "missed"
                if not is_last:
                    await self._turn(conversation, answer)
            scores.append(Score(request, verdict, strict, shown, milliseconds))
        if self._workspace.journal.commits(1) != last_commits:
            await self._reset()
        return scores

    async def right_line(self, request: EvaluatedRequest) -> str:
        """Return the first right reading of a request in the notation; empty for an outcome."""
        for gold in request.gold:
            try:
                reading = parse(executable(gold), self._resolve, ACTIONS)
            except (LookupError, ValueError, TypeError):
                continue
            if reading is not None:
                steps = [
                    replace(step, arguments={_bare(name): value for name, value in step.arguments.items()})
                    for step in reading.steps
                ]
                reading = replace(reading, steps=tuple(steps))
                first = reading.steps[0]
                if first.target is not None and first.target.source:
                    paths = await self._paths(first.target, ())
                    target = NoteSet(notes=paths, order=first.target.order, limit=first.target.limit)
                    reading = replace(reading, steps=(replace(first, target=target), *reading.steps[1:]))
                return f"{PREFIX} {serialize(reading)}"
        return ""

    async def _turn(self, conversation: str, text: str) -> None:
        done = asyncio.Event()

        def listen(event: TurnFinished) -> None:
            if event.conversation == conversation:
                done.set()

        stop = self._workspace.events.subscribe(TurnFinished, listen)
        try:
            self._workspace.agent.start(conversation, UserPrompt(text, open_note=self.open_note))
            await done.wait()
            while self._workspace.agent.is_running(conversation):
                await asyncio.sleep(0)
        finally:
            stop()

    async def _reset(self) -> None:
        shutil.rmtree(self._root)
        fill(self._vault, self._root)
        await self._workspace.index.scan()
        set_times(self._workspace)

    async def _rehearsed_verdict(self, request: EvaluatedRequest, state: DialogState) -> tuple[str, str]:
        """Return the verdict after a rehearsal of a wrong change, which an approver denies.

        If the agent asks a question instead, the question is judged; if it proposes nothing, the request is
        missed.
        """
        verdict, answer = await self._verdict(request)
        reading = self._interpretation
        # A tool may need no approval, so a rehearsal would make its change.
        is_tool = isinstance(reading, Reading) and any(
            step.action.startswith(TOOL_PREFIX) for step in reading.steps
        )
        if verdict != "wrong write" or is_tool:
            return verdict, answer
        proposals, question = await self._rehearse(request.text, state)
        if proposals:
            return verdict, answer
        if question is None:
            return "missed", ""
        self._interpretation = question
        verdict, answer = await self._verdict(request)
        self._interpretation = reading
        return verdict, answer

    async def _rehearse(self, text: str, state: DialogState) -> tuple[int, Clarification | None]:
        """Run a request in a copy of the conversation, without approval.

        Returns:
            The number of changes that the agent proposed, and the question that it asked.
        """
        known = self._interpretation, self._state, self._milliseconds, self._approver.yes
        proposals, self._approver.yes = self._approver.proposals, False
        conversation = self._workspace.agent.create().id
        self._agent._states[(conversation, "")] = state
        try:
            await self._turn(conversation, text)
        finally:
            self._interpretation, self._state, self._milliseconds, self._approver.yes = known
        return self._approver.proposals - proposals, self._agent._states[(conversation, "")].question

    async def _verdict(self, request: EvaluatedRequest) -> tuple[str, str]:
        """Return the verdict, and the option that the user would choose in a question; empty without one."""
        interpretation = self._interpretation
        if isinstance(interpretation, Clarification) and "ask" not in request.gold:
            for option in interpretation.options:
                for gold in request.gold:
                    if await self._same(option.reading, gold):
                        return "by question", f"{PREFIX} {serialize(option.reading)}"
            return "missed", ""
        return await self._plain_verdict(request), ""

    async def _plain_verdict(self, request: EvaluatedRequest) -> str:
        interpretation = self._interpretation
        if isinstance(interpretation, Reading):
            if interpretation.steps[0].action == "help":
                return "at once" if "help" in request.gold else "missed"
            for gold in request.gold:
                if await self._same(interpretation, gold):
                    return "at once"
            allowed = self._agent.actions()
            return (
                "wrong write"
                if any(allowed[step.action].writes for step in interpretation.steps)
                else "missed"
            )
        if isinstance(interpretation, Clarification):
            return "by question"
        if isinstance(interpretation, ModelRequired):
            return "refused" if "model" in request.gold else "missed"
        if isinstance(interpretation, ContentQuestion):
            fits = any(gold.startswith("meaning") or gold in ("model", "question") for gold in request.gold)
            return "at once" if fits else "missed"
        assert isinstance(interpretation, Reply)
        return "refused" if "none" in request.gold or "ask" in request.gold else "missed"

    # Comparing readings

    async def _same(self, reading: Reading, gold: str) -> bool:
        if reading.last.action == "question" and gold.startswith("meaning"):
            return True
        line, parts = prepared(gold)
        wanted = parse(line, self._resolve, ACTIONS)
        if wanted is None:
            return False
        if reading.last.action in TASK_ACTIONS and len(reading.steps) == len(wanted.steps):
            *steps, task = reading.steps
            *wanted_steps, wanted_task = wanted.steps
            is_same = await self._same_task(replace(reading, steps=(task,)), wanted_task, parts)
            return is_same and await self._same_steps(steps, wanted_steps, {})
        if self._state.changes and all(made.action == "undo" for made in (*reading.steps, *wanted.steps)):
            undone = self._undone(reading)
            is_plain = wanted.steps == (PipelineStep("undo", None, {"scope": "last"}),)
            last = replace(wanted, steps=(self._state.undo_of_request,)) if is_plain else wanted
            return undone in (self._undone(wanted), self._undone(last))
        if reading.last.action in TASK_ACTIONS:
            return False
        steps = reading.steps
        if len(wanted.steps) > 1:
            steps = tuple(part for step in steps for part in _single_relations(step))
        steps, wanted_steps = _with_joined_tags(steps), _with_joined_tags(wanted.steps)
        return len(steps) == len(wanted_steps) and await self._same_steps(steps, wanted_steps, parts)

    async def _same_steps(
        self, steps: Sequence[PipelineStep], wanted_steps: Sequence[PipelineStep], parts: dict[str, list[str]]
    ) -> bool:
        """Return whether steps do the same; `parts` are the partial texts of the last step."""
        previous: tuple[str, ...] = ()
        wanted_steps = [own if own.action == "open" else _plain_step(own) for own in wanted_steps]
        for step, wanted_step in zip(map(_plain_step, steps), wanted_steps, strict=True):
            first = await self._paths(step.target, previous)
            if not _same_action(step, wanted_step):
                return False
            if step.action == "list_tasks" and step.target is None and "query" not in step.arguments:
                first = await self._paths(NoteSet(), ())
            if wanted_step.target is not None and first != await self._paths(wanted_step.target, previous):
                return False
            if not await self._same_order(step.target, wanted_step.target, first):
                return False
            if not self._same_arguments(step, wanted_step, parts if wanted_step is wanted_steps[-1] else {}):
                return False
            previous = first
        return True

    async def _same_task(
        self, reading: Reading, replacement: PipelineStep, parts: dict[str, list[str]]
    ) -> bool:
        """Return whether a step changes the box or the date of the task that a replacement names."""
        step = reading.last
        old, text = (
            parts.get(role) or [str(replacement.arguments.get(role, ""))] for role in ("old", "text")
        )
        if replacement.action != "replace":
            return False
        notes = None if step.target is None else await self._paths(step.target, ())
        paths = await self._paths(NoteSet(), ()) if notes is None else notes
        tasks = [
            (path, line.strip())
            for path in paths
            for line in (self._root / path).read_text(encoding="utf-8").splitlines()
            if line.lstrip().startswith("- [x]" if step.action == "reopen_task" else "- [ ]")
        ]
        if query := str(step.arguments.get("query", "")):
            matches = matching_tasks(query, tasks, reading.language)
        else:
            matches = [task for task in tasks if task_facts(task[1]).due is not None]
        wanted = await self._paths(replacement.target, ())
        if len(matches) != 1 or matches[0][0] not in wanted or not all(part in matches[0][1] for part in old):
            return False
        due = str(step.arguments.get("due", "")).partition("..")[0]
        present = task_facts(matches[0][1]).due
        shifted = shifted_day(present, due) if present is not None else None
        day = due if shifted is None else shifted.isoformat()
        mark = {"complete_task": "[x]", "reopen_task": "[ ]"}.get(step.action, day)
        return any(mark in part for part in text)

    def _undone(self, reading: Reading) -> set[int]:
        """Return the audit entries of the changes that a reading undoes."""
        undone: set[int] = set()
        for step in reading.steps:
            left = [change for change in self._state.changes if change.entry not in undone]
            kind = step.arguments.get("what", "")
            if step.target is not None or kind:
                notes = step.target.notes if step.target is not None else ()
                of_notes = [[change for change in left if note in change.notes] for note in notes] or [left]
                for changes in of_notes:
                    undone.update([change.entry for change in changes if kind in ("", change.action)][-1:])
                continue
            scope = str(step.arguments.get("scope") or "last")
            last = scope.removeprefix("last:")
            count = 1 if scope == "last" else int(last) if last.isdecimal() else len(left)
            undone.update(change.entry for change in left[-count:])
        return undone

    def _resolve(self, name: str) -> tuple[str, ...]:
        if (place := re.fullmatch(r"nth:(-?\d+)", name)) and self._state.them:
            at = int(place[1])
            return (self._state.them[at - 1 if at > 0 else at],)
        candidates = self._workspace.index.resolver.resolve(name, None).candidates
        paths = tuple(str(path) for path in candidates if path.is_note)
        # A note that was renamed in the conversation also has its former name.
        renamed = (change.notes for change in reversed(self._state.changes) if change.action == "rename")
        return paths or next((new[:1] for new in renamed if NotePath(new[-1]).name == name), ())

    async def _paths(self, notes: NoteSet | None, previous: tuple[str, ...]) -> tuple[str, ...]:
        if notes is None:
            return ()
        base: set[str] | None = set(previous or self._state.them or self._state.it) if notes.source else None
        if notes.notes:
            base = set(notes.notes)
        if notes.query:
            try:
                matching = {str(path) for path in await self._workspace.index.matching(f"{notes.query} ")}
                if states_kind(notes.query) and "path:" not in notes.query:
                    matching = {path for path in matching if not path.startswith(TEMPLATES)}
            except QueryError:
                matching = set()  # a search by meaning, which the evaluation leaves out
            base = matching if base is None else base & matching
        if base is None:
            base = {str(path) for path in self._workspace.index.note_paths()}
        if notes.limit is not None and notes.order:
            try:
                page = await self._workspace.index.search(
                    f"{notes.ordered_query or EVERY_NOTE} ", 1000, order=notes.order
                )
            except InvalidParametersError:  # no note has the property
                return ()
            return tuple(
                sorted(notes.first_notes(tuple(str(hit.path) for hit in page.hits if str(hit.path) in base)))
            )
        if notes.pick is not None and previous:
            return (previous[notes.pick - 1 if notes.pick > 0 else notes.pick],)
        if notes.limit is not None and (notes.notes or notes.source):
            known = notes.notes or (previous if notes.source and previous else self._state.them)
            base = set(notes.first_notes(tuple(path for path in known if path in base)))
        return tuple(sorted(base))

    async def _same_order(self, notes: NoteSet | None, gold: NoteSet | None, paths: tuple[str, ...]) -> bool:
        if gold is None or not gold.order or gold.limit is not None:
            return True
        if notes is None or not notes.order:
            return False
        return notes.order == gold.order or (
            await self._sorted(paths, notes.order) == await self._sorted(paths, gold.order)
        )

    async def _sorted(self, paths: tuple[str, ...], order: str) -> list[str] | None:
        try:
            page = await self._workspace.index.search(f"{EVERY_NOTE} ", 1000, order=order)
        except InvalidParametersError:  # no note has the property
            return None
        return [str(hit.path) for hit in page.hits if str(hit.path) in paths]

    @staticmethod
    def _same_arguments(step: PipelineStep, gold: PipelineStep, parts: dict[str, list[str]]) -> bool:
        own, wanted = dict(step.arguments), dict(gold.arguments)
        if step.action == "relate":
            own.setdefault("type", UNTYPED)
            wanted.setdefault("type", UNTYPED)
        for name, pieces in parts.items():
            if not all(piece.casefold() in str(own.get(name)).casefold() for piece in pieces):
                return False
        for given, value in wanted.items():
            own_value = own.get(_bare(given))
            if isinstance(own_value, tuple) and not isinstance(value, tuple):
                value = tuple(re.split(", ?", str(value)))
            if step.action == "set_property" and given == "value":
                own_value, value = _unlinked(own_value), _unlinked(value)
            if given == "template":  # perhaps without the folder
                own_value, value = (str(path).rpartition("/")[2] for path in (own_value, value))
            if _plain(own_value) != _plain(value) and not (own_value is None and value == ""):
                return False
        extra = set(own) - {"state", "scope", "what"} - {_bare(name) for name in wanted} - set(parts)
        return not (extra and _writes(step))


def _single_relations(step: PipelineStep) -> tuple[PipelineStep, ...]:
    """Return a step that relates notes to several notes as one step for each of these; others alone."""
    to = step.arguments.get("to")
    if step.action != "relate" or not isinstance(to, NoteSet) or len(to.notes) < 2:
        return (step,)
    return tuple(step.with_argument("to", NoteSet(notes=(path,))) for path in to.notes)


def _with_joined_tags(steps: Sequence[PipelineStep]) -> tuple[PipelineStep, ...]:
    """Return steps with one step for the tags that consecutive steps add to the same notes, or remove."""
    joined: list[PipelineStep] = []
    for step in steps:
        last = joined[-1] if joined else None
        if last is not None and step.action in ("add_tag", "remove_tag"):
            # A second step may refer to the notes of the first one.
            is_same = step.target in (last.target, NoteSet(source="previous"))
            if step.action == last.action and is_same:
                tags = (*as_tuple(last.arguments["tag"]), *as_tuple(step.arguments["tag"]))
                joined[-1] = last.with_argument("tag", tags)
                continue
        joined.append(step)
    return tuple(joined)


def _writes(step: PipelineStep) -> bool:
    return step.action not in ACTIONS or ACTIONS[step.action].writes


def _bare(name: str) -> str:
    return {"content": "text", "tags": "tag"}.get(name, name)


def _plain_step(step: PipelineStep) -> PipelineStep:
    """Return the step in the notation of the file, which has one name for several actions."""
    given = dict(step.arguments)
    match step.action:
        case "set_confidence":
            return PipelineStep(
                "set_property", step.target, {"key": "confidence", "value": given["confidence"]}
            )
        case "remove_text":
            return PipelineStep("replace", step.target, {"old": given["old"], "text": ""})
        case "rename_folder":
            # The files were written when a folder was renamed by moving its notes.
            notes = NoteSet(query=f"path:{quote_value(str(given['folder']) + '/')}")
            return PipelineStep("move", notes, {"folder": given["new_name"]})
        case "count_these":
            return PipelineStep("count", NoteSet(source="previous"))
        case "open":
            return PipelineStep("read", step.target)
        case _:
            return step


def _same_action(step: PipelineStep, gold: PipelineStep) -> bool:
    aliases = {"remove_all_tags": "remove_tag"}
    wanted = _plain_step(gold).action
    return step.action == wanted or aliases.get(step.action) == wanted


def _unlinked(value: object) -> object:
    """Return a property's value with the names of notes in place of links."""
    if isinstance(value, tuple | list):
        return tuple(map(_unlinked, value))
    return _LINK.sub(r"\1", value) if isinstance(value, str) else value


def _plain(value: object) -> object:
    if isinstance(value, NoteSet):
        return frozenset(value.notes)
    if isinstance(value, tuple | list):
        return frozenset(name_key(str(item)) for item in value)
    if isinstance(value, int | float):
        return str(float(value))
    try:
        return str(float(str(value)))
    except ValueError:
        return name_key(str(value).strip())


def prepared(gold: str) -> tuple[str, dict[str, list[str]]]:
    """Split a gold line into an interpretation and the required parts of its arguments (`name~="part"`)."""
    first, *later = _FOLDER.sub(_with_slash, gold).split(" | ")
    line = re.sub(r"\[(nth:-?\d+)\]", r"[@\1]", first)
    for part in later:
        line += " | " + re.sub(r"\[nth:(-?\d+)\]", r"[these] pick=\1", part)
    parts: dict[str, list[str]] = {}

    def collect(match: re.Match[str]) -> str:
        parts.setdefault(_bare(match[1]), []).append(match[2] or match[3] or "")
        return ""

    if created := _CREATED.match(line):
        # Later steps name the new note, or refer to it as the agent does.
        line = line.replace(f"[@{created[1] or created[2]}]", "[these]")
    return re.sub(r"(\w+)~=(?:\"([^\"]*)\"|(\S+))", collect, line).strip(), parts


def executable(gold: str) -> str:
    """Return a gold line that can run: with whole texts instead of parts, and actions on tasks."""

    def task_action(match: re.Match[str]) -> str:
        mark = match["mark"]
        action = {"[x]": "complete_task", "[ ]": "reopen_task"}.get(mark, "reschedule_task")
        due = "" if mark in ("[x]", "[ ]") else f" due={mark}"
        return f'{action} {match["notes"]} query="{match["quoted"] or match["plain"]}"{due}'

    line, parts = prepared(_TASK_CHANGE.sub(task_action, gold))
    whole = [f' {name}="{", ".join(pieces)}"' for name, pieces in parts.items()]
    return line + "".join(whole)


def _with_slash(match: re.Match[str]) -> str:
    name = match["name"]
    return f'path:"{name}/"' if " " in name else f"path:{name}/"


def _shown(interpretation: Interpretation) -> str:
    match interpretation:
        case Clarification():
            options = [serialize(option.reading) for option in interpretation.options]
            return f"question: {interpretation.question} {options}"
        case ModelRequired():
            return f"model: {interpretation.work}"
        case ContentQuestion():
            return "question about the notes"
        case _:
            return (
                "not understood"
                if isinstance(interpretation, Reply) and not interpretation.understood
                else "reply"
            )


def fill(vault: str, root: Path) -> None:
    """Copy a vault, with the modification days that README.md describes."""
    if vault == "kepano":
        with tempfile.TemporaryDirectory() as folder:
            unpack_vaults(Path(folder))
            shutil.copytree(Path(folder, "kepano-obsidian"), root, dirs_exist_ok=True)
    else:
        shutil.copytree(SAMPLE if vault == "sample" else VAULTS / vault, root, dirs_exist_ok=True)
    for file in root.rglob("*.md"):
        day = _modification_day(vault, file.relative_to(root).as_posix())
        moment = datetime(day.year, day.month, day.day, 12).timestamp()
        os.utime(file, (moment, moment))


def _modification_day(vault: str, name: str) -> date:
    if vault == "sample":
        return date(*DAYS.get(name, OLDER_DAY if name.startswith("Claims/") else OLD_DAY))
    if named := re.match(r"\d{4}-\d\d-\d\d", name.rpartition("/")[2]):
        return date.fromisoformat(named[0])
    return LAST_DAY - timedelta(days=zlib.crc32(name.encode()) % DAYS_OF_CHANGES)


def set_times(workspace: Workspace) -> None:
    """Set the creation time of every note in the index to its last modification."""
    with workspace.index._open_database.transaction() as connection:
        connection.execute("UPDATE files SET created = modified")


@asynccontextmanager
async def open_evaluation(vault: str) -> AsyncIterator[Evaluation]:
    """Yield the agent on a copy of a vault; from now on, XDG variables name temporary folders."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATA", "CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder, name))
        root = Path(folder, "vault")
        fill(vault, root)
        settings = Settings()
        settings.embeddings.enabled = False
        approver = _Approver()
        workspace = await open_workspace(root, settings, approver, ask_pending=False, brief=True)
        try:
            await workspace.index.scan()
            set_times(workspace)
            # The evaluation calls tools faster than their limits per minute allow; a refused call would leave
            # the conversation in another state than the one that the next request was written for.
            workspace.agent._runner._limits._clock = itertools.count(step=60.0).__next__
            yield Evaluation(vault, root, workspace, approver)
        finally:
            await workspace.close()


async def evaluate(file: Path, every: int = 1) -> list[Score]:
    """Return the scores of a file's conversations, or of about one in `every` of them."""
    # By a checksum, so that a new conversation does not change the choice of the others.
    chosen = [
        conversation
        for conversation in conversations(file)
        if zlib.crc32(conversation.requests[0].text.encode()) % every == 0
    ]
    scores: list[Score] = []
    for vault in OPEN_NOTES:
        if own := [conversation for conversation in chosen if conversation.vault == vault]:
            async with open_evaluation(vault) as evaluation:
                scores += await evaluation.scores(own)
    return scores


def known_gaps() -> dict[str, str]:
    """Return the recorded verdicts of the sampled requests that are not understood at once."""
    lines = (line.split("\t") for line in KNOWN_GAPS.read_text(encoding="utf-8").splitlines())
    return {text: verdict for verdict, text in lines}


def record_gaps() -> None:
    """Write the sampled requests that are not understood at once, with their verdicts, to `KNOWN_GAPS`."""
    gaps: dict[str, str] = {}
    for score in asyncio.run(evaluate(SEEN, SAMPLE_EVERY)):
        if RANKS[score.verdict] > RANKS[gaps.get(score.request.text, "at once")]:
            gaps[score.request.text] = score.verdict
    KNOWN_GAPS.write_text("".join(f"{verdict}\t{text}\n" for text, verdict in gaps.items()), encoding="utf-8")


def report(name: str, scores: list[Score], details: bool) -> bool:
    """Print the scores of a file and return whether they reach the targets."""
    counts = dict.fromkeys(RANKS, 0)
    for score in scores:
        counts[score.verdict] += 1
        if details and score.verdict in MISSES:
            print(
                f"  {score.verdict}: {score.request.text}\n      wanted {' || '.join(score.request.gold)}\n"
                f"      found  {score.interpretation}"
            )
    share = sum(score.verdict not in MISSES for score in scores) / len(scores)
    strict = [score.strict for score in scores]
    median = statistics.median(score.milliseconds for score in scores)
    print(
        f"{name}: {len(scores)} requests, {share:.1%} understood or refused correctly, median {median:.0f} ms"
    )
    print("  " + ", ".join(f"{verdict} {count}" for verdict, count in counts.items()))
    if any(score.request.judged for score in scores):
        own_share = sum(verdict not in MISSES for verdict in strict) / len(strict)
        print(f"  by the writers' readings: {own_share:.1%}, wrong write {strict.count('wrong write')}")
    return share >= UNDERSTOOD_TARGET and not counts["wrong write"] and median <= LATENCY_TARGET_MS


def main() -> int:
    """Evaluate the files; with --check, the exit status is 1 if unseen requests miss the targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument(
        "--details", action="store_true", help="list missed requests and wrong writes (seen files only)"
    )
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--record", action="store_true", help="record the gaps that the test accepts")
    given = parser.parse_args()
    if given.record:
        record_gaps()
        return 0
    reached = True
    for name in given.files:
        is_seen = "unseen" not in name
        scores = asyncio.run(evaluate(HERE / f"requests_{name}.txt"))
        reached = (report(name, scores, given.details and is_seen) or is_seen) and reached
    return 0 if reached or not given.check else 1


if __name__ == "__main__":
    sys.exit(main())

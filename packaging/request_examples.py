"""Write the examples for the request model: requests with programs that copy their values from them.

    python packaging/request_examples.py --output examples.json [--verbose] [FILE…]

There are two sources. Conversations with their readings (the seen half of the evaluation set, and
`packaging/requests/conversations_*.txt`) run against the agent on their vault, with the right reading of
each request, so that "it" and "these" have the referents that they had for the writer. Templates
(`packaging/requests/en*.txt` and `de*.txt`) are filled with names of the sample vault.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from request_alignment import Aligner, UnalignedError  # noqa: E402
from request_templates import OUTSIDE, Corpus, Sentence  # noqa: E402

from app.agent.language.grammar.request import Request  # noqa: E402
from app.agent.language.lookups.listed_notes import with_listed_note  # noqa: E402
from app.agent.language.meaning.actions import ACTIONS  # noqa: E402
from app.agent.language.meaning.dialog import DialogState  # noqa: E402
from app.agent.language.meaning.notation import PREFIX, parse, serialize  # noqa: E402
from app.agent.language.meaning.readings import PipelineStep, Reading, is_clear  # noqa: E402
from app.agent.language.model.item_spans import RequestItem, request_items  # noqa: E402
from app.agent.language.model.program import ProgramReader  # noqa: E402
from app.agent.language.model.request_model import field_inputs, item_inputs, state_symbols  # noqa: E402
from app.agent.language.model.symbols import OUTCOMES, Span, Symbol  # noqa: E402
from app.agent.language.words.lexicon import languages  # noqa: E402
from app.agent.language.words.vocabulary import NAMED_PROPERTIES  # noqa: E402
from app.vault.path import NotePath  # noqa: E402
from tests.evaluation import requests as evaluation  # noqa: E402

REQUESTS = Path(__file__).parent / "requests"
SEEN = ROOT / "tests" / "evaluation" / "requests_seen.txt"
SEED = 5
PART_SIZE = 200
"""Number of conversations that one process runs at a time."""
TEMPLATE_SHARE = 0.32
"""Share of the templates' sentences that are filled."""
DATES = {
    "en": (
        *("last week", "2026-03-09", "yesterday", "March 2026", "today"),
        *("the last 3 days", "2025", "this month"),
    ),
    "de": ("letzte Woche", "gestern", "heute", "März 2026", "2025"),
}
NUMBERS = ("0.7", "0.4", "70 %", "3", "1760", "1714", "0.9", "5", "1693", "12")
PROPERTIES = ("status", "confidence", "year", "read", "born", "died", "date", "aliases", "type")
KINDS = (
    *("people", "claims", "sources", "instruments", "concepts", "events", "journal", "observations"),
    *("hypotheses", "methods", "People", "Sources", "Claims", "Journal"),
)
QUOTED = (
    *('"needs a picture"', '"on loan"', '"to check"', '"A new clock"', '"in the museum"'),
    *('"see also K1"', '"first draft"'),
)
TOPICS = ("workshop", "horology", "urgent", "later", "review2", "brass", "voyages", "draft")
_LABELS_WITHOUT_ROLES = frozenset(("find", "count", "meaning", "explain_relation", "help"))
"""Labels whose templates do not mark the roles of notes."""


@dataclass
class Example:
    """A request as the model sees it, with its program; spans are pairs of item positions."""

    text: str
    state: list[str]
    items: list[tuple[str, str, list[int]]]
    fields: list[tuple[str, list[float]]]
    program: list[str | list[int]]


class VaultRun:
    """The agent on a copy of a vault.

    Args:
        run: The evaluation of the vault.
    """

    def __init__(self, run: evaluation.Evaluation) -> None:
        self.run = run
        self.agent = run._agent
        self.workspace = run._workspace
        self.failures: Counter[str] = Counter()
        self._reading: Reading | None = None

    def example(self, request: Request, program: Sequence[Symbol]) -> Example:
        """Return a request with its program as an example."""
        return Example(
            request.text,
            state_symbols(request.dialog),
            item_inputs(request, request_items(request)),
            field_inputs(request),
            [list(symbol) if isinstance(symbol, tuple) else symbol for symbol in program],
        )

    def request(self, text: str, state: DialogState) -> Request:
        """Return `text` as a request in a conversation."""
        return with_listed_note(self.agent._requests.request_of(text, state))

    # Conversations

    async def conversations(
        self, conversations: Iterable[evaluation.EvaluatedConversation], verbose: bool
    ) -> list[Example]:
        """Return examples from conversations in this vault.

        Requests that can't be aligned are counted in `failures`, and printed if `verbose`.
        """
        aligned: list[Example] = []
        for requests in (conversation.requests for conversation in conversations):
            conversation = self.workspace.agent.create().id
            last_commits = self.workspace.journal.commits(1)
            for request in requests:
                self.run._approver.yes = request is not requests[-1]
                self._reading = None
                known = self.agent._states.get((conversation, ""), DialogState())
                state = self.run._state = known.with_notes(self.run.open_note)
                try:
                    aligned.append(await self._align(request, state))
                except UnalignedError as error:
                    self.failures[str(error).split()[0]] += 1
                    if verbose:
                        print(f"{request.text}\n    {' || '.join(request.gold)}\n    {error}")
                if request is not requests[-1]:
                    await self.run._turn(conversation, await self._right_line(request) or request.text)
            if self.workspace.journal.commits(1) != last_commits:
                await self.run._reset()
        return aligned

    async def _align(self, asked: evaluation.EvaluatedRequest, state: DialogState) -> Example:
        """Return an example with the first reading that can be aligned, and keep that reading.

        Raises:
            UnalignedError: No reading can be aligned.
        """
        request = self.request(asked.text, state)
        first: UnalignedError | None = None
        for gold in asked.gold:
            if gold in (*OUTCOMES, "help"):
                return self.example(request, [gold])
            if gold.startswith("meaning"):
                return self.example(request, ["question"])
            right = [reading for reading in asked.gold if reading not in OUTCOMES]
            for selects_conditions in (False, True):
                try:
                    try:
                        program, made = self._program(request, gold, selects_conditions)
                    except UnalignedError:
                        listed = await self._with_listed_notes(gold, state)
                        if selects_conditions or listed is None:
                            raise
                        program, made = self._program(request, listed)
                    if is_clear(made) and not any([await self._fits(made, reading) for reading in right]):
                        program, made = await self._with_task_words(request, program, right)
                except UnalignedError as error:
                    first = first or error
                    continue
                self._reading = made
                return self.example(request, program)
        raise first or UnalignedError("no reading")

    def _program(
        self, request: Request, gold: str, selects_conditions: bool = False
    ) -> tuple[list[Symbol], Reading]:
        line, parts = evaluation.prepared(gold)
        try:
            reading = parse(line, self.run._resolve, ACTIONS)
        except IndexError:  # the previous answer had fewer notes than the author expected
            reading = None
        if reading is None:
            raise UnalignedError(f"reading {gold}")
        items = request_items(request)
        aligner = Aligner(request, items, request.dialog, selects_conditions=selects_conditions)
        program = aligner.program(reading, parts)
        made = ProgramReader(request, items).read(program)
        if made is None:
            raise UnalignedError(f"program {program}")
        return program, made

    async def _with_task_words(
        self, request: Request, program: list[Symbol], right: Sequence[str]
    ) -> tuple[list[Symbol], Reading]:
        """Return a program that reschedules the right task by naming it, and its reading.

        Raises:
            UnalignedError: No words of the request name it, or the program is another one.
        """
        items = request_items(request)
        for other in Aligner(request, items, request.dialog).with_task_words(program):
            made = ProgramReader(request, items).read(other)
            if made is not None and any([await self._fits(made, reading) for reading in right]):
                return other, made
        raise UnalignedError(f"differs {program}")

    async def _with_listed_notes(self, gold: str, state: DialogState) -> str | None:
        """Return a reading that changes or shows the listed notes, or "it", with these instead of a search.

        None for other readings: a search for some of the notes must say which.
        """
        try:
            reading = parse(evaluation.prepared(gold)[0], self.run._resolve, ACTIONS)
        except IndexError:
            return None
        step = reading.steps[0] if reading is not None else None
        notes = step.target if step is not None else None
        if step is None or notes is None or step.action in ("find", "count", "list_tasks") or not notes.query:
            return None
        paths = await self.run._paths(notes, ())
        if set(paths) != set(state.them) and paths != state.it[:1]:
            return None
        names = ", ".join(f"@{NotePath.on_disk(path).stem_path}" for path in paths)
        return re.sub(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]", f"[{names}]", gold, count=1)

    async def _fits(self, reading: Reading, gold: str) -> bool:
        try:
            return await self.run._same(reading, gold)
        except IndexError:
            return False

    async def _right_line(self, request: evaluation.EvaluatedRequest) -> str:
        """Return a right reading in the notation, to continue the conversation; empty if there is none."""
        if self._reading is not None and is_clear(self._reading):
            return f"{PREFIX} {serialize(self._reading)}"
        return await self.run.right_line(request)

    # Templates

    def templates(self) -> list[Example]:
        """Return examples from a share of the filled templates."""
        chance = random.Random(SEED)
        paths = sorted(str(path) for path in self.workspace.index.note_paths())
        names = [NotePath.on_disk(path).name for path in paths]
        unique = [name for name in names if names.count(name) == 1]
        tags = self.agent._words().tags
        filled: list[Example] = []
        for language in languages():
            sentences = list(Corpus(language, chance).sentences())
            for sentence in chance.sample(sentences, int(len(sentences) * TEMPLATE_SHARE)):
                text, ranges = _fill_slots(sentence, unique, tags, chance)
                request = self.request(text, _random_state(paths, chance))
                items = request_items(request)
                try:
                    program = _template_program(sentence, request, items, ranges)
                    if len(program) > 1 and ProgramReader(request, items).read(program) is None:
                        raise UnalignedError("program")
                except UnalignedError as error:
                    self.failures[f"template: {str(error).split()[0]}"] += 1
                    continue
                filled.append(self.example(request, program))
        return filled


def _random_state(paths: Sequence[str], chance: random.Random) -> DialogState:
    kind = chance.random()
    if kind < 0.35:
        reading = Reading((PipelineStep(chance.choice(("read", "find", "add_tag", "open"))),), 1.0)
        focus = (chance.choice(paths),)
        state = DialogState(focus=focus, recent=focus, last=reading)
    elif kind < 0.7:
        reading = Reading((PipelineStep("find"),), 1.0)
        state = DialogState(results=tuple(chance.sample(paths, chance.randint(2, 6))), last=reading)
    else:
        state = DialogState()
    return state.with_notes(evaluation.OPEN_NOTES["sample"])


Range = tuple[int, int, str]
"""The start and end of a word in the text, and its role."""


def _fill_slots(
    sentence: Sentence, names: Sequence[str], tags: Sequence[str], chance: random.Random
) -> tuple[str, list[Range]]:
    """Return the text of a sentence with filled slots, and the ranges of its words."""
    language = sentence.language
    relations = [
        phrase.text
        for phrases in language.relations.values()
        for phrase in phrases
        if phrase.text.replace(" ", "").isalpha()
    ]
    text = ""
    ranges: list[Range] = []
    for word in sentence.words:
        match word.key:
            case "{note}":
                key = chance.choice(names)
            case "{tag}":
                key = chance.choice(("", "", "#")) + chance.choice(tags)
            case "{kind}":
                key = chance.choice(KINDS)
            case "{prop}":
                key = chance.choice(PROPERTIES)
            case "{num}":
                key = chance.choice(NUMBERS)
            case "{date}":
                key = chance.choice(DATES[language.code])
            case "{rel}":
                key = chance.choice(relations)
            case "{quoted}":
                key = chance.choice(QUOTED)
            case "{topic}":
                key = chance.choice(TOPICS)
            case _:
                key = word.key
        if text and not (key in (",", ".", ":", ";", "?", "!") or key.startswith("'s")):
            text += " "
        ranges.append((len(text), len(text) + len(key), word.role))
        text += key
    return text, ranges


def _role_spans(items: Sequence[RequestItem], ranges: Sequence[Range]) -> list[tuple[Span, str]]:
    """Return the spans of items that have a role.

    Raises:
        UnalignedError: An item has several roles.
    """
    spans: list[tuple[Span, str]] = []
    for at, item in enumerate(items):
        start, end = item.tokens[0].start, item.tokens[-1].end
        roles = {role for first, last, role in ranges if first < end and start < last}
        if len(roles) > 1:
            roles.discard(OUTSIDE)
        if len(roles) > 1:
            raise UnalignedError("roles of one item")
        role = roles.pop() if roles else OUTSIDE
        if role == OUTSIDE:
            continue
        if spans and spans[-1][1] == role and spans[-1][0][1] == at - 1 and role not in ("tag", "new_tag"):
            spans[-1] = ((spans[-1][0][0], at), role)
        else:
            spans.append(((at, at), role))
    return spans


def _template_program(
    sentence: Sentence, request: Request, items: Sequence[RequestItem], ranges: Sequence[Range]
) -> list[Symbol]:
    label, _, detail = sentence.label.partition(".")
    if label in OUTCOMES:
        return [label]
    if label in _LABELS_WITHOUT_ROLES:
        raise UnalignedError(label)
    spans = _role_spans(items, ranges)
    same = {"set_confidence": "set_property", "remove_text": "replace", "read": "open"}
    program: list[Symbol] = [same.get(label, label)]
    if label == "undo":
        return [*program, "scope=", detail or "last"]
    if label == "list_tasks":
        if spans:
            raise UnalignedError("tasks about something")
        return [*program, "all", "state=", detail or "open"]
    aligner = Aligner(request, items, request.dialog)
    program += _template_target(aligner, request, items, spans, label)
    for role in dict.fromkeys(role for _, role in spans if role not in ("target", "topic")):
        own = [span for span, span_role in spans if span_role == role]
        name = {"confidence": "value", "new": "text"}.get(role, role)
        if label == "set_confidence" and role == "confidence":
            program += ["key=", "p:confidence"]
        program.append(f"{name}=")
        if name in ("to", "other"):
            program += ["@", own[0]]
        elif name in ("tag", "new_tag"):
            joints = ("and", "und")
            heads = [items[span[0]].tokens[0] for span in own]
            program += [
                span
                for span, head in zip(own, heads, strict=True)
                if head.kind != "mark" and head.key not in joints
            ]
        elif name == "key":
            text = aligner.text(own[0]).casefold()
            program.append(f"p:{text}" if text in NAMED_PROPERTIES else own[0])
        elif len(own) > 1:
            raise UnalignedError("values of one role")
        else:
            program.append(own[0])
    if label == "remove_text":
        program += ["text=", "empty"]
    return program


def _template_target(
    aligner: Aligner,
    request: Request,
    items: Sequence[RequestItem],
    spans: Sequence[tuple[Span, str]],
    label: str,
) -> list[Symbol]:
    """Return the symbols of a template's target notes.

    Raises:
        UnalignedError: The words for the notes are not understood, or mean several sets.
    """
    targets = [span for span, role in spans if role in ("target", "topic")]
    target_symbols: list[list[Symbol]] = []
    for span in targets:
        tokens = tuple(token for item in items[span[0] : span[1] + 1] for token in item.tokens)
        parsed = request.set_parser().parse(tokens)
        if parsed is None or parsed.notes.unknown or parsed.has_bare_topic or parsed.unexplained:
            raise UnalignedError("target")
        if not (parsed.notes.is_everything and len(targets) > 1):
            target_symbols.append(list(aligner.symbols(parsed.notes)))
    named = [symbols for symbols in target_symbols if symbols not in (["it"], ["this"], ["these"])]
    chosen = named or target_symbols[:1]
    if len(chosen) > 1 and not all(symbols[0] == "@" for symbols in chosen):
        raise UnalignedError("targets")
    if chosen:
        return [symbol for symbols in chosen for symbol in symbols]
    action = request.allowed[label]
    return ["it"] if "target" in action.needs or action.implies_note else []


@asynccontextmanager
async def vault_run(vault: str) -> AsyncIterator[VaultRun]:
    """Yield the agent on a copy of a vault; from now on, XDG variables name temporary folders."""
    async with evaluation.open_evaluation(vault) as run:
        yield VaultRun(run)


def conversation_files() -> list[Path]:
    """Return the files of conversations; none of them is held out for evaluation."""
    return [SEEN, *sorted(REQUESTS.glob("conversations_*.txt"))]


def examples(files: Sequence[Path], verbose: bool = False) -> tuple[list[Example], list[Example]]:
    """Return the examples of the conversations and those of the templates, and print their numbers."""
    conversations = [conversation for file in files for conversation in evaluation.conversations(file)]
    parts: list[tuple[str, list[evaluation.EvaluatedConversation]]] = [("sample", [])]
    for vault in evaluation.OPEN_NOTES:
        own = [conversation for conversation in conversations if conversation.vault == vault]
        parts += [(vault, own[start : start + PART_SIZE]) for start in range(0, len(own), PART_SIZE)]
    written: list[Example] = []
    filled: list[Example] = []
    failures: dict[str, Counter[str]] = {}
    context = multiprocessing.get_context("spawn")
    # The parts often wait for the disk and for worker processes.
    with ProcessPoolExecutor(2 * (os.cpu_count() or 1), mp_context=context) as processes:
        vaults, lists = zip(*parts, strict=True)
        for vault, part in zip(
            vaults, processes.map(_part, vaults, lists, [verbose] * len(parts)), strict=True
        ):
            written += part[0]
            filled += part[1]
            failures.setdefault(vault, Counter()).update(part[2])
            print(f"{vault}: {len(part[0])} requests, {len(part[1])} templates", flush=True)
    for vault, counts in failures.items():
        print(f"{vault}: not aligned: {dict(counts)}")
    print(f"{len(written)} requests, {len(filled)} templates")
    return written, filled


def _part(
    vault: str, conversations: list[evaluation.EvaluatedConversation], verbose: bool
) -> tuple[list[Example], list[Example], Counter[str]]:
    """Return the examples of conversations in one vault; without conversations, those of the templates."""

    async def run_part() -> tuple[list[Example], list[Example], Counter[str]]:
        async with vault_run(vault) as run:
            if not conversations:
                return [], run.templates(), run.failures
            return await run.conversations(conversations, verbose), [], run.failures

    return asyncio.run(run_part())


def main() -> int:
    """Write the examples as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=conversation_files())
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    written, filled = examples(given.files, given.verbose)
    data = {
        "written": [vars(example) for example in written],
        "templates": [vars(example) for example in filled],
    }
    given.output.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

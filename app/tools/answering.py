"""Find the passages of notes that answer a question."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.answering.passages import properties, split_passages
from app.answering.question import ParsedQuestion, parse_question
from app.answering.ranking import Candidate, CandidateScorer, RankedCandidate, RankedPassages
from app.embeddings import EmbedderUnavailableError
from app.errors import ScriptoriumError
from app.permissions.pluralize import pluralize
from app.toolkit.argument_types import NoteName
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.vault.path import NotePath
from app.vault.span_reference import fragment_of

log = logging.getLogger(__name__)

_MAX_KEYWORD_HITS = 24
_MAX_CHUNKS = 40
_MAX_COMPARED_PASSAGES = 40
_MAX_NOTE_CHARS = 400_000
_MIN_PROPERTY_COSINE, _MIN_STATED_COSINE = 0.25, 0.3
"""Minimum cosines of a question to a property at which it is shown, and at which it counts as the answer.

In 57 questions that did not contain the name of the property ("who came along?" for `with`), the property
with the largest cosine was above the second limit in 35 cases and the right one in 32 of these; in 7% of the
questions that no property answers, one was above it. With 0.25, it would be 46, 40 and 13%.
"""
_MAX_PROPERTY_GAP = 0.1
"""Properties whose cosine is further below the largest one are left out."""
_CHECKBOXES = ("true", "false")
_PRONOUN = "it"
_MAX_SEMANTIC_S = 15.0
"""Seconds to wait for the sentence model; without it, passages are ranked by words alone."""
ChunkScores = dict[NotePath, list[tuple[int, float]]]


class CitedPassage(BaseModel):
    """A passage of a note.

    `citation` is the wikilink to the exact passage, `text` its readable text and `source` its Markdown.
    `likelihood` compares it with the best passage, whose likelihood is 1. `weak` marks passages far below the
    best one, and all passages if even the best one is far from an answer.
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    path: str
    line: int
    text: str
    source: str
    citation: str
    likelihood: float
    weak: bool


class Answer(ToolResult):
    """Passages, best first; without `answered` they are only the closest ones, not an answer."""

    answered: bool
    passages: list[CitedPassage]


@tool(
    category="search",
    examples=("find passages about {question}", "passages that answer {question}"),
    usage_rule=(
        "For a question about the content of notes, call find_passages first. Follow each "
        "statement that a passage supports with the exact quotation and the citation as returned:"
        ' "…" [[Note#span=…]]. State nothing about the notes without a citation. If answered is '
        "false, say that the notes don't contain the answer."
    ),
)
async def find_passages(
    context: ToolContext,
    question: Annotated[str, Field(min_length=1, max_length=2000)],
    limit: Annotated[int, Field(ge=1, le=20)] = 5,
    notes: Annotated[list[NoteName], Field(max_length=200)] | None = None,
) -> Answer:
    """Find the passages that answer a question about notes, each with a link to its exact position.

    Args:
        question: The question, as a person would ask it.
        limit: The maximum number of passages.
        notes: The only notes to look in; without them, all notes. If it is one note, a property whose meaning
            is close to the question can also answer it.
    """
    parsed_question = parse_question(question)
    only = [(await context.vault.resolve_for_reading(note)).path for note in notes or ()] or None
    ranking, read_notes = await rank_passages(context, parsed_question, only)
    covering: list[RankedCandidate] = []
    stated = RankedPassages((), -math.inf, {})
    is_answer = ranking.is_answer
    if only is not None:
        # The name of the note is in each of its passages, which would count as the topic.
        covering = _covering(ranking, parsed_question)
        is_answer = bool(covering)
        if not covering and len(only) == 1 and only[0] in read_notes:
            stated = await _rank_properties(context, parsed_question, read_notes[only[0]])
            is_answer = stated.is_answer
    spans = {passage.candidate.passage.span for passage in stated.passages}
    others = [passage for passage in ranking.passages if passage.candidate.passage.span not in spans]
    top_passages = (covering or [*stated.passages, *others])[:limit]
    passages = [
        _cite(
            passage,
            stated if passage in stated.passages else ranking,
            read_notes[passage.candidate.path],
            # Properties that answer the question leave the other passages far behind.
            is_weak=None if passage in stated.passages or not stated.is_answer else True,
            is_answer=passage in covering,
        )
        for passage in top_passages
    ]
    message = (
        f"{pluralize(sum(not passage.weak for passage in passages), 'passage')} found."
        if is_answer
        else "The notes don't seem to contain an answer."
    )
    result = Answer(answered=is_answer, passages=passages, message=message)
    return result.from_notes(context.index.is_from_web(passage.candidate.path) for passage in top_passages)


async def rank_passages(
    context: ToolContext, question: ParsedQuestion, only: Collection[NotePath] | None = None
) -> tuple[RankedPassages, dict[NotePath, OpenNote]]:
    """Rank the passages of notes that are closest to a question, excluding private notes.

    Args:
        context: The context of the call.
        question: The question.
        only: The only notes to look in; None for all notes.

    Returns:
        The ranking, and the notes with candidate passages.
    """
    keyword_hits = await context.index.ranked(question.topic, _MAX_KEYWORD_HITS)
    chunk_scores: ChunkScores = defaultdict(list)
    deadline = asyncio.get_running_loop().time() + _MAX_SEMANTIC_S
    try:
        async with asyncio.timeout_at(deadline):
            for hit in await context.index.chunks_like(question.text, _MAX_CHUNKS):
                chunk_scores[hit.path].append((hit.line, hit.score))
    except (EmbedderUnavailableError, TimeoutError):
        chunk_scores.clear()
    best = max((score for _, score in keyword_hits), default=0.0) or 1.0
    scores = {path: score / best for path, score in keyword_hits}
    notes: dict[NotePath, OpenNote] = {}
    pool: list[Candidate] = []
    for path in dict.fromkeys((*scores, *chunk_scores) if only is None else only):
        note = _open_candidate(context, path)
        if note is None:
            continue
        notes[path] = note
        passages = split_passages(note.readable_text, note.parsed)
        pool.extend(Candidate(path, note.name, passage, scores.get(path, 0.0)) for passage in passages)
    scorer = CandidateScorer(question, pool)
    candidates = scorer.select_promising(_MAX_COMPARED_PASSAGES, chunk_scores)
    cosines = await _compute_cosines(context, question.text, candidates, deadline)
    if cosines is None and asyncio.get_running_loop().time() >= deadline:
        log.info("the sentence model did not answer in time; the passages are ranked by words alone")
    return scorer.rank(candidates, cosines), notes


def _open_candidate(context: ToolContext, path: NotePath) -> OpenNote | None:
    """Return the note at `path`, or None if it is unreadable, private or too large."""
    try:
        note = context.vault.open(path)
    except ScriptoriumError:
        return None
    # Even the user's own agent leaves out private notes, because answers are quoted.
    is_large = len(note.content) > _MAX_NOTE_CHARS
    return None if is_large or note.parsed.is_private else note


async def _rank_properties(context: ToolContext, question: ParsedQuestion, note: OpenNote) -> RankedPassages:
    """Rank the properties of one note by their meaning for a question; without semantic search, none."""
    found = [
        Candidate(note.path, "", passage)
        for passage in properties(note.readable_text, note.parsed)
        if _is_of_kind(question, passage.text.partition(": ")[2])
    ]
    deadline = asyncio.get_running_loop().time() + _MAX_SEMANTIC_S
    # The note's name says nothing about the property that is asked for.
    asked = re.sub(re.escape(note.name), _PRONOUN, question.text, flags=re.IGNORECASE)
    cosines = await _compute_cosines(context, asked, found, deadline) or []
    least = max((_MIN_PROPERTY_COSINE, max(cosines, default=0.0) - _MAX_PROPERTY_GAP))
    ranked = [
        RankedCandidate(candidate, cosine, {})
        for cosine, candidate in zip(cosines, found, strict=False)
        if cosine >= least
    ]
    ranked.sort(key=lambda one: -one.score)
    return RankedPassages(tuple(ranked), max(cosines, default=0.0) - _MIN_STATED_COSINE, {})


def _is_of_kind(question: ParsedQuestion, value: str) -> bool:
    """Return whether a property's value is of the kind that a question asks for: "who?" for no number."""
    match question.kind.name if question.kind is not None else "":
        case "time" | "number":
            return question.is_answered_by(value)
        case "person" | "place":
            return value not in _CHECKBOXES and any(map(str.isalpha, value))
        case _:
            return True


async def _compute_cosines(
    context: ToolContext, question: str, candidates: Sequence[Candidate], deadline: float
) -> list[float] | None:
    """Return each candidate's cosine similarity to the question.

    Return None if semantic search is unavailable or not finished at `deadline`, a time of the event loop.
    """
    search = context.semantic_search
    if search is None or not candidates or not context.index.has_embeddings:
        return None
    try:
        async with asyncio.timeout_at(deadline):
            (query,) = await search.vectors_of([question], query=True)
            vectors = await search.vectors_of([candidate.in_context for candidate in candidates])
    except (EmbedderUnavailableError, TimeoutError):
        return None
    return [float(cosine) for cosine in vectors @ query]


def _covering(ranking: RankedPassages, question: ParsedQuestion) -> list[RankedCandidate]:
    """Return the passages of given notes that contain every topic word, perhaps in a heading above them.

    The words of a note's name need not be in the passage. In given notes, a passage with all of the other
    words answers the question or shows that the notes do not say more.
    """
    covering: list[RankedCandidate] = []
    is_time = question.kind is not None and question.kind.name == "time"
    asked = question.kind.question.search(question.text) if question.kind and is_time else None
    kind = {*question.stems_in(asked[0])} if asked is not None else set()  # "what day"
    for ranked in ranking.passages:
        candidate = ranked.candidate
        wanted = {*question.words} - {*question.stems_in(candidate.title)}
        wanted = wanted - kind or wanted
        text = candidate.passage.text
        is_covered = wanted <= {*question.stems_in(" ".join((text, *candidate.passage.trail)))}
        # The value of a property must be of the asked kind: "since when is he waiting?" asks for no status.
        is_other = candidate.passage.is_property and not _is_of_kind(question, text.partition(": ")[2])
        if wanted and is_covered and not is_other:
            covering.append(ranked)
    return sorted(covering, key=lambda ranked: not question.is_answered_by(ranked.candidate.passage.text))


def _cite(
    ranked: RankedCandidate,
    ranking: RankedPassages,
    note: OpenNote,
    *,
    is_weak: bool | None = None,
    is_answer: bool = False,
) -> CitedPassage:
    passage = ranked.candidate.passage
    fragment = f"^{passage.block}" if passage.block else fragment_of(note.readable_text, passage.span)
    target = note.path.stem_path if note.path.folder else note.name
    return CitedPassage(
        path=str(note.path),
        line=passage.line,
        text=passage.text,
        source=note.readable_text[passage.span.start : passage.span.end],
        citation=f"[[{target}#{fragment}]]",
        likelihood=round(ranking.likelihood(ranked), 3),
        weak=not is_answer and (ranking.is_weak(ranked) if is_weak is None else is_weak),
    )

"""Summarize notes with a model that may see them, or with local methods."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel

from app.analysis.language_model import ModelError
from app.analysis.sentences import join_sentences, split_sentences, with_full_stop
from app.analysis.summary import Summary, candidate_sentences, summarize, truncate
from app.embeddings import EmbedderUnavailableError
from app.permissions.pluralize import pluralize
from app.toolkit.context import ToolContext
from app.toolkit.open_note import OpenNote
from app.tools.related_nodes import model_exclusion_reason

Style = Literal["paragraph", "bullets", "sentence"]


class SummaryAnswer(BaseModel):
    """A model's summary."""

    summary: str
    key_points: list[str]


@dataclass(frozen=True, slots=True)
class SummaryText:
    """A summary with its key points; `reasoning` explains how it was written."""

    text: str
    key_points: tuple[str, ...]
    reasoning: str


async def summary_of(
    context: ToolContext,
    notes: Sequence[OpenNote],
    max_length: int,
    style: Style = "paragraph",
    max_sentences: int | None = None,
) -> SummaryText:
    """Summarize one note, or several as one text.

    Args:
        context: The context of the call.
        notes: The notes.
        max_length: The maximum number of characters of the summary, without its key points.
        style: A paragraph, a bullet list, or one sentence.
        max_sentences: The maximum number of sentences; None for as many as fit.
    """
    text = "\n\n".join(note.readable_text[note.parsed.body_start :] for note in notes)
    model = context.language_model
    reason = ""
    if model is not None:
        reason = model_exclusion_reason(model, notes)
        if not reason:
            unit = "bullet point" if style == "bullets" else "sentence"
            parts = f"{pluralize(max_sentences, unit)} and " if max_sentences else ""
            prompt = (
                f"Summarize the text in at most {parts}{max_length} characters ({style}),"
                " and give its key points."
            )
            try:
                answer = await model.answer(prompt, text, SummaryAnswer)
                points = tuple(point for point in answer.key_points if point.strip())
                summary = _first_parts(answer.summary, style, max_sentences)
                if len(summary) > max_length:
                    summary = truncate(summary, max_length)
                return SummaryText(summary, points, f"Summarized by {model.name}.")
            except ModelError as error:
                reason = f"Computed locally: {error.message}"
    private = any(note.parsed.is_private for note in notes)
    local = await local_summary(context, text, max_length, style, max_sentences, private=private)
    return SummaryText(
        local.text, local.key_points, " ".join(part for part in (f"{local.method}.", reason) if part)
    )


async def local_summary(
    context: ToolContext,
    text: str,
    max_length: int,
    style: Style = "paragraph",
    max_sentences: int | None = None,
    *,
    private: bool = False,
) -> Summary:
    """Summarize a text with its most central sentences; private text is never embedded."""
    sentences = await asyncio.to_thread(candidate_sentences, text)
    semantic_search = context.semantic_search
    vectors = None
    if semantic_search is not None and len(sentences) > 1 and not private:
        with suppress(EmbedderUnavailableError):
            vectors = await semantic_search.vectors_of(sentences)
    summary = await asyncio.to_thread(summarize, sentences, max_length, vectors, max_sentences)
    if style == "sentence" and summary.key_points:
        return replace(summary, text=truncate(with_full_stop(summary.key_points[0]), max_length))
    if style == "bullets" and summary.text:
        return replace(summary, text=_bullet_list(summary.sentences, max_length))
    return summary


def _first_parts(text: str, style: Style, count: int | None) -> str:
    """Return the first sentences or bullet points of a model's summary; without `count`, all of them."""
    if style == "bullets":
        return "\n".join([line for line in text.splitlines() if line.strip()][:count])
    sentences = split_sentences(text) if count else ()
    return " ".join(sentences[:count]) if count and len(sentences) > count else " ".join(text.split())


def _bullet_list(sentences: Sequence[str], max_length: int) -> str:
    """Return a bullet list of as many sentences as fit; if none fits, truncated prose."""
    lines: list[str] = []
    remaining = max_length
    for sentence in sentences:
        line = f"- {sentence}"
        if len(line) + bool(lines) > remaining:
            break
        remaining -= len(line) + bool(lines)
        lines.append(line)
    return "\n".join(lines) or truncate(join_sentences(sentences), max_length)

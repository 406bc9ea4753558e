"""Recognize small talk, and the answers "yes" and "no"."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.meaning.readings import Interpretation, PipelineStep, Reading, Reply
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token


def small_talk(language: Language, tokens: Sequence[Token]) -> Interpretation | None:
    """Return the reply to a greeting, to thanks or to "never mind", or the request for help; else None."""
    if language.matches_phrase(tokens, "small_talk", "help"):
        return Reading((PipelineStep("help"),), 1.0, language=language.code)
    for kind in ("greeting", "thanks", "cancelled"):
        if language.matches_phrase(tokens, "small_talk", kind):
            return Reply(kind)
    return None


def only_small_talk(language: Language, tokens: Sequence[Token]) -> Interpretation | None:
    """Return the reply to the first of several small-talk phrases ("thanks, that was all"), or None."""
    replies = [small_talk(language, clause) for clause in _clauses(tokens)]
    return replies[0] if len(replies) > 1 and all(isinstance(reply, Reply) for reply in replies) else None


def is_answer(language: Language, tokens: Sequence[Token], kind: str) -> bool:
    """Return whether the tokens say "yes" or "no" (`kind`), perhaps with a courtesy: "no, never mind"."""
    clauses = _clauses(tokens)
    others: list[tuple[str, ...]] = [("courtesies",), ("small_talk", "thanks")]
    if kind == "no":
        others.append(("small_talk", "cancelled"))
    is_kind = [language.matches_phrase(clause, "refine", kind) for clause in clauses]
    return any(is_kind) and all(
        known or any(language.matches_phrase(clause, *path) for path in others)
        for clause, known in zip(clauses, is_kind, strict=True)
    )


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the tokens between the marks, without empty clauses."""
    clauses: list[list[Token]] = [[]]
    for token in tokens:
        if token.kind == "mark":
            clauses.append([])
        else:
            clauses[-1].append(token)
    return [clause for clause in clauses if clause]

"""Parse requests that relate several notes: "link it to H1 and H2", "connect H1 and H2 with K1"."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.readings import NoteSet, PipelineStep, Reading
from app.agent.language.request import Request
from app.agent.language.tokens import Token

_SCORE = 0.97


def parse_relations(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the relations of notes to several notes, or of several notes to one, or None.

    Every note is named exactly, or a pronoun stands for it. A single relation is left to the frames.
    """
    language = request.language
    after_verb = language.match_prefix(tokens, 0, "linking", "verbs")
    if not after_verb or "relate" not in request.allowed:
        return None
    for at in range(after_verb + 1, len(tokens)):
        after_cue = language.match_prefix(tokens, at, "linking", "cues")
        if after_cue == at or after_cue == len(tokens):
            continue
        sources = _pronoun(request, tokens[after_verb:at]) or _named(request, tokens[after_verb:at])
        targets = _named(request, tokens[after_cue:])
        if sources and targets and len(sources) + len(targets) > 2 and not {*sources} & {*targets}:
            step = PipelineStep("relate", NoteSet(notes=sources), {"to": NoteSet(notes=targets)})
            return Reading((step,), _SCORE, language=language.code, verb_words=1)
    return None


def _pronoun(request: Request, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the notes that a pronoun stands for; none for other words."""
    language, dialog = request.language, request.dialog
    for phrases, notes in (("this", dialog.this), ("it", dialog.it), ("them", dialog.them)):
        if language.matches_phrase(tokens, phrases):
            return notes[:1] if phrases != "them" else notes
    return ()


def _named(request: Request, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the notes of a list of names; none if it has other words."""
    language = request.language
    paths: list[str] = []
    follows_name = False
    for mention in request.mentions(tokens):
        names = mention.notes.notes if mention.kind == "note" and mention.notes is not None else ()
        is_cue = language.matches_phrase(mention.tokens, "linking", "cues")
        if len(names) == 1 and not mention.is_near:
            paths += names
        elif (is_cue and follows_name) or not (
            is_cue or any(language.matches_phrase(mention.tokens, *path) for path in _JOINING)
        ):
            return ()  # "connect H1 with H2 to K1" is unclear, but not "to H1 and to H2"
        follows_name = bool(names)
    return tuple(dict.fromkeys(paths))


_JOINING = (("and",), ("both",), ("linking", "fillers"))
"""The phrases that join the names of a list: "both H1 and H2 as well"."""

"""Parse requests that relate notes: "link it to H1 and H2", "connect H1 and H2", "link it from H1"."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.words.tokens import Token
from app.index.query_serializer import quote_text
from app.vault.path import NotePath

_SCORE = 0.97


def parse_relations(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the relations of notes to several notes, of several notes to one, or of two notes, or None.

    Every note is named exactly, or a pronoun stands for it. A single relation is left to the frames, except
    for a link from another note.
    """
    language = request.language
    if "relate" not in request.allowed:
        return None
    if reading := _from_other_note(request, tokens):
        return reading
    after_verb = language.match_prefix(tokens, 0, "linking", "verbs")
    if not after_verb:
        return None
    if mutual := _mutual(request, tokens[after_verb:]):
        return mutual
    for at in range(after_verb, len(tokens)):
        after_cue = language.match_prefix(tokens, at, "linking", "cues")
        if after_cue == at or after_cue == len(tokens):
            continue
        source = tokens[after_verb:at]
        sets = request.set_parser()
        implied = sets.implied_notes() if not source and sets.implies_one else None
        sources = implied.notes if implied else _pronoun(request, source) or _named(request, source)
        targets = _named(request, tokens[after_cue:])
        if len(sources) + len(targets) > 2 and (reading := _reading(request, sources, targets)):
            return reading
    return None


def parse_added_link(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the link as a text, and the relation, of "add a link to H1 there"; none for other requests."""
    language, here = request.language, request.set_parser().implied_notes()
    start = language.match_prefix(tokens, 0, "linking", "link_leads")
    words = without_marks_at_end(tokens[start:])
    for at in range(1, len(words)) if start and here is not None else ():
        after = max(language.match_prefix(words, at, "linking", name) for name in ("places", "cues"))
        linked = _one(request, words[:at])
        if linked and language.matches_phrase(words[after:], "it"):
            name = NotePath.on_disk(linked[0]).name
            if len(request.vocabulary.notes(name)) > 1:
                name = NotePath.on_disk(linked[0]).stem_path
            added = PipelineStep("append", here, {"text": f"[[{name}]]"})
            steps = (added, PipelineStep("relate", here, {"to": NoteSet(notes=linked)}))
            return [Reading((own,), _SCORE, language=language.code, verb_words=1) for own in steps]
    return []


def _from_other_note(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the relation of "link it from H1" or "add a link to it in H1": that of H1 to the note."""
    language = request.language
    for verbs, cues in (("verbs", "from"), ("link_leads", "places")):
        after_verb = language.match_prefix(tokens, 0, "linking", verbs)
        for at in range(after_verb + 1, len(tokens)):
            after_cue = language.match_prefix(tokens, at, "linking", cues)
            if not after_verb or not at < after_cue < len(tokens):
                continue
            end = next(
                (end for end in range(after_cue + 1, len(tokens)) if _is_filler(request, tokens[end:])),
                len(tokens),
            )
            linked, source = tokens[after_verb:at], tokens[after_cue:end]
            targets, sources = _one(request, linked), _one(request, source)
            if reading := _reading(request, sources, targets):
                return reading
    return None


def _mutual(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the relation of "them to each other as related", if it is between two notes; else None."""
    language = request.language
    for at in range(1, len(tokens)):
        end = language.match_prefix(tokens, at, "linking", "mutual")
        rest = tokens[end:]
        if end == at or (rest and not language.matches_phrase(rest, "linking", "plain")):
            continue
        notes = _pronoun(request, tokens[:at]) or _named(request, tokens[:at])
        return _reading(request, notes[:1], notes[1:]) if len(notes) == 2 else None
    return None


def parse_link_question(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the search for which of some notes are linked: "is the first one linked from H1?"; or None."""
    language = request.language
    if "find" not in request.allowed:
        return None
    words = without_marks_at_end(tokens)
    for name, field in (("linked_from", "linked-from"), ("links_to", "links-to")):
        lead = language.match_prefix(words, 0, "linking", name, "lead")
        ends = [
            at
            for at in range(lead, len(words))
            if language.matches_phrase(words[at:], "linking", name, "end")
        ]
        end = ends[0] if ends else len(words)
        if not lead or (not ends and language.phrases("linking", name, "end")):
            continue
        for at in range(lead + 1, end):
            after = language.match_prefix(words, at, "linking", name, "cue")
            place = words[after:end]
            is_anywhere = name == "linked_from" and language.matches_phrase(place, "linking", "anywhere")
            if not place or (after == at and not is_anywhere):
                continue
            notes, others = _pointed(request, words[lead:at]), _one(request, place)
            if not notes or not (others or is_anywhere):
                continue
            stems = [str(NotePath.on_disk(path).stem_path) for path in others]
            query = f"{field}:{quote_text(stems[0])}" if stems else 'backlinks:""'
            step = PipelineStep("find", NoteSet(query=query, notes=notes))
            return Reading((step,), _SCORE, language=language.code, verb_words=1)
    return None


def _pointed(request: Request, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the notes that the words name exactly or point to: "any of them"; none for other words."""
    language, sets = request.language, request.set_parser()
    plain = language.words("universal") | language.words("determiners")
    while len(tokens) > 1 and tokens[0].key in plain and not sets.parse_reference(tokens):
        tokens = tokens[1:]
    parsed = sets.parse_reference(tokens) or sets.find_named(tokens)
    return parsed.notes.notes if parsed is not None and not parsed.notes.query else ()


def _is_filler(request: Request, tokens: Sequence[Token]) -> bool:
    return request.language.matches_phrase(tokens, "linking", "fillers")


def _one(request: Request, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return the note that the words name exactly, or that a pronoun or an ordinal stands for; else none."""
    sets = request.set_parser()
    parsed = sets.parse_reference(tokens) or sets.find_named(tokens)
    return parsed.notes.notes if parsed is not None and parsed.notes.is_single else ()


def _reading(request: Request, sources: tuple[str, ...], targets: tuple[str, ...]) -> Reading | None:
    if not sources or not targets or {*sources} & {*targets}:
        return None
    step = PipelineStep("relate", NoteSet(notes=sources), {"to": NoteSet(notes=targets)})
    return Reading((step,), _SCORE, language=request.language.code, verb_words=1)


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
    ends = (at for at in range(len(tokens)) if _is_filler(request, tokens[at:]))
    tokens = tokens[: next(ends, len(tokens))]  # "as well"
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


_JOINING = (("and",), ("both",), ("determiners",), ("linking", "fillers"))
"""The phrases that join the names of a list: "both H1 and H2 as well"."""

"""Parse requests that remove a whole line of a note: "delete the line with X", "drop the task Y from H1"."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.language.grammar.request import Request
from app.agent.language.grammar.role_values import trim_marks
from app.agent.language.meaning.readings import NoteSet, PipelineStep, Reading
from app.agent.language.tasks.task_references import known_tasks, removes_due_date, split_place
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, span_text

LINE, TASK = "line", "task"
"""Values of the argument `whole` of a removal: a line that contains the text, or a task."""
_NOUNS = ((LINE, "lines"), (TASK, "tasks"))
_SCORE = 0.98


def parse_removed_line(request: Request, tokens: tuple[Token, ...]) -> list[Reading]:
    """Return the readings of a request that removes one line or task; none for other requests.

    A task without its words is the one in focus: "drop that task completely".
    """
    language = request.language
    tokens = _without_ending(language, tuple(trim_marks(tokens)))
    verb_end = language.match_prefix(tokens, 0, "line_removals", "verbs")
    if verb_end == 0 or "remove_text" not in request.allowed:
        return []
    if removes_due_date(request, tokens):
        return []
    for what, described in _objects(language, tokens[verb_end:]):
        text, place = split_place(request, described)
        targets: list[tuple[NoteSet | None, str]] = []
        if what == TASK and (tasks := known_tasks(request, tuple(text))):
            targets = [(NoteSet(notes=(path,)), own) for path, own in tasks if place in (None, path)]
        elif text and text[0].key not in language.table("doubts")["hedges"]:
            written = text[0].value if len(text) == 1 else span_text(request.text, tuple(text))
            notes = NoteSet(notes=(place,)) if place else request.set_parser().implied_notes()
            targets = [(notes, written)]
        if targets:
            return [_reading(request, what, notes, written) for notes, written in targets]
    return _described_line(request, tokens[verb_end:])


def says_line(language: Language, tokens: Sequence[Token]) -> bool:
    """Return whether a request is about a line or a task, and not about a note."""
    words = {token.key for token in tokens}
    nouns = {*language.table("line_removals")["lines"], *language.table("new_tasks")["one"]}
    return not words.isdisjoint(nouns) and words.isdisjoint(language.table("line_removals")["notes"])


def _reading(request: Request, what: str, notes: NoteSet | None, text: str) -> Reading:
    step = PipelineStep("remove_text", notes, {"old": text, "whole": what})
    missing = "" if notes is not None else "target"
    return Reading((step,), _SCORE, missing=missing, language=request.language.code, verb_words=1)


def _without_ending(language: Language, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    for at in range(1, len(tokens)):
        names = ("line_removals", "task_changes")
        if any(language.matches_phrase(tokens[at:], name, "endings") for name in names):
            return tuple(trim_marks(tokens[:at]))
    return tokens


def _objects(language: Language, tokens: Sequence[Token]) -> list[tuple[str, Sequence[Token]]]:
    """Return what a removal is about, and the words after it: "the line with X", "the X task"."""
    start = language.after_determiners(tokens, 0)
    objects: list[tuple[str, Sequence[Token]]] = []
    for what, nouns in _NOUNS:
        after = language.match_prefix(tokens, start, "line_removals", nouns)
        is_other = after < len(tokens) and tokens[after].key in language.table("line_removals")["notes"]
        # "The todo tag" is no task.
        if after > start and not is_other:
            lead = after
            while lead < len(tokens) and tokens[lead].kind == "mark":
                lead += 1
            lead = language.match_prefix(tokens, lead, "line_removals", "leads")
            while lead < len(tokens) and tokens[lead].kind == "mark":
                lead += 1
            says_that = start > 0 and tokens[0].key in language.table("doubts")["demonstratives"]
            if what == TASK and says_that and after < len(tokens) and tokens[after].key == ",":
                lead = len(tokens)  # "that task, it's not needed any more"
            # A line is only known by its words.
            if what == TASK or lead < len(tokens):
                objects.append((what, tokens[lead:]))
    return objects


def _described_line(request: Request, tokens: Sequence[Token]) -> list[Reading]:
    """Return the removal of a task or line whose words precede the noun: "the first task", "the milk line".

    A task is preferably a known one. "The status line" may be a property, and other words the name of a note.
    """
    words, place = split_place(request, tokens)
    language, names = request.language, request.vocabulary
    start = language.after_determiners(words, 0)
    what, end = next(
        (
            (what, at)
            for at in range(start + 1, len(words))
            for what, nouns in _NOUNS
            if language.matches_phrase(words[at:], "line_removals", nouns)
        ),
        ("", 0),
    )
    if not (described := tuple(words[start:end])):
        return []
    tasks = known_tasks(request, described) if what == TASK else []
    if known := [task for task in tasks if place in (None, task[0])]:
        return [_reading(request, TASK, NoteSet(notes=(path,)), text) for path, text in known]
    text = described[0].value if len(described) == 1 else span_text(request.text, described)
    qualifiers = language.table("task_changes")["qualifiers"]
    is_other = request.set_parser().ordinal_in(described) is not None or any(
        names.find_property(token.value) or token.key in qualifiers for token in described
    )
    if is_other or names.notes(span_text(request.text, tuple(words[start:]))):
        return []
    notes = NoteSet(notes=(place,)) if place else request.set_parser().implied_notes()
    return [_reading(request, what, notes, text)] if notes is not None else []

"""Find the heading of the note in talk to which a request adds a text: "add a decision: we stay"."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.comparison.chosen_readings import is_settled
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.meaning.clarifications import with_options, with_readings_first
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
)
from app.agent.language.words.heading_names import named_heading
from app.agent.language.words.task_texts import OPEN_TASK
from app.agent.language.words.text_lists import is_list_name
from app.agent.language.words.tokens import Token, span_text

HeadingsOf = Callable[[str], Sequence[str]]
"""Returns the headings of the note at a path."""
_SCORE = 0.97
_MAX_PLACE_WORDS = 7


class NoteHeadings:
    """Compares the headings that requests name with those of notes.

    Args:
        headings_of: Returns the headings of a note; without it, interpretations stay as they are.
    """

    def __init__(self, headings_of: HeadingsOf | None) -> None:
        self._headings_of = headings_of

    def with_heading(self, interpretation: Interpretation, request: Request) -> Interpretation:
        """Return the addition of a text below the heading that a request names, or a question about it.

        A change of another kind stays as it is.
        """
        if self._headings_of is None or is_settled(interpretation, request.text, request.dialog):
            return interpretation
        if isinstance(interpretation, Reading) and interpretation.last.action != "append":
            return interpretation
        if (below := _below_last_heading(interpretation, request)) is not None:
            return below
        if isinstance(interpretation, Reading) and "heading" not in interpretation.last.arguments:
            return interpretation
        added, is_certain = self._addition(request)
        if added is None:
            return interpretation
        if is_certain or isinstance(interpretation, Reading):
            return added
        if not isinstance(interpretation, Clarification):
            interpretation = Clarification("", ())
        return with_readings_first(replace(interpretation, partial=None), [added])

    def without_missing_headings(self, question: Clarification, request: Request) -> Clarification:
        """Return a question that offers no heading that its note lacks, unless it is to be a new one."""
        offered = [*question.options, *question.spare]
        known = [self._with_known_heading(option.reading, request) for option in offered]
        options = [
            option
            if reading == option.reading
            else replace(option, label=serialize(reading), reading=reading)
            for option, reading in zip(offered, known, strict=True)
        ]
        return question if self._headings_of is None or options == offered else _offer(question, options)

    def _addition(self, request: Request) -> tuple[Reading | None, bool]:
        """Return the addition of a text below a heading of the note in talk, and whether it is certain.

        It is certain if the text follows a colon, and a word such as "to" or "section" comes before it.
        """
        language, dialog = request.language, request.dialog
        words, text, has_mark = _place_and_text(request)
        if not words or not text or "append" not in request.allowed:
            return None, False
        first = max(language.match_prefix(words, 0, "new_tasks", name) for name in ("places", "headings"))
        new = language.match_prefix(words, 0, "new_tasks", "new_headings")
        named = span_text(request.text, words[first:])
        sections = language.table("new_tasks")["section_nouns"]
        is_certain = has_mark and (first > 0 or any(own.key in sections for own in words))
        is_known = request.vocabulary.find_property(words[-1].key) is not None
        is_other = (is_known or words[-1].key in language.words("note_nouns")) and not is_certain
        others, task_nouns = language.words("tag_nouns"), language.words("task_nouns")
        # Tasks below a heading: "add “paint” to the to-dos".
        forms = (words[-1].key, *request.vocabulary.plural_stems(words[-1].key))
        is_task = first > 0 and not task_nouns.isdisjoint(forms)
        others = others if is_task else others | task_nouns
        is_certain = is_certain and not is_task
        is_other = is_other or any(own.key in others for own in (words if has_mark else request.tokens))
        if not named or is_other or request.vocabulary.notes(named):
            return None, False
        for path in dict.fromkeys((*dialog.it[:1], *dialog.this[:1])):
            heading = named_heading(named, self._headings(path), language)
            arguments = {"text": f"{OPEN_TASK}{text}" if is_task else text, "heading": heading}
            if not heading and has_mark and 0 < new < len(words):
                arguments = {"text": f"## {span_text(request.text, words[new:])}\n\n{text}"}
            elif not heading:
                continue
            step = PipelineStep("append", NoteSet(notes=(path,)), arguments)
            return Reading((step,), _SCORE, language=language.code, verb_words=1), is_certain
        return None, False

    def _with_known_heading(self, reading: Reading, request: Request) -> Reading:
        """Return an addition below the heading of its note that has the words, a new one, or none."""
        step = reading.last
        notes = step.target.notes if step.target is not None else ()
        words = str(step.arguments.get("heading", ""))
        if step.action != "append" or not words or len(notes) != 1:
            return reading
        if is_list_name(words, request.language) or words.casefold() in request.language.words("task_nouns"):
            return reading  # the list of a note, without a heading
        heading = named_heading(words, self._headings(notes[0]), request.language)
        arguments = {name: value for name, value in step.arguments.items() if name != "heading"}
        if heading:
            arguments["heading"] = heading
        elif request.language.has_phrase(request.tokens, "new_tasks", "new_headings"):
            arguments["text"] = f"## {words}\n\n{arguments['text']}"
        return replace(reading, steps=(*reading.steps[:-1], replace(step, arguments=arguments)))

    def _headings(self, path: str) -> Sequence[str]:
        return self._headings_of(path) if self._headings_of is not None else ()


def _below_last_heading(interpretation: Interpretation, request: Request) -> Reading | None:
    """Return an addition "under it" with the heading of the last change, or None for others."""
    language, changes = request.language, request.dialog.changes
    if not isinstance(interpretation, Reading) or not changes or len(interpretation.steps) > 1:
        return None
    step, words = interpretation.last, _place_and_text(request)[0]
    start = language.match_prefix(words, 0, "new_tasks", "headings")
    heading = changes[-1].arguments.get("new_heading") or changes[-1].arguments.get("heading")
    is_same = step.target is not None and step.target.notes == changes[-1].notes
    is_meant = bool(heading) and start > 0 and language.matches_phrase(words[start:], "it")
    if not is_same or not is_meant or "heading" in step.arguments:
        return None
    return replace(interpretation, steps=(step.with_argument("heading", heading),))


def _place_and_text(request: Request) -> tuple[tuple[Token, ...], str, bool]:
    """Return the words for a place and the text to add to it, and whether a mark or "that" separates them.

    The text follows the mark, or precedes the place: "add “no dogs” to the rules". Return no words for other
    requests.
    """
    language, tokens = request.language, _with_place_last(request, without_marks_at_end(request.tokens))
    texts = {*language.table("added_lines")["texts"], *language.words("determiners")}

    def is_place(at: int) -> bool:
        return language.match_prefix(tokens, at, "new_tasks", "places") > at

    start = language.match_prefix(tokens, 0, "added_lines", "verbs")
    start -= start > 1 and is_place(start - 1)  # "note in the history"
    end = next((at for at in range(start + 1, len(tokens)) if _ends_place(request, tokens[at])), 0)
    leads = [at for at in range(start, end or len(tokens)) if is_place(at)]
    if start == 0 or not (leads or (end and tokens[end].key == ":")):
        return (), "", False
    if end:
        while start < end - 1 and leads[:1] > [start] and tokens[start].key in texts:
            start += 1  # "write this down under Rules: no dogs"
        return tokens[start:end], request.text[tokens[end].end :].strip(), True
    said = tokens[start : leads[-1]]
    if all(own.key in texts for own in said):
        return (), "", False  # "put that in the history"
    text = said[0].value if [own.kind for own in said] == ["quoted"] else span_text(request.text, said)
    return tokens[leads[-1] :], text, False


def _ends_place(request: Request, token: Token) -> bool:
    """Return whether a text follows: a colon, a comma or "that"."""
    return token.key in (":", ",") or request.language.match_prefix((token,), 0, "added_lines", "that") > 0


def _with_place_last(request: Request, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens of "under Rules write: no dogs" as those of "write under Rules: no dogs"."""
    language = request.language
    if not any(language.match_prefix(tokens, 0, "new_tasks", name) for name in ("places", "headings")):
        return tokens
    for at in range(2, min(len(tokens) - 2, _MAX_PLACE_WORDS)):
        after = language.match_prefix(tokens, at, "added_lines", "verbs")
        if after > at and _ends_place(request, tokens[after]):
            place = tokens[: at - (tokens[at - 1].key == ",")]
            return (*tokens[at:after], *place, *tokens[after:])
    return tokens


def _offer(question: Clarification, options: Sequence[ClarificationOption]) -> Clarification:
    """Return a question that offers some options, without those that occur twice."""
    labels = [option.label for option in options]
    return with_options(question, [own for at, own in enumerate(options) if own.label not in labels[:at]])

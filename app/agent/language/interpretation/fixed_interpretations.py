"""Interpret the requests that leave no choice between readings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.agent.language.changes.line_removals import parse_removed_line
from app.agent.language.changes.missing_notes import parse_listed_missing_note, parse_text_for_missing_note
from app.agent.language.changes.new_folders import parse_move_to_new_folder
from app.agent.language.changes.new_notes import parse_new_note
from app.agent.language.changes.property_lines import parse_asked_value, parse_property_line
from app.agent.language.changes.property_values import parse_property_values
from app.agent.language.changes.relations import parse_added_link, parse_link_question, parse_relations
from app.agent.language.changes.replacements import (
    parse_replacement_everywhere,
    parse_replacement_here,
)
from app.agent.language.changes.template_notes import parse_note_from_template
from app.agent.language.changes.text_additions import parse_added_line, parse_dictated_text, parse_stated_fact
from app.agent.language.changes.texts_before_places import parse_placed_text
from app.agent.language.changes.undo import parse_redo, parse_undo
from app.agent.language.changes.value_removals import parse_removed_tag, parse_removed_value
from app.agent.language.grammar.questions import source_note
from app.agent.language.grammar.request import Request, without_marks_at_end
from app.agent.language.interpretation.choices import ReadingChooser
from app.agent.language.interpretation.corrections import parse_correction
from app.agent.language.interpretation.follow_ups import parse_plain_follow_up, parse_refined_question
from app.agent.language.lookups.described_sets import parse_described_list
from app.agent.language.lookups.listed_notes import parse_neighbor, refuse_position
from app.agent.language.meaning.readings import (
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.tasks.new_tasks import parse_new_tasks
from app.agent.language.tasks.task_lists import parse_task_list
from app.agent.language.tasks.task_references import parse_task_change
from app.agent.language.words.tokens import Token, span_text
from app.vault.path import NotePath

Rule = Callable[[Request, tuple[Token, ...]], Interpretation | None]
"""Returns the interpretation of some tokens of a request, or None for other requests."""


class FixedInterpretations:
    """Interprets requests by rules, of which the first one that fits decides.

    Args:
        chooser: Decides whether the reading of a rule runs, and asks questions.
    """

    def __init__(self, chooser: ReadingChooser) -> None:
        self._chooser = chooser
        self._rules: tuple[Rule, ...] = (
            _refuse,
            _count_all,
            refuse_position,
            parse_neighbor,
            parse_redo,
            self._interpret_template,
            self._decided(parse_listed_missing_note),
            self._interpret_new_note,
            self._run_or_asked(parse_move_to_new_folder),
            parse_undo,
            self._decided(parse_property_values),
            self._decided(parse_asked_value),
            self._run_or_asked(parse_removed_value),
            self._run_or_asked(parse_removed_tag),
            self._run_or_asked(parse_property_line),
            _interpret_source_question,
            self._decided(_open_by_name),
            parse_task_list,
            parse_link_question,
            self._decided(parse_relations),
            self._run_or_asked(parse_added_link),
            self._run_or_asked(parse_dictated_text),
            self._run_or_asked(parse_stated_fact),
            self._run_or_asked(parse_placed_text),
            self._decided(parse_added_line),
            self._run_or_asked(parse_removed_line, runs_uncertain=True),
            self._decided(parse_replacement_everywhere),
            self._decided(parse_replacement_here),
            self._interpret_refined_question,
            self._run_or_asked(parse_correction),
            self._run_or_asked(parse_new_tasks),
            self._run_or_asked(parse_task_change),
            self._interpret_plain_follow_up,
            parse_described_list,
            self._run_or_asked(parse_text_for_missing_note),
        )

    def interpret(self, request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
        """Return the interpretation of some tokens of a request by the first rule that fits, or None."""
        return next((found for rule in self._rules if (found := rule(request, tokens)) is not None), None)

    def _decided(self, parse: Callable[[Request, tuple[Token, ...]], Reading | None]) -> Rule:
        """Return the rule that runs the reading of a parser unless it is in doubt."""

        def rule(request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
            reading = parse(request, tokens)
            return self._chooser.decide(request, [reading]) if reading is not None else None

        return rule

    def _run_or_asked(
        self,
        parse: Callable[[Request, tuple[Token, ...]], list[Reading]],
        *,
        runs_uncertain: bool = False,
    ) -> Rule:
        """Return the rule that runs the only reading of a parser if it is complete and certain, or asks."""

        def rule(request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
            readings = parse(request, tokens)
            if not readings:
                return None
            target = readings[0].last.target
            if readings[0].missing or (target is not None and target.unknown):
                return self._chooser.decide(request, readings)
            is_sure = len(readings) == 1 and (runs_uncertain or readings[0].is_certain)
            return readings[0] if is_sure else self._chooser.ask(request, readings)

        return rule

    def _interpret_template(self, request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
        """Interpret the creation of a note from a template."""
        order = tokens[_end_of_introduction(request, tokens) :]
        if (found := parse_note_from_template(request, order)) is None:
            return None
        created, other_tokens = found
        if not isinstance(created, Reading):
            return created
        return self._chooser.decide(replace(request, tokens=other_tokens), [created])

    def _interpret_new_note(self, request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
        """Interpret the creation of a note; ask whether to use the template of its kind."""
        readings = parse_new_note(request, tokens[_end_of_introduction(request, tokens) :])
        if len(readings) == 1:
            return self._chooser.decide(request, readings)
        return self._chooser.ask(request, readings) if readings else None

    def _interpret_refined_question(
        self, request: Request, tokens: tuple[Token, ...]
    ) -> Interpretation | None:
        """Interpret a request that refines the open question."""
        readings = parse_refined_question(request, tokens)
        if not readings:
            return None
        return readings[0] if len(readings) == 1 else self._chooser.ask(request, readings)

    def _interpret_plain_follow_up(
        self, request: Request, tokens: tuple[Token, ...]
    ) -> Interpretation | None:
        """Interpret a follow-up that has only one meaning."""
        reading = parse_plain_follow_up(request, tokens)
        if reading is None or any(step.action not in request.allowed for step in reading.steps):
            return None
        return self._chooser.decide(request, [reading])


def _interpret_source_question(request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
    """Interpret a question that names the note in which the answer is."""
    return ContentQuestion(request.text) if source_note(request)[0] else None


def _end_of_introduction(request: Request, tokens: tuple[Token, ...]) -> int:
    """Return the end of "plan a trip:" before a new note; 0 for an order, a note's name or other words."""
    colon = next((at for at, token in enumerate(tokens) if token.key == ":"), 0)
    words, rest = tokens[:colon], tokens[colon + 1 :]
    if not words or not rest or not request.language.match_prefix(rest, 0, "new_notes", "leads"):
        return 0
    names_note = any(mention.kind == "note" for mention in request.mentions(words))
    return 0 if names_note or request.actions_at(words, 0) else colon + 1


def _refuse(request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
    """Return the reply to a request that no tool can carry out; None for other requests."""
    kinds = request.language.table("refusals")
    kind = next((k for k in kinds if request.language.matches_phrase(tokens, "refusals", k)), "")
    work = {"compare": "Comparing notes", "table": "Making a table"}.get(kind)
    return ModelRequired(work) if work else Reply(kind, understood=False) if kind else None


def _count_all(request: Request, tokens: tuple[Token, ...]) -> Interpretation | None:
    """Count all notes for "how many notes do I have?"; return None for other requests."""
    words = without_marks_at_end(tokens)
    if "count" not in request.allowed or not request.language.matches_phrase(words, "scopes", "all_counted"):
        return None
    return Reading((PipelineStep("count", NoteSet()),), 1.0, language=request.language.code)


def _open_by_name(request: Request, tokens: tuple[Token, ...]) -> Reading | None:
    """Return the note of "open Tags", spelled as its name, or of "open the note on tags"; else None."""
    words = without_marks_at_end(tokens[1:])
    name = span_text(request.text, words)
    paths = request.vocabulary.notes(name) if name[:1].isupper() else ()
    if "open" not in request.allowed or not request.has_action_at("open", tokens, 0):
        return None
    notes = NoteSet(notes=paths)
    if len(paths) != 1 or NotePath.on_disk(paths[0]).name != name:
        sets = request.set_parser()
        described = sets.find_described(words) if sets.find_named(words) is None else None
        if described is None:
            return None
        notes = described.notes
    return Reading((PipelineStep("open", notes),), 1.0, language=request.language.code)

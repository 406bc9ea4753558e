"""Choose the reading to run, or the question to ask instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath

from app.agent.language.changes.missing_notes import with_missing_note
from app.agent.language.grammar.coverage import accounts_for_all
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_for, with_options
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    MIN_READ_SCORE,
    MIN_WRITE_SCORE,
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    is_clear,
)
from app.agent.language.words.dates import ISO_DAY
from app.agent.language.words.vault_words import name_words
from app.vault.path import NotePath

MAX_RIVAL_GAP = 0.03
FAMILIES = (
    frozenset(("set_type", "set_property", "set_confidence")),
    frozenset(("remove_all_tags", "remove_tag", "remove_property")),
    frozenset(("remove_text", "delete")),
    frozenset(("rename_property", "rename")),
    frozenset(("rename_heading", "rename")),
)

Describe = Callable[[Reading], str]


class ReadingChooser:
    """Choose between readings.

    Args:
        describe: Describes a reading in a few words, for the options of a question.
    """

    def __init__(self, describe: Describe) -> None:
        self._describe = describe

    def decide(
        self, request: Request, readings: list[Reading], *, is_expected: bool = False
    ) -> Interpretation:
        """Return the reading to run, or the question to ask.

        Args:
            request: The request.
            readings: The readings, at least one, best first.
            is_expected: Whether the first reading is so likely that its values need not be certain.
        """
        best = readings[0]
        rivals = [
            rival
            for rival in readings[1:8]
            if best.score - rival.score < MAX_RIVAL_GAP
            and not rival.missing
            and not rival.has_same_steps(best)
            and _is_alternative(request, rival, best)
            and not _is_same_change(rival, best)
            and rival.verb_words >= best.verb_words
        ]
        if name_question := self._name_question(request, best):
            return name_question
        if best.missing:
            return Clarification(question_for(best), (), best)
        writes = request.writes(best)
        if (unclear := _without_target(request, best)) is not None:
            return Clarification(question_for(unclear), (), unclear)
        if any(
            request.allowed[step.action].writes and step.target and step.target.is_everything
            for step in best.steps
        ):
            question = "This would change every note in the vault. Is this what you mean?"
            return Clarification(question, (self._option(best),))
        if rivals and (writes or any(request.writes(rival) for rival in rivals)):
            options = [self._option(reading) for reading in (best, *rivals[: MAX_OPTIONS - 1])]
            if len({option.label for option in options}) > 1:
                return Clarification("Which of these do you mean?", tuple(options))
        is_doubtful = best.score < MIN_READ_SCORE or (
            writes
            and (
                best.score < MIN_WRITE_SCORE
                or best.unexplained
                or not (best.is_certain or is_expected)
                or request.needs_confirmation
                or (best.last.action == "rename" and best.last.target and len(best.last.target.notes) > 1)
                or _may_mean_others(request, best)
                or not accounts_for_all(request, best)
            )
        )
        return self.confirm(best) if is_doubtful else best

    def _option(self, reading: Reading) -> ClarificationOption:
        return ClarificationOption(self._describe(reading), reading)

    def _name_question(self, request: Request, reading: Reading) -> Clarification | None:
        """Ask which note is meant if a name matches several notes or none; None if every name is clear."""
        for index, step in enumerate(reading.steps):
            for role, notes in (("target", step.target), *step.arguments.items()):
                if not isinstance(notes, NoteSet) or not notes.unknown:
                    continue
                options = []
                is_ambiguous = len(request.vocabulary.notes(notes.unknown)) > 1
                # The words for a day don't resemble its number in a name.
                are_all = is_ambiguous or all(
                    ISO_DAY.match(NotePath.on_disk(path).name) for path in notes.candidates
                )
                for path in notes.candidates:
                    if not are_all and not request.vocabulary.resembles(notes.unknown, path):
                        continue
                    note = NoteSet(notes=(path,))
                    resolved = (
                        replace(step, target=note) if role == "target" else step.with_argument(role, note)
                    )
                    options.append(ClarificationOption(path, _with_step(reading, index, resolved)))
                cleared = replace(step, target=None) if role == "target" else step
                partial = replace(_with_step(reading, index, cleared), missing=role)
                if not notes.unknown.strip():
                    return Clarification("Which note?", (), partial)
                if options:
                    question = (
                        f"Several notes are named “{notes.unknown}”. Which one?"
                        if is_ambiguous
                        else f"No note is named “{notes.unknown}”. Did you mean one of these?"
                    )
                    return Clarification(question, tuple(options), replace(reading, missing=role))
                if role == "target" and (created := _creation_instead(request, step)) is not None:
                    option = self._option(_with_step(reading, index, created))
                    return Clarification(
                        f"No note is named “{notes.unknown}”. Create it?", (option,), partial
                    )
                question = f"No note is named “{notes.unknown}”. Which note do you mean?"
                return Clarification(question, (), partial)
        return None

    def confirm(self, reading: Reading) -> Clarification:
        """Return the question that asks the user to confirm a reading."""
        return Clarification("Is this what you mean?", (self._option(reading),))

    def ask(
        self, request: Request, readings: Sequence[Reading], shares: Sequence[float] = ()
    ) -> Interpretation:
        """Ask which of several readings is meant; those beyond the first `MAX_OPTIONS` are kept as `spare`.

        Readings with an unknown note are never options: the question is about the note if the likeliest
        reading is a change that lacks it, or if every reading lacks one.

        Args:
            request: The request.
            readings: The readings, likeliest first.
            shares: Their probabilities, if they are known.
        """
        share_of = dict(zip(map(id, readings), shares, strict=False))
        readings = [with_missing_note(request, readings[0]), *readings[1:]]
        likeliest = readings[0]
        if (unclear := _without_target(request, likeliest)) is not None:
            return Clarification(question_for(unclear), (), unclear)
        readings = [reading for reading in readings if _without_target(request, reading) is None]
        if request.writes(likeliest) and not is_clear(likeliest):
            readings = [likeliest]
        readings = [reading for reading in readings if is_clear(reading)] or readings
        if question := self._name_question(request, readings[0]):
            return question
        options: dict[str, ClarificationOption] = {}
        for reading in readings:
            if not any(step.target and step.target.unknown for step in reading.steps):
                label = self._describe(reading)
                share = share_of.get(id(reading), 0.0)
                options.setdefault(label, ClarificationOption(label, reading, share))
        return with_options(Clarification("", ()), tuple(options.values()))


def _with_step(reading: Reading, index: int, step: PipelineStep) -> Reading:
    """Return the reading with the step at an index replaced."""
    return replace(reading, steps=(*reading.steps[:index], step, *reading.steps[index + 1 :]))


def _creation_instead(request: Request, step: PipelineStep) -> PipelineStep | None:
    """Return the creation of the missing note to which a step adds a text; None for other steps."""
    name = step.target.unknown if step.target is not None else ""
    is_addition = step.action in ("append", "prepend") and "heading" not in step.arguments
    names_other = any(mention.kind == "note" for mention in request.mentions(request.tokens))
    is_possible = "text" in step.arguments and "create_note" in request.allowed
    if not is_addition or not is_possible or (names_other and not request.vocabulary.names_day(name)):
        return None
    arguments = {"name": name, "text": step.arguments["text"]}
    if request.vocabulary.names_day(name):
        arguments["folder"] = request.vocabulary.daily_folder
    return PipelineStep("create_note", None, arguments)


def _is_same_change(reading: Reading, best: Reading) -> bool:
    """Return whether two readings make the same or a related change, so that the user need not choose."""
    if len(reading.steps) != len(best.steps) and reading.steps[0].action == best.steps[0].action:
        return True  # "create X and tag it Y" in one step or two
    pair = {reading.last.action, best.last.action}
    return len(pair) == 2 and any(pair <= family for family in FAMILIES)


def _is_alternative(request: Request, other: Reading, best: Reading) -> bool:
    """Return whether either of two readings makes a change, so that the user should choose."""
    return request.writes(other) or request.writes(best)


def _without_target(request: Request, reading: Reading) -> Reading | None:
    """Return a change to a set of notes, minus its target, if the request gives no condition for the set.

    That is the case if the words refer to one note ("it", "the note"), or if the only condition is the value
    to set. Return None for other readings.
    """
    step = reading.last
    target = step.target
    is_set = target is not None and not (target.notes or target.source or target.unknown or target.pick)
    if len(reading.steps) > 1 or not is_set or not request.allowed[step.action].writes:
        return None
    positions = range(len(request.tokens))
    if not _selects_by_new_value(request, step) and not any(
        _means_one_note(request, position) for position in positions
    ):
        return None
    name = PurePosixPath(request.dialog.it[0]).stem if request.dialog.it else ""
    if name and name in serialize(reading):
        return None  # for example "the notes that link to it"
    return replace(reading, steps=(replace(step, target=NoteSet(unknown=" ")),), missing="target")


def _means_one_note(request: Request, position: int) -> bool:
    """Return whether words at a position mean one note: "it", but not "it all"."""
    after = request.language.match_prefix(request.tokens, position, "one_note")
    following = request.tokens[after].key if after < len(request.tokens) else ""
    return after > position and following not in request.language.words("universal")


def _selects_by_new_value(request: Request, step: PipelineStep) -> bool:
    """Return whether the value to set, or a property named at most once, is also the condition on the notes.

    "Set prep time to 9" does not change the notes that have a prep time, or the prep time 9.
    """
    key, query = str(step.arguments.get("key", "")).casefold(), step.target.query if step.target else ""
    if step.action != "set_property" or not key:
        return False
    words = " ".join(token.key for token in request.tokens)
    spelled = f" {words} ".count(f" {' '.join(name_words(key))} ")
    mentions = [mention for mention in request.mentions(request.tokens) if mention.kind == "prop"]
    meant = sum(mention.value.casefold() == key for mention in mentions)
    condition = query.casefold().replace('"', "")
    value = str(step.arguments.get("value", "")).casefold()
    return condition == f"[{key}:{value}]" or (condition == f"[{key}]" and max(spelled, meant) <= 1)


def _may_mean_others(request: Request, reading: Reading) -> bool:
    """Return whether "both" or "the H4 one" may refer to notes other than the single target of a reading."""
    target, tokens = reading.last.target, request.tokens
    if target is None or len(target.notes) != 1:
        return False
    if any(request.language.match_prefix(tokens, index, "both") > index for index in range(len(tokens))):
        return True
    names = {mention.tokens[-1] for mention in request.mentions(tokens) if mention.kind == "note"}
    # An article begins the next words: "setze bei H4 die Bewertung auf 7".
    pronouns = request.language.words("result_pronouns") - request.language.words("determiners")
    return any(token in names and following.key in pronouns for token, following in pairwise(tokens))

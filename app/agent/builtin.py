"""The built-in agent, which needs no language model: parse the request, call tools, format their results."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Protocol

from app.agent.answered_call import AnsweredCall
from app.agent.language.actions import ACTIONS, Action
from app.agent.language.answers import localize
from app.agent.language.candidates import have_same_meaning
from app.agent.language.change_doubts import ChangeDoubts, joins_note_with_itself
from app.agent.language.chips import Chip, describe_readings, reading_chips
from app.agent.language.choices import (
    MAX_OPTIONS,
    accounts_for_all,
    note_sets_of,
    question_about,
    question_for,
    with_options,
)
from app.agent.language.compound_requests import (
    drops_change,
    is_task_with_conjunction,
    join_orders,
    join_questions,
    options_of_changes,
    shown_notes,
    split_orders,
    state_after,
    verbless_orders,
    with_unsplit_reading,
    without_dropped_orders,
)
from app.agent.language.dialog import NOTE_ROLES, DialogState
from app.agent.language.grammar_readings import GUESS_SCORE
from app.agent.language.interpretation_choice import MIN_RUN_PROBABILITY
from app.agent.language.interpreter import Interpreter
from app.agent.language.lexicon import ActionFrame, Language, languages
from app.agent.language.line_removals import says_line
from app.agent.language.list_orders import asks_for_newest, by_age
from app.agent.language.notation import PREFIX, parse, serialize
from app.agent.language.note_facts import (
    FACTS,
    PropertiesOf,
    find_fact,
    join_facts,
    may_answer,
    split_questions,
)
from app.agent.language.option_order import USELESS, OptionRanker, meaning_key, overwrites_itself
from app.agent.language.outcomes import is_outcome, meaning_of
from app.agent.language.periods import asks_for_period, by_day_names, with_stated_dates
from app.agent.language.phrase_searches import phrase_search
from app.agent.language.preferred_reading import preferred_reading
from app.agent.language.property_changes import PropertyChanges
from app.agent.language.questions import (
    defined_note,
    listed_source,
    question_language,
    source_note,
    with_name_for_pronouns,
    with_topic_of,
)
from app.agent.language.readings import (
    Clarification,
    ClarificationOption,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.request import Request
from app.agent.language.request_parser import RequestContext
from app.agent.language.rescheduling import date_changes, rescheduled_note, task_of_date
from app.agent.language.said_words import WORD, SaidWords
from app.agent.language.stated_values import StatedValues, gives_only_day, linked_value
from app.agent.language.task_matching import TASK_FIELDS, field_of_tasks, named_parts
from app.agent.language.task_references import described_tasks, resembles_note
from app.agent.language.tokens import tokenize
from app.agent.language.tool_frames import tool_frames
from app.agent.language.undo import describe_undo, undoes_nothing, undone_changes
from app.agent.language.vocabulary import VaultWords, Vocabulary, correct_spelling
from app.agent.pipeline.host import ChangesToday, FindNotes
from app.agent.pipeline.pipeline import Pipeline
from app.agent.result_formatting import format_outcome, shown_passages
from app.agent.transcript import SET_UP_MODEL, AnswerChoice, ReadingChip
from app.agent.turn import Turn
from app.answering.question import is_unspaced_sentence
from app.errors import NotFoundError, QueryError, TimeoutExpiredError
from app.index.query_serializer import quote_text
from app.index.resolver import Resolver
from app.permissions.pluralize import pluralize
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.vault.path import NotePath, name_key

HELP = """\
I work without a model. Tell me what to do in your own words. For example:

- **Find**: "notes about gardens", "notes tagged #todo but not #done", "what did I change last week?", \
"notes without links", "open tasks", "my three newest notes"
- **Narrow down**: "only those from March", "sort them by name", "and the rest?", "how many are there?"
- **Ask**: "what do my notes say about tides?", "when did we agree on the price?": passages from your \
notes, each with a link to the exact place
- **Look**: "open the second one", "what links here?", "which tags does it have?", "history of this note"
- **Write**: "create a note called Shopping with milk and bread", "add buy rope to Shopping", \
"replace May with June in this note"
- **Tasks**: "open tasks", "add a task to Shopping: buy rope by Friday", "tick it off", \
"what is due this week?"
- **Organize**: "tag them #trip", "rename the tag #todo to #next", \
"rename the property author to writer", "set its status to done", "move it to Archive", "delete the first one"
- **Relate**: "link it to Shopping", "what supports this?", "summarize this note"
- **Several steps**: "find notes about stars, tag them sky, then summarize them"
- **Undo**: "undo that", "undo both", "undo everything you did today"

You approve every change first, and you can undo it."""

BUILTIN_NAME = "Built-in agent"
"""The agent's name as the caller of tools, also in the audit log."""

MAX_PASSAGES = 3
"""The maximum number of passages in an answer."""

MIN_SHARED_MEANING_PROBABILITY = 0.75
"""The minimum total probability of readings that mean the same notes at which the first one runs."""
MIN_FALLBACK_PROBABILITY = 0.05
"""Minimum probability of a question's likeliest option when the search for the words found nothing."""
_SEARCHED_FOLDER = re.compile(r'(?<!-)path:(?:"([^"]*/)"|([^\s()"]*/))')
_MAX_CONTINUATION_WORDS = 5
_MAX_NAME_WORDS = 8
_PROPERTY = re.compile(r"[\w -]+:\s")
_QUESTION_ACTIONS = frozenset(("properties_of", "question"))
_NOT_UNDERSTOOD = (
    "I did not understand that, so nothing was changed. Rephrase it, or type “help” for examples."
)
_AMBIGUOUS_MESSAGE = "Please be more specific: give the note's full path and ask for one action."
_NO_SUCH_NOTE = "No note is named “{}”. Nothing was changed."
_LACKS_VALUE = "“{}” needs a value for “{}”. Nothing was changed."
_ENGLISH = "en"
_ONLY_ENGLISH = (
    "The semantic search model supports only English, so a question in another language finds notes by their"
    " words. Choose the multilingual model in *Settings → Semantic search*."
)
_READ_ONLY_MESSAGE = "This mode is read-only, so this was not done: {}"
_REPLIES = {
    "greeting": "Hello! Tell me what to find, open, write or change. Type “help” for examples.",
    "thanks": "You're welcome.",
    "cancelled": "All right. Nothing was changed.",
    "section": (
        "I can't move or copy a section to another note. Nothing was changed. Cut or copy it in one note and"
        " paste it into the other, or ask me to add its text there."
    ),
    "line": (
        "I can't tell which line you mean. Quote it, for example: replace “- milk” with “- [ ] milk” in"
        " Shopping. Nothing was changed."
    ),
    "orders": "I can't run these requests together. Nothing was changed. Send them one at a time.",
    "reminder": (
        "I can't remind you at a certain time. I can write a task with a date into a note. Say, for example:"
        " add a task to Shopping: buy rope by Friday."
    ),
    "unsupported": "I can't do that. I work on the notes in this vault. Type “help” for examples.",
}


class Responder(Protocol):
    """An agent that answers turns: the built-in agent or a model."""

    async def respond(self, turn: Turn) -> None:
        """Answer by streaming text and calling tools; the turn ends on return."""
        ...


class BuiltinAgent:
    """Answer requests by parsing them, and keep each conversation's state to resolve words such as "it".

    Args:
        registry: The tools; requests for tools that are turned off are not understood.
        resolver: Finds notes by name.
        words: Returns the vault's tags, types, properties and their texts.
        changes_today: Returns the audit entries of this agent's changes since midnight, oldest first.
        now: Returns the current time.
        find_notes: Returns every note that a search matches; without it, a question may offer several
            searches with the same notes.
        public_words: Returns the words that a model may know; without it, a model's requests name none.
        public_resolver: Returns the names of the notes that a model may know; without it, none.
        properties_of: Returns the properties of the note at a path; without it, a question about a note is
            never answered with a property that it does not name, and no change is in doubt.
        is_english_only: Returns whether the semantic search model supports only English.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        resolver: Resolver,
        words: Callable[[], VaultWords],
        changes_today: ChangesToday = tuple,
        now: Callable[[], datetime] = datetime.now,
        find_notes: FindNotes | None = None,
        public_words: Callable[[], VaultWords] | None = None,
        public_resolver: Callable[[], Resolver] | None = None,
        properties_of: PropertiesOf | None = None,
        is_english_only: Callable[[], bool] = lambda: False,
    ) -> None:
        self._registry = registry
        self._resolver = resolver
        self._words = words
        self._public_words = public_words or VaultWords
        self._public_resolver = public_resolver or Resolver
        self._changes_today = changes_today
        self._now = now
        self._find_notes = find_notes
        self._properties_of = properties_of
        self._is_english_only = is_english_only
        self._states: dict[tuple[str, str], DialogState] = {}

    @cached_property
    def _interpreter(self) -> Interpreter:
        # Loading the language files can wait until the first request.
        return Interpreter(languages(), serialize, self._tool_actions[1])

    async def respond(self, turn: Turn) -> None:
        """Carry out or answer the request, ask for clarification, or explain that it needs a model."""
        state = self.state(turn)
        if turn.caller.uses_model:
            # Not compared with the vault: the answer must not depend on what hidden notes contain.
            words, resolver = await asyncio.to_thread(self._public_names)
            vocabulary = self._vocabulary_of(words, resolver)
            interpretation = self._interpret(turn.prompt.text, state, vocabulary)
        else:
            text = turn.prompt.text
            interpretation = await self.compare_with_vault(self.interpret(text, state), text, state)
        language = self._interpreter.language_of(turn.prompt.text, state)
        # The open question ends here, whatever the outcome of this turn.
        is_answered = isinstance(interpretation, Reading) and _is_chosen(
            interpretation, turn.prompt.text, state
        )
        is_settled = is_answered or (isinstance(interpretation, Reply) and interpretation.understood)
        later = replace(state, question=None, unanswered=()) if is_settled else state.without_question()
        self._states[_state_key(turn)] = later
        match interpretation:
            case Clarification() if interpretation.options and turn.caller.uses_model:
                # A model asks: the answer must not name notes that are hidden from it.
                turn.say(localize(_AMBIGUOUS_MESSAGE, language))
            case Clarification():
                await self._ask(turn, interpretation, language)
                self._states[_state_key(turn)] = replace(later, question=interpretation)
            case Reading():
                await self._carry_out(turn, interpretation, later)
            case ModelRequired():
                self._say_model_required(turn, interpretation, language)
                # "It" may refer to the result that the model would have produced.
                self._states[_state_key(turn)] = replace(later, focus=(), is_lost=True)
            case ContentQuestion():
                await self._answer_from_notes(turn, interpretation, state, language)
            case Reply():
                turn.say(localize(reply_text(interpretation), language))
                if not interpretation.understood:
                    self._states[_state_key(turn)] = replace(later, focus=(), is_lost=True)

    def interpret(self, text: str, state: DialogState) -> Interpretation:
        """Interpret a request in the state of a conversation.

        A request in the app's own notation, which choices and chips send, is parsed directly. If it names a
        missing note or lacks a value, the result is a reply that says so.
        """
        return self._interpret(text, state, self._vocabulary_of(self._words()))

    def _interpret(
        self,
        text: str,
        state: DialogState,
        vocabulary: Callable[[Language], Vocabulary],
        *,
        guesses: bool = True,
    ) -> Interpretation:
        if text.lstrip().startswith(PREFIX):
            if (selected := _selected_reading(text, state)) is not None:
                return meaning_of(selected)
            reading = parse(text, vocabulary(languages()[0]).notes, self.actions())
            if reading is not None:
                reading = replace(reading, language=_language_for_notation(reading, state))
            if reading is not None and len(reading.steps) > 1 and any(map(is_outcome, reading.steps)):
                return Reply("", understood=False)
            if reading is not None:
                # The name of a missing note must not select all notes.
                missing = next((notes.unknown for notes in note_sets_of(reading) if notes.unknown), "")
                if missing:
                    return Reply(_NO_SUCH_NOTE.format(missing))
                for step in reading.steps:
                    needs = self.actions()[step.action].needs
                    lacking = next((role for role in needs if role not in (*step.arguments, "target")), "")
                    if lacking:
                        return Reply(_LACKS_VALUE.format(step.action, lacking))
                return meaning_of(reading)
        now = self._now().replace(second=0, microsecond=0)
        state = self._state_for(text, state)
        context = RequestContext(state, vocabulary, self.actions(), now)
        return self._interpreter.interpret(text, context, guesses=guesses)

    def _state_for(self, text: str, state: DialogState) -> DialogState:
        """Return the state in which a request is read, depending on whether it has a pronoun for a note."""
        return state if self._interpreter.has_pronoun(text) else state.about_subject()

    async def compare_with_vault(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return the interpretation of a request, revised according to the vault.

        If a guess finds nothing, the request is interpreted without guesses. In a question, options that do
        the same are merged into the likeliest one; unusual changes, and then options without an effect, come
        last; changes without one, or with a step that another one overwrites, are left out. If the first
        option changes nothing, it is returned instead of the question, provided that it is the only one or
        likely enough after the merge. A change runs if all options of a likely question mean it. Properties
        have the names that the request gives them. A question about one note may be answered by one of its
        properties. If a request reschedules a task of a note without open tasks, the days in the note's
        properties are offered. A change in doubt becomes a question. Several orders in one request are
        compared one by one, and no reading drops one of them. Other interpretations stay unchanged.
        """
        if facts := self._joined_facts(interpretation, text, state):
            return facts
        is_split, joined = await self._join_orders(interpretation, text, state)
        if joined is not None:
            return joined
        compared = await self._compare_with_vault(interpretation, text, state)
        request = self._request_of(text, state)
        kept = without_dropped_orders(request, compared)
        if is_split or (isinstance(compared, Reading) and drops_change(request, compared)):
            return kept
        return kept if isinstance(compared, Clarification) and isinstance(kept, Clarification) else compared

    def _joined_facts(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation | None:
        """Return the answer to two questions about properties of one note; None for other requests."""
        is_question = question_language(text, languages()) is not None
        if self._properties_of is None or _is_settled(interpretation, text, state) or not is_question:
            return None
        state = self._state_for(text, state)
        for first, second in split_questions(self._request_of(text, state)):
            parts = (self._request_of(first, state), self._request_of(second, state))
            if joined := join_facts(parts, self._properties_of, state):
                return joined
        return None

    async def _join_orders(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> tuple[bool, Interpretation | None]:
        """Return the interpretation of a request for several changes, each interpreted by itself.

        The first result is False for other requests. The second one is None for them, and if only some of the
        changes are understood.
        """
        is_settled = _is_settled(interpretation, text, state) or text.lstrip().startswith(PREFIX)
        if self._find_notes is None or is_settled:
            return False, None
        request, is_split = self._request_of(text, state), False
        orders = list(split_orders(request))
        is_verbless = not orders and (
            isinstance(interpretation, Clarification) or is_task_with_conjunction(request, interpretation)
        )
        if is_verbless:
            orders = list(verbless_orders(request))
        for first, rest in orders:
            head = await self._compare_with_vault(self.interpret(first, state), first, state)
            if isinstance(head, Clarification) and set(first) & set(",;.:"):
                continue  # more than an order
            changes = options_of_changes(head, self.actions())
            is_split = is_split or (bool(changes) and not is_verbless)
            changes = changes or shown_notes(head)
            joined: list[Interpretation] = []
            for change in changes:
                after = state_after(state, change.reading, await self._with_found_notes(change.reading))
                if after is None:
                    break
                tail = await self.compare_with_vault(self.interpret(rest, after), rest, after)
                if (both := join_orders(change.reading, tail, after, self.actions())) is None:
                    break
                if isinstance(both, Clarification) and not both.options and isinstance(head, Clarification):
                    break  # the answer would not be about the first order
                joined.append(both)
                if isinstance(both, Clarification) and len(both.options) > 1 < len(changes):
                    break
            if len(joined) == len(changes) > 0:
                whole = joined[0] if isinstance(head, Reading) else join_questions(joined)
                if isinstance(whole, Reading) and not _is_confirmed(whole, interpretation):
                    option = ClarificationOption(serialize(whole), whole)
                    whole = Clarification(question_about((option,)), (option,))
                if isinstance(whole, Clarification):
                    whole = with_unsplit_reading(request, whole, interpretation)
                if is_verbless and isinstance(whole, Clarification) and whole.options:
                    others = interpretation.options if isinstance(interpretation, Clarification) else ()
                    options = (*whole.options, *others)[:MAX_OPTIONS]
                    whole = replace(whole, question=question_about(options), options=options)
                return True, whole
        return is_split, None

    async def _compare_with_vault(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return the interpretation of one order, revised according to the vault."""
        state = self._state_for(text, state)
        interpretation = self._with_fact(interpretation, text, state)
        if self._find_notes is None:
            return interpretation
        phrase = phrase_search(self._request_of(text, state), interpretation)
        if phrase is not None and not _finds_nothing(phrase, await self._with_found_notes(phrase)):
            return phrase
        interpretation = await self._with_described_task(interpretation, text, state)
        interpretation = await self._with_date_changes(interpretation, text, state)
        interpretation = self._with_property_changes(interpretation, text, state)
        interpretation = self._with_stated_values(interpretation, text, state)
        if isinstance(interpretation, Reading) and self._properties_of is not None:
            is_chosen = _is_chosen(interpretation, text, state)
            request = self._request_of(text, state)
            if not is_chosen:
                interpretation = with_stated_dates(request, interpretation, self._properties_of)
                interpretation = await self._by_day_names(request, interpretation)
                if asks_for_newest(request, interpretation):
                    notes = (await self._with_found_notes(interpretation)).last.target
                    paths = (notes.notes if notes is not None else ()) or state.them
                    interpretation = by_age(interpretation, paths, self._properties_of)
        finds_nothing = False
        if isinstance(interpretation, Reading) and interpretation.score == GUESS_SCORE:
            if not _finds_nothing(interpretation, await self._with_found_notes(interpretation)):
                return interpretation
            plain = self._interpret(text, state, self._vocabulary_of(self._words()), guesses=False)
            interpretation = self._with_fact(plain, text, state)
            finds_nothing = True
        ranker = OptionRanker(text, self._words(), self._with_hits, self._properties_of)
        if isinstance(interpretation, Reading):
            interpretation = await self._ask_in_doubt(interpretation, text, state, ranker)
        if not isinstance(interpretation, Clarification):
            return interpretation
        interpretation = self._without_other_facts(interpretation, text, state)
        if [option.reading.last.action for option in interpretation.options] == ["question"]:
            return meaning_of(interpretation.options[0].reading)
        interpretation = _without_self_relations(self._without_deletions(interpretation, text, state))
        options: dict[str, ClarificationOption] = {}
        shares: dict[str, float] = {}
        ranks: dict[str, int] = {}
        for option in (*interpretation.options, *interpretation.spare):
            found = await self._with_listed_hits(state, option.reading)
            undone = undone_changes(option.reading, state.changes)
            meaning = f"undo {[own.entry for own in undone]}" if undone else meaning_key(found)
            options.setdefault(meaning, option)
            shares[meaning] = shares.get(meaning, 0.0) + option.share
            is_useless = _finds_nothing(option.reading, found) or undoes_nothing(
                option.reading, state.changes
            )
            ranks[meaning] = USELESS if is_useless else await ranker.rank(found)
        likeliest = max((share for key, share in shares.items() if ranks[key] != USELESS), default=0.0)
        if finds_nothing and likeliest < MIN_FALLBACK_PROBABILITY:
            return Reply("", understood=False)
        options = {meaning: options[meaning] for meaning in sorted(options, key=ranks.__getitem__)}
        # No option changes 0 notes, or has a step that another one overwrites.
        meant = tuple(
            option
            for meaning, option in options.items()
            if (ranks[meaning] != USELESS or not self._is_change(option.reading))
            and not overwrites_itself(option.reading)
        )
        offered = tuple(options.values())[:MAX_OPTIONS]
        shown = meant[:MAX_OPTIONS] or offered
        if not offered or shown == interpretation.options:
            return interpretation
        if offered == interpretation.options:
            return replace(interpretation, question=question_about(shown), options=shown, spare=())
        reading = offered[0].reading
        share = shares[next(iter(options))]
        is_change = self._is_change(reading)
        if not is_change and (len(offered) == 1 or share >= MIN_SHARED_MEANING_PROBABILITY):
            return meaning_of(reading)
        is_same = len(offered) == 1 < len(interpretation.options) and share >= MIN_RUN_PROBABILITY
        is_same = is_same and reading.last.action != "undo"  # which change is meant is the question
        if is_change and is_same and accounts_for_all(self._request_of(text, state), reading):
            return await self._ask_in_doubt(reading, text, state, ranker)
        return replace(interpretation, question=question_about(shown), options=shown, spare=())

    async def _by_day_names(self, request: Request, reading: Reading) -> Reading:
        """Return a search for the notes of a period by their names if none was changed in that period."""
        if not asks_for_period(request, reading):
            return reading
        if not _finds_nothing(reading, await self._with_found_notes(reading)):
            return reading
        named = by_day_names(request, reading)
        return (
            reading if named is None or _finds_nothing(named, await self._with_found_notes(named)) else named
        )

    async def _with_described_task(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return a question with the change of a task that contains the described words, or the change alone.

        "Mark list supported browsers as done" means a task with exactly this text. Other words, or the name
        of a note, may also be about something else, so the task is one of the options.
        """
        if not isinstance(interpretation, Clarification) or not interpretation.options:
            return interpretation
        request = self._request_of(text, state)
        for change in described_tasks(request):
            words = str(change.last.arguments["query"])
            field = field_of_tasks(change.last.action)
            if note := await self._note_of_tasks(field, named_parts(words, request.language), state):
                return replace(change, steps=(replace(change.last, target=NoteSet(notes=(note,))),))
            found = (await self._with_hits(NoteSet(query=f"{field}:{quote_text(words)}"))).notes
            exact = await self._notes_with_task(field, words) if found else ()
            here = tuple(path for path in (*state.it, *state.this) if path in found)
            has_words = len(words.split()) > 1 and not resembles_note(request, words)
            if not (found and (has_words or here)):
                continue
            named = tuple(path for path in here if path in exact)[:1] or (exact if len(exact) == 1 else ())
            is_task = has_words and bool(named) and not (here and here[:1] != named)
            notes = (named if is_task else here[:1]) or (found if len(found) == 1 else ())
            step = replace(change.last, target=NoteSet(notes=notes) if notes else None)
            meant = replace(change, steps=(step,))
            if is_task:
                return meant
            options = (ClarificationOption(serialize(meant), meant), *interpretation.options)[:MAX_OPTIONS]
            return replace(interpretation, question=question_about(options), options=options)
        return interpretation

    async def _notes_with_task(self, field: str, words: str) -> tuple[str, ...]:
        """Return the notes with a task of exactly these words, perhaps with dates and tags after them."""
        plain = re.sub(r"[^\w ]", ".", words)
        return (await self._with_hits(NoteSet(query=rf"{field}:/^{plain}\s*([📅⏳🛫#].*)?$/"))).notes

    async def _note_of_tasks(self, field: str, parts: list[str], state: DialogState) -> str:
        """Return the note in focus, or else the only one, that has each of several tasks; "" without one."""
        if len(parts) < 2:
            return ""
        notes = [set(await self._notes_with_task(field, part)) for part in parts]
        common = set.intersection(*notes)
        here = next((path for path in (*state.it, *state.this) if path in common), "")
        return here or (common.pop() if len(common) == 1 else "")

    def _without_other_facts(
        self, clarification: Clarification, text: str, state: DialogState
    ) -> Clarification:
        """Return a question without properties that are no answer; it then offers one from the notes."""
        offered = clarification.options + clarification.spare
        actions = {option.reading.last.action for option in offered}
        is_question = question_language(text, languages()) is not None
        if self._properties_of is None or not is_question or not actions & _QUESTION_ACTIONS:
            return clarification
        request = self._request_of(text, state)
        before = [option.reading for option in state.question.options] if state.question is not None else []
        before += [state.last] if state.last is not None else []
        asked = {reading.last.arguments.get("about") for reading in before}  # "and the last one?"

        def is_answer(option: ClarificationOption) -> bool:
            step = option.reading.last
            is_fact = step.action == "properties_of" and "about" in step.arguments
            if not is_fact or step.target is None or step.arguments["about"] in asked:
                return True
            about, notes = str(step.arguments["about"]), step.target.notes
            properties = self._properties_of(notes[0]) if self._properties_of and len(notes) == 1 else {}
            value = {name_key(name): value for name, value in properties.items()}.get(name_key(about))
            return len(notes) != 1 or may_answer(request, about, value)

        kept = [option for option in offered if is_answer(option)]
        if len(kept) == len(offered):
            return clarification
        if "question" not in actions and len(kept) < MAX_OPTIONS:
            step = PipelineStep("question", None, {"query": text})
            other = Reading((step,), 1.0, language=request.language.code)
            kept.append(ClarificationOption(serialize(other), other))
        return with_options(clarification, kept)

    def _without_deletions(
        self, clarification: Clarification, text: str, state: DialogState
    ) -> Clarification:
        """Return the question without deletions, unless the request mentions or continues one.

        "Delete the task X" is about a line, not about its note. "Delete the daily note of March 3" is not
        about the note on the screen.
        """
        request = self._request_of(text, state)
        has_date = any(mention.kind == "date" for mention in request.mentions(request.tokens))
        if has_date and len(clarification.options) > 1:
            unnamed = PipelineStep("delete", NoteSet(notes=state.this[:1]))
            named = [option for option in clarification.options if option.reading.steps != (unnamed,)]
            clarification = replace(clarification, question=question_about(named), options=tuple(named))
        offered = clarification.options + clarification.spare
        kept = [option for option in offered if option.reading.last.action != "delete"]
        if len(kept) in (0, len(offered)):
            return clarification
        question = state.question
        before = [state.last, question.partial if question is not None else None]
        before += [option.reading for option in question.options] if question is not None else []
        continues = any(reading is not None and reading.last.action == "delete" for reading in before)
        language = self._interpreter.language_of(text, state)
        is_of_line = says_line(language, tokenize(text, language.contractions))
        if not is_of_line and (continues or _says_deletion(text, language)):
            return clarification
        return with_options(clarification, kept)

    async def _ask_in_doubt(
        self, reading: Reading, text: str, state: DialogState, ranker: OptionRanker
    ) -> Interpretation:
        """Return a question instead of a change that is in doubt, has no effect or sets an unusual value."""
        if not self._is_change(reading) or self._properties_of is None or _is_chosen(reading, text, state):
            return reading
        request = self._request_of(text, state)
        found = await self._with_found_notes(reading)
        doubts = ChangeDoubts(request, reading, found, self._properties_of, self._words().templates)
        is_doubtful = doubts.means_others or doubts.is_in_doubt
        offered = state.question.options if state.question is not None else ()
        before: list[Reading | None] = [option.reading for option in offered]
        before = before or [state.last]
        # A correction keeps the notes of the last change, even if they lack the property.
        is_settled = any(
            (known.last.action, known.last.target) == (reading.last.action, reading.last.target)
            for known in before
            if known is not None
        )
        others = doubts.other_changes()
        if not is_doubtful and (doubts.names_notes or is_settled or await ranker.is_plausible(found)):
            preferred = await preferred_reading(request, reading, partial(self._with_listed_hits, state))
            if preferred is None:
                return reading
            others = [preferred, *others]
        if others and doubts.links_note_to_itself:
            changes = tuple(others)
        else:
            changes = (*others, reading) if doubts.means_others else (reading, *others)
        options = tuple(ClarificationOption(serialize(change), change) for change in changes)
        return Clarification(question_about(options), options)

    async def _with_date_changes(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Offer to change a date property if a request reschedules a task of a note without open tasks.

        Offer to reschedule the task of the last request if a request sets the due date of its note.
        """
        if self._properties_of is None or not isinstance(interpretation, Reading | Clarification):
            return interpretation
        offered = (
            (ClarificationOption(serialize(interpretation), interpretation),)
            if isinstance(interpretation, Reading)
            else interpretation.options
        )
        is_chosen = isinstance(interpretation, Reading) and _is_chosen(interpretation, text, state)
        options: list[ClarificationOption] = []
        for option in offered:
            note = rescheduled_note(option.reading, state.it)
            has_tasks = not note or await self._has_open_tasks(note)
            changes = self._date_changes(option.reading, note, text) if note else []
            if has_tasks and not (changes and self._names_day(text, state, note)):
                changes = []
            task = None if is_chosen else task_of_date(option.reading, state)
            changes = [*changes, *([task] if task is not None else [])]
            options += [ClarificationOption(serialize(change), change, option.share) for change in changes]
            if has_tasks or task is not None or not changes:
                options.append(option)
        if options == list(offered):
            return interpretation
        options = options[:MAX_OPTIONS]
        if isinstance(interpretation, Clarification):
            return replace(interpretation, question=question_about(options), options=tuple(options))
        return Clarification(question_about(options), tuple(options))

    def _with_property_changes(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return an interpretation that sets properties as the request names them, and keeps other values."""
        if self._properties_of is None or not isinstance(interpretation, Reading | Clarification):
            return interpretation
        if isinstance(interpretation, Reading) and _is_chosen(interpretation, text, state):
            return interpretation
        changes = PropertyChanges(self._request_of(text, state), self._properties_of)
        return _with_alternatives(interpretation, changes.alternatives)

    def _with_stated_values(
        self, interpretation: Interpretation, text: str, state: DialogState
    ) -> Interpretation:
        """Return an interpretation with the other values that its changes may mean: sums, lists and days."""
        if self._properties_of is None or not isinstance(interpretation, Reading | Clarification):
            return interpretation
        if isinstance(interpretation, Reading) and _is_option(interpretation, text, state):
            return interpretation
        values = StatedValues(self._request_of(text, state), self._properties_of, self._words())
        return _with_alternatives(interpretation, values.alternatives, likelier_first=True)

    def _request_of(self, text: str, state: DialogState) -> Request:
        """Return a request in its likeliest language."""
        now = self._now().replace(second=0, microsecond=0)
        vocabulary = self._vocabulary_of(self._words())
        return self._interpreter.request_of(text, RequestContext(state, vocabulary, self.actions(), now))

    async def _has_open_tasks(self, note: str) -> bool:
        # The path makes the search fast.
        query = f'{TASK_FIELDS["open"]}:"" path:{quote_text(note)}'
        tasks = await self._with_hits(NoteSet(query=query, notes=(note,)))
        return bool(tasks.query or tasks.notes)

    def _names_day(self, text: str, state: DialogState, note: str) -> bool:
        """Return whether a request names a note or a property, but no task: the day may be the note's own."""
        request = self._request_of(text, state)
        said = SaidWords(request, Reading((), 1.0))
        says_task = not request.language.words("task_nouns").isdisjoint(token.key for token in request.tokens)
        says_property = any(mention.kind == "prop" for mention in said.mentions)
        return not says_task and (says_property or said.names(NoteSet(notes=(note,))))

    def _date_changes(self, reading: Reading, note: str, text: str) -> list[Reading]:
        """Return changes of the days in a note's properties."""
        if self._properties_of is None:
            return []
        due = {name for language in languages() for name in language.words("due_properties")}
        return date_changes(reading, note, self._properties_of(note), text, due)

    def _with_fact(self, interpretation: Interpretation, text: str, state: DialogState) -> Interpretation:
        """Answer the question with a property of the note, or offer it as an option, if one fits."""
        is_understood = isinstance(interpretation, Reply) and interpretation.understood
        if self._properties_of is None or is_understood or isinstance(interpretation, ModelRequired):
            return interpretation
        if isinstance(interpretation, Reading) and not _asks_for_missing(interpretation, self._properties_of):
            return interpretation
        offered = interpretation.options if isinstance(interpretation, Clarification) else ()
        actions = {option.reading.last.action for option in offered}
        if isinstance(interpretation, Clarification) and not actions & _QUESTION_ACTIONS:
            return interpretation
        fact = find_fact(self._request_of(text, state), self._properties_of)
        if fact is None:
            return interpretation
        if isinstance(interpretation, Reading):
            # "When was it published?" means `published` in a note without the more common `year`.
            is_same_note = fact.is_named and fact.reading.last.target == interpretation.last.target
            return fact.reading if is_same_note else interpretation
        if fact.is_named and not offered:
            return fact.reading
        if not offered and isinstance(interpretation, ContentQuestion):
            step = PipelineStep("question", None, {"query": text})
            other = Reading((step,), fact.reading.score, language=fact.reading.language)
            offered = (ClarificationOption(serialize(other), other),)
        option = ClarificationOption(serialize(fact.reading), fact.reading)
        others = [known for known in offered if not have_same_meaning(known.reading, fact.reading)]
        options = (option, *others)[:MAX_OPTIONS]
        return Clarification(question_about(options), options)

    async def _with_listed_hits(self, state: DialogState, reading: Reading) -> Reading:
        """Return the reading with the listed notes in place of "these", and the found ones for searches."""
        return await self._with_found_notes(_with_listed_notes(reading, state))

    async def _with_found_notes(self, reading: Reading) -> Reading:
        """Return the reading with the found notes in place of its searches."""
        steps = [
            step if step.target is None else replace(step, target=await self._with_hits(step.target))
            for step in reading.steps
        ]
        return replace(reading, steps=tuple(steps))

    async def _with_hits(self, notes: NoteSet) -> NoteSet:
        """Return a note set with the hits in place of its search, or the set itself if the search fails."""
        if not notes.query or self._find_notes is None:
            return notes
        try:
            paths = {str(path) for path in await self._find_notes(f"{notes.query} ")}
        except (QueryError, TimeoutExpiredError):
            return notes
        kept = paths & set(notes.notes) if notes.notes else paths
        return replace(notes, query="", notes=tuple(sorted(kept)))

    def _public_names(self) -> tuple[VaultWords, Resolver]:
        return self._public_words(), self._public_resolver()

    def _vocabulary_of(
        self, words: VaultWords, resolver: Resolver | None = None
    ) -> Callable[[Language], Vocabulary]:
        def vocabulary(language: Language) -> Vocabulary:
            return Vocabulary(
                self._resolver if resolver is None else resolver,
                words,
                language.data.get("plurals", ()),
                language.table("types"),
                language.table("nouns"),
            )

        return vocabulary

    def is_content_question(self, text: str) -> bool:
        """Return whether a request is a question about the content of the notes."""
        is_question = question_language(text, languages()) is not None
        return is_question and isinstance(self.interpret(text, DialogState()), ContentQuestion)

    def state(self, turn: Turn) -> DialogState:
        """Return the dialog state of the turn's conversation, with the turn's open and attached notes."""
        state = self._states.get(_state_key(turn), DialogState())
        return state.with_notes(turn.prompt.open_note, turn.prompt.notes)

    @cached_property
    def _tool_actions(self) -> tuple[Mapping[str, Action], tuple[ActionFrame, ...]]:
        return tool_frames(self._registry.all_tools())

    def actions(self) -> Mapping[str, Action]:
        """Return the actions whose tools are available and turned on, by id."""
        all_actions = {**ACTIONS, **self._tool_actions[0]}
        return {
            action.id: action
            for action in all_actions.values()
            if not action.tool or self._is_on(action.tool)
        }

    def _is_change(self, reading: Reading) -> bool:
        return any(self.actions()[step.action].writes for step in reading.steps)

    def _is_on(self, tool: str) -> bool:
        try:
            return self._registry.category(self._registry.get(tool).category).on
        except NotFoundError:
            return False

    async def _carry_out(self, turn: Turn, reading: Reading, state: DialogState) -> None:
        if reading.steps[0].action == "help":
            turn.say(localize(HELP, _language_of(reading)))
            return
        words = self._words
        if turn.caller.uses_model:
            # A model must not learn the names of hidden notes.
            words = self._public_words
            resolver = await asyncio.to_thread(self._public_resolver)
            reading = _with_known_values(reading, Vocabulary(resolver, words()))
        chips = reading_chips(reading)
        if turn.prompt.mode != "propose" and self._is_change(reading):
            message = _READ_ONLY_MESSAGE.format(" · ".join(chip.label for chip in chips))
            turn.say(localize(message, self._interpreter.language_of(turn.prompt.text, state)))
            return
        turn.show_reading(tuple(map(_reading_chip, chips)))
        language = _language_of(reading)
        # A model must not learn what hidden notes contain.
        find_notes = None if turn.caller.uses_model else self._find_notes
        request = self._request_of(turn.prompt.text, state)
        pipeline = Pipeline(
            turn,
            self._registry,
            language,
            state,
            self._changes_today,
            self.actions(),
            words,
            find_notes,
            self._now,
            self._properties_of,
            gives_only_day=_gives_only_day(request, reading),
            quoted=[token.value for token in request.tokens if token.kind == "quoted"],
        )
        next_state = await pipeline.run(reading)
        self._states[_state_key(turn)] = next_state
        if next_state.question is not None:
            await self._ask(turn, next_state.question, language)

    async def _ask(self, turn: Turn, clarification: Clarification, language: Language) -> None:
        options = clarification.options
        changes = self.state(turn).changes
        labels = [
            describe_undo(option.reading, changes) or label
            for option, label in zip(
                options, describe_readings([option.reading for option in options]), strict=True
            )
        ]
        choices = []
        for option, label in zip(options, labels, strict=True):
            notation = serialize(option.reading)
            # Some options have a label other than their notation: the path of a note, or words around a text.
            own_label = option.label if option.label != notation else label
            # A model must not learn how many hidden notes a change is about.
            if extent := "" if turn.caller.uses_model else await self._extent(option.reading):
                own_label = f"{own_label} · {localize(extent, language)}"
            choices.append(AnswerChoice(label=own_label, reply=f"{PREFIX} {notation}"))
        turn.ask(localize(clarification.question, language), tuple(choices))

    async def _extent(self, reading: Reading) -> str:
        """Return how many notes of a search a change is about, and how many of them are in subfolders.

        Return an empty text for other readings.
        """
        target = reading.steps[0].target
        is_change = self.actions()[reading.steps[0].action].writes
        if not is_change or target is None or not target.query or target.notes or self._find_notes is None:
            return ""
        found = await self._with_hits(target)
        if found.query:
            return ""  # the search failed
        folders = {(quoted or plain).casefold() for quoted, plain in _SEARCHED_FOLDER.findall(target.query)}
        parents = [f"{path.rpartition('/')[0]}/".casefold() for path in found.notes]
        below = sum(parent not in folders and parent.startswith(tuple(folders)) for parent in parents)
        count = pluralize(len(found.notes), "note")
        return f"{count}, {below:,} in subfolders" if below else count

    def _say_model_required(self, turn: Turn, required: ModelRequired, language: Language) -> None:
        work = localize(required.work, language)
        text = (
            f"{work} needs a language model, and the built-in agent works without one. Use a model on this"
            " computer (Ollama, LM Studio, llama.cpp) or a service for which you have a key."
        )
        turn.ask(
            localize(text, language),
            (AnswerChoice(label="Set up a model…", reply="", action=SET_UP_MODEL),),
        )

    async def _answer_from_notes(
        self, turn: Turn, question: ContentQuestion, state: DialogState, language: Language
    ) -> None:
        """Show the passages that answer a question about the notes, or report that none does."""
        if not self._is_on("find_passages"):
            turn.say(localize(_NOT_UNDERSTOOD, language))
            return
        resolver = self._resolver
        if turn.caller.uses_model:
            resolver = await asyncio.to_thread(self._public_resolver)
        request = self._question_request(question.text, state, resolver)
        source, asked = source_note(request)
        listed, asked_of_list = listed_source(request)
        text = asked or asked_of_list or with_topic_of(question.text, state.asked, languages())
        subject, before = self._named_note(text, resolver), state.subject if state.asked else state.focus
        if not subject and before and text == question.text:
            text = with_name_for_pronouns(text, NotePath.on_disk(before[0]).name, languages())
            is_about_it = text != question.text or self._continues(text, state, language, resolver)
            subject = before if is_about_it else ()
        if source:
            text = with_name_for_pronouns(asked, NotePath.on_disk(source).name, languages())
            subject = (source,)
        only = (source,) if source else listed
        if not only and subject and text != question.text and not state.asked:
            only = subject[:1]  # "how long does it bake?"
        arguments = {"question": text, "limit": MAX_PASSAGES, **({"notes": [*only]} if only else {})}
        outcome = await turn.call("find_passages", arguments)
        if (
            only
            and only == subject[:1]
            and not source
            and not (outcome.success and outcome.result["answered"])
        ):
            # The question is about this note, but the answer may be in another one.
            arguments = {"question": text, "limit": MAX_PASSAGES}
            outcome = await turn.call("find_passages", arguments)
            outcome = _with_passages_of(outcome, only[0])
        if outcome.success and question.needs_model and not outcome.result["answered"]:
            self._say_model_required(turn, question.needs_model, language)
            self._states[_state_key(turn)] = replace(state, question=None, focus=subject, is_lost=not subject)
            return
        defined = defined_note(request)
        is_known = outcome.success and bool(defined) and self._is_on("get_metadata")
        if is_known and not _quotes(outcome.result, defined):
            # Only properties of other notes mention the name: what this note states says more.
            about = Reading(
                (PipelineStep("properties_of", NoteSet(notes=(defined,))),), 1.0, language=language.code
            )
            await self._carry_out(turn, about, state)
            return
        answer = format_outcome(AnsweredCall("find_passages", arguments), outcome)
        is_foreign = language.code != _ENGLISH or is_unspaced_sentence(text)
        if outcome.success and not outcome.result["answered"] and is_foreign and self._is_english_only():
            answer = f"{answer}\n\n{_ONLY_ENGLISH}"
        turn.say(localize(answer, language))
        passages = shown_passages(outcome.result) if outcome.success else []
        paths = tuple(dict.fromkeys(str(passage["path"]) for passage in passages))
        # "Open that" means the note of the first passage, "when was he born?" still the one asked about.
        focus = subject if not paths or set(subject) & set(paths) else paths[:1]
        last_reading = Reading((PipelineStep("find", NoteSet(notes=paths)),), 1.0) if paths else state.last
        self._states[_state_key(turn)] = replace(
            state,
            results=paths or state.results,
            rest=(),
            asked=text,
            subject=subject or (paths if len(paths) == 1 else ()),
            question=None,
            focus=focus,
            is_lost=not focus,
            last=last_reading,
        )

    def _continues(self, text: str, state: DialogState, language: Language, resolver: Resolver) -> bool:
        """Return whether a question without names is about the note in focus: "and how many last year?"."""
        request = self._question_request(text, state, resolver)
        if any(mention.kind == "note" for mention in request.mentions(request.tokens)):
            return False
        words = [token for token in request.tokens if token.is_word]
        refers = any(language.match_prefix(words, at, "it") > at for at in range(len(words)))
        return refers or len(words) <= _MAX_CONTINUATION_WORDS

    def _question_request(self, text: str, state: DialogState, resolver: Resolver) -> Request:
        """Return a question as a request that knows only the names of notes."""
        now = self._now().replace(second=0, microsecond=0)
        vocabulary = self._vocabulary_of(VaultWords(), resolver)
        return self._interpreter.request_of(text, RequestContext(state, vocabulary, self.actions(), now))

    def _named_note(self, text: str, resolver: Resolver) -> tuple[str, ...]:
        """Return the note that a question names; empty if it names none or several."""
        words = text.strip(" ?.!").split()
        matches: set[str] = set()
        for length in range(min(len(words), _MAX_NAME_WORDS), 0, -1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length]).strip('",;:?!“”')
                paths = [str(path) for path in resolver.resolve(name, None).candidates if path.is_note]
                if paths and (length > 1 or name[:1].isupper()):
                    matches.update(paths)
            if matches:
                break
        return tuple(matches) if len(matches) == 1 else ()


def _quotes(result: Mapping[str, Any], path: str) -> bool:
    """Return whether an answer quotes the note at `path`, or more than a property of another one."""
    passages = shown_passages(result)
    return any(passage["path"] == path or not _PROPERTY.match(passage["source"]) for passage in passages)


def _is_confirmed(joined: Reading, unsplit: Interpretation) -> bool:
    """Return whether several orders mean the same as the request before it was split.

    On unseen requests, three of eight plans that ran without this were wrong.
    """
    return isinstance(unsplit, Reading) and have_same_meaning(joined, unsplit)


def _without_self_relations(clarification: Clarification) -> Clarification:
    """Return the question without changes that relate a note to itself, or one about the other note."""
    offered = clarification.options + clarification.spare
    kept = [option for option in offered if not any(map(joins_note_with_itself, option.reading.steps))]
    if len(kept) == len(offered):
        return clarification
    first = offered[0].reading
    others = {option.reading.last.action for option in kept}
    if len(first.steps) == 1 and offered[0] not in kept and first.last.action not in others:
        role = next(role for role in NOTE_ROLES[1:] if role in first.last.arguments)
        values = {name: value for name, value in first.last.arguments.items() if name != role}
        partial = replace(first, steps=(replace(first.last, arguments=values),), missing=role)
        return Clarification(question_for(partial), (), partial)
    if not kept:
        return clarification
    return with_options(clarification, kept)


def _says_deletion(text: str, language: Language) -> bool:
    """Return whether a text has a word for a deletion, perhaps misspelled."""
    deletions = {word for name in ("deletions", "removals") for word in language.table("doubts")[name]}
    known = language.vocabulary() | language.function_words()
    return any(
        word in deletions or (word not in known and correct_spelling(word, deletions))
        for word in WORD.findall(text.casefold())
    )


def reply_text(reply: Reply) -> str:
    """Return the text of a reply, in English."""
    return _REPLIES.get(reply.text, reply.text or _NOT_UNDERSTOOD)


def _language_of(reading: Reading) -> Language:
    return next(language for language in languages() if language.code == reading.language)


def _language_for_notation(reading: Reading, state: DialogState) -> str:
    """Return the language of a reading in the app's notation, which has none of its own.

    That is the language of the option that does the same, or else of the request before it, whose chips it
    may come from.
    """
    options = state.question.options if state.question is not None else ()
    same = (option.reading for option in options if option.reading.has_same_steps(reading))
    before = next(same, state.last)
    return before.language if before is not None else reading.language


def _selected_reading(text: str, state: DialogState) -> Reading | None:
    """Return the option of the open question that a request in the app's notation selects, or None.

    An option may name notes that only its first step restores.
    """
    options = state.question.options if state.question is not None else ()
    notation = text.strip().removeprefix(PREFIX).strip()
    selected = (option.reading for option in options if serialize(option.reading) == notation)
    return next((Reading(own.steps, 1.0, language=own.language) for own in selected), None)


def _reading_chip(chip: Chip) -> ReadingChip:
    return ReadingChip(
        label=chip.label,
        without=chip.without,
        value=chip.value,
        change=chip.change,
        value_kind=chip.kind,
        lead=chip.lead,
    )


def _state_key(turn: Turn) -> tuple[str, str]:
    return turn.conversation, turn.agent


def _with_known_values(reading: Reading, vocabulary: Vocabulary) -> Reading:
    """Return a reading with the links that the texts of its properties mean in the vault."""
    language = _language_of(reading)

    def known(key: str, value: object) -> object:
        is_text = isinstance(value, str) and bool(value)
        return linked_value(vocabulary, language, key, str(value)) if is_text else value

    def with_value(step: PipelineStep) -> PipelineStep:
        if step.action != "set_property" or "value" not in step.arguments:
            return step
        key, value = str(step.arguments.get("key")), step.arguments["value"]
        items = tuple(known(key, item) for item in value) if isinstance(value, tuple) else known(key, value)
        return step.with_argument("value", items)

    return replace(reading, steps=tuple(map(with_value, reading.steps)))


def _with_passages_of(outcome: ToolOutcome, path: str) -> ToolOutcome:
    """Return found passages without those of other notes if some are in the note at a path."""
    found = outcome.result.get("passages", ()) if outcome.success else ()
    own = [passage for passage in shown_passages(outcome.result) if passage["path"] == path] if found else []
    return replace(outcome, result={**outcome.result, "passages": own}) if own else outcome


def _asks_for_missing(reading: Reading, properties_of: PropertiesOf) -> bool:
    """Return whether a reading shows only one property of one note, which lacks it."""
    step = reading.last
    if len(reading.steps) > 1 or step.action != "properties_of" or "about" not in step.arguments:
        return False
    about = str(step.arguments["about"])
    if about in FACTS or step.target is None or len(step.target.notes) != 1:
        return False
    return name_key(about) not in map(name_key, properties_of(step.target.notes[0]))


def _with_listed_notes(reading: Reading, state: DialogState) -> Reading:
    """Return a change with the listed notes in place of "these"."""
    first, *later = reading.steps
    target = first.target
    if target is None or not target.source or target.query or not state.them:
        return reading
    notes = NoteSet(notes=target.first_notes(state.them))
    return replace(reading, steps=(replace(first, target=notes), *later))


def _with_alternatives(
    interpretation: Reading | Clarification,
    alternatives: Callable[[Reading], Sequence[Reading]],
    *,
    likelier_first: bool = False,
) -> Interpretation:
    """Return an interpretation with the alternatives of its readings; several are a question.

    The likeliest alternative of each option comes before the others. With `likelier_first`, one that sets a
    property comes before all other options.
    """
    if isinstance(interpretation, Reading):
        readings = alternatives(interpretation)
        options = tuple(ClarificationOption(serialize(reading), reading) for reading in readings)
        return Clarification(question_about(options), options) if len(options) > 1 else readings[0]
    found = [(option, alternatives(option.reading)) for option in interpretation.options]
    if likelier_first:
        found.sort(key=lambda known: _order_of(known[0].reading, known[1][0]))
    first = [(option, readings[0]) for option, readings in found]
    literal = [(option, option.reading) for option, readings in found if option.reading in readings]
    others = [(option, reading) for option, readings in found for reading in readings[1:]]
    offered = {
        serialize(reading): option
        if reading == option.reading
        else ClarificationOption(serialize(reading), reading, option.share)
        for option, reading in reversed((*first, *literal, *others))
    }
    ordered = [*dict.fromkeys(serialize(reading) for _, reading in (*first, *literal, *others))]
    found_options = [offered[key] for key in ordered]
    if tuple(found_options) == interpretation.options:
        return interpretation
    # The words of the likeliest option stay an option.
    own = next((serialize(reading) for _, reading in literal), "")
    if own in ordered[MAX_OPTIONS:]:
        found_options.insert(MAX_OPTIONS - 1, found_options.pop(ordered.index(own)))
    shown, spare = tuple(found_options[:MAX_OPTIONS]), tuple(found_options[MAX_OPTIONS:])
    spare = (*spare, *interpretation.spare)
    return replace(interpretation, question=question_about(shown), options=shown, spare=spare)


def _gives_only_day(request: Request, reading: Reading) -> bool:
    """Return whether a request gives the new due date of a task by its day alone, without a month."""
    is_new_date = any(step.action == "reschedule_task" for step in reading.steps)
    return is_new_date and not request.text.lstrip().startswith(PREFIX) and gives_only_day(request)


def _order_of(reading: Reading, likelier: Reading) -> int:
    """Return the order of an option by its alternative: the longest list first."""
    if likelier == reading or likelier.last.action != "set_property":
        return 1
    value = likelier.last.arguments["value"]
    return -len(value) if isinstance(value, tuple) else 0


def _is_option(reading: Reading, text: str, state: DialogState) -> bool:
    """Return whether a reading is written in the notation, or is an option of the open question."""
    options = state.question.options if state.question is not None else ()
    return text.lstrip().startswith(PREFIX) or any(option.reading == reading for option in options)


def _is_chosen(reading: Reading, text: str, state: DialogState) -> bool:
    """Return whether a reading is written in the notation, or answers the open question."""
    partial = state.question.partial if state.question is not None else None
    is_completed = partial is not None and partial.last.action == reading.last.action
    return is_completed or _is_option(reading, text, state)


def _is_settled(interpretation: Interpretation, text: str, state: DialogState) -> bool:
    """Return whether an interpretation is a chosen reading, or a reply to a request that was understood."""
    if isinstance(interpretation, Reading):
        return _is_chosen(interpretation, text, state)
    return isinstance(interpretation, Reply) and interpretation.understood


def _finds_nothing(reading: Reading, found: Reading) -> bool:
    """Return whether a search of a reading finds nothing; `found` has its notes in place of searches."""
    return any(
        step.target is not None
        and step.target.query
        and found_step.target is not None
        and not (found_step.target.query or found_step.target.notes or found_step.target.source)
        for step, found_step in zip(reading.steps, found.steps, strict=True)
    )

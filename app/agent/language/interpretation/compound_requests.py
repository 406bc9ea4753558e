"""Split a request into several orders, and join their readings: "move it to Archive and tag it done".

Each order is interpreted separately, in the state of the conversation after the orders before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from app.agent.language.changes.new_folders import parse_move_to_new_folder
from app.agent.language.grammar.coverage import accounts_for_all
from app.agent.language.grammar.request import Request, without_marks_at_end, writes
from app.agent.language.grammar.said_words import WORD
from app.agent.language.meaning.actions import (
    CREATION_VALUES,
    FOLDER_ACTIONS,
    MOVING_ACTIONS,
    TASK_ACTIONS,
    Action,
)
from app.agent.language.meaning.clarifications import MAX_OPTIONS, question_about
from app.agent.language.meaning.dialog import NOTE_ROLES, DialogState
from app.agent.language.meaning.notation import serialize
from app.agent.language.meaning.readings import (
    Clarification,
    ClarificationOption,
    Interpretation,
    NoteSet,
    PipelineStep,
    Reading,
    Reply,
)
from app.agent.language.tasks.new_tasks import adds_tasks, tasks_of
from app.agent.language.words.lexicon import Language
from app.agent.language.words.tokens import Token, span_text

_LINK_UPDATES = (*MOVING_ACTIONS, *FOLDER_ACTIONS, "rename_heading", "merge")
"""The actions that update links."""
_MAX_SPLITS = 3


def split_orders(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a request into its first order and the others, the shortest first order first.

    A conjunction or a comma splits orders if a word that begins an order follows. Words after a colon are a
    text.
    """
    tokens, polite = request.tokens, {*request.language.table("doubts")["polite"]}
    for at, after in _split_points(request):
        rest = tokens[after:]
        if polite & {token.key for token in tokens[:at]}:
            rest = without_marks_at_end(rest)  # the question mark of "can you tag it and open it?"
        yield span_text(request.text, tokens[:at]), span_text(request.text, rest)


def verbless_orders(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a request whose later orders leave out the verb: "move A to X and B to Y".

    Both orders have the same word before a value. The others have the verb of the first one again, and its
    noun for a task in place of "one".
    """
    language, tokens = request.language, without_marks_at_end(request.tokens)
    table = language.table("compound_requests")
    cues = {*table["cues"]}
    verb = next((at for at in range(len(tokens)) if _begins_order(request, tokens, at)), len(tokens))
    colon = next((at for at, token in enumerate(tokens) if token.key == ":"), len(tokens))
    task_nouns = {*language.table("new_tasks")["one"]}
    for at in range(verb + 2, colon):
        after = at + 1 if tokens[at].key == "," else language.match_prefix(tokens, at, "and")
        if not at < after < colon or _begins_order(request, tokens, after):
            continue
        first, rest = tokens[verb + 1 : at], tokens[after:colon]
        shared = cues & {token.key for token in first[1:-1]} & {token.key for token in rest[1:-1]}
        starts = {first[0].key, rest[0].key}
        if not shared or starts & {*cues, *table["places"]}:
            continue
        text = span_text(request.text, rest)
        noun = next((token.value for token in first if token.key in task_nouns), "")
        one = next((token for token in rest if token.key == table["one"] and token.is_word), None)
        if noun and one is not None:
            text = f"{text[: one.start - rest[0].start]}{noun}{text[one.end - rest[0].start :]}"
        yield span_text(request.text, tokens[:at]), f"{tokens[verb].value} {text}"


def _split_points(request: Request) -> Iterator[tuple[int, int]]:
    """Yield the end of each first order and the start of the others."""
    if parse_move_to_new_folder(request, without_marks_at_end(request.tokens)):
        return  # one order
    tokens, splits = request.tokens, 0
    for at in range(1, len(tokens)):
        if tokens[at].key == ":" or splits == _MAX_SPLITS:
            return
        # After a mark, the conjunction begins with it.
        after = at if tokens[at - 1].kind == "mark" else _conjunction_end(request, tokens, at)
        if keeps_links(request.language, tokens, after):
            continue
        has_verb = any(_begins_order(request, tokens, before) for before in range(at))
        if has_verb and at < after < len(tokens) - 1 and _begins_order(request, tokens, after):
            splits += 1
            yield at, after


def keeps_links(language: Language, tokens: Sequence[Token], start: int) -> bool:
    """Return whether the tokens from `start` on ask for what a rename does anyway: "and fix the links"."""
    rest = without_marks_at_end(tuple(tokens[start:]))
    if not language.matches_phrase(rest, "compound_requests", "kept_links"):
        return False
    moves = [frame for frame in language.frames if frame.action in _LINK_UPDATES]
    return any(phrase.longest_match(tokens, at) for frame in moves for phrase in frame.say for at in range(3))


def _conjunction_end(request: Request, tokens: Sequence[Token], at: int) -> int:
    """Return the end of a conjunction, perhaps after a mark (", and then"), or `at` if there is none."""
    start = at + 1 if tokens[at].kind == "mark" and tokens[at].key in (",", ";", ".") else at
    return max(request.language.match_prefix(tokens, start, name) for name in ("then", "and"))


def _begins_order(request: Request, tokens: Sequence[Token], at: int) -> bool:
    language, key = request.language, tokens[at].key
    return key in language.verbs() and key not in language.table("compound_requests")["no_verbs"]


def state_after(dialog: DialogState, reading: Reading, found: Reading) -> DialogState | None:
    """Return the state of a conversation as it would be after a change; None if that is unknown.

    A note that would be created is the one in focus, with its likely path.

    Args:
        dialog: The state before.
        reading: The change.
        found: The same with the found notes in place of its searches.
    """
    keeps_tasks = all(step.action in TASK_ACTIONS for step in reading.steps)
    state = replace(dialog, question=None, values=(), asked="", tasks=dialog.tasks if keeps_tasks else ())
    for step, said_step in zip(found.steps, reading.steps, strict=True):
        is_search = said_step.target is not None and bool(said_step.target.query)
        if step.action == "create_note":
            created = (new_path(step),)
            new_notes = (*state.new_notes, *created)
            state = replace(state, focus=created, new_notes=new_notes, is_lost=False)
        elif step.action == "delete":
            state = replace(state, focus=(), is_lost=True)
        elif (notes := step.target) is not None:
            if notes.query or notes.source or notes.order or notes.pick:
                return None
            if len(notes.notes) == 1:
                state = replace(state, focus=notes.notes, is_lost=False)
            if len(notes.notes) > 1 or is_search:
                state = replace(state, results=notes.notes)
            if adds_tasks(step):
                state = replace(state, tasks=tasks_of(step, notes.notes))
    return state.after(reading, None)


def new_path(step: PipelineStep) -> str:
    """Return the likely path of the note that a step creates."""
    folder, name = (str(step.arguments.get(role, "")) for role in ("folder", "name"))
    return "/".join(part for part in (folder.strip("/"), f"{name}.md") if part)


def options_of_changes(
    interpretation: Interpretation, actions: Mapping[str, Action]
) -> tuple[ClarificationOption, ...]:
    """Return a reading as an option, or the options of a question; none unless all of them are changes."""
    if isinstance(interpretation, Reading):
        options: tuple[ClarificationOption, ...] = (_option(interpretation),)
    else:
        options = interpretation.options if isinstance(interpretation, Clarification) else ()
    steps = [step.action for option in options for step in option.reading.steps]
    return options if all(writes(actions, action) for action in steps) and "undo" not in steps else ()


def shown_notes(interpretation: Interpretation) -> tuple[ClarificationOption, ...]:
    """Return a reading that only shows known notes ("open H3") as an option; none for others."""
    is_shown = isinstance(interpretation, Reading) and all(map(_is_of_known_notes, interpretation.steps))
    return (_option(interpretation),) if isinstance(interpretation, Reading) and is_shown else ()


def join_orders(
    head: Reading, tail: Interpretation, state: DialogState, actions: Mapping[str, Action]
) -> Interpretation | None:
    """Return an order with those after it, one of which is a change; None if these are not understood.

    Args:
        head: The order.
        tail: The interpretation of the other orders; a question about them must be about changes.
        state: The state of the conversation after the order.
        actions: The available actions, by id.
    """
    is_change = any(writes(actions, step.action) for step in head.steps)
    if not is_change and not options_of_changes(tail, actions):
        return None
    if isinstance(tail, Reading):
        is_order = all(writes(actions, step.action) or _is_of_known_notes(step) for step in tail.steps)
        return _joined(head, tail, state) if is_order and tail.last.action != "undo" else None
    if isinstance(tail, Clarification) and tail.partial is not None and not tail.options:
        # The answer completes the last order.
        is_order = all(writes(actions, step.action) for step in tail.partial.steps)
        partial = _joined(head, tail.partial, state) if is_order else None
        return partial and replace(tail, partial=replace(partial, missing=tail.partial.missing))
    changes = options_of_changes(tail, actions)
    readings = [_joined(head, change.reading, state) for change in changes]
    options = tuple(_option(reading) for reading in readings if reading is not None)
    if not options or len(options) < len(changes):
        return None
    return Clarification(question_about(options), options)


def _is_unsplit(request: Request, reading: Reading) -> bool:
    """Return whether a reading of several orders takes a later one as a part of a text."""
    words = _value_words(reading)
    return any(request.tokens[after].key in words for _, after in _split_points(request))


def _keeps_every_order(request: Request, reading: Reading) -> bool:
    """Return whether a reading has a step for each order of a request."""
    words, done = _value_words(reading), {action for step in reading.steps for action in _actions_of(step)}
    if not (starts := _later_orders(request, words)):
        return True
    first = {
        action for at in range(starts[0]) for action in request.actions_at(request.tokens[: starts[0]], at)
    }
    orders = [first, *(request.actions_at(request.tokens, start) for start in starts)]
    return len(reading.steps) >= len(orders) or all(actions & done for actions in orders)


def _later_orders(request: Request, words: set[str]) -> list[int]:
    """Return the starts of the later orders that do not begin with one of `words`, the values of a reading.

    A mark alone splits a statement from what it gives a reason for: "the test is done, tick it".
    """
    if parse_move_to_new_folder(request, without_marks_at_end(request.tokens)):
        return []
    tokens = request.tokens
    is_order = bool(request.actions_at(tokens, 0))
    return [
        after
        for at, after in _split_points(request)
        if tokens[after].key not in words and (is_order or after > at + 1 or tokens[at].kind != "mark")
    ]


def without_dropped_orders(request: Request, interpretation: Interpretation) -> Interpretation:
    """Return an interpretation of several orders without the readings that drop one; a reply without any."""
    reply = Reply("orders", understood=False)
    match interpretation:
        case Reading():
            return interpretation if _keeps_every_order(request, interpretation) else reply
        case Clarification(options=(_, *_), partial=None):
            kept, spare = (
                tuple(option for option in options if _keeps_every_order(request, option.reading))
                for options in (interpretation.options, interpretation.spare)
            )
            if not kept:
                return reply
            if (kept, spare) == (interpretation.options, interpretation.spare):
                return interpretation
            return Clarification(question_about(kept), kept, spare=spare)
        case Clarification(partial=Reading() as partial) if not _keeps_every_order(request, partial):
            return reply
    return interpretation


def is_task_with_conjunction(request: Request, interpretation: Interpretation) -> bool:
    """Return whether an interpretation is a change of one task that is described by words around an "and"."""
    if not isinstance(interpretation, Reading) or len(interpretation.steps) > 1:
        return False
    step, language = interpretation.last, request.language
    query = str(step.arguments.get("query", "")).casefold().split()
    conjunctions = {phrase.text for phrase in language.phrases("and")}
    return step.action in TASK_ACTIONS and not conjunctions.isdisjoint(query)


def with_unsplit_reading(
    request: Request, joined: Clarification, interpretation: Interpretation
) -> Clarification:
    """Return a question about joined orders with the complete readings of the request as a single order."""
    offered: Sequence[Reading] = ()
    if isinstance(interpretation, Reading):
        offered = (interpretation,)
    elif isinstance(interpretation, Clarification):
        offered = [option.reading for option in (*interpretation.options, *interpretation.spare)]
    whole = [
        _option(reading)
        for reading in offered
        if _is_unsplit(request, reading)
        and _keeps_every_order(request, reading)
        and accounts_for_all(request, reading)
    ][:1]
    if not whole or not joined.options:
        return joined
    options = (*joined.options[: MAX_OPTIONS - 1], *whole)
    return replace(joined, question=question_about(options), options=options)


def join_questions(interpretations: Sequence[Interpretation]) -> Clarification | None:
    """Return a question with the readings, or the single options, of several interpretations."""
    options: list[ClarificationOption] = []
    for interpretation in interpretations:
        if isinstance(interpretation, Reading):
            options.append(_option(interpretation))
        elif isinstance(interpretation, Clarification) and 1 in (
            len(interpretations),
            len(interpretation.options),
        ):
            options += interpretation.options
        else:
            return None  # too many combinations to choose from
    return Clarification(question_about(options), tuple(options))


def _value_words(reading: Reading) -> set[str]:
    """Return the words of the texts, names and searches in a reading."""
    values = [value for step in reading.steps for value in step.arguments.values()]
    values += [step.target.query for step in reading.steps if step.target is not None]
    texts = [text for value in values for text in (value if isinstance(value, tuple) else (value,))]
    return {word for text in texts if isinstance(text, str) for word in WORD.findall(text.casefold())}


def _actions_of(step: PipelineStep) -> set[str]:
    """Return the action of a step, and the changes that a creation includes."""
    if step.action != "create_note":
        return {step.action}
    included = {action for action, (_, role) in CREATION_VALUES.items() if role in step.arguments}
    return {step.action, *included}


def _is_of_known_notes(step: PipelineStep) -> bool:
    """Return whether a step shows notes that the conversation or a name gives: "open it"."""
    return step.target is not None and bool(step.target.notes or step.target.source) and not step.target.query


def _option(reading: Reading) -> ClarificationOption:
    return ClarificationOption(serialize(reading), reading)


def _joined(head: Reading, tail: Reading, state: DialogState) -> Reading | None:
    """Return two readings as one; None if the second needs a note that the first only creates.

    In the notation, a note that does not exist yet can only be the result of the previous step.
    """
    steps = list(head.steps)
    created = {*state.new_notes}
    for step in tail.steps:
        target, last = step.target, steps[-1]
        if target is not None and created & set(target.notes):
            is_same = last.action == "create_note" or last.target in (target, NoteSet(source="previous"))
            if not is_same or target != NoteSet(notes=target.notes[:1]):
                return None
            if (created_step := _completed_creation(last, step)) is not None:
                steps[-1] = created_step
                continue
            step = replace(step, target=NoteSet(source="previous"))
        others = [step.arguments.get(role) for role in NOTE_ROLES]
        if any(isinstance(notes, NoteSet) and created & set(notes.notes) for notes in others):
            return None
        steps.append(step)
    return Reading(
        tuple(steps),
        min(head.score, tail.score),
        (*head.unexplained, *tail.unexplained),
        language=head.language,
        verb_words=head.verb_words + tail.verb_words,
        is_certain=head.is_certain and tail.is_certain,
    )


def _completed_creation(creation: PipelineStep, change: PipelineStep) -> PipelineStep | None:
    """Return a creation with the value of a change of the new note; None if it can't be a part of it."""
    role, own_role = CREATION_VALUES.get(change.action, ("", ""))
    if creation.action != "create_note" or set(change.arguments) != {role} or own_role == "text":
        return None  # a text is written below the title
    if "template" in creation.arguments and own_role not in ("name", "folder"):
        return None  # the template has the text and the properties
    is_new = own_role == "name" or own_role not in creation.arguments
    return creation.with_argument(own_role, change.arguments[role]) if is_new else None

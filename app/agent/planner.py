"""The built-in agent's head: from a request to a tool call, a question, or a plain "this needs a model".

A request is laid under the wordings of every intent (`understanding`); what explains it best wins, if it
explains enough. Else the request is compared by meaning with the examples of intents and tools
(`likeness`), and the slots are filled with the notes, tags and texts that stand in it. A guess is never
acted on where something could be taken away: then the planner asks. It also asks when two notes have the
name, when two intents fit as well, and when something is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.agent.answers import answer
from app.agent.arranging_intents import ARRANGING_AND_TAGGING
from app.agent.asking import (
    ask_for_missing,
    ask_which_intent,
    ask_which_note,
    ask_which_tag,
    confirm,
    not_found,
    reply_to,
)
from app.agent.calls import call_for, note_slots, notes_after
from app.agent.derived_intents import derived_intents
from app.agent.intents import Intent
from app.agent.likeness import Likeness, TextEmbedder
from app.agent.note_names import NoteNames
from app.agent.plans import (
    AskBack,
    Blank,
    CallTool,
    NeedsModel,
    Plan,
    PlanChoice,
    PlanContext,
    Say,
)
from app.agent.reading_intents import READING
from app.agent.relation_intents import RELATING
from app.agent.searching_intents import SEARCHING
from app.agent.slot_values import SlotValue, Span, read_slot
from app.agent.two_requests import split_in_two
from app.agent.understanding import Understanding, Understood, without_courtesies
from app.agent.wants_model import NO, asks_for_model, model_needed, small_talk
from app.agent.wording import tokenize
from app.agent.writing_intents import WRITING
from app.errors import NotFoundError
from app.index.resolver import Resolver
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.vault.path import NotePath

__all__ = [
    "AskBack",
    "Blank",
    "BuiltinPlanner",
    "CallTool",
    "NeedsModel",
    "Plan",
    "PlanChoice",
    "PlanContext",
    "Say",
]

_INTENTS = READING + SEARCHING + WRITING + ARRANGING_AND_TAGGING + RELATING
_WRITTEN = frozenset(intent.tool for intent in _INTENTS)
_ENOUGH = 0.6
_CLEARLY = 0.04
_SURE = 0.8
_LIKELY = 0.7
_LONG_QUESTION = 5


class BuiltinPlanner:
    """Understands requests without a model.

    Args:
        registry: Which tools there are and which are on; intents of others are not understood.
        resolver: Knows the notes by name.
        embedder: Compares by meaning; None, or one that is not available, leaves wordings and spelling.
    """

    def __init__(
        self, registry: ToolRegistry, resolver: Resolver, embedder: TextEmbedder | None = None
    ) -> None:
        self._registry = registry
        self._resolver = resolver
        self._embedder = embedder
        self._read: tuple[frozenset[str], Understanding, Likeness] | None = None

    async def plan(self, text: str, context: PlanContext) -> Plan:
        """What to do with the request `text`."""
        names = NoteNames(self._resolver, context)
        if context.asked is not None and (answered := self._answered(text, context.asked, names)):
            return answered
        if said := small_talk(text):
            return Say(said)
        bare = without_courtesies(text)
        found = self._understanding().read(bare, names)
        if two := split_in_two(bare, found, lambda part: self._understanding().read(part, names)):
            ready = [self._call(one) for one in two if not one.missing]
            return ask_which_intent("I do one thing at a time. Which first?", ready)
        return self._decide(found, names) or await self._guess(bare, found, names)

    def remember(self, context: PlanContext, plan: Plan) -> PlanContext:
        """The context after `plan`: which note was spoken of, which question waits for an answer."""
        if isinstance(plan, AskBack):
            return replace(context, asked=plan)
        if not isinstance(plan, CallTool):
            return replace(context, asked=None)
        return replace(context, asked=None, last_notes=notes_after(plan) or context.last_notes)

    def writes(self, plan: CallTool) -> bool:
        """Whether `plan` would propose something."""
        return _writes(self._registry, plan)

    def answer(self, plan: CallTool, outcome: ToolOutcome) -> str:
        """The result of `plan` in words, as Markdown with wikilinks."""
        return answer(plan, outcome)

    def _understanding(self) -> Understanding:
        return self._tools_now()[1]

    def _likeness(self) -> Likeness:
        return self._tools_now()[2]

    def _tools_now(self) -> tuple[frozenset[str], Understanding, Likeness]:
        """Templates and examples of the tools that are on now; made anew when one comes or goes."""
        tools = [tool for tool in self._registry.all() if self._registry.category(tool.category).on]
        on = frozenset(tool.name for tool in tools)
        if self._read is None or self._read[0] != on:
            written = [intent for intent in _INTENTS if intent.tool in on]
            derived = derived_intents(tool for tool in tools if tool.name not in _WRITTEN)
            intents = (*written, *derived)
            self._read = (on, Understanding(intents), Likeness(intents, tools, self._embedder))
        return self._read

    def _is_on(self, tool: str) -> bool:
        try:
            return self._registry.category(self._registry.get(tool).category).on
        except NotFoundError:
            return False

    # Deciding

    def _decide(self, found: list[Understood], names: NoteNames) -> Plan | None:
        """The plan for the best reading, when it explains enough of the request."""
        if not found or found[0].score < _ENOUGH:
            return None
        best = found[0]
        rivals = [one for one in found[1:] if best.score - one.score < _CLEARLY and self._differs(best, one)]
        if rivals and best.words <= rivals[0].words:
            calls = [self._call(one) for one in (best, *rivals) if not one.missing and _clear(one)]
            if len(calls) > 1:
                return ask_which_intent("What do you mean?", calls)
        return self._settle(best, names)

    def _settle(self, one: Understood, names: NoteNames, *, guessed: bool = False) -> Plan:
        """A call, or the question that is left; a guess never adds the note on the screen by itself."""
        for slot in note_slots(one):
            value = one.slots[slot]
            if value.meant is not None and value.meant.path is None and value.text:
                return self._ask_about_note(one, slot, value, names)
        if one.missing:
            implied = None if guessed else self._with_this(one, names)
            return self._settle(implied, names) if implied else ask_for_missing(one, one.missing[0])
        if several := ask_which_tag(one, self._call):
            return several
        call = self._call(one)
        return confirm(call) if one.intent.risky and call.confidence < _SURE else call

    def _with_this(self, one: Understood, names: NoteNames) -> Understood | None:
        """The same about the note on the screen, for a request that names none ("show the backlinks")."""
        here = names.exactly("this note")
        if "name" in one.slots or one.missing[0] != "name" or here.path is None or one.intent.id == "delete":
            return None
        return replace(one, slots={**one.slots, "name": SlotValue("name", "", 0.9, here)})

    def _ask_about_note(self, one: Understood, slot: str, value: SlotValue, names: NoteNames) -> Plan:
        meant = value.meant
        if meant is not None and meant.paths:
            return ask_which_note(one, slot, self._call)
        return not_found(one, value.text, self._registry_has, self._call)

    def _registry_has(self, tool: str) -> bool:
        return self._is_on(tool)

    def _call(self, one: Understood) -> CallTool:
        long_question = one.intent.id == "find" and len(one.slots["query"].text.split()) >= _LONG_QUESTION
        quoted = long_question and one.slots["query"].text.startswith('"')
        if long_question and not quoted and self._compares_meaning():
            meaning = next(i for i in self._understanding().intents if i.id == "find-meaning")
            return call_for(replace(one, intent=meaning))
        return call_for(one)

    def _compares_meaning(self) -> bool:
        return self._is_on("semantic_search") and self._embedder is not None and self._embedder.available

    def _differs(self, one: Understood, other: Understood) -> bool:
        if one.missing or other.missing:
            return False
        a, b = self._call(one), self._call(other)
        return (a.tool, a.arguments) != (b.tool, b.arguments)

    # Guessing

    async def _guess(self, text: str, found: list[Understood], names: NoteNames) -> Plan:
        """For a request that no wording explains: what it is like, or what it would need."""
        work = asks_for_model(text)
        if work and work != "Answering open questions":
            return NeedsModel(model_needed(work, self._instead(text, names)))
        mentioned = self._mentioned(text, names)
        likely = await self._likeness().rank(text, [words for words, _ in mentioned])
        if likely:
            top = [one for one in likely if one.score >= likely[0].score - _CLEARLY][:3]
            guesses = [_filled(one.intent, text, mentioned, names, one.score) for one in top]
            ready = [guess for guess in guesses if not guess.missing]
            if len(ready) > 1:
                return ask_which_intent("What do you mean?", [self._call(guess) for guess in ready])
            if ready or not work:
                one = (ready or guesses)[0]
                plan = self._settle(one, names, guessed=True)
                unsure = one.score < _LIKELY or _writes(self._registry, plan)
                return confirm(plan) if isinstance(plan, CallTool) and unsure else plan
        if work:
            return NeedsModel(model_needed(work, self._instead(text, names)))
        if found and found[0].score >= _ENOUGH / 2 and found[0].words:
            return self._settle(found[0], names)
        return Say(
            'I did not understand that. Say it with other words, or say "help" to see what I understand.'
        )

    def _instead(self, text: str, names: NoteNames) -> str:
        mentioned = self._mentioned(text, names)
        if not mentioned:
            return 'Without one I can search: "find notes about …".'
        links = ", ".join(f"[[{path.name}]]" for _, path in mentioned[:3])
        return f"Without one I can open {links}, or show what is related and what links there."

    def _mentioned(self, text: str, names: NoteNames) -> list[tuple[str, NotePath]]:
        """The notes that stand in `text` by name, the longest names first come, no word used twice."""
        tokens = tokenize(text)
        found: list[tuple[str, NotePath]] = []
        at = 0
        while at < len(tokens):
            for end in range(min(len(tokens), at + 8), at, -1):
                span = Span(text, tokens[at:end])
                value = read_slot("name", span, names)
                pointed = names.is_pronoun(span.raw)
                if value and value.fit == 1.0 and value.meant and value.meant.path and not pointed:
                    found.append((span.raw, value.meant.path))
                    at = end - 1
                    break
            at += 1
        return found

    # Answers to a question

    def _answered(self, text: str, asked: AskBack, names: NoteNames) -> Plan | None:
        """The plan when `text` answers the question `asked`; None when it is a new request."""
        if chosen := reply_to(text, asked):
            return chosen
        if NO.fullmatch(text.strip()):
            return Say("All right, nothing was done.")
        if asked.blank is None:
            return None
        anew = self._understanding().read(without_courtesies(text), names)
        if anew and anew[0].score >= 0.9 and anew[0].words:
            return None
        return self._completed(text, asked.blank, names)

    def _completed(self, text: str, blank: Blank, names: NoteNames) -> Plan | None:
        intent = next((one for one in self._understanding().intents if one.id == blank.intent), None)
        if intent is None:
            return None
        slots: dict[str, SlotValue] = {}
        for slot, said in {**blank.slots, blank.missing: text.strip()}.items():
            quoted = said if slot == blank.missing else f"“{said}”"
            tokens = tokenize(quoted)
            value = read_slot(slot, Span(quoted, tokens), names) if tokens else None
            if value is None:
                return None
            if value.meant is not None and not value.meant.paths and value.text:
                value = replace(value, meant=names.nearly(value.text))
            slots[value.slot] = value
        return self._settle(Understood(intent, slots, 1.0, 1), names)


def _clear(one: Understood) -> bool:
    return all(value.meant is None or value.meant.path is not None for value in one.slots.values())


def _writes(registry: ToolRegistry, plan: Plan) -> bool:
    return isinstance(plan, CallTool) and registry.get(plan.tool).proposes


def _filled(
    intent: Intent, text: str, mentioned: list[tuple[str, NotePath]], names: NoteNames, score: float
) -> Understood:
    """The intent with the notes, tags and texts that stand in the request, in order."""
    tokens = tokenize(text)
    spoken = [words for words, _ in mentioned]
    pronouns = [token.value for token in tokens if token.key in ("it", "this", "here")]
    said: Mapping[str, list[str]] = {
        "note": spoken or pronouns[:1],
        "tag": [token.value for token in tokens if token.kind == "tag"],
        "text": [
            f"“{token.value}”"
            for token in tokens
            if token.kind == "quoted" and f"“{token.value}”" not in spoken
        ],
    }
    used = {"note": 0, "tag": 0, "text": 0}
    kinds = {"name": "note", "other": "note", "known": "note", "tag": "tag", "new_tag": "tag", "tags": "tag"}
    slots: dict[str, SlotValue] = {}
    for slot in intent.needs:
        kind = kinds.get(slot, "text")
        if used[kind] < len(said[kind]):
            words = said[kind][used[kind]]
            used[kind] += 1
            if value := read_slot(slot, Span(words, tokenize(words)), names):
                slots[slot] = value
    return Understood(intent, slots, score)

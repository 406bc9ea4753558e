"""The questions that the built-in agent asks back, and how an answer is recognised."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from app.agent.calls import command, plain_text
from app.agent.intents import QUESTIONS
from app.agent.note_names import NoteMeant
from app.agent.plans import AskBack, Blank, CallTool, Plan, PlanChoice, Say
from app.agent.slot_values import SlotValue
from app.agent.understanding import Understood
from app.agent.wants_model import YES
from app.vault.path import NotePath

Call = Callable[[Understood], CallTool]
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


def ask_which_note(one: Understood, slot: str, call: Call) -> AskBack:
    """Ask which of the notes that have the name, or nearly have it, is meant in `slot`."""
    value = one.slots[slot]
    paths = value.meant.paths if value.meant else ()
    choices = tuple(_with_note(one, slot, path, call) for path in paths)
    if len(paths) == 1:
        return AskBack(f"There is no note called “{_said(value)}”. Do you mean [[{paths[0].name}]]?", choices)
    same = len({path.name.casefold() for path in paths}) == 1
    question = (
        f"{len(paths)} notes are called {paths[0].name}. Which one?" if same else "Which note do you mean?"
    )
    return AskBack(question, choices)


def _with_note(one: Understood, slot: str, path: NotePath, call: Call) -> PlanChoice:
    slots = {**one.slots, slot: replace(one.slots[slot], meant=NoteMeant((path,)))}
    settled = replace(one, slots=slots)
    complete = not settled.missing and all(v.meant is None or v.meant.path for v in slots.values())
    return PlanChoice(path.stem_path, command(settled), call(settled) if complete else None)


def ask_for_missing(one: Understood, slot: str) -> AskBack:
    """Ask for what was not said; any words can be the answer."""
    said = {key: plain_text(value) for key, value in one.slots.items() if value.text or value.meant}
    known = {key: text for key, text in said.items() if text and key != slot}
    return AskBack(QUESTIONS[slot], (), Blank(one.intent.id, known, slot))


def ask_which_intent(question: str, calls: Sequence[CallTool]) -> AskBack:
    """Ask which of several calls is meant."""
    return AskBack(question, tuple(PlanChoice(call.understood, call.understood, call) for call in calls))


def ask_which_tag(one: Understood, call: Call) -> AskBack | None:
    """Ask which tag goes first, when one call can take one only; None when there is one."""
    value = one.slots.get("tag")
    tags = [word.strip("#,") for word in re.split(r"[\s,&+]+", value.text)] if value else []
    tags = [tag for tag in tags if tag and tag not in ("and", "or", "both", "either", "plus")]
    if value is None or len(tags) < 2:
        return None
    each = [replace(one, slots={**one.slots, "tag": SlotValue("tag", tag, 1.0)}) for tag in tags]
    choices = tuple(PlanChoice(call(single).understood, command(single), call(single)) for single in each)
    return AskBack("One tag at a time. Which first?", choices)


def confirm(call: CallTool) -> AskBack:
    """Ask before something is done on a guess."""
    sure = replace(call, confidence=1.0)
    return AskBack(
        f"Do you mean this? {call.understood}",
        (PlanChoice("Yes", "yes", sure), PlanChoice("No", "no")),
    )


def not_found(one: Understood, words: str, has: Callable[[str], bool], call: Call) -> Plan:
    """Say that no note is called so, and offer to search for it or, where text was given, to make it."""
    offers = []
    if one.intent.id in ("append", "prepend", "task") and has("create_note"):
        content = str(one.intent.build({"name": words, **_texts(one)})["text"])
        made = CallTool(
            "create_note",
            {"name": words, "content": content},
            f"Create [[{words}]] with that text.",
            1.0,
            "create",
        )
        offers.append(PlanChoice(f"Create {words} with that text", made.understood, made))
    elif one.intent.id == "open" and has("create_note"):
        made = CallTool("create_note", {"name": words, "content": ""}, f"Create [[{words}]].", 1.0, "create")
        offers.append(PlanChoice(f"Create {words}", f'create a note called "{words}"', made))
    if has("search_notes"):
        search = CallTool("search_notes", {"query": words}, f"Search the notes for “{words}”.", 1.0, "find")
        offers.insert(0, PlanChoice(f"Search for {words}", f"search for {words}", search))
    text = f"No note is called “{words}”."
    return AskBack(text, tuple(offers)) if offers else Say(text)


def _texts(one: Understood) -> dict[str, str]:
    return {slot: value.text for slot, value in one.slots.items() if slot != "name"}


def reply_to(text: str, asked: AskBack) -> CallTool | None:
    """The call that an answer picks among the choices: by its words, its number, or "yes"; else None."""
    said = _key(text)
    for choice in asked.choices:
        if choice.call and said in (
            _key(choice.label),
            _key(choice.reply),
            _key(choice.label.rpartition("/")[2]),
        ):
            return choice.call
    calls = [choice.call for choice in asked.choices]
    if calls and YES.fullmatch(text.strip()):
        return calls[0]
    at = _position(said)
    return calls[at] if at is not None and at < len(calls) else None


def _key(text: str) -> str:
    return re.sub(r"[\[\]\"“”.!?\s]+", " ", text).strip().casefold()


def _position(said: str) -> int | None:
    digits = re.fullmatch(r"(?:number |option |no |#)?(\d)", said)
    if digits:
        return int(digits[1]) - 1
    word = re.fullmatch(r"(?:the )?(\w+)(?: one| note| option)?", said)
    return _ORDINALS.index(word[1]) if word and word[1] in _ORDINALS else None


def _said(value: SlotValue) -> str:
    return value.text

"""The built-in agent: understands many wordings, asks when it is not sure, never guesses at a loss."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.agent.planner import (
    AskBack,
    BuiltinPlanner,
    CallTool,
    NeedsModel,
    Plan,
    PlanContext,
    Say,
)
from app.embeddings.client import Embedder
from app.index.resolver import Resolver
from app.permissions.caller import Caller
from app.toolkit.arguments import SlotKind
from app.toolkit.registry import ToolRegistry
from app.toolkit.tool import Tool
from app.tools import CATALOG, CATEGORIES
from app.vault.path import NotePath
from tests.support.planner_requests import (
    CONTEXT,
    VAULT,
    Request,
    is_right,
    planner,
    read_requests,
    sample_resolver,
)

SEEN = read_requests("requests_seen.txt")
HELD_OUT = read_requests("requests_held_out.txt")
NEEDED = 0.95


@pytest.fixture
async def embedder() -> AsyncIterator[Embedder]:
    made = Embedder()
    yield made
    await made.close()


@pytest.fixture(scope="module")
def plain() -> BuiltinPlanner:
    """A planner without a sentence model."""
    return planner()


@pytest.fixture(scope="module")
def everything() -> BuiltinPlanner:
    """A planner without a sentence model, with every category on."""
    return planner(all_on=True)


async def _misses(one: BuiltinPlanner, requests: list[Request]) -> list[str]:
    return [r.text for r in requests if not is_right(await one.plan(r.text, CONTEXT), r)]


async def test_unforeseen_wordings_are_understood(embedder: Embedder) -> None:
    misses = await _misses(planner(embedder), HELD_OUT)
    assert len(HELD_OUT) >= 200
    assert 1 - len(misses) / len(HELD_OUT) >= NEEDED, misses


async def test_unforeseen_wordings_are_understood_without_the_sentence_model(plain: BuiltinPlanner) -> None:
    misses = await _misses(plain, HELD_OUT)
    assert 1 - len(misses) / len(HELD_OUT) >= NEEDED, misses


@pytest.fixture(scope="module")
def plans() -> list[tuple[Request, Plan]]:
    """What becomes of each known request, with the sentence model."""

    async def made() -> list[tuple[Request, Plan]]:
        embedder = Embedder()
        try:
            one = planner(embedder)
            return [(request, await one.plan(request.text, CONTEXT)) for request in SEEN]
        finally:
            await embedder.close()

    return asyncio.run(made())


def test_known_wordings_stay_understood(plans: list[tuple[Request, Plan]]) -> None:
    misses = [request.text for request, plan in plans if not is_right(plan, request)]
    assert 1 - len(misses) / len(SEEN) >= 0.99, misses


SAID = {SlotKind.NOTE: "[[H4]]", SlotKind.TAG: "#clock", SlotKind.FOLDER: "Events"}


def _instance(tool: Tool, example: str) -> str:
    said = {parameter.name: SAID.get(parameter.kind, '"some words"') for parameter in tool.parameters}
    words = {
        "name": "[[H4]]",
        "new_name": "Sea watch",
        "tag": "#clock",
        "new_tag": "#watch",
        "folder": "Events",
        "text": '"some words"',
        "old": '"other words"',
        "content": '"some words"',
        "query": "rope",
        "heading": "Sources",
        "tags": "#clock",
        "properties": "status = done",
        "version": "3",
    }
    return re.sub(r"\{(\w+)\}", lambda slot: words.get(slot[1], said[slot[1]]), example)


@pytest.mark.parametrize("tool", CATALOG, ids=lambda tool: tool.name)
async def test_every_tool_is_found_by_its_own_examples(everything: BuiltinPlanner, tool: Tool) -> None:
    for example in tool.examples:
        if "{name}" in example and tool.name == "create_note":
            example = example.replace("{name}", "Brand new")
        if tool.name in ("set_properties", "restore_note"):
            continue  # Their examples leave out which property, or name a version by its hash.
        plan = await everything.plan(_instance(tool, example), CONTEXT)
        assert isinstance(plan, CallTool | AskBack), (example, plan)
        found = plan.tool if isinstance(plan, CallTool) else [c.call and c.call.tool for c in plan.choices]
        assert found == tool.name or (isinstance(found, list) and tool.name in found), (example, plan)


# Asking back


async def test_two_notes_of_one_name_are_asked_about(plain: BuiltinPlanner) -> None:
    plan = await plain.plan("open Mercator", CONTEXT)
    assert isinstance(plan, AskBack)
    assert [choice.label for choice in plan.choices] == ["Concepts/Mercator", "People/Mercator"]
    chosen = await plain.plan("People/Mercator", plain.remember(CONTEXT, plan))
    assert isinstance(chosen, CallTool) and chosen.arguments == {"name": "People/Mercator.md"}


@pytest.mark.parametrize("answer", ["2", "the second one", "the second", "[[People/Mercator]]", "number 2"])
async def test_a_question_is_answered_in_many_ways(plain: BuiltinPlanner, answer: str) -> None:
    asked = plain.remember(CONTEXT, await plain.plan("delete Mercator", CONTEXT))
    chosen = await plain.plan(answer, asked)
    assert isinstance(chosen, CallTool) and chosen.arguments == {"name": "People/Mercator.md"}


async def test_no_ends_a_question(plain: BuiltinPlanner) -> None:
    asked = plain.remember(CONTEXT, await plain.plan("delete Mercator", CONTEXT))
    assert isinstance(await plain.plan("no, never mind", asked), Say | NeedsModel | AskBack)
    assert await plain.plan("never mind", asked) == Say("All right, nothing was done.")


async def test_a_new_request_after_a_question_is_a_new_request(plain: BuiltinPlanner) -> None:
    asked = plain.remember(CONTEXT, await plain.plan("tag Gimbal", CONTEXT))
    plan = await plain.plan("open H4", asked)
    assert isinstance(plan, CallTool) and plan.tool == "read_note"


@pytest.mark.parametrize(
    ("request_text", "question", "reply", "tool", "arguments"),
    [
        (
            "create a note",
            "What should the new note be called?",
            "Sea bread",
            "create_note",
            {"name": "Sea bread", "content": ""},
        ),
        ("tag Gimbal", "Which tag?", "#brass", "add_tag", {"name": "Concepts/Gimbal.md", "tag": "brass"}),
        (
            "rename it",
            "What should it be called?",
            "J. Harrison",
            "move_note",
            {"name": "People/John Harrison.md", "new_name": "J. Harrison"},
        ),
    ],
)
async def test_what_is_missing_is_asked_for(
    plain: BuiltinPlanner, request_text: str, question: str, reply: str, tool: str, arguments: dict[str, str]
) -> None:
    plan = await plain.plan(request_text, CONTEXT)
    assert isinstance(plan, AskBack) and plan.question == question
    done = await plain.plan(reply, plain.remember(CONTEXT, plan))
    assert isinstance(done, CallTool) and (done.tool, done.arguments) == (tool, arguments)


async def test_without_a_note_in_sight_it_asks_which(plain: BuiltinPlanner) -> None:
    for text in ("delete it", "what links here", "tag this with #x"):
        plan = await plain.plan(text, PlanContext())
        assert isinstance(plan, AskBack) and plan.question == "Which note?", text


async def test_a_near_name_is_enough_to_look_but_not_to_delete(plain: BuiltinPlanner) -> None:
    look = await plain.plan("open Flamsted", CONTEXT)
    assert isinstance(look, CallTool) and look.arguments == {"name": "People/John Flamsteed.md"}
    loss = await plain.plan("delete Flamsted", CONTEXT)
    assert isinstance(loss, AskBack)
    sure = await plain.plan("yes", plain.remember(CONTEXT, loss))
    assert isinstance(sure, CallTool) and sure.tool == "delete_note"


@pytest.mark.parametrize("text", ["delet Gimbal", "delte the note Gimbal", "remoev Gimbal"])
async def test_a_slip_in_a_word_of_loss_is_asked_about(plain: BuiltinPlanner, text: str) -> None:
    plan = await plain.plan(text, CONTEXT)
    assert not isinstance(plan, CallTool), plan


async def test_an_unknown_note_is_told_and_offers_are_made(plain: BuiltinPlanner) -> None:
    plan = await plain.plan('add "milk" to Groceries', CONTEXT)
    assert isinstance(plan, AskBack) and plan.question == "No note is called “Groceries”."
    made = await plain.plan("2", plain.remember(CONTEXT, plan))
    assert isinstance(made, CallTool) and made.arguments == {"name": "Groceries", "content": "milk"}
    unknown = await plain.plan("delete Groceries", CONTEXT)
    assert isinstance(unknown, AskBack)
    assert all(choice.call and choice.call.tool == "search_notes" for choice in unknown.choices)


async def test_two_requests_in_one_are_taken_one_by_one(plain: BuiltinPlanner) -> None:
    plan = await plain.plan("tag H4 with #clock and then move K1 to Events", CONTEXT)
    assert isinstance(plan, AskBack)
    assert [choice.call.tool for choice in plan.choices if choice.call] == ["add_tag", "move_note"]
    made = await plain.plan("create a note called Tea and tag it with #drink", CONTEXT)
    assert isinstance(made, AskBack)
    assert [choice.call.arguments["name"] for choice in made.choices if choice.call] == ["Tea"]


async def test_two_tags_are_taken_one_by_one(plain: BuiltinPlanner) -> None:
    plan = await plain.plan("tag H4 with #clock and #sea", CONTEXT)
    assert isinstance(plan, AskBack)
    tags = [choice.call.arguments["tag"] for choice in plan.choices if choice.call]
    assert tags == ["clock", "sea"]


async def test_choices_say_by_themselves_what_they_mean(plain: BuiltinPlanner) -> None:
    """A reply that is sent long after the question was forgotten still means the same call."""
    for text in (
        "open Mercator",
        "delete Mercator",
        'append "x" to Mercator',
        "tag Mercator with #map",
        "rename Mercator to Gerard",
        "what links to Mercator",
        "move Mercator to Events",
    ):
        plan = await plain.plan(text, CONTEXT)
        assert isinstance(plan, AskBack), text
        for choice in plan.choices:
            alone = await plain.plan(choice.reply, PlanContext())
            assert isinstance(alone, CallTool) and choice.call, choice
            assert (alone.tool, alone.arguments) == (choice.call.tool, choice.call.arguments)


# What it can't do


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("summarise everything I wrote about clocks", "Summarising more than one note"),
        ("split this note up into chapters", "Reworking notes"),
        ("translate Gimbal into German", "Translating"),
        ("write an essay about longitude", "Writing new text"),
        ("compare H4 and K1", "Comparing notes"),
        ("why did the prize take so long?", "Explaining"),
        ("who invented the anchor escapement?", "Answering open questions"),
        ("rewrite this note in a friendlier tone", "Rewriting text"),
    ],
)
async def test_what_needs_a_model_is_said_plainly(embedder: Embedder, text: str, work: str) -> None:
    plan = await planner(embedder).plan(text, CONTEXT)
    assert isinstance(plan, NeedsModel), plan
    assert plan.reason.startswith(f"{work} needs a model")


async def test_small_talk_is_answered(plain: BuiltinPlanner) -> None:
    for text in ("hello", "thanks a lot!", "help", "what can you do?"):
        assert isinstance(await plain.plan(text, CONTEXT), Say), text


async def test_nonsense_is_not_acted_on(embedder: Embedder) -> None:
    one = planner(embedder)
    for text in ("asdf qwer", "colorless green ideas sleep furiously", "!!!", "", "   ", "\n\n", "🦊"):
        assert not isinstance(await one.plan(text, CONTEXT), CallTool), text


LOSSES = {"delete_note", "update_note", "rename_tag", "remove_tag"}
WORDS = (
    "the note some words about clock sea please remove delete remvoe erase all",
    "every of my drop it old and to",
    "from never not tag move trash undo maybe could should Harrison Gimbals K9 longitude",
)
words = st.sampled_from([word for line in WORDS for word in line.split()])


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(words, min_size=1, max_size=7).map(" ".join))
async def test_loss_is_never_guessed(plain: BuiltinPlanner, text: str) -> None:
    """Whatever is said, a call that takes something away names a note exactly, or points at one."""
    plan = await plain.plan(text, CONTEXT)
    if isinstance(plan, CallTool) and plan.tool in LOSSES:
        assert plan.confidence >= 0.8
        name = str(plan.arguments.get("name", ""))
        if name:
            said = {"people/john harrison.md", "instruments/h1.md"}
            assert NotePath.on_disk(name).name.casefold() in text.casefold() or name.casefold() in said


# Context and settings


async def test_it_is_what_was_last_spoken_of(plain: BuiltinPlanner) -> None:
    context = PlanContext()
    context = plain.remember(context, await plain.plan("open Gimbal", context))
    plan = await plain.plan("tag it with #brass", context)
    assert isinstance(plan, CallTool) and plan.arguments["name"] == "Concepts/Gimbal.md"
    here = context.with_open_note("Instruments/H4.md", ())
    plan = await plain.plan("tag this with #x", here)
    assert isinstance(plan, CallTool) and plan.arguments["name"] == "Instruments/H4.md"
    given_along = context.with_open_note("Instruments/H4.md", ("Instruments/K1.md",))
    plan = await plain.plan("tag it with #x", given_along)
    assert isinstance(plan, CallTool) and plan.arguments["name"] == "Instruments/K1.md"


async def test_it_follows_a_rename_whatever_the_answer_was() -> None:
    resolver = sample_resolver()
    one = planner(resolver=resolver)
    context = one.remember(PlanContext(), await one.plan("rename Gimbal to Ring", PlanContext()))
    denied = await one.plan("open it", context)
    assert isinstance(denied, CallTool) and denied.arguments["name"] == "Concepts/Gimbal.md"
    resolver.remove(NotePath("Concepts/Gimbal.md"))
    resolver.add(NotePath("Concepts/Ring.md"))
    approved = await one.plan("open it", context)
    assert isinstance(approved, CallTool) and approved.arguments["name"] == "Concepts/Ring.md"


async def test_a_new_note_is_it() -> None:
    resolver = sample_resolver()
    one = planner(resolver=resolver)
    plan = await one.plan("create a note called Tea in the folder Events", CONTEXT)
    context = one.remember(CONTEXT, plan)
    resolver.add(NotePath("Events/Tea.md"))
    added = await one.plan('add "hot" to it', context)
    assert isinstance(added, CallTool) and added.arguments["name"] == "Events/Tea.md"


async def test_aliases_and_ids_name_notes() -> None:
    resolver = Resolver()
    resolver.add(NotePath("People/Ada.md"), aliases=("Countess of Lovelace",), note_id="p-17")
    one = planner(resolver=resolver)
    for text in ("open Countess of Lovelace", "open p-17"):
        plan = await one.plan(text, PlanContext())
        assert isinstance(plan, CallTool) and plan.arguments == {"name": "People/Ada.md"}


async def test_a_category_that_is_off_is_not_understood() -> None:
    registry = ToolRegistry(CATEGORIES, CATALOG)
    one = BuiltinPlanner(registry, sample_resolver())
    assert isinstance(await one.plan("tag H4 with clock", CONTEXT), CallTool)
    registry.set_category("tags", False)
    plan = await one.plan("tag H4 with clock", CONTEXT)
    assert not (isinstance(plan, CallTool) and plan.tool == "add_tag")
    registry.set_category("tags", True)
    assert isinstance(await one.plan("tag H4 with clock", CONTEXT), CallTool)


def test_arguments_are_what_the_tools_take(plans: list[tuple[Request, Plan]]) -> None:
    """Every call that the requests give passes the tool's own validation."""
    registry = ToolRegistry(CATEGORIES, CATALOG)
    assert {tool.name for tool in registry.tools(Caller.user())} >= {r.tool for r in SEEN}
    for _, plan in plans:
        if isinstance(plan, CallTool):
            tool = registry.get(plan.tool)
            tool.check_operation(tool.arguments.model_validate(dict(plan.arguments)))
            assert plan.understood and "{" not in plan.understood and "…}" not in plan.understood


async def test_a_long_text_is_taken_whole(plain: BuiltinPlanner) -> None:
    body = "\n".join(f"Line {n} with [[links]], #tags and to and in and with." for n in range(400))
    plan = await plain.plan(f"append to H4:\n{body}", CONTEXT)
    assert isinstance(plan, CallTool)
    assert plan.arguments == {"op": "append", "name": "Instruments/H4.md", "text": body}


def test_the_sample_vault_is_there() -> None:
    assert (VAULT / "Instruments" / "H1.md").is_file()

from __future__ import annotations

from dataclasses import replace

import pytest

from app.errors import InvalidParametersError, LimitError, NotFoundError
from app.permissions.caller import Caller, CallerKind
from app.permissions.grants import Grants
from app.permissions.policy import Policy
from app.settings import CallLimit, PermissionSettings, Rule, TurnRule
from app.toolkit.context import ToolContext
from app.toolkit.proposal import Proposal
from app.toolkit.rate_limiter import RateLimiter
from app.toolkit.registry import AccessLevel, Category, ToolRegistry
from app.toolkit.result import ToolResult
from app.toolkit.tool import tool
from app.toolkit.turn_rules import TurnRules

AGENT = Caller(CallerKind.MCP, "Claude")
NOTES = Category("notes", "Notes", AccessLevel.READ_WRITE, rate_per_minute=3)
SEARCH = Category("search", "Search", AccessLevel.READ_ONLY)


@tool(category="notes")
async def create(context: ToolContext) -> Proposal[ToolResult]:
    """Create."""
    raise NotImplementedError


@tool(category="search", rate_per_minute=1)
async def look(context: ToolContext) -> ToolResult:
    """Look."""
    raise NotImplementedError


def test_registering_can_be_undone_and_names_are_taken_once():
    registry = ToolRegistry([NOTES, SEARCH])
    undo = registry.register(create)
    with pytest.raises(InvalidParametersError):
        registry.register(create)
    undo()
    undo()
    with pytest.raises(NotFoundError):
        registry.get("create")
    registry.register(create)
    undo()
    registry.register(look)
    assert registry.get("look") is look


def test_what_does_not_fit_its_category_is_refused():
    registry = ToolRegistry([NOTES, SEARCH])
    with pytest.raises(InvalidParametersError):
        registry.register(replace(create, category="search"))
    with pytest.raises(InvalidParametersError):
        registry.register(replace(create, category="nowhere"))
    with pytest.raises(InvalidParametersError):
        registry.add_category(NOTES)


def test_near_misses_are_suggested():
    with pytest.raises(NotFoundError) as caught:
        ToolRegistry([NOTES, SEARCH], [create, look]).get("creat")
    assert caught.value.data["suggestions"] == ["create"]


def test_only_what_a_caller_may_call_is_offered(tmp_path):
    policy = Policy(PermissionSettings(), Grants(tmp_path))
    registry = ToolRegistry([NOTES, SEARCH], [create, look], policy.may_call)
    assert registry.tools(AGENT) == [create, look]
    registry.set_category("search", False)
    assert registry.tools(AGENT) == [create]
    policy.configure(PermissionSettings(rules=(Rule(effect="deny", tool="create", caller="Claude"),)))
    assert registry.tools(AGENT) == [] and registry.tools(Caller(CallerKind.MCP, "Other")) == [create]


def test_limits_slide_and_are_each_callers_own():
    now = [0.0]
    limits = RateLimiter(lambda: now[0])
    for second in (0.0, 10.0, 20.0):
        now[0] = second
        limits.check(create, NOTES, AGENT)
    with pytest.raises(LimitError) as caught:
        limits.check(create, NOTES, AGENT)
    assert caught.value.data == {"limit": 3, "retry_after": 40.0}
    limits.check(create, NOTES, replace(AGENT, name="Other"))
    now[0] = 60.0
    limits.check(create, NOTES, AGENT)
    for _ in range(10):
        limits.check(create, NOTES, Caller.user())


def test_a_tool_has_its_own_limit():
    limits = RateLimiter(lambda: 0.0)
    limits.check(look, SEARCH, AGENT)
    with pytest.raises(LimitError):
        limits.check(look, SEARCH, AGENT)


def test_the_users_limits_apply_in_addition_to_those_of_the_tools():
    now = [0.0]
    limits = RateLimiter(lambda: now[0])
    limits.configure((CallLimit(tool="lo*", pause=5), CallLimit(tool="create", per_turn=1)))
    free = replace(look, rate_per_minute=None)
    limits.check(free, SEARCH, AGENT)
    now[0] = 3.0
    with pytest.raises(LimitError) as caught:
        limits.check(free, SEARCH, AGENT)
    assert caught.value.data["retry_after"] == 2.0
    now[0] = 5.0
    limits.check(free, SEARCH, AGENT)
    turn = replace(AGENT, turn="t")
    limits.check(create, NOTES, turn)
    with pytest.raises(LimitError, match="in a turn"):
        limits.check(create, NOTES, turn)
    limits.check(create, NOTES, replace(AGENT, turn="next"))


def test_several_limits_of_one_tool_count_each_call_once():
    limits = RateLimiter(lambda: 0.0)
    limits.configure((CallLimit(tool="look", per_minute=4), CallLimit(tool="look", per_minute=6)))
    limited = replace(look, rate_per_minute=5)
    for _ in range(4):
        limits.check(limited, SEARCH, AGENT)
    with pytest.raises(LimitError) as caught:
        limits.check(limited, SEARCH, AGENT)
    assert caught.value.data["limit"] == 4


def test_a_refused_call_is_not_counted():
    limits = RateLimiter(lambda: 0.0)
    limits.configure((CallLimit(tool="create", per_minute=0),))
    for _ in range(5):
        with pytest.raises(LimitError):
            limits.check(create, NOTES, AGENT)
    limits.configure(())
    for _ in range(3):
        limits.check(create, NOTES, AGENT)


IN_TURN = replace(AGENT, turn="t")


def turn_rules(*rules):
    made = TurnRules()
    made.configure(rules)
    return made


def test_a_tool_that_must_be_called_first_is_enforced():
    rules = turn_rules(TurnRule(kind="first", tools=("search_*",)))
    with pytest.raises(LimitError, match="first"):
        rules.check("read_note", IN_TURN)
    rules.check("search_notes", IN_TURN)
    rules.check("read_note", IN_TURN)
    rules.check("read_note", AGENT)


def test_a_turn_is_over_with_the_last_call():
    rules = turn_rules(TurnRule(kind="last", tools=("send_message",)))
    rules.check("read_note", IN_TURN)
    assert not rules.ends("read_note", IN_TURN) and rules.ends("send_message", IN_TURN)
    rules.check("send_message", IN_TURN)
    for name in ("read_note", "send_message"):
        with pytest.raises(LimitError, match="has already ended"):
            rules.check(name, IN_TURN)
    rules.check("read_note", replace(AGENT, turn="next"))


def test_only_one_of_a_group_is_called_in_a_turn():
    rules = turn_rules(TurnRule(kind="either", tools=("create_note", "edit_*")))
    rules.check("read_note", IN_TURN)
    rules.check("edit_note", IN_TURN)
    rules.check("edit_note", IN_TURN)
    with pytest.raises(LimitError) as caught:
        rules.check("create_note", IN_TURN)
    assert caught.value.data["tools"] == ["create_note", "edit_*"]

"""How groups reach an answer and how delegation stays bounded, as rules over all possible answers."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agent.delegation import DelegationBudget, DelegationFrame
from app.agent.orchestration import run_group
from app.agent.transcript import Usage
from app.errors import ConflictError, LimitError, ScriptoriumError
from app.settings import AgentGroup, AgentProfile, TeamSettings
from app.toolkit.team import TeamAnswer

NAMES = ("Anna", "Bert", "Clara", "Dora", "Emil")
TEAM = TeamSettings(agents=tuple(AgentProfile(name=name) for name in NAMES))


class Scripted:
    """Members with scripted messages: first an answer, then a ballot; None fails."""

    def __init__(self, answers, ballots=None, without_model=()):
        self.answers = answers
        self.ballots = ballots or {}
        self.without_model = without_model
        self.asked = []

    def has_model(self, member):
        return member not in self.without_model

    async def ask(self, member, prompt, *, only_reads=False, delegates=None):
        self.asked.append((member, prompt, only_reads))
        said = self.ballots[member] if only_reads else self.answers[member]
        if said is None:
            raise ScriptoriumError(f"{member} is ill")
        return TeamAnswer(member, said)


def vote(members):
    group = AgentGroup(name="Jury", kind="voting", members=tuple(members.answers))
    return asyncio.run(run_group(group, "which?", members))


@given(st.lists(st.integers(1, 5), min_size=5, max_size=5))
def test_the_answer_with_the_most_votes_wins_and_ties_go_to_the_earlier(choices):
    answers = {name: f"answer of {name}" for name in NAMES}
    ballots = {name: f"No. {choice}!" for name, choice in zip(NAMES, choices, strict=True)}
    result = vote(Scripted(answers, ballots))
    votes = Counter(choices)
    winner = min(votes, key=lambda choice: (-votes[choice], choice))
    assert result.text == f"answer of {NAMES[winner - 1]}"
    assert ("tie" in result.explanation) is (list(votes.values()).count(votes[winner]) > 1)


@given(st.text(max_size=30), st.lists(st.sampled_from(NAMES), unique=True, min_size=3, max_size=5))
def test_a_majority_answer_wins_without_a_ballot(text, agree):
    answers = {name: text if name in agree else f"other {name}" for name in NAMES}
    members = Scripted(answers)
    result = vote(members)
    assert result.text == text and len(members.asked) == len(NAMES)


def test_members_that_fail_or_have_no_model_do_not_stop_the_vote():
    answers = {"Anna": "a", "Bert": None, "Clara": "c"}
    members = Scripted(answers, {"Anna": "2", "Clara": "1"}, without_model=("Clara",))
    result = vote(members)
    assert result.text == "c" and [one.problem for one in result.answers] == ["", "Bert is ill", ""]
    assert [name for name, _, ballot in members.asked if ballot] == ["Anna"]


def test_a_vote_without_members_is_an_error():
    with pytest.raises(ScriptoriumError, match="No member of Jury"):
        vote(Scripted({"Anna": None, "Bert": None}))


@given(st.lists(st.sampled_from([*NAMES, "ANNA", "bert"]), max_size=12), st.integers(1, 6))
def test_no_chain_is_deeper_than_it_may_be_or_has_an_agent_twice(wanted, depth):
    team = TEAM.model_copy(update={"max_depth": depth})
    link = DelegationFrame(("Model",), "c", DelegationBudget.from_settings(team))
    for name in wanted:
        try:
            link.check(name, team)
        except (ConflictError, LimitError):
            continue
        link = replace(link, agents=(*link.agents, name))
    agents = [name.casefold() for name in link.agents]
    assert len(agents) == len(set(agents)) <= depth + 1


@given(st.lists(st.integers(0, 600), max_size=40))
def test_a_budget_ends_by_turns_or_tokens_whatever_is_used(used):
    budget = DelegationBudget(turns=10, tokens=2000)
    taken = 0
    for tokens in used:
        try:
            budget.reserve_turn()
        except LimitError:
            break
        taken += 1
        budget.record_usage(Usage(input_tokens=tokens, cost=0.0))
    assert taken <= 10 and sum(used[: taken - 1]) < 2000 if taken else not used
    assert budget.used.tokens == sum(used[:taken])

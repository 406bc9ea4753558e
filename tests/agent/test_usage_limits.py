from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.agent.transcript import Usage
from app.agent.usage_limits import BudgetExceededError, UsageBudget
from app.settings import ModelSettings

USAGES = st.builds(
    Usage,
    input_tokens=st.integers(0, 1000),
    output_tokens=st.integers(0, 1000),
    cost=st.none() | st.floats(0, 1),
)


@given(st.lists(USAGES, max_size=6), USAGES, st.integers(0, 5000))
def test_a_limit_of_tokens_holds_for_the_sum(turns: list[Usage], now: Usage, limit: int) -> None:
    spending = UsageBudget()
    for usage in turns:
        spending.add(usage)
    used = sum(usage.input_tokens + usage.output_tokens for usage in (*turns, now))
    settings = ModelSettings(max_tokens_per_session=limit)
    if limit and used >= limit:
        with pytest.raises(BudgetExceededError, match=f"{used:,} tokens"):
            spending.check(settings, now)
    else:
        spending.check(settings, now)


def test_a_limit_of_dollars_counts_what_is_known() -> None:
    spending = UsageBudget()
    spending.add(Usage(input_tokens=10, cost=0.4))
    spending.add(Usage(input_tokens=10, cost=None))
    settings = ModelSettings(max_dollars_per_session=0.5)
    spending.check(settings, Usage(cost=0.05))
    with pytest.raises(BudgetExceededError, match=r"cost \$0\.52; your limit is \$0\.50"):
        spending.check(settings, Usage(cost=0.12))

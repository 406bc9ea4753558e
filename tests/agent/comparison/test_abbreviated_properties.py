"""Words that the property of a note in talk abbreviates: `loc` for "the locations"."""

from __future__ import annotations

import pytest

from tests.agent.comparison.test_unnamed_properties import conversation
from tests.agent.language.doubts.test_change_doubts import choices
from tests.agent.language.meaning.test_dialog import talk

__all__ = ["talk"]


@pytest.mark.parametrize(
    "request_", ["add Bergen to the locations", "add Bergen to the locations of that trip"]
)
async def test_a_property_may_abbreviate_a_word(talk, request_) -> None:
    after = await conversation(talk, "open Norway", request_)
    assert "Bergen" not in after["loc"]
    assert "key=loc" in choices(talk)[0] and "Oslo" in choices(talk)[0] and "Bergen" in choices(talk)[0]


async def test_a_form_of_a_name_is_no_abbreviated_word(talk) -> None:
    await conversation(talk, "open Norway", "add Bergen to the ending")
    assert "key=end " not in choices(talk)[0]

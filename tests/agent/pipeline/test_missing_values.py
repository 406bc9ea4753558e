"""A value is only removed from lists that have it."""

from __future__ import annotations

import pytest

from app.agent.language.meaning.notation import PREFIX
from tests.agent.language.meaning.test_dialog import answers, fill, say, talk, text

__all__ = ["talk"]
MINE = "---\nmetals: [Iron, Gold]\n---\n"


@pytest.mark.parametrize(
    ("lead", "answer"),
    [
        ("open Mine", "The list metals of [[Mine]] has no value “Zinc”. Nothing was changed."),
        ("öffne Mine", "Die Liste metals von [[Mine]] hat keinen Wert „Zinc“. Es wurde nichts geändert."),
    ],
)
async def test_a_value_that_a_list_lacks_is_not_removed(talk, lead, answer) -> None:
    await fill(talk, Mine=MINE)
    await say(talk, lead, f"{PREFIX} remove_property [@Mine] key=metals value=Zinc")
    assert answers(talk)[-1] == answer
    assert text(talk, "Mine.md") == MINE

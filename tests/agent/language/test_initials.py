"""The full stop of an initial stays in a value; that of the request does not."""

from __future__ import annotations

import pytest

from app.agent.language.words.task_texts import without_full_stop
from app.agent.language.words.tokens import ends_with_initial
from tests.agent.language.meaning.test_dialog import fill, order, talk, text

__all__ = ["talk"]


@pytest.mark.parametrize(
    ("written", "is_initial"),
    [
        ("Berit H", True),
        ("J. R. R", True),
        ("J.R", True),
        ("Åse Ø", True),
        ("B", False),
        ("grade B", False),
        ("Berit h", False),
        ("HMS BH", False),
        ("Room 4", False),
        ("", False),
    ],
)
def test_an_initial_is_a_single_capital_letter_after_a_name(written: str, is_initial: bool) -> None:
    assert ends_with_initial(written) == is_initial


@pytest.mark.parametrize(
    ("task", "kept"), [("call Berit H.", "call Berit H."), ("call Ann.", "call Ann"), ("wait..", "wait..")]
)
def test_the_full_stop_of_a_task(task: str, kept: str) -> None:
    assert without_full_stop(task) == kept


@pytest.mark.parametrize(
    ("request_text", "written"),
    [
        ("set narrator to Berit H. in Bread", "narrator: Berit H.\n"),
        ("set the narrator of Bread to Berit H.", "narrator: Berit H.\n"),
        ("setze narrator in Bread auf Berit H.", "narrator: Berit H.\n"),
        ("set the narrator of Bread to Berit.", "narrator: Berit\n"),
        ("append Berit H. to Bread", "\nBerit H.\n"),
        ("append to Bread: Berit H.", "\nBerit H.\n"),
        ("add a task to Bread: call Berit H.", "- [ ] call Berit H.\n"),
        ("add a task to Bread: call Berit.", "- [ ] call Berit\n"),
    ],
)
async def test_a_value_keeps_it(talk, request_text: str, written: str) -> None:
    await fill(talk, Bread="---\nnarrator: Ann\n---\nText.\n")
    await order(talk, request_text)
    assert written in text(talk, "Bread.md")

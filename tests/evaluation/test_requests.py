"""The evaluation of requests tells wrong changes from those that are never proposed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.requests import evaluate, executable

CONVERSATIONS = """tag H4 with brass => add_tag [@H3] tag=brass

remove the tag zebra from H4 => ask

tag H4 with brass => add_tag [@H3] tag=brass ||| add_tag [@H4] tag=brass

set the maker of H4 to John Harrison => set_property [@H4] key=maker value="[[People/John Harrison]]"

append "see John Harrison" to H4 => append [@H4] text="see [[John Harrison]]"

add the tags brass and clock to H4 => add_tag [@H4] tag=brass | add_tag [@H4] tag=clock

add the tags brass and clock to H4 => add_tag [@H4] tag=brass | add_tag [@H3] tag=clock

add the tags brass and clock to H4 => add_tag [@H4] tag=brass
"""


async def test_only_a_proposed_change_is_a_wrong_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    file = tmp_path / "requests.txt"
    file.write_text(CONVERSATIONS)
    scores = await evaluate(file)
    other_note, without_effect, judged, link_as_value, link_in_text, *several_tags = scores
    assert (other_note.verdict, without_effect.verdict) == ("wrong write", "missed")
    assert (judged.verdict, judged.strict) == ("at once", "wrong write")
    assert link_as_value.verdict in ("at once", "by question")
    assert link_in_text.verdict == "wrong write"
    assert [score.verdict for score in several_tags] == ["at once", "wrong write", "wrong write"]


@pytest.mark.parametrize(
    ("gold", "line"),
    [
        (
            'replace [@Inbox] old~="Pay the domain" text~="[x]"',
            'complete_task [@Inbox] query="Pay the domain"',
        ),
        ('replace [@Films] old~=Chinatown text~="[ ]"', 'reopen_task [@Films] query="Chinatown"'),
        (
            'add_tag [@Vendor] tag=late | replace [@Vendor] old~="Compare" text~="2026-04-08"',
            'add_tag [@Vendor] tag=late | reschedule_task [@Vendor] query="Compare" due=2026-04-08',
        ),
        ('append [@H4] text~="a clock"', 'append [@H4] text="a clock"'),
        (
            "create_note name=List content~=milk content~=eggs",
            'create_note name=List text="milk, eggs"',
        ),
    ],
)
def test_a_right_reading_can_run(gold: str, line: str) -> None:
    assert " ".join(executable(gold).split()) == line

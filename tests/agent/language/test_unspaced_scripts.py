"""Questions in Chinese and Japanese, whose words have no spaces between them."""

from __future__ import annotations

import pytest

from app.answering.question import is_unspaced_sentence, parse_question
from tests.agent.language.meaning.test_dialog import answers, fill, say, state, talk

__all__ = ["talk"]
NOTES = {
    "笔记__常青笔记": "常青笔记是可以不断改良的笔记，用来积累洞察力。\n\n今天天气很好。",
    "笔记__健身": "健身计划放在表格里，每周三次。",
}


@pytest.mark.parametrize(
    ("text", "is_sentence"),
    [
        ("什么是常青笔记？", True),
        ("如何做健身计划", True),
        ("MySQL 的索引是什么？", True),
        ("インデックスとは何ですか？", True),
        ("常青笔记", False),
        ("常青?", True),
        ("What does 什么 mean?", False),
        ("what is a note?", False),
        ("", False),
    ],
)
def test_sentences_in_scripts_without_spaces_are_recognized(text, is_sentence) -> None:
    assert is_unspaced_sentence(text) == is_sentence


def test_the_words_of_such_a_question_are_pairs_of_letters() -> None:
    assert parse_question("什么是常青笔记？").words == ("常青", "青笔", "笔记")
    assert parse_question("用 obsidian 做健身计划吗").words == (
        "用",
        "obsidian",
        "做健",
        "健身",
        "身计",
        "计划",
    )


async def test_a_question_is_answered_from_the_notes(talk) -> None:
    await fill(talk, **NOTES)
    await say(talk, "什么是常青笔记？")
    assert "不断改良" in answers(talk)[-1] and "天气" not in answers(talk)[-1]
    replies = await say(talk, "open that")
    assert replies.focus == ("笔记/常青笔记.md",)


async def test_a_question_without_an_answer_is_not_answered(talk) -> None:
    await fill(talk, **NOTES)
    await say(talk, "红烧肉怎么做？")
    assert answers(talk)[-1].startswith("**Not in your notes**")


async def test_an_order_with_such_words_is_no_question(talk) -> None:
    await fill(talk, **NOTES)
    await say(talk, 'add "什么是笔记？" to 健身')
    assert "什么是笔记？" in talk.workspace.store.root.joinpath("笔记/健身.md").read_text()


async def test_the_name_of_a_note_opens_it(talk) -> None:
    await fill(talk, 为什么做笔记="为了思考。")
    await say(talk, "为什么做笔记")
    assert state(talk).focus == ("为什么做笔记.md",)

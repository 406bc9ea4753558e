"""Texts in changes: written as the user gave them, or as the items that the request lists."""

from __future__ import annotations

import pytest

from app.agent.transcript import Question, RequestReading
from tests.agent.language.meaning.test_dialog import OPEN, say, state, talk, text

__all__ = ["talk"]


async def written(talk, request):
    """Return the text of the note that a request changes; a question gets its first option as the answer."""
    await talk.say(request, open_note=OPEN)
    if isinstance(talk.items[-1], Question):
        await talk.say(talk.items[-1].choices[0].reply, open_note=OPEN)
    (path,) = state(talk).focus
    return text(talk, path)


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        (
            'append the line "Works on all platforms and browsers" to H4',
            "Works on all platforms and browsers",
        ),
        ("Append 'See also [[H1]] and [[K1]]' to H4", "See also [[H1]] and [[K1]]"),
        ("append “brass, oak and gold” to H4", "brass, oak and gold"),
        ("append to H4: brass, oak and gold", "brass, oak and gold"),
        ("add the line brass and oak to H4", "brass and oak"),
        ("add brass and oak to H4", "brass and oak"),
        ("add the line [[Sextant]] to H4", "[[Sextant]]"),
        ("füge die Zeile „Messing und Eiche“ zu H4 hinzu", "Messing und Eiche"),
        ("Schreib in H4: Messing, Eiche und Gold", "Messing, Eiche und Gold"),
    ],
)
async def test_a_text_is_written_as_it_is_given(talk, request_, line) -> None:
    assert f"\n{line}\n\n## Relations\n" in await written(talk, request_)


@pytest.mark.parametrize(
    ("requests", "items"),
    [
        (["create a note called Shopping list with milk and eggs"], ["milk", "eggs"]),
        (['create a note "Packing" with socks, a hat and boots'], ["socks", "a hat", "boots"]),
        (
            [
                "create a note called Shopping list with milk and eggs",
                "add oil and salt to the shopping list",
            ],
            ["milk", "eggs", "oil", "salt"],
        ),
        (['make a note "Gifts" with a list: book, scarf, olive oil'], ["book", "scarf", "olive oil"]),
        (["create a note called Trip", "add the items tea and coffee to Trip"], ["tea", "coffee"]),
        (["lege eine Notiz Einkaufsliste mit Milch und Brot an"], ["Milch", "Brot"]),
    ],
)
async def test_items_become_a_list(talk, requests, items) -> None:
    for request in requests:
        note = await written(talk, request)
    assert [line[2:] for line in note.splitlines() if line.startswith("- ")] == items


async def test_a_quoted_text_of_a_new_list_stays_whole(talk) -> None:
    note = await written(talk, 'create a note called Shopping list with the text "milk, eggs and bread"')
    assert "milk, eggs and bread" in note.splitlines()


async def test_the_question_shows_the_items(talk) -> None:
    await say(talk, "create a note called Shopping list", "add oil and salt to the shopping list")
    shown = [item for item in talk.items if isinstance(item, Question | RequestReading)][-1]
    labels = [shown.choices[0].label] if isinstance(shown, Question) else [chip.label for chip in shown.chips]
    assert "text: oil · text: salt" in " · ".join(labels)


async def test_words_after_it_are_tags_though_a_note_is_named_so(talk) -> None:
    before = text(talk, "Instruments/Sextant.md")
    await say(talk, "open H4")
    for request in ("tag it sextant and draft", "tag this note sextant and rough"):
        note = await written(talk, request)
    assert "rough" in note and "sextant" in note
    assert text(talk, "Instruments/Sextant.md") == before

"""Extractive summaries keep to their length and consist of whole sentences, in any script."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.analysis.sentences import first_prose_line, split_sentences, with_full_stop
from app.analysis.summary import candidate_sentences, summarize, truncate

NOTE = """---
type: person
---
# John Harrison

**John Harrison** built [[H4|the watch]], see [the list](List.md "x"). He was born in 1693! Was he rich? Dr.
Hooke wrote of him; e.g. in No. 5.

- A first *item*.
- [ ] A task to do
- supports [[Timekeepers]] (confidence: 0.9)
status:: done

```python
print("Not prose.")
```
%% hidden. %%

> [!note] A remark
"""


def test_markdown_is_removed() -> None:
    assert split_sentences(NOTE) == (
        "John Harrison built the watch, see the list.",
        "He was born in 1693!",
        "Was he rich?",
        "Dr. Hooke wrote of him; e.g. in No. 5.",
        "A first item.",
        "A task to do",
        "A remark",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "鄭和は旅をした。星を見た！「本当か？」と。",
            ("鄭和は旅をした。", "星を見た！", "「本当か？」", "と。"),
        ),
        ("第一句。\n第二句", ("第一句。", "第二句")),
        ("Él llegó. Ángel se fue. ¿Y tú?", ("Él llegó.", "Ángel se fue. ¿Y tú?")),
        ("It took 3.14 s. Then 5 more.", ("It took 3.14 s.", "Then 5 more.")),
        ("", ()),
    ],
)
def test_sentences_of_other_scripts(text: str, expected: tuple[str, ...]) -> None:
    assert split_sentences(text) == expected


def test_central_sentences_are_selected_without_duplicates() -> None:
    said = (
        "The chronometer kept time at sea.",
        "A chronometer keeps the time at sea.",
        "Cats sleep all day.",
        "Ships needed the time at sea to find longitude with a chronometer.",
    )
    made = summarize(said, 110)
    assert "Cats" not in made.text and len(made.text) <= 110
    assert made.key_points[0] in said and "words" in made.method


def test_vectors_of_sentences_decide_where_there_are_some() -> None:
    said = ("One thing.", "Another thing.", "Something else.")
    vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    made = summarize(said, 12, vectors)
    assert made.text in said and "meaning" in made.method


@given(st.text(max_size=600), st.integers(1, 300))
def test_the_length_is_respected(text: str, most: int) -> None:
    said = candidate_sentences(text)
    made = summarize(said, most)
    assert len(made.text) <= most
    assert bool(made.text) == bool(said) or most == 1
    assert set(made.key_points) <= set(said)


_SAID = st.sampled_from(["A b c.", "The sea.", "鄭和。", "Time at sea is gold."])


@given(st.lists(_SAID, max_size=9), st.integers(1, 80))
def test_what_fits_is_whole_and_in_order(said: list[str], most: int) -> None:
    unique = tuple(dict.fromkeys(said))
    made = summarize(unique, most)
    fitting = [one for one in unique if len(one) <= most]
    if fitting:
        at = -1
        for one in unique:
            if one in made.text:
                assert made.text.index(one) > at
                at = made.text.index(one)
        assert at >= 0


@given(st.text(), st.integers(0, 50))
def test_shortened_is_short(text: str, most: int) -> None:
    assert len(truncate(text, most)) <= most


def test_sentences_of_a_list_are_joined_with_punctuation_and_images_are_left_out() -> None:
    note = "- Boil water\n- Add leaves:\n- ![[Kettle.png|300]]\n\n![A pot](pot.jpg)\nPour it ![[x.svg]] out\n"
    said = candidate_sentences(note)
    assert said == ("Boil water", "Add leaves:", "Pour it out")
    assert summarize(said, 200).text == "Boil water. Add leaves. Pour it out."
    assert summarize(said, 11).text in ("Boil water.", "Add leaves.")


@given(st.lists(st.text(max_size=30)), st.integers(2, 80))
def test_each_sentence_of_a_summary_ends(lines: list[str], most: int) -> None:
    said = candidate_sentences("\n\n".join(lines))
    text = summarize(said, most).text
    assert not text or text.endswith("…") or with_full_stop(text) == text


def test_the_passage_of_a_place_is_prose() -> None:
    note = "---\na: b\n---\n# Title\n\n## Part\n![[x.png]]\n- [ ] **Do** it\n\n## Empty\n"
    assert first_prose_line(note, 1) == (8, "Do it") == first_prose_line(note, 6)
    assert first_prose_line(note, 9) is None and first_prose_line(note, 99) is None
    assert first_prose_line("One\u2028line\n---\r\nTwo\n", 2) == (3, "Two")

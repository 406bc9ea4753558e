"""Text that UTF-8 can't encode is converted so that it can be stored, sent and displayed."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import encoding
from app.encoding import (
    MAX_DEPTH,
    check_json_size,
    encodable,
    encodable_arguments,
    escape_unencodable,
    is_binary,
)
from app.errors import LimitError

ANY = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)
JSON = st.recursive(
    ANY | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(ANY, inner)
)


@given(ANY)
def test_every_text_becomes_encodable_and_good_text_stays(text):
    encodable(text).encode()
    escape_unencodable(text).encode()
    if not any("\ud800" <= one <= "\udfff" for one in text):
        assert encodable(text) == text == escape_unencodable(text)


@given(JSON)
async def test_separators_outside_texts_are_counted_whatever_the_texts_hold(value):
    raw = json.dumps(value).encode() * 2
    bare = json.dumps(value, separators=(",", ":"))
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', "", bare)
    assert encoding._count_separators(raw) == 2 * (plain.count(",") + plain.count(":"))


async def test_many_values_are_refused_and_a_long_text_is_not():
    await check_json_size(json.dumps({"text": 'a, b: \\" ' * 100_000}).encode())
    for many in ([0] * 30_000, {str(n): n for n in range(20_000)}, [[{"a": []}]] * 15_000):
        with pytest.raises(LimitError):
            await check_json_size(json.dumps(many).encode())


@given(JSON)
def test_every_text_in_arguments_becomes_encodable(value):
    str(encodable_arguments({"x": value})).encode()


def test_halves_of_a_pair_are_joined_and_bytes_of_a_name_are_shown():
    assert encodable("\ud83c\udf75") == "🍵" and encodable("a\ud800b") == "a\ufffdb"
    assert (
        escape_unencodable("Gr\udcfc\udcdfe.md") == r"Gr\xfc\xdfe.md"
        and escape_unencodable("\ud800") == r"\ud800"
    )


def test_what_is_nested_too_deeply_is_refused():
    value: object = "x"
    for _ in range(MAX_DEPTH + 1):
        value = [value]
    with pytest.raises(LimitError):
        encodable_arguments({"x": value})


@pytest.mark.parametrize(
    ("content", "binary"),
    [
        (b"", False),
        ("Grüße, 漢字\n".encode() * 9000, False),
        (b"one hidden \x00 character in a line of text\n", False),
        ("Stra\xdfe und M\xfche, wie sie in alten Dateien stehen".encode("latin-1"), False),
        ("Привет, мир".encode("koi8-r"), True),
        ("Hello".encode("utf-16"), True),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), True),
    ],
)
def test_content_is_binary_if_a_tenth_is_no_text(content, binary):
    assert is_binary(content) is binary

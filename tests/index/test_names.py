from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from app.index.names import decode_list


@given(st.lists(st.text()), st.booleans(), st.sampled_from([(", ", ": "), (",", ":")]))
def test_a_saved_list_contains_its_words(words: list[str], plain: bool, separators: tuple[str, str]) -> None:
    assert decode_list(json.dumps(words, ensure_ascii=plain, separators=separators)) == tuple(words)

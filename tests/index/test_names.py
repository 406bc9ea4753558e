from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from app.index.names import decode_list


@given(st.lists(st.text()), st.booleans(), st.sampled_from([(", ", ": "), (",", ":")]))
def test_a_kept_list_has_the_words_that_it_was_made_of(
    words: list[str], plain: bool, separators: tuple[str, str]
) -> None:
    assert decode_list(json.dumps(words, ensure_ascii=plain, separators=separators)) == tuple(words)

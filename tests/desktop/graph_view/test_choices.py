from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.desktop.graph_view.choices import Arrangement, Choices, Pull, QueryGroup, Shown, read_choices
from app.desktop.graph_view.look import ColorBy

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_what_is_kept_comes_back():
    made = Choices(
        color_by=ColorBy.FOLDER,
        minimap=True,
        filter="tag:a",
        shown=Shown(tags=True),
        groups=(QueryGroup(query="path:b", color="palette-3"),),
        pull=Pull(spacing=30),
        arrangement=Arrangement.TYPE,
    )
    assert read_choices(made.model_dump(mode="json")) == made
    assert read_choices({}) == Choices()


@given(st.dictionaries(st.sampled_from(sorted(Choices.model_fields)), json_values))
def test_whatever_is_in_the_file_gives_choices(kept):
    read_choices(kept)


def test_one_bad_field_spoils_no_other():
    kept = {"pull": {"spacing": 4000}, "filter": "x", "groups": [{"color": "red"}]}
    assert read_choices(kept) == Choices(filter="x")

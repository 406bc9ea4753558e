from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.desktop.graph.node_style import ColorBy
from app.desktop.graph.settings.model import (
    GraphSettings,
    LayoutMode,
    QueryGroup,
    VisibilitySettings,
    parse_graph_settings,
)
from app.graph.force_params import ForceParams

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_saved_settings_are_restored():
    settings = GraphSettings(
        color_by=ColorBy.FOLDER,
        minimap=True,
        filter="tag:a",
        shown=VisibilitySettings(tags=True),
        groups=(QueryGroup(query="path:b", color="palette-3"),),
        forces=ForceParams(spacing=30),
        arrangement=LayoutMode.TYPE,
    )
    assert parse_graph_settings(settings.model_dump(mode="json")) == settings
    assert parse_graph_settings({}) == GraphSettings()


def test_saved_forces_keep_their_key():
    settings = GraphSettings(forces=ForceParams(spacing=30))
    saved = settings.model_dump(mode="json")
    assert saved["pull"]["spacing"] == 30 and "forces" not in saved
    assert parse_graph_settings({"pull": {"spacing": 30}}) == settings


@given(st.dictionaries(st.sampled_from(sorted(GraphSettings().model_dump())), json_values))
def test_any_file_content_yields_valid_settings(saved):
    settings = parse_graph_settings(saved)
    assert GraphSettings.model_validate(settings.model_dump()) == settings
    assert parse_graph_settings(settings.model_dump(mode="json")) == settings


def test_one_bad_field_spoils_no_other():
    saved = {"pull": {"spacing": 4000}, "filter": "x", "groups": [{"color": "red"}]}
    assert parse_graph_settings(saved) == GraphSettings(filter="x")

"""The settings of the graph view, saved per vault and validated when they are loaded."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from app.desktop.graph.node_style import ColorBy
from app.graph.force_params import ForceParams

PALETTE = tuple(f"palette-{index}" for index in range(8))


class LayoutMode(StrEnum):
    """The layout of the graph: by links (`FORCE`), or by a property of the notes."""

    FORCE = "force"
    FOLDER = "folder"
    TAG = "tag"
    TYPE = "type"
    CREATED = "created"
    MODIFIED = "modified"
    MEANING = "meaning"


class QueryGroup(BaseModel):
    """A query and the color of its matches in the theme's palette ("palette-0" to "palette-7")."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    query: str = ""
    color: str = Field(default=PALETTE[0], pattern=r"^palette-[0-7]$")


class VisibilitySettings(BaseModel):
    """The visible kinds of nodes and links; `dimmed` dims filtered nodes instead of hiding them."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    orphans: bool = True
    unresolved: bool = True
    attachments: bool = True
    tags: bool = False
    suggestions: bool = False
    dimmed: bool = True


def _check_limits(forces: ForceParams) -> ForceParams:
    if forces != forces.within_limits():
        raise ValueError("a force is outside its limits")
    return forces


class GraphSettings(BaseModel):
    """All settings of the graph view.

    `color_by` and `minimap` are None for the default, which depends on the vault; `folded` has the keys of
    the collapsed sections.
    """

    model_config = ConfigDict(frozen=True, defer_build=True, validate_by_name=True, serialize_by_alias=True)

    color_by: ColorBy | None = None
    minimap: bool | None = None
    filter: str = Field(default="", max_length=4000)
    shown: VisibilitySettings = VisibilitySettings()
    groups: tuple[QueryGroup, ...] = ()
    # The saved key is "pull".
    forces: Annotated[ForceParams, AfterValidator(_check_limits)] = Field(
        default=ForceParams(), validation_alias="pull", serialization_alias="pull"
    )
    arrangement: LayoutMode = LayoutMode.FORCE
    folded: tuple[str, ...] = ("groups", "forces", "arrange", "analysis")

    def updated(self, **values: object) -> GraphSettings:
        """Return a copy with these values changed."""
        return self.model_copy(update=values)


def parse_graph_settings(saved: Mapping[str, Any]) -> GraphSettings:
    """Return the saved settings; an invalid field gets its default.

    Args:
        saved: The result of `GraphSettings.model_dump(mode="json")`, possibly from another version, or empty.
    """
    valid: dict[str, Any] = {}
    saved_keys = {field.serialization_alias or name for name, field in GraphSettings.model_fields.items()}
    for key in saved_keys & saved.keys():
        try:
            GraphSettings.model_validate({key: saved[key]})
        except ValidationError:
            continue
        valid[key] = saved[key]
    return GraphSettings.model_validate(valid)

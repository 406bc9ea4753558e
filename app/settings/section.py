"""A part of the settings, as it is kept."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the settings; what a newer version wrote and this one does not know is kept."""

    model_config = ConfigDict(extra="allow", validate_assignment=True, defer_build=True)

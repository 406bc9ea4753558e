"""A rejected value is explained by one sentence that names its field and what it takes."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator

from app.desktop.widgets.validation_text import problem_text
from app.settings import NAME_PATTERN, ExternalServer, ModelSettings


class Row(BaseModel):
    count_of_rows: int | None = None


class Sample(BaseModel):
    name: str = Field("", title="Name", min_length=1, max_length=3)
    kind: Literal["short", "long"] = Field("short", title="Kind")
    share: float = Field(0.5, title="Share", gt=0)
    rows: tuple[Row, ...] = Field((), title="Rows", max_length=2)
    label: str = Field("A", title="Label", pattern=NAME_PATTERN)
    limit: Annotated[int, Field(le=9)] | None = Field(None, title="Limit")
    word: str = Field("", title="Word")

    @field_validator("word")
    @classmethod
    def _check_word(cls, value: str) -> str:
        if value:
            raise ValueError("two rows have this word")
        return value


def problems(model: type[BaseModel], **values: object) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(values)
    return [problem_text(problem, model) for problem in caught.value.errors()]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"name": ""}, "“Name” is required."),
        ({"name": "four"}, "“Name” can have at most 3 characters."),
        ({"kind": "wide"}, "“Kind” must be “short” or “long”."),
        ({"share": "much"}, "“Share” must be a number, at least 0."),
        ({"rows": ({"count_of_rows": "x"},)}, "“Count of rows” must be a whole number."),
        ({"rows": ({}, {}, {})}, "“Rows” can have at most 2 entries."),
        ({"limit": 10}, "“Limit” must be a whole number, at most 9."),
        ({"word": "tea"}, "Two rows have this word."),
        (
            {"label": "1"},
            "“Label” must start with a letter. It can have up to 40 letters, digits, underscores, "
            "spaces, periods, apostrophes and hyphens.",
        ),
    ],
)
def test_a_problem_is_a_sentence(qapp, values: dict[str, object], expected: str) -> None:
    assert problems(Sample, **values) == [expected]


def test_the_settings_name_the_range(qapp) -> None:
    (text,) = problems(ModelSettings, temperature="very hot")
    assert text.startswith("“Temperature” must be a number from 0 to ")
    values = {"name": "n", "seconds": 0}
    assert problems(ExternalServer, **values) == ["“Time limit” must be a whole number from 1 to 3,600."]

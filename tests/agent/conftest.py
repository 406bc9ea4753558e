"""The request model for conversations, which repeat requests of other tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from app.agent.language.model.request_model import FieldInput, ItemInput, RequestModel, ScoredProgram


@pytest.fixture(scope="session")
def known_programs() -> dict[str, list[ScoredProgram]]:
    """The model's programs by its inputs."""
    return {}


@pytest.fixture(scope="module")
def remembered_programs(known_programs: dict[str, list[ScoredProgram]]) -> Iterator[None]:
    """Run the model once for equal inputs, on which alone its programs depend."""
    run = RequestModel.programs

    def programs(
        self: RequestModel,
        items: Sequence[ItemInput],
        fields: Sequence[FieldInput],
        state: Sequence[str],
        width: int = 14,
    ) -> list[ScoredProgram]:
        inputs = repr((list(items), list(fields), list(state), width))
        if inputs not in known_programs:
            known_programs[inputs] = run(self, items, fields, state, width)
        return list(known_programs[inputs])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RequestModel, "programs", programs)
        yield

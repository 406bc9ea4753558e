"""A scripted model in the user's settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.settings import AnswerByModel, Settings, save_settings
from tests.support.model_server import Answer, ModelServer


@contextmanager
def use_model(settings: Settings, *answers: Answer, key: str | None = None) -> Iterator[ModelServer]:
    """Serve `answers` on loopback, and set the address of that server in the saved settings."""
    with ModelServer(*answers, key=key) as server:
        settings.model = type(settings.model).model_validate(
            {
                "provider": "openai-compatible",
                "base_url": server.address,
                "model": "scripted",
                "request_timeout": 20,
            }
        )
        settings.agent.answering = AnswerByModel()
        save_settings(settings)
        yield server

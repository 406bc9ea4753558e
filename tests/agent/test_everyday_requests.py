"""A sample of the seen requests stays understood, and nothing in it leads to a wrong write."""

from __future__ import annotations

from tests.evaluation.requests import HERE, evaluate


async def test_everyday_requests_are_still_understood(tmp_path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    scores = await evaluate(HERE / "requests_seen.txt", every=5)
    verdicts = [score.verdict for score in scores]
    assert "wrong write" not in verdicts
    missed = [score.request.text for score in scores if score.verdict == "missed"]
    assert len(missed) <= 0.25 * len(scores), missed

"""No request of a sample is understood worse than recorded, and none leads to a wrong write."""

from __future__ import annotations

from tests.evaluation.requests import RANKS, SAMPLE_EVERY, SEEN, evaluate, known_gaps


async def test_everyday_requests_are_still_understood(tmp_path, monkeypatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    known_values = known_gaps()
    scores = await evaluate(SEEN, SAMPLE_EVERY)
    assert len(scores) > 150
    worse = [
        f"{score.verdict}: {score.request.text} (found {score.interpretation})"
        for score in scores
        if RANKS[score.verdict] > RANKS[known_values.get(score.request.text, "at once")]
    ]
    assert not worse, "accept with `python -m tests.evaluation.requests --record`, if that is meant"
    assert "wrong write" not in {score.verdict for score in scores}

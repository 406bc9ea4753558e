"""The cross-encoder process: started on demand, ended when idle; a missing model is reported once.

Uses a real model, made for the test, if sentence-transformers is installed or SCRIPTORIUM_TRANSFORMERS_PYTHON
names a Python that has it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from app.embeddings import EmbedderUnavailableError, entailment_client
from app.embeddings.entailment_client import EntailmentClassifier
from app.embeddings.model_config import SentenceModelConfig
from app.vault.path import NotePath
from tests.support.pair_worker import ROOT, PairProgram

OTHER_PYTHON = os.environ.get("SCRIPTORIUM_TRANSFORMERS_PYTHON", "")
PAIR = ("The watch kept time.", "A watch did keep time.")
DENIED = ("The watch kept time.", "The watch did not keep time.")
needs_a_shebang = pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
# Print the model's probabilities of each pair, computed by transformers; its labels are in an unusual order.
MAKE = """
import json, sys, torch
from pathlib import Path
from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast
folder, labels, pairs = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
folder.mkdir()
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "watch", "kept", "time", "a", "did", "not", "."]
(folder / "vocab.txt").write_text("\\n".join(words))
tokenizer = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"))
torch.manual_seed(5)
config = BertConfig(
    vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
    max_position_embeddings=48, num_labels=len(labels), initializer_range=0.5,
    id2label=dict(enumerate(labels)), label2id={label: at for at, label in enumerate(labels)},
)
model = BertForSequenceClassification(config).eval()
model.save_pretrained(folder)
tokenizer.save_pretrained(folder)
with torch.no_grad():
    rows = [model(**tokenizer(*pair, return_tensors="pt")).logits.softmax(-1)[0].tolist() for pair in pairs]
print(json.dumps(rows))
"""


@pytest.fixture
async def classifier() -> AsyncIterator[EntailmentClassifier]:
    made = EntailmentClassifier(lambda path: path == NotePath("Secret.md"))
    yield made
    await made.close()


@pytest.fixture
def program(tmp_path: Path) -> PairProgram:
    return PairProgram(tmp_path)


def choice(name: str, python: object) -> SentenceModelConfig:
    return SentenceModelConfig(name, str(python), is_cross_encoder=True)


def made_model(folder: Path, labels: list[str]) -> list[list[float]]:
    """Make a tiny real cross-encoder in `folder`, and return its own probabilities of `PAIR` and `DENIED`."""
    if not OTHER_PYTHON and not find_spec("sentence_transformers"):
        pytest.skip("the sentence-transformers extra is not installed")
    command = [
        OTHER_PYTHON or sys.executable,
        "-c",
        MAKE,
        str(folder),
        json.dumps(labels),
        json.dumps([PAIR, DENIED]),
    ]
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT)
    rows: list[list[float]] = json.loads(done.stdout.decode().splitlines()[-1])
    return rows


async def classified_eventually(
    classifier: EntailmentClassifier, pairs: list[tuple[str, str]]
) -> list[entailment_client.EntailmentScores]:
    """Retry: on a busy machine torch may take longer to load than the time limit."""
    while True:
        try:
            return list(await classifier.classify(pairs))
        except EmbedderUnavailableError as error:
            if "still being loaded" not in error.message:
                raise


async def test_a_real_cross_encoder_is_read_by_its_labels(
    classifier: EntailmentClassifier, tmp_path: Path
) -> None:
    expected = made_model(tmp_path / "tiny", ["ENTAILMENT", "neutral", "Contradiction"])
    classifier.choose(choice(str(tmp_path / "tiny"), OTHER_PYTHON))
    long = " ".join(["the watch kept time ."] * 60)
    said = await classified_eventually(classifier, [PAIR, DENIED, (long, long)])
    for verdict, row in zip(said, expected, strict=False):
        assert (verdict.entailment, verdict.contradiction) == pytest.approx((row[0], row[2]), abs=1e-5)
    assert abs(said[0].entailment - said[1].entailment) > 0.01 and len(said) == 3


async def test_a_model_of_other_labels_is_refused(classifier: EntailmentClassifier, tmp_path: Path) -> None:
    made_model(tmp_path / "tiny", ["good", "bad"])
    classifier.choose(choice(str(tmp_path / "tiny"), OTHER_PYTHON))
    with pytest.raises(EmbedderUnavailableError, match="no cross-encoder for relations: it tells good, bad"):
        await classified_eventually(classifier, [PAIR])
    assert not classifier.is_available


async def test_a_missing_extra_or_model_is_reported(classifier: EntailmentClassifier, tmp_path: Path) -> None:
    classifier.choose(choice(str(tmp_path / "no model"), OTHER_PYTHON))
    with pytest.raises(EmbedderUnavailableError, match=r"sentence-transformers|can't be loaded"):
        await classified_eventually(classifier, [PAIR])
    assert not classifier.is_available and classifier.worker_id is None


async def test_without_a_chosen_model_nothing_is_started(classifier: EntailmentClassifier) -> None:
    assert not classifier.is_available and classifier.name == ""
    with pytest.raises(EmbedderUnavailableError, match="No cross-encoder is chosen"):
        await classifier.classify([PAIR])
    assert classifier.may_read(NotePath("Open.md")) and not classifier.may_read(NotePath("Secret.md"))


@needs_a_shebang
async def test_started_when_asked_and_ended_when_idle(
    classifier: EntailmentClassifier, program: PairProgram
) -> None:
    classifier.choose(choice("nli", program.path))
    assert classifier.is_available and classifier.worker_id is None and not program.starts
    first, second = await classifier.classify([PAIR, (DENIED[0], DENIED[1] + " \ud800")])
    assert first.entailment > 0.9 and second.contradiction > 0.8
    await classifier.classify([PAIR])
    assert program.starts == ["nli"]
    classifier._worker.idle_timeout = 0.0
    await classifier.classify([PAIR])
    while classifier.worker_id is not None:
        await asyncio.sleep(0.01)
    await classifier.classify([PAIR])
    assert program.starts == ["nli", "nli"]


@needs_a_shebang
async def test_a_lost_process_is_started_once_more(
    classifier: EntailmentClassifier, program: PairProgram
) -> None:
    classifier.choose(choice("nli", program.path))
    await classifier.classify([PAIR])
    assert classifier.worker_id is not None
    psutil.Process(classifier.worker_id).kill()
    assert (await classifier.classify([PAIR]))[0].entailment > 0.9
    classifier.choose(choice("dies", program.path))
    with pytest.raises(EmbedderUnavailableError, match="crashed on these texts"):
        await classifier.classify([PAIR])
    assert not classifier.is_available and program.starts == ["nli", "nli", "dies", "dies"]


@needs_a_shebang
async def test_choosing_another_model_clears_the_failure(
    classifier: EntailmentClassifier, program: PairProgram
) -> None:
    classifier.choose(choice("none", program.path))
    with pytest.raises(EmbedderUnavailableError, match="There is no such model"):
        await classifier.classify([PAIR])
    assert not classifier.is_available
    classifier.choose(choice("nli", program.path))
    assert classifier.is_available and await classifier.classify([PAIR])
    classifier.choose(choice("other", program.path))
    assert await classifier.classify([PAIR]) and program.starts == ["none", "nli", "other"]
    classifier.choose(None)
    assert not classifier.is_available


@needs_a_shebang
async def test_canceling_or_closing_leaves_no_process(
    classifier: EntailmentClassifier, program: PairProgram
) -> None:
    classifier.choose(choice("hangs", program.path))
    for asked, end in enumerate(("cancel", "close"), 1):
        asking = asyncio.create_task(classifier.classify([PAIR]))
        while program.starts.count("asked") < asked:
            await asyncio.sleep(0.01)
        assert classifier.worker_id is not None
        process = psutil.Process(classifier.worker_id)
        if end == "cancel":
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        else:
            await classifier.close()
            with pytest.raises(EmbedderUnavailableError, match="closed"):
                await asking
        assert classifier.worker_id is None and not process.is_running()

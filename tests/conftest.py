"""Fixtures for all tests: separate folders for settings, data and cache, and no display."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import itertools
import logging
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import hypothesis
import pytest

from app import paths
from app.settings import Settings
from app.workspace.opening import open_workspace
from app.workspace.workspace import Workspace
from tests.support.approver import ScriptedApprover
from tests.support.public_vaults import PUBLIC_VAULTS, unpack_vaults
from tests.support.stored_folder import StoredFolder

# A test never judges the clock: on a busy machine a property may take as long as it takes. CI tries the
# same examples each time; on a desk every run tries others.
hypothesis.settings.register_profile("scriptorium", deadline=None, derandomize="CI" in os.environ)
hypothesis.settings.load_profile("scriptorium")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

ROOT = Path(__file__).resolve().parent.parent
SAMPLE_VAULT = ROOT / "resources" / "sample-vault"


def pytest_collection(session: pytest.Session) -> None:
    """Let every other worker read the tests from the last to the first.

    Each has to read them all, and most of that is to compile them. What one has compiled the other finds,
    so that they meet in the middle.
    """
    if not any(Path(each).resolve() == ROOT / "tests" for each in session.config.args):
        return  # Only some tests are run.
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    if sys.dont_write_bytecode or worker % 2 == 0:
        return
    for file in sorted(ROOT.glob("tests/**/test_*.py"), reverse=True):
        # What is wrong with a module is told when it is collected.
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


@pytest.fixture(scope="session")
def create_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that creates an empty folder whose name starts with the given text.

    To number a folder, pytest lists the folders of all earlier tests; counting takes no time.
    """
    numbers = itertools.count()
    return lambda name: tmp_path_factory.mktemp(f"{name}{next(numbers)}", numbered=False)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, create_folder: Callable[[str], Path]) -> Path:
    """An empty folder for this test alone."""
    return create_folder(re.sub(r"\W", "_", request.node.name)[:30])


@pytest.fixture(autouse=True)
def own_folders(create_folder: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, data, cache and logs of this test alone."""
    home = create_folder("home")
    set_app_folders(monkeypatch, home)
    return home


def set_app_folders(environment: pytest.MonkeyPatch, home: Path) -> None:
    """Put settings, data, cache and logs into folders of `home`."""
    for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
        environment.setenv(f"SCRIPTORIUM_{name}", str(home / name.lower()))


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


@pytest.fixture(scope="session")
def sample_files() -> StoredFolder:
    """The shipped sample vault."""
    return StoredFolder(SAMPLE_VAULT)


@pytest.fixture
def sample_vault(tmp_path: Path, sample_files: StoredFolder) -> Path:
    """A copy of the shipped sample vault."""
    target = tmp_path / "Sample vault"
    sample_files.write(target)
    return target


@pytest.fixture
def approver() -> ScriptedApprover:
    """Approves everything, unless a test gives it other answers."""
    return ScriptedApprover()


@asynccontextmanager
async def _scanned(vault: Path, approver: ScriptedApprover, *, brief: bool) -> AsyncIterator[Workspace]:
    """Open a vault without embeddings, scan it, and close it in the end."""
    settings = Settings()
    settings.embeddings.enabled = False
    opened = await open_workspace(vault, settings, approver, brief=brief)
    try:
        await opened.start_scan(lambda progress: None)
        yield opened
    finally:
        await opened.close()


@pytest.fixture(scope="session")
def sample_cache(tmp_path_factory: pytest.TempPathFactory, sample_files: StoredFolder) -> StoredFolder:
    """The cache folder of a scanned copy of the sample vault.

    A test that starts with a copy of it need not read the notes again.
    """
    folder = tmp_path_factory.mktemp("scanned sample vault")
    vault = folder / "Sample vault"
    sample_files.write(vault)

    async def scan() -> Path:
        async with _scanned(vault, ScriptedApprover(), brief=True):
            return paths.vault_cache_folder(vault)

    with pytest.MonkeyPatch.context() as environment:
        set_app_folders(environment, folder)
        with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
            return StoredFolder(runner.run(scan()))


@pytest.fixture
def indexed_sample_vault(sample_vault: Path, sample_cache: StoredFolder) -> Path:
    """A copy of the shipped sample vault that was scanned before."""
    sample_cache.write(paths.vault_cache_folder(sample_vault))
    return sample_vault


@pytest.fixture
async def workspace(indexed_sample_vault: Path, approver: ScriptedApprover) -> AsyncIterator[Workspace]:
    """The sample vault, open and scanned, without embeddings."""
    async with _scanned(indexed_sample_vault, approver, brief=False) as opened:
        yield opened


@pytest.fixture
async def unwatched_workspace(
    indexed_sample_vault: Path, approver: ScriptedApprover
) -> AsyncIterator[Workspace]:
    """The sample vault, open and scanned, without embeddings; changes of the files are not noticed."""
    async with _scanned(indexed_sample_vault, approver, brief=True) as opened:
        yield opened

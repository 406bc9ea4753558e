import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import StorageError, VaultBusyError
from app.vault.lock import VaultLock, find_holder

HOLD = """
import sys
from pathlib import Path
from app.vault.lock import VaultLock
lock = VaultLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def owner(tmp_path: Path):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
        child.kill()


def test_a_second_process_learns_who_holds_the_lock(tmp_path: Path, owner: subprocess.Popen):
    lock = VaultLock(tmp_path)
    with pytest.raises(VaultBusyError) as caught:
        lock.acquire()
    assert str(owner.pid) in str(caught.value.data["owner"])
    assert not lock.is_held


def test_a_killed_owner_does_not_keep_the_lock(tmp_path: Path, owner: subprocess.Popen):
    os.kill(owner.pid, signal.SIGKILL)
    owner.wait()
    lock = VaultLock(tmp_path)
    lock.acquire()
    assert lock.is_held
    lock.release()


def test_an_owner_that_cannot_be_recorded_frees_the_lock(tmp_path: Path):
    (tmp_path / "vault.owner.json" / "in the way").mkdir(parents=True)
    lock = VaultLock(tmp_path)
    with pytest.raises(StorageError):
        lock.acquire()
    assert not lock.is_held


def test_two_locks_in_one_process_exclude_each_other(tmp_path: Path):
    first, second = VaultLock(tmp_path), VaultLock(tmp_path)
    first.acquire()
    first.acquire()
    with pytest.raises(VaultBusyError):
        second.acquire()
    first.release()
    assert not first.is_held
    second.acquire()
    second.release()


def test_an_unreadable_owner_is_another_process(tmp_path: Path, owner: subprocess.Popen):
    (tmp_path / "vault.owner.json").write_text("{", encoding="utf-8")
    with pytest.raises(VaultBusyError) as caught:
        VaultLock(tmp_path).acquire()
    assert caught.value.data["owner"] == "another process"


def test_the_holder_of_an_unusable_lock_is_unknown(tmp_path: Path):
    (tmp_path / "vault.lock").mkdir()
    with pytest.raises(StorageError, match="can't be used"):
        find_holder(tmp_path)

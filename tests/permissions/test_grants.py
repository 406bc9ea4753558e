from __future__ import annotations

import asyncio

import pytest

from app.errors import PermissionDeniedError, StorageError
from app.events import EventBus
from app.permissions.approval import GrantOffer
from app.permissions.grants import Grants, GrantsChanged
from app.permissions.impact import ImpactPart
from app.permissions.scope import Operation
from app.vault.path import NotePath


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def grants(tmp_path, clock):
    return Grants(tmp_path, clock)


def part(path, operation=Operation.UPDATE):
    return ImpactPart(operation, NotePath(path))


def test_a_grant_is_bound_to_operation_tool_and_folder(grants):
    grants.add(GrantOffer("", Operation.UPDATE, tool="edit", folder="Projects"))
    assert grants.match([part("Projects/x.md")], "edit")
    assert grants.match([part("projects/deep/x.md")], "edit")
    assert grants.match([part("Projects-old/x.md")], "edit") is None
    assert grants.match([part("Projects/x.md")], "other") is None
    assert grants.match([part("Projects/x.md", Operation.CREATE)], "edit") is None
    assert grants.match([part("Projects/x.md"), part("y.md")], "edit") is None


def test_a_grant_with_a_time_ends(grants, clock):
    grant = grants.add(GrantOffer("", Operation.UPDATE, minutes=30))
    assert grant.label == "Edits and moves anywhere in the vault for 30 minutes" and grant.until == 2800
    clock.now = 2799
    assert grants.match([part("x.md")], "t")
    clock.now = 2800
    assert grants.match([part("x.md")], "t") is None and grants.active_grants() == ()


def test_only_always_outlives_the_session(grants, tmp_path, clock):
    grants.add(GrantOffer("", Operation.UPDATE))
    grants.add(GrantOffer("", Operation.UPDATE, minutes=600))
    grants.set_session(Operation.CREATE, True)
    lasting = grants.add(GrantOffer("", Operation.CREATE, tool="make", folder="Inbox", always=True))
    grants.record_use([lasting.id])
    (kept,) = Grants(tmp_path, clock).active_grants()
    assert (kept.id, kept.used, kept.label) == (
        lasting.id,
        1,
        "New notes by make in Inbox/ with no time limit",
    )
    grants.revoke(lasting.id)
    assert Grants(tmp_path, clock).active_grants() == ()


def test_uses_are_counted_and_published(tmp_path):
    bus, published = EventBus(), []
    bus.subscribe(GrantsChanged, published.append)
    grants = Grants(tmp_path, events=bus)
    grant = grants.add(GrantOffer("", Operation.UPDATE))
    grants.record_use([grant.id, "gone"])
    assert published[-1].grants[0].used == 1
    grants.revoke(grant.id)
    assert published[-1].grants == () and len(published) == 3
    grants.revoke(grant.id)
    assert len(published) == 3


@pytest.mark.parametrize("operation", [Operation.EXECUTE, Operation.ADMINISTRATIVE, Operation.DELETE])
def test_operations_that_cannot_be_granted(grants, operation):
    with pytest.raises(PermissionDeniedError):
        grants.add(GrantOffer("", operation))
    with pytest.raises(PermissionDeniedError):
        grants.set_session(operation, True)


def test_locking_deletes_suspends_their_grants(grants):
    grants.deletes_unlocked = True
    grants.set_session(Operation.DELETE, True)
    assert grants.match([part("x.md", Operation.DELETE)], "t")
    grants.deletes_unlocked = False
    assert grants.match([part("x.md", Operation.DELETE)], "t") is None


@pytest.mark.parametrize("text", ["{", "[1]", '[{"id": 1}]', '[{"operation": "fly"}]', "\udcff"])
def test_a_file_that_cannot_be_read_grants_nothing_and_is_set_aside(tmp_path, text, caplog):
    (tmp_path / "grants.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    grants = Grants(tmp_path)
    assert grants.active_grants() == ()
    (aside,) = tmp_path.glob("grants.damaged-*.json")
    assert aside.name in grants.problem


def test_a_file_cannot_grant_what_cannot_be_granted(grants, tmp_path, clock):
    lasting = grants.add(GrantOffer("", Operation.UPDATE, always=True))
    file = tmp_path / "grants.json"
    file.write_text(file.read_text("utf-8").replace('"update"', '"execute"'), "utf-8")
    assert lasting.id not in [grant.id for grant in Grants(tmp_path, clock).active_grants()]


def test_a_list_that_cannot_be_saved_is_reported_and_the_change_applies(grants, tmp_path):
    (tmp_path / "grants.json").mkdir()
    with pytest.raises(StorageError, match="can't be saved"):
        grants.add(GrantOffer("", Operation.UPDATE, always=True))
    assert grants.match([part("x.md")], "t")


def test_a_grant_that_cannot_be_saved_is_published(tmp_path, clock):
    bus, published = EventBus(), []
    bus.subscribe(GrantsChanged, published.append)
    grants = Grants(tmp_path, clock, bus)
    (tmp_path / "grants.json").mkdir()
    with pytest.raises(StorageError, match="can't be saved"):
        grants.add(GrantOffer("", Operation.UPDATE, always=True))
    assert [event.grants for event in published] == [grants.active_grants()]
    assert len(grants.active_grants()) == 1


def test_folders_outside(grants):
    assert grants.is_new_outside("/a/b")
    grants.remember_outside(["/a"])
    assert not grants.is_new_outside("/a/b") and grants.is_new_outside("/ab")
    grants.add(GrantOffer("", Operation.READ, folder="/papers"))
    assert not grants.is_new_outside("/papers/2024")
    outside = [ImpactPart(Operation.READ)]
    assert grants.match(outside, "t", ("/papers/2024",)) and grants.match(outside, "t", ("/a",)) is None


async def test_an_expiry_is_published_when_it_happens(tmp_path, clock, monkeypatch):
    later = []
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "call_later", lambda seconds, look: later.append((seconds, look)))
    bus, published = EventBus(), []
    bus.subscribe(GrantsChanged, published.append)
    grants = Grants(tmp_path, clock, bus)
    grants.add(GrantOffer("", Operation.UPDATE, minutes=30))
    ((seconds, look),) = later
    assert 1800 <= seconds < 1801 and len(published) == 1
    clock.now += seconds
    look()
    assert published[-1].grants == () and len(published) == 2

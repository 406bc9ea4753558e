"""Bad input in the window: a clear message, nothing lost, and the app continues."""

from __future__ import annotations

import os
import shutil
from itertools import chain
from pathlib import Path

from PySide6.QtWidgets import QPushButton

from app import paths
from app.permissions.caller import Caller, CallerKind
from app.settings import Settings, load_settings
from app.settings.storage import permissions_file
from app.task_supervisor import TaskFailed, TaskRecovered
from app.workspace.opening import open_workspace
from tests.flows.conftest import write_vault
from tests.flows.files import everything_in
from tests.flows.models import use_model
from tests.flows.pilot import Pilot
from tests.support.model_server import CallTool, TextAnswer

AGENT = Caller(CallerKind.DESKTOP_AGENT, "agent", uses_model=False)


def test_a_vault_that_vanishes_and_comes_back(app_run, errors, garden: Path, tmp_path: Path) -> None:
    away = tmp_path / "unplugged"
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "Typed meanwhile.")
        garden.rename(away)
        await pilot.until(lambda: "lost" in pilot.banners, "a banner says so")
        outcome = await pilot.start_call("add_tag", {"name": "Tea", "tag": "x"}, AGENT)
        assert not outcome.success and outcome.error["type"] in ("storage", "not_found")
        note.editor.setFocus()
        note.save()
        await pilot.until(lambda: note.notice.text, "saving says why not")
        assert note.document.is_dirty and note.editor.toPlainText().endswith("Typed meanwhile.")
        assert everything_in(away) == before and not garden.exists()
        (away / "New.md").write_text("Made while it was away, see [[Tea]].\n")
        away.rename(garden)
        await pilot.until(lambda: "lost" not in pilot.banners, "the banner goes")
        await pilot.until(lambda: pilot.files.model.index_of("New.md").isValid(), "what is new is listed")
        await pilot.until(lambda: {"New.md", "Tea.md", "Water.md"} <= pilot.nodes)
        await pilot.save(note)
        assert (garden / "Water.md").read_bytes() == before["Water.md"] + b"Typed meanwhile."
        call = pilot.start_call("add_tag", {"name": "Tea", "tag": "back"}, AGENT)
        await pilot.approve()
        assert (await call).success

    app_run(use)


def test_files_that_cannot_be_read_are_listed_and_left_alone(app_run, garden: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nNot in the vault: xyzzy.\n")
    (garden / "A folder.md").mkdir()
    (garden / "Dangling.md").symlink_to(tmp_path / "nowhere.md")
    (garden / "Leaving.md").symlink_to(secret)
    (garden / "Outside").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(garden / "Pipe.md")

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert pilot.window.status.counts.text().startswith("4 notes")
        found = await pilot.run(lambda ws: ws.index.search("xyzzy"))
        assert found.total == 0
        for name in ("Leaving.md", "Outside/secret.md", "Pipe.md", "Dangling.md", "A folder.md"):
            read = await pilot.start_call("read_note", {"name": name}, AGENT)
            assert not read.success and "xyzzy" not in str(read.as_dict()), name
            changed = await pilot.start_call("edit_note", {"name": name, "op": "append", "text": "x"}, AGENT)
            assert not changed.success, name
        assert secret.read_text() == "# Secret\n\nNot in the vault: xyzzy.\n"

    app_run(use)


def test_broken_notes_are_shown_listed_and_never_rewritten(app_run, garden: Path) -> None:
    broken = {
        "Latin.md": b"# Caf\xe9\n\nNot UTF-8, see [[Tea]].\n",
        "Yaml.md": b"---\ntags: [a, b\nx: : :\n---\n# Yaml\n\nStill a note, see [[Tea]].\n",
        "Bomb.md": b"---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b,*b]\n---\n# Bomb\n",
        "Nul.md": b"# Nul\x00\n",
    }
    write_vault(garden, broken)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert pilot.window.status.counts.text().startswith("8 notes")
        await pilot.until(lambda: pilot.window.status.problems_button.isVisible(), "problems are counted")
        problems = await pilot.run(lambda ws: {p.path.text: p.reason for p in ws.index.problems()})
        assert {"Latin.md", "Yaml.md"} <= problems.keys() and all(problems.values())
        note = await pilot.open_note("Latin.md")
        await pilot.until(lambda: "read-only" in note.notice.text, "it says why")
        assert note.editor.isReadOnly() and not note.document.is_editable
        for tool, more in (("add_tag", {"tag": "x"}), ("edit_note", {"op": "append", "text": "x"})):
            outcome = await pilot.start_call(tool, {"name": "Latin", **more}, AGENT)
            assert not outcome.success, tool
        outcome = await pilot.start_call("add_tag", {"name": "Yaml", "tag": "x"}, AGENT)
        assert not outcome.success
        # A rename rewrites the links to a note, but not in a note that can't be written back.
        call = pilot.start_call("move_note", {"name": "Tea", "new_name": "Chai"}, AGENT)
        await pilot.approve()
        assert (await call).success
        yaml = await pilot.open_note("Yaml.md")
        await pilot.show_reading(yaml)
        await pilot.until(lambda: "Still a note" in yaml.reader.toPlainText())

    app_run(use)
    assert (garden / "Latin.md").read_bytes() == broken["Latin.md"]
    assert (garden / "Bomb.md").read_bytes() == broken["Bomb.md"]
    assert (garden / "Nul.md").read_bytes() == broken["Nul.md"]
    assert b"see [[Chai]]" in (garden / "Yaml.md").read_bytes()


def test_a_hundred_megabytes_of_one_line(app_run, garden: Path) -> None:
    huge = garden / "Huge.md"
    with huge.open("wb") as stream:
        for _ in range(100):
            stream.write(b"[[Tea]] #tag *a* " * 61_680)
    size = huge.stat().st_size
    assert size > 100_000_000

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.until(
            lambda: pilot.window.status.problems_button.isVisible(), "it is listed as too large"
        )
        (problem,) = await pilot.run(lambda ws: ws.index.problems())
        assert problem.path.text == "Huge.md" and problem.reason
        assert (await pilot.start_call("read_note", {"name": "Tea"}, AGENT)).success
        await pilot.ask("open Water")
        assert "hundred degrees" in pilot.said()
        pilot.window.navigation.open("Huge.md")
        note = await pilot.shown("Huge.md")
        await pilot.until(lambda: note.notice.text, "it says that this is not all of it")
        assert note.editor.isReadOnly()

    app_run(use)
    assert huge.stat().st_size == size


def test_a_tool_call_that_would_leave_the_vault(app_run, settings, garden: Path) -> None:
    before = everything_in(garden.parent)
    names = ("../escaped", "/tmp/escaped", "..\\escaped", "a/../../escaped", ".scriptorium/rules", "x\x00y")

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        for turn in range(1, len(names) + 1):
            await pilot.ask("Go")
            assert pilot.approvals.dialog is None
            said = [card.accessibleName().split(".")[0] for card in pilot.cards]
            assert said == ["Create note: Failed"] * turn
            entry = await pilot.select_entry("create_note")
            assert entry.commit is None
            assert len([each for each in pilot.entries if each.tool == "create_note"]) == turn

    calls = [(CallTool("create_note", {"name": name, "content": "x"}), TextAnswer("No.")) for name in names]
    with use_model(settings, *chain.from_iterable(calls)):
        app_run(use)
    assert everything_in(garden.parent) == before and not Path("/tmp/escaped.md").exists()


def test_a_second_app_is_informed_and_may_only_read(app_run, service_of_another, garden: Path) -> None:
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        other = await service_of_another.call(lambda: open_workspace(garden, Settings(), None))
        try:
            pilot.drop(garden)
            await pilot.press("Cancel")
            await pilot.until(lambda: not pilot.sheets)
            assert pilot.window.view is None
            pilot.drop(garden)
            await pilot.press("Open read-only")
            await pilot.until(lambda: pilot.window.view is not None, "it is open")
            await pilot.read()
            assert pilot.window.status.mode.text() == "Read-only"
            await pilot.until(lambda: "Tea.md" in pilot.nodes)
            note = await pilot.open_note("Tea.md")
            await pilot.show_reading(note)
            await pilot.until(lambda: "hot water" in note.reader.toPlainText())
            call = pilot.start_call("add_tag", {"name": "Tea", "tag": "x"}, AGENT)
            await pilot.until(lambda: call.done() or pilot.approvals.waiting, "it is refused or asked")
            if not call.done():
                await pilot.approve()
            assert not (await call).success
            if not note.editor.isReadOnly():
                await pilot.write_at_end(note, "x")
                note.save()
                await pilot.until(lambda: note.notice.text, "it says why it is not saved")
                note.document.discard_changes()
            assert everything_in(garden) == before
        finally:
            await service_of_another.call(other.close)

    app_run(use)


def test_an_empty_folder_becomes_a_vault(app_run, tmp_path: Path) -> None:
    root = tmp_path / "Empty"
    root.mkdir()

    async def use(pilot: Pilot) -> None:
        pilot.drop(root)
        await pilot.until(lambda: pilot.sheets or pilot.window.view is not None)
        if pilot.sheets:
            await pilot.press("Open vault")
        await pilot.until(lambda: pilot.window.view is not None)
        await pilot.read()
        assert pilot.window.status.counts.text().startswith("0 notes")
        await pilot.ask_and_approve("create a note called First")
        assert (root / "First.md").read_bytes() == b"# First\n"
        await pilot.until(lambda: pilot.nodes == {"First.md"}, "the graph has its first node")
        await pilot.until(lambda: pilot.files.model.index_of("First.md").isValid())

    app_run(use)


def test_rules_of_a_vault_that_cannot_be_read_deny_agents(app_run, garden: Path) -> None:
    write_vault(garden, {".scriptorium/rules.toml": "[[rules\neffect = "})
    before = everything_in(garden)

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.until(lambda: any("rules" in pilot.banner(key) for key in pilot.banners), "it is told")
        await pilot.ask("tag Water with #x")
        assert pilot.approvals.dialog is None and everything_in(garden) == before
        entry = await pilot.select_entry("add_tag")
        assert entry.decision == "rule"
        note = await pilot.open_note("Water.md")
        await pilot.write_at_end(note, "The person may.")
        await pilot.save(note)

    app_run(use)


def test_rules_of_a_vault_only_tighten(app_run, garden: Path) -> None:
    rules = """
    [[rules]]
    effect = "deny"
    operations = ["update"]
    glob = "Plants/**"

    [[rules]]
    effect = "allow"
    glob = "**"
    """
    write_vault(garden, {".scriptorium/rules.toml": rules})

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.ask("tag Mint with #x")
        assert pilot.approvals.dialog is None and b"#x" not in (garden / "Plants/Mint.md").read_bytes()
        # An allow rule of the vault does not skip the question.
        await pilot.type_prompt("tag Water with #x")
        await pilot.deny()
        await pilot.turn_over(2)

    app_run(use)


def test_a_damaged_index_is_rebuilt_automatically(app_run, garden: Path) -> None:
    async def first(pilot: Pilot) -> None:
        await pilot.open(garden)

    async def second(pilot: Pilot) -> None:
        await pilot.open(garden)
        assert pilot.window.status.counts.text().startswith("4 notes")
        found = await pilot.run(lambda ws: ws.index.search("hundred degrees"))
        assert [hit.path.text for hit in found.hits] == ["Water.md"]

    app_run(first)
    files = [file for file in paths.vault_cache_folder(garden).rglob("*.sqlite*") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(b"this is no database at all" * 400)
    app_run(second)


def test_the_index_may_be_deleted_at_any_moment(app_run, garden: Path) -> None:
    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.until(lambda: "Tea.md" in pilot.nodes)

    app_run(use)
    shutil.rmtree(paths.vault_cache_folder(garden))
    app_run(use)


def test_damage_to_the_apps_data_is_reported_in_the_window(app_run, settings, garden: Path) -> None:
    async def first(pilot: Pilot) -> None:
        await pilot.open(garden)

    app_run(first)
    data = paths.vault_data_folder(garden)
    for name in ("journal.sqlite", "conversations.sqlite"):
        (data / name).write_bytes(b"no database" * 1000)
    permissions_file().write_text("{", "utf-8")

    async def use(pilot: Pilot) -> None:
        await pilot.open(garden)
        await pilot.until(lambda: "unreadable rules" in pilot.banners, "the rules are told")
        shown = pilot.window.banners
        rules = shown._banners["unreadable rules"]
        assert rules.tone == "danger" and str(permissions_file()) in rules.accessibleName()
        for store in ("The journal", "The conversations file"):
            assert any(key.startswith(f"notice:{store} could not be read") for key in pilot.banners), (
                pilot.banners
            )
        events = pilot.workspace.events
        failed = TaskFailed("watch the vault", "no more watches", 4.0)
        await pilot.run(lambda workspace: events.publish(failed))
        await pilot.until(lambda: "task:watch the vault" in pilot.banners, "a task that died is told")
        assert "no more watches" in shown._banners["task:watch the vault"].accessibleName()
        await pilot.run(lambda _: events.publish(TaskRecovered("watch the vault")))
        await pilot.until(lambda: "task:watch the vault" not in pilot.banners, "it runs again")
        rules.findChild(QPushButton).click()
        await pilot.until(lambda: "unreadable rules" not in pilot.banners, "the rules are replaced")

    app_run(use)
    assert load_settings().permissions.unreadable == ""

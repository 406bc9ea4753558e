"""Every operation with every permission, by every path a change can take: through one check."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError, PermissionDeniedError
from app.memory import acl, changes, edits
from app.memory.acl import Operation
from app.memory.block import Block, BlockType, Permission, View
from app.memory.entry import Entry
from app.memory.schema import CompositeSchema, FieldKind, ListSchema, LogSchema, MapField, MapSchema, Section
from app.permissions.caller import Caller, CallerKind
from app.toolkit.memory import access
from app.vault.changes import ChangeSet, Create, Delete, Update
from tests.memory.blocks import blocks

ME = "scriptorium"
AGENT = Caller(CallerKind.DESKTOP_AGENT, "Model")
ALLOW, ASK, DENY = "allow", "ask", "deny"

TEXT = Block(ME, "b", content="one\ntwo\n", views={ME: View(pinned=True)})
ITEMS = replace(TEXT, schema=ListSchema(), content=("a", "b"))
LOG = replace(TEXT, schema=LogSchema(), content=())
FORM = Block.new(
    ME,
    "b",
    text="mood: calm\nseen: 1\nlikes:\n  - tea\nborn: 1970\n",
    schema=MapSchema(
        fields=(
            MapField(name="mood"),
            MapField(name="seen", kind=FieldKind.COUNTER),
            MapField(name="likes", kind=FieldKind.LIST),
            MapField(name="born", read_only=True),
        )
    ),
)
PARTS = replace(
    TEXT,
    schema=CompositeSchema(sections=(Section(name="notes"), Section(name="rules", read_only=True))),
    content={"notes": "x", "rules": "y"},
)

# What a change does, whatever made it: an operation of block_edit or block, an undo, a redo, a file's load.
PATHS: dict[str, tuple[Block, Block | None, Operation]] = {
    "append to a text": (TEXT, edits.append(TEXT, "three"), Operation.APPEND),
    "append to a list": (ITEMS, edits.append(ITEMS, "c"), Operation.APPEND),
    "append to a log": (LOG, edits.append(LOG, "c"), Operation.APPEND),
    "append to a list field": (FORM, edits.append(FORM, "cake", "likes"), Operation.APPEND),
    "append to a section": (PARTS, edits.append(PARTS, "z", "notes"), Operation.APPEND),
    "replace": (TEXT, edits.replace(TEXT, "one", "ONE"), Operation.OVERWRITE),
    "replace all": (TEXT, edits.replace(TEXT, "o", "0", "all"), Operation.OVERWRITE),
    "replace the nth": (TEXT, edits.replace(TEXT, "o", "0", "nth", 2), Operation.OVERWRITE),
    "replace by pattern": (TEXT, edits.replace(TEXT, "t.o", "2", "regex"), Operation.OVERWRITE),
    "patch": (TEXT, edits.patch(TEXT, "@@\n-one\n+1\n two"), Operation.OVERWRITE),
    "splice lines in the middle": (TEXT, edits.edit_range(TEXT, 2, 1, "between"), Operation.OVERWRITE),
    "splice lines at the end": (TEXT, edits.edit_range(TEXT, 3, 2, "end"), Operation.APPEND),
    "splice lines away": (TEXT, edits.edit_range(TEXT, 1, 1, ""), Operation.OVERWRITE),
    "set a field": (FORM, edits.set_field(FORM, "mood", "merry"), Operation.OVERWRITE),
    "count": (FORM, edits.append(FORM, "2", "seen"), Operation.OVERWRITE),
    "set a section": (PARTS, edits.set_field(PARTS, "notes", "new"), Operation.OVERWRITE),
    "undo an append": (edits.append(TEXT, "three"), TEXT, Operation.OVERWRITE),
    "undo a removal": (edits.edit_range(TEXT, 2, 2, ""), TEXT, Operation.APPEND),
    "describe": (TEXT, replace(TEXT, description="new"), Operation.OVERWRITE),
    "origin": (TEXT, replace(TEXT, origin={"hash": "1"}), Operation.OVERWRITE),
    "pin": (TEXT, TEXT.with_view(ME, View()), Operation.VIEW),
    "viewport": (TEXT, TEXT.with_view(ME, View(True, 2, 5)), Operation.VIEW),
    "pin for another": (TEXT, TEXT.with_view("editor", View(True)), Operation.GOVERN),
    "archive": (TEXT, replace(TEXT, type=BlockType.ARCHIVAL), Operation.ARCHIVE),
    "share": (TEXT, replace(TEXT, shares={"editor": Permission.READ_ONLY}), Operation.SHARE),
    "make core": (TEXT, replace(TEXT, type=BlockType.CORE), Operation.GOVERN),
    "archive core": (
        replace(TEXT, type=BlockType.CORE),
        replace(TEXT, type=BlockType.ARCHIVAL),
        Operation.GOVERN,
    ),
    "change the schema": (TEXT, replace(TEXT, schema=LogSchema(), content=()), Operation.GOVERN),
    "give oneself more": (TEXT, replace(TEXT, permission=Permission.ADMIN), Operation.GOVERN),
    "a read-only field": (FORM, FORM.with_text(FORM.text.replace("1970", "1980")), Operation.GOVERN),
    "a read-only section": (PARTS, PARTS.with_text(PARTS.text.replace("  y", "  z")), Operation.GOVERN),
    "delete": (TEXT, None, Operation.DELETE),
}

# The table of the design page; "yes" is allow. Pinning goes with reading, putting away with overwriting.
DESIGN: dict[Permission, dict[Operation, str]] = {
    Permission.READ_ONLY: {Operation.APPEND: DENY, Operation.OVERWRITE: DENY, Operation.DELETE: DENY},
    Permission.PARTNER: {Operation.APPEND: ASK, Operation.OVERWRITE: ASK, Operation.DELETE: DENY},
    Permission.HUMAN: {Operation.APPEND: ASK, Operation.OVERWRITE: ASK, Operation.DELETE: DENY},
    Permission.APPEND: {Operation.APPEND: ALLOW, Operation.OVERWRITE: DENY, Operation.DELETE: DENY},
    Permission.READ_WRITE: {Operation.APPEND: ALLOW, Operation.OVERWRITE: ALLOW, Operation.DELETE: DENY},
    Permission.ADMIN: {Operation.APPEND: ALLOW, Operation.OVERWRITE: ALLOW, Operation.DELETE: ASK},
}
MAY_SHARE = (Permission.PARTNER, Permission.HUMAN, Permission.READ_WRITE, Permission.ADMIN)


def expected(permission: Permission, operation: Operation) -> str:
    match operation:
        case Operation.READ | Operation.VIEW:
            return ALLOW
        case Operation.ARCHIVE:
            return DESIGN[permission][Operation.OVERWRITE]
        case Operation.SHARE:
            return ASK if permission in MAY_SHARE else DENY
        case Operation.GOVERN:
            return ASK if permission is Permission.ADMIN else DENY
        case _:
            return DESIGN[permission][operation]


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("path", PATHS)
def test_each_path_with_each_permission(path: str, permission: Permission) -> None:
    before, after, operation = PATHS[path]
    before = replace(before, permission=permission)
    if path != "give oneself more" and after is not None:
        after = replace(after, permission=permission)
    elif permission is Permission.ADMIN and after is not None:
        after = replace(after, permission=Permission.READ_WRITE)
    change = changes.deleted(before) if after is None else changes.edited(before, after)
    found = access(change, AGENT)
    assert found is not None and found.effect == expected(permission, operation), found
    assert acl.judge(before, after, ME).effect == found.effect


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("path", ["append to a text", "replace", "pin", "delete"])
def test_a_block_that_is_shared_follows_the_permission_of_the_share(
    path: str, permission: Permission
) -> None:
    before, after, operation = PATHS[path]
    shares = {ME: permission}
    before = replace(before, owner="editor", shares=shares, permission=Permission.ADMIN)
    after = after and replace(after, owner="editor", shares=shares, permission=Permission.ADMIN)
    assert acl.judge(before, after, ME).effect == expected(permission, operation)
    acl.check_read(before, ME)


@given(blocks(label="b"), blocks(label="b"))
def test_a_stranger_may_do_nothing(before: Block, after: Block) -> None:
    before = replace(before, owner="other", shares={})
    assert acl.judge(before, replace(after, owner="other"), "stranger").effect == DENY
    assert acl.judge(before, None, "stranger").effect == DENY
    with pytest.raises(PermissionDeniedError):
        acl.check_read(before, "stranger")


@given(blocks(label="b"), st.data())
def test_a_block_that_may_only_be_read_or_added_to_never_loses_a_letter(
    block: Block, data: st.DataObject
) -> None:
    permission = data.draw(st.sampled_from([Permission.READ_ONLY, Permission.APPEND]))
    before = replace(block, owner=ME, permission=permission, type=BlockType.WORKING)
    after = replace(data.draw(blocks(label="b")), owner=ME, permission=permission, type=BlockType.WORKING)
    after = replace(after, schema=before.schema, views={}, shares={}, origin={}, description="")
    before = replace(before, views={}, shares={}, origin={}, description="")
    try:
        after = after.with_text(data.draw(st.sampled_from([before.text, "", "- x\n"])))
    except InvalidParametersError:
        return
    if acl.judge(before, after, ME).effect == ALLOW and isinstance(before.content, str):
        assert isinstance(after.content, str) and after.content.startswith(before.content)
        assert permission is Permission.APPEND or after.content == before.content


def test_nobody_gives_more_than_they_have() -> None:
    more = replace(TEXT, shares={"editor": Permission.ADMIN})
    assert acl.judge(TEXT, more, ME).effect == DENY
    asked = replace(TEXT, permission=Permission.PARTNER)
    more = replace(asked, shares={"editor": Permission.READ_WRITE})
    assert acl.judge(asked, more, ME).effect == DENY


@pytest.mark.parametrize(
    ("block", "effect"),
    [
        (Block(ME, "n"), ALLOW),
        (Block(ME, "n", BlockType.LOG, LogSchema(), content=()), ALLOW),
        (Block(ME, "n", permission=Permission.READ_ONLY), ALLOW),
        (Block(ME, "n", permission=Permission.ADMIN), ASK),
        (Block(ME, "n", permission=Permission.HUMAN), ASK),
        (Block(ME, "n", BlockType.CORE), ASK),
        (Block(ME, "n", shares={"editor": Permission.READ_ONLY}), ASK),
        (Block(ME, "n", views={"editor": View(True)}), ASK),
        (Block("editor", "n"), DENY),
        (
            Block(
                ME,
                "persona",
                BlockType.CORE,
                content="I am calm.",
                views={ME: View(True)},
                description="Who the agent is and how it works.",
            ),
            ALLOW,
        ),
        (Block(ME, "persona", BlockType.CORE, permission=Permission.ADMIN), DENY),
        (
            Block(
                ME,
                "human",
                BlockType.CORE,
                permission=Permission.HUMAN,
                content="Likes tea.",
                views={ME: View(True)},
                description="What the agent knows of the person.",
            ),
            ASK,
        ),
    ],
)
def test_new_blocks(block: Block, effect: str) -> None:
    found = access(changes.created(block), AGENT)
    assert found is not None and found.effect == effect, found


def test_entries_are_added_freely_never_changed_and_taken_away_with_a_yes() -> None:
    entry = Entry.new(ME, "tea")
    other = Entry.new("editor", "coffee")

    def effect(change: Create | Update | Delete) -> str:
        found = access(ChangeSet.of(change, place=changes.PLACE), AGENT)
        assert found is not None
        return found.effect

    assert effect(Create(entry.path, entry.data)) == ALLOW
    assert effect(Update(entry.path, entry.data, entry.data + b"!")) == DENY
    assert effect(Delete(entry.path, entry.data)) == ASK
    assert effect(Create(other.path, other.data)) == DENY


def test_the_worst_of_several_changes_counts_and_the_person_is_bound_by_none() -> None:
    other = replace(TEXT, label="c", permission=Permission.READ_ONLY)
    both = ChangeSet.of(
        changes.change_of(TEXT, edits.append(TEXT, "x")),
        changes.change_of(other, edits.append(other, "x")),
        place=changes.PLACE,
    )
    found = access(both, AGENT)
    assert found is not None and found.effect == DENY
    assert access(both, Caller.user()) is None

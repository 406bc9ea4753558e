"""Every operation with every permission, by every way of changing a block, passes one check."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import InvalidParametersError
from app.memory import acl, changes, edits
from app.memory.acl import BlockOperation
from app.memory.block import Block, BlockType, BlockView, Permission
from app.memory.entry import ArchiveEntry
from app.memory.schema import (
    CompositeSchema,
    FieldKind,
    ListSchema,
    LogSchema,
    MapField,
    MapSchema,
    SectionSchema,
)
from app.permissions.caller import Caller, CallerKind
from app.toolkit.memory_service import authorize_memory_change
from app.vault.changes import ChangeSet, Create, Delete, Update
from tests.memory.blocks import blocks

ME = "scriptorium"
AGENT = Caller(CallerKind.DESKTOP_AGENT, "Model")
ALLOW, ASK, DENY = "allow", "ask", "deny"

TEXT = Block(ME, "b", content="one\ntwo\n", views={ME: BlockView(pinned=True)})
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
    schema=CompositeSchema(
        sections=(SectionSchema(name="notes"), SectionSchema(name="rules", read_only=True))
    ),
    content={"notes": "x", "rules": "y"},
)

# The kind of change counts, whatever made it: a tool, an undo, a redo, or a loaded file.
PATHS: dict[str, tuple[Block, Block | None, BlockOperation]] = {
    "append to a text": (TEXT, edits.append(TEXT, "three"), BlockOperation.APPEND),
    "append to a list": (ITEMS, edits.append(ITEMS, "c"), BlockOperation.APPEND),
    "append to a log": (LOG, edits.append(LOG, "c"), BlockOperation.APPEND),
    "append to a list field": (FORM, edits.append(FORM, "cake", "likes"), BlockOperation.APPEND),
    "append to a section": (PARTS, edits.append(PARTS, "z", "notes"), BlockOperation.APPEND),
    "replace": (TEXT, edits.replace(TEXT, "one", "ONE"), BlockOperation.OVERWRITE),
    "replace all": (TEXT, edits.replace(TEXT, "o", "0", "all"), BlockOperation.OVERWRITE),
    "replace the nth": (TEXT, edits.replace(TEXT, "o", "0", "nth", 2), BlockOperation.OVERWRITE),
    "replace by pattern": (TEXT, edits.replace(TEXT, "t.o", "2", "regex"), BlockOperation.OVERWRITE),
    "patch": (TEXT, edits.patch(TEXT, "@@\n-one\n+1\n two"), BlockOperation.OVERWRITE),
    "splice lines in the middle": (TEXT, edits.edit_range(TEXT, 2, 1, "between"), BlockOperation.OVERWRITE),
    "splice lines at the end": (TEXT, edits.edit_range(TEXT, 3, 2, "end"), BlockOperation.APPEND),
    "splice lines away": (TEXT, edits.edit_range(TEXT, 1, 1, ""), BlockOperation.OVERWRITE),
    "set a field": (FORM, edits.set_field(FORM, "mood", "merry"), BlockOperation.OVERWRITE),
    "count": (FORM, edits.append(FORM, "2", "seen"), BlockOperation.OVERWRITE),
    "set a section": (PARTS, edits.set_field(PARTS, "notes", "new"), BlockOperation.OVERWRITE),
    "undo an append": (edits.append(TEXT, "three"), TEXT, BlockOperation.OVERWRITE),
    "undo a removal": (edits.edit_range(TEXT, 2, 2, ""), TEXT, BlockOperation.APPEND),
    "describe": (TEXT, replace(TEXT, description="new"), BlockOperation.OVERWRITE),
    "origin": (TEXT, replace(TEXT, origin={"hash": "1"}), BlockOperation.OVERWRITE),
    "pin": (TEXT, TEXT.with_view(ME, BlockView()), BlockOperation.VIEW),
    "viewport": (TEXT, TEXT.with_view(ME, BlockView(True, 2, 5)), BlockOperation.VIEW),
    "pin for another": (TEXT, TEXT.with_view("editor", BlockView(True)), BlockOperation.GOVERN),
    "archive": (TEXT, replace(TEXT, type=BlockType.ARCHIVAL), BlockOperation.ARCHIVE),
    "share": (TEXT, replace(TEXT, shares={"editor": Permission.READ_ONLY}), BlockOperation.SHARE),
    "make core": (TEXT, replace(TEXT, type=BlockType.CORE), BlockOperation.GOVERN),
    "archive core": (
        replace(TEXT, type=BlockType.CORE),
        replace(TEXT, type=BlockType.ARCHIVAL),
        BlockOperation.GOVERN,
    ),
    "change the schema": (TEXT, replace(TEXT, schema=LogSchema(), content=()), BlockOperation.GOVERN),
    "give oneself more": (TEXT, replace(TEXT, permission=Permission.ADMIN), BlockOperation.GOVERN),
    "a read-only field": (FORM, FORM.with_text(FORM.text.replace("1970", "1980")), BlockOperation.GOVERN),
    "a read-only section": (PARTS, PARTS.with_text(PARTS.text.replace("  y", "  z")), BlockOperation.GOVERN),
    "delete": (TEXT, None, BlockOperation.DELETE),
}

# The table of the specification; "yes" is allow. Pinning requires reading, archiving requires overwriting.
DESIGN: dict[Permission, dict[BlockOperation, str]] = {
    Permission.READ_ONLY: {
        BlockOperation.APPEND: DENY,
        BlockOperation.OVERWRITE: DENY,
        BlockOperation.DELETE: DENY,
    },
    Permission.PARTNER: {
        BlockOperation.APPEND: ASK,
        BlockOperation.OVERWRITE: ASK,
        BlockOperation.DELETE: DENY,
    },
    Permission.HUMAN: {
        BlockOperation.APPEND: ASK,
        BlockOperation.OVERWRITE: ASK,
        BlockOperation.DELETE: DENY,
    },
    Permission.APPEND: {
        BlockOperation.APPEND: ALLOW,
        BlockOperation.OVERWRITE: DENY,
        BlockOperation.DELETE: DENY,
    },
    Permission.READ_WRITE: {
        BlockOperation.APPEND: ALLOW,
        BlockOperation.OVERWRITE: ALLOW,
        BlockOperation.DELETE: DENY,
    },
    Permission.ADMIN: {
        BlockOperation.APPEND: ALLOW,
        BlockOperation.OVERWRITE: ALLOW,
        BlockOperation.DELETE: ASK,
    },
}
MAY_SHARE = (Permission.PARTNER, Permission.HUMAN, Permission.READ_WRITE, Permission.ADMIN)


def expected(permission: Permission, operation: BlockOperation) -> str:
    match operation:
        case BlockOperation.READ | BlockOperation.VIEW:
            return ALLOW
        case BlockOperation.ARCHIVE:
            return DESIGN[permission][BlockOperation.OVERWRITE]
        case BlockOperation.SHARE:
            return ASK if permission in MAY_SHARE else DENY
        case BlockOperation.GOVERN:
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
    change = changes.delete_block(before) if after is None else changes.edit_block(before, after)
    found = authorize_memory_change(change, AGENT)
    assert found is not None and found.effect == expected(permission, operation), found
    assert acl.authorize_change(before, after, ME).effect == found.effect


@pytest.mark.parametrize("permission", Permission)
@pytest.mark.parametrize("path", ["append to a text", "replace", "pin", "delete"])
def test_a_block_that_is_shared_follows_the_permission_of_the_share(
    path: str, permission: Permission
) -> None:
    before, after, operation = PATHS[path]
    shares = {ME: permission}
    before = replace(before, owner="editor", shares=shares, permission=Permission.ADMIN)
    after = after and replace(after, owner="editor", shares=shares, permission=Permission.ADMIN)
    assert acl.authorize_change(before, after, ME).effect == expected(permission, operation)
    assert acl.table_effect(acl.BlockOperation.READ, before.permission_of(ME)) == ALLOW


@given(blocks(label="b"), blocks(label="b"))
def test_a_stranger_may_do_nothing(before: Block, after: Block) -> None:
    before = replace(before, owner="other", shares={})
    assert acl.authorize_change(before, replace(after, owner="other"), "stranger").effect == DENY
    assert acl.authorize_change(before, None, "stranger").effect == DENY
    assert acl.table_effect(acl.BlockOperation.READ, before.permission_of("stranger")) == DENY


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
    if acl.authorize_change(before, after, ME).effect == ALLOW and isinstance(before.content, str):
        assert isinstance(after.content, str) and after.content.startswith(before.content)
        assert permission is Permission.APPEND or after.content == before.content


def test_no_agent_grants_more_than_it_has() -> None:
    more = replace(TEXT, shares={"editor": Permission.ADMIN})
    assert acl.authorize_change(TEXT, more, ME).effect == DENY
    asked = replace(TEXT, permission=Permission.PARTNER)
    more = replace(asked, shares={"editor": Permission.READ_WRITE})
    assert acl.authorize_change(asked, more, ME).effect == DENY


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
        (Block(ME, "n", views={"editor": BlockView(True)}), ASK),
        (Block("editor", "n"), DENY),
        (
            Block(
                ME,
                "persona",
                BlockType.CORE,
                content="I am calm.",
                views={ME: BlockView(True)},
                description="The agent's identity and way of working.",
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
                views={ME: BlockView(True)},
                description="What the agent knows about the user.",
            ),
            ASK,
        ),
    ],
)
def test_new_blocks(block: Block, effect: str) -> None:
    found = authorize_memory_change(changes.create_block(block), AGENT)
    assert found is not None and found.effect == effect, found


def test_entries_are_added_freely_never_changed_and_removed_with_approval() -> None:
    entry = ArchiveEntry.new(ME, "tea")
    other = ArchiveEntry.new("editor", "coffee")

    def effect(change: Create | Update | Delete) -> str:
        found = authorize_memory_change(ChangeSet.of(change, place=changes.MEMORY_PLACE), AGENT)
        assert found is not None
        return found.effect

    assert effect(Create(entry.path, entry.data)) == ALLOW
    assert effect(Update(entry.path, entry.data, entry.data + b"!")) == DENY
    assert effect(Delete(entry.path, entry.data)) == ASK
    assert effect(Create(other.path, other.data)) == DENY


def test_the_most_severe_change_counts_and_the_user_is_exempt() -> None:
    other = replace(TEXT, label="c", permission=Permission.READ_ONLY)
    both = ChangeSet.of(
        changes.block_change(TEXT, edits.append(TEXT, "x")),
        changes.block_change(other, edits.append(other, "x")),
        place=changes.MEMORY_PLACE,
    )
    found = authorize_memory_change(both, AGENT)
    assert found is not None and found.effect == DENY
    assert authorize_memory_change(both, Caller.user()) is None

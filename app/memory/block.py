"""A memory block: labeled content of an agent, with permissions and views."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from app.memory import content as contents
from app.memory.content import Content
from app.memory.labels import block_path, clean_label
from app.memory.schema import LogSchema, Schema, TextSchema
from app.vault.path import NotePath


class BlockType(StrEnum):
    """Core: permanent. Working: for the current work. Archival: archived. Log: a record of events."""

    CORE = "core"
    WORKING = "working"
    ARCHIVAL = "archival"
    LOG = "log"


class Permission(StrEnum):
    """An agent's permission for a block; `acl.py` has the table."""

    READ_ONLY = "read_only"
    PARTNER = "partner"
    HUMAN = "human"
    APPEND = "append"
    READ_WRITE = "read_write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class BlockView:
    """An agent's view of a block: whether it is pinned to the context, and which lines are shown.

    `lines` None shows all; `start` counts from 1.
    """

    pinned: bool = False
    start: int = 1
    lines: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A memory block.

    `content` follows its schema (`content.py`). `views` has the agents' views, `shares` the permissions of
    agents other than the owner, and `origin` describes where a loaded document comes from. `is_stored` is
    false for a default block that has not been written yet.
    """

    owner: str
    label: str
    type: BlockType = BlockType.WORKING
    schema: Schema = field(default_factory=TextSchema)
    permission: Permission = Permission.READ_WRITE
    description: str = ""
    content: Content = ""
    views: Mapping[str, BlockView] = field(default_factory=dict)
    shares: Mapping[str, Permission] = field(default_factory=dict)
    origin: Mapping[str, str] = field(default_factory=dict)
    is_stored: bool = field(default=True, compare=False)

    @classmethod
    def new(
        cls,
        owner: str,
        label: str,
        *,
        block_type: BlockType = BlockType.WORKING,
        schema: Schema | None = None,
        permission: Permission = Permission.READ_WRITE,
        description: str = "",
        text: str | None = None,
    ) -> Block:
        """Create a block with the defaults of its schema, or with the content of `text`.

        Raises:
            InvalidParametersError: the label or the text is not valid, or a required field is empty.
        """
        schema = schema or (LogSchema() if block_type is BlockType.LOG else TextSchema())
        content = contents.default_content(schema) if text is None else contents.parse(schema, text)
        block = cls(owner, clean_label(label), block_type, schema, permission, description, content)
        block.check()
        return block

    @property
    def path(self) -> NotePath:
        """The path of the block in the store "memory"."""
        return block_path(self.owner, self.label)

    @property
    def text(self) -> str:
        """The content as text, for people and models."""
        return contents.render(self.schema, self.content)

    @property
    def size(self) -> int:
        """The number of characters in its text."""
        return len(self.text)

    def check(self) -> None:
        """Check the content against the schema.

        Raises:
            InvalidParametersError: the content violates the schema.
        """
        contents.check(self.schema, self.content)

    def with_content(self, content: Content) -> Block:
        """Return a copy of this block with different content.

        Raises:
            InvalidParametersError: the schema does not allow it.
        """
        block = replace(self, content=content)
        block.check()
        return block

    def with_text(self, text: str) -> Block:
        """Return this block with content parsed from `text`; raises as `with_content` does."""
        return self.with_content(contents.parse(self.schema, text))

    def view_of(self, agent: str) -> BlockView:
        """Return an agent's view of the block."""
        return self.views.get(agent, BlockView())

    def with_view(self, agent: str, view: BlockView) -> Block:
        """Return a copy of this block with a different view for an agent."""
        views = {name: agent_view for name, agent_view in self.views.items() if name != agent}
        return replace(self, views=views if view == BlockView() else {**views, agent: view})

    def permission_of(self, agent: str) -> Permission | None:
        """Return the agent's permission, or None."""
        return self.permission if agent == self.owner else self.shares.get(agent)

    def text_for(self, agent: str) -> str:
        """Return the part of the text in the agent's view; for a log, of its newest entries."""
        view = self.view_of(agent)
        text = self.text
        if isinstance(self.schema, LogSchema) and isinstance(self.content, tuple):
            text = contents.render(self.schema, self.content[-self.schema.display_limit :])
        if view.lines is None and view.start == 1:
            return text
        lines = text.splitlines(keepends=True)
        last = len(lines) if view.lines is None else view.start - 1 + view.lines
        return "".join(lines[view.start - 1 : last])


HUMAN_LABEL, PERSONA_LABEL = "human", "persona"


def default_blocks(agent: str) -> tuple[Block, ...]:
    """Return the blocks that every agent starts with; they are stored on the first edit."""
    pinned = {agent: BlockView(pinned=True)}
    return (
        Block(
            agent,
            PERSONA_LABEL,
            BlockType.CORE,
            description="The agent's identity and way of working.",
            views=pinned,
            is_stored=False,
        ),
        Block(
            agent,
            HUMAN_LABEL,
            BlockType.CORE,
            permission=Permission.HUMAN,
            views=pinned,
            description="What the agent knows about the user.",
            is_stored=False,
        ),
    )

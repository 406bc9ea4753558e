"""A block of memory: what an agent keeps under a label, who may do what with it, and who has it in sight."""

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
    """Core: always there. Working: for what goes on now. Archival: put away. Log: what happened."""

    CORE = "core"
    WORKING = "working"
    ARCHIVAL = "archival"
    LOG = "log"


class Permission(StrEnum):
    """What agents may do with a block: the table is in `acl.py`."""

    READ_ONLY = "read_only"
    PARTNER = "partner"
    HUMAN = "human"
    APPEND = "append"
    READ_WRITE = "read_write"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class BlockView:
    """How an agent has a block in sight: pinned to its context, and from which line on how many lines.

    `lines` None shows all; `start` counts from 1.
    """

    pinned: bool = False
    start: int = 1
    lines: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block as it is now.

    `content` is as its schema says (`content.py`). `views` says how agents have it in sight, `shares` what
    agents other than the owner may do with it, `origin` where a loaded document comes from. `kept` is
    false for a block that every agent starts with and that nobody has written to yet.
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
    kept: bool = field(default=True, compare=False)

    @classmethod
    def new(
        cls,
        owner: str,
        label: str,
        *,
        type: BlockType = BlockType.WORKING,
        schema: Schema | None = None,
        permission: Permission = Permission.READ_WRITE,
        description: str = "",
        text: str | None = None,
    ) -> Block:
        """A block that is to be made: with the defaults of its schema, or with what `text` says.

        Raises:
            InvalidParametersError: the label or the text can't be, or a required field is empty.
        """
        schema = schema or (LogSchema() if type is BlockType.LOG else TextSchema())
        content = contents.default_content(schema) if text is None else contents.parse(schema, text)
        made = cls(owner, clean_label(label), type, schema, permission, description, content)
        made.check()
        return made

    @property
    def path(self) -> NotePath:
        """Where the block is in the place "memory"."""
        return block_path(self.owner, self.label)

    @property
    def text(self) -> str:
        """The content as people and models read it."""
        return contents.render(self.schema, self.content)

    @property
    def size(self) -> int:
        """How many characters its text has."""
        return len(self.text)

    def check(self) -> None:
        """See that the block keeps what its schema promises.

        Raises:
            InvalidParametersError: it does not.
        """
        contents.check(self.schema, self.content)

    def with_content(self, content: Content) -> Block:
        """This block holding something else.

        Raises:
            InvalidParametersError: its schema does not allow that.
        """
        made = replace(self, content=content)
        made.check()
        return made

    def with_text(self, text: str) -> Block:
        """This block holding what a text says; errors as of `with_content`."""
        return self.with_content(contents.parse(self.schema, text))

    def view_of(self, agent: str) -> BlockView:
        """How an agent has it in sight."""
        return self.views.get(agent, BlockView())

    def with_view(self, agent: str, view: BlockView) -> Block:
        """This block with another view of an agent's."""
        views = {name: one for name, one in self.views.items() if name != agent}
        return replace(self, views=views if view == BlockView() else {**views, agent: view})

    def permission_of(self, agent: str) -> Permission | None:
        """What the agent may do with it; None for nothing at all."""
        return self.permission if agent == self.owner else self.shares.get(agent)

    def shown_to(self, agent: str) -> str:
        """Its text as far as the agent has it in sight; of a log the newest lines."""
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
    """The blocks that every agent starts with; they are kept from the first edit on."""
    pinned = {agent: BlockView(pinned=True)}
    return (
        Block(
            agent,
            PERSONA_LABEL,
            BlockType.CORE,
            description="Who the agent is and how it works.",
            views=pinned,
            kept=False,
        ),
        Block(
            agent,
            HUMAN_LABEL,
            BlockType.CORE,
            permission=Permission.HUMAN,
            views=pinned,
            description="What the agent knows of the person.",
            kept=False,
        ),
    )

"""Settings of the user: pydantic models whose titles and descriptions feed the settings dialog.

Kept as one TOML-like JSON file in the user's configuration folder, never in a vault. Keys of models live
in the system's key store (`app/agent/keys.py`), never here. A vault's own `.scriptorium/rules.toml` may
only tighten what these allow (`VaultRules`).
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from app import paths
from app.errors import InvalidParametersError

log = logging.getLogger(__name__)

_TAKEN_NAMES = frozenset(
    ("user", "you", "desktop-agent", "mcp", "http", "cli", "plug-in", "built-in", "built-in agent", "model")
)
_S = TypeVar("_S", bound="Section")

Effect = Literal["allow", "ask", "deny"]
OperationName = Literal["read", "create", "update", "delete", "administrative", "execute", "network"]


class Section(BaseModel):
    """A part of the settings; what a newer version wrote and this one does not know is kept."""

    model_config = ConfigDict(extra="allow", validate_assignment=True)


class GeneralSettings(Section):
    """How the window looks."""

    theme: Literal["system", "light", "dark", "high-contrast"] = Field(
        "system", title="Theme", description="Light, dark, high contrast, or as the system says."
    )
    zoom: float = Field(
        1.0, ge=0.7, le=2.5, title="Interface zoom", description="Size of all text and controls, 1 is normal."
    )
    reopen_last: bool = Field(
        True, title="Open the last vault", description="Go on where you left off when the app starts."
    )


class ModelSettings(Section):
    """Which model answers in the agent panel."""

    provider: Literal["built-in", "openai", "ollama", "lm-studio", "llama.cpp", "openai-compatible"] = Field(
        "built-in",
        title="Agent",
        description="The built-in agent needs no model. The others speak to a model by the OpenAI protocol.",
    )
    base_url: str = Field(
        "",
        title="Address",
        description="The address of the model server, ending in /v1. Empty: the provider's usual one.",
    )
    model: str = Field(
        "", title="Model", description="The model's name, such as gpt-4.1-mini or llama3.2."
    )
    temperature: float | None = Field(
        None, ge=0, le=2, title="Temperature", description="Empty: the model's own. 0 is the most even."
    )
    request_timeout: float = Field(
        120.0, ge=5, le=1800, title="Time-out (s)", description="How long to wait for the model's next word."
    )
    max_requests: int = Field(
        40, ge=1, le=500, title="Requests per turn", description="Stops a turn that goes round in circles."
    )
    max_tokens_per_turn: int = Field(
        400_000, ge=1000, title="Tokens per turn", description="A turn stops when it has used so many tokens."
    )
    max_dollars_per_session: float = Field(
        0.0,
        ge=0,
        le=10_000,
        title="Dollars per session",
        description="Turns stop when all of them have cost so much; 0 is no limit. Needs a known price.",
        json_schema_extra={"decimals": 2},
    )
    max_tokens_per_session: int = Field(
        0, ge=0, title="Tokens per session", description="As for dollars, for any model; 0 is no limit."
    )


class Rule(BaseModel):
    """One rule: what happens to these operations on these paths by these callers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    effect: Effect = Field(title="Effect", description="allow, ask or deny; deny beats ask beats allow.")
    operations: tuple[OperationName, ...] = Field(
        (), title="Operations", description="Which operations; none means all."
    )
    glob: str = Field("**", title="Paths", description="Glob over vault paths, such as Journal/**.")
    caller: str = Field("*", title="Caller", description="Glob over the caller's kind or name.")
    tool: str = Field("*", title="Tool", description="Glob over the tool's name.")


class CallerProfile(BaseModel):
    """What callers of a name may do at all; several that fit hold together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    caller: str = Field("*", title="Caller", description="Glob over the caller's kind or name.")
    categories: tuple[str, ...] = Field(
        (), title="Categories", description="Tools of these categories only; none means all."
    )
    tools: tuple[str, ...] = Field(
        (), title="Tools", description="Only these, such as edit_note.append or read_*; none means all."
    )
    folders: tuple[str, ...] = Field(
        (), title="Folders", description="Notes of these folders only; none means the whole vault."
    )
    read_only: bool = Field(False, title="Only reads", description="It may change nothing.")


class CallLimit(BaseModel):
    """How often tools may be called by one caller."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str = Field("*", title="Tool", description="Glob over the tool's name.")
    per_minute: int | None = Field(None, ge=0, title="A minute", description="Calls a minute at most.")
    pause: float | None = Field(
        None, ge=0, title="Pause (s)", description="Seconds between two calls of the same tool."
    )
    per_turn: int | None = Field(None, ge=0, title="A turn", description="Calls in one turn at most.")


class TurnRule(BaseModel):
    """A rule on the order of an agent's calls in one turn."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["first", "last", "either"] = Field(
        title="Rule",
        description="first: before any other. last: the turn is over with it. either: only one of them.",
    )
    tools: tuple[str, ...] = Field(title="Tools", description="Globs over the tools' names.")


class ToolSettings(Section):
    """Which tools there are for agents, and how often they may be called."""

    categories_on: tuple[str, ...] = Field(
        (), title="Categories switched on", description="Categories that are off until you name them here."
    )
    limits: tuple[CallLimit, ...] = Field(
        (), title="Limits", description="Beside those that each tool and category has."
    )
    turn_rules: tuple[TurnRule, ...] = Field(
        (), title="Rules of a turn", description="What an agent calls first, last, or only one of."
    )


class PermissionSettings(Section):
    """What needs your approval."""

    rules: tuple[Rule, ...] = Field(
        (), title="Rules", description="Checked before the defaults. Deny beats ask beats allow."
    )
    bulk_threshold: int = Field(
        20, ge=1, le=1000, title="Bulk threshold", description="A change of more files than this always asks."
    )
    approval_timeout: float = Field(
        300.0, ge=10, le=86_400, title="Approval time-out (s)", description="No answer in this time is a no."
    )
    unlock_delete_grants: bool = Field(
        False,
        title="Allow auto-approving deletes",
        description="Even then a note that others link to always asks.",
    )
    categories_off: tuple[str, ...] = Field(
        (), title="Tool categories switched off", description="Tools of these categories can't be called."
    )
    callers: tuple[CallerProfile, ...] = Field(
        (), title="Callers", description="What agents and programs may do at all, by their names."
    )


class IndexSettings(Section):
    """What is read."""

    exclude: tuple[str, ...] = Field(
        (), title="Left out", description="Globs over vault paths that are not indexed."
    )
    aliases_resolve: bool = Field(
        False, title="Links may use aliases", description="A link whose target is an alias finds the note."
    )
    max_note_mib: int = Field(
        4, ge=1, le=64, title="Largest note (MiB)", description="A larger note is listed, not read."
    )
    check_minutes: int = Field(
        10,
        ge=0,
        le=1440,
        title="Look for missed changes (minutes)",
        description="How often all files are looked at for changes that nobody told of; 0 is never.",
    )


class EmbeddingSettings(Section):
    """Search by meaning."""

    enabled: bool = Field(
        True, title="Search by meaning", description="Compute sentence vectors of notes, on this machine."
    )
    threads: int = Field(
        1, ge=1, le=16, title="Cores", description="How many it may use, from the next opening of a vault on."
    )
    on_battery: Literal["slow", "paused", "full"] = Field(
        "slow",
        title="On battery",
        description="Speed while the computer runs on battery. Under 20 % charge it stops unless at full.",
    )
    when_busy: Literal["slow", "paused", "full"] = Field(
        "slow", title="When busy", description="Speed while other programs need the processor."
    )
    model: str = Field(
        "all-MiniLM-L6-v2-int8",
        min_length=1,
        title="Model",
        description=(
            "The shipped one, or any of sentence-transformers (an extra), by its name on the Hugging Face "
            "hub or its folder; take a multilingual one for Chinese, Japanese or Korean. Changing it reads "
            "all notes anew."
        ),
        examples=[
            "all-MiniLM-L6-v2-int8",
            "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
            "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
            "sentence-transformers/all-mpnet-base-v2",
        ],
    )
    python: str = Field(
        "",
        title="Python for other models",
        description="A Python that has sentence-transformers; empty: the one that runs the app.",
    )


class JournalSettings(Section):
    """How far back undo reaches."""

    max_mib: int = Field(
        500, ge=10, le=100_000, title="Size (MiB)", description="Oldest versions are dropped beyond this."
    )


class AgentSettings(Section):
    """How the agent works."""

    mode: Literal["ask", "propose", "plan"] = Field(
        "propose", title="Mode", description="Ask only reads; propose may suggest changes; plan says first."
    )
    instructions: str = Field(
        "", title="Your instructions", description="Told to the model at the start of every conversation."
    )


class AgentProfile(BaseModel):
    """An agent of the team."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        pattern=r"^[^\W\d_][\w .'-]{0,39}$",
        title="Name",
        description="How you and the other agents call it, such as Researcher.",
    )
    instructions: str = Field("", title="Instructions", description="What it is for, and how it is to work.")
    model: str = Field(
        "",
        title="Model",
        description="Another model of the same server; empty: the one of the settings. built-in: none.",
    )
    tools: tuple[str, ...] = Field(
        (), title="Tools", description="Only these, such as read_* or edit_note.append; none means all."
    )
    read_only: bool = Field(False, title="Only reads", description="It may change nothing.")


class AgentGroup(BaseModel):
    """Agents of the team that answer together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        pattern=r"^[^\W\d_][\w .'-]{0,39}$", title="Name", description="Such as Editors."
    )
    kind: Literal["supervisor", "round-robin", "pipeline", "voting"] = Field(
        "pipeline",
        title="How they work",
        description=(
            "Supervisor: the first one gives work to the others. Round robin: one after the other, each sees "
            "what was said. Pipeline: each works on what the one before made. Voting: the best answer wins."
        ),
    )
    members: tuple[str, ...] = Field(
        min_length=1, title="Members", description="Names of agents of the team, in order."
    )
    rounds: int = Field(1, ge=1, le=5, title="Rounds", description="Of a round robin.")


class TeamSettings(Section):
    """Agents with their own instructions and tools, and the groups they work in."""

    agents: tuple[AgentProfile, ...] = Field(
        (), title="Agents", description="Beside the one that answers by itself."
    )
    groups: tuple[AgentGroup, ...] = Field((), title="Groups", description="Agents that answer together.")
    answers: str = Field(
        "",
        title="Who answers",
        description="The name of an agent or a group; empty: the built-in agent or the model.",
    )
    max_depth: int = Field(
        3, ge=1, le=10, title="Depth", description="How often a request may be handed on, one to the next."
    )
    max_turns: int = Field(
        20, ge=1, le=200, title="Turns", description="How often agents may answer for one request of yours."
    )
    max_tokens: int = Field(
        400_000, ge=1000, title="Tokens", description="All that the team may use for one request of yours."
    )

    def agent(self, name: str) -> AgentProfile | None:
        """The agent of that name, whatever the case."""
        return next((one for one in self.agents if one.name.casefold() == name.casefold()), None)

    def group(self, name: str) -> AgentGroup | None:
        """The group of that name, whatever the case."""
        return next((one for one in self.groups if one.name.casefold() == name.casefold()), None)

    @model_validator(mode="after")
    def _names_are_clear(self) -> Self:
        """No name twice, none that means a way in, and no member that is not there."""
        agents = [one.name.casefold() for one in self.agents]
        names = agents + [one.name.casefold() for one in self.groups]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two agents or groups are called {name}")
            if name in _TAKEN_NAMES:
                raise ValueError(f"{name} is the name of something else")
        for group in self.groups:
            for member in group.members:
                if self.agent(member) is None:
                    raise ValueError(f"{group.name}: there is no agent called {member}")
        return self


class MessageSettings(Section):
    """Messages that leave this machine; each is shown and asked about. Secrets are in the key store."""

    discord: bool = Field(
        False, title="Discord", description="Agents may propose messages to a channel, by its webhook."
    )
    bluesky: bool = Field(
        False, title="Bluesky", description="Agents may propose posts in the name of your account."
    )
    bluesky_handle: str = Field(
        "", title="Bluesky handle", description="Your account's name, such as name.bsky.social."
    )
    bluesky_service: str = Field(
        "https://bsky.social", title="Bluesky server", description="The address of your account's server."
    )


class WebSettings(Section):
    """Who searches the web for agents, where you switch that on under Tools."""

    provider: Literal["none", "searxng", "tavily", "brave", "duckduckgo"] = Field(
        "none",
        title="Search provider",
        description="It gets the words that are searched for; you see and approve each search.",
    )
    address: str = Field(
        "",
        title="Address of SearXNG",
        description="Of your own server, such as http://localhost:8888; the only one at home that is asked.",
    )


class Settings(Section):
    """All settings, by section."""

    general: GeneralSettings = Field(default_factory=GeneralSettings, title="General")
    model: ModelSettings = Field(default_factory=ModelSettings, title="Model")
    agent: AgentSettings = Field(default_factory=AgentSettings, title="Agent")
    permissions: PermissionSettings = Field(default_factory=PermissionSettings, title="Permissions")
    tools: ToolSettings = Field(default_factory=ToolSettings, title="Tools")
    team: TeamSettings = Field(default_factory=TeamSettings, title="Team")
    messages: MessageSettings = Field(default_factory=MessageSettings, title="Messages")
    web: WebSettings = Field(default_factory=WebSettings, title="Web")
    index: IndexSettings = Field(default_factory=IndexSettings, title="Index")
    embeddings: EmbeddingSettings = Field(default_factory=EmbeddingSettings, title="Search by meaning")
    journal: JournalSettings = Field(default_factory=JournalSettings, title="Undo")


class VaultSettings(Section):
    """What the user has set for one vault: kept in their data folder, added to the settings for all."""

    categories_on: tuple[str, ...] = ()
    categories_off: tuple[str, ...] = ()
    limits: tuple[CallLimit, ...] = ()


class VaultRules(BaseModel):
    """What a vault's `.scriptorium/rules.toml` may say: ask, deny, and categories to switch off."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: tuple[Rule, ...] = ()
    categories_off: tuple[str, ...] = ()
    bulk_threshold: int | None = Field(None, ge=1)

    @property
    def tightening(self) -> tuple[Rule, ...]:
        """The rules that can only tighten; a vault's `allow` is ignored."""
        return tuple(rule for rule in self.rules if rule.effect != "allow")


def settings_file() -> Path:
    """Where the settings are kept."""
    return paths.config_folder() / "settings.json"


def load_settings() -> Settings:
    """The saved settings; a file that can't be read is set aside, and the defaults hold."""
    return _load(Settings, settings_file())


def save_settings(settings: Settings) -> None:
    """Write the settings in one step, so that a crash leaves the old or the new file."""
    _save(settings, settings_file())


def _load(kind: type[_S], file: Path) -> _S:
    try:
        return kind.model_validate_json(file.read_text("utf-8"))
    except FileNotFoundError:
        return kind()
    except (ValidationError, UnicodeDecodeError) as error:
        aside = file.with_suffix(f".damaged-{int(time.time())}.json")
        file.replace(aside)
        log.warning("the settings could not be read and were set aside as %s: %s", aside, error)
        return kind()


def _save(settings: Section, file: Path) -> None:
    text = json.dumps(settings.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".settings-")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    Path(name).replace(file)


def load_vault_settings(folder: Path) -> VaultSettings:
    """What is set for the vault whose data is in `folder`; a file that can't be read is set aside."""
    return _load(VaultSettings, folder / "settings.json")


def save_vault_settings(folder: Path, settings: VaultSettings) -> None:
    """Write the settings of a vault in one step."""
    _save(settings, folder / "settings.json")


def load_vault_rules(root: Path) -> VaultRules:
    """The rules that the vault at `root` brings; none when it brings no file.

    Raises:
        InvalidParametersError: the file is there and can't be read. The caller must then treat the
            vault as one that denies changes: rules that tighten must not get lost by a typing error.
    """
    file = root / ".scriptorium" / "rules.toml"
    try:
        return VaultRules.model_validate(tomllib.loads(file.read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return VaultRules()
    except (OSError, ValueError) as error:
        raise InvalidParametersError(
            f"The vault's rules in {file} can't be read, so no agent may change it: {error}",
            path=str(file),
        ) from error

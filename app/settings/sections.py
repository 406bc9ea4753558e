"""The sections of the settings; the settings dialog shows their titles and descriptions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PrivateAttr

from app.settings.answering import AnswerByBuiltIn, AnswerByModel, AnswerByProgram, AnswerByTeam, Answering
from app.settings.rules import CallerProfile, CallLimit, Rule, TurnRule
from app.settings.section import GuardedSection, SettingsSection
from app.settings.servers import AgentProgram, AgentProgramSettings, ExternalSettings, ServerSettings
from app.settings.team import AgentGroup, AgentProfile, TeamSettings


class GeneralSettings(SettingsSection):
    """Appearance of the window."""

    theme: Literal["system", "light", "dark", "high-contrast"] = Field(
        "system", title="Theme", description="Light, dark, high contrast or the system's theme."
    )
    zoom: float = Field(
        1.0, ge=0.7, le=2.5, title="Interface zoom", description="Size of all text and controls; 1 is normal."
    )
    reopen_last: bool = Field(
        True, title="Open the last vault", description="Reopen the last vault when the app starts."
    )


class EditorSettings(SettingsSection):
    """Writing notes."""

    default_mode: Literal["live", "source", "reading"] = Field(
        "live",
        title="Default view",
        description="How notes open: as live preview, source or reading view.",
    )
    font: str = Field("", title="Text font", description="Code uses its own font.")
    font_size: int = Field(0, ge=0, le=72, title="Text size (pt)", description="0 is the default size.")
    code_font: str = Field("", title="Code font", description="For code, formulas and HTML.")
    code_size: int = Field(0, ge=0, le=72, title="Code size (pt)", description="0 matches the text size.")
    line_width: int = Field(
        760,
        ge=0,
        le=4000,
        title="Line width (px)",
        description="Maximum width of text; 0 is the width of the tab.",
    )
    auto_pairs: bool = Field(
        True,
        title="Close brackets and quotes",
        description="Insert the closing character along with the opening one.",
    )
    spelling: bool = Field(
        True,
        title="Check spelling",
        description="Underline words that are not in a dictionary. Requires system dictionaries (enchant).",
    )
    spelling_languages: tuple[str, ...] = Field(
        (),
        title="Spelling languages",
        description="For example, en_US or de_DE. Leave empty for the system's language.",
    )
    autosave: bool = Field(
        True,
        title="Save automatically",
        description="Save a note shortly after the last keystroke, when it loses focus, and when it closes.",
    )
    autosave_delay: float = Field(
        2.0,
        ge=0.5,
        le=120,
        title="Delay before saving (s)",
        description="Time between the last keystroke and saving.",
        json_schema_extra={"decimals": 1},
    )
    attachment_folder: str = Field(
        "",
        title="Attachment folder",
        description=(
            "The folder for pasted and dropped files: a folder in the vault, / for its root, or ./ for the "
            "note's folder. Leave empty for Obsidian's setting, or “Attachments”."
        ),
    )
    image_name: str = Field(
        "Pasted image {{date:YYYYMMDDHHmmss}}",
        min_length=1,
        title="Name of pasted images",
        description="{{date}}, {{time}} and {{title}} (the note's name) are filled in.",
    )
    templates_folder: str = Field(
        "",
        title="Templates folder",
        description="Leave empty for Obsidian's setting, or “Templates” or “Vorlagen”.",
    )
    daily_folder: str = Field(
        "",
        title="Daily note: folder",
        description="Leave empty for Obsidian's setting, or the root of the vault.",
    )
    daily_format: str = Field(
        "",
        title="Daily note: name",
        description="For example, YYYY-MM-DD or YYYY/MM/DD dddd. Leave empty for Obsidian's setting.",
    )
    daily_template: str = Field(
        "",
        title="Daily note: template",
        description="The path of a note. Leave empty for Obsidian's setting, or none.",
    )


class ShortcutSettings(SettingsSection):
    """Keyboard shortcuts that differ from the defaults."""

    custom: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        title="Changed shortcuts",
        description="Shortcuts by command, such as Ctrl+Shift+S; others use their default.",
        json_schema_extra={"form": False},
    )


class ModelSettings(SettingsSection):
    """The model that answers in the agent panel if `AgentSettings.answering` selects it, or for the team."""

    provider: Literal["openai", "ollama", "lm-studio", "llama.cpp", "openai-compatible"] = Field(
        "openai", title="Provider", description="A service, or a server that supports the OpenAI API."
    )
    base_url: str = Field(
        "",
        title="Address",
        description="The address of the model server, ending in /v1. Leave empty for the provider's default.",
    )
    model: str = Field("", title="Model", description="The model's name, such as gpt-4.1-mini or llama3.2.")
    temperature: float | None = Field(
        None,
        ge=0,
        le=2,
        title="Temperature",
        description="Leave empty for the model's default; 0 is the most predictable.",
    )
    request_timeout: float = Field(
        120.0, ge=5, le=1800, title="Timeout (s)", description="Maximum wait for the model's next word."
    )
    max_requests: int = Field(
        40, ge=1, le=500, title="Requests per turn", description="Maximum model requests in one turn."
    )
    max_tokens_per_turn: int = Field(
        400_000, ge=1000, title="Tokens per turn", description="Maximum tokens in one turn."
    )
    max_dollars_per_session: float = Field(
        0.0,
        ge=0,
        le=10_000,
        title="Dollars per session",
        description="Maximum cost of all turns; 0 means no limit. Requires a model with a known price.",
        json_schema_extra={"decimals": 2},
    )
    max_tokens_per_session: int = Field(
        0,
        ge=0,
        title="Tokens per session",
        description="Maximum tokens in all turns, for any model; 0 means no limit.",
    )


class ToolSettings(SettingsSection):
    """The tools of agents, and limits on their calls."""

    plugins_on: tuple[str, ...] = Field(
        (),
        title="Enabled plug-ins",
        description="Files and folders in the plug-in folder to load when a vault opens.",
    )
    limits: tuple[CallLimit, ...] = Field(
        (), title="Limits", description="Additional limits; each tool and category has its own."
    )
    turn_rules: tuple[TurnRule, ...] = Field(
        (),
        title="Turn rules",
        description="Tools that an agent must call first or last, or of which it may call only one.",
    )


class PermissionSettings(GuardedSection):
    """Approval of changes."""

    rules: tuple[Rule, ...] = Field(
        (),
        title="Rules",
        description="Checked before the defaults. Deny overrides ask, and ask overrides allow.",
    )
    bulk_threshold: int = Field(
        20,
        ge=1,
        le=1000,
        title="Bulk threshold",
        description="A change to more files than this always needs your approval.",
    )
    approval_timeout: float = Field(
        300.0,
        ge=10,
        le=86_400,
        title="Approval timeout (s)",
        description="An external program's request is denied after this time without an answer.",
    )
    unlock_delete_grants: bool = Field(
        False,
        title="Allow auto-approval of deletions",
        description="Deleting a note that others link to still needs your approval.",
    )
    categories: dict[str, bool] = Field(
        default_factory=dict,
        title="Tool categories",
        description="Categories that are on or off in all vaults; others use their default.",
        json_schema_extra={"form": False},
    )
    callers: tuple[CallerProfile, ...] = Field(
        (), title="Callers", description="Restrictions on agents and programs, by name."
    )

    @property
    def categories_off(self) -> frozenset[str]:
        """The categories whose tools can't be called in any vault."""
        return frozenset(category_id for category_id, on in self.categories.items() if not on)


class IndexSettings(SettingsSection):
    """Files that are indexed."""

    exclude: tuple[str, ...] = Field(
        (), title="Excluded files", description="Patterns of paths that are not indexed, such as Archive/**."
    )
    aliases_resolve: bool = Field(
        False, title="Resolve links by alias", description="A link to an alias opens the note."
    )
    max_note_mib: int = Field(
        4, ge=1, le=64, title="Maximum note size (MiB)", description="Larger notes are listed but not read."
    )
    check_minutes: int = Field(
        10,
        ge=0,
        le=1440,
        title="Check for missed changes (minutes)",
        description="How often to check all files for missed changes; 0 means never.",
    )


class EmbeddingSettings(SettingsSection):
    """Semantic search."""

    enabled: bool = Field(
        True, title="Semantic search", description="Index the meaning of notes on this computer."
    )
    threads: int = Field(
        1, ge=1, le=16, title="Cores", description="Maximum cores for indexing; applies when a vault opens."
    )
    on_battery: Literal["slow", "paused", "full"] = Field(
        "slow",
        title="On battery",
        description="Speed on battery. Below 20% charge, indexing pauses unless this is set to Full.",
    )
    when_busy: Literal["slow", "paused", "full"] = Field(
        "slow", title="When busy", description="Speed while other programs need the processor."
    )
    model: str = Field(
        "all-MiniLM-L6-v2-int8",
        min_length=1,
        title="Semantic search model",
        description=(
            "Indexes the meaning of notes on this computer. After a change, notes are reindexed in the "
            "background; the previous model stays in use until this is done."
        ),
        examples=[
            "all-MiniLM-L6-v2-int8",
            "multilingual-e5-small-int4",
            "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
            "sentence-transformers/all-mpnet-base-v2",
        ],
    )
    python: str = Field(
        "",
        title="Python for other models",
        description=(
            "A Python interpreter that has sentence-transformers. Leave empty for the one that runs the app."
        ),
    )
    cross_encoder: str = Field(
        "",
        title="Cross-encoder for relations",
        description=(
            "A sentence-transformers model (optional) that judges whether passages support or contradict "
            "each other, to improve suggested relations. Enter its name on the Hugging Face hub or its "
            "folder. Leave empty for none."
        ),
        examples=["cross-encoder/nli-deberta-v3-small", "cross-encoder/nli-deberta-v3-base"],
    )


class JournalSettings(SettingsSection):
    """The history that undo uses."""

    max_mib: int = Field(
        500,
        ge=10,
        le=100_000,
        title="Maximum size (MiB)",
        description="When the history exceeds this size, the oldest versions are deleted.",
    )


class AgentSettings(SettingsSection):
    """The agent that answers, and how it works."""

    answering: Answering = Field(
        default_factory=AnswerByBuiltIn,
        title="Answering agent",
        description="The agent that answers in the agent panel. The built-in agent needs no model.",
    )
    mode: Literal["ask", "propose", "plan"] = Field(
        "propose",
        title="Mode",
        description="“Ask” only reads. “Propose” also proposes changes. “Plan first” only describes them.",
    )
    instructions: str = Field(
        "", title="Your instructions", description="Sent to the model at the start of every conversation."
    )


class MessageSettings(SettingsSection):
    """Messages that leave this machine; each one needs your approval. Secrets are in the key store."""

    discord: bool = Field(
        False, title="Discord", description="Agents may propose messages to a channel through its webhook."
    )
    discord_channels: tuple[str, ...] = Field(
        (),
        title="More Discord channels",
        description="Names of additional channels, each with its own webhook; agents choose by name.",
    )
    bluesky: bool = Field(False, title="Bluesky", description="Agents may propose posts from your account.")
    bluesky_handle: str = Field(
        "", title="Bluesky handle", description="Your account's handle, such as name.bsky.social."
    )
    bluesky_handles: tuple[str, ...] = Field(
        (),
        title="More Bluesky handles",
        description="Additional accounts, each with its own app password; agents choose by handle.",
    )
    bluesky_service: str = Field(
        "https://bsky.social", title="Bluesky server", description="The address of your account's server."
    )


class WebSettings(SettingsSection):
    """The search provider for agents, if web tools are enabled under Tools."""

    provider: Literal["none", "searxng", "tavily", "brave", "duckduckgo"] = Field(
        "none",
        title="Search provider",
        description="The provider receives the search terms; you see and approve each search.",
    )
    address: str = Field(
        "",
        title="SearXNG address",
        description="Your own server, such as http://localhost:8888; no other local server is contacted.",
    )


class UpdateSettings(SettingsSection):
    """Checks for new versions; nothing is installed automatically."""

    check: bool = Field(
        False,
        title="Check for updates",
        description="Check the address below for a new version once a day. Nothing is installed.",
    )
    address: str = Field(
        "",
        title="Update address",
        description="The address of the signed release file. Leave empty for this build's default.",
    )
    key: str = Field(
        "",
        title="Release key",
        description=(
            "The public key (Ed25519, base64) that verifies the releases at that address. Leave empty for "
            "this build's default."
        ),
    )


class Settings(SettingsSection):
    """All settings, by section."""

    _problems: tuple[str, ...] = PrivateAttr(())

    @property
    def problems(self) -> tuple[str, ...]:
        """Messages for the user about settings that could not be read."""
        return self._problems

    def with_problems(self, problems: tuple[str, ...]) -> Settings:
        """Set the messages about unreadable settings, and return these settings."""
        self._problems = problems
        return self

    @property
    def answering_program(self) -> AgentProgram | None:
        """The external agent that answers in the panel; None if there is none."""
        answering = self.agent.answering
        if not isinstance(answering, AnswerByProgram):
            return None
        return next((program for program in self.programs.programs if program.name == answering.name), None)

    @property
    def answering_agent(self) -> AgentProfile | AgentGroup | None:
        """The agent or group of the team that answers in the panel; None if there is none."""
        answering = self.agent.answering
        if not isinstance(answering, AnswerByTeam):
            return None
        return self.team.agent(answering.name) or self.team.group(answering.name)

    @property
    def uses_model(self) -> bool:
        """True if the model answers, or if one is set up and the team or an external agent answers.

        While the built-in agent answers, no model is contacted, whatever is set up.
        """
        answering = self.agent.answering
        return isinstance(answering, AnswerByModel) or (
            not isinstance(answering, AnswerByBuiltIn) and bool(self.model.model.strip())
        )

    general: GeneralSettings = Field(default_factory=GeneralSettings, title="General")
    editor: EditorSettings = Field(default_factory=EditorSettings, title="Editor")
    shortcuts: ShortcutSettings = Field(default_factory=ShortcutSettings, title="Keyboard shortcuts")
    model: ModelSettings = Field(default_factory=ModelSettings, title="Model")
    agent: AgentSettings = Field(default_factory=AgentSettings, title="Agent")
    permissions: PermissionSettings = Field(default_factory=PermissionSettings, title="Permissions")
    tools: ToolSettings = Field(default_factory=ToolSettings, title="Tools")
    team: TeamSettings = Field(default_factory=TeamSettings, title="Team")
    messages: MessageSettings = Field(default_factory=MessageSettings, title="Messages")
    web: WebSettings = Field(default_factory=WebSettings, title="Web")
    servers: ServerSettings = Field(default_factory=ServerSettings, title="Connections")
    external: ExternalSettings = Field(default_factory=ExternalSettings, title="External tools")
    programs: AgentProgramSettings = Field(default_factory=AgentProgramSettings, title="External agents")
    index: IndexSettings = Field(default_factory=IndexSettings, title="Index")
    embeddings: EmbeddingSettings = Field(default_factory=EmbeddingSettings, title="Semantic search")
    journal: JournalSettings = Field(default_factory=JournalSettings, title="Undo")
    updates: UpdateSettings = Field(default_factory=UpdateSettings, title="Updates")

"""The sections of the settings; their titles and descriptions are what the dialog shows."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, PrivateAttr

from app.settings.rules import CallerProfile, CallLimit, Rule, TurnRule
from app.settings.section import GuardedSection, SettingsSection
from app.settings.servers import AgentProgramSettings, ExternalSettings, ServerSettings
from app.settings.team import TeamSettings


class GeneralSettings(SettingsSection):
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


class EditorSettings(SettingsSection):
    """How notes are written."""

    default_mode: Literal["live", "source", "reading"] = Field(
        "live",
        title="Default view",
        description="How a note is opened: live preview, source, or reading. Ctrl+E changes it.",
    )
    font: str = Field("", title="Text font", description="Code keeps a font of its own.")
    font_size: int = Field(0, ge=0, le=72, title="Text size (pt)", description="0 is the usual size.")
    code_font: str = Field("", title="Code font", description="For code and for the source view.")
    code_size: int = Field(0, ge=0, le=72, title="Code size (pt)", description="0 follows the text.")
    line_width: int = Field(
        760,
        ge=0,
        le=4000,
        title="Line width (px)",
        description="The widest that lines of text become; 0 is the width of the tab.",
    )
    auto_pairs: bool = Field(
        True,
        title="Close brackets and quotes",
        description="Type the closing character with the opening one.",
    )
    spelling: bool = Field(
        True,
        title="Check spelling",
        description="Underline words that no dictionary has. Needs dictionaries of the system (enchant).",
    )
    spelling_languages: tuple[str, ...] = Field(
        (),
        title="Spelling languages",
        description="Such as en_US, de_DE. Leave empty for the language of the system.",
    )
    autosave: bool = Field(
        True,
        title="Save automatically",
        description="Save a note shortly after the last keystroke, when it loses the focus, and on closing.",
    )
    autosave_delay: float = Field(
        2.0,
        ge=0.5,
        le=120,
        title="Delay before saving (s)",
        description="How long after the last keystroke a note is saved.",
        json_schema_extra={"decimals": 1},
    )
    attachment_folder: str = Field(
        "",
        title="Attachment folder",
        description=(
            "Where pasted and dropped files go: a folder of the vault, / for its root, or ./ for the note's "
            "own folder. Leave empty for Obsidian's setting, else “Attachments”."
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
        description="Leave empty for Obsidian's setting, else “Templates”.",
    )
    daily_folder: str = Field(
        "",
        title="Daily note: folder",
        description="Leave empty for Obsidian's setting, else the root of the vault.",
    )
    daily_format: str = Field(
        "",
        title="Daily note: name",
        description="Such as YYYY-MM-DD or YYYY/MM/DD dddd. Leave empty for Obsidian's setting.",
    )
    daily_template: str = Field(
        "",
        title="Daily note: template",
        description="The path of a note. Leave empty for Obsidian's setting, or none.",
    )


class ModelSettings(SettingsSection):
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
    model: str = Field("", title="Model", description="The model's name, such as gpt-4.1-mini or llama3.2.")
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


class ToolSettings(SettingsSection):
    """Which tools there are for agents, and how often they may be called."""

    categories_on: tuple[str, ...] = Field(
        (), title="Categories switched on", description="Categories that are off until you name them here."
    )
    plugins_on: tuple[str, ...] = Field(
        (),
        title="Plug-ins switched on",
        description="Files and folders in the plug-in folder that are loaded when a vault is opened.",
    )
    limits: tuple[CallLimit, ...] = Field(
        (), title="Limits", description="Beside those that each tool and category has."
    )
    turn_rules: tuple[TurnRule, ...] = Field(
        (), title="Rules of a turn", description="What an agent calls first, last, or only one of."
    )


class PermissionSettings(GuardedSection):
    """What needs your approval."""

    rules: tuple[Rule, ...] = Field(
        (), title="Rules", description="Checked before the defaults. Deny beats ask beats allow."
    )
    bulk_threshold: int = Field(
        20, ge=1, le=1000, title="Bulk threshold", description="A change of more files than this always asks."
    )
    approval_timeout: float = Field(
        300.0,
        ge=10,
        le=86_400,
        title="Approval time-out (s)",
        description="A program outside that gets no answer in this time is denied.",
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


class IndexSettings(SettingsSection):
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


class EmbeddingSettings(SettingsSection):
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
        title="Language model",
        description=(
            "Finds notes by what they mean, on this computer. After a change all notes are read again in the "
            "background, and the earlier model answers until that is done."
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
        description="A Python that has sentence-transformers; empty: the one that runs the app.",
    )
    cross_encoder: str = Field(
        "",
        title="Cross-encoder for relations",
        description=(
            "A model of sentence-transformers (an extra) that says whether passages support or contradict "
            "each other: one more reason for suggested relations. By its name on the Hugging Face hub, or "
            "its folder; empty: none."
        ),
        examples=["cross-encoder/nli-deberta-v3-small", "cross-encoder/nli-deberta-v3-base"],
    )


class JournalSettings(SettingsSection):
    """How far back undo reaches."""

    max_mib: int = Field(
        500, ge=10, le=100_000, title="Size (MiB)", description="Oldest versions are dropped beyond this."
    )


class AgentSettings(SettingsSection):
    """How the agent works."""

    mode: Literal["ask", "propose", "plan"] = Field(
        "propose", title="Mode", description="Ask only reads; propose may suggest changes; plan says first."
    )
    instructions: str = Field(
        "", title="Your instructions", description="Told to the model at the start of every conversation."
    )


class MessageSettings(SettingsSection):
    """Messages that leave this machine; each is shown and asked about. Secrets are in the key store."""

    discord: bool = Field(
        False, title="Discord", description="Agents may propose messages to a channel, by its webhook."
    )
    discord_channels: tuple[str, ...] = Field(
        (),
        title="More Discord channels",
        description="Names of more channels, each with a webhook of its own; an agent chooses by name.",
    )
    bluesky: bool = Field(
        False, title="Bluesky", description="Agents may propose posts in the name of your account."
    )
    bluesky_handle: str = Field(
        "", title="Bluesky handle", description="Your account's name, such as name.bsky.social."
    )
    bluesky_handles: tuple[str, ...] = Field(
        (),
        title="More Bluesky handles",
        description="More accounts, each with an app password of its own; an agent chooses by handle.",
    )
    bluesky_service: str = Field(
        "https://bsky.social", title="Bluesky server", description="The address of your account's server."
    )


class WebSettings(SettingsSection):
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


class UpdateSettings(SettingsSection):
    """Whether the app asks for new versions. It installs nothing by itself."""

    check: bool = Field(
        False,
        title="Check for updates",
        description="Ask the address below for the latest version once a day. Nothing is installed.",
    )
    address: str = Field(
        "",
        title="Update address",
        description="The address of the signed release file. Empty: the address that this build came with.",
    )
    key: str = Field(
        "",
        title="Release key",
        description=(
            "The public key (Ed25519, base64) of whoever signs the releases at that address. Empty: the key "
            "that this build came with."
        ),
    )


class Settings(SettingsSection):
    """All settings, by section.

    `problems` are sentences for the user on what could not be read of them.
    """

    _problems: tuple[str, ...] = PrivateAttr(())

    @property
    def problems(self) -> tuple[str, ...]:
        """What could not be read, in words for the user."""
        return self._problems

    def with_problems(self, problems: tuple[str, ...]) -> Settings:
        """These settings, with what could not be read of them."""
        self._problems = problems
        return self

    general: GeneralSettings = Field(default_factory=GeneralSettings, title="General")
    editor: EditorSettings = Field(default_factory=EditorSettings, title="Editor")
    model: ModelSettings = Field(default_factory=ModelSettings, title="Model")
    agent: AgentSettings = Field(default_factory=AgentSettings, title="Agent")
    permissions: PermissionSettings = Field(default_factory=PermissionSettings, title="Permissions")
    tools: ToolSettings = Field(default_factory=ToolSettings, title="Tools")
    team: TeamSettings = Field(default_factory=TeamSettings, title="Team")
    messages: MessageSettings = Field(default_factory=MessageSettings, title="Messages")
    web: WebSettings = Field(default_factory=WebSettings, title="Web")
    servers: ServerSettings = Field(default_factory=ServerSettings, title="Connections")
    external: ExternalSettings = Field(default_factory=ExternalSettings, title="External tools")
    programs: AgentProgramSettings = Field(default_factory=AgentProgramSettings, title="Agents from outside")
    index: IndexSettings = Field(default_factory=IndexSettings, title="Index")
    embeddings: EmbeddingSettings = Field(default_factory=EmbeddingSettings, title="Search by meaning")
    journal: JournalSettings = Field(default_factory=JournalSettings, title="Undo")
    updates: UpdateSettings = Field(default_factory=UpdateSettings, title="Updates")

"""The themes: every color of the window by role, as frozen values; three themes are built in.

Each text color has a contrast ratio of at least 4.5:1 on the surfaces that it is used on (WCAG 2.2, 1.4.3);
`tests/desktop/theme/test_theme.py` checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from app.vault.markdown.render_values import mix_colors


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of a theme by role, each as "#rrggbb".

    Surfaces from back to front are `sunken`, `window`, `panel` and `raised`. `faint` is for secondary
    information (counts, shortcuts), `accent` for the most important element, `accent_soft` for selections.
    The keys of `node_colors` are note types ("note", "concept", …), other kinds of nodes, "other", and
    "palette-0" to "palette-7" for groups; those of `edge_colors` are relation types.
    """

    name: str
    is_dark: bool
    window: str
    panel: str
    raised: str
    sunken: str
    border: str
    hover: str
    text: str
    muted: str
    faint: str
    accent: str
    accent_text: str
    accent_soft: str
    danger: str
    danger_text: str
    warning: str
    success: str
    added_bg: str
    removed_bg: str
    added_word: str
    removed_word: str
    selection: str
    link: str
    unresolved: str
    tag: str
    code_bg: str
    mark_bg: str
    node_colors: Mapping[str, str]
    edge_colors: Mapping[str, str]

    @property
    def disabled(self) -> str:
        """The color of disabled buttons and menu items, clearly fainter than `muted`."""
        return mix_colors(self.panel, self.faint, 0.5)


def _node_colors(**colors: str) -> Mapping[str, str]:
    return MappingProxyType({name.replace("_", "-"): color for name, color in colors.items()})


def _edge_colors(**colors: str) -> Mapping[str, str]:
    return MappingProxyType({name.upper(): color for name, color in colors.items()})


LIGHT = Theme(
    name="light",
    is_dark=False,
    window="#f4f4f2",
    panel="#fafaf9",
    raised="#ffffff",
    sunken="#ededea",
    border="#dfdfdb",
    hover="#ebebe8",
    text="#1e2024",
    muted="#565a63",
    faint="#666a74",
    accent="#4a55c8",
    accent_text="#ffffff",
    accent_soft="#e3e6fa",
    danger="#b8323a",
    danger_text="#ffffff",
    warning="#8a5a00",
    success="#22743f",
    added_bg="#e3f4e6",
    removed_bg="#fbe7e7",
    added_word="#b4e3bd",
    removed_word="#f3bcbd",
    selection="#cdd3f7",
    link="#3d49bd",
    unresolved="#8b5f8f",
    tag="#1f6f78",
    code_bg="#f0f0ed",
    mark_bg="#fdeeb0",
    node_colors=_node_colors(
        note="#5b6ad0",
        concept="#2f8f83",
        entity="#c2752b",
        hypothesis="#9a55b8",
        observation="#3f86c4",
        source="#7d7f87",
        unresolved="#a9a9b3",
        attachment="#9c8a6d",
        tag="#4c9a5f",
        other="#6f7f94",
        palette_0="#5b6ad0",
        palette_1="#2f8f83",
        palette_2="#c2752b",
        palette_3="#b84f7d",
        palette_4="#3f86c4",
        palette_5="#8b8a2b",
        palette_6="#9a55b8",
        palette_7="#4c9a5f",
    ),
    edge_colors=_edge_colors(
        links_to="#b9bac4",
        supports="#3c9a5d",
        contradicts="#cf4a4f",
        relates_to="#8b7fc9",
        cites="#7d7f87",
        derived_from="#9a7a3c",
        observed_in="#3f86c4",
        discusses="#2f8f83",
        inspired_by="#b84f7d",
        precedes="#6f7f94",
        causes="#c2752b",
        part_of="#4f7fc0",
        similar_to="#9a55b8",
        suggested="#a3a7e0",
    ),
)

DARK = Theme(
    name="dark",
    is_dark=True,
    window="#17181b",
    panel="#1b1c20",
    raised="#232529",
    sunken="#131416",
    border="#2c2e34",
    hover="#26282d",
    text="#e4e5e9",
    muted="#a3a7b1",
    faint="#888d98",
    accent="#8f9bff",
    accent_text="#12131f",
    accent_soft="#2b2e4c",
    danger="#f27c80",
    danger_text="#22090b",
    warning="#e2b35c",
    success="#6fc58d",
    added_bg="#17301f",
    removed_bg="#391c20",
    added_word="#255c38",
    removed_word="#77303a",
    selection="#353a6b",
    link="#a0aaff",
    unresolved="#c79bcb",
    tag="#6fc3cc",
    code_bg="#222428",
    mark_bg="#5a4a16",
    node_colors=_node_colors(
        note="#8f9bff",
        concept="#5cc4b5",
        entity="#e5a35f",
        hypothesis="#c38be0",
        observation="#6fb4ee",
        source="#9da1ab",
        unresolved="#6d717c",
        attachment="#b8a583",
        tag="#7cc78f",
        other="#94a5bd",
        palette_0="#8f9bff",
        palette_1="#5cc4b5",
        palette_2="#e5a35f",
        palette_3="#e584ad",
        palette_4="#6fb4ee",
        palette_5="#c6c463",
        palette_6="#c38be0",
        palette_7="#7cc78f",
    ),
    edge_colors=_edge_colors(
        links_to="#464952",
        supports="#5fbf80",
        contradicts="#ee6f73",
        relates_to="#a89ce6",
        cites="#9da1ab",
        derived_from="#c7a562",
        observed_in="#6fb4ee",
        discusses="#5cc4b5",
        inspired_by="#e584ad",
        precedes="#94a5bd",
        causes="#e5a35f",
        part_of="#74a5e4",
        similar_to="#c38be0",
        suggested="#6d74b8",
    ),
)

HIGH_CONTRAST = Theme(
    name="high-contrast",
    is_dark=True,
    window="#000000",
    panel="#000000",
    raised="#0d0d0d",
    sunken="#000000",
    border="#9a9a9a",
    hover="#2a2a2a",
    text="#ffffff",
    muted="#e6e6e6",
    faint="#cfcfcf",
    accent="#ffd84a",
    accent_text="#000000",
    accent_soft="#3a3100",
    danger="#ff8f8f",
    danger_text="#000000",
    warning="#ffc15c",
    success="#7dff9d",
    added_bg="#003314",
    removed_bg="#450008",
    added_word="#006b2a",
    removed_word="#8f0014",
    selection="#5c4d00",
    link="#8fd0ff",
    unresolved="#ffb0ff",
    tag="#7df4ff",
    code_bg="#1a1a1a",
    mark_bg="#6b5a00",
    node_colors=_node_colors(
        note="#9fc0ff",
        concept="#66ffe0",
        entity="#ffbf66",
        hypothesis="#f0a0ff",
        observation="#70d0ff",
        source="#d8d8d8",
        unresolved="#a8a8a8",
        attachment="#e6cf9c",
        tag="#8dff9d",
        other="#c8d8f0",
        palette_0="#9fc0ff",
        palette_1="#66ffe0",
        palette_2="#ffbf66",
        palette_3="#ff9cc8",
        palette_4="#70d0ff",
        palette_5="#ffff70",
        palette_6="#f0a0ff",
        palette_7="#8dff9d",
    ),
    edge_colors=_edge_colors(
        links_to="#8a8a8a",
        supports="#6dff96",
        contradicts="#ff7a7a",
        relates_to="#c8b8ff",
        cites="#d8d8d8",
        derived_from="#ffd27a",
        observed_in="#70d0ff",
        discusses="#66ffe0",
        inspired_by="#ff9cc8",
        precedes="#c8d8f0",
        causes="#ffbf66",
        part_of="#8cc0ff",
        similar_to="#f0a0ff",
        suggested="#b0b0ff",
    ),
)

THEMES: Mapping[str, Theme] = MappingProxyType({theme.name: theme for theme in (LIGHT, DARK, HIGH_CONTRAST)})

"""Generate the tools' documentation pages as Markdown from their declarations."""

from __future__ import annotations

from typing import Any

from app.toolkit.registry import AccessLevel, Category, ToolCatalog
from app.toolkit.tool import Tool
from app.vault.markdown.text import bullet_list

_LEVELS = {
    AccessLevel.READ_ONLY: "These tools are read-only.",
    AccessLevel.NETWORK: "These tools read, fetch web pages and propose new notes; you approve or deny them.",
    AccessLevel.READ_WRITE: "These tools read and propose changes, which you approve or deny.",
    AccessLevel.EXECUTE: "These tools can run programs; each run needs your approval.",
}

_TYPE_NAMES = {"string": "text", "boolean": "yes or no", "null": "nothing"}


def catalog_page(catalog: ToolCatalog) -> str:
    """Return a page with one line per tool, by category; categories that are off are marked."""
    parts = ["# The tools"]
    for category in catalog.categories:
        tools = [tool for tool in catalog.all_tools() if tool.category == category.id]
        if not tools:
            continue
        state = "" if category.on else " (off)"
        lines = [f"- **{tool.name}**: {tool.summary}" for tool in tools]
        parts += [f"## {category.name}{state}\n\n{_LEVELS[category.level]}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def tool_page(tool: Tool, category: Category) -> str:
    """Return a tool's page: its description, approvals, arguments, operations, examples and result."""
    parts = [f"# {tool.name}", tool.description, _access_paragraph(tool, category)]
    if tool.parameters:
        parts += ["## Arguments", _arguments_table(tool)]
    if tool.operations:
        parts += ["## Operations", _operations_list(tool)]
    if tool.examples:
        parts += ["## Example requests", bullet_list(f"“{example}”" for example in tool.examples)]
    parts += ["## Result", _result_section(tool)]
    return "\n\n".join(parts) + "\n"


def _access_paragraph(tool: Tool, category: Category) -> str:
    lines = [f"Category {category.name}, {category.level.value}."]
    if tool.always_asks:
        lines.append("Every change needs approval; earlier approvals do not count.")
    elif tool.changes_notes:
        lines.append("Every change is shown for approval, unless you have auto-approved changes of its kind.")
    elif tool.proposes:
        lines.append("Every action outside the notes is shown for approval first.")
    else:
        lines.append("It changes nothing.")
    if tool.taints:
        lines.append("Its results contain text from outside the vault, so all later changes need approval.")
    rate = tool.rate_per_minute or category.rate_per_minute
    lines.append(f"Each caller can make at most {rate} calls per minute.")
    if tool.usage_rule:
        lines.append(f"\n\nFor agents: {tool.usage_rule}")
    return " ".join(lines)


def _arguments_table(tool: Tool) -> str:
    rows = ["| name | type | | |", "|---|---|---|---|"]
    for parameter in tool.parameters:
        schema = tool.schema["properties"][parameter.name]
        if parameter.required:
            requirement = "required"
        else:
            requirement = "" if parameter.default in (None, "") else f"default `{parameter.default}`"
        description = _escape_cell(parameter.description)
        rows.append(f"| `{parameter.name}` | {_type_text(schema)} | {requirement} | {description} |")
    return "\n".join(rows)


def _operations_list(tool: Tool) -> str:
    lines = []
    for op, fields in tool.operations.items():
        arguments = [
            f"`{p.name}`" + ("" if p.name in fields.needs else "?")
            for p in tool.parameters
            if p.name in fields.takes
        ]
        lines.append(f"**{op}** {', '.join(arguments)}".rstrip())
    return bullet_list(lines)


def _result_section(tool: Tool) -> str:
    properties: dict[str, Any] = tool.output_schema["properties"]
    rows = [
        f"| `{name}` | {_type_text(schema)} | {_escape_cell(schema.get('description', ''))} |"
        for name, schema in properties.items()
        if name != "message"
    ]
    head = "A sentence (`message`)"
    return f"{head}, and:\n\n| name | type | |\n|---|---|---|\n" + "\n".join(rows) if rows else f"{head}."


def _type_text(schema: dict[str, Any]) -> str:
    """Return the type of a flat schema as a short phrase."""
    if "enum" in schema:
        return " or ".join(f"`{choice}`" for choice in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type_text(option) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type_text(schema.get('items', {}))}"
    types = schema.get("type", "anything")
    names = types if isinstance(types, list) else [types]
    return " or ".join(_TYPE_NAMES.get(str(name), str(name)) for name in names)


def _escape_cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")

"""Create notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

from app.agent.language.meaning.readings import NoteSet, PipelineStep, as_tuple
from app.agent.language.words.vault_words import VaultWords
from app.agent.pipeline.host import Arguments
from app.agent.pipeline.note_texts import read_whole
from app.agent.pipeline.run_state import RunState
from app.agent.pipeline.step_arguments import written_text
from app.agent.pipeline.tool_calls import ToolCalls
from app.errors import InvalidParametersError
from app.vault.markdown.properties import set_property
from app.vault.markdown.text import BOM
from app.vault.note_templates import expand
from app.vault.path import NotePath

_TEMPLATE_HAS_CONTENT = (
    "A note from a template can't have other text when it is created. Nothing was created."
    " Create it from the template first, and then change it."
)
_NEW_NOTE = NoteSet(source="previous")
_DAY_NAME = re.compile(r"\d{4}([-_.])\d\d\1\d\d")


class NoteCreation:
    """Creates notes from a text, values or a template.

    Args:
        tools: Calls the tools and shows their outcomes.
        state: The state of the dialog.
        words: Returns the formats of dates in the vault's templates.
        now: Returns the current time.
    """

    def __init__(
        self,
        tools: ToolCalls,
        state: RunState,
        words: Callable[[], VaultWords],
        now: Callable[[], datetime],
    ) -> None:
        self._tools = tools
        self._state = state
        self._words = words
        self._now = now

    async def create(self, step: PipelineStep) -> tuple[str, ...] | None:
        """Create the note of a step; return its path, or None if it was not created."""
        values = step.arguments
        content = written_text(values.get("text", ""))
        name, folder = str(values["name"]), str(values.get("folder", ""))
        properties = self._properties(values)
        if template := str(values.get("template", "")):
            if content:
                self._tools.say(_TEMPLATE_HAS_CONTENT)
                return None
            expanded = await self._expand_template(template, NotePath.on_disk(name).name)
            if expanded is None:
                return None
            content = expanded
        elif properties:
            content = f"{content or f'# {NotePath.on_disk(name).name}'}\n"
        try:
            for key, value in properties.items():
                content = set_property(content, key, value)
        except InvalidParametersError as error:
            self._tools.say(f"{error} The note was not created.")
            return None
        arguments: Arguments = {"name": name}
        if content:
            arguments["content"] = content
        if folder:
            arguments["folder"] = folder
        outcome = await self._tools.call_step(step, "create_note", arguments)
        if not outcome.success:
            return None
        path = str(outcome.result["path"])
        self._state.record_change(step, outcome, (path,))
        self._state.remember_new_tasks(step, (path,))
        return (path,)

    def _properties(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the properties of a new note, of the kinds that the other notes have."""
        words = self._words()
        properties: dict[str, object] = {"type": str(values["type"])} if "type" in values else {}
        if tags := [str(tag) for tag in as_tuple(values.get("tag", ()))]:
            properties["tags"] = tags
        given = values.get("properties", {})
        for key, value in given.items() if isinstance(given, Mapping) else ():
            items = list(value) if isinstance(value, tuple) else [value]
            is_list = isinstance(value, tuple) or words.is_list(key)
            properties[key] = items if is_list else words.typed_value(key, value)
        return properties

    async def _expand_template(self, template: str, title: str) -> str | None:
        """Return the text of a template for a note with this title; None if it can't be read as a whole."""
        text, words = await read_whole(self._tools, template), self._words()
        if text is None:
            return None
        text = text.removeprefix(BOM)
        if "<%" in text:
            self._tools.say("Templater commands (<% … %>) were copied but not run.")
        formats = {"date_format": words.date_format, "time_format": words.time_format}
        now = self._now()
        if (day := _day_of(title)) is not None:
            now = datetime.combine(day, now.time())  # the note of tomorrow has the date of tomorrow
        return expand(text, title, now, **formats).text


def with_first_properties(steps: Sequence[PipelineStep]) -> list[PipelineStep]:
    """Return steps in which a creation sets the properties that the steps after it would set.

    The new note is then one change for the user to approve.
    """
    joined: list[PipelineStep] = []
    for step in steps:
        last = joined[-1] if joined else None
        is_of_new_note = last is not None and last.action == "create_note" and step.target == _NEW_NOTE
        if last is None or not is_of_new_note or step.action not in ("set_property", "set_type", "add_tag"):
            joined.append(step)
        elif step.action == "set_property":
            known = last.arguments.get("properties", {})
            own = {str(step.arguments["key"]): step.arguments["value"]}
            joined[-1] = last.with_argument(
                "properties", {**known, **own} if isinstance(known, dict) else own
            )
        else:
            role = "type" if step.action == "set_type" else "tag"
            joined[-1] = last.with_argument(role, step.arguments[role])
    return joined


def _day_of(name: str) -> date | None:
    """Return the day that a daily note is named for, or None for other names."""
    try:
        return date.fromisoformat(re.sub("[_.]", "-", name)) if _DAY_NAME.fullmatch(name) else None
    except ValueError:
        return None

"""Ask the built-in agent in everyday language: `scriptorium ask "notes tagged core, newest first"`.

The interpretation of the request is printed first. A question about the notes is answered with the passages
that contain the answer. With --json nothing is executed: the interpretation is printed as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app import paths
from app.agent.builtin import BuiltinAgent
from app.agent.comparison.offered_tasks import MAX_TASKS
from app.agent.language.interpretation.grammar_readings import GUESS_SCORE
from app.agent.language.meaning.dialog import DialogState
from app.agent.language.meaning.notation import to_json
from app.agent.language.meaning.readings import (
    Clarification,
    ContentQuestion,
    Interpretation,
    ModelRequired,
    Reading,
    Reply,
)
from app.agent.language.words.answers import localize
from app.agent.language.words.chips import describe_readings, reading_chips
from app.agent.language.words.lexicon import languages
from app.agent.language.words.vault_words import VaultWords
from app.agent.note_answers import MAX_PASSAGES
from app.agent.replies import HELP, reply_text
from app.agent.result_formatting import shown_passages
from app.cli.console import CliConsole, escape_controls
from app.cli.exit_status import ExitStatus
from app.cli.invoke import approver_for, call_tool, can_approve, resolve_vault
from app.cli.options import Options, add_call_options
from app.cli.session import CliSession, open_session
from app.index.database import FILE_NAME
from app.index.record_queries import is_private, note_record, public_files, public_names, tasks
from app.index.records import TaskRecord
from app.index.resolver import Resolver
from app.storage.sqlite import connect_read_only
from app.toolkit.outcome import ToolOutcome
from app.toolkit.registry import ToolRegistry
from app.toolkit.tool import Tool
from app.tools import CATALOG, CATEGORIES
from app.vault.path import NotePath


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the request."""
    parser.add_argument("request", nargs="+", help="what you want, in English or German")
    add_call_options(parser)


async def run(args: argparse.Namespace, console: CliConsole) -> ExitStatus:
    """Interpret the request, show the interpretation and, without `--json`, execute it."""
    options = Options.from_namespace(args)
    location = resolve_vault(options, console)
    approver = approver_for(options, console)
    async with open_session(
        location.root, approver, console, take_over=can_approve(options), enable_tools=options.enable_tools
    ) as session:
        registry = ToolRegistry(CATEGORIES, CATALOG)
        resolver, words = _load_names(location.root)
        # If another process has the vault open, every search through it would add an entry to the audit log.
        search = session.vault.search if session.vault is not None else None
        find_notes = partial(search.matching, private=False) if search is not None else None
        agent = BuiltinAgent(
            registry,
            resolver,
            lambda: words,
            find_notes=find_notes,
            properties_of=partial(_load_properties, location.root),
            tasks_of=partial(_load_tasks, location.root, resolver),
        )
        text, state = " ".join(args.request), DialogState()
        interpretation = await agent.compare_with_vault(agent.interpret(text, state), text, state)
        if options.json:
            console.out.write(json.dumps(_to_json(interpretation), ensure_ascii=False) + "\n")
            console.out.flush()
            return ExitStatus.DONE if isinstance(interpretation, Reading) else ExitStatus.NOT_FOUND
        if isinstance(interpretation, ContentQuestion):
            return await _answer(interpretation, _TerminalHost(session, options, console))
        others: Clarification | None = None
        if isinstance(interpretation, Clarification) and (shown := agent.shown_result(interpretation)):
            interpretation, others = shown
        if not isinstance(interpretation, Reading):
            console.print_message(escape_controls(_describe(interpretation)))
            return ExitStatus.NOT_FOUND
        console.print_message(
            escape_controls(" · ".join(chip.label for chip in reading_chips(interpretation)))
        )
        language = next(language for language in languages() if language.code == interpretation.language)
        if interpretation.steps[0].action == "help":
            console.print_message(localize(HELP, language))
            return ExitStatus.DONE
        terminal = _TerminalHost(session, options, console)
        state = await agent.run(terminal, interpretation, text, state)
        if state.question is not None:
            console.print_message(escape_controls(_describe(state.question)))
            return ExitStatus.NOT_FOUND
        if others is not None:
            console.print_message(escape_controls(_describe(others)))
        is_guess = interpretation.score == GUESS_SCORE and interpretation.last.action == "find"
        finds_nothing = terminal.status == ExitStatus.DONE and not state.results
        return ExitStatus.NOT_FOUND if is_guess and finds_nothing else terminal.status


def _load_names(root: Path) -> tuple[Resolver, VaultWords]:
    """Return the names in the vault's index, without those of hidden notes; none if there is no index."""
    resolver = Resolver()
    with _index_connection(root) as connection:
        if connection is None:
            return resolver, VaultWords()
        resolver.load_rows(public_files(connection))
        return resolver, VaultWords(*public_names(connection))


def _load_properties(root: Path, path: str) -> Mapping[str, object]:
    """Return the properties of a note in the vault's index; none for a missing or hidden note."""
    with _index_connection(root) as connection:
        if connection is None:
            return {}
        note = NotePath.on_disk(path)
        record = note_record(connection, note)
        return {} if record is None or is_private(connection, note) else record.properties


def _load_tasks(root: Path, resolver: Resolver) -> Sequence[TaskRecord]:
    """Return the tasks in the vault's index, without those of hidden notes; none if there is no index."""
    with _index_connection(root) as connection:
        found = tasks(connection, MAX_TASKS, done=True) if connection is not None else ()
        return [task for task in found if resolver.entry(task.path) is not None]


@contextmanager
def _index_connection(root: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the vault's index for reading; yield None if there is no index."""
    file = paths.vault_cache_folder(root) / FILE_NAME
    if not file.is_file():
        yield None
        return
    with closing(connect_read_only(file, timeout=5.0)) as connection:
        yield connection


def _to_json(interpretation: Interpretation) -> Mapping[str, object]:
    match interpretation:
        case Reading():
            return {"kind": "reading", **to_json(interpretation)}
        case Clarification():
            return {
                "kind": "question",
                "question": interpretation.question,
                "options": [to_json(option.reading) for option in interpretation.options],
            }
        case ModelRequired():
            return {"kind": "model_required", "work": interpretation.work}
        case ContentQuestion():
            return {"kind": "content_question", "question": interpretation.text}
        case _:
            return {"kind": "reply", "understood": interpretation.understood, "text": interpretation.text}


async def _answer(question: ContentQuestion, terminal: _TerminalHost) -> ExitStatus:
    """Print the passages that answer a question about the notes, each with its file and line."""
    outcome = await terminal.call("find_passages", {"question": question.text, "limit": MAX_PASSAGES})
    if not outcome.success:
        return terminal.status
    if not outcome.result["answered"]:
        terminal.console.print_message("No passage in your notes answers this.")
        return ExitStatus.NOT_FOUND
    for passage in shown_passages(outcome.result):
        terminal.say(f"{passage['text']}\n  {passage['path']}:{passage['line']}\n")
    return terminal.status


def _describe(interpretation: Clarification | ModelRequired | Reply) -> str:
    match interpretation:
        case Clarification():
            labels = describe_readings([option.reading for option in interpretation.options])
            return "\n".join([interpretation.question, *(f"  {label}" for label in labels)])
        case ModelRequired():
            return f"{interpretation.work} needs a language model. Nothing was done."
        case Reply():
            return reply_text(interpretation)


@dataclass
class _TerminalHost:
    """Connects the pipeline to the terminal: calls tools in the command's session and prints the answers."""

    session: CliSession
    options: Options
    console: CliConsole
    status: ExitStatus = ExitStatus.DONE

    async def call(
        self,
        tool: str | Tool,
        arguments: Mapping[str, object],
        claim: str = "",
        *,
        summarize: Callable[[ToolOutcome], str] | None = None,
    ) -> ToolOutcome:
        """Call a tool; a call on several notes becomes one call per note, until one fails."""
        if isinstance(tool, Tool):
            return await self._call_for_each(tool.name, arguments)
        outcome = await call_tool(self.session, tool, arguments, self.options, self.console)
        if not outcome.success:
            self.status = ExitStatus.DENIED if outcome.denied else ExitStatus.FAILED
        return outcome

    async def _call_for_each(self, tool: str, arguments: Mapping[str, object]) -> ToolOutcome:
        names, args = arguments["names"], arguments["arguments"]
        assert isinstance(names, list) and isinstance(args, list)
        changed: list[str] = []
        commit: int | None = None
        for name, extra_arguments in zip(names, args, strict=True):
            outcome = await self.call(tool, {**extra_arguments, "name": name})
            if not outcome.success:
                # The calls before it may have changed something.
                return replace(outcome, commit=commit)
            commit = commit if outcome.commit is None else outcome.commit
            changed.append(str(NotePath.on_disk(name)))
        return ToolOutcome(True, {"notes": changed, "left_out": []}, commit=commit)

    def say(self, text: str) -> None:
        """Print an answer."""
        self.console.print_text(escape_controls(text) + "\n")

    def open_note(self, path: str) -> None:
        """Do nothing, since there is no editor to open and the note's text was printed."""

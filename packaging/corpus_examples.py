"""Fill the examples of `packaging/intents` with names of the sample vault and write them as programs."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "packaging")]

from align_requests import Aligner, Example, Unaligned
from train_intents import OUTSIDE, Corpus, Sentence

from app.agent.language import program as P
from app.agent.language.dialog import DialogState
from app.agent.language.lexicon import languages
from app.agent.language.readings import PipelineStep, Reading
from app.agent.language.request_model import item_inputs, state_symbols
from app.settings import Settings
from app.vault.path import NotePath
from app.workspace.opening import open_workspace
from tests.evaluation import requests as evaluation

PER_LINE = int(os.environ.get("PER_LINE", "3"))
DATES = {"en": ("last week", "2026-03-09", "yesterday", "March 2026", "today", "the last 3 days", "2025", "this month"),
         "de": ("letzte Woche", "gestern", "heute", "März 2026", "2025")}
NUMBERS = ("0.7", "0.4", "70 %", "3", "1760", "1714", "0.9", "5", "1693", "12")
PROPERTIES = ("status", "confidence", "year", "read", "born", "died", "date", "aliases", "type")
KINDS = ("people", "claims", "sources", "instruments", "concepts", "events", "journal", "observations", "hypotheses", "methods", "People", "Sources", "Claims", "Journal")
QUOTED = ('"needs a picture"', '"on loan"', '"to check"', '"A new clock"', '"in the museum"', '"see also K1"', '"first draft"')
OUT = {"none", "model", "question", "ask"}
SKIP = {"find", "count", "meaning", "explain_relation", "help"}


def fill(sentence: Sentence, names, tags, rng) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the text and the character ranges of the roles."""
    text = ""
    ranges: list[tuple[int, int, str]] = []
    code = sentence.language.code
    relations = [phrase.text for phrases in sentence.language.relations.values() for phrase in phrases if phrase.text.replace(" ", "").isalpha()]
    for word in sentence.words:
        key = word.key
        match key:
            case "{note}":
                key = rng.choice(names)
            case "{tag}":
                key = rng.choice(("", "", "#")) + rng.choice(tags)
            case "{kind}":
                key = rng.choice(KINDS)
            case "{prop}":
                key = rng.choice(PROPERTIES)
            case "{num}":
                key = rng.choice(NUMBERS)
            case "{date}":
                key = rng.choice(DATES[code])
            case "{rel}":
                key = rng.choice(relations)
            case "{quoted}":
                key = rng.choice(QUOTED)
            case "{topic}":
                key = rng.choice(("workshop", "horology", "urgent", "later", "review2", "brass", "voyages", "draft"))
        joined = key in (",", ".", ":", ";", "?", "!") or key.startswith("'s")
        if text and not joined:
            text += " "
        start = len(text)
        text += key
        ranges.append((start, len(text), word.role))
    return text, ranges


def spans_of(items, ranges) -> list[tuple[tuple[int, int], str]]:
    """Return the item spans of the roles."""
    roles = []
    for item in items:
        start, end = item.tokens[0].start, item.tokens[-1].end
        inside = {role for a, b, role in ranges if a < end and start < b}
        if len(inside) > 1 and OUTSIDE in inside:
            inside.discard(OUTSIDE)
        if len(inside) > 1:
            raise Unaligned("an item has two roles")
        roles.append(inside.pop() if inside else OUTSIDE)
    found = []
    for at, role in enumerate(roles):
        if role == OUTSIDE:
            continue
        if found and found[-1][1] == role and found[-1][0][1] == at - 1 and role not in ("tag", "new_tag"):
            found[-1] = ((found[-1][0][0], at), role)
        else:
            found.append(((at, at), role))
    # a mark between two parts of one text
    return found


def program_of(sentence: Sentence, request, items, state, ranges):
    label, _, detail = sentence.label.partition(".")
    if label in OUT or label == "help":
        return [label]
    if label in SKIP:
        raise Unaligned(label)
    aligner = Aligner(request, items, state)
    spans = spans_of(items, ranges)
    action = {"set_confidence": "set_property", "remove_text": "replace", "read": "open"}.get(label, label)
    program: list = [action]
    if label == "undo":
        return [*program, "scope=", detail or "last"]
    if label == "list_tasks":
        if spans:
            raise Unaligned("tasks about something")
        return [*program, "all", "state=", detail or "open"]
    known = request.allowed[label]
    targets = [span for span, role in spans if role in ("target", "topic")]
    merged: list = []
    for span in targets:
        merged.append(span)
    symbols: list = []
    for span in merged:
        tokens = tuple(t for item in items[span[0] : span[1] + 1] for t in item.tokens)
        parsed = request.sets().parse(tokens)
        if parsed is None or parsed.notes.unknown or parsed.has_bare_topic or parsed.unexplained:
            raise Unaligned("target")
        if parsed.notes.is_everything and len(merged) > 1:
            continue
        symbols.append((span, list(aligner._set(parsed.notes, follows=False))))
    strong = [s for _, s in symbols if s not in (["it"], ["this"], ["these"])]
    chosen = strong or [s for _, s in symbols[:1]]
    if len(chosen) > 1 and not all(s[0] == "@" for s in chosen):
        raise Unaligned("several targets")
    if chosen:
        for s in chosen:
            program += s
    elif "target" in known.needs or known.implies_note:
        program.append("it")
    for role in dict.fromkeys(role for _, role in spans):
        if role in ("target", "topic"):
            continue
        own = [span for span, one in spans if one == role]
        name = {"confidence": "value", "new": "text"}.get(role, role)
        if label == "set_confidence" and role == "confidence":
            program += ["key=", "p:confidence"]
        program.append(f"{name}=")
        if name in ("to", "other"):
            program += ["@", own[0]]
        elif name in ("tag", "new_tag"):
            program += [s for s in own if items[s[0]].tokens[0].kind != "mark" and items[s[0]].tokens[0].key not in ("and", "und")]
        elif name == "key":
            text = aligner._text(own[0])
            program.append(f"p:{text.casefold()}" if text.casefold() in P.NAMED_PROPERTIES else own[0])
        else:
            if len(own) > 1:
                raise Unaligned("two values")
            program.append(own[0])
    if label == "remove_text":
        program += ["text=", "empty"]
    return program


async def main() -> None:
    rng = random.Random(5)
    found: list[Example] = []
    failed: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("DATA", "CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = str(Path(folder, name))
        root = Path(folder, "vault")
        evaluation.fill(root)
        settings = Settings()
        settings.embeddings.enabled = False
        approver = evaluation._Approver()
        workspace = await open_workspace(root, settings, approver, ask_pending=False, brief=True)
        await workspace.index.scan()
        run = evaluation.Evaluation(root, workspace, approver)
        agent = run._agent
        paths = [str(path) for path in workspace.index.note_paths()]
        names = [NotePath.on_disk(path).name for path in paths]
        unique = [n for n in names if names.count(n) == 1]
        words = agent._words()
        for language in languages():
            corpus = Corpus(language, rng)
            by_line: dict[tuple, list[Sentence]] = {}
            sentences = list(corpus.sentences())
            rng.shuffle(sentences)
            quota = len(sentences) * PER_LINE // 22
            for sentence in sentences[:quota]:
                text, ranges = fill(sentence, unique, words.tags, rng)
                last = None
                state = DialogState().on_screen(evaluation.OPEN_NOTE)
                chance = rng.random()
                if chance < 0.35:
                    focus = rng.choice(paths)
                    reading = Reading((PipelineStep(rng.choice(("read", "find", "add_tag", "open")), None),), 1.0)
                    state = DialogState(focus=(focus,), last=reading).on_screen(evaluation.OPEN_NOTE)
                elif chance < 0.7:
                    results = tuple(rng.sample(paths, rng.randint(2, 6)))
                    reading = Reading((PipelineStep("find", None),), 1.0)
                    state = DialogState(results=results, last=reading).on_screen(evaluation.OPEN_NOTE)
                request = agent._interpreter.request_of(text, state, agent._vocabulary_of(words), agent.actions(), evaluation.NOW)
                items = P.request_items(request)
                try:
                    program = program_of(sentence, request, items, state, ranges)
                    if len(program) > 1 and P.ProgramReader(request, items).read(program) is None:
                        raise Unaligned("not read")
                except (Unaligned, IndexError, KeyError) as error:
                    failed[str(error).split()[0]] = failed.get(str(error).split()[0], 0) + 1
                    continue
                found.append(Example(text, state_symbols(state), item_inputs(request, items), [list(s) if isinstance(s, tuple) else s for s in program], ""))
        await workspace.close()
    Path(sys.argv[1]).write_text(json.dumps([vars(e) for e in found], ensure_ascii=False))
    print(len(found), failed)
    for e in rng.sample(found, 25):
        print(e.text, "=>", [s if isinstance(s, str) else e.text and tuple(s) for s in e.program])


asyncio.run(main())

"""Recognize changes that leave out words of a name, text or list, or use a word twice.

"Create a note Ryokan stay in Notes" does not mean the note "Ryokan": no other word explains "stay". In "add a
property format", the word "format" is not both the property and its value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from app.agent.language.grammar.coverage import accounts_for_all
from app.agent.language.grammar.request import Request
from app.agent.language.meaning.readings import PipelineStep, Reading
from app.agent.language.model.decision import Option
from app.vault.path import NotePath

MIN_RIVAL_PROBABILITY = 0.05
"""If another change is at least this likely, partial changes add no probability to the whole one."""
_ROLES = ("name", "new_name", "text", "tag")
_COUNTED_ROLES = (*_ROLES, "key", "value", "old", "folder", "heading")
_WORD = re.compile(r"\w+")


def without_partial(request: Request, options: Sequence[Option]) -> list[Option]:
    """Return the options without changes that use a word twice, and without partial ones; likeliest first.

    The probability of partial changes goes to the whole one, unless another change is likely as well.
    """
    kept = [option for option in options if option.reading is None or not uses_twice(request, option.reading)]
    parts: list[tuple[Option, Option]] = []
    for option in sorted(kept, key=lambda option: option.share):
        others = (other for other in kept if other is not option)
        whole = next((other for other in others if _is_part(request, option, other)), None)
        if whole is not None:
            kept.remove(option)
            parts.append((option, whole))
    shares = {id(option): option.share for option in kept}
    for part, whole in parts:
        rivals = (option for option in kept if option is not whole and option.reading is not None)
        if id(whole) in shares and all(rival.share < MIN_RIVAL_PROBABILITY for rival in rivals):
            shares[id(whole)] += part.share
    merged = [replace(option, share=shares[id(option)]) for option in kept]
    return sorted(merged, key=lambda option: -option.share)


def likelier_parts(request: Request, options: Sequence[Option], kept: Sequence[Option]) -> list[Option]:
    """Return the options that are not kept, but likelier than the change that they are a part of.

    A question offers them last: "rename it to Joan Pettifer she got married" has more words than the name.
    """
    wholes = [option for option in options if any(option.reading == other.reading for other in kept)]
    return [
        option
        for option in options
        if option not in wholes
        and any(whole.share < option.share and _is_part(request, option, whole) for whole in wholes)
    ]


def _is_part(request: Request, option: Option, other: Option) -> bool:
    """Return whether an option is partial compared with another, or swaps its note and its text."""
    reading, whole = option.reading, other.reading
    if reading is None or whole is None or not (option.is_clear and other.is_clear):
        return False
    is_reversed = bool(other.features.get("first")) and _is_reversed(reading.last, whole.last)
    return is_reversed or is_partial(request, reading, whole)


def _is_reversed(step: PipelineStep, other: PipelineStep) -> bool:
    """Return whether two steps each add the other's note: "append [[H1]] to H4"."""
    if {step.action, other.action} != {"append"} or step.target is None or other.target is None:
        return False
    pairs = ((step, other.target.notes), (other, step.target.notes))
    return all(
        [_words(adding.arguments.get("text"))] == [_words(NotePath.on_disk(path).name) for path in paths]
        for adding, paths in pairs
    )


def is_partial(request: Request, reading: Reading, whole: Reading) -> bool:
    """Return whether a reading is `whole` with words left out, and only `whole` accounts for every word.

    None of the left-out words may be one such as "with" or "in", which can end a name.
    """
    if not request.writes(reading) or len(reading.steps) != len(whole.steps):
        return False
    pairs = list(zip(reading.steps, whole.steps, strict=True))
    if all(step == other for step, other in pairs) or not all(
        _has_less(request, step, other) for step, other in pairs
    ):
        return False
    if whole.last.action == "rename" and _follows_name(request, whole.last, reading.last):
        return True
    return accounts_for_all(request, whole) and not accounts_for_all(request, reading)


def uses_twice(request: Request, reading: Reading) -> bool:
    """Return whether a change has a word of the request in more of its values than the request has it."""
    said = Counter(_words(request.text))
    for step in reading.steps:
        used = Counter(word for role in _COUNTED_ROLES for word in _words(step.arguments.get(role, ())))
        if request.writes(reading) and any(0 < said[word] < count for word, count in used.items()):
            return True
    return False


def _has_less(request: Request, step: PipelineStep, whole: PipelineStep) -> bool:
    """Return whether a step has the notes of another one, and its values or parts of them."""
    if step.action != whole.action or step.target != whole.target:
        return False
    if step.arguments.keys() != whole.arguments.keys():
        return False
    ends = request.language.words("ends_name") - {
        word for phrase in request.language.phrases("and") for word in phrase.first
    }
    for role, value in step.arguments.items():
        own, others = _words(value), _words(whole.arguments[role])
        left_out = others[len(own) :] if others[: len(own)] == own else others[: len(others) - len(own)]
        is_part = role in _ROLES and own in (others[: len(own)], others[len(others) - len(own) :])
        is_free = ends.isdisjoint(left_out) or (role == "new_name" and _follows_name(request, whole, step))
        if value != whole.arguments[role] and not (is_part and own and is_free):
            return False
    return True


def _follows_name(request: Request, step: PipelineStep, part: PipelineStep) -> bool:
    """Return whether only one word is between the whole name of a note and its new name: "X to How to Y".

    A part that lacks only the last word may be the name: "benenne X in Y um".
    """
    if _words(step.arguments["new_name"])[:-1] == _words(part.arguments.get("new_name")):
        return False
    said, names = _words(request.text), [_words(step.arguments["new_name"])]
    names += [_words(NotePath.on_disk(path).name) for path in step.target.notes] if step.target else []
    if len(names) != 2:
        return False
    new, old = names
    before = said[: len(said) - len(new)]
    return said[len(before) :] == new and before[-len(old) - 1 : -1] == old


def _words(value: object) -> list[str]:
    """Return the words of a text or list; none for other values, which may be in words in the request."""
    texts = value if isinstance(value, tuple) else (value,)
    return [word for text in texts if isinstance(text, str) for word in _WORD.findall(text.casefold())]

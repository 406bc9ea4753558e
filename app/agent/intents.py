"""What a request can want: an intent, its tool, and the wordings that say it.

Slots are read by their names, the same in every intent:

| slot | holds |
|---|---|
| `name`, `other` | a note that exists, by name, link, pronoun or nearly so |
| `known` | a note that exists, by its exact name only |
| `title`, `new_name` | the name of a note that is to be |
| `tag`, `new_tag` / `tags` | a tag / a list of tags |
| `folder` | a folder |
| `text`, `old`, `content`, `query`, `heading`, `key`, `value` | words |

Some are stricter forms of another: `known` and `here` of `name`, `hashtag` of `tag`, `quoted` of `old`, …
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Slots = Mapping[str, str]
Arguments = dict[str, object]

MACROS: Mapping[str, str] = {
    "a": "[a|an|the|another|one|my|some]",
    "the": "[the|my|this|that|our|a|an]",
    "note": "(note|page|file|document|entry)",
    "notes": "(notes|pages|files|documents|entries|everything|anything|all|ones|stuff|note|page|one|things)",
    "make": "(create|make|start|begin|generate|set up|draft|prepare|open up|write)",
    "show": "(show|list|display|give|get|print|see|view|tell|find|fetch|name|bring up|pull up|find out|check"
    "|enumerate|i need|i want|i would like) [me|us]",
    "find": "(find|search|search for|look for|look up|locate|hunt for|seek|get|show|list|give|display|see"
    "|view|fetch"
    "|bring up|pull up|bring|name|tell|enumerate|return|i need|i want|i would like|find out) [me|us] [for]",
    "about": "(about|on|regarding|concerning|mentioning|containing|discussing|covering|dealing with|with"
    "|that mention|that mentions|which mention|that contain|that contains|that talk about|that discuss"
    "|that deal with|that are about|having to do with|that say|where i mention|where i wrote about|matching"
    "|including|that include|that cover|having)",
    "add": "(append|add|write|put|insert|attach|jot|jot down|write down|note|note down|tack|tack on|stick"
    "|drop|log|record|save|paste|place|include|enter|type)",
    "end": "[the] (end|bottom|foot|tail)",
    "top": "[the] [very] (top|start|beginning|front|head)",
    "to": "(to|into|in|onto|on|inside|at @end of|to @end of|on @end of|after everything in)",
    "thing": "[@the] [following] (text|line|words|word|sentence|paragraph|item|phrase|entry|bullet|thought"
    "|reminder|remark|comment)",
    "task": "[@the] (task|todo|to-do|to do|checkbox|action item)",
    "with": "(with|containing|that says|saying|that reads|reading|which says|and write|and put|with @the text"
    "|with @the content|with @the contents|with @the body|with @the words|with text|with content|that"
    " contains)",
    "called": "(called|named|titled|entitled|with [the] (title|name)|by the name of|under the name)",
    "remove": "(remove|delete|drop|strip|clear|erase|get rid of|take out|cut|cut out|strike)",
    "change": "(replace|change|substitute|swap|swap out|correct|fix|edit|turn|modify|alter)",
    "mention": "(mention|mentions|contain|contains|talk about|talks about|discuss|discusses|are about|is"
    " about|cover"
    "|covers|include|includes|have|say|says|deal with|deals with|speak of|speaks of|use|uses|describe"
    "|describes|name)",
    "in_notes": "[(in|across|through|throughout|from|among) [all] [of] [my|the|these|this] (notes|vault"
    "|files|pages)]",
    "with_new": "(with|by|to|into)",
    "what_is": "(what is|what are|which are|which is|what was)",
    "every": "[all|every|each|any] [of] [@the]",
    "are": "[are|is|do i have|do we have|have i got|exist|there are|are there|there is]",
}


def _as_they_are(slots: Slots) -> Arguments:
    return dict(slots)


@dataclass(frozen=True, slots=True)
class Intent:
    """One thing that can be wanted.

    Args:
        id: Its name.
        tool: The tool that does it.
        templates: The wordings, as `wording.parse_template` reads them.
        needs: The slots without which it can't be done, in the order they are asked for.
        says: What was understood, with slots.
        command: The same as a request that only this intent can mean.
        build: The tool's arguments from the slots.
        risky: It takes something away, so it is never done on a guess.
        examples: Requests for the comparison by meaning, with `a note`, `a tag` for names.
    """

    id: str
    tool: str
    templates: tuple[str, ...]
    needs: tuple[str, ...]
    says: str
    command: str
    build: Callable[[Slots], Arguments] = field(default=_as_they_are)
    risky: bool = False
    examples: tuple[str, ...] = ()


QUESTIONS: Mapping[str, str] = {
    "name": "Which note?",
    "known": "Which note?",
    "other": "Which note should be linked?",
    "title": "What should the new note be called?",
    "new_name": "What should it be called?",
    "tag": "Which tag?",
    "new_tag": "What should the tag be called?",
    "tags": "Which tag?",
    "folder": "Which folder?",
    "text": "Which text?",
    "old": "Which words should be replaced?",
    "content": "What should it say?",
    "query": "What are you looking for?",
    "heading": "Under which heading?",
    "key": "Which property?",
    "value": "Which value?",
}


def with_operation(op: str) -> Callable[[Slots], Arguments]:
    """Arguments for one operation of a tool, the slots as they are."""
    return lambda slots: {"op": op, **slots}


def as_task(slots: Slots) -> Arguments:
    """A line of text as a task box at the end of a note."""
    return {"op": "append", "name": slots["name"], "text": f"- [ ] {slots['text']}"}


def as_removal(slots: Slots) -> Arguments:
    """Words taken out of a note: replaced by nothing."""
    return {"op": "replace", "name": slots["name"], "old": slots["old"], "text": ""}


def as_link(slots: Slots) -> Arguments:
    """A wikilink at the end of a note; `other` is a path, which as a link loses its suffix."""
    return {"op": "append", "name": slots["name"], "text": f"[[{re.sub(r'[.]md$', '', slots['other'])}]]"}


def new_note(slots: Slots) -> Arguments:
    """Arguments of `create_note`."""
    made: Arguments = {"name": slots["title"], "content": slots.get("content", "")}
    if folder := slots.get("folder"):
        made["folder"] = folder
    return made


def one_property(slots: Slots) -> Arguments:
    """Arguments of `set_properties` for one property; numbers, yes and no become what they say."""
    return {"name": slots["name"], "properties": {slots["key"]: plain_value(slots["value"])}}


def no_property(slots: Slots) -> Arguments:
    """Arguments of `set_properties` that remove one property."""
    return {"name": slots["name"], "properties": {}, "remove": [slots["key"]]}


def by_property(slots: Slots) -> Arguments:
    """Arguments of `search_by_properties` for one property."""
    return {"properties": {slots["key"]: plain_value(slots["value"])}}


def by_tags(slots: Slots) -> Arguments:
    """Arguments of `search_by_tags`: "a and b" must both be there, of "a or b" one is enough."""
    words = re.split(r"\s*(?:,|&|\+|\band\b|\bor\b|\s)\s*", slots["tags"])
    tags = [word.lstrip("#") for word in words if word.strip("# ")]
    either = re.search(r"\bor\b|\beither\b", slots["tags"])
    return {
        "tags": [tag for tag in tags if tag not in ("either", "both")],
        "match": "any" if either else "all",
    }


def plain_value(text: str) -> object:
    """A property's value as written: a number, true or false, else the text."""
    if text.casefold() in ("yes", "true", "on"):
        return True
    if text.casefold() in ("no", "false", "off"):
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float) else text

"""Requests that are no tool's work: small talk, and what only a language model can do."""

from __future__ import annotations

import re

HELP = """\
I work without a model: say what to do, in your own words. For example:

- **Find**: "find notes about longitude", "notes tagged #clock", "what is related to [[H4]]"
- **Look**: "open [[H4]]", "what links here", "which tags does it have", "history of [[H4]]"
- **Write**: "create a note called Tea in the folder Drinks", "add \\"buy milk\\" to Shopping", \
"replace 1759 with 1760 in [[H4]]", "put \\"Draft\\" at the top of this note"
- **Arrange**: "tag it with #clock", "rename the tag #clock to #timekeeper", "rename it to …", \
"move it to Archive", "delete it"
- **Think**: "summarise [[H4]]", "what supports and what contradicts …", "recalculate the confidence of \
…", "say that [[K1]] supports …", "merge … into …", "suggest relations for [[H4]]"
- **Undo**: "undo that"

Every change is shown to you first, and can be undone."""

_GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings|howdy)(?: there| scriptorium|"
    r" agent)?\W*",
    re.I,
)
_THANKS = re.compile(
    r"(?:thanks?|thank you|thx|cheers|great|perfect|nice|well done|good job|cool|awesome|super)"
    r"(?:[ ,]+(?:a lot|so much|very much|you|job|that'?s (?:it|all)))*\W*",
    re.I,
)
_HELP = re.compile(
    r"(?:help|\?+|commands?|what can (?:you|i) do|what do you (?:do|understand)|how (?:do|can) (?:i|you)"
    r" (?:use|work)"
    r"(?: this| it| you)?|how does (?:this|it) work|what (?:can|could) i (?:say|ask)(?: you)?|who are you"
    r"|what are you"
    r"|(?:show|list) (?:me )?(?:the |your |all )?(?:commands|tools|examples)|help me)\W*",
    re.I,
)
YES = re.compile(
    r"(?:yes|yep|yeah|yup|sure|ok|okay|right|correct|exactly|do it|do that|go ahead|please do|of course|y"
    r"|confirm"
    r"|that one|that's it|the first|first|the first one)\W*",
    re.I,
)
NO = re.compile(
    r"(?:no|nope|nah|n|cancel|stop|never ?mind|forget (?:it|about it)|don'?t|leave it|none|neither|none of"
    r" (?:them|these)"
    r"|no thanks?|not (?:that|now))\W*",
    re.I,
)

_MODEL_WORK = (
    (
        r"summar(?:y|i[sz]e|ies)|sum (?:it |this |that )?up|tl;?dr|gist|key points|main points|condense"
        r"|digest|recap"
        r"|outline of",
        "Summarising more than one note",
    ),
    (r"translat(?:e|ion)|in (?:german|english|french|spanish|italian)\b", "Translating"),
    (
        r"rewrite|rephrase|paraphrase|improve|polish|proofread|simplify|shorten|make (?:it|this) (?:shorter"
        r"|clearer|better)"
        r"|expand on|elaborate|correct the grammar|copy-?edit",
        "Rewriting text",
    ),
    (
        r"(?:write|draft|compose|generate|come up with|give me)\b.*\b(?:essay|poem|story|letter|email|mail"
        r"|article|blog"
        r"|introduction|paragraph about|summary|ideas?|title|report|speech|text about)|brainstorm",
        "Writing"
        r" new text",
    ),
    (r"compare|difference between|contrast|pros and cons|versus|\bvs\b", "Comparing notes"),
    (r"contradict|disagree|inconsisten|fact.?check|is it true|verify that", "Judging what notes claim"),
    (r"split|reorgani[sz]e|restructure|clean up|tidy", "Reworking notes"),
    (r"explain|teach me|what does .* mean|meaning of|why\b", "Explaining"),
)
_QUESTION = re.compile(
    r"^(?:what|who|whom|whose|when|where|why|how|which|is|are|was|were|do|does|did|can|could|should|will"
    r"|would|has|have)"
    r"\b|\?\s*$",
    re.I,
)
_SET_UP = (
    "Choose one under Settings › Model: one that runs on this computer (Ollama, LM Studio, llama.cpp) or a"
    " service"
    " with your key."
)


def small_talk(text: str) -> str:
    """The answer to a greeting, thanks or a call for help; empty for anything else."""
    bare = text.strip()
    if _HELP.fullmatch(bare):
        return HELP
    if _GREETING.fullmatch(bare):
        return 'Hello! Say what to find, open, write or change; "help" shows what I understand.'
    return "You are welcome." if _THANKS.fullmatch(bare) else ""


def asks_for_model(text: str) -> str:
    """What a request asks for that only a model can do, as the subject of a sentence; empty if nothing."""
    for pattern, work in _MODEL_WORK:
        if re.search(rf"\b(?:{pattern})", text, re.I):
            return work
    return "Answering open questions" if _QUESTION.search(text.strip()) else ""


def model_needed(work: str, instead: str) -> str:
    """The sentence that says that `work` needs a model, and what can be done `instead` (may be empty)."""
    return f"{work} needs a model, and none is set up. {_SET_UP}" + (f"\n\n{instead}" if instead else "")

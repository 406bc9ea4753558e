"""The fixed replies of the built-in agent, in English."""

from __future__ import annotations

from app.agent.language.meaning.readings import (
    Reply,
)

HELP = """\
I work without a model. Tell me what to do in your own words. For example:

- **Find**: "notes about gardens", "notes tagged #todo but not #done", "what did I change last week?", \
"notes without links", "open tasks", "my three newest notes"
- **Narrow down**: "only those from March", "sort them by name", "and the rest?", "how many are there?"
- **Ask**: "what do my notes say about tides?", "when did we agree on the price?": passages from your \
notes, each with a link to the exact place
- **Look**: "open the second one", "what links here?", "which tags does it have?", "history of this note"
- **Write**: "create a note called Shopping with milk and bread", "add buy rope to Shopping", \
"replace May with June in this note"
- **Tasks**: "open tasks", "add a task to Shopping: buy rope by Friday", "tick it off", \
"what is due this week?"
- **Organize**: "tag them #trip", "rename the tag #todo to #next", \
"rename the property author to writer", "set its status to done", "move it to Archive", "delete the first one"
- **Relate**: "link it to Shopping", "what supports this?", "summarize this note"
- **Several steps**: "find notes about stars, tag them sky, then summarize them"
- **Undo**: "undo that", "undo both", "undo everything you did today"

You approve every change first, and you can undo it."""
NOT_UNDERSTOOD = (
    "I did not understand that, so nothing was changed. Rephrase it, or type “help” for examples."
    " A language model understands more."
)
AMBIGUOUS_MESSAGE = "Please be more specific: give the note's full path and ask for one action."
NO_SUCH_NOTE = "No note is named “{}”. Nothing was changed."
LACKS_VALUE = "“{}” needs a value for “{}”. Nothing was changed."
ONLY_ENGLISH = (
    "The semantic search model supports only English, so a question in another language finds notes by their"
    " words. Choose the multilingual model in *Settings → Semantic search*."
)
READ_ONLY_MESSAGE = "This mode is read-only, so this was not done: {}"
_REPLIES = {
    "greeting": "Hello! Tell me what to find, open, write or change. Type “help” for examples.",
    "thanks": "You're welcome.",
    "cancelled": "All right. Nothing was changed.",
    "section": (
        "I can't move or copy a section to another note. Nothing was changed. Cut or copy it in one note and"
        " paste it into the other, or ask me to add its text there."
    ),
    "line": (
        "I can't tell which line you mean. Quote it, for example: replace “- milk” with “- [ ] milk” in"
        " Shopping. Nothing was changed."
    ),
    "orders": "I can't run these requests together. Nothing was changed. Send them one at a time.",
    "reminder": (
        "I can't remind you at a certain time. I can write a task with a date into a note. Say, for example:"
        " add a task to Shopping: buy rope by Friday."
    ),
    "unsupported": "I can't do that. I work on the notes in this vault. Type “help” for examples.",
}


def reply_text(reply: Reply) -> str:
    """Return the text of a reply, in English."""
    return _REPLIES.get(reply.text, reply.text or NOT_UNDERSTOOD)


def model_required_text(work: str) -> str:
    """Return the reply to a request for work that needs a language model."""
    return (
        f"{work} needs a language model, and the built-in agent works without one. Use a model on this"
        " computer (Ollama, LM Studio, llama.cpp) or a service for which you have a key."
    )

"""Intents that tag, rename, move and delete, and undo: each ends in a proposal that the user decides on."""

from __future__ import annotations

from app.agent.intents import Intent

TAGGING: tuple[Intent, ...] = (
    Intent(
        "tag",
        "add_tag",
        (
            "(tag|label|mark|categorize|categorise|classify|flag) {name} (with|as|by|under|:) [the] [tag"
            "|label|hashtag]"
            " {tag}",
            "(tag|label|mark) {name} {hashtag}",
            "(tag|label) {clear} {tag}",
            "(add|put|set|use) {tag} as [a|the] (tag|label) (to|on|for|of|in) {name}",
            "(add|put|attach|apply|assign|set|stick|use|append) [the|a] [new] (tag|label|hashtag) {tag}"
            " (to|on|onto|in|for|at|with) {name}",
            "(add|put|attach|apply|assign|set|stick|append|write) {hashtag} (to|on|onto|in|for|at|into)"
            " {name}",
            "(give|add [to]|put on|to|on|set on) {name} [add|put|attach] [the|a] [new] (tag|label|hashtag)"
            " {tag}",
            "(give|to|on) {name} [add|put|attach] {hashtag}",
            "{name} (should be|must be|needs to be|is to be) (tagged|labeled|labelled) [with|as] {tag}",
            "{name} (should|must) (have|get|carry) [the] (tag|label) {tag}",
            "{name} (needs|gets) [the] [tag|label] {hashtag}",
            "(tag|label) {clear}",
            "(add|put) [a|the] (tag|label) (to|on) {clear}",
        ),
        ("name", "tag"),
        "Add the tag {tag} to {name}.",
        "tag {name} with {tag}",
        examples=("tag a note", "add a tag to a note", "label a note with a tag"),
    ),
    Intent(
        "untag",
        "remove_tag",
        (
            "(@remove|take|untag|detach|take away|pull|peel) [off] [the] (tag|label|hashtag) {tag}"
            " (from|off|of|on|in|off of|away from) {name}",
            "(@remove|take|untag|detach|take away|pull|peel) [off] {hashtag} (from|off|of|on|in|off of|away"
            " from) {name}",
            "(untag|unlabel) {tag} (from|on|in|off) {name}",
            "(untag|unlabel) {name} (from|as|with|:) [the] [tag] {tag}",
            "(untag|unlabel) {name} {hashtag}",
            "(untag|unlabel) {clear} {tag}",
            "{name} (should not|should no longer|must not|need not) (be|have) [the] [tag|tagged|label]"
            " [with|as] {tag} [any more|any longer]",
            "{name} is (no longer|not) [a] {hashtag} [any more]",
            "(from|on|in) {name} @remove [the] (tag|label) {tag}",
            "(from|on|in) {name} @remove {hashtag}",
            "@remove {hashtag}",
            "@remove [the] tag {tag}",
        ),
        ("name", "tag"),
        "Remove the tag {tag} from {name}.",
        "remove the tag {tag} from {name}",
        risky=True,
        examples=("remove a tag from a note", "untag a note"),
    ),
    Intent(
        "rename-tag",
        "rename_tag",
        (
            "rename [the] (tag|hashtag|label) {tag} (to|into|as|:) [the] [tag] {new_tag} [everywhere|in all"
            " notes]",
            "rename {hashtag} (to|into|as) {new_tag} [everywhere|in all notes|in every note]",
            "(change|turn|replace|merge|convert|switch|swap|move) [the] (tag|tags|label) {tag} (to|into"
            "|with|by|for|as) [the]"
            " [tag] {new_tag} [everywhere|in all notes|in every note|across the vault]",
            "(change|turn|replace|merge|convert|switch|swap) {hashtag} (to|into|with|by|for|as) {hashtag2}"
            " [everywhere|in all notes|in every note|across the vault]",
            "use {hashtag2} instead of {hashtag} [everywhere|in all notes]",
            "[the] tag {tag} should be (called|named) {new_tag}",
            "(call|rename) [the] tag {tag} {new_hashtag} [instead|from now on]",
        ),
        ("tag", "new_tag"),
        "Rename the tag {tag} to {new_tag} in every note.",
        "rename the tag {tag} to {new_tag}",
        risky=True,
        examples=("rename a tag everywhere", "change a tag to another tag in all notes"),
    ),
)

ARRANGING: tuple[Intent, ...] = (
    Intent(
        "rename",
        "move_note",
        (
            "(rename|retitle|re-title|rechristen|re-name) {name} (to|as|into|:) {new_name}",
            "(rename|retitle) {name} {quoted_name}",
            "(rename|retitle) {clear} {new_name}",
            "(call|name) {clear} {new_name} (instead|from now on)",
            "(rename|retitle) {clear}",
            "(change|set) [the] (name|title) of {clear}",
            "(change|set|switch|update) [the] (name|title|filename|file name) of {name} (to|into|as)"
            " {new_name}",
            "(change|update) {name} (name|title) to {new_name}",
            "(call|name) {name} {quoted_name} [instead|from now on]",
            "(give) {name} [a|the] [new|different] (name|title) [:|of] {new_name}",
            "{name} (should be|is now|must be|ought to be|shall be) (called|named|titled|renamed [to])"
            " {new_name}",
            "{name} should have [the] (name|title) {new_name}",
        ),
        ("name", "new_name"),
        "Rename {name} to [[{new_name}]] and rewrite the links to it.",
        "rename {name} to {new_name}",
        examples=("rename a note", "change the title of a note", "give a note another name"),
    ),
    Intent(
        "move",
        "move_note",
        (
            "(move|relocate|transfer|shift|drag|file|sort|put|drop|stash|shove|bring) {name} (to|into|in"
            "|under|inside|over to)"
            " [the|my] [folder|directory] {folder} [folder|directory]",
            "(change|set) [the] folder of {name} to {folder}",
            "(move|relocate) {clear} [to another folder|somewhere else|elsewhere]",
            "{name} (belongs|goes|should be|should go|should live|should move) (in|into|under|to|inside)"
            " [the|my]"
            " [folder|directory] {folder} [folder|directory]",
        ),
        ("name", "folder"),
        "Move {name} to the folder {folder} and rewrite the links to it.",
        "move {name} to the folder {folder}",
        examples=("move a note to a folder", "put a note into another folder"),
    ),
    Intent(
        "delete",
        "delete_note",
        (
            "(delete|remove|trash|erase|destroy|discard|get rid of|throw away|throw out|throw|bin|dump"
            "|scrap|wipe|toss"
            "|chuck|drop|kill|del|rm|ditch|do away with|dispose of|clear out) {name} [away|out|for good"
            "|permanently]",
            "(move|send|put|throw|toss|drop|chuck) {name} (to|in|into) [the] (trash|bin|trash can"
            "|wastebasket|recycle bin"
            "|garbage|rubbish|waste bin|dustbin)",
            "i do not (need|want) {name} (any more|any longer)",
            "i (do not|no longer) (need|want) {known}",
            "(delete|remove|trash|erase) [a] [note]",
            "{name} (can go|can be deleted|should be deleted|is no longer needed|must go|has to go|should"
            " go away"
            "|is to be deleted|can be removed)",
        ),
        ("name",),
        "Move {name} to the vault's trash.",
        "delete {name}",
        risky=True,
        examples=("delete a note", "throw a note away", "move a note to the trash", "get rid of a note"),
    ),
    Intent(
        "undo",
        "undo",
        (
            "(undo|revert|reverse|unmake|rollback) [that|it|this|again]",
            "(undo|revert|reverse|roll back|take back|cancel|rollback) [@the] [last|latest|previous|most"
            " recent|recent]"
            " (change|changes|edit|edits|action|step|operation|thing|move|rename|deletion|delete"
            "|modification|command|write"
            "|tag) [please|again]",
            "(take|put|turn|roll) (that|it|this|everything) back",
            "(undo|revert|reverse|roll back|take back) what (you|i|we) [just] (did|changed|wrote|have done)",
            "(undo|revert) [@the] (last|latest|previous)",
            "(undo|revert|reverse|roll back|take back) [@the] (last|latest|previous|most recent) {any}",
            "(that was|this was) (wrong|a mistake|not what i wanted|an error) [undo it|undo that|take it"
            " back|undo]",
            "(bring|put|get) (that|it) back",
            "go back one step",
            "ctrl z",
            "ctrl+z",
            "step back",
            "(no|oops) (undo|take it back|revert) [that|it]",
            "i did not (want|mean) that",
        ),
        (),
        "Undo the last change.",
        "undo the last change",
        examples=("undo the last change", "take that back", "revert what you just did"),
    ),
)


ARRANGING_AND_TAGGING = TAGGING + ARRANGING

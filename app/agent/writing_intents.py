"""Intents that make notes and change what they say: each ends in a proposal that the user decides on."""

from __future__ import annotations

from app.agent.intents import (
    Intent,
    as_link,
    as_removal,
    as_task,
    new_note,
    no_property,
    one_property,
    with_operation,
)

_IN_FOLDER = "[(in|inside|under|into|within) [the|my] [folder|directory] {folder} [folder|directory]]"
_NEW = "(new|blank|empty|fresh|brand new)"

CREATING: tuple[Intent, ...] = (
    Intent(
        "create",
        "create_note",
        (
            f"@make [me] @a [{_NEW}] @note [@called|for|about|on|:] {{title}} {_IN_FOLDER}",
            f"@make [me] @a [{_NEW}] @note [@called|for|about|on|:] {{title}} {_IN_FOLDER} @with {{content}}",
            f"@make [me] @a [{_NEW}] @note (in|inside|under|into) [the|my] [folder] {{folder}} [folder]"
            f" (@called|for|about|on) {{title}} [@with {{content}}]",
            f"@make [me] @a [{_NEW}] @note @with {{content}} (@called|and call it|and name it) {{title}}",
            f"{_NEW} @note (in|inside|under|into) [the|my] [folder] {{folder}} [folder] (@called|for|about"
            f"|on) {{title}}"
            f" [@with {{content}}]",
            f"(in|inside|under) [the|my] [folder] {{folder}} [folder] @make @a [{_NEW}] @note [@called|for"
            f"|about]"
            f" {{title}} [@with {{content}}]",
            f"add @a {_NEW} @note [@called|for|about|on|:] {{title}} {_IN_FOLDER} [@with {{content}}]",
            f"add @a [{_NEW}] @note @called {{title}} {_IN_FOLDER} [@with {{content}}]",
            f"[i (need|want|would like|would love)] @a {_NEW} @note [@called|for|about|on|:] {{title}}"
            f" {_IN_FOLDER}"
            f" [@with {{content}}]",
            f"i (need|want|would like) @a @note @called {{title}} {_IN_FOLDER} [@with {{content}}]",
            f"(create|make) {{title}} {_IN_FOLDER} [@with {{content}}]",
            f"(create|make) {_NEW} {{title}} @note",
            f"(create|make) @a [{_NEW}] {{title}} @note {_IN_FOLDER} [@with {{content}}]",
            f"(put|write|save|jot|jot down|write down|store|record|note|note down) {{content}} (in|into|to"
            f"|as) @a"
            f" [{_NEW}] @note (@called|for|about) {{title}} {_IN_FOLDER}",
            f"(put|write|save|jot|jot down|write down|store|record) {{content}} (in|into|to|as) @a {_NEW}"
            f" @note"
            f" [@called|for|about] {{title}}",
            f"[let there be] @a [{_NEW}] @note @called {{title}} {_IN_FOLDER} [@with {{content}}]",
            f"open @a {_NEW} @note @called {{title}} {_IN_FOLDER} [@with {{content}}]",
            f"@make @a [{_NEW}] @note",
            f"{_NEW} @note",
        ),
        ("title",),
        "Create [[{title}]]{in_folder}.",
        "create a note called {title}{in_folder}",
        build=new_note,
        examples=("create a new note", "make a page called something", "start a note about a topic"),
    ),
)

EDITING: tuple[Intent, ...] = (
    Intent(
        "append",
        "edit_note",
        (
            "@add @thing {text} @to {name}",
            "@add {text} @to {name}",
            "@add @thing @to {name} [that says|saying|that reads|reading] {text}",
            "@add (this|that|it|the following|these words|these lines) @to {name} {text}",
            "@add @to {name} [@the (text|line|words|sentence|following|paragraph)] {text}",
            "(in|to|at @end of|into|on) {name} @add [@the (text|line|words|sentence|following|paragraph)]"
            " {text}",
            "(extend|continue|end|finish|complete|supplement) {name} (with|by adding|by) {text}",
            "@add [something|some text|text|a line|a sentence|a paragraph|words] @to {clear}",
            "(let|make) {name} end (with|in) {text}",
            "{name} should [also] (say|contain|mention|include|end with) {text}",
        ),
        ("name", "text"),
        "Add {text} at the end of {name}.",
        "append {text} to {name}",
        build=with_operation("append"),
        examples=("add some text to a note", "append a line to a note", "write something into a note"),
    ),
    Intent(
        "task",
        "edit_note",
        (
            "@add [a|an|the] [new] (task|todo|to-do|to do|checkbox|action item|action) [to|that says|called"
            "|saying|:]"
            " {text} @to {name}",
            "@add @to {name} [a|an|the] [new] (task|todo|to-do|checkbox|action item) [to|that says|called"
            "|saying|:]"
            " {text}",
            "@add [a|an|the] [new] (task|todo|to-do|to do|checkbox|action item) @to {name} [to] {text}",
            "@add {text} as [a|an|the] [new] (task|todo|to-do|checkbox|action item) @to {name}",
            "@add {text} @to {name} as [a|an|the] [new] (task|todo|to-do|checkbox|action item)",
        ),
        ("name", "text"),
        "Add the task {text} at the end of {name}.",
        "add the task {text} to {name}",
        build=as_task,
        examples=("add a task to a note", "put a todo in a note"),
    ),
    Intent(
        "prepend",
        "edit_note",
        (
            "prepend @thing {text} (to|in|into|before) {name}",
            "prepend {text} (to|in|into|before) {name}",
            "prepend (to|in) {name} {text}",
            "@add [@thing] {text} (to|at|on|in|into) @top of {name}",
            "@add [@thing] {text} (before everything [else] in|on top of|above everything in|first in)"
            " {name}",
            "@add (to|at|on) @top of {name} {text}",
            "(at|to|on) @top of {name} @add [@thing] {text}",
            "(start|begin|open|head) {name} with {text}",
            "(let|make) {name} (start|begin) with {text}",
        ),
        ("name", "text"),
        "Add {text} at the beginning of {name}.",
        "prepend {text} to {name}",
        build=with_operation("prepend"),
        examples=("put some text at the top of a note", "prepend a line to a note"),
    ),
    Intent(
        "insert-under",
        "edit_note",
        (
            "@add [@thing] {text} (under|below|beneath|in|to|after|into) [the] (heading|section|header"
            "|chapter) {heading}"
            " (in|of|to|on|from) {name}",
            "@add [@thing] {text} (under|below|beneath|in|to|into) [the] {heading} (heading|section|header"
            "|chapter)"
            " (in|of|to|on|from) {name}",
            "@add [@thing] {text} (under|below|beneath) {heading} (in|of) {name}",
            "@add [@thing] {text} @to {name} (under|below|beneath|in) [the] [heading|section|header]"
            " {heading}"
            " [heading|section]",
            "(under|below|beneath) [the] [heading|section|header] {heading} [heading|section] (in|of)"
            " {name} @add"
            " [@thing] {text}",
            "(in|to) {name} (under|below|beneath) [the] [heading|section|header] {heading} [heading"
            "|section] @add"
            " [@thing] {text}",
            "(in|to) {name} @add [@thing] {text} (under|below|beneath) [the] [heading|section|header]"
            " {heading}",
        ),
        ("name", "heading", "text"),
        "Add {text} under the heading {heading} in {name}.",
        "add {text} under the heading {heading} in {name}",
        build=with_operation("insert_under"),
        examples=("add some text under a heading in a note", "put a line in a section of a note"),
    ),
    Intent(
        "replace-section",
        "edit_note",
        (
            "(replace|rewrite|overwrite|change) [the] (section|text under|chapter) {heading} (in|of) {name}"
            " (with|by|to) {text}",
            "(replace|rewrite|overwrite|change) [the] {heading} section (in|of) {name} (with|by|to) {text}",
        ),
        ("name", "heading", "text"),
        "Replace the section {heading} in {name} with {text}.",
        "replace the section {heading} in {name} with {text}",
        build=with_operation("replace_section"),
        risky=True,
        examples=("replace a section in a note",),
    ),
    Intent(
        "replace",
        "edit_note",
        (
            "@change [the] [word|words|text|phrase|sentence|line|name|typo|spelling|string|term] {old}"
            " @with_new {text}"
            " (in|inside|within|of|throughout|on) {name}",
            "(in|inside|within|on) {name} @change [the] [word|words|text|phrase|sentence|line|name|typo"
            "|string]"
            " {old} @with_new {text}",
            "(in|inside|within|on) {name} [write|put|use|say] {text} (instead of|rather than|in place of"
            "|not) {old}",
            "(swap|exchange|trade) [the] [word|words] {old} for {text} (in|inside|within|of|throughout|on)"
            " {name}",
            "substitute [the] [word|words] {text} for {old} (in|inside|within|of|throughout|on) {name}",
            "(write|put|use|say) {text} (instead of|rather than|in place of) {old} (in|on) {name}",
            "@change (in|inside|within) {name} {old} @with_new {text}",
            "(edit|modify|change|update) {name} [and] @change [the] [word|words|text|phrase|sentence|line]"
            " {old} @with_new {text}",
            "{old} should be {text} in {name}",
            "{old} in {name} should (be|read|say) {text}",
        ),
        ("name", "old", "text"),
        "Replace {old} with {text} in {name}.",
        "replace {old} with {text} in {name}",
        build=with_operation("replace"),
        examples=(
            "replace some text with other text in a note",
            "change a word in a note",
            "fix a typo in a note",
        ),
    ),
    Intent(
        "remove-text",
        "edit_note",
        (
            "@remove [the] (word|words|text|phrase|sentence|line|paragraph|string|item|sentence that says)"
            " {old}"
            " (from|in|out of|of) {name}",
            "(@remove|take|pull|leave) {quoted} (from|in|out of|out from) {name}",
            "(from|in) {name} @remove [the] [word|words|text|phrase|sentence|line|paragraph] {old}",
        ),
        ("name", "old"),
        "Remove {old} from {name}.",
        "remove the text {old} from {name}",
        build=as_removal,
        risky=True,
        examples=("remove some text from a note", "delete a line in a note"),
    ),
    Intent(
        "overwrite",
        "update_note",
        (
            "(replace|overwrite|rewrite|set|change|update) [the] [whole|entire|complete|full|all]"
            " (content|contents|text|body) of {name} (with|to|by|as) {content}",
            "(overwrite|update) {name} (with|to) {content}",
            "(replace|change) everything in {name} (with|to|by) {content}",
            "make {name} say [only|just] {content}",
        ),
        ("name", "content"),
        "Replace the whole text of {name} with {content}; its properties stay.",
        "replace the whole text of {name} with {content}",
        risky=True,
        examples=("overwrite a note with new text", "replace the whole text of a note"),
    ),
    Intent(
        "link",
        "edit_note",
        (
            "(link|connect|hook up|tie|join) {name} (to|with|and|up with) {other}",
            "(add|put|insert|make|create|set|place|write) [a|the] [wikilink|link|wiki link|reference] (to"
            "|to the note)"
            " {other} (in|into|to|on|from|at the end of|inside) {name}",
            "(in|from|to) {name} (add|put|insert|make|create|set) [a|the] (wikilink|link|reference) to"
            " {other}",
            "(add|make|create|set|put) [a|the] (wikilink|link) from {name} to {other}",
            "(make|let) {name} link to {other}",
            "{name} should link to {other}",
            "link from {name} to {other}",
        ),
        ("name", "other"),
        "Add a link to {other} at the end of {name}.",
        "add a link from {name} to {other}",
        build=as_link,
        examples=("link a note to another note", "add a link from a note to a note"),
    ),
    Intent(
        "set-property",
        "set_properties",
        (
            "(set|change|update|put|make|switch|edit) [the] [property|field|attribute|value of] {key}"
            " (of|in|on|for|from) {name} (to|=|as|equal to|:) {value}",
            "(set|change|update|put|switch) [the] {key} (property|field) (of|in|on|for) {name} (to|=|as|:)"
            " {value}",
            "(add|give|put|insert) [a|the] (property|field) {key} (=|:|with [the] value|with|set to|of|to)"
            " {value}"
            " (to|on|in|for|into) {name}",
            "(add|give|put|insert) [to] {name} [a|the] (property|field) {key} (=|:|with [the] value|set to"
            "|of|as) {value}",
            "set [the] [property|field] {key} (to|=|as) {value} (in|on|for|of) {name}",
            "(change|update|switch) [the] (property|field) {key} (to|=|as) {value} (in|on|for|of) {name}",
            "(in|on|for) {name} set [the] [property|field] {key} (to|=|as|:) {value}",
            "set {name} {key} (to|=|as) {value}",
            "[the] (property|field) {key} of {name} should be {value}",
        ),
        ("name", "key", "value"),
        "Set {key} to {value} in {name}.",
        "set the property {key} of {name} to {value}",
        build=one_property,
        examples=("set a property of a note", "change the status of a note to done"),
    ),
    Intent(
        "remove-property",
        "set_properties",
        (
            "@remove [the] (property|field|attribute) {key} (from|of|in|on|off) {name}",
            "@remove [the] {key} (property|field|attribute) (from|of|in|on|off) {name}",
            "(unset|clear) [the] [property|field] {key} (from|of|in|on) {name}",
            "(from|in) {name} @remove [the] (property|field) {key}",
        ),
        ("name", "key"),
        "Remove the property {key} from {name}.",
        "remove the property {key} from {name}",
        build=no_property,
        risky=True,
        examples=("remove a property from a note",),
    ),
)

WRITING = CREATING + EDITING

"""Intents that look over the vault: search, lists, tags, numbers."""

from __future__ import annotations

from app.agent.intents import Intent, by_property, by_tags

SEARCHING: tuple[Intent, ...] = (
    Intent(
        "find",
        "search_notes",
        (
            "(find|search|search for|look for|look up|locate|hunt for|seek|grep|query|find me|search me|look"
            "|search up|google) [for] {query} @in_notes",
            "@find @every @notes [of mine] @about {query} @in_notes",
            "@find @every @notes in which i (mention|write about|wrote about|talk about|discuss) {query}",
            "search [@the] (notes|vault|everything|all notes|files) for {query}",
            "(where|when) (did|do|have) (i|we) (write|written|mention|mentioned|note|noted|put|say|said|talk"
            "|talked|use|used|save|saved|wrote) [something|anything|down] [about|of|on|the] {query}",
            "[@show] (where is|where are|where do i have|where was) {query} (mentioned|discussed|written)",
            "[@show] where (i|we) (mention|mentioned|write about|wrote about|talk about|discuss|wrote)"
            " {query}",
            "[@show] where {query} (is|are|was|were) (mentioned|discussed|written)",
            "(what|which) @notes (do|did) (i|we) have (about|on|for|regarding|mentioning) {query}",
            "(which|what) [of] [my] @notes (@mention|are there about|are there on) {query}",
            "(in|on) (which|what) @notes (do|did|have|does) (i|we) (@mention|write about|written about"
            "|wrote about"
            "|mentioned|noted|put) {query}",
            "(do|does|did) any [one] [of] [my|the] @notes @mention {query}",
            "(any|some|are there any|got any|do we have) [other] @notes [of mine|i have|there are] @about"
            " {query}",
            "do (i|we) have (any|a|some|anything|something) [@notes|note] (about|on|regarding|mentioning"
            "|for) {query}",
            "(is|are) there (any|a|some|anything|something|@notes) [@notes] (about|on|regarding|mentioning)"
            " {query}",
            "(notes|pages|files|everything|anything|something|all notes) @about {query} @in_notes",
            "what do (i|we) (know|have|have written) (about|on) {query}",
            "what did (i|we) (write|say|note) (about|on) {query}",
            "(have|did) (i|we) [ever] (written|write|mention|mentioned|note|noted) [anything|something"
            "|ever] [about] {query}",
            "i am (looking|searching) for @every [@notes] [@about] {query}",
            "(i would like|i want|i need) @every @notes @about {query}",
            "(has|have) {query} (been|ever been) (mentioned|discussed|described|noted|written about)"
            " [anywhere]",
            "(is|are|was|were) {query} (mentioned|discussed|described|noted|written about|covered)"
            " [anywhere|somewhere"
            "|in any note|at all]",
            "(what|where|when|how|who) [{any}] (notes|note|pages|write|written|wrote|say|said) [{any}]"
            " (about|of|on"
            "|regarding|mention|mentions|mentioning|contain|contains) {query}",
            "(any|some|every|all|the) (mention|mentions|reference|references|occurrence|occurrences) (of"
            "|to) {query}",
            "(look|search|go) (through|in|over|across) [all] [of] [my|the|these] (notes|vault|files|pages"
            "|everything)"
            " for {query}",
            "who mentions {query}",
        ),
        ("query",),
        "Search the notes for {query}.",
        "search for {query}",
        examples=(
            "search my notes for something",
            "find notes about a topic",
            "where did I write about something",
            "which notes mention something",
            "do I have notes on something",
        ),
    ),
    Intent(
        "find-meaning",
        "semantic_search",
        (
            "(do|run|make|try|start) a (semantic|conceptual|meaning) search [for|on|about] {query}",
            "[@find] [@every] [@notes] (similar in meaning to|close in meaning to|with a meaning like"
            "|with the same meaning as|that mean [something like]|meaning something like) {query}",
            "(search|find|look) by meaning [for|:] {query}",
            "(search|find|look) [for] {query} by (meaning|sense)",
            "(semantic|semantically|conceptual) search [for] {query}",
            "(search|find|look) (semantically|conceptually) [for] {query}",
            "[@find] [@every] (notes|ideas|thoughts|passages|pages|texts) (similar to|like|close to|near)"
            " @the"
            " (idea|thought|concept|notion|feeling) (that|of|:) {query}",
            "[@find] [@every] (notes|ideas|thoughts|passages|pages|texts) (that|which) mean [something like"
            "|the same as] {query}",
            "what [notes] (is|are|comes|come) (closest|nearest) (in meaning|by meaning) to {query}",
        ),
        ("query",),
        "Look for notes that mean something like {query}.",
        "search by meaning: {query}",
        examples=(
            "find notes that mean something similar",
            "search by meaning",
            "notes close to the idea that",
        ),
    ),
    Intent(
        "by-tag",
        "search_by_tags",
        (
            "@find @every @notes [that] [are|is|i] [have] [been] (tagged|labeled|labelled|marked) [with|as"
            "|by|under]"
            " [@the tag|both|either] {tags}",
            "[@find] @every @notes (with|having|under|that have|that has|carrying|that carry|in|for"
            "|which have)"
            " @the (tag|tags|label|hashtag) {tags}",
            "@find (@the|any) (tag|tags|hashtag|label) {hashtags}",
            "@find {hashtags} (notes|pages)",
            "[@find] @every [@notes] [with|for|in|under|tagged|having|that have|carrying|about|on|of|using]"
            " {hashtags}",
            "(which|what) [@notes] (are|is|have i|did i|were) (tagged|labeled|labelled|tag|marked) [with|as"
            "|by]"
            " [both|either] {tags}",
            "(which|what) @notes (have|has|carry|use|contain|bear) @the (tag|tags|label) {tags}",
            "(which|what) @notes (have|has|carry|use) {hashtags}",
            "(notes|everything|all notes|anything) (tagged|labeled|labelled|marked) [with|as|by|under]"
            " [@the tag|both"
            "|either] {tags}",
            "(search|filter) by [the] tag [:] {tags}",
            "filter [notes] by {hashtags}",
        ),
        ("tags",),
        "Find the notes tagged {tags}.",
        "find notes tagged {tags}",
        build=by_tags,
        examples=(
            "find notes tagged with a tag",
            "which notes have a tag",
            "show everything tagged with a tag",
        ),
    ),
    Intent(
        "by-property",
        "search_by_properties",
        (
            "[@find] @every @notes (where|whose|with|in which|that have) [@the] [property|field] {key}"
            " (is|=|equals|:|set to|of|being|equal to) {value}",
            "(which|what) @notes have [@the] [property|field] {key} (=|set to|equal to|of|:) {value}",
            "@find @every @notes of [the] type {type}",
            "(which|what) @notes (are|is) of [the] type {type}",
            "(notes|pages) (of type|with type) {type}",
        ),
        ("key", "value"),
        "Find the notes whose {key} is {value}.",
        "find notes where {key} is {value}",
        build=by_property,
        examples=("find notes where a property has a value",),
    ),
    Intent(
        "tags",
        "list_tags",
        (
            "(list|show|display|give|get|see|tell) [me] @every tags @are [in|use] [my|the|this] [vault"
            "|notes]",
            "@show [@the] (tag list|list of tags|list of all tags|tags overview|tag cloud|tag overview)",
            "(what|which) tags (do i have|do i use|are there|exist|are in use|have i used|are used|do we"
            " have)"
            " [in] [my|this|the] [vault|notes]",
            "@what_is @every tags [in|used in|of] [my|this|the] [vault|notes]",
            "[@show] [all|every|each] [of] [my|the] (tag|tags) [that] [i use|i have|we use|in use]",
            "@show (what|which) tags (i use|i have|we use|are used|are in use|exist|there are)",
            "how (am i|do i) tagging (things|notes)",
        ),
        (),
        "List the tags.",
        "list all tags",
        examples=("list all tags", "what tags do I use", "show my tags"),
    ),
    Intent(
        "list",
        "list_notes",
        (
            "(list|show|display|give|get|see|enumerate|browse) [me] [all|every|each] [of] [the|my] (notes"
            "|files|pages"
            "|documents|contents|things|everything|what is) (in|inside|under|of|from|within) [the] (folder"
            "|directory) {folder}",
            "(list|show|display|give|get|see|enumerate|browse) [me] [all|every|each] [of] [the|my] (notes"
            "|files|pages"
            "|documents|contents|things) (in|inside|under|of|from|within) [the] {folder} (folder|directory)",
            "(list|show|display|give|get|see|enumerate|browse) [me] [all|every|each] [of] [the|my] (notes"
            "|files|pages"
            "|documents|contents|things|everything) (in|inside|under|of|from|within) [the|my] {known_folder}",
            "@what_is (in|inside|under) [the|my] {known_folder}",
            "what (do i have|have i got|is there|lies) (in|inside|under) [the|my] {known_folder}",
            "(list|show|display|enumerate) [me] [all|every|each] [of] [the|my] (notes|files|pages|documents)"
            " [i have|there are|in my vault|in the vault|in this vault]",
            "(what|which) (notes|files|pages) (are|are there|do i have|do we have|lie|live|sit|is) (in"
            "|inside|under)"
            " [the] (folder|directory) {folder}",
            "(what|which) (notes|files|pages) (are|are there|do i have|do we have|lie|live|sit|is) (in"
            "|inside|under)"
            " [the|my] {known_folder} [folder|directory]",
            "(what|which) (notes|files|pages) (do i have|are there|do we have|exist)",
            "(what is|what do i have|what lies) (in|inside|under) [the|my] (folder|directory) {folder}",
            "(what is|what do i have|what lies) (in|inside|under) [the|my] {folder} (folder|directory)",
            "(list|browse|open|show) [me] [the|my] (folder|directory) {folder}",
            "(list|browse|open|show) [me] [the|my] {folder} (folder|directory)",
            "(contents|notes) (of|in) [the|my] (folder|directory) {folder}",
            "(contents|notes) (of|in) [the|my] {folder} (folder|directory)",
            "(all|my|all my|all the) notes",
            "[@show] [a|the] list of [all] [my|the] (notes|files|pages)",
        ),
        (),
        "List the notes{in_folder}.",
        "list the notes{in_folder}",
        examples=("list all notes", "list the notes in a folder", "what notes are in a folder"),
    ),
    Intent(
        "vault",
        "vault_info",
        (
            "how many (notes|files|links|words|tags|orphans|pages|attachments|notes and links) (do i have"
            "|are there"
            "|are in my vault|are in here|does my vault have|have i got|have i written|did i write|does"
            " this vault have"
            "|does the vault have|exist|in total|do we have)",
            "how many {any} (do i have|are there|are in my vault|does my vault have|exist|do we have)",
            "count [all] [the|my] (notes|files|links|pages|words)",
            "[@show] [@the] (vault|index) (info|information|statistics|stats|status|overview|summary"
            "|numbers|facts)",
            "[@show] [@the|some|a few] (statistics|stats|numbers|overview|status) [of|for|about] [my|the"
            "|this] [vault|index|notes]",
            "(describe|tell me about|what about) (my|this|the) vault",
            "how (big|large) is (my|this|the) vault",
            "(info|information|facts) (about|on) (my|this|the) vault",
            "is the index (ready|up to date|done|complete)",
        ),
        (),
        "Show the vault in numbers.",
        "show the vault statistics",
        examples=("how many notes do I have", "show vault statistics", "how big is my vault"),
    ),
)

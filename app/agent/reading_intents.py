"""Intents that look: open, search, list, links, history."""

from __future__ import annotations

from app.agent.intents import Intent, by_property, by_tags

READING: tuple[Intent, ...] = (
    Intent(
        "open",
        "read_note",
        (
            "(open|show|read|display|view|pull up|bring up|go to|goto|jump to|navigate to|take me to|bring"
            " me to|look at|see"
            "|load|visit|let me see|let me read|print|switch to|read out|read me|show me|have a look at)"
            " [me] {name}",
            "(what does|what did) {name} (say|contain|look like|tell|hold|state)",
            "[@show] @what_is [written] (in|inside) {name}",
            "[@show] what {name} (says|contains|is about)",
            "[@show|read] [me] [the] (contents|content|text|body) of {name}",
            "@what_is [the] (contents|content|text|body) of {name}",
            "what [have|did] [i] (written|write|wrote) in {known}",
            "(what is|what are|who is|who was|who are|tell me about|what was|what about) [a|an|the] {known}",
            "i (want|need|would like) to (see|read|open|look at) {name}",
            "(find|get|give me|have a look at|let me have) {known}",
            "(open|show|read) {known} to me",
            "what does @the (note|page) (on|about|for) {known} say",
            "{clear}",
        ),
        ("name",),
        "Open {name}.",
        "open {name}",
        examples=("open a note", "show me a note", "read a note", "what does a note say", "go to a note"),
    ),
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
        "note-tags",
        "get_metadata",
        (
            "(what|which) tags (does|do|did) {name} (have|carry|use|bear|got)",
            "(what|which) tags (are|is) (on|in|set on|attached to|assigned to) {name}",
            "(show|list|display|give|get|see) [me] @every tags (of|on|in|for|from) {name}",
            "@what_is @the tags (of|on|in|for) {name}",
            "how (is|have i|did i) {name} tagged",
            "how (have i|did i) (tagged|tag) {name}",
            "what (is|have i|did i) {name} tagged (with|as)",
            "is {name} tagged",
            "tags (of|on|in|for) {name}",
            "[@what_is] [@show] {name} tags",
        ),
        ("name",),
        "Show the tags of {name}.",
        "which tags does {name} have",
        examples=("what tags does a note have", "show the tags of a note", "how is a note tagged"),
    ),
    Intent(
        "details",
        "get_metadata",
        (
            "[@show] @the (metadata|properties|details|info|information|frontmatter|attributes|facts|stats)"
            " (of|for|about|on) {name}",
            "(what|which) (properties|metadata|fields|frontmatter) (does|do) {name} have",
            "when (was|did|have) [i] {name} (created|modified|changed|edited|updated|written|made|last"
            " changed"
            "|last modified|last edited|last updated|last touched)",
            "when did i (create|write|change|edit|modify|update|last change|last edit) {name}",
            "how (big|long|large|old|many words long) is {name}",
            "how many words (are in|does|has) {name} [have|contain]",
            "@what_is @the (properties|metadata|details|size) of {name}",
            "[@what_is] [@show] {name} (properties|metadata|details|frontmatter)",
        ),
        ("name",),
        "Show the properties and facts of {name}.",
        "show the properties of {name}",
        examples=("show the properties of a note", "when was a note changed", "how long is a note"),
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
    Intent(
        "backlinks",
        "get_metadata",
        (
            "[@show] (what|which notes|who|which pages|which|what notes|what else|what all) (links|link"
            "|points|point|refers"
            "|refer|leads|lead|connects|connect|linked|is linking|are linking) [back] (to|at|here) {name}",
            "[@show] (what|which notes|who|which pages|what notes|which) (links|link|points|point|refers"
            "|refer|is linking"
            "|are linking|is pointing|is linked) [back] {here}",
            "(what|which notes|which pages|what notes|who) (references|reference|cites|cite|has a link to"
            "|have a link to"
            "|have links to|contain a link to|use|uses|is linked to) {name}",
            "[@show] [@every] (backlinks|back links|incoming links|inbound links|back-links) (of|to|for"
            "|into) {name}",
            "[@show] [@every] links (to|into|pointing to) {name}",
            "[@find] @every @notes [that|which] [all] (links|link|point|refer|lead|linking|pointing"
            "|referring|are linked"
            "|leading) [back] (to|at|here) {name}",
            "@find @every @notes [that|which] [all] (reference|referencing|cite|citing) {name}",
            "[@show] [@every] (backlinks|back links|incoming links|inbound links|back-links)",
            "@what_is @every (backlinks|back links|incoming links|inbound links) (of|to|for) {name}",
            "(backlinks|back links|incoming links) {name}",
            "[@what_is] [@show] {name} (backlinks|back links|incoming links)",
            "where is {name} (linked|referenced|linked from|referenced from|cited|used|linked to)",
            "where (do i|did i|have i) (link|linked|reference|referenced) [to] {name}",
            "how many (notes|pages|links) (link|point|refer|links) to {name}",
            "(is|are) there (links|any links|a link|anything linking|any notes linking) to {name}",
            "(does|do) (anything|any note|any notes|something|any pages) (link|point|refer) to {name}",
        ),
        ("name",),
        "Show what links to {name}.",
        "what links to {name}",
        examples=("what links to a note", "show the backlinks of a note", "which notes reference a note"),
    ),
    Intent(
        "outgoing",
        "get_metadata",
        (
            "[@show] (what|where|which notes|which pages|what notes) (does|do) {name} (link|links|point"
            "|refer|lead|connect)"
            " [to]",
            "[@show] (what|which notes|where) (is|are) linked (from|in) {name}",
            "[@show] (what|where|which notes) {name} (links|points|refers|leads) [to]",
            "[@show] [@every] (outgoing links|forward links|outbound links|links) (of|from|in|inside|out"
            " of) {name}",
            "@what_is @every (outgoing links|forward links|outbound links|links) (of|from|in) {name}",
            "(what|which notes) does {name} (reference|cite|mention)",
            "[@show] [@every] (outgoing links|forward links|outbound links)",
            "[@what_is] [@show] {name} (outgoing links|forward links|outbound links|links)",
        ),
        ("name",),
        "Show what {name} links to.",
        "what does {name} link to",
        examples=("what does a note link to", "show the outgoing links of a note"),
    ),
    Intent(
        "mentions",
        "unlinked_mentions",
        (
            "[@show] [@every] (unlinked mentions|unlinked references|missing links|mentions without a link"
            "|mentions"
            " that are not linked|mentions that are not links|mentions) (of|to|for) {name} [that are not"
            " linked"
            "|without a link|that are not links|which are not linked]",
            "[@find] where {name} (is|was) mentioned (without a link|without linking|but not linked|unlinked"
            "|without being linked)",
            "[@show] [@every] (unlinked mentions|unlinked references)",
            "(where is|which notes mention|what mentions|who mentions) {name} [mentioned] (without a link"
            "|without linking"
            "|without linking to it|but not linked|but do not link to it|unlinked"
            "|without being linked|but does not link to it)",
            "@what_is @every (unlinked mentions|missing links) (of|to|for) {name}",
            "(which|what) mentions of {name} are (not linked|unlinked|no links)",
        ),
        ("name",),
        "Find mentions of {name} that are not links.",
        "unlinked mentions of {name}",
        examples=("find unlinked mentions of a note", "where is a note mentioned without a link"),
    ),
    Intent(
        "related",
        "find_related",
        (
            "@find [@every] [other] [@notes] [that are|which are] (related|similar|connected|close|akin"
            "|comparable)"
            " [@notes] (to|with) {name}",
            "@find [@every] (related|similar|neighbouring|neighboring|connected|associated|kindred) [notes"
            "|pages|ones|ideas]"
            " (to|for|of|with) {name}",
            "(what|which notes|which|anything|what else|is anything|what notes|what other notes) (is|are)"
            " [closely]"
            " (related|similar|connected|close|like|near|akin) [to] {name}",
            "(what|which notes|which|what else) (relates|relate|connects|connect|belongs|belong|goes|go"
            "|fits|fit)"
            " (to|with|together with) {name}",
            "(anything|notes|something|more|more notes|other notes|pages|everything|find more|find notes"
            "|show notes"
            "|show me more|more) (related to|similar to|like|connected to|resembling|in the spirit of)"
            " {name}",
            "(what|which notes) (is|are) connected with {name}",
            "(what is|what are) {name} (related|connected|similar) to",
            "(relatives|neighbours|neighbors|relations|siblings|related notes) (of|for|to) {name}",
            "(see also|suggest links|recommend notes|suggest related notes|suggest notes) (for|to|on) {name}",
            "[@what_is] [@show] {name} (related notes|relatives|neighbours|neighbors)",
            "@find [@every] [other|more] [@notes] like {name}",
            "[@show] [@every] (related|similar) (notes|pages|ones)",
            "@find @every @notes (that|which) (relate|are related|connect|belong|are similar|resemble|are"
            " like|are close)"
            " [to|with] {name}",
            "(what|which notes|which pages) (resembles|resemble|looks like|look like) {name}",
            "(what|what else|which notes) should i [also] (read|look at|see) (after|next to|along with|with"
            "|besides) {name}",
            "related (notes|to) {name}",
            "is (anything|something) (related|similar|connected) to {name}",
            "are there (notes|any notes|other notes) (related|similar|connected) to {name}",
        ),
        ("name",),
        "Find notes related to {name}.",
        "find notes related to {name}",
        examples=("find notes related to a note", "what is similar to a note", "what else is like a note"),
    ),
    Intent(
        "history",
        "note_history",
        (
            "[@show] @the (history|versions|version history|edit history|changes|past versions|revisions"
            "|earlier versions|previous versions|old versions|older versions|edits|change log) (of|for|to|in)"
            " {name}",
            "(what|what has|how has|how did|what was) (changed|change) (in|on|to|about|with) {name}",
            "how (did|has) {name} (change|changed|evolve|evolved) [over time]",
            "(who|when) (changed|edited|wrote|touched) {name} [last]",
            "@what_is @the (history|versions|revisions|changes) (of|for|to|in) {name}",
            "[@what_is] [@show] {name} (history|versions|version history|changes)",
            "[@show] @the (history|versions|version history|revisions)",
            "(restore|roll back|revert|go back to) (an|the|a|some) (older|earlier|previous|old) version of"
            " {name}",
            "what did {name} (look like|say) (before|earlier|yesterday|last week)",
            "(restore|revert|roll back|reset|bring back) {name} [to an (older|earlier) version]",
            "(restore|bring back|go back to) [the] (older|earlier|previous|old|last) version of {name}",
        ),
        ("name",),
        "Show the history of {name}.",
        "show the history of {name}",
        examples=("show the history of a note", "what changed in a note", "older versions of a note"),
    ),
)

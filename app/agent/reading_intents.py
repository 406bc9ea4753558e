"""Intents that look at one note: open, tags, properties, links, related notes, history."""

from __future__ import annotations

from app.agent.intents import Intent

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

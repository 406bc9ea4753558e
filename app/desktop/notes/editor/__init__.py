"""The live editor: a text editor whose document is the exact source, drawn as a live preview.

`live_editor.LiveEditor` is the widget (keys, mouse, selection). `document_layout.LiveLayout` connects Qt's
document with `flow.TextFlow`, which mirrors the document's lines: `line_scanner` and `inline_scanner` parse a
line, `row_layout`, `tables` and `long_lines` lay it out, `painting` draws it, `hit_test` maps between points
and text, and `line_heights` stores the sums of all heights. Formulas, diagrams, images and embedded notes are
`drawings`, rendered in worker threads.
"""

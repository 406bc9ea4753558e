"""The vault as a graph: model, layout, updates. No Qt here."""

"""The vault as a graph: model, layout and updates, independent of Qt."""

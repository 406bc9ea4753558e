"""The graph view and its panel."""

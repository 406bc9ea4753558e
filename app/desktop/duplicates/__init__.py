"""The panel of near-duplicate notes."""

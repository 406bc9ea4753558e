"""The parts of the audit panel."""

"""Guarded access to the web: readable pages, searches through a provider, and evidence for claims."""

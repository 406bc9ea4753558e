"""The desktop front end: the only importer of PySide6 and qasync."""

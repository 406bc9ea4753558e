"""The entry point of the frozen program."""

import multiprocessing
import os
import sys

_CHANGED_BY_HOOKS = ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "DYLD_LIBRARY_PATH", "PATH")


def restore_environment() -> None:
    """Restore the variables that PyInstaller's hooks changed, so that child processes get the user's values.

    Qt finds its plug-ins without the variables, relative to the wheel's libraries.
    """
    for name in _CHANGED_BY_HOOKS:
        if name in sys._user_environment:
            os.environ[name] = sys._user_environment[name]
        else:
            os.environ.pop(name, None)


if __name__ == "__main__":
    # First: a child of multiprocessing does its work here and loads nothing else.
    multiprocessing.freeze_support()
    restore_environment()
    from app.__main__ import main

    sys.exit(main())

"""The entry point of the frozen program."""

import multiprocessing
import os
import sys

_CHANGED_BY_HOOKS = ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "DYLD_LIBRARY_PATH", "PATH")


def restore_environment() -> None:
    """Give programs that the app starts the environment of the user, not that of the bundle.

    Qt finds its plug-ins without the variables, relative to the wheel's libraries.
    """
    for name in _CHANGED_BY_HOOKS:
        if name in sys._environment_of_the_user:
            os.environ[name] = sys._environment_of_the_user[name]
        else:
            os.environ.pop(name, None)


if __name__ == "__main__":
    # First: a child of multiprocessing does its work here and loads nothing else.
    multiprocessing.freeze_support()
    restore_environment()
    from app.__main__ import main

    sys.exit(main())

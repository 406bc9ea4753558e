"""Restore and record the user's environment; runs in the frozen program before all other code.

PyInstaller's bootloader sets LD_LIBRARY_PATH to the bundle's folder, and its hooks set Qt's variables. With
them, Git, an editor or an agent's Node.js would load the bundle's libraries instead of their own. The loader
of this process has already read LD_LIBRARY_PATH, so it is restored here. A child process of the same program
needs it again; PYINSTALLER_RESET_ENVIRONMENT makes its bootloader set it. `entry.py` restores the other
variables after all hooks have run.
"""

import os
import sys

if sys.platform.startswith("linux"):
    before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if before:
        os.environ["LD_LIBRARY_PATH"] = before
    else:
        os.environ.pop("LD_LIBRARY_PATH", None)
os.environ["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
sys._user_environment = dict(os.environ)

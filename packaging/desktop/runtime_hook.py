"""Runs in the frozen program before all else: remembers the environment as the user's desktop made it.

PyInstaller's bootloader points LD_LIBRARY_PATH at our folder, and its own hooks do so with Qt's variables.
Git, an editor or an agent's node would load our libraries in place of theirs. The loader of this process has
read its variable by now, so it can go. A child of the same program would miss it, but for
PYINSTALLER_RESET_ENVIRONMENT, which makes its bootloader set it again. `entry.py` takes the other variables
back when all hooks have run.
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
sys._environment_of_the_user = dict(os.environ)

#!/usr/bin/env python3
"""Install what Scriptorium needs and open it: `python3 packaging/start.py [vault] [--install-only]`.

With `--multilingual` it also downloads the multilingual model for semantic search (91 MB) and converts it.

Needs only Python. Without a vault it opens a copy of the sample vault in the user's data folder, so
that the shipped one stays unchanged. With `--desktop-entry` it adds the app to the desktop's menu instead.
"""

from __future__ import annotations

import os
import subprocess
import sys

import environment
import menu_entry
import multilingual_model


def main() -> int:
    """Set up the environment, then do what the options say or start the app in place of this process."""
    args = sys.argv[1:]
    environment.ensure()
    if missing := environment.missing_libraries():
        print(
            "Qt needs system libraries that are missing. On Debian or Ubuntu:\n"
            f"  sudo apt-get install {' '.join(missing)}",
            file=sys.stderr,
        )
    if "--multilingual" in args:
        args.remove("--multilingual")
        if status := multilingual_model.make(environment.PYTHON):
            return status
        print("The multilingual model is installed. Choose it in the settings, under Semantic search.")
    if "--desktop-entry" in args:
        print(f"Scriptorium is in your desktop's menu. To remove it, delete {menu_entry.add()}")
        return 0
    if "--install-only" in args:
        print("Scriptorium is set up. Start it with: python3 packaging/start.py")
        return 0
    command = [str(environment.PYTHON), "-m", "app", *(args or ["--sample"])]
    if os.name == "nt":
        return subprocess.call(command, cwd=environment.ROOT)
    os.chdir(environment.ROOT)
    os.execv(command[0], command)


if __name__ == "__main__":
    sys.exit(main())

"""The peers of the index benchmark, measured in the same run: obsidiantools, markdowndb and ripgrep.

None of them is a dependency of the app: obsidiantools is installed into its own virtual environment and
markdowndb (npm: `mddb`) into a folder, both below the given folder. ripgrep is used if installed, else
unpacked from Debian's package below that folder if apt is available. Each measurement returns None if the
peer is not available, and usually prints why.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

INSTALL_TIMEOUT_S = 900
_OBSIDIANTOOLS = """
import sys, time
from pathlib import Path
import obsidiantools.api as obsidian
start = time.perf_counter()
obsidian.Vault(Path(sys.argv[1])).connect().gather()
print(time.perf_counter() - start)
"""
_MARKDOWNDB = """
import { MarkdownDB } from "mddb";
const [folder, file] = process.argv.slice(2);
const start = performance.now();
const client = new MarkdownDB({ client: "sqlite3", connection: { filename: file } });
await client.init();
const log = console.log;
console.log = () => {};
await client.indexFolder({ folderPath: folder });
log((performance.now() - start) / 1000);
process.exit(0);
"""


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that a peer took, or after which it was stopped: then `done` is False."""

    seconds: float
    done: bool = True


class Peers:
    """The peers, installed below `folder` on demand."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self._folder = folder
        self._timeout_s = timeout_s
        self._missing: set[str] = set()

    def obsidiantools(self, vault: Path) -> Timing | None:
        """Return the time to connect and gather the vault; None if the peer is not available."""
        home = self._folder / "obsidiantools"
        python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
        if not python.exists():
            venv.create(home, with_pip=True)
        imported = self._run("obsidiantools", [str(python), "-c", "import obsidiantools.api"], 60, quiet=True)
        if imported is None:
            install = [str(python), "-m", "pip", "install", "-q", "obsidiantools"]
            if self._run("obsidiantools", install, INSTALL_TIMEOUT_S) is None:
                return None
        return self._seconds("obsidiantools", [str(python), "-c", _OBSIDIANTOOLS, str(vault)])

    def markdowndb(self, vault: Path) -> Timing | None:
        """Return the time to index the folder into an SQLite file; None if the peer is not available."""
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            print("  markdowndb: node and npm are not installed")
            return None
        home = self._folder / "markdowndb"
        home.mkdir(parents=True, exist_ok=True)
        if not (home / "node_modules" / "mddb").is_dir():
            install = [npm, "install", "mddb", "--prefix", str(home), "--no-audit", "--no-fund"]
            # By default, newer versions of npm don't run packages' scripts, but this one builds its library.
            build = [npm, "rebuild", "sqlite3", "--prefix", str(home), "--foreground-scripts"]
            if any(
                self._run("markdowndb", command, INSTALL_TIMEOUT_S) is None for command in (install, build)
            ):
                return None
        script = home / "measure.mjs"
        script.write_text(_MARKDOWNDB, encoding="utf-8")
        database = home / "measured.sqlite"
        database.unlink(missing_ok=True)
        return self._seconds("markdowndb", [node, str(script), str(vault), str(database)])

    def ripgrep(self, vault: Path, words: Sequence[str]) -> float | None:
        """Return the mean seconds to list the notes with a word; None if ripgrep is not available."""
        program = find_ripgrep(self._folder)
        if program is None:
            print("  ripgrep: not installed, and it could not be downloaded")
            return None
        start = time.perf_counter()
        for word in words:
            command = [program, "-liF", "-g", "*.md", word, str(vault)]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        return (time.perf_counter() - start) / len(words)

    def _seconds(self, name: str, command: list[str]) -> Timing | None:
        start = time.perf_counter()
        printed = self._run(name, command, self._timeout_s)
        if printed is None and time.perf_counter() - start >= self._timeout_s:
            return Timing(self._timeout_s, done=False)
        try:
            return Timing(float(printed.strip().splitlines()[-1])) if printed else None
        except ValueError:
            print(f"  {name}: printed {printed!r:.200} instead of a time")
            return None

    def _run(self, name: str, command: list[str], timeout_s: float, *, quiet: bool = False) -> str | None:
        if name in self._missing:
            return None
        try:
            done = subprocess.run(
                command, cwd=self._folder, capture_output=True, text=True, timeout=timeout_s, check=True
            )
        except subprocess.TimeoutExpired:
            return None
        except (subprocess.CalledProcessError, OSError) as error:
            if not quiet:
                lines = str(getattr(error, "stderr", "") or error).strip().splitlines()
                summary = next(
                    (line for line in lines if "Error" in line), lines[-1] if lines else str(error)
                )
                print(f"  {name}: {summary}", file=sys.stderr)
                self._missing.add(name)
            return None
        return done.stdout or " "


def find_ripgrep(folder: Path) -> str | None:
    """Return the installed program, or one unpacked from Debian's package below `folder`; else None."""
    home = folder / "ripgrep"
    program = shutil.which("rg") or shutil.which("rg", path=str(home / "usr" / "bin"))
    if program is not None or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return program
    home.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(["apt-get", "download", "ripgrep"], cwd=home, capture_output=True, check=True)
        for package in home.glob("ripgrep_*.deb"):
            subprocess.run(["dpkg-deb", "-x", str(package), str(home)], capture_output=True, check=True)
    except (subprocess.CalledProcessError, OSError):
        return None
    return shutil.which("rg", path=str(home / "usr" / "bin"))

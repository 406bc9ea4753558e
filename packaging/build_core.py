#!/usr/bin/env python3
"""Build the graph's C core, as a hook of the package's build or by hand.

    python3 packaging/build_core.py [--compiler "gcc -m32"] [--sanitize]
    python3 packaging/build_core.py --platform aarch64-macos --target build/core.so

The extension uses Python's stable ABI, so one file serves all versions from 3.11 except free-threaded ones,
which need a file for each version. A working C compiler is used if there is one; otherwise the package's
build installs ziglang from PyPI on the machines that it supports. The app does not work without the core, so
the build fails without it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "app" / "graph" / "core"
FOLDER = ROOT / "app" / "graph"
NAME = "_graphcore"
ZIG = "ziglang>=0.13,<0.16"
ZIG_MACHINES = {"x86_64", "amd64", "arm64", "aarch64"}
LIMITED_API = "0x030B0000"
PLATFORMS = (
    "x86_64-windows-gnu",
    "aarch64-windows-gnu",
    "x86_64-macos",
    "aarch64-macos",
    "x86_64-linux-gnu",
    "aarch64-linux-gnu",
)

# Every compiler must compute the same numbers: no fused operations, no reordered sums. The relaxed options
# affect only errno and the processor's floating-point flags, which the core never reads.
FLAGS = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


class BuildError(Exception):
    """The core could not be built; the message is the compiler's output or the missing requirement."""


def is_free_threaded() -> bool:
    """Return whether this Python is free-threaded and thus has no stable ABI."""
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def file_name() -> str:
    """Return the name of the extension's file on this platform."""
    if is_free_threaded():
        return NAME + str(sysconfig.get_config_var("EXT_SUFFIX"))
    return NAME + (".pyd" if os.name == "nt" else ".abi3.so")


def wheel_tag() -> str:
    """Return the tag of a wheel that contains the extension."""
    platform_tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if platform_tag.endswith("universal2"):
        platform_tag = f"macosx_11_0_{platform.machine()}"
    if is_free_threaded():
        version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        return f"{version}-{version}t-{platform_tag}"
    return f"cp311-abi3-{platform_tag}"


def compilers() -> list[list[str]]:
    """Return the commands to try as a C compiler, best first; only that in `CC` if it is set."""
    if compiler := os.environ.get("CC"):
        return [shlex.split(compiler)]
    candidates = []
    # On Windows, Microsoft's compiler lacks features that the core uses; on a Mac without the developer
    # tools, `cc` is a stub that opens a dialog.
    if os.name != "nt" and (sys.platform != "darwin" or _succeeds(["xcode-select", "-p"])):
        candidates = [[path] for name in ("gcc", "clang", "cc") if (path := shutil.which(name))]
    if importlib.util.find_spec("ziglang") is not None:
        candidates.append([sys.executable, "-m", "ziglang", "cc", "-mcpu=baseline", "-fno-sanitize=all"])
    return candidates


def _succeeds(command: list[str], **options: object) -> bool:
    with contextlib.suppress(OSError):
        return subprocess.run(command, capture_output=True, check=False, **options).returncode == 0
    return False


def can_compile(compiler: list[str]) -> bool:
    """Return whether a compiler can make a shared library with the C library's headers."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name, "try.c")
        source.write_text("#include <math.h>\n#include <stdlib.h>\nfloat f(float x) { return sqrtf(x); }\n")
        return _succeeds([*compiler, "-shared", "-fPIC", str(source), "-o", str(Path(name, "try.so"))])


def requirements() -> list[str]:
    """Return ziglang as an extra requirement if no compiler works and ziglang supports this machine."""
    if any(can_compile(each) for each in compilers()):
        return []
    return [ZIG] if platform.machine().lower() in ZIG_MACHINES else []


def command_for(compiler: list[str], target: Path, sanitize: bool = False) -> list[str]:
    """Return the single compiler command that builds the extension.

    Raises:
        BuildError: A free-threaded Python lacks its headers.
    """
    include = Path(sysconfig.get_path("include"))
    has_header = (include / "Python.h").exists()
    if is_free_threaded() and not has_header:
        raise BuildError("a free-threaded Python needs its own headers, and they are not installed")
    command = [*compiler, *FLAGS, *(SANITIZE if sanitize else []), "-shared", "-fvisibility=hidden"]
    command += [] if is_free_threaded() else [f"-DPy_LIMITED_API={LIMITED_API}"]
    command += [f"-I{include}"] if has_header else ["-DSCRIPTORIUM_WITHOUT_PYTHON_H"]
    command += [str(each) for each in sorted(SOURCES.glob("*.c"))]
    if os.name == "nt":
        library = "python3.lib" if not is_free_threaded() else f"python3{sys.version_info[1]}t.lib"
        command += [str(Path(sys.base_prefix) / "libs" / library)]
    elif sys.platform == "darwin":
        command += ["-fPIC", "-undefined", "dynamic_lookup"]
    else:
        command += ["-fPIC", "-lm"]
    return [*command, "-o", str(target)]


def cross_build(platform_name: str, target: Path) -> None:
    """Build the extension for another platform, with ziglang (`pip install ziglang`).

    Python's headers and libraries for that platform are not available, so only the functions that the core
    calls are declared. The linker leaves Python's symbols unresolved, or on Windows imports them from
    python3.dll.

    Args:
        platform_name: One of `PLATFORMS`.
        target: The file to write.

    Raises:
        BuildError: ziglang is not installed, or the build failed.
    """
    if importlib.util.find_spec("ziglang") is None:
        raise BuildError("building for another platform needs ziglang: pip install ziglang")
    zig = [sys.executable, "-m", "ziglang"]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        command = [*zig, "cc", "-target", platform_name, "-mcpu=baseline", "-fno-sanitize=all", *FLAGS, "-s"]
        command += ["-shared", "-fvisibility=hidden", f"-DPy_LIMITED_API={LIMITED_API}"]
        command += ["-DSCRIPTORIUM_WITHOUT_PYTHON_H", *(str(each) for each in sorted(SOURCES.glob("*.c")))]
        if "windows" in platform_name:
            command.append(str(_import_library(zig, platform_name, Path(name))))
        else:
            command.append("-fPIC")
        if "macos" in platform_name:
            command += ["-undefined", "dynamic_lookup"]
        built = Path(name, "core")  # The linker for Windows leaves an unneeded import library next to it.
        _run([*command, "-o", str(built)], name)
        shutil.move(built, target)


def _import_library(zig: list[str], platform_name: str, folder: Path) -> Path:
    """Write the import library for python3.dll, which every Python for Windows has, and return its path."""
    header = (SOURCES / "stable_abi.h").read_text(encoding="utf-8")
    data = re.findall(r"PyAPI_DATA\(PyObject \*\) (\w+);", header)
    functions = re.findall(r"^\w[\w ]*[ *](Py\w+)\([^()]*\);", header, re.MULTILINE)
    exports = [f"{each} DATA" for each in data] + functions
    definition, library = folder / "python3.def", folder / "python3.lib"
    definition.write_text("LIBRARY python3.dll\nEXPORTS\n" + "\n".join(exports) + "\n", encoding="ascii")
    machine = "arm64" if platform_name.startswith("aarch64") else "i386:x86-64"
    _run([*zig, "dlltool", "-m", machine, "-d", str(definition), "-l", str(library)], str(folder))
    return library


def _run(command: list[str], cache: str) -> None:
    environment = os.environ | {"ZIG_LOCAL_CACHE_DIR": cache}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if result.returncode:
        raise BuildError(f"{shlex.join(command[:4])} …: {result.stderr.strip()[-2000:]}")


def build(target: Path, compiler: list[str] | None = None, sanitize: bool = False) -> None:
    """Build the extension.

    Args:
        target: The file to write; replaced atomically, so that a running app keeps its own.
        compiler: The compiler's command; None tries those of this machine.
        sanitize: Whether to build with AddressSanitizer and UndefinedBehaviorSanitizer.

    Raises:
        BuildError: No compiler could build it, or a free-threaded Python lacks its headers.
    """
    messages = ["no C compiler was found"]
    target.parent.mkdir(parents=True, exist_ok=True)
    for candidate in [compiler] if compiler else compilers():
        with tempfile.TemporaryDirectory(dir=target.parent) as name:
            built = Path(name, target.name)
            command = command_for(candidate, built, sanitize)
            environment = os.environ | {"ZIG_LOCAL_CACHE_DIR": name}
            try:
                result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            except OSError as error:
                messages.append(f"{shlex.join(candidate)}: {error}")
                continue
            if result.returncode == 0:
                built.replace(target)
                return
            messages.append(f"{shlex.join(candidate)}: {result.stderr.strip()[-2000:]}")
    raise BuildError("\n".join(messages[1:] or messages))


def main() -> int:
    """Build into the source tree or to `--target`, and return the exit status."""
    parser = argparse.ArgumentParser(description="Build the graph's C core.")
    parser.add_argument("--compiler", help="the compiler's command")
    parser.add_argument(
        "--sanitize", action="store_true", help="build with AddressSanitizer and UndefinedBehaviorSanitizer"
    )
    parser.add_argument(
        "--target", type=Path, default=FOLDER / file_name(), help="the file to write; by default in app/graph"
    )
    parser.add_argument(
        "--platform", choices=PLATFORMS, help="build for another platform with ziglang; needs --target"
    )
    options = parser.parse_args()
    if options.platform and options.target == FOLDER / file_name():
        parser.error("--platform needs --target: the file is not for this machine")
    try:
        if options.platform:
            cross_build(options.platform, options.target)
        else:
            build(
                options.target, shlex.split(options.compiler) if options.compiler else None, options.sanitize
            )
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    print(options.target)
    return 0


with contextlib.suppress(ImportError):
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class CoreHook(BuildHookInterface):
        """Puts the core into wheels, and into the source tree for an editable install."""

        PLUGIN_NAME = "custom"

        def dependencies(self) -> list[str]:
            """Return ziglang if no compiler works and ziglang supports this machine."""
            return requirements()

        def initialize(self, version: str, build_data: dict) -> None:
            """Build the core before the wheel is assembled; abort the build if that fails."""
            self._scratch = tempfile.TemporaryDirectory()
            editable = version == "editable"
            target = FOLDER / file_name() if editable else Path(self._scratch.name, file_name())
            try:
                build(target)
            except BuildError as error:
                self.app.abort(f"The graph's C core was not built: install a C compiler.\n{error}")
            if not editable:
                build_data["force_include"][str(target)] = f"app/graph/{target.name}"
                build_data["pure_python"] = False
                build_data["tag"] = wheel_tag()

        def finalize(self, version: str, build_data: dict, artifact_path: str) -> None:
            """Remove the files that were built for the wheel."""
            if scratch := getattr(self, "_scratch", None):
                scratch.cleanup()


if __name__ == "__main__":
    sys.exit(main())

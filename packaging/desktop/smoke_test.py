"""Tries a built program as its users run it: from its folder, or installed in a Debian without Python.

Every step starts the program in a way that users or other programs do and looks at what it did. A step that
fails is reported, and the others still run. `installed` needs root and Debian's packages mmdebstrap, xvfb,
xdotool, imagemagick, desktop-file-utils and appstream.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APP_ID = "io.github.scriptorium.Scriptorium"
_SAMPLE = ROOT / "resources" / "sample-vault"
_PLUGIN = ROOT / "resources" / "plugins-example"
_TOOL_CALLS = ROOT / "tests" / "smoke"
_LINUX_FILES = ROOT / "packaging" / "desktop" / "linux"
_PACKAGES = "git,bubblewrap,libglib2.0-bin,fonts-dejavu-core,ca-certificates"
_TOOLS = ("mmdebstrap", "Xvfb", "xdotool", "import", "convert", "desktop-file-validate", "appstreamcli")
_USER, _UID = "reader", 1000
_NOTES = 6000
_PATIENCE_S = 300.0
_SLOWEST_START = 1.3
_RUNS = 5
# An empty window has some 400, one with a graph some 10,000.
_COLORS = 2000
# Asks for what the window draws and reads by libraries that load data or code only then.
_LIBRARIES_PLUGIN = """
import json, pathlib
from PySide6.QtWidgets import QApplication
from app.agent.language.lexicon import languages
from app.desktop.notes.editor.drawing_worker import draw
from app.desktop.notes.editor.drawings import DrawingRequest
from app.embeddings.language_model import LanguageIdModel as LanguageModel
from app.embeddings.model_config import MULTILINGUAL, model_folder
from app.embeddings.onnx_model import OnnxModel
from app.desktop.notes.html_to_markdown import markdown_of_html
from app.desktop.notes.spelling import installed_languages
from app.toolkit.plugins import Plugin

application = QApplication([])
PLUGIN = Plugin(categories=(), tools=())


def width(kind, source):
    return draw(DrawingRequest(kind, source, 600, 12.0, "#000000"), lambda target: None).width


languages = LanguageModel()
(german,) = languages.encode(["Der Kompass zeigt nach Norden."])
sentences = OnnxModel(model_folder(MULTILINGUAL)).encode(["The compass", "Der Kompass", "Ein Apfel"])
said = {
    "languages of notes": languages.labels[german.argmax()] == "de",
    "multilingual model": sentences[0] @ sentences[1] > sentences[0] @ sentences[2],
    "formula": width("math", r"\\frac{a}{\\sqrt{b}}") > 20,
    "diagram": width("mermaid", "graph LR\\n  Harrison --> Chronometer") > 100,
    "pasted HTML": markdown_of_html("<p>A <b>clock</b></p>").strip() == "A **clock**",
    "languages": {"de", "en"} <= {one.code for one in languages()},
    "dictionaries": any(one.startswith("en") for one in installed_languages()),
}
pathlib.Path.home().joinpath("libraries.json").write_text(json.dumps(said))
"""


# Calls every tool in the program that loads it.
_TOOLS_PLUGIN = """
import pathlib
from app.toolkit.plugins import Plugin
from tests.smoke import check_tools

PLUGIN = Plugin(categories=(), tools=())
said = []
check_tools.run(said.append)
pathlib.Path.home().joinpath("tools.txt").write_text("\\n".join(said), "utf-8")
"""


class StepError(Exception):
    """What a step found wrong."""


@dataclass
class Place:
    """Where the program is and how it is started.

    `outside` is what a path of the program is under for us: the root of the chroot, or nothing. `prefix`
    comes before the program and its arguments.
    """

    program: tuple[str, ...]
    home: str
    outside: Path = Path("/")
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def file(self, path: str) -> Path:
        """Return a path of the program as we reach it."""
        return self.outside / path.lstrip("/") if self.prefix else Path(path)

    def command(self, *words: str, plain: bool = False, **more: str) -> tuple[list[str], dict[str, str]]:
        """Return what to execute to run the program with these words, and in which environment.

        Args:
            words: The arguments of the program, or with `plain` another program and its arguments.
            plain: Whether to run another program.
            more: Variables for the program's environment.
        """
        variables = {
            "HOME": self.home,
            "LANG": "C.UTF-8",
            "PATH": "/usr/bin:/bin",
            **self.environment,
            **more,
        }
        command = [*(() if plain else self.program), *words]
        if self.prefix:
            given = [f"{name}={value}" for name, value in variables.items()]
            return [*self.prefix, "env", "-i", *given, *command], dict(os.environ)
        # PYTHONDONTWRITEBYTECODE would have the checkout compile its modules at every start that is measured.
        left_out = ("SCRIPTORIUM_", "XDG_", "PYTHON")
        ours = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return command, {**ours, **variables, "PATH": os.environ["PATH"]}

    def start(self, *words: str, plain: bool = False, **options: object) -> subprocess.Popen[bytes]:
        """Start the program, or with `plain` another one, with these words."""
        command, environment = self.command(*words, plain=plain)
        return subprocess.Popen(command, env=environment, **options)  # type: ignore[call-overload,no-any-return]

    def run(self, *words: str, status: int | None = 0, plain: bool = False) -> str:
        """Run the program to its end and return what it printed.

        Raises:
            StepError: it ended with another status.
        """
        pipe = subprocess.PIPE
        process = self.start(
            *words, plain=plain, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT
        )
        try:
            output = process.communicate(timeout=_PATIENCE_S)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise StepError(f"{' '.join(words)} did not end") from error
        if status is not None and process.returncode != status:
            raise StepError(f"{' '.join(words)} ended with {process.returncode}:\n{output[-2000:]}")
        return output


class Report:
    """The steps, and which of them failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.count = 0

    def step(self, name: str, work: Callable[[], object]) -> None:
        """Do a step and print how it went."""
        started = time.monotonic()
        self.count += 1
        try:
            said = work()
        except (StepError, OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
            self.failed.append(name)
            print(f"✗ {name}: {error}", flush=True)
        else:
            seconds = time.monotonic() - started
            print(f"✓ {name} ({seconds:.1f} s){f': {said}' if said else ''}", flush=True)

    def end(self) -> None:
        """Print the sum, and exit with 1 if a step failed."""
        print(f"{self.count - len(self.failed)} passed, {len(self.failed)} failed", flush=True)
        if self.failed:
            sys.exit(1)


def bundle(program: Path) -> None:
    """Try the bundle where it was built."""
    report = Report()
    with tempfile.TemporaryDirectory(prefix="scriptorium-smoke-") as folder:
        variables = {} if sys.platform != "win32" else {"USERPROFILE": folder}
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            variables[f"SCRIPTORIUM_{name}"] = str(Path(folder, name.lower()))
        variables["QT_QPA_PLATFORM"] = "offscreen"
        place = Place((str(program),), folder, environment=variables)
        vault = Path(folder, "vault")
        shutil.copytree(_SAMPLE, vault)
        _without_window(report, place, str(vault), complete=shutil.which("git") is not None)
    report.end()


def _without_window(report: Report, place: Place, vault: str, *, complete: bool) -> None:
    """Try every way to use the program that needs no window."""
    report.step("--version", lambda: place.run("--version").strip())
    report.step("doctor", lambda: _doctor(place, vault))
    report.step("every tool", lambda: _tools(place, complete))
    report.step("MCP", lambda: _mcp(place, vault))
    report.step("a request with a date", lambda: _ask(place, vault))
    report.step("semantic search", lambda: _meaning(place, vault))
    report.step("SVG export", lambda: _svg(place, vault))
    report.step(
        "a program that the app starts has the user's environment", lambda: _environment(place, vault)
    )


def _doctor(place: Place, vault: str) -> str:
    found = json.loads(place.run("doctor", "--json", "--vault", vault).splitlines()[-1])
    if wrong := [one for one in found if one["state"] == "wrong"]:
        raise StepError(f"{wrong}")
    told = {one["what"]: one["state"] for one in found}
    if told["graph core"] != "ok" or told["sentence model"] != "ok":
        raise StepError(f"{found}")
    warnings = [one["what"] for one in found if one["state"] != "ok"]
    return f"{len(found)} checks, warnings: {', '.join(warnings) or 'none'}"


def _tools(place: Place, complete: bool) -> str:
    """Call every tool inside the program: `tools --check` itself needs a checkout."""
    kept = place.file(f"{place.home}/tools.txt")
    with _loaded_plugin(place, "tools", _TOOLS_PLUGIN) as folder:
        shutil.copytree(_TOOL_CALLS, folder / "tests" / "smoke", ignore=shutil.ignore_patterns("__pycache__"))
        _own(place, folder)
        said = place.run("tools", "--json")
    if not kept.is_file():
        raise StepError(said[-500:])
    output = kept.read_text("utf-8")
    if " 0 failed" not in output or (complete and "no repository" in output):
        raise StepError(output[-2000:])
    return output.strip().splitlines()[-1]


@contextmanager
def _loaded_plugin(place: Place, name: str, source: str) -> Iterator[Path]:
    """Install and enable a plug-in whose only module is `source`; yield its folder, then remove it."""
    data = place.environment.get("SCRIPTORIUM_DATA", f"{place.home}/.local/share/scriptorium")
    folder = place.file(f"{data}/plugins/{name}")
    information = folder / f"smoke_{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / f"smoke_{name}.py").write_text(source)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: smoke-{name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[scriptorium.tools]\n{name} = smoke_{name}:PLUGIN\n")
    _own(place, folder)
    _set(place, {"tools": {"plugins_on": [name]}})
    yield folder
    shutil.rmtree(folder)
    _set(place, {})


def _mcp(place: Place, vault: str) -> str:
    pipe = subprocess.PIPE
    process = place.start("mcp", vault, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
    assert process.stdin is not None and process.stdout is not None

    def send(message: Mapping[str, object]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()

    def ask(number: int, method: str, parameters: object) -> dict[str, object]:
        send({"id": number, "method": method, "params": parameters})
        assert process.stdout is not None
        for line in process.stdout:
            if (answer := json.loads(line)).get("id") == number:
                if "error" in answer:
                    raise StepError(str(answer["error"]))
                result: dict[str, object] = answer["result"]
                return result
        raise StepError(f"the server ended before it answered {method}")

    try:
        client = {"name": "smoke test", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        ask(1, "initialize", hello)
        send({"method": "notifications/initialized"})
        tools = ask(2, "tools/list", {})["tools"]
        call = {"name": "search_notes", "arguments": {"query": "chronometer"}}
        found = ask(3, "tools/call", call)
        if found.get("isError") or "hronometer" not in json.dumps(found):
            raise StepError(f"{found}")
        process.stdin.close()
        if process.wait(30) != 0:
            raise StepError(f"the server ended with {process.returncode}")
        return f"{len(tools)} tools"  # type: ignore[arg-type]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _meaning(place: Place, vault: str) -> str:
    place.run("index", "--vectors", vault)
    found = place.run("--vault", vault, "search", 'similar:"keeping time at sea"')
    if "hronometer" not in found:
        raise StepError(found[:1000])
    return found.strip().splitlines()[0][:80]


def _svg(place: Place, vault: str) -> str:
    target = f"{place.home}/graph.svg"
    place.run("graph", "export", "--vault", vault, target)
    text = place.file(target).read_text("utf-8")
    if "<svg" not in text or text.count("<circle") + text.count("<path") < 10:
        raise StepError(text[:500])
    return f"{len(text)} characters"


def _environment(place: Place, vault: str) -> str:
    """Have the command line start the user's editor, which here writes down its environment."""
    if sys.platform == "win32":
        return "not on Windows"
    script = f"{place.home}/editor.sh"
    kept = f"{place.home}/editor.environment"
    place.file(script).write_text(f'#!/bin/sh\nenv > "{kept}"\n', "utf-8")
    place.file(script).chmod(0o755)
    words = ("--vault", vault, "edit_note", "John Harrison", "append", "A line.")
    output = _at_a_terminal(*place.command(*words, EDITOR=script), answers=(b"e\n", b"n\n"))
    if not place.file(kept).is_file():
        raise StepError(f"the editor was not started: {output[-1500:].decode('utf-8', 'replace')}")
    lines = place.file(kept).read_text("utf-8").splitlines()
    bad = [one for one in lines if one.startswith(("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_"))]
    if bad:
        raise StepError(f"{bad}")
    return f"{len(lines)} variables"


def _at_a_terminal(command: list[str], environment: dict[str, str], answers: tuple[bytes, ...]) -> bytes:
    """Run a program at a terminal of its own and answer its questions as they come; what it printed."""
    import pty

    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(command[0], command, environment)
    output, waiting, seen = b"", list(answers), 0
    deadline = time.monotonic() + _PATIENCE_S
    try:
        while time.monotonic() < deadline:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break  # The program has ended.
            if not part:
                break
            output += part
            if waiting and b"?] (no)" in output[seen:]:
                seen = len(output)
                os.write(terminal, waiting.pop(0))
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return output


def installed(out: Path, work: Path, version: str) -> None:
    """Install what was built in a fresh Debian without Python, try it, remove it, and try the image."""
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        sys.exit(f"smoke --installed needs {', '.join(missing)}")
    if os.geteuid() != 0:
        sys.exit("smoke --installed makes a chroot, which only root may")
    (package,) = out.glob("*.deb")
    report = Report()
    root = _base(work)
    with _mounted(root), _display() as display:
        place = _installed_place(root, display, ("/usr/bin/scriptorium",))
        vault = _new_vault(place, "Sample vault")
        report.step("there is no Python", lambda: _no_python(place))
        report.step("install the .deb", lambda: _install(root, package))
        report.step("the desktop's own files", lambda: _validate(root))
        _without_window(report, place, vault, complete=True)
        report.step(f"scan {_NOTES:,} notes in processes, and kill the app", lambda: _scan(place))
        shot = work / "window.png"
        report.step("open a folder by the desktop entry", lambda: _by_desktop_entry(place, vault, shot))
        report.step("SIGTERM ends the window with 0", lambda: _terminate(place, vault))
        report.step("start of the window", lambda: _start_times(place, vault))
        report.step("a plug-in", lambda: _plugin(place))
        report.step("libraries that load late", lambda: _libraries(root, place))
        for image in out.glob("*.AppImage"):
            _try_image(report, root, display, image, work)
        report.step("removal leaves notes and data", lambda: _remove(root, place, vault))
        report.step("install it again", lambda: _install(root, package))
        report.step("another Python's sentence-transformers", lambda: _another_python(root, place))
    report.end()


def _try_image(report: Report, root: Path, display: str, image: Path, work: Path) -> None:
    shutil.copy(image, root / "opt" / image.name)
    program = (f"/opt/{image.name}", "--appimage-extract-and-run")
    place = _installed_place(root, display, program)
    place.home = f"/home/{_USER}/image"
    place.file(place.home).mkdir()
    os.chown(place.file(place.home), _UID, _UID)
    vault = _new_vault(place, "Image vault")
    print(f"-- {image.name}", flush=True)
    _without_window(report, place, vault, complete=True)
    report.step("libraries that load late", lambda: _libraries(root, place))
    report.step("SIGTERM ends the window with 0", lambda: _terminate(place, vault))
    (root / "opt" / image.name).unlink()


def _base(work: Path) -> Path:
    """Unpack a fresh Debian; its archive is made once."""
    archive = work / "debian.tar"
    if not archive.exists():
        subprocess.check_call(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(archive)]
        )
    root = work / "chroot"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    subprocess.check_call(["tar", "-xpf", str(archive), "-C", str(root), "--exclude=./dev/*"])
    subprocess.check_call(["chroot", str(root), "useradd", "-m", "-u", str(_UID), _USER])
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    return root


@contextmanager
def _mounted(root: Path) -> Iterator[None]:
    """Give the chroot the system's devices and processes while it is used."""
    binds = [("/proc", root / "proc"), ("/sys", root / "sys"), ("/dev", root / "dev")]
    try:
        for source, target in binds:
            subprocess.check_call(["mount", "--rbind", "--make-rslave", source, str(target)])
        yield
    finally:
        for process in _processes(root):
            os.kill(process, signal.SIGKILL)
        for _, target in reversed(binds):
            subprocess.call(["umount", "-R", "-l", str(target)])


@contextmanager
def _display() -> Iterator[str]:
    """Run an X server; its name. Programs in the chroot reach it by its abstract socket."""
    read, write = os.pipe()
    server = subprocess.Popen(
        [
            "Xvfb",
            "-displayfd",
            str(write),
            "-screen",
            "0",
            "1400x900x24",
            "-noreset",  # It would begin again when its last client has gone.
            "-nolisten",
            "tcp",
        ],
        pass_fds=(write,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as stream:
            yield f":{stream.readline().strip()}"
    finally:
        server.terminate()
        server.wait()


def _installed_place(root: Path, display: str, program: tuple[str, ...]) -> Place:
    prefix = ("chroot", f"--userspec={_UID}:{_UID}", str(root))
    return Place(program, f"/home/{_USER}", root, prefix, {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"})


def _new_vault(place: Place, name: str) -> str:
    """Copy the sample vault, and have it known as opened before, so that no question stands in the way."""
    vault = f"{place.home}/{name}"
    shutil.copytree(_SAMPLE, place.file(vault))
    for path in (place.file(vault), *place.file(vault).rglob("*")):
        os.chown(path, _UID, _UID)
    return vault


def _no_python(place: Place) -> str:
    said = place.run("sh", "-c", "command -v python python3 || echo none", plain=True)
    if said.strip() != "none":
        raise StepError(said)
    return ""


def _apt(root: Path, *words: str) -> None:
    done = subprocess.run(
        ["chroot", str(root), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-y", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise StepError(f"apt-get {' '.join(words)}: {(done.stdout + done.stderr)[-1500:]}")


def _install(root: Path, package: Path) -> str:
    shutil.copy(package, root / "tmp" / package.name)
    _apt(root, "update")
    _apt(root, "install", "--no-install-recommends", f"/tmp/{package.name}")
    (root / "tmp" / package.name).unlink()
    size = sum(one.lstat().st_size for one in (root / "opt" / "scriptorium").rglob("*"))
    return f"{package.stat().st_size / 1024**2:.1f} MiB, {size / 1024**2:.0f} MiB installed"


def _validate(root: Path) -> str:
    entry = root / "usr/share/applications" / f"{APP_ID}.desktop"
    info = root / "usr/share/metainfo" / f"{APP_ID}.metainfo.xml"
    for command in (
        ["desktop-file-validate", str(entry)],
        ["appstreamcli", "validate", "--no-net", str(info)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or "error" in done.stdout.lower():
            raise StepError(done.stdout + done.stderr)
    icon = next(line for line in entry.read_text().splitlines() if line.startswith("Icon="))[5:]
    if not list((root / "usr/share/icons/hicolor").rglob(f"{icon}.*")):
        raise StepError(f"there is no icon {icon}")
    licenses = root / "opt/scriptorium/_internal/resources/licenses"
    for name in ("LICENSE.txt", "THIRD-PARTY-NOTICES.txt", "QT-LGPL.txt", "LGPL-3.0.txt", "GPL-3.0.txt"):
        if not (licenses / name).is_file():
            raise StepError(f"{name} is not installed")
    return ""


def _scan(place: Place) -> str:
    """Have the index read many notes: it starts processes, which must not outlive it."""
    vault = f"{place.home}/Large vault"
    folder = place.file(vault)
    folder.mkdir()
    for number in range(_NOTES):
        links = " ".join(f"[[Note {other % _NOTES}]]" for other in (number + 1, number * 7, number * 31))
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\n{'Words of a note. ' * 60}\n{links}\n")
    for path in (folder, *folder.iterdir()):
        os.chown(path, _UID, _UID)
    process = place.start("index", vault, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        workers = _wait(lambda: _workers(place.outside), "no process was started to read notes", process)
        app = _parent(next(iter(workers)))
        os.kill(app, signal.SIGKILL)
        process.wait(30)
        _wait(lambda: not _processes(place.outside), "processes outlive the app that was killed")
    finally:
        process.kill()
        process.wait()
    output = place.run("index", vault)
    if f"{_NOTES} notes" not in output:
        raise StepError(output)
    return f"{len(workers)} processes"


def _by_desktop_entry(place: Place, vault: str, shot: Path) -> str:
    entry = f"/usr/share/applications/{APP_ID}.desktop"
    _know(place, vault)
    # The app keeps what it is given for its output: a pipe would not end before it does.
    place.run("sh", "-c", 'gio launch "$0" "$1" >/dev/null 2>&1', entry, vault, plain=True)
    name = Path(vault).name
    window = _wait(lambda: _window(place, name), "no window opened")
    _wait(lambda: _colors(place, shot) > _COLORS, "the window stays empty")
    kind = _x(place, "xprop", "-id", window.split()[0], "WM_CLASS") if shutil.which("xprop") else ""
    for process in _processes(place.outside):
        if _parent(process) not in _processes(place.outside):
            os.kill(process, signal.SIGTERM)
    _wait(lambda: not _processes(place.outside), "the window does not end")
    return f"{_colors_of(shot)} colors in {shot} {kind.strip()}"


def _terminate(place: Place, vault: str) -> str:
    _know(place, vault)
    process = place.start("open", vault, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _wait(lambda: _window(place, Path(vault).name), "no window opened", process)
        # The image's own process waits for the program, which is the one that the user's desktop ends.
        own = [one for one in _processes(place.outside) if "open" in _words(one)]
        os.kill(max(own), signal.SIGTERM)
        status = process.wait(60)
        if status != 0:
            assert process.stderr is not None
            raise StepError(f"it ended with {status}: {process.stderr.read()[-1000:]!r}")
        _wait(lambda: not _processes(place.outside), "processes outlive the window")
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
    return ""


def _start_times(place: Place, vault: str) -> str:
    """Compare the time until the window is there with that from source, one after the other."""
    source = ROOT / ".venv" / "bin" / "scriptorium"
    if not source.exists():
        return "there is no checkout's environment to compare with"
    with tempfile.TemporaryDirectory(prefix="scriptorium-source-") as folder:
        own = Path(folder, "vault")
        shutil.copytree(_SAMPLE, own)
        other = Place((str(source),), folder, environment={**place.environment, "XDG_RUNTIME_DIR": folder})
        _know(other, str(own))
        times: dict[str, list[float]] = {"installed": [], "source": []}
        for run in range(_RUNS + 1):
            for name, one, root in (("source", other, str(own)), ("installed", place, vault)):
                seconds = _seconds_to_window(one, root)
                if run:  # The first one fills the caches.
                    times[name].append(seconds)
    ours, theirs = (statistics.median(times[name]) for name in ("installed", "source"))
    words = f"{ours:.2f} s installed, {theirs:.2f} s from source, ratio {ours / theirs:.2f}"
    if ours > _SLOWEST_START * theirs:
        raise StepError(words)
    return words


def _seconds_to_window(place: Place, vault: str) -> float:
    started = time.monotonic()
    process = place.start("open", vault, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(lambda: _window(place, Path(vault).name), "no window opened", process, step=0.01)
        seconds = time.monotonic() - started
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        return seconds
    finally:
        process.kill()
        process.wait()


def _plugin(place: Place) -> str:
    data = place.file(f"{place.home}/.local/share/scriptorium/plugins/support")
    shutil.copytree(_PLUGIN / "src", data)
    information = data / "scriptorium_customer_support-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: scriptorium-customer-support\nVersion: 1.0\n"
    )
    (information / "entry_points.txt").write_text(
        "[scriptorium.tools]\ncustomer_support = scriptorium_customer_support:PLUGIN\n"
    )
    if "customer_support" in place.run("tools", "--json"):
        raise StepError("the plug-in is loaded before it is switched on")
    _set(place, {"tools": {"plugins_on": ["support"], "categories_on": ["customer_support"]}})
    if "customer_support" not in place.run("tools", "--json"):
        raise StepError("the plug-in is not loaded")
    vault = _new_vault(place, "Customers")
    note = place.file(f"{vault}/Ada.md")
    note.write_text("---\ntype: user\nmail: a@b.org\n---\nA person.\n")
    os.chown(note, _UID, _UID)
    found = place.run("--vault", vault, "user", "find", "--query", "a@b.org")
    if "Ada" not in found:
        raise StepError(found)
    return ""


def _libraries(root: Path, place: Place) -> str:
    """Have a plug-in draw a formula and a diagram, read HTML and find languages and dictionaries."""
    _apt(root, "install", "--no-install-recommends", "libenchant-2-2", "hunspell-en-us")
    kept = place.file(f"{place.home}/libraries.json")
    with _loaded_plugin(place, "libraries", _LIBRARIES_PLUGIN):
        output = place.run("tools", "--json")
        if not kept.is_file():
            vault = _new_vault(place, "Libraries")
            raise StepError(place.run("doctor", "--vault", vault, status=None) + output[-500:])
    said = json.loads(kept.read_text())
    if wrong := [what for what, works in said.items() if not works]:
        raise StepError(f"not there: {', '.join(wrong)}")
    return ", ".join(said)


def _ask(place: Place, vault: str) -> str:
    """Ask the built-in agent, with a date in words."""
    said = place.run("--vault", vault, "ask", "which notes changed since 3 March 2020?")
    if "2020-03-03" not in said or "[[" not in said:
        raise StepError(said[:1000])
    return said.strip().splitlines()[0]


def _another_python(root: Path, place: Place) -> str:
    """Have another Python make the vectors: its package is a small one of the same interface.

    The worker of the bundle's sources runs in it. The real package needs torch, of some hundred megabytes.
    """
    _apt(root, "install", "--no-install-recommends", "python3-numpy")
    modules = place.file(f"{place.home}/modules")
    modules.mkdir()
    (modules / "torch.py").write_text("def set_num_threads(count): pass\n")
    (modules / "sentence_transformers.py").write_text(
        "import numpy\n"
        "class SentenceTransformer:\n"
        "    max_seq_length = 256\n"
        "    def __init__(self, name, **options): self.name = name\n"
        "    def __getitem__(self, index): return self\n"
        "    def get_max_seq_length(self): return 256\n"
        "    def encode_query(self, texts, **options): return self.encode_document(texts)\n"
        "    def encode_document(self, texts, **options):\n"
        "        rows = numpy.array([[hash(t) >> n & 255 for n in range(16)] for t in texts], 'f4')\n"
        "        return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)\n"
    )
    script = place.file(f"{place.home}/other-python")
    script.write_text(f'#!/bin/sh\nPYTHONPATH={place.home}/modules exec /usr/bin/python3 "$@"\n')
    script.chmod(0o755)
    _set(place, {"embeddings": {"model": "some-model", "python": f"{place.home}/other-python"}})
    vault = _new_vault(place, "Other model")
    place.run("index", "--vectors", vault)
    found = place.run("--vault", vault, "search", 'similar:"keeping time at sea"')
    if not found.strip():
        raise StepError("nothing was found")
    _set(place, {})
    return ""


def _remove(root: Path, place: Place, vault: str) -> str:
    _apt(root, "remove", "scriptorium")
    if (root / "opt" / "scriptorium").exists() or (root / "usr/bin/scriptorium").exists():
        raise StepError("the program is still there")
    for path in (f"{vault}/People/John Harrison.md", f"{place.home}/.local/share/scriptorium"):
        if not place.file(path).exists():
            raise StepError(f"{path} is gone")
    return ""


def _own(place: Place, folder: Path) -> None:
    """Give the user of the chroot a folder below their own, what it contains and the folders above it."""
    if not place.prefix:
        return
    home = place.file(place.home)
    above = [one for one in folder.parents if one.is_relative_to(home) and one != home]
    for path in (*above, folder, *folder.rglob("*")):
        os.chown(path, _UID, _UID)


def _set(place: Place, settings: object) -> None:
    folder = place.file(place.environment.get("SCRIPTORIUM_CONFIG", f"{place.home}/.config/scriptorium"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    _own(place, folder)


def _know(place: Place, vault: str) -> None:
    """Put the vault on the list of those opened before, which are not asked about."""
    folder = place.file(f"{place.home}/.local/share/scriptorium")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recent.json").write_text(json.dumps([{"path": vault, "opened": time.time()}]))
    if place.prefix:
        for path in (folder.parent.parent, folder.parent, folder, folder / "recent.json"):
            os.chown(path, _UID, _UID)


def _processes(root: Path) -> list[int]:
    """Return the processes whose root is the chroot."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "root").readlink() == root:
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def _words(process: int) -> list[str]:
    try:
        return Path("/proc", str(process), "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _workers(root: Path) -> list[int]:
    return [one for one in _processes(root) if "--multiprocessing-fork" in _words(one)]


def _parent(process: int) -> int:
    try:
        return int(Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _x(place: Place, *command: str) -> str:
    variables = {**os.environ, "DISPLAY": place.environment["DISPLAY"], "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False).stdout


def _window(place: Place, name: str) -> str:
    """Return the window of a vault, by its title; empty while there is none."""
    return _x(place, "xdotool", "search", "--onlyvisible", "--name", f"^{name} .*Scriptorium$").strip()


def _colors(place: Place, shot: Path) -> int:
    _x(place, "import", "-window", "root", str(shot))
    return _colors_of(shot)


def _colors_of(shot: Path) -> int:
    command = ["convert", str(shot), "-format", "%k", "info:"]
    return int(subprocess.run(command, capture_output=True, text=True, check=False).stdout or 0)


def _wait(
    true: Callable[[], object],
    otherwise: str,
    process: subprocess.Popen[bytes] | None = None,
    step: float = 0.05,
):  # type: ignore[no-untyped-def]
    """Wait until something is true and return it.

    Raises:
        StepError: it does not become true, or the process that should make it so has ended.
    """
    deadline = time.monotonic() + _PATIENCE_S
    while not (found := true()):
        if time.monotonic() > deadline:
            raise StepError(otherwise)
        if process is not None and process.poll() is not None:
            raise StepError(f"{otherwise}: the program ended with {process.returncode}")
        time.sleep(step)
    return found

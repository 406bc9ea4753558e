"""Test a built program as users run it: from its folder, or installed in a Debian without Python.

Most steps start the program as a user or another program does, and check the result. A failed step is
reported, and the others still run. `installed` needs root and Debian's packages mmdebstrap, xvfb,
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
_PACKAGES = "git,bubblewrap,libglib2.0-bin,fonts-dejavu-core,ca-certificates"
_TOOLS = ("mmdebstrap", "Xvfb", "xdotool", "import", "convert", "desktop-file-validate", "appstreamcli")
_USER, _UID = "reader", 1000
_NOTE_COUNT = 6000
_STEP_TIMEOUT_S = 300.0
_MAX_START_RATIO = 1.3
_START_RUNS = 5
# An empty window has some 400, one with a graph some 10,000.
_MIN_COLORS = 2000
# Uses the libraries that load data or code only when the window draws or reads something.
_LIBRARIES_PLUGIN = """
import json, pathlib
from PySide6.QtWidgets import QApplication
from app.agent.language.words.lexicon import languages
from app.desktop.notes.editor.drawing_worker import draw
from app.desktop.notes.editor.drawings import DrawingRequest
from app.embeddings.language_model import LanguageIdModel
from app.embeddings.model_config import MULTILINGUAL, model_folder
from app.embeddings.onnx_model import OnnxModel
from app.desktop.notes.html_to_markdown import html_to_markdown
from app.desktop.notes.spelling import installed_languages
from app.toolkit.plugins import Plugin

application = QApplication([])
PLUGIN = Plugin(categories=(), tools=())


def width(kind, source):
    return draw(DrawingRequest(kind, source, 600, 12.0, "#000000"), lambda target: None).width


identifier = LanguageIdModel()
(german,) = identifier.encode(["Der Kompass zeigt nach Norden."])
sentences = OnnxModel(model_folder(MULTILINGUAL)).encode(["The compass", "Der Kompass", "Ein Apfel"])
results = {
    "languages of notes": identifier.labels[german.argmax()] == "de",
    "multilingual model": sentences[0] @ sentences[1] > sentences[0] @ sentences[2],
    "formula": width("math", r"\\frac{a}{\\sqrt{b}}") > 20,
    "diagram": width("mermaid", "graph LR\\n  Harrison --> Chronometer") > 100,
    "pasted HTML": html_to_markdown("<p>A <b>clock</b></p>").strip() == "A **clock**",
    "languages": {"de", "en"} <= {language.code for language in languages()},
    "dictionaries": any(language.startswith("en") for language in installed_languages()),
}
pathlib.Path.home().joinpath("libraries.json").write_text(json.dumps(results))
"""


# Calls every tool in the program that loads it.
_TOOLS_PLUGIN = """
import pathlib
from app.toolkit.plugins import Plugin
from tests.smoke import check_tools

PLUGIN = Plugin(categories=(), tools=())
lines = []
check_tools.run(lines.append)
pathlib.Path.home().joinpath("tools.txt").write_text("\\n".join(lines), "utf-8")
"""


class StepError(Exception):
    """A step failed; the message explains the problem."""


@dataclass
class Installation:
    """An installed program, and how it is started.

    `outside` is the root of the chroot, if any, as seen from outside. `prefix` precedes the program and its
    arguments.
    """

    program: tuple[str, ...]
    home: str
    outside: Path = Path("/")
    prefix: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def file(self, path: str) -> Path:
        """Return a path of the program as seen from outside the chroot."""
        return self.outside / path.lstrip("/") if self.prefix else Path(path)

    def command(self, *words: str, plain: bool = False, **more: str) -> tuple[list[str], dict[str, str]]:
        """Return the command line that runs the program with these words, and its environment.

        Args:
            words: The program's arguments, or with `plain` another program and its arguments.
            plain: Whether `words` name another program.
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
            assignments = [f"{name}={value}" for name, value in variables.items()]
            return [*self.prefix, "env", "-i", *assignments, *command], dict(os.environ)
        # With PYTHONDONTWRITEBYTECODE, the checkout would compile its modules at every measured start.
        excluded = ("SCRIPTORIUM_", "XDG_", "PYTHON")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(excluded)}
        return command, {**environment, **variables, "PATH": os.environ["PATH"]}

    def start(self, *words: str, plain: bool = False, **options: object) -> subprocess.Popen[bytes]:
        """Start the program, or with `plain` another one, with these words; `options` go to `Popen`."""
        command, environment = self.command(*words, plain=plain)
        return subprocess.Popen(command, env=environment, **options)  # type: ignore[call-overload,no-any-return]

    def run(self, *words: str, status: int | None = 0, plain: bool = False) -> str:
        """Run the program to its end and return its output; None as `status` allows any.

        Raises:
            StepError: It ended with another status, or not in time.
        """
        pipe = subprocess.PIPE
        process = self.start(
            *words, plain=plain, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT
        )
        try:
            output = process.communicate(timeout=_STEP_TIMEOUT_S)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired as error:
            process.kill()
            process.communicate()
            raise StepError(f"{' '.join(words)} did not end") from error
        if status is not None and process.returncode != status:
            raise StepError(f"{' '.join(words)} ended with {process.returncode}:\n{output[-2000:]}")
        return output


class SmokeReport:
    """Runs steps, and records those that failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.count = 0

    def step(self, name: str, work: Callable[[], object]) -> None:
        """Run a step, and print its result or its error."""
        started = time.monotonic()
        self.count += 1
        try:
            output = work()
        except (StepError, OSError, subprocess.SubprocessError, ValueError, LookupError) as error:
            self.failed.append(name)
            print(f"✗ {name}: {error}", flush=True)
        else:
            seconds = time.monotonic() - started
            print(f"✓ {name} ({seconds:.1f} s){f': {output}' if output else ''}", flush=True)

    def end(self) -> None:
        """Print the totals, and exit with 1 if a step failed."""
        print(f"{self.count - len(self.failed)} passed, {len(self.failed)} failed", flush=True)
        if self.failed:
            sys.exit(1)


def bundle(program: Path) -> None:
    """Test the bundle where it was built; exit with 1 if a step fails."""
    report = SmokeReport()
    with tempfile.TemporaryDirectory(prefix="scriptorium-smoke-") as folder:
        variables = {} if sys.platform != "win32" else {"USERPROFILE": folder}
        for name in ("CONFIG", "DATA", "CACHE", "LOGS"):
            variables[f"SCRIPTORIUM_{name}"] = str(Path(folder, name.lower()))
        variables["QT_QPA_PLATFORM"] = "offscreen"
        installation = Installation((str(program),), folder, environment=variables)
        vault = Path(folder, "vault")
        shutil.copytree(_SAMPLE, vault)
        _without_window(report, installation, str(vault), complete=shutil.which("git") is not None)
    report.end()


def _without_window(report: SmokeReport, installation: Installation, vault: str, *, complete: bool) -> None:
    """Test the uses of the program that need no window."""
    report.step("--version", lambda: installation.run("--version").strip())
    report.step("doctor", lambda: _doctor(installation, vault))
    report.step("every tool", lambda: _tools(installation, complete))
    report.step("MCP", lambda: _mcp(installation, vault))
    report.step("a request with a date", lambda: _ask(installation, vault))
    report.step("semantic search", lambda: _semantic_search(installation, vault))
    report.step("SVG export", lambda: _svg(installation, vault))
    report.step(
        "a program that the app starts has the user's environment", lambda: _environment(installation, vault)
    )


def _doctor(installation: Installation, vault: str) -> str:
    report = json.loads(installation.run("doctor", "--json", "--vault", vault).splitlines()[-1])
    if wrong := [check for check in report if check["state"] == "wrong"]:
        raise StepError(f"{wrong}")
    states = {check["what"]: check["state"] for check in report}
    if states["graph core"] != "ok" or states["sentence model"] != "ok":
        raise StepError(f"{report}")
    warnings = [check["what"] for check in report if check["state"] != "ok"]
    return f"{len(report)} checks, warnings: {', '.join(warnings) or 'none'}"


def _tools(installation: Installation, complete: bool) -> str:
    """Call every tool inside the program: `tools --check` itself needs a checkout."""
    saved = installation.file(f"{installation.home}/tools.txt")
    with _loaded_plugin(installation, "tools", _TOOLS_PLUGIN) as folder:
        shutil.copytree(_TOOL_CALLS, folder / "tests" / "smoke", ignore=shutil.ignore_patterns("__pycache__"))
        _give_to_user(installation, folder)
        output = installation.run("tools", "--json")
    if not saved.is_file():
        raise StepError(output[-500:])
    output = saved.read_text("utf-8")
    if " 0 failed" not in output or (complete and "no repository" in output):
        raise StepError(output[-2000:])
    return output.strip().splitlines()[-1]


@contextmanager
def _loaded_plugin(installation: Installation, name: str, source: str) -> Iterator[Path]:
    """Install and enable a plug-in whose only module is `source`; yield its folder, then remove it."""
    data = installation.environment.get("SCRIPTORIUM_DATA", f"{installation.home}/.local/share/scriptorium")
    folder = installation.file(f"{data}/plugins/{name}")
    information = folder / f"smoke_{name}-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / f"smoke_{name}.py").write_text(source)
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: smoke-{name}\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[scriptorium.tools]\n{name} = smoke_{name}:PLUGIN\n")
    _give_to_user(installation, folder)
    _write_settings(installation, {"tools": {"plugins_on": [name]}})
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        _write_settings(installation, {})


def _mcp(installation: Installation, vault: str) -> str:
    pipe = subprocess.PIPE
    process = installation.start("mcp", vault, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
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
        response = ask(3, "tools/call", call)
        if response.get("isError") or "hronometer" not in json.dumps(response):
            raise StepError(f"{response}")
        process.stdin.close()
        if process.wait(30) != 0:
            raise StepError(f"the server ended with {process.returncode}")
        return f"{len(tools)} tools"  # type: ignore[arg-type]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _semantic_search(installation: Installation, vault: str) -> str:
    installation.run("index", "--vectors", vault)
    output = installation.run("--vault", vault, "search", 'similar:"keeping time at sea"')
    if "hronometer" not in output:
        raise StepError(output[:1000])
    return output.strip().splitlines()[0][:80]


def _svg(installation: Installation, vault: str) -> str:
    target = f"{installation.home}/graph.svg"
    installation.run("graph", "export", "--vault", vault, target)
    text = installation.file(target).read_text("utf-8")
    if "<svg" not in text or text.count("<circle") + text.count("<path") < 10:
        raise StepError(text[:500])
    return f"{len(text)} characters"


def _environment(installation: Installation, vault: str) -> str:
    """Let the command line start an editor that records its environment."""
    if sys.platform == "win32":
        return "not on Windows"
    script = f"{installation.home}/editor.sh"
    saved = f"{installation.home}/editor.environment"
    installation.file(script).write_text(f'#!/bin/sh\nenv > "{saved}"\n', "utf-8")
    installation.file(script).chmod(0o755)
    words = ("--vault", vault, "edit_note", "John Harrison", "append", "A line.")
    output = _run_in_terminal(*installation.command(*words, EDITOR=script), answers=(b"e\n", b"n\n"))
    if not installation.file(saved).is_file():
        raise StepError(f"the editor was not started: {output[-1500:].decode('utf-8', 'replace')}")
    lines = installation.file(saved).read_text("utf-8").splitlines()
    leaked = [line for line in lines if line.startswith(("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_"))]
    if leaked:
        raise StepError(f"{leaked}")
    return f"{len(lines)} variables"


def _run_in_terminal(command: list[str], environment: dict[str, str], answers: tuple[bytes, ...]) -> bytes:
    """Run a program in a pseudo-terminal, answer its questions, and return its output."""
    import pty

    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(command[0], command, environment)
    output, pending, handled = b"", list(answers), 0
    deadline = time.monotonic() + _STEP_TIMEOUT_S
    try:
        while time.monotonic() < deadline:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break  # The program has ended.
            if not part:
                break
            output += part
            if pending and b"?] (no)" in output[handled:]:
                handled = len(output)
                os.write(terminal, pending.pop(0))
    finally:
        os.close(terminal)
        os.waitpid(process, 0)
    return output


def installed(out: Path, work: Path) -> None:
    """Install the package in a fresh Debian without Python, and test it, its removal and the AppImages.

    Raises:
        SystemExit: A step failed, a tool is missing, or the user is not root.
    """
    if missing := [tool for tool in _TOOLS if shutil.which(tool) is None]:
        sys.exit(f"smoke --installed needs {', '.join(missing)}")
    if os.geteuid() != 0:
        sys.exit("smoke --installed creates a chroot: run it as root")
    (package,) = out.glob("*.deb")
    report = SmokeReport()
    root = _unpack_debian(work)
    with _mount_system(root), _display() as display:
        installation = _installed_program(root, display, ("/usr/bin/scriptorium",))
        vault = _new_vault(installation, "Sample vault")
        report.step("there is no Python", lambda: _no_python(installation))
        report.step("install the .deb", lambda: _install(root, package))
        report.step("desktop files and licenses", lambda: _validate(root))
        _without_window(report, installation, vault, complete=True)
        report.step(f"scan {_NOTE_COUNT:,} notes in processes, and kill the app", lambda: _scan(installation))
        shot = work / "window.png"
        report.step(
            "open a folder with the desktop entry", lambda: _open_by_desktop_entry(installation, vault, shot)
        )
        report.step("SIGTERM ends the window with 0", lambda: _terminate(installation, vault))
        report.step("time until the window is visible", lambda: _start_times(installation, vault))
        report.step("a plug-in", lambda: _plugin(installation))
        report.step("libraries that load late", lambda: _libraries(root, installation))
        for image in out.glob("*.AppImage"):
            _try_image(report, root, display, image, work)
        report.step("removal leaves notes and data", lambda: _remove(root, installation, vault))
        report.step("install it again", lambda: _install(root, package))
        report.step("another Python's sentence-transformers", lambda: _another_python(root, installation))
    report.end()


def _try_image(report: SmokeReport, root: Path, display: str, image: Path, work: Path) -> None:
    shutil.copy(image, root / "opt" / image.name)
    program = (f"/opt/{image.name}", "--appimage-extract-and-run")
    installation = _installed_program(root, display, program)
    installation.home = f"/home/{_USER}/image"
    installation.file(installation.home).mkdir()
    os.chown(installation.file(installation.home), _UID, _UID)
    vault = _new_vault(installation, "Image vault")
    print(f"-- {image.name}", flush=True)
    _without_window(report, installation, vault, complete=True)
    report.step("libraries that load late", lambda: _libraries(root, installation))
    report.step("SIGTERM ends the window with 0", lambda: _terminate(installation, vault))
    (root / "opt" / image.name).unlink()


def _unpack_debian(work: Path) -> Path:
    """Unpack a fresh Debian; its archive is created once."""
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
def _mount_system(root: Path) -> Iterator[None]:
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
    """Run an X server and yield its name. Programs in the chroot reach it by its abstract socket."""
    read, write = os.pipe()
    server = subprocess.Popen(
        [
            "Xvfb",
            "-displayfd",
            str(write),
            "-screen",
            "0",
            "1400x900x24",
            "-noreset",  # It would restart when its last client disconnects.
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


def _installed_program(root: Path, display: str, program: tuple[str, ...]) -> Installation:
    prefix = ("chroot", f"--userspec={_UID}:{_UID}", str(root))
    return Installation(
        program, f"/home/{_USER}", root, prefix, {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    )


def _new_vault(installation: Installation, name: str) -> str:
    """Copy the sample vault to the user's home folder."""
    vault = f"{installation.home}/{name}"
    shutil.copytree(_SAMPLE, installation.file(vault))
    for path in (installation.file(vault), *installation.file(vault).rglob("*")):
        os.chown(path, _UID, _UID)
    return vault


def _no_python(installation: Installation) -> str:
    output = installation.run("sh", "-c", "command -v python python3 || echo none", plain=True)
    if output.strip() != "none":
        raise StepError(output)
    return ""


def _apt(root: Path, *words: str) -> None:
    result = subprocess.run(
        ["chroot", str(root), "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-y", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise StepError(f"apt-get {' '.join(words)}: {(result.stdout + result.stderr)[-1500:]}")


def _install(root: Path, package: Path) -> str:
    shutil.copy(package, root / "tmp" / package.name)
    _apt(root, "update")
    _apt(root, "install", "--no-install-recommends", f"/tmp/{package.name}")
    (root / "tmp" / package.name).unlink()
    size = sum(path.lstat().st_size for path in (root / "opt" / "scriptorium").rglob("*"))
    return f"{package.stat().st_size / 1024**2:.1f} MiB, {size / 1024**2:.0f} MiB installed"


def _validate(root: Path) -> str:
    entry = root / "usr/share/applications" / f"{APP_ID}.desktop"
    info = root / "usr/share/metainfo" / f"{APP_ID}.metainfo.xml"
    for command in (
        ["desktop-file-validate", str(entry)],
        ["appstreamcli", "validate", "--no-net", str(info)],
    ):
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode or "error" in result.stdout.lower():
            raise StepError(result.stdout + result.stderr)
    icon = next(line for line in entry.read_text().splitlines() if line.startswith("Icon="))[5:]
    if not list((root / "usr/share/icons/hicolor").rglob(f"{icon}.*")):
        raise StepError(f"there is no icon {icon}")
    licenses = root / "opt/scriptorium/_internal/resources/licenses"
    for name in ("LICENSE.txt", "THIRD-PARTY-NOTICES.txt", "QT-LGPL.txt", "LGPL-3.0.txt", "GPL-3.0.txt"):
        if not (licenses / name).is_file():
            raise StepError(f"{name} is not installed")
    return ""


def _scan(installation: Installation) -> str:
    """Index many notes, which starts processes; kill the app and check that they end, then index again."""
    vault = f"{installation.home}/Large vault"
    folder = installation.file(vault)
    folder.mkdir()
    for number in range(_NOTE_COUNT):
        links = " ".join(f"[[Note {other % _NOTE_COUNT}]]" for other in (number + 1, number * 7, number * 31))
        (folder / f"Note {number}.md").write_text(f"# Note {number}\n\n{'Words of a note. ' * 60}\n{links}\n")
    for path in (folder, *folder.iterdir()):
        os.chown(path, _UID, _UID)
    process = installation.start("index", vault, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        workers = _wait_until(
            lambda: _workers(installation.outside), "no process was started to read notes", process
        )
        app = _parent(next(iter(workers)))
        os.kill(app, signal.SIGKILL)
        process.wait(30)
        _wait_until(lambda: not _processes(installation.outside), "processes outlive the app that was killed")
    finally:
        process.kill()
        process.wait()
    output = installation.run("index", vault)
    if f"{_NOTE_COUNT} notes" not in output:
        raise StepError(output)
    return f"{len(workers)} processes"


def _open_by_desktop_entry(installation: Installation, vault: str, shot: Path) -> str:
    entry = f"/usr/share/applications/{APP_ID}.desktop"
    _mark_as_opened(installation, vault)
    # The app inherits the output: a pipe would stay open as long as the app.
    installation.run("sh", "-c", 'gio launch "$0" "$1" >/dev/null 2>&1', entry, vault, plain=True)
    name = Path(vault).name
    window = _wait_until(lambda: _window(installation, name), "no window opened")
    _wait_until(lambda: _colors(installation, shot) > _MIN_COLORS, "the window stays empty")
    kind = (
        _run_on_display(installation, "xprop", "-id", window.split()[0], "WM_CLASS")
        if shutil.which("xprop")
        else ""
    )
    for process in _processes(installation.outside):
        if _parent(process) not in _processes(installation.outside):
            os.kill(process, signal.SIGTERM)
    _wait_until(lambda: not _processes(installation.outside), "the window does not end")
    return f"{_colors_of(shot)} colors in {shot} {kind.strip()}"


def _terminate(installation: Installation, vault: str) -> str:
    _mark_as_opened(installation, vault)
    process = installation.start("open", vault, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        _wait_until(lambda: _window(installation, Path(vault).name), "no window opened", process)
        # The image's own process waits for the program; the desktop ends the program.
        process_ids = [
            process_id
            for process_id in _processes(installation.outside)
            if "open" in _arguments_of(process_id)
        ]
        os.kill(max(process_ids), signal.SIGTERM)
        status = process.wait(60)
        if status != 0:
            assert process.stderr is not None
            raise StepError(f"it ended with {status}: {process.stderr.read()[-1000:]!r}")
        _wait_until(lambda: not _processes(installation.outside), "processes outlive the window")
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
    return ""


def _start_times(installation: Installation, vault: str) -> str:
    """Compare the time until the window is visible with that of a start from source."""
    source = ROOT / ".venv" / "bin" / "scriptorium"
    if not source.exists():
        return "the checkout has no environment to compare with"
    with tempfile.TemporaryDirectory(prefix="scriptorium-source-") as folder:
        vault_copy = Path(folder, "vault")
        shutil.copytree(_SAMPLE, vault_copy)
        source_installation = Installation(
            (str(source),), folder, environment={**installation.environment, "XDG_RUNTIME_DIR": folder}
        )
        _mark_as_opened(source_installation, str(vault_copy))
        times: dict[str, list[float]] = {"installed": [], "source": []}
        for run in range(_START_RUNS + 1):
            for name, tested, root in (
                ("source", source_installation, str(vault_copy)),
                ("installed", installation, vault),
            ):
                seconds = _seconds_to_window(tested, root)
                if run:  # The first run fills the caches.
                    times[name].append(seconds)
    installed_time, source_time = (statistics.median(times[name]) for name in ("installed", "source"))
    words = (
        f"{installed_time:.2f} s installed, {source_time:.2f} s from source, "
        f"ratio {installed_time / source_time:.2f}"
    )
    if installed_time > _MAX_START_RATIO * source_time:
        raise StepError(words)
    return words


def _seconds_to_window(installation: Installation, vault: str) -> float:
    started = time.monotonic()
    process = installation.start("open", vault, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until(
            lambda: _window(installation, Path(vault).name), "no window opened", process, interval_s=0.01
        )
        seconds = time.monotonic() - started
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        return seconds
    finally:
        process.kill()
        process.wait()


def _plugin(installation: Installation) -> str:
    data = installation.file(f"{installation.home}/.local/share/scriptorium/plugins/support")
    shutil.copytree(_PLUGIN / "src", data)
    information = data / "scriptorium_customer_support-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: scriptorium-customer-support\nVersion: 1.0\n"
    )
    (information / "entry_points.txt").write_text(
        "[scriptorium.tools]\ncustomer_support = scriptorium_customer_support:PLUGIN\n"
    )
    if "customer_support" in installation.run("tools", "--json"):
        raise StepError("the plug-in is loaded before it is switched on")
    _write_settings(
        installation, {"tools": {"plugins_on": ["support"], "categories_on": ["customer_support"]}}
    )
    if "customer_support" not in installation.run("tools", "--json"):
        raise StepError("the plug-in is not loaded")
    vault = _new_vault(installation, "Customers")
    note = installation.file(f"{vault}/Ada.md")
    note.write_text("---\ntype: user\nmail: a@b.org\n---\nA person.\n")
    os.chown(note, _UID, _UID)
    output = installation.run("--vault", vault, "user", "find", "--query", "a@b.org")
    if "Ada" not in output:
        raise StepError(output)
    return ""


def _libraries(root: Path, installation: Installation) -> str:
    """Let a plug-in draw a formula and a diagram, read HTML, and find languages and dictionaries."""
    _apt(root, "install", "--no-install-recommends", "libenchant-2-2", "hunspell-en-us")
    saved = installation.file(f"{installation.home}/libraries.json")
    with _loaded_plugin(installation, "libraries", _LIBRARIES_PLUGIN):
        output = installation.run("tools", "--json")
        if not saved.is_file():
            vault = _new_vault(installation, "Libraries")
            raise StepError(installation.run("doctor", "--vault", vault, status=None) + output[-500:])
    output = json.loads(saved.read_text())
    if wrong := [library for library, works in output.items() if not works]:
        raise StepError(f"not working: {', '.join(wrong)}")
    return ", ".join(output)


def _ask(installation: Installation, vault: str) -> str:
    """Ask the built-in agent, with a date in words."""
    output = installation.run("--vault", vault, "ask", "which notes changed since 3 March 2020?")
    if "2020-03-03" not in output or "[[" not in output:
        raise StepError(output[:1000])
    return output.strip().splitlines()[0]


def _another_python(root: Path, installation: Installation) -> str:
    """Compute the vectors in another Python, with a small stand-in for sentence-transformers.

    The worker runs there from the bundle's sources. The real package needs torch, hundreds of megabytes.
    """
    _apt(root, "install", "--no-install-recommends", "python3-numpy")
    modules = installation.file(f"{installation.home}/modules")
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
    script = installation.file(f"{installation.home}/other-python")
    script.write_text(f'#!/bin/sh\nPYTHONPATH={installation.home}/modules exec /usr/bin/python3 "$@"\n')
    script.chmod(0o755)
    _write_settings(
        installation, {"embeddings": {"model": "some-model", "python": f"{installation.home}/other-python"}}
    )
    vault = _new_vault(installation, "Other model")
    installation.run("index", "--vectors", vault)
    output = installation.run("--vault", vault, "search", 'similar:"keeping time at sea"')
    if not output.strip():
        raise StepError("nothing was found")
    _write_settings(installation, {})
    return ""


def _remove(root: Path, installation: Installation, vault: str) -> str:
    _apt(root, "remove", "scriptorium")
    if (root / "opt" / "scriptorium").exists() or (root / "usr/bin/scriptorium").exists():
        raise StepError("the program is still there")
    for path in (f"{vault}/People/John Harrison.md", f"{installation.home}/.local/share/scriptorium"):
        if not installation.file(path).exists():
            raise StepError(f"{path} is gone")
    return ""


def _give_to_user(installation: Installation, folder: Path) -> None:
    """Let the chroot's user own a folder in their home, its contents and the folders above it."""
    if not installation.prefix:
        return
    home = installation.file(installation.home)
    parents = [parent for parent in folder.parents if parent.is_relative_to(home) and parent != home]
    for path in (*parents, folder, *folder.rglob("*")):
        os.chown(path, _UID, _UID)


def _write_settings(installation: Installation, settings: object) -> None:
    folder = installation.file(
        installation.environment.get("SCRIPTORIUM_CONFIG", f"{installation.home}/.config/scriptorium")
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(json.dumps(settings))
    _give_to_user(installation, folder)


def _mark_as_opened(installation: Installation, vault: str) -> None:
    """Add the vault to the list of recent vaults, which open without a question."""
    folder = installation.file(f"{installation.home}/.local/share/scriptorium")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "recent.json").write_text(json.dumps([{"path": vault, "opened": time.time()}]))
    _give_to_user(installation, folder)


def _processes(root: Path) -> list[int]:
    """Return the IDs of the processes whose root is the chroot."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if (entry / "root").readlink() == root:
                    processes.append(int(entry.name))
            except OSError:
                continue
    return processes


def _arguments_of(process: int) -> list[str]:
    try:
        return Path("/proc", str(process), "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _workers(root: Path) -> list[int]:
    return [
        process_id for process_id in _processes(root) if "--multiprocessing-fork" in _arguments_of(process_id)
    ]


def _parent(process: int) -> int:
    try:
        return int(Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _run_on_display(installation: Installation, *command: str) -> str:
    variables = {**os.environ, "DISPLAY": installation.environment["DISPLAY"], "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, env=variables, capture_output=True, text=True, check=False).stdout


def _window(installation: Installation, name: str) -> str:
    """Return the IDs of the visible windows with this vault name, one per line; empty if there are none."""
    return _run_on_display(
        installation, "xdotool", "search", "--onlyvisible", "--name", f"^{name} .*Scriptorium$"
    ).strip()


def _colors(installation: Installation, shot: Path) -> int:
    _run_on_display(installation, "import", "-window", "root", str(shot))
    return _colors_of(shot)


def _colors_of(shot: Path) -> int:
    command = ["convert", str(shot), "-format", "%k", "info:"]
    return int(subprocess.run(command, capture_output=True, text=True, check=False).stdout or 0)


def _wait_until(
    condition: Callable[[], object],
    failure: str,
    process: subprocess.Popen[bytes] | None = None,
    interval_s: float = 0.05,
):  # type: ignore[no-untyped-def]
    """Wait until the condition is true and return its value.

    Raises:
        StepError: It does not become true in time, or the process ends first.
    """
    deadline = time.monotonic() + _STEP_TIMEOUT_S
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise StepError(failure)
        if process is not None and process.poll() is not None:
            raise StepError(f"{failure}: the program ended with {process.returncode}")
        time.sleep(interval_s)
    return result

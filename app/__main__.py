"""Choose the front end: the desktop (default), the command line, or a worker process."""

from __future__ import annotations

import gc
import multiprocessing
import signal
import sys

from app.cli import is_command
from app.launch import EMBEDDING_WORKER, FUNCTION_WORKER


def main(arguments: list[str] | None = None) -> int:
    """Run the front end that the arguments select and return the exit status.

    Each module is imported only when it is chosen: a command must not load Qt, and a worker must load only
    its own code.
    """
    args = sys.argv[1:] if arguments is None else arguments
    if args[:1] == [EMBEDDING_WORKER]:
        from app.embeddings import worker

        return worker.main(args[1:])
    if args[:1] == [FUNCTION_WORKER]:
        from app.processes import function_worker

        return function_worker.main()
    if "mcp" in args:
        # Nothing is open yet, so a client that stops its server during startup gets a normal exit.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if args[:1] != ["open"] and is_command(args):
        # Garbage collection would take up a tenth of a short command's run time.
        gc.disable()
        from app.cli import commands

        return commands.main(args)
    # The window runs the garbage collector itself once it is open.
    gc.disable()
    from app.desktop import application as desktop

    return desktop.main(args[1:] if args[:1] == ["open"] else args)


if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())

"""What tests let a process do that is not this one; another process has to find it, too."""

import os
import signal
import sys
import time
from multiprocessing import current_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


def describe(connection: Connection, *args: Any, **named: Any) -> None:
    main = sys.modules["__main__"]
    connection.send(
        {
            "args": args,
            "named": named,
            "folder": os.getcwd(),
            "path": sys.path,
            "utf8": sys.flags.utf8_mode,
            "threads": os.environ["OMP_NUM_THREADS"],
            "daemon": current_process().daemon,
            "script": getattr(main, "__file__", None),
            "ignores ctrl-C": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
        }
    )


def exit_with(connection: Connection, code: int) -> None:
    os._exit(code)


def touch(connection: Connection, file: Path) -> None:
    file.touch()
    connection.send("touched")


def sleep(connection: Connection) -> None:
    connection.send("sleeping")
    time.sleep(1000)

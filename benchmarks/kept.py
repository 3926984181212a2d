"""Rows of finished trials in a file, so that a stopped benchmark continues where it was."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path("out/benchmarks")
"""Where rows are kept, below the working directory. Remove it after a change of the code."""

Row = dict[str, Any]


class KeptRows:
    """Rows by their names, one line of JSON each."""

    def __init__(self, name: str) -> None:
        """Read what is kept under a name; a line that was cut short is computed again."""
        self._file = FOLDER / f"{name}.jsonl"
        self._rows: dict[str, Row] = {}
        if self._file.exists():
            for line in self._file.read_text().splitlines():
                try:
                    kept = json.loads(line)
                except json.JSONDecodeError:
                    continue
                self._rows[kept["name"]] = kept["row"]

    def row(self, name: str, compute: Callable[[], Row]) -> Row:
        """Return a row, computed and written at once if it is not kept."""
        if name not in self._rows:
            self._rows[name] = compute()
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._file.open("a") as file:
                file.write(json.dumps({"name": name, "row": self._rows[name]}) + "\n")
        return self._rows[name]

"""Machines as JSON files."""

from pathlib import Path

from kinetarium.legs.machine import Machine
from kinetarium.recording.atomic import write_atomic
from kinetarium.recording.plain import from_plain, to_plain
from kinetarium.recording.versioned_json import read_versioned_json, versioned_json

MOST_BYTES = 1_000_000


def save_machine(machine: Machine, path: Path) -> None:
    """Write a machine as JSON, whole or not at all.

    Raises:
        OutputError: If the file cannot be written.
    """
    write_atomic(path, versioned_json(to_plain(machine)))


def load_machine(path: Path) -> Machine:
    """Read a machine.

    Raises:
        PlainDataError: If the file cannot be read or does not say what it should.
        LegsError: If it describes no machine.
    """
    data = read_versioned_json(path, most=MOST_BYTES)
    return from_plain(Machine, data, where=f"machine {str(path)!r}")

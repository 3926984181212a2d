"""What a hostile case is: a file, and the code it must be refused with."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Case:
    name: str
    data: bytes
    code: str


class Change(NamedTuple):
    name: str
    code: str
    old: str
    new: str

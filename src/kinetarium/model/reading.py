"""What the readers share while one robot file is read: findings, assets and the hash."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kinetarium.model.assets import AssetResolver
from kinetarium.model.attributes import AttributeReader
from kinetarium.model.files import read_regular
from kinetarium.model.findings import Code, Findings
from kinetarium.model.markup import Element, parse_xml
from kinetarium.model.robot import Source

if TYPE_CHECKING:
    from hashlib import _Hash

MOST_BYTES = 16 * 2**20
"""The largest robot file that is read; the largest public ones have a tenth of it."""


@dataclass(slots=True)
class Reading:
    """One robot file being read.

    Attributes:
        path: The robot file.
        findings: Collects what the gate has to say.
        assets: Finds meshes and includes inside the allowed roots.
    """

    path: Path
    findings: Findings
    assets: AssetResolver
    _hash: "_Hash" = field(default_factory=sha256)

    @property
    def attributes(self) -> AttributeReader:
        """The strict reader of attributes, bound to the findings."""
        return AttributeReader(self.findings)

    def open_markup(self, path: Path, *, code: Code = Code.UNREADABLE) -> Element:
        """Read and parse an XML file that is part of the robot, and take it into the hash."""
        data = read_regular(path, findings=self.findings, code=code, most=MOST_BYTES)
        self._hash.update(data)
        return parse_xml(data, findings=self.findings)

    def source(self, format: str) -> Source:
        """Say where the model came from, once everything has been read."""
        return Source(self.findings.file, format, self._hash.hexdigest())

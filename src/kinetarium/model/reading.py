"""The shared state while one robot file is read: diagnostics, assets, meshes and the hash."""

from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kinetarium.model.assets import AssetResolver
from kinetarium.model.attributes import AttributeReader
from kinetarium.model.diagnostics import Code, Diagnostics, RobotFileError, read_robot_part
from kinetarium.model.markup import Element, parse_xml
from kinetarium.model.mesh.mesh import mesh_extent
from kinetarium.model.robot import Source
from kinetarium.spatial.arrays import Array

MOST_MESH_BYTES = 128 * 2**20
"""Bytes of all meshes of one robot, OBJ files twice; the largest public ones have 82 MiB."""
MOST_TRIANGLES = 2_000_000
"""Triangles of all meshes of one robot; the largest public one has 750,000."""

if TYPE_CHECKING:
    from hashlib import _Hash

MOST_ROBOT_BYTES = 16 * 2**20
"""The largest robot file that is read, ten times the largest public ones."""


@dataclass(slots=True)
class Reading:
    """One robot file being read.

    Attributes:
        path: The robot file.
        diagnostics: Collects refusals and repairs.
        assets: Resolves meshes and includes within the allowed roots.
        root: Name of the body that is the robot, in a file with several; empty for the only one.
        attributes: The strict reader of attributes, with these diagnostics.
    """

    path: Path
    diagnostics: Diagnostics
    assets: AssetResolver
    root: str = ""
    attributes: AttributeReader = field(init=False)
    _hash: "_Hash" = field(default_factory=sha256)
    _bounds: dict[Path, Array] = field(default_factory=dict)
    _mesh_bytes: int = 0
    _triangles: int = 0

    def __post_init__(self) -> None:
        """Let the reader of attributes report to the same diagnostics."""
        self.attributes = AttributeReader(self.diagnostics)

    def open_markup(self, path: Path, *, code: Code = Code.UNREADABLE) -> Element:
        """Read and parse an XML file that is part of the robot, and add it to the hash."""
        data = read_robot_part(path, diagnostics=self.diagnostics, code=code, most=MOST_ROBOT_BYTES)
        self._hash.update(data)
        return parse_xml(data, diagnostics=self.diagnostics)

    def mesh_bounds(self, path: Path, *, line: int | None) -> Array:
        """Load a mesh that is part of the robot, once even if it is used several times.

        Returns:
            The lowest and the highest coordinates [m], unscaled, shape (2, 3).
        """
        if path not in self._bounds:
            size = 0
            with suppress(OSError):  # an unreadable file is reported when it is loaded
                size = path.stat().st_size
            if path.suffix.lower() == ".obj":
                size *= 2  # the densest format: a point may take eight bytes
            self._mesh_bytes += size
            self._check_size(line)
            try:
                mesh = mesh_extent(path, diagnostics=self.diagnostics, line=line)
            except RobotFileError:
                self._mesh_bytes += 3 * size  # the search for a fault reads the file again
                raise
            self._triangles += mesh.triangles
            self._check_size(line)
            self._bounds[path] = mesh.bounds
        return self._bounds[path]

    def _check_size(self, line: int | None) -> None:
        if self._mesh_bytes > MOST_MESH_BYTES or self._triangles > MOST_TRIANGLES:
            raise self.diagnostics.refusal(
                Code.TOO_LARGE,
                f"the meshes have more than {MOST_MESH_BYTES // 2**20} MiB "
                f"or {MOST_TRIANGLES:,} triangles together",
                remedy="simplify them",
                line=line,
            )

    def source(self, format: str) -> Source:
        """Return the source of the model, after everything has been read."""
        return Source(self.diagnostics.file, format, self._hash.hexdigest())

"""The robot model, its strict readers, its writers and the catalogue."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.model.diagnostics import Allowance as Allowance
    from kinetarium.model.diagnostics import Code as Code
    from kinetarium.model.diagnostics import Refusal as Refusal
    from kinetarium.model.diagnostics import Repair as Repair
    from kinetarium.model.diagnostics import RobotFileError as RobotFileError
    from kinetarium.model.load import CatalogueEntry as CatalogueEntry
    from kinetarium.model.load import CatalogueMesh as CatalogueMesh
    from kinetarium.model.load import Mounting as Mounting
    from kinetarium.model.load import attach as attach
    from kinetarium.model.load import list_robots as list_robots
    from kinetarium.model.load import load_robot as load_robot
    from kinetarium.model.mesh.mesh import load_mesh as load_mesh
    from kinetarium.model.mesh.solids import bounding_box as bounding_box
    from kinetarium.model.mesh.solids import solid_properties as solid_properties
    from kinetarium.model.mesh.solids import triangulate as triangulate
    from kinetarium.model.mjcf.writer import write_mjcf as write_mjcf
    from kinetarium.model.robot import Box as Box
    from kinetarium.model.robot import Capsule as Capsule
    from kinetarium.model.robot import Cylinder as Cylinder
    from kinetarium.model.robot import Geometry as Geometry
    from kinetarium.model.robot import Inertia as Inertia
    from kinetarium.model.robot import Joint as Joint
    from kinetarium.model.robot import JointLimits as JointLimits
    from kinetarium.model.robot import JointType as JointType
    from kinetarium.model.robot import Link as Link
    from kinetarium.model.robot import Loop as Loop
    from kinetarium.model.robot import LoopKind as LoopKind
    from kinetarium.model.robot import MeshData as MeshData
    from kinetarium.model.robot import MeshFile as MeshFile
    from kinetarium.model.robot import Mimic as Mimic
    from kinetarium.model.robot import RobotModel as RobotModel
    from kinetarium.model.robot import Shape as Shape
    from kinetarium.model.robot import Source as Source
    from kinetarium.model.robot import Sphere as Sphere
    from kinetarium.model.robot import TriangleMesh as TriangleMesh
    from kinetarium.model.urdf.writer import write_urdf as write_urdf
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)

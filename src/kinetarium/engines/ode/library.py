"""The ODE shared library: found, checked and declared for ctypes.

ODE has no Python package of its own. Its C interface comes with the system
(libode) or inside the wheels of other packages. A library serves if it computes
in double precision, knows meshes and finds the contacts of two cylinders, which
some builds silently do not.
"""

import re
from collections.abc import Sequence
from ctypes import (
    CDLL,
    CFUNCTYPE,
    byref,
    c_char_p,
    c_double,
    c_int,
    c_uint,
    c_ulong,
    c_void_p,
)
from ctypes.util import find_library
from functools import cache
from importlib.metadata import version as package_version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinetarium.spatial.arrays import Array

CONTACT_SLOTS = 31
"""Doubles in a dContact: 15 of surface (an int in the first), 12 of geometry, 4 of direction."""
GEOMETRY_SLOT = 15
"""Where the geometry begins: position (4), normal (4), depth, two geoms, two sides."""
FEEDBACK_SLOTS = 16
"""Doubles in a dJointFeedback: f1, t1, f2, t2 of four each, the fourth unused."""
MASS_SLOTS = 17
"""Doubles in a dMass: mass, centre (4), moment (3 rows of 4)."""

_WHEELS = {"dartpy": "dartpy.libs/libode-*.so*", "panda3d": "panda3d*/libode*.so*"}
"""Packages that bring the library along, and where beside them it lies."""
_MADE_IN = re.compile(rb"[/\\]ode-(\d+(?:\.\d+)+)[/\\]")
"""Builds keep the path of their sources in assertions, the only place that has the version."""

_P, _I, _U, _D, _S, _N = c_void_p, c_int, c_uint, c_double, c_char_p, None
_D3 = (_D, _D, _D)
_SIGNATURES: dict[tuple[Any, ...], str] = {
    # (result, arguments ...): names
    (_S,): "dGetConfiguration",
    (_I, _U): "dInitODE2 dAllocateODEDataForThread",
    (_N, _P): (
        "dSetMessageHandler dWorldDestroy dJointGroupEmpty dJointGroupDestroy dJointSetFixed "
        "dGeomTriMeshDataDestroy dGeomDestroy"
    ),
    (_N, c_ulong): "dRandSetSeed",
    (c_ulong,): "dRandGetSeed",
    (_P,): "dWorldCreate dGeomTriMeshDataCreate",
    (_N, _P, *_D3): (
        "dWorldSetGravity dBodySetPosition dBodySetLinearVel dBodySetAngularVel "
        "dBodyAddForce dBodyAddTorque dJointSetBallAnchor dJointSetHingeAnchor "
        "dJointSetHingeAxis dJointSetSliderAxis dGeomSetPosition dGeomSetOffsetPosition"
    ),
    (_N, _P, _P): (
        "dWorldGetGravity dBodySetMass dBodyGetMass dBodySetQuaternion dJointSetFeedback "
        "dJointGetHingeAxis dJointGetSliderAxis dJointGetHingeAnchor dJointGetHingeAnchor2 "
        "dJointGetBallAnchor dJointGetBallAnchor2 dGeomSetBody dGeomSetRotation "
        "dGeomSetOffsetRotation"
    ),
    (_N, _P, _D): (
        "dWorldSetERP dWorldSetCFM dWorldSetContactMaxCorrectingVel dWorldSetQuickStepW "
        "dJointAddHingeTorque dJointAddSliderForce"
    ),
    (_N, _P, _I): (
        "dWorldSetQuickStepNumIterations dWorldSetAutoDisableFlag dBodySetFiniteRotationMode "
        "dJointSetAMotorNumAxes dJointSetLMotorNumAxes"
    ),
    (_N, _P, _D, _D): "dWorldSetDamping",
    (_I, _P, _D): "dWorldStep dWorldQuickStep",
    (_N, _P, *[_D] * 10): "dMassSetParameters",
    (_P, _P): (
        "dBodyCreate dBodyGetPosition dBodyGetRotation dBodyGetQuaternion dBodyGetLinearVel "
        "dBodyGetAngularVel dBodyGetForce dBodyGetTorque"
    ),
    (_N, _P, _P, _P): "dJointAttach",
    (_P, _I): "dJointGroupCreate",
    (_D, _P): "dJointGetHingeAngle dJointGetSliderPosition",
    (_P, _P, _P): (
        "dJointCreateHinge dJointCreateSlider dJointCreateFixed dJointCreateBall "
        "dJointCreateAMotor dJointCreateLMotor"
    ),
    (_P, _P, _P, _P): "dJointCreateContact",
    (_N, _P, _I, _D): (
        "dJointSetHingeParam dJointSetSliderParam dJointSetAMotorParam dJointSetLMotorParam"
    ),
    (_D, _P, _I): (
        "dJointGetHingeParam dJointGetSliderParam dJointGetAMotorParam dJointGetLMotorParam"
    ),
    (_N, _P, _I, _I, *_D3): "dJointSetAMotorAxis dJointSetLMotorAxis",
    (_P, _P, *_D3): "dCreateBox",
    (_P, _P, _D): "dCreateSphere",
    (_P, _P, _D, _D): "dCreateCapsule dCreateCylinder",
    (_P, _P, *_D3, _D): "dCreatePlane",
    (_P, _P, _P, _P, _P, _P): "dCreateTriMesh",
    (_N, _P, _P, _I, _I, _P, _I, _I): "dGeomTriMeshDataBuildDouble",
    (_I, _P, _P, _I, _P, _I): "dCollide",
}

warnings: list[str] = []
"""What ODE has complained about in this process, such as a solver that did not converge."""


def _warn(number: int, text: bytes, arguments: int) -> None:
    warnings.append(text.decode("utf-8", "replace"))


_handler = CFUNCTYPE(None, c_int, c_char_p, c_void_p)(_warn)
"""Kept here, for ODE does not keep it alive."""


@cache
def load() -> CDLL:
    """Load the first library that serves: the system's, then those inside wheels.

    Raises:
        ImportError: If no library serves, with the reasons.
    """
    refused = []
    for path in _candidates():
        try:
            library = _declared(path)
        except (OSError, AttributeError) as error:
            refused.append(f"{path} does not load ({error})")
            continue
        if lack := _lack(library):
            refused.append(f"{path} {lack}")
            continue
        library.dSetMessageHandler(_handler)
        return library
    raise ImportError("no ODE library that serves: " + ("; ".join(refused) or "none was found"))


@cache
def version() -> str:
    """Return the version of the library, and of the package that brings it along.

    It is that of its binary interface if the library does not tell its own.
    """
    path = Path(load()._name)
    found = _MADE_IN.search(path.read_bytes()) if path.is_file() else None
    number = found[1].decode() if found else path.name.partition(".so.")[2] or "unknown"
    wheel = _in_wheels().get(str(path))
    return f"{number}, {wheel} {package_version(wheel)}" if wheel else number


def _candidates() -> list[str]:
    system = find_library("ode")
    return [*([system] if system else []), *_in_wheels()]


def _in_wheels() -> dict[str, str]:
    """Return the libraries that packages bring along, each with its package."""
    found: dict[str, str] = {}
    for package, pattern in _WHEELS.items():
        spec = find_spec(package)
        if spec is not None and spec.origin is not None:
            folder = Path(spec.origin).parent
            folder = folder.parent if spec.submodule_search_locations else folder
            found |= {str(path): package for path in sorted(folder.glob(pattern))}
    return found


def _declared(path: str) -> CDLL:
    library = CDLL(path)
    for (result, *arguments), names in _SIGNATURES.items():
        for name in names.split():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    return library


def _lack(library: CDLL) -> str:
    """Return what a library lacks; empty if it is suitable."""
    configuration = library.dGetConfiguration().decode().split()
    if "ODE_double_precision" not in configuration:
        return "computes in single precision"
    if "ODE_EXT_trimesh" not in configuration:
        return "is built without meshes"
    library.dInitODE2(0)
    library.dAllocateODEDataForThread(0xFFFFFFFF)
    cylinders = [library.dCreateCylinder(None, 1.0, 1.0) for _ in range(2)]
    library.dGeomSetPosition(cylinders[1], 0.0, 0.0, 0.9)
    contact = (c_double * CONTACT_SLOTS)()
    found = library.dCollide(*cylinders, 1, byref(contact), 8 * CONTACT_SLOTS)
    for cylinder in cylinders:
        library.dGeomDestroy(cylinder)
    return "" if found else "does not find the contacts of two cylinders"


POSITION, QUATERNION, ROTATION = slice(0, 3), slice(3, 7), slice(7, 16)
LINEAR, ANGULAR, VELOCITY = slice(16, 19), slice(19, 22), slice(16, 22)
POSE = slice(0, 7)
NUMBERS = 22
"""What is known of a body: position, quaternion, rotation by rows, velocities."""


class _Stretch:
    """A stretch of memory as NumPy's array interface describes it."""

    def __init__(self, address: int, count: int) -> None:
        self.__array_interface__ = {
            "data": (address, False), "shape": (count,), "typestr": "<f8", "version": 3,
        }  # fmt: skip


class BodyMemory:
    """Positions, rotations, velocities and pending forces of n bodies.

    Attributes:
        now: The state when it was last read, shape (22, n + 1): a row for each number, by the
            slices of this module, a column for each body and the last for the world.
        before: The state at the start of the last step, likewise.
        both: `before` and `now` in one array, shape (2 * 22 * (n + 1),).
    """

    def __init__(self, library: CDLL, handles: Sequence[int]) -> None:
        """Find the numbers of the bodies of some handles."""
        state = [
            (library.dBodyGetPosition, [0, 1, 2]),
            (library.dBodyGetQuaternion, [0, 1, 2, 3]),
            (library.dBodyGetRotation, [0, 1, 2, 4, 5, 6, 8, 9, 10]),  # rows padded to four
            (library.dBodyGetLinearVel, [0, 1, 2]),
            (library.dBodyGetAngularVel, [0, 1, 2]),
        ]
        force = [(library.dBodyGetForce, [0, 1, 2]), (library.dBodyGetTorque, [0, 1, 2])]
        addresses = [
            [
                [address(handle) + 8 * offset for address, offsets in numbers for offset in offsets]
                for handle in handles
            ]
            for numbers in (state, force)
        ]
        state_addresses = np.array(addresses[0], dtype=np.int64).reshape(-1, NUMBERS).T
        force_addresses = np.array(addresses[1], dtype=np.int64).reshape(-1, 6)
        both = np.concatenate([state_addresses.ravel(), force_addresses.ravel()])
        first = int(both.min(initial=2**62))
        count = (int(both.max(initial=first)) - first) // 8 + 1
        self._numbers: Array = np.asarray(_Stretch(first, count)) if len(handles) else np.zeros(1)
        self._state: NDArray[np.int64] = (state_addresses - first) // 8
        self._force: NDArray[np.int64] = (force_addresses - first) // 8
        states = np.zeros((2, NUMBERS, len(handles) + 1))
        states[:, QUATERNION, -1] = (1.0, 0.0, 0.0, 0.0)
        states[:, ROTATION, -1] = np.eye(3).ravel()
        self.both = states.reshape(-1)
        self.before, self.now = states
        self._moving = self.now[:, :-1]

    def read(self) -> None:
        """Read the state into `now`."""
        self._moving[...] = self._numbers[self._state]

    def begin_step(self) -> None:
        """Keep the present state as that at the start of a step."""
        self.before[...] = self.now

    def go_back(self) -> None:
        """Put the bodies back to the start of the step, to the last bit."""
        self.now[...] = self.before
        self._numbers[self._state] = self._moving

    def save(self) -> Array:
        """Copy both states."""
        return self.both.copy()

    def restore(self, saved: Array) -> None:
        """Put the bodies back to saved states, to the last bit."""
        self.both[...] = saved
        self._numbers[self._state] = self._moving

    def rotation(self, body: int) -> Array:
        """Return the present rotation of a body, shape (3, 3)."""
        return self.now[ROTATION, body].reshape(3, 3)

    def forces(self) -> Array:
        """Copy the forces and torques that wait for the next step [N, N m], shape (n, 6)."""
        return np.asarray(self._numbers[self._force])

    def set_forces(self, forces: Array) -> None:
        """Replace the forces and torques that wait for the next step [N, N m], shape (n, 6)."""
        self._numbers[self._force] = forces

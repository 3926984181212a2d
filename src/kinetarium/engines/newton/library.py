"""Newton, Warp and MuJoCo without their messages, and the memory of SolverMuJoCo's two backends."""

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import warp

from kinetarium.engines.base.engine import quiet
from kinetarium.engines.newton.options import NewtonCone, NewtonOptions, NewtonSolver
from kinetarium.spatial.arrays import Array
from kinetarium.spatial.rotation import quaternion_from_rotation


class _Progress:
    """Says that kernels are compiled, on a terminal how many; drops all else that Warp says."""

    def __init__(self) -> None:
        self.compiled = self._ended = 0

    def debug(self, message: str) -> None:
        """Drop it."""

    def info(self, message: str) -> None:
        """Count a module that had to be compiled; loading one takes no time."""
        if "(compiled)" not in message:
            return
        self.compiled += 1
        text = "kinetarium: Newton compiles kernels (a minute or two the first time)"
        if sys.stderr.isatty():
            print(f"\r{text}: {self.compiled}", end="", file=sys.stderr, flush=True)
        elif self.compiled == 1:
            print(text, file=sys.stderr, flush=True)

    def warning(self, message: str, category: Any = None, stacklevel: int = 1) -> None:
        """Drop it."""

    def error(self, message: str) -> None:
        """Drop it: what is wrong is also raised."""

    def end(self) -> None:
        """Leave the terminal's line."""
        if self.compiled > self._ended and sys.stderr.isatty():
            print(file=sys.stderr, flush=True)
        self._ended = self.compiled


_progress = _Progress()
warp.set_logger(_progress)
with quiet(), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of versions: the extra names those that work together
    warp.init()
    import mujoco_warp as mujoco_warp
    import newton as newton

    mujoco, _ = newton.solvers.SolverMuJoCo.import_mujoco()


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Say on the standard error stream that kernels are compiled, if any are."""
    try:
        yield
    finally:
        _progress.end()


def transform(X: Array) -> Any:
    """Return a homogeneous transform, shape (4, 4), as Warp's."""
    w, x, y, z = quaternion_from_rotation(X[:3, :3]).tolist()
    return warp.transform(warp.vec3(*X[:3, 3].tolist()), warp.quat(x, y, z, w))


Launch = Callable[[Any], None]
"""Has the solver make a step, with observables of its own kind to be filled, or None."""


class ContactPoints(NamedTuple):
    """The contacts of the last step, n of them.

    Attributes:
        geoms: The two geoms of each, shape (n, 2).
        frames: Normal and two tangents, in rows, shape (n, 3, 3).
        points: Where they are [m], shape (n, 3).
        depths: How deep [m], shape (n,).
        forces: Along normal and tangents, on the second geom [N], shape (n, 3).
    """

    geoms: Any
    frames: Array
    points: Array
    depths: Array
    forces: Array


class Backend(ABC):
    """The memory of a solver as views, and its step.

    Attributes:
        qpos: Positions, shape (nq,).
        qvel: Velocities, shape (nv,).
        warm_start: Accelerations from which the constraint solver starts, shape (nv,).
        xpos: Positions of the bodies in the last step [m], shape (bodies, 3).
        xipos: Positions of their centres of mass [m], shape (bodies, 3).
        xmat: Their rotations, shape (bodies, 3, 3).
        targets: Commands of the servos, shape (nu,).
        efforts: Their forces in the last step [N m or N], shape (nu,).
        ranges: Limits of these, which can be changed, shape (nu, 2).
        overflow: Greater than zero where contacts were left out for lack of room, shape (1,).
    """

    qpos: Any
    qvel: Any
    warm_start: Any
    xpos: Any
    xipos: Any
    xmat: Any
    targets: Any
    efforts: Any
    ranges: Any
    overflow: Any

    @property
    @abstractmethod
    def iterations(self) -> int:
        """Iterations of the constraint solver in the last step."""

    @abstractmethod
    def step(self) -> None:
        """Make a step."""

    @abstractmethod
    def place(self) -> None:
        """Move the bodies to where the positions have them."""

    @abstractmethod
    def contacts(self) -> ContactPoints:
        """Return the contacts of the last step."""

    @abstractmethod
    def parent_wrench(self, body: int, *, newton_body: int) -> tuple[Array, Array]:
        """Return force and moment of the parent on a body, world axes at its origin [N, N m]."""


def open_backend(solver: Any, options: NewtonOptions, *, launch: Launch, sensors: bool) -> Backend:
    """Return the memory of a solver.

    Args:
        launch: Makes a step of it.
        sensors: Whether wrenches of parents are asked for.
    """
    if options.solver is NewtonSolver.MUJOCO_C:
        return _Native(solver, launch=launch)
    elliptic = options.cone is NewtonCone.ELLIPTIC
    return _Recorded(solver, launch=launch, elliptic=elliptic, sensors=sensors)


class _Recorded(Backend):
    """Kernels of Warp, in single precision.

    A step is about a hundred kernels. They are recorded once and played back, for launching
    them one by one from Python takes many times as long.
    """

    def __init__(self, solver: Any, *, launch: Launch, elliptic: bool, sensors: bool) -> None:
        data, self._elliptic = solver.mjw_data, elliptic
        self._data = data
        # Views of Warp's own memory, which stays where it is.
        self.qpos, self.qvel = data.qpos.numpy()[0], data.qvel.numpy()[0]
        self.warm_start, self.overflow = data.qacc_warmstart.numpy()[0], data.overflow.numpy()
        self.xpos, self.xipos = data.xpos.numpy()[0], data.xipos.numpy()[0]
        self.xmat = data.xmat.numpy()[0].reshape(-1, 3, 3)
        self.targets, self.efforts = data.ctrl.numpy()[0], data.actuator_force.numpy()[0]
        self.ranges = solver.mjw_model.actuator_forcerange.numpy()[0]
        observables = None
        if sensors:
            kind = newton.solvers.SolverBase.ObservableKind.BODY_PARENT_F
            observables = solver.observables({kind})
            self._parent_f = observables.body_parent_f.numpy()
        self._step = _recorded(lambda: launch(observables))
        self._place = _recorded(lambda: mujoco_warp.kinematics(solver.mjw_model, data))
        self.overflow[:] = 0

    @property
    def iterations(self) -> int:
        return int(self._data.solver_niter.numpy()[0])

    def step(self) -> None:
        warp.capture_launch(self._step)

    def place(self) -> None:
        warp.capture_launch(self._place)

    def contacts(self) -> ContactPoints:
        contact, n = self._data.contact, int(self._data.nacon.numpy()[0])
        return ContactPoints(
            contact.geom.numpy()[:n],
            contact.frame.numpy()[:n].astype(np.float64),
            contact.pos.numpy()[:n].astype(np.float64),
            -contact.dist.numpy()[:n].astype(np.float64),
            self._forces(n),
        )

    def _forces(self, n: int) -> Array:
        """Return the forces of n contacts along their normals and tangents, shape (n, 3)."""
        contact = self._data.contact
        dims = contact.dim.numpy()[:n, np.newaxis]
        rows = np.pad(contact.efc_address.numpy()[:n], ((0, 0), (0, 4)), constant_values=-1)
        used = dims if self._elliptic else np.maximum(2 * (dims - 1), 1)
        rows = np.where(np.arange(rows.shape[1]) < used, rows, -1)
        efforts: Array = np.append(self._data.efc.force.numpy()[0].astype(np.float64), 0.0)[rows]
        if self._elliptic:
            return efforts[:, :3]
        # The edges of a pyramid lie to both sides of the normal, by the friction.
        tangents = (efforts[:, :4:2] - efforts[:, 1:4:2]) * contact.friction.numpy()[:n, :2]
        return np.column_stack([efforts.sum(axis=1), np.where(dims > 1, tangents, 0.0)])

    def parent_wrench(self, body: int, *, newton_body: int) -> tuple[Array, Array]:
        # Newton has it at the body's centre of mass.
        f, m = np.split(self._parent_f[newton_body].astype(np.float64), 2)
        arm = (self.xipos[body] - self.xpos[body]).astype(np.float64)
        return f, m + np.cross(arm, f)


class _Native(Backend):
    """MuJoCo's C library: states in double precision, the model and commands in single."""

    def __init__(self, solver: Any, *, launch: Launch) -> None:
        self._model, data, self._launch = solver.mj_model, solver.mj_data, launch
        self._data = data
        log = mujoco.MjLogConfig.get()
        log.logto_file = log.logto_console = False  # not into the user's folder
        log.set()
        # A reset would hide that the numbers have gone.
        self._model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        self.qpos, self.qvel, self.warm_start = data.qpos, data.qvel, data.qacc_warmstart
        self.xpos, self.xipos, self.xmat = data.xpos, data.xipos, data.xmat.reshape(-1, 3, 3)
        self.targets, self.efforts = data.ctrl, data.actuator_force
        self.ranges, self.overflow = self._model.actuator_forcerange, np.zeros(1)
        launch(None)  # so that kernels are compiled

    @property
    def iterations(self) -> int:
        return int(self._data.solver_niter.max())

    def step(self) -> None:
        self._launch(None)

    def place(self) -> None:
        mujoco.mj_kinematics(self._model, self._data)

    def contacts(self) -> ContactPoints:
        contact, n = self._data.contact, self._data.ncon
        forces = np.zeros((n, 6))
        for i in range(n):
            mujoco.mj_contactForce(self._model, self._data, i, forces[i])
        return ContactPoints(
            contact.geom.copy(),
            contact.frame.reshape(-1, 3, 3).copy(),
            contact.pos.copy(),
            -contact.dist,
            forces[:, :3],
        )

    def parent_wrench(self, body: int, *, newton_body: int) -> tuple[Array, Array]:
        # MuJoCo has moment and force at the centre of mass of the whole tree.
        data = self._data
        mujoco.mj_rnePostConstraint(self._model, data)
        m, f = np.split(data.cfrc_int[body], 2)
        return f, m + np.cross(data.subtree_com[self._model.body_rootid[body]] - self.xpos[body], f)


def _recorded(launch: Callable[[], None]) -> Any:
    """Run kernels once, so that they are compiled, and return a recording of them."""
    launch()
    with warp.ScopedCapture(device="cpu") as capture:
        launch()
    return capture.graph

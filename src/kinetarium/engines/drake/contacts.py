"""Drake's contact results as contacts between solids."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kinetarium.engines.drake.build import DrakeWorld
from kinetarium.engines.drake.library import plants, spatial
from kinetarium.engines.protocol import Contacts
from kinetarium.spatial.arrays import Array

_Row = tuple[tuple[int, int], Array, Array, float, Array]


def read_contacts(results: Any, solids: Mapping[Any, int], *, query: Any) -> Contacts:
    """Return Drake's contacts, with normal and friction forces.

    Args:
        results: What Drake found.
        solids: The solid of each geometry.
        query: The scene graph's answers at the same state.
    """
    points = range(results.num_point_pair_contacts())
    surfaces = range(results.num_hydroelastic_contacts())
    rows = [_at_point(results.point_pair_contact_info(i), solids) for i in points]
    if surfaces:
        # Drake's surfaces do not say how deep they lie.
        pairs = query.ComputePointPairPenetration()
        depths = {frozenset((pair.id_A, pair.id_B)): pair.depth for pair in pairs}
        rows += [
            _over_surface(results.hydroelastic_contact_info(i), solids, depths) for i in surfaces
        ]
    return _gathered(rows)


def _at_point(info: Any, solids: Mapping[Any, int]) -> _Row:
    pair = info.point_pair()
    return (
        (solids[pair.id_A], solids[pair.id_B]),
        info.contact_point(),
        pair.nhat_BA_W,
        pair.depth,
        -info.contact_force(),
    )


def _over_surface(
    info: Any, solids: Mapping[Any, int], depths: Mapping[frozenset[Any], float]
) -> _Row:
    """Return a surface as one contact at its centre of pressure, where no moment tips it."""
    surface, F = info.contact_surface(), info.F_Ac_W()
    faces = range(surface.num_faces())
    areas = np.array([surface.area(i) for i in faces])
    normal = areas @ np.array([surface.face_normal(i) for i in faces])
    normal /= np.linalg.norm(normal)
    force, moment = F.translational(), F.rotational()
    push = float(normal @ force)
    point = surface.centroid()
    if push > 0:
        point = point + np.cross(normal, moment) / push
    ids = surface.id_M(), surface.id_N()
    depth = depths.get(frozenset(ids), 0.0)
    return (solids[ids[0]], solids[ids[1]]), point, normal, depth, force


def _gathered(rows: list[_Row]) -> Contacts:
    pairs, points, normals, depths, forces = zip(*rows, strict=True) if rows else ((),) * 5
    return Contacts(
        solids=np.array(pairs, dtype=np.int32).reshape(-1, 2),
        points=np.array(points, dtype=np.float64).reshape(-1, 3),
        normals=np.array(normals, dtype=np.float64).reshape(-1, 3),
        depths=np.array(depths, dtype=np.float64),
        forces=np.array(forces, dtype=np.float64).reshape(-1, 3),
    )


BodyWrench = tuple[Any, Array]
"""A body, and a wrench [f; m] on it in world axes at its origin."""

_ORIGIN = np.zeros(3)


class StepContext:
    """A state with its inputs, from which Drake computes the next state.

    Drake keeps what it has computed for as long as nothing changes. A run
    therefore goes from one context to another and back: the one it left still
    knows the contacts and joint forces of the step.

    Attributes:
        context: The plant's context.
        wrenches: The wrenches from outside.
    """

    def __init__(self, world: DrakeWorld) -> None:
        """Make a context of a world, at Drake's own default state."""
        plant = world.plant
        self._world, self._plant, self._drives = world, plant, world.drives
        self._root = world.diagram.CreateDefaultContext()
        self.context = plant.GetMyMutableContextFromRoot(self._root)
        self._update = plant.EvalUniquePeriodicDiscreteUpdate
        self._efforts = np.zeros(self._drives.count)
        self._actuation = plant.get_actuation_input_port().FixValue(self.context, self._efforts)
        self._desired = [
            (
                servos,
                servos.relaxed.copy(),
                plant.get_desired_state_input_port(servos.instance).FixValue(
                    self.context, servos.relaxed
                ),
            )
            for servos in self._drives.servos
        ]
        self._forces = plant.get_applied_spatial_force_input_port()
        self.push(())

    def place(self, x: Array) -> None:
        """Set the state [q; v]."""
        self.context.SetDiscreteState(x)

    def command(self, command: Array) -> None:
        """Set the commands, in the order of the layout; torques are cut off at their limit."""
        drives = self._drives
        if len(drives.torques):
            limit = drives.efforts
            self._efforts[drives.inputs] = np.minimum(
                np.maximum(command[drives.torques], -limit), limit
            )
            self._actuation.GetMutableData().get_mutable_value().SetFromVector(self._efforts)
        for servos, desired, port in self._desired:
            desired[servos.rows] = command[servos.commands]
            port.GetMutableData().get_mutable_value().SetFromVector(desired)

    def push(self, wrenches: Sequence[BodyWrench]) -> None:
        """Set the wrenches from outside."""
        self.wrenches = wrenches
        forces = []
        for body, F_W in wrenches:
            force = plants.ExternallyAppliedSpatialForce()
            force.body_index = body.index()
            force.p_BoBq_B = _ORIGIN
            force.F_Bq_W = spatial.SpatialForce(tau=F_W[3:], f=F_W[:3])
            forces.append(force)
        self._forces.FixValue(self.context, forces)

    def following(self) -> Array:
        """Return the state [q; v] one time step later."""
        x: Array = self._update(self.context).value().copy()  # Drake's own memory
        return x

    def contacts(self) -> Contacts:
        """Return the contacts of the step that begins here."""
        return read_contacts(
            self._plant.get_contact_results_output_port().Eval(self.context),
            self._world.solids,
            query=self._plant.get_geometry_query_input_port().Eval(self.context),
        )

    def reaction(self, joint: Any) -> Array:
        """Return the wrench [f; m] of a joint on its child, in the child's frame at its origin."""
        F = self._plant.get_reaction_forces_output_port().Eval(self.context)[int(joint.index())]
        return np.concatenate([F.translational(), F.rotational()])

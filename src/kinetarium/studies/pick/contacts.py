"""ContactsProbe: what a robot touches, and how much of its friction the weight in its hand takes.

A finger presses on an object with the normal force N = sum N_i. Its contacts bear a force f in
their plane and a moment m about their common axis for certain if

    f + m / r <= mu N,   r = sum N_i r_i / N

with the distances r_i of the contacts from their centre of pressure: contact i may then bear
f N_i / N and, across its distance, m N_i / (N r), which is at most mu N_i together. Each of two
fingers bears half of the weight. An object that is gripped beside its middle turns long before it
slides.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kinetarium.engines.protocol import Simulation
from kinetarium.scene.tables import object_name
from kinetarium.spatial.arrays import Array
from kinetarium.studies.pick.robot import ROBOT

SIDES = ("first", "second")
"""The sides of the grip, in names of channels."""
MOST_LOAD = 1e3
"""Greatest load of a grip that is recorded [-]: contacts at one point bear no moment at all."""


@dataclass(frozen=True)
class ContactsProbe:
    """Reads what the robot touches, and how its fingers press on objects.

    Attributes:
        fingers: The links of each of two fingers.
        weights: Weight of each object [N].
        friction: Friction coefficient of fingers and objects [-].
    """

    fingers: tuple[tuple[str, ...], tuple[str, ...]]
    weights: tuple[float, ...]
    friction: float

    name: ClassVar[str] = "contacts"
    unit: ClassVar[str] = "N, 1, N, N, 1"
    columns: ClassVar[tuple[str, ...]] = ("touch", "number", *SIDES, "load")

    def read(self, simulation: Simulation) -> Array:
        """Return forces, number of contacts and load of the grip, shape (5,).

        Force on, and number of contacts with, everything but the ground and objects at the
        fingers; the force of each finger on objects; and the greater `friction_load` of the two
        fingers, 0 unless both press on an object.
        """
        layout = simulation.layout
        own, allowed, pressing = _kinds(layout.solids, self.fingers, len(self.weights))
        contacts = simulation.contacts()
        a, b = contacts.solids.reshape(-1, 2).T
        forces = np.abs(np.vecdot(contacts.forces, contacts.normals))
        touched = (own[a] != own[b]) & ~allowed[a, b]
        grips = [pressing[i][a, b] for i in range(2)]
        sides = [forces[grip].sum() for grip in grips]
        load = 0.0
        if min(sides) > 0:
            first = int(np.flatnonzero(grips[0])[0])
            other = int(b[first] if own[a[first]] else a[first])
            held = next(
                i for i in range(len(self.weights)) if layout.solids[other] == object_name(i)
            )
            center = simulation.state().poses[layout.floating.index(object_name(held)), :3]
            load = max(
                friction_load(
                    contacts.points[grip],
                    contacts.normals[grip],
                    forces=forces[grip],
                    weight=self.weights[held] / 2,
                    center=center,
                    friction=self.friction,
                )
                for grip in grips
            )
        return np.array([forces[touched].sum(), float(touched.sum()), *sides, load])


def friction_load(
    points: Array, normals: Array, *, forces: Array, weight: float, center: Array, friction: float
) -> float:
    """Return the share of Coulomb's limit that a weight takes at the contacts of a finger [-].

    Args:
        points: The contacts in the world [m], shape (n, 3).
        normals: Their normals, of either sign, shape (n, 3).
        forces: Normal forces [N], shape (n,).
        weight: What the finger bears [N].
        center: Centre of mass of the object in the world [m], shape (3,).
        friction: Friction coefficient [-].
    """
    pressed = float(forces.sum())
    if pressed <= 0 or friction <= 0:
        return MOST_LOAD
    along = normals * np.where(normals @ normals[int(np.argmax(forces))] < 0, -1.0, 1.0)[:, None]
    axis = forces @ along
    axis /= np.linalg.norm(axis)
    middle = forces @ points / pressed
    levers = np.linalg.norm(np.cross(points - middle, axis), axis=1)
    lever = float(forces @ levers) / pressed
    aside = weight * float(np.hypot(axis[0], axis[1]))
    moment = abs(weight * float(np.cross(center - middle, (0.0, 0.0, -1.0)) @ axis))
    turning = moment / lever if lever > 0 else (inf if moment > 0 else 0.0)
    return min((aside + turning) / (friction * pressed), MOST_LOAD)


@lru_cache(maxsize=8)
def _kinds(
    solids: tuple[str, ...], fingers: tuple[tuple[str, ...], ...], objects: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the robot's solids, pairs that may be in contact, and finger and object by side."""
    own = np.array([name.startswith(f"{ROBOT}/") for name in solids])
    pressing = np.zeros((len(fingers), len(solids), len(solids)), dtype=np.bool_)
    held = [solids.index(object_name(i)) for i in range(objects)]
    for side, links in enumerate(fingers):
        for i in (solids.index(f"{ROBOT}/{link}") for link in links):
            pressing[side, i, held] = pressing[side, held, i] = True
    allowed = np.logical_or.reduce(pressing)
    ground = solids.index("ground")
    allowed[ground] = allowed[:, ground] = True
    return own, allowed, pressing

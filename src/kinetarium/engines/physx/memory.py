"""Where the state of a scene lies in the numbers that PhysX packs it into."""

from dataclasses import dataclass

from kinetarium.engines.physx.parts import Parts
from kinetarium.engines.physx.world import World

_BODY = 13
"""Numbers of a body or root link: quaternion wxyz, position, velocity of the centre, rate."""


@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Indices into the packed state.

    SAPIEN packs the free bodies in turn and then the robots: root, positions,
    speeds, and target position and speed of each joint.

    Attributes:
        order: Where in it the positions of all joints lie, then their speeds, then position
            and quaternion of each floating body, then speed of the centre and rate of each.
        dofs: Place of each joint among those of its robot.
    """

    order: tuple[int, ...]
    dofs: tuple[int, ...]

    @classmethod
    def of(cls, parts: Parts, world: World) -> "Memory":
        """Look up a scene in the world made of its parts."""
        starts = {}
        positions: dict[str, int] = {}
        speeds: dict[str, int] = {}
        dofs: dict[str, int] = {}
        at = 0
        for body in world.system.rigid_dynamic_components:
            starts[body] = at
            at += _BODY
        names = {part.joint.child_link: part.name for part in parts.joints}
        for link in world.system.articulation_link_components:
            if link.is_root:
                starts[link] = at
                at += _BODY
                joints = link.articulation.active_joints
                for i, joint in enumerate(joints):
                    name = names[joint.child_link]
                    positions[name], speeds[name], dofs[name] = at + i, at + len(joints) + i, i
                at += 4 * len(joints)
        firsts = [starts[body] for body in parts.floating]
        order = [positions[part.name] for part in parts.joints]
        order += [speeds[part.name] for part in parts.joints]
        order += [first + i for first in firsts for i in (4, 5, 6, 0, 1, 2, 3)]
        order += [first + i for first in firsts for i in range(7, _BODY)]
        return cls(tuple(order), tuple(dofs[part.name] for part in parts.joints))

"""What audits of several engines share: links fixed together, pairs of surfaces, no limits."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from kinetarium.engines.protocol import LoadedLoop, LoadedSolid, LoadedSurface
from kinetarium.model.robot import IDENTITY, Inertia, JointType, Loop, LoopKind
from kinetarium.scene import Base, PlacedRobot
from kinetarium.scene.robot import rigid_tree
from kinetarium.spatial.arrays import Array, frozen


def lumped_solids(robot: PlacedRobot, inertias: Mapping[str, Inertia]) -> Iterator[LoadedSolid]:
    """Yield the moving solids of a robot that have mass; what is fixed together counts as one.

    Args:
        inertias: As loaded, by link, each in the frame of its link.
    """
    links = tuple(replace(link, inertia=inertias.get(link.name)) for link in robot.model.links)
    for body in rigid_tree(replace(robot.model, links=links)):
        if body.inertia and (body.joint or robot.base is Base.FREE):
            members = tuple(f"{robot.name}/{link}" for link, _ in body.members)
            yield LoadedSolid(members[0], body.inertia, members)


def limit_of(value: float, unbounded: float) -> float:
    """Return a joint limit [rad or m]; infinite beyond the value that stands for no limit."""
    return value if abs(value) < unbounded else inf if value > 0 else -inf


@dataclass(frozen=True, slots=True, eq=False)
class LoadedFrames:
    """The frames of a robot as loaded, seen from the topmost of the links fixed together.

    Attributes:
        robot: The robot's name.
        joints: Pose of each moving joint at position zero in the link above, by the joint's name.
        bodies: Of each body that the engine has, by its link: the topmost of the links that it
            is fixed to, and its pose there.
    """

    robot: str
    joints: dict[str, Array]
    bodies: dict[str, tuple[str, Array]]

    @classmethod
    def of(
        cls, robot: PlacedRobot, loaded: Mapping[str, Array], *, keep: Collection[str] = ()
    ) -> "LoadedFrames":
        """Put together the frames of a robot.

        Args:
            loaded: Pose of each joint at position zero in the body above, by the joint's name.
            keep: The fixed joints that the engine keeps as joints, or between bodies of its own.
        """
        joints: dict[str, Array] = {}
        places: list[tuple[str, Array]] = []
        tree = rigid_tree(robot.model, keep=keep)
        for body in tree:
            place: tuple[str, Array] = (body.name, IDENTITY)
            if body.joint:
                top, X_TP = places[body.parent]
                X_TJ = frozen(X_TP @ loaded[body.joint.name])
                if body.joint.type is JointType.FIXED:
                    place = (top, X_TJ)
                else:
                    joints[body.joint.name] = X_TJ
            places.append(place)
        bodies = dict(zip((body.name for body in tree), places, strict=True))
        return cls(robot.name, joints, bodies)

    def loop(
        self, loop: Loop, ends: Sequence[tuple[str, Array]], *, read_back: bool = True
    ) -> LoadedLoop:
        """Return a loop as loaded.

        Args:
            ends: Of each end the link of the body that it is on and its frame there.
            read_back: Whether the engine was asked for them.
        """
        (a, X_A), (b, X_B) = (self.bodies[link] for link, _ in ends)
        X_AC, X_BC = X_A @ ends[0][1], X_B @ ends[1][1]
        R_AB = X_AC[:3, :3] @ X_BC[:3, :3].T
        return LoadedLoop(
            name=f"{self.robot}/{loop.name}",
            kind=loop.kind,
            solids=(f"{self.robot}/{a}", f"{self.robot}/{b}"),
            points=frozen([X_AC[:3, 3], X_BC[:3, 3]]),
            R_AB=frozen(R_AB) if loop.kind is LoopKind.POSE else None,
            read_back=read_back,
        )


def merged(surfaces: Iterable[LoadedSurface]) -> tuple[LoadedSurface, ...]:
    """Return surfaces without repetition, what holds against several solids in one."""
    kinds: dict[LoadedSurface, dict[str, None]] = {}
    for surface in surfaces:
        # Those that hold against others stay apart from those that hold for themselves.
        others = surface.against and (surface.solid,)
        kind = replace(surface, against=others)
        kinds.setdefault(kind, {}).update(dict.fromkeys(surface.against))
    return tuple(replace(kind, against=tuple(others)) for kind, others in kinds.items())

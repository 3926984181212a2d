"""SphereModel: a robot as spheres, for collision checks that miss nothing."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetarium.dynamics.collision_pairs import collision_pairs, rigid_bodies
from kinetarium.dynamics.kinematics import link_poses
from kinetarium.dynamics.obstacles import Obstacles
from kinetarium.dynamics.sampling import random_positions
from kinetarium.dynamics.sphere_arrays import SphereArrays
from kinetarium.dynamics.sphere_cover import SphereCover, cover_by_spheres
from kinetarium.model.robot import RobotModel
from kinetarium.spatial.arrays import Array

SAMPLES = 200
"""In how many random configurations a pair must overlap to count as always overlapping."""

NOTHING = Obstacles()


class SphereModel:
    """The collision shapes of a robot, enclosed by spheres.

    The spheres hold the shapes (see `cover_by_spheres`), so that no collision
    between checked links or with obstacles is missed; what is reported may be
    as far apart as twice the excess.

    Checked are all pairs of links that are not joined by a joint, save those to
    be ignored and those whose spheres overlap in every one of many random
    configurations: of such neighbours spheres cannot tell anything.

    Attributes:
        model: The robot.
        pairs: Names of the pairs of links that are checked.
        overlapping: Names of the pairs left out because they always overlap.
        arrays: The spheres as plain arrays.
        excess: The most that a sphere reaches beyond the shapes [m].
    """

    def __init__(
        self,
        model: RobotModel,
        *,
        excess: float = 0.01,
        ignore: Iterable[tuple[str, str]] = (),
        standing: Iterable[str] = (),
        seed: int = 0,
    ) -> None:
        """Cover a robot by spheres and find the pairs of links to be checked.

        Args:
            model: The robot.
            excess: How far spheres may reach beyond the shapes [m].
            ignore: Pairs of link names that are not checked, in either order.
            standing: Names of links that may touch the ground, such as wheels;
                the root link and what is fixed to it always may.
            seed: Seed of the configurations in which pairs must overlap.

        Raises:
            UnknownNameError: If a pair or a standing link names no link.
            RobotFileError: If a mesh file cannot be loaded.
        """
        self.model = model
        candidates = collision_pairs(model, ignore=ignore)
        body = rigid_bodies(model)
        standing = {model.link(name).name for name in standing}
        covers = _covers(model, excess=excess)
        self.excess = max(cover.excess for cover in covers)
        grounded = [body[link.name] == model.root or link.name in standing for link in model.links]
        self._index = {link.name: number for number, link in enumerate(model.links)}
        self.arrays = SphereArrays.of(
            covers, grounded=np.array(grounded), pairs=self._numbers(candidates)
        )
        self.overlapping = self._always_overlapping(candidates, seed=seed)
        self.pairs = tuple(pair for pair in candidates if pair not in self.overlapping)
        self.arrays = self.arrays._replace(pairs=self._numbers(self.pairs))

    def collides(self, poses: ArrayLike, *, obstacles: Obstacles = NOTHING) -> bool:
        """Tell whether spheres of checked links, or spheres and obstacles, overlap.

        Args:
            poses: Poses X_WL of all links in the model's order, shape (links, 4, 4).
            obstacles: What stands around.
        """
        return bool(self.collides_batch(np.asarray(poses)[None], obstacles=obstacles)[0])

    def collides_batch(
        self, poses: ArrayLike, *, obstacles: Obstacles = NOTHING
    ) -> NDArray[np.bool_]:
        """Tell for many configurations whether they collide.

        Args:
            poses: Poses X_WL of all links, shape (n, links, 4, 4).
            obstacles: What stands around.

        Returns:
            Whether each configuration collides, shape (n,).
        """
        return _clearances(poses, self.arrays, obstacles, ceiling=0.0, first=True) < 0.0

    def clearance(self, poses: ArrayLike, *, obstacles: Obstacles = NOTHING) -> float:
        """Give a lower bound of the distance between checked links and to obstacles.

        Args:
            poses: Poses X_WL of all links in the model's order, shape (links, 4, 4).
            obstacles: What stands around.

        Returns:
            The smallest gap between spheres [m]: negative where they overlap,
            infinite where nothing is checked.
        """
        return float(self.clearance_batch(np.asarray(poses)[None], obstacles=obstacles)[0])

    def clearance_batch(self, poses: ArrayLike, *, obstacles: Obstacles = NOTHING) -> Array:
        """Give the clearance of many configurations.

        Args:
            poses: Poses X_WL of all links, shape (n, links, 4, 4).
            obstacles: What stands around.

        Returns:
            The clearances [m], shape (n,).
        """
        return _clearances(poses, self.arrays, obstacles, ceiling=np.inf, first=False)

    def _always_overlapping(
        self, pairs: tuple[tuple[str, str], ...], *, seed: int
    ) -> tuple[tuple[str, str], ...]:
        rng = np.random.default_rng(seed)
        poses = link_poses(self.model, random_positions(self.model, rng, count=SAMPLES))
        for pose in poses[:, None]:
            pairs = tuple(pair for pair in pairs if self._overlap(pose, pair))
        return pairs

    def _overlap(self, poses: Array, pair: tuple[str, str]) -> bool:
        arrays = self.arrays._replace(pairs=self._numbers((pair,)))
        return bool(_clearances(poses, arrays, NOTHING, ceiling=0.0, first=True)[0] < 0.0)

    def _numbers(self, pairs: tuple[tuple[str, str], ...]) -> NDArray[np.int64]:
        numbers = [(self._index[a], self._index[b]) for a, b in pairs]
        return np.array(numbers, dtype=np.int64).reshape(-1, 2)


def _covers(model: RobotModel, *, excess: float) -> list[SphereCover]:
    """Cover every link, and links that are alike only once."""
    covers: dict[object, SphereCover] = {}
    likes = [
        tuple((part.shape, part.X_LG.tobytes()) for part in link.collisions) for link in model.links
    ]
    for like, link in zip(likes, model.links, strict=True):
        if like not in covers:
            covers[like] = cover_by_spheres(link.collisions, excess=excess)
    return [covers[like] for like in likes]


def _clearances(
    poses: ArrayLike, arrays: SphereArrays, obstacles: Obstacles, *, ceiling: float, first: bool
) -> Array:
    # Numba is loaded with the first check, not with this module.
    from kinetarium.dynamics import sphere_kernel

    X_WL = np.ascontiguousarray(poses, dtype=np.float64)
    gaps: Array = sphere_kernel.clearances(X_WL, arrays, obstacles.arrays, ceiling, first)
    return gaps

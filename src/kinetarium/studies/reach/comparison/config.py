"""What reach-compare is asked, and one case of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from kinetarium.ranges import Range, Seed

Sets = Annotated[int, Range(1, 100_000, unit="-")]
Samples = Annotated[int, Range(1, 1_000_000_000, unit="-")]
FACTOR = Range(1, 1000, unit="-")


class Method(StrEnum):
    """A way to choose a base."""

    RANDOM = "random"
    REULEAUX = "reuleaux"
    """Every voxel of a 3-D map is moved to every pose."""
    RM4D = "rm4d"
    """A binary 4-D map from random configurations."""
    PAPER = "paper"
    """The source's: slices of a 3-D map."""
    FAST = "fast"
    """This and the next two are our own search, by its efforts."""
    STANDARD = "standard"
    THOROUGH = "thorough"
    BRUTE_FORCE = "brute-force"
    """Every place of a raster, with every turn."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Ways to choose the base of a Panda for sets of 20 random poses.

    Attributes:
        method: The ways to choose a base.
        sets: Sets of poses.
        samples: Random configurations of the binary map.
        coarser: By how much the voxels of maps are larger than usual. The first counts; the
            source's method is tried with each of them.
        fewer: By how much the poses per voxel are fewer than usual, likewise.
        seed: Seed of the poses.
    """

    method: tuple[Method, ...] = tuple(Method)
    sets: Sets = 1000
    samples: Samples = 10_000_000
    coarser: Annotated[tuple[int, ...], FACTOR] = (1, 2, 4)
    fewer: Annotated[tuple[int, ...], FACTOR] = (1, 2, 5)
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One method with one map.

    Attributes:
        method: The way to choose a base.
        robot: The robot, of the catalogue.
        robot_sha256: Hash of everything that it was read from.
        coarser: By how much the voxels of its map are larger than usual.
        fewer: By how much the poses per voxel are fewer than usual.
        sets: Sets of poses.
        samples: Random configurations of the binary map.
        seed: Seed of the poses.
        shown: Whether the source's maps are recorded, to be drawn.
    """

    method: Method
    robot: str
    robot_sha256: str
    coarser: Annotated[int, FACTOR]
    fewer: Annotated[int, FACTOR]
    sets: Sets
    samples: Samples
    seed: Seed
    shown: bool

"""Config and cases of reach-compare: every method, and the paper's with coarser maps."""

from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Annotated

from kinetarium.batch.study import case_of, refuse_empty
from kinetarium.ranges import Range, Seed, check_ranges

Sets = Annotated[int, Range(1, 100_000, unit="-")]
Samples = Annotated[int, Range(1, 1_000_000_000, unit="-")]
FACTOR = Range(1, 1000, unit="-")


class Method(StrEnum):
    """A base placement method."""

    RANDOM = "random"
    REULEAUX = "reuleaux"
    """Every voxel of a 3-D map is moved to every pose."""
    RM4D = "rm4d"
    """A binary 4-D map from random configurations."""
    PAPER = "paper"
    """The paper's: slices of a 3-D map."""
    FAST = "fast"
    """The search of `place_base`, with three efforts."""
    STANDARD = "standard"
    THOROUGH = "thorough"
    BRUTE_FORCE = "brute-force"
    """Every position of a raster, with eight yaw angles."""


@dataclass(frozen=True, kw_only=True)
class Config:
    """Base placement methods for a Panda, on sets of 20 random poses.

    Attributes:
        method: Base placement methods.
        sets: Number of sets of 20 random poses.
        samples: Number of random configurations from which rm4d samples its binary map.
        coarser: Factors on the default voxel size. All methods use the first; the method "paper"
            is also run with the others.
        fewer: Divisors of the default number of poses per voxel, likewise.
        seed: Seed of the random poses.
    """

    method: tuple[Method, ...] = tuple(Method)
    sets: Sets = 1000
    samples: Samples = 10_000_000
    coarser: Annotated[tuple[int, ...], FACTOR] = (1, 2, 4)
    fewer: Annotated[tuple[int, ...], FACTOR] = (1, 2, 5)
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One method with one map; other values are those of the config.

    Attributes:
        robot: Name of the robot in the catalogue.
        robot_sha256: Digest of its file and includes.
        coarser: Factor on the default voxel size.
        fewer: Divisor of the default number of poses per voxel.
        shown: Whether the paper's maps are recorded, to be drawn.
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


SHORT = 100
"""Maximum number of sets for coarser maps."""
_ROBOT = "panda"
"""The robot of the published results."""


def cases(config: Config) -> tuple[Case, ...]:
    """Return a case for each method, and for each further map of the paper's method.

    Raises:
        KinetariumError: If a value is invalid.
    """
    from kinetarium.model.load import load_robot

    check_ranges(config)
    refuse_empty(config, "method", "coarser", "fewer")
    methods = dict.fromkeys(config.method)
    first, *others = product(dict.fromkeys(config.coarser), dict.fromkeys(config.fewer))
    chosen = [(method, first) for method in methods]
    chosen += [(Method.PAPER, factors) for factors in others if Method.PAPER in methods]
    digest = load_robot(_ROBOT).source.sha256
    return tuple(
        case_of(
            config,
            Case,
            method=method,
            robot=_ROBOT,
            robot_sha256=digest,
            coarser=factors[0],
            fewer=factors[1],
            sets=config.sets if factors == first else min(config.sets, SHORT),
            shown=method is Method.PAPER and factors == first,
        )
        for method, factors in chosen
    )

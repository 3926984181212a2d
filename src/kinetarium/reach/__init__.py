"""Where a robot can reach, and where its base stands best: kinematics without physics."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kinetarium.reach.base_slice import slice_map as slice_map
    from kinetarium.reach.build import build_map as build_map
    from kinetarium.reach.build import build_part as build_part
    from kinetarium.reach.chain import SerialChain as SerialChain
    from kinetarium.reach.chain import serial_chain as serial_chain
    from kinetarium.reach.convex_pieces import PieceArrays as PieceArrays
    from kinetarium.reach.convex_pieces import body_pieces as body_pieces
    from kinetarium.reach.map_files import ReachMap as ReachMap
    from kinetarium.reach.map_files import open_map as open_map
    from kinetarium.reach.map_files import verify_map as verify_map
    from kinetarium.reach.placement import Placement as Placement
    from kinetarium.reach.placement import Placer as Placer
    from kinetarium.reach.placement import place_base as place_base
    from kinetarium.reach.solve import IkSolutions as IkSolutions
    from kinetarium.reach.solve import Policy as Policy
    from kinetarium.reach.solve import ik_arrays as ik_arrays
    from kinetarium.reach.solve import solve_ik as solve_ik

_HOMES = {
    "IkSolutions": "solve",
    "PieceArrays": "convex_pieces",
    "Placement": "placement",
    "Placer": "placement",
    "Policy": "solve",
    "ReachMap": "map_files",
    "SerialChain": "chain",
    "body_pieces": "convex_pieces",
    "build_map": "build",
    "build_part": "build",
    "ik_arrays": "solve",
    "open_map": "map_files",
    "place_base": "placement",
    "serial_chain": "chain",
    "slice_map": "base_slice",
    "solve_ik": "solve",
    "verify_map": "map_files",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: kernels and NumPy take their time to load."""
    if name not in _HOMES:
        raise AttributeError(f"module 'kinetarium.reach' has no attribute {name!r}")
    return getattr(import_module(f"kinetarium.reach.{_HOMES[name]}"), name)

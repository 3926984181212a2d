"""Where a robot can reach, and where its base stands best: kinematics without physics."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.reach.base_slice import slice_map as slice_map
    from kinetarium.reach.build import build_map as build_map
    from kinetarium.reach.build import build_part as build_part
    from kinetarium.reach.chain import SerialChain as SerialChain
    from kinetarium.reach.chain import serial_chain as serial_chain
    from kinetarium.reach.convex_pieces import body_pieces as body_pieces
    from kinetarium.reach.map_files import ReachMap as ReachMap
    from kinetarium.reach.map_files import open_map as open_map
    from kinetarium.reach.map_files import verify_map as verify_map
    from kinetarium.reach.piece_arrays import PieceArrays as PieceArrays
    from kinetarium.reach.placement import Placement as Placement
    from kinetarium.reach.placement import Placer as Placer
    from kinetarium.reach.placement import place_base as place_base
    from kinetarium.reach.solve import IkSolutions as IkSolutions
    from kinetarium.reach.solve import Policy as Policy
    from kinetarium.reach.solve import ik_arrays as ik_arrays
    from kinetarium.reach.solve import solve_ik as solve_ik

_HOMES = {
    "IkSolutions": "kinetarium.reach.solve",
    "PieceArrays": "kinetarium.reach.piece_arrays",
    "Placement": "kinetarium.reach.placement",
    "Placer": "kinetarium.reach.placement",
    "Policy": "kinetarium.reach.solve",
    "ReachMap": "kinetarium.reach.map_files",
    "SerialChain": "kinetarium.reach.chain",
    "body_pieces": "kinetarium.reach.convex_pieces",
    "build_map": "kinetarium.reach.build",
    "build_part": "kinetarium.reach.build",
    "ik_arrays": "kinetarium.reach.solve",
    "open_map": "kinetarium.reach.map_files",
    "place_base": "kinetarium.reach.placement",
    "serial_chain": "kinetarium.reach.chain",
    "slice_map": "kinetarium.reach.base_slice",
    "solve_ik": "kinetarium.reach.solve",
    "verify_map": "kinetarium.reach.map_files",
}

__all__ = [*_HOMES]
__getattr__, __dir__ = lazy_exports(__name__, _HOMES)

"""Physics engines behind one protocol."""

from typing import TYPE_CHECKING

from kinetarium.lazy import lazy_exports

if TYPE_CHECKING:
    from kinetarium.engines.base.engine import EngineBase as EngineBase
    from kinetarium.engines.base.engine import checked_timestep as checked_timestep
    from kinetarium.engines.base.engine import initial_state as initial_state
    from kinetarium.engines.base.simulation import AppliedWrench as AppliedWrench
    from kinetarium.engines.base.simulation import Setup as Setup
    from kinetarium.engines.base.simulation import SimulationBase as SimulationBase
    from kinetarium.engines.conformance.check import EngineCheck as EngineCheck
    from kinetarium.engines.conformance.kit import check_engine as check_engine
    from kinetarium.engines.protocol import Audit as Audit
    from kinetarium.engines.protocol import Capability as Capability
    from kinetarium.engines.protocol import CapabilityError as CapabilityError
    from kinetarium.engines.protocol import Contacts as Contacts
    from kinetarium.engines.protocol import Engine as Engine
    from kinetarium.engines.protocol import EngineInfo as EngineInfo
    from kinetarium.engines.protocol import FrictionRule as FrictionRule
    from kinetarium.engines.protocol import Layout as Layout
    from kinetarium.engines.protocol import LoadedCoupling as LoadedCoupling
    from kinetarium.engines.protocol import LoadedDrive as LoadedDrive
    from kinetarium.engines.protocol import LoadedJoint as LoadedJoint
    from kinetarium.engines.protocol import LoadedLoop as LoadedLoop
    from kinetarium.engines.protocol import LoadedSolid as LoadedSolid
    from kinetarium.engines.protocol import LoadedSurface as LoadedSurface
    from kinetarium.engines.protocol import NotFiniteError as NotFiniteError
    from kinetarium.engines.protocol import Options as Options
    from kinetarium.engines.protocol import Precision as Precision
    from kinetarium.engines.protocol import SavedState as SavedState
    from kinetarium.engines.protocol import Simulation as Simulation
    from kinetarium.engines.protocol import SolverReport as SolverReport
    from kinetarium.engines.protocol import State as State
    from kinetarium.engines.protocol import Status as Status
    from kinetarium.engines.registry import EngineListing as EngineListing
    from kinetarium.engines.registry import EngineUnavailableError as EngineUnavailableError
    from kinetarium.engines.registry import engine_names as engine_names
    from kinetarium.engines.registry import list_engines as list_engines
    from kinetarium.engines.registry import matched_options as matched_options
    from kinetarium.engines.registry import open_engine as open_engine
else:
    __all__, __getattr__, __dir__ = lazy_exports(__name__)

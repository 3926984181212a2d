"""The edge that all engines share: an adapter adds small hooks to two classes.

What does not depend on the engine is written here once: names, shapes, finite numbers,
capabilities, pending wrenches, saved states, divergence. An engine of your own is

    class EngineMine(EngineBase[MineOptions]):
        name, title, capabilities, friction_rule = ...
        options = MineOptions
        _version()                            version of the library
        _build(setup)                         -> MineSimulation(setup); the scene is checked

    class MineSimulation(SimulationBase[Memory]):
        __init__(setup)                       calls super().__init__(setup)
        _write(state)                         set a state that is finite and of the right shape
        _read()                               -> q, v, poses, twists
        _advance(command, n, wrenches)        make n time steps
        audit()                               -> what was loaded
        _close()                              release what does not go with the object

and, for each capability that it declares,

        _contacts(), _wrench(sensor)          readings of the last step
        _save(), _restore(memory)             -> Memory, whatever it is
        _mass_matrix(robot), _inverse_dynamics(robot, acceleration)

All names are offered by `kinetarium.engines`. docs/add-an-engine.md is a whole engine in a page.
"""

from kinetarium.batch.labels import case_labels
from kinetarium.studies.drop.config import Case


def case(engine: str, mass: float) -> Case:
    return Case(engine=engine, mass=mass, height=0.5, size=0.1, timestep=1e-3, duration=1.0, seed=0)


def test_only_what_differs_is_named() -> None:
    assert case_labels([case("mujoco", 1.0), case("bullet", 1.0)]) == ["mujoco", "bullet"]
    assert case_labels([case("mujoco", 1.0), case("mujoco", 2.5)]) == [
        "mujoco, mass 1",
        "mujoco, mass 2.5",
    ]


def test_nothing_to_name() -> None:
    assert case_labels([]) == []
    assert case_labels([case("ode", 1.0)]) == ["ode"]

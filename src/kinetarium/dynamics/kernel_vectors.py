"""Vectors of three numbers inside kernels: tuples, which stay in registers."""

from kinetarium.dynamics.compiled import compiled

Vector = tuple[float, float, float]


@compiled
def minus(a: Vector, b: Vector) -> Vector:
    """Give a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def dot(a: Vector, b: Vector) -> float:
    """Give the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """Give the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]

"""What inverse kinematics claims, whichever way it was solved."""

EXACT = 1e-7
"""How far the tool may be from where it is asked for [m, rad]."""
NONE = -1.0
"""The manipulability of a pose without a solution."""

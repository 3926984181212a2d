"""The robot model, the strict gate in front of it, its writers and the catalogue."""

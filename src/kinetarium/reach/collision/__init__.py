"""Collision of an arm with itself and its surroundings."""

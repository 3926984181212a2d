"""Collision of an arm with itself and with obstacles."""

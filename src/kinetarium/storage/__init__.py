"""Atomic files, locks, strict JSON and serialization: the bottom layer."""

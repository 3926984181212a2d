"""Kinetarium: a proving ground for robots."""

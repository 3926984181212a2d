"""Figures of merit: pure functions from recordings to numbers."""

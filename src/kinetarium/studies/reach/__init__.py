"""Figures of reach: maps, slices, placements, ways of a base, and the comparison of methods."""

"""Reachability maps: recipes, building, files, slices."""

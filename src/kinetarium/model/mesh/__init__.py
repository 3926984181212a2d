"""Meshes: file formats, triangles, hulls, solids."""

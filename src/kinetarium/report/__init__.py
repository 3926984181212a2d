"""Rendering of figures: one self-contained HTML file, SVG and PNG."""

"""Figures made visible: one self-contained HTML file, and pictures."""

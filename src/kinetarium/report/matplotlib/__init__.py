"""Figures as still pictures, drawn by Matplotlib."""

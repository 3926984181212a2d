"""Figures as Plotly draws them in a page."""

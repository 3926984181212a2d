"""Figures as Plotly traces and layouts."""

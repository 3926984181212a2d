"""Figures as frozen data; the report and the command line render them."""

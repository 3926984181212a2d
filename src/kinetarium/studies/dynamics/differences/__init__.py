"""Differences between two descriptions of a robot, part by part."""

"""Checks whether this installation computes correctly, and how fast: five levels in one command."""

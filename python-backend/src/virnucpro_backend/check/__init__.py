"""Checks whether this installation computes correctly, and how fast."""

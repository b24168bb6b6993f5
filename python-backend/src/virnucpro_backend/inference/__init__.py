"""Computes the scores of parts of frames on one device."""

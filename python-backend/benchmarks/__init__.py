"""Measurements for developers; not part of the shipped program. See README.md beside this file."""

"""Measurements for developers; they are not part of the shipped program. See README.md beside this file."""

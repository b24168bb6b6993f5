"""Scans blocks of bytes: finds the format of a file, its records and their letters."""

"""VirNucPro Desktop as a Python package; the program itself is in the folder `program`."""

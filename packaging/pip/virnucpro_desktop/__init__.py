"""VirNucPro Desktop as a Python package; the program itself lies in the folder `program`."""

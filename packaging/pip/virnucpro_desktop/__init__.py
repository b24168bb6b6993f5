"""VirNucPro Desktop as a Python package: the program itself lies in the folder `program`, and runs on the Node of another package."""

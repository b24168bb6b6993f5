"""Gives workers the fault of tests/faulty that VIRNUCPRO_FAULT names, until the file VIRNUCPRO_HEALED exists.

Python imports this when it starts with the folder in PYTHONPATH.
"""

import os
import sys
from pathlib import Path

if "virnucpro_backend.worker" in sys.orig_argv and not Path(os.environ.get("VIRNUCPRO_HEALED", "")).is_file():
    sys.path.append(str(Path(__file__).resolve().parents[3] / "python-backend" / "tests" / "faulty"))
    import faulty

    fault, _, argument = os.environ["VIRNUCPRO_FAULT"].partition(":")
    getattr(faulty, fault)(argument)

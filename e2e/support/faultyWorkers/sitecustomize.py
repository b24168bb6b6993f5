"""Gives workers one of two faults of tests/faulty; Python imports this when it starts with the folder in PYTHONPATH.

VIRNUCPRO_DEADLY: `die_at` these amino acids, until the file VIRNUCPRO_HEALED exists. VIRNUCPRO_PERMITS:
`permitted`, with this folder.
"""

import os
import sys
from pathlib import Path

if "virnucpro_backend.worker" in sys.orig_argv:
    root = Path(__file__).resolve().parents[3]
    sys.path.append(str(root / "python-backend" / "tests" / "faulty"))
    import faulty

    if "VIRNUCPRO_PERMITS" in os.environ:
        faulty.permitted(os.environ["VIRNUCPRO_PERMITS"])
    elif "VIRNUCPRO_DEADLY" in os.environ and not Path(os.environ["VIRNUCPRO_HEALED"]).exists():
        faulty.die_at(os.environ["VIRNUCPRO_DEADLY"])

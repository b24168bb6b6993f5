"""Gives workers one of two faults; Python imports this when it starts with the folder in PYTHONPATH.

VIRNUCPRO_DEADLY: every part that contains these amino acids kills its worker like the system's memory
killer, until the file VIRNUCPRO_HEALED exists. VIRNUCPRO_PERMITS: `permitted` of tests/faulty, with this
folder.
"""

import os
import signal
import sys
from pathlib import Path


def kill_at(residues: bytes) -> None:
    """Kill the worker at the first part with these amino acids."""
    from virnucpro_backend.inference.scorer import PartScorer

    launch = PartScorer.launch

    def deadly_launch(self, part, listener=None):
        if residues in part.frames.residues.tobytes():
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return launch(self, part, listener)

    PartScorer.launch = deadly_launch


if "virnucpro_backend.worker" in sys.orig_argv:
    if "VIRNUCPRO_PERMITS" in os.environ:
        root = Path(__file__).resolve().parents[3]
        sys.path.append(str(root / "python-backend" / "tests" / "faulty"))
        import faulty

        faulty.permitted(os.environ["VIRNUCPRO_PERMITS"])
    elif "VIRNUCPRO_DEADLY" in os.environ and not Path(os.environ["VIRNUCPRO_HEALED"]).exists():
        kill_at(os.environ["VIRNUCPRO_DEADLY"].encode())

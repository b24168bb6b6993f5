"""Python reads this at its start when the folder is in PYTHONPATH. Workers then die, as by the system's memory killer,
of every part that holds the amino acids $VIRNUCPRO_DEADLY in a row, until the file $VIRNUCPRO_HEALED is there."""

import os
import signal
import sys
from pathlib import Path

if "virnucpro_backend.worker" in sys.orig_argv and not Path(os.environ["VIRNUCPRO_HEALED"]).exists():
    from virnucpro_backend.inference.scorer import PartScorer

    launch = PartScorer.launch

    def deadly_launch(self, part, listener=None):
        if os.environ["VIRNUCPRO_DEADLY"].encode() in part.frames.residues.tobytes():
            os.kill(os.getpid(), signal.SIGKILL)
        return launch(self, part, listener)

    PartScorer.launch = deadly_launch

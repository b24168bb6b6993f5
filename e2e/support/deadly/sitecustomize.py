"""Python imports this when it starts with the folder in PYTHONPATH. Every part that contains the amino acids
$VIRNUCPRO_DEADLY then kills its worker like the system's memory killer, until the file $VIRNUCPRO_HEALED exists."""

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

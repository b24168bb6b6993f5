"""`python -m virnucpro_backend.controls KIND PRECISION --model FOLDER --resources FOLDER`: whether a model
tells known viral from known host sequences on a device. One JSON object on standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import get_args

from virnucpro_backend.controls.panel import run_controls
from virnucpro_backend.devices.allocator import set_up_device_allocator
from virnucpro_backend.devices.kinds import DeviceKind, Precision
from virnucpro_backend.devices.opening.failure import LoadFailedError
from virnucpro_backend.inference.failures import PartFailedError
from virnucpro_backend.prepare.failures import PrepareError
from virnucpro_backend.weights.errors import WeightsError


def main() -> int:
    """Run the controls that the arguments name; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m virnucpro_backend.controls", description=__doc__)
    parser.add_argument("kind", choices=get_args(DeviceKind))
    parser.add_argument("precision", choices=get_args(Precision))
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    parser.add_argument("--resources", type=Path, required=True, help="the folder that holds controls/")
    parser.add_argument("--quick", action="store_true", help="only 20 viral and 20 host sequences")
    arguments = parser.parse_args()
    set_up_device_allocator()
    begun = time.monotonic()
    try:
        report = run_controls(
            arguments.model, arguments.kind, arguments.precision, arguments.resources, quick=arguments.quick
        )
    except (LoadFailedError, PrepareError, WeightsError) as error:
        print(f"{error.message} {error.next_step}", file=sys.stderr)
        return 1
    except PartFailedError as error:
        print(error.message, file=sys.stderr)
        return 1
    print(json.dumps({**report, "seconds": round(time.monotonic() - begun, 1)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes pieces of the held-out fragments to viral.fa and other.fa, as input for runs and calibration:
`npm run python -- training.labelled_pieces DATA FOLDER`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from training.fragments import TEST_FOLDS, read_fragments

LENGTHS = (500, 1000, 2000, 3000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with virus.fa.gz and host.fa.gz")
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    test = [f for f in read_fragments(arguments.data) if f.fold in TEST_FOLDS]
    for name, virus in (("viral.fa", True), ("other.fa", False)):
        lines = [
            f">{f.record}:{f.begin}_{length}\n{f.letters[:length]}\n"
            for f in test
            if f.virus == virus
            for length in LENGTHS
        ]
        (arguments.folder / name).write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()

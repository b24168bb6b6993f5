"""The reading frames of given files, by way of prepare and the part files that it writes."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from virnucpro_backend.inference.part_file import PartFrames, read_part
from virnucpro_backend.prepare.job import Job, JobInput
from virnucpro_backend.prepare.preparation import Preparation


def frames_of(inputs: Sequence[Path], chunk_length: int, residues_per_part: int) -> list[PartFrames]:
    """All open frames of FASTA or FASTQ files in parts of about this many residues.

    Raises PrepareError for files that a run would refuse.
    """
    with tempfile.TemporaryDirectory(prefix="virnucpro-fidelity-") as folder:
        events: list[dict[str, object]] = []

        def emit(type: str, **fields: object) -> None:
            events.append({"type": type, **fields})

        job = Job(
            tuple(JobInput(number, path, None) for number, path in enumerate(inputs)),
            Path(folder) / "work",
            chunk_length,
            residues_per_part,
            tail_parts=0,
            go_on_from=None,
        )
        Preparation(job, emit).run()
        return [
            read_part(Path(folder) / str(event["path"]), str(event["sha256"]), 0, int(str(event["frames"])))
            for event in events
            if event["type"] == "part"
        ]

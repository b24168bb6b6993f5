"""Makes folders like those of the original tool and its fork, with correct embeddings."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from virnucpro_backend.inference.part_file import PartFrames
from virnucpro_backend.inference.scorer import PartScorer
from virnucpro_backend.prepare.arrays import offsets_of
from virnucpro_backend.prepare.frames import FRAME_NAMES, open_frames
from virnucpro_backend.weights.model_folder import load_model

DEMO_MODEL = Path(__file__).parents[1] / "data" / "demo-model"

Vectors = npt.NDArray[np.float32]


class LegacyRun:
    """A made-up input of `count` records of one chunk each, its frames, and their correct embeddings."""

    def __init__(self, folder: Path, scorer: PartScorer, count: int = 40, length: int = 60) -> None:
        self.folder = folder
        self.input = folder / "reads.fa"
        rng = np.random.default_rng(7)
        folder.mkdir(parents=True)
        letters = rng.choice(np.frombuffer(b"ACGT", np.uint8), (count, length))
        reads = [row.tobytes().decode() for row in letters]
        self.input.write_text(
            "".join(f">read{number} made up\n{read}\n" for number, read in enumerate(reads))
        )
        found = open_frames(letters.ravel(), length * np.arange(count), np.full(count, length))
        self.names = [
            f"read{number}_chunk_1{FRAME_NAMES[frame]}"
            for number, frame in zip(found.chunk, found.frame, strict=True)
        ]
        self.frames = PartFrames(
            found.residues,
            offsets_of(found.residue_counts),
            found.nucleotides,
            offsets_of(found.nucleotide_counts),
        )
        self.scores = scorer.score(self.frames)
        assert self.scores.embeddings is not None
        self.dnabert_s: Vectors = self.scores.embeddings["dnabert_s"]
        self.esm2: Vectors = self.scores.embeddings["esm2"]

    def write_frames(self) -> None:
        """Write the FASTA files of the frames, as both tools do."""
        frames = self.frames
        for kind, letters, offsets in (
            ("nucleotide", frames.nucleotides, frames.nucleotide_offsets),
            ("protein", frames.residues, frames.residue_offsets),
        ):
            path = self.folder / f"reads_{kind}" / "output_1.fa"
            path.parent.mkdir(exist_ok=True)
            with path.open("w") as fasta:
                for number, name in enumerate(self.names):
                    text = letters[offsets[number] : offsets[number + 1]].tobytes().decode()
                    fasta.write(f">{name}\n{text}\n")

    def write_dnabert_s(self, rows: slice = slice(None), name: str = "output_1_DNABERT_S.pt") -> Path:
        """Write the original's layout: rows as lists of Python floats."""
        data = [
            {"label": label, "mean_representation": vector.tolist()}
            for label, vector in zip(self.names[rows], self.dnabert_s[rows], strict=True)
        ]
        return self._save("nucleotide", name, {"nucleotide": self.names[rows], "data": data})

    def write_esm2(
        self,
        rows: slice = slice(None),
        vectors: Vectors | None = None,
        name: str = "output_1_ESM.pt",
        **more: object,
    ) -> Path:
        """Write the original's layout: a tensor for each row. The fork adds version and status."""
        chosen = (self.esm2 if vectors is None else vectors)[rows]
        data = [torch.from_numpy(row.copy()) for row in chosen]
        return self._save("protein", name, {"proteins": self.names[rows], "data": data, **more})

    def write_merged(self, rows: slice = slice(None)) -> Path:
        """Write both embeddings of each row side by side."""
        both = torch.from_numpy(np.concatenate((self.dnabert_s, self.esm2), axis=1)[rows])
        return self._save("merged", "output_1_merged.pt", {"ids": self.names[rows], "data": both})

    def write_batch(self, number: int, rows: slice, extra_name: str | None = None) -> Path:
        """Write the fork's second layout."""
        vectors, names = self.esm2[rows], self.names[rows]
        if extra_name is not None:
            vectors, names = np.concatenate((vectors, vectors[:1])), [*names, extra_name]
        path = self.folder / ".checkpoints" / "shard_0" / f"batch_{number:05}.pt"
        path.parent.mkdir(parents=True, exist_ok=True)
        metadata = {"batch_idx": number, "num_sequences": len(names), "model_dtype": "torch.bfloat16"}
        content = {"embeddings": vectors, "sequence_ids": names, "metadata": metadata}
        torch.save(content, path, pickle_protocol=4)
        path.with_suffix(".pt.done").touch()
        return path

    def write_chunks(self, chunk_length: int) -> None:
        """Write the FASTA file of the chunks, whose name gives the chunk length."""
        path = self.folder / f"reads_chunked{chunk_length}.fa"
        path.write_text(self.input.read_text().replace(" made up", "_chunk_1"))

    def _save(self, kind: str, name: str, content: dict[str, object]) -> Path:
        path = self.folder / f"reads_{kind}" / name
        path.parent.mkdir(exist_ok=True)
        torch.save(content, path)
        return path


def main(folder: Path, model_folder: Path) -> None:
    """Make an interrupted run of the original: some embeddings are missing, and one file is cut off.

    Beside it, `expected.tsv` has the name and score2 of each frame.
    """
    torch.set_num_threads(1)
    model = load_model(model_folder, "cpu", "fp32")
    run = LegacyRun(folder, PartScorer(model, 2048, True, "fp32", lambda _device: model))
    run.write_frames()
    run.write_chunks(model.chunk_length)
    run.write_dnabert_s()
    run.write_esm2(slice(0, 50))
    (folder / "reads_protein" / "output_2_ESM.pt").write_bytes(b"PK\x03\x04cut off")
    lines = [f"{name}\t{score}\n" for name, score in zip(run.names, run.scores.score2, strict=True)]
    folder.with_name("expected.tsv").write_text("".join(lines))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

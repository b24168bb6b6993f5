"""Random cuts of all fragments, tokenized once and kept on the device."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from training.fragments import Fragment, FrameTokens, frame_tokens, random_cuts
from virnucpro_backend.encoders.tokens import DnaTokenizer

LENGTHS = {150: 0.2, 300: 0.2, 500: 0.6}
"""Lengths of cuts, each with the share of steps that learn from it."""
_AT_ONCE = 4
"""Cuts of every fragment that one process makes at a time."""


@dataclass(frozen=True)
class Pool:
    """Frames of random cuts of one length on the device, sorted by fragment. `first`, `count`: the range of a
    fragment's frames."""

    proteins: Tensor
    dna: Tensor
    fragment: Tensor
    first: Tensor
    count: Tensor
    label: Tensor

    def frames_of(self, fragments: Tensor) -> Tensor:
        """Return the numbers of these fragments' frames."""
        return torch.isin(self.fragment, fragments.to(self.fragment.device)).nonzero()[:, 0]


def make_pools(
    fragments: list[Fragment], tokenizer: str, cuts: int, mutations: float, device: torch.device
) -> dict[int, Pool]:
    """Make `cuts` random cuts of every fragment in every length; `tokenizer`: a tokenizer.json's text."""
    jobs = [(length, piece) for length in LENGTHS for piece in range(-(-cuts // _AT_ONCE))]
    with ProcessPoolExecutor() as processes:
        futures = [
            processes.submit(_cuts, fragments, tokenizer, length, mutations, 1000 * length + piece)
            for length, piece in jobs
        ]
        made = [future.result() for future in futures]
    label = torch.tensor([int(fragment.virus) for fragment in fragments])
    pools = {}
    for length in LENGTHS:
        sets = [frames for (its, _), frames in zip(jobs, made, strict=True) if its == length]
        fragment = np.concatenate([frames.sequence // _AT_ONCE for frames in sets])
        order = np.argsort(fragment, kind="stable")
        count = np.bincount(fragment, minlength=len(fragments))
        of = torch.from_numpy(fragment[order])
        pools[length] = Pool(
            proteins=torch.from_numpy(_joined([frames.proteins for frames in sets])[order]).to(device),
            dna=torch.from_numpy(_joined([frames.dna for frames in sets])[order]).to(device),
            fragment=of.to(device),
            first=torch.from_numpy(np.cumsum(count) - count).to(device),
            count=torch.from_numpy(count).to(device),
            label=label[of].to(device),
        )
    return pools


def _cuts(fragments: list[Fragment], tokenizer: str, length: int, mutations: float, seed: int) -> FrameTokens:
    cuts = list(random_cuts(fragments, length, _AT_ONCE, mutations, np.random.default_rng(seed)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        path.write_text(tokenizer, encoding="utf-8")
        return frame_tokens(cuts, DnaTokenizer(path), length)


def _joined(tables: Sequence[npt.NDArray[np.int16]]) -> npt.NDArray[np.int16]:
    """Concatenate tables of different widths, padded with -1."""
    width = max(table.shape[1] for table in tables)
    return np.concatenate(
        [np.pad(table, ((0, 0), (0, width - table.shape[1])), constant_values=-1) for table in tables]
    )

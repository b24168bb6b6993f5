"""The classifier: Linear, BatchNorm1d with running statistics, ReLU, Linear, softmax, all in FP32."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from virnucpro_backend.encoders.float32 import Float32Module

HEAD_TENSORS = (
    "hidden_layer.weight",
    "hidden_layer.bias",
    "bn1.weight",
    "bn1.bias",
    "bn1.running_mean",
    "bn1.running_var",
    "output_layer.weight",
    "output_layer.bias",
)
BATCH_NORM_EPS = 1e-5

ROWS = 256
"""The fixed number of rows of every matrix product, because a library's algorithm, and so the rounding,
depends on it. Otherwise a part that was cut in two would score differently in the last digits."""


class Head(Float32Module):
    """The published head: Linear(3328, 512) - BatchNorm1d - ReLU - Linear(512, 2) - softmax. Any size."""

    def __init__(self, state: Mapping[str, Tensor]) -> None:
        """`state` holds HEAD_TENSORS; their shapes are the sizes. Raises ValueError if they do not fit."""
        super().__init__()
        missing = [name for name in HEAD_TENSORS if name not in state]
        if missing:
            raise ValueError(f"the classifier lacks {', '.join(missing)}")
        hidden, inputs = state["hidden_layer.weight"].shape
        if state["output_layer.weight"].shape != (2, hidden):
            raise ValueError("the classifier must have two outputs, others and virus")
        self.inputs = int(inputs)
        self.hidden_layer = nn.Linear(inputs, hidden)
        self.bn1 = nn.BatchNorm1d(hidden, eps=BATCH_NORM_EPS)
        self.output_layer = nn.Linear(hidden, 2)
        with torch.no_grad():
            for name in HEAD_TENSORS:
                self.get_parameter_or_buffer(name).copy_(state[name])
        self.eval()
        self.requires_grad_(False)

    def get_parameter_or_buffer(self, name: str) -> Tensor:
        """Look up a tensor of HEAD_TENSORS. Raises AttributeError for any other name."""
        module, _, field = name.rpartition(".")
        tensor: Tensor = getattr(self.get_submodule(module), field)
        return tensor

    @torch.inference_mode()
    def score(self, dnabert_s: Tensor, esm2: Tensor) -> tuple[Tensor, Tensor]:
        """Map embeddings FP32 [n, 768] and [n, 2560] to score1 = P(others), score2 = P(virus), FP32 [n].

        All products have ROWS rows, so that a frame's score has the same bits whatever it is scored with.
        """
        blocks = [
            self._score_block(torch.cat((a, b), dim=1).float())
            for a, b in zip(torch.split(dnabert_s, ROWS), torch.split(esm2, ROWS), strict=True)
        ]
        score1, score2 = torch.cat(blocks).unbind(1)
        return score1, score2

    def _score_block(self, x: Tensor) -> Tensor:
        n = len(x)
        x = F.pad(x, (0, 0, 0, ROWS - n))
        logits = self.output_layer(torch.relu(self.bn1(self.hidden_layer(x))))[:n]
        scores: Tensor = logits.softmax(dim=1)
        return scores

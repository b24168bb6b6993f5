"""Where the weights come from: the user's model folder, or random numbers at the published shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from virnucpro_backend.devices.kinds import Precision
from virnucpro_backend.encoders.head import HEAD_TENSORS, Head
from virnucpro_backend.encoders.precision import forbid_hidden_rounding
from virnucpro_backend.encoders.tokens import DnaTokenizer
from virnucpro_backend.fidelity.random_model import NOTICE, TITLE, RandomWeights
from virnucpro_backend.weights.model_folder import LoadedModel, load_model
from virnucpro_backend.weights.model_json import read_model_json

Embeddings = npt.NDArray[np.float32]

LOGIT_SPREAD = 3.0
"""Standard deviation that a random head gives the difference of its two outputs, as trained ones have."""


class WeightSource(Protocol):
    """The same weights in any precision."""

    title: str
    notice: str | None
    chunk_lengths: Sequence[int]
    settles_it: bool
    """Whether these are weights from which one may conclude which precision to use."""

    def load(self, precision: Precision) -> LoadedModel:
        """The model on the device."""

    def head_for(self, model: LoadedModel, dnabert_s: Embeddings, esm2: Embeddings) -> Head:
        """The classifier, given what this model, in FP32, makes of all frames."""


@dataclass
class FolderSource:
    """A model folder. Raises WeightsError if there is none."""

    folder: Path
    device: torch.device
    title: str = field(init=False)
    notice: str | None = field(init=False)
    chunk_lengths: Sequence[int] = field(init=False)
    settles_it: bool = field(init=False)

    def __post_init__(self) -> None:
        model = read_model_json(self.folder)
        self.title, self.notice, self.chunk_lengths = model.title, model.notice, (model.chunk_length,)
        self.settles_it = model.notice is None  # a notice says that a model has no biological meaning

    def load(self, precision: Precision) -> LoadedModel:
        """See `WeightSource`. Raises WeightsError as `load_model` does."""
        return load_model(self.folder, self.device, precision, mapped=self.device.type == "cpu")

    def head_for(self, model: LoadedModel, dnabert_s: Embeddings, esm2: Embeddings) -> Head:
        """The folder's own classifier, whatever the embeddings."""
        return model.head


@dataclass
class RandomSource:
    """Random weights, and a random head that is scaled to the embeddings so that its scores are spread."""

    weights: RandomWeights
    tokenizer: Path
    chunk_lengths: Sequence[int] = (300, 500)  # those of the published classifiers
    title: str = TITLE
    notice: str | None = NOTICE
    settles_it: bool = False

    def load(self, precision: Precision) -> LoadedModel:
        """See `WeightSource`; made from the seed each time."""
        forbid_hidden_rounding()
        esm2, dnabert_s = self.weights.encoders(precision)
        return LoadedModel(
            name="random",
            title=self.title,
            notice=self.notice,
            chunk_length=self.chunk_lengths[-1],
            model_hash="0" * 64,
            norm_bands=None,
            device=self.weights.device,
            precision=precision,
            esm2=esm2,
            dnabert_s=dnabert_s,
            tokenizer=DnaTokenizer(self.tokenizer),
            head=Head(self.weights.head()).to(self.weights.device),
        )

    def head_for(self, model: LoadedModel, dnabert_s: Embeddings, esm2: Embeddings) -> Head:
        """The random classifier, scaled by `scaled_head`."""
        return scaled_head(model.head, dnabert_s, esm2).to(model.device)


def scaled_head(head: Head, dnabert_s: Embeddings, esm2: Embeddings) -> Head:
    """The head with statistics of these embeddings, half of which it then calls virus.

    BatchNorm's running mean and variance become those of the frames, as training would have made them; the
    output layer is scaled to a spread of LOGIT_SPREAD about zero.
    """
    state = {name: head.get_parameter_or_buffer(name).detach().cpu().clone() for name in HEAD_TENSORS}
    x = torch.from_numpy(np.concatenate((dnabert_s, esm2), axis=1))
    hidden = x @ state["hidden_layer.weight"].T + state["hidden_layer.bias"]
    state["bn1.running_mean"], state["bn1.running_var"] = (
        hidden.mean(dim=0),
        hidden.var(dim=0).clamp(min=1e-8),
    )
    after = ((hidden - state["bn1.running_mean"]) / state["bn1.running_var"].sqrt()).relu()
    logits = after @ state["output_layer.weight"].T
    difference = logits[:, 1] - logits[:, 0]
    scale = LOGIT_SPREAD / difference.std()
    state["output_layer.weight"] *= scale
    middle = difference.median() * scale / 2
    state["output_layer.bias"] = torch.stack((middle, -middle))
    return Head(state)


def with_head(model: LoadedModel, head: Head) -> LoadedModel:
    """The model with another classifier."""
    return replace(model, head=head)

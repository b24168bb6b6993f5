"""Random weights with the published names, large enough that every operation affects the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.dnabert_s import DnabertSConfig
from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config
from virnucpro_backend.weights.formats.checkpoints import Checkpoint
from virnucpro_backend.weights.formats.names import esm2_state
from virnucpro_backend.weights.model_folder import fill

if TYPE_CHECKING:
    from transformers import EsmForMaskedLM

CPU = torch.device("cpu")


class MLPClassifier(nn.Module):
    """The published classifier; reading a pickled one must not need this code."""

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden_layer = nn.Linear(inputs, hidden)
        self.bn1 = nn.BatchNorm1d(hidden)
        self.relu = nn.ReLU()
        self.output_layer = nn.Linear(hidden, 2)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.output_layer(self.relu(self.bn1(self.hidden_layer(x))))
        return logits


def random_head(inputs: int, hidden: int = 16) -> MLPClassifier:
    torch.manual_seed(3)
    head = MLPClassifier(inputs, hidden)
    head.bn1.running_mean.normal_()
    head.bn1.running_var.uniform_(0.5, 2)
    return head.eval()


def randomize(module: nn.Module, seed: int) -> None:
    """Matrices with unit gain, LayerNorms around 1, biases around 0.1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() == 2:
                embedding = "embedding" in name
                parameter.copy_(noise if embedding else noise * parameter.shape[1] ** -0.5)
            else:
                parameter.copy_((1 if name.endswith("weight") else 0) + 0.1 * noise)


def hugging_face_esm2(config: Esm2Config, seed: int) -> EsmForMaskedLM:
    from transformers import EsmConfig, EsmForMaskedLM

    model = EsmForMaskedLM(
        EsmConfig(
            vocab_size=33,
            mask_token_id=32,
            pad_token_id=1,
            hidden_size=config.width,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            intermediate_size=config.feed_forward,
            position_embedding_type="rotary",
            token_dropout=True,
            emb_layer_norm_before=False,
            layer_norm_eps=1e-5,
            attn_implementation="eager",
        )
    )
    randomize(model, seed)
    return model.eval()


def our_esm2(theirs: EsmForMaskedLM, config: Esm2Config, dtype: torch.dtype = torch.float32) -> Esm2:
    ours = Esm2(config, dtype)
    fill(ours, esm2_state(Checkpoint("random", theirs.state_dict(), {}), config), CPU, "random")
    return ours


def dnabert_s_tensors(config: DnabertSConfig, seed: int) -> dict[str, Tensor]:
    """Make a state dict with DNABERT-S's published names, including the pooler."""
    generator = torch.Generator().manual_seed(seed)
    width = config.width

    def normal(*shape: int, scale: float = 1.0) -> Tensor:
        return scale * torch.randn(shape, generator=generator)

    def linear(name: str, outputs: int, inputs: int) -> dict[str, Tensor]:
        return {
            f"{name}.weight": normal(outputs, inputs, scale=inputs**-0.5),
            f"{name}.bias": normal(outputs, scale=0.1),
        }

    def norm(name: str) -> dict[str, Tensor]:
        return {f"{name}.weight": 1 + normal(width, scale=0.1), f"{name}.bias": normal(width, scale=0.1)}

    tensors = {
        "embeddings.word_embeddings.weight": normal(config.vocabulary, width),
        "embeddings.token_type_embeddings.weight": normal(2, width),
        **norm("embeddings.LayerNorm"),
        **linear("pooler.dense", width, width),
    }
    for layer in range(config.layers):
        base = f"encoder.layer.{layer}."
        tensors |= linear(f"{base}attention.self.Wqkv", 3 * width, width)
        tensors |= linear(f"{base}attention.output.dense", width, width)
        tensors |= norm(f"{base}attention.output.LayerNorm")
        gated = linear(f"{base}mlp.gated_layers", 2 * config.feed_forward, width)
        tensors |= {name: tensor for name, tensor in gated.items() if name.endswith("weight")}
        tensors |= linear(f"{base}mlp.wo", width, config.feed_forward)
        tensors |= norm(f"{base}mlp.layernorm")
    return tensors


def random_sequences(lengths: list[int], vocabulary: range, ends: tuple[int, int], seed: int) -> list[Tensor]:
    """Make token sequences of these total lengths, int32, with `ends` as first and last token."""
    generator = torch.Generator().manual_seed(seed)
    sequences = []
    for length in lengths:
        inner = torch.randint(vocabulary.start, vocabulary.stop, (length - 2,), generator=generator)
        sequences.append(torch.cat((torch.tensor([ends[0]]), inner, torch.tensor([ends[1]]))).int())
    return sequences

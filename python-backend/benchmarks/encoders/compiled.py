"""ESM-2 with layers compiled by torch.compile, for comparison; the program itself does not use it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters

from benchmarks.encoders.workloads import FIRST_LETTER, LETTERS
from virnucpro_backend.encoders.esm2 import Esm2, Layers, ResidentLayers
from virnucpro_backend.encoders.layout import SequenceLayout

SEQUENCES = 96


class CompiledLayers(nn.Module):
    """The layers of an ESM-2, all called through one function that torch.compile made."""

    streamed = False

    def __init__(self, layers: ResidentLayers, mode: str) -> None:
        super().__init__()
        self.plain = layers
        # The layers differ only in their weights.
        self._compiled: Callable[..., Any] = torch.compile(type(layers[0]).forward, dynamic=True, mode=mode)

    @property
    def dtype(self) -> torch.dtype:
        """The precision of the matrix products."""
        return self.plain.dtype

    def __len__(self) -> int:
        return len(self.plain)

    def blocks(self) -> Iterator[Any]:
        """Yield what takes a batch through each layer."""
        # From here on CUDA graphs may overwrite what they returned for the last batch.
        torch.compiler.cudagraph_mark_step_begin()  # type: ignore[no-untyped-call]
        for layer in self.plain:
            yield lambda *arguments, layer=layer: self._compiled(layer, *arguments)


def compile_layers(model: Esm2, mode: str) -> str:
    """Compile an encoder without fused kernels, in place; return a description of the effect.

    It gives seconds, graphs, how often CUDA graphs could not be used, the distance to the same model in eager
    PyTorch, and whether an embedding depends on the other sequences of its batch.
    """
    device = model.embedding.weight.device
    plain = cast(ResidentLayers, model.layers)
    lengths = torch.randint(32, 170, (SEQUENCES,), generator=torch.Generator().manual_seed(5)).tolist()
    tokens = [torch.randint(FIRST_LETTER, FIRST_LETTER + LETTERS, (n,), device=device) for n in lengths]
    eager = _embedded(model, tokens, SEQUENCES)
    eager_alone = _embedded(model, tokens, SEQUENCES // 3)

    begun = time.perf_counter()
    counters.clear()
    model.layers = cast(Layers, CompiledLayers(plain, mode))
    compiled = _embedded(model, tokens, SEQUENCES)
    compiled_alone = _embedded(model, tokens, SEQUENCES // 3)
    torch.cuda.synchronize(device)
    seconds = time.perf_counter() - begun
    return (
        f"{seconds:.0f} s to compile, {counters['stats']['unique_graphs']} graphs, "
        f"{counters['inductor']['cudagraph_skips']} without a CUDA graph, "
        f"{float((compiled - eager).norm() / eager.norm()):.1e} from eager, "
        f"same bits in other batches: {torch.equal(compiled, compiled_alone)} "
        f"(eager: {torch.equal(eager, eager_alone)})"
    )


def _embedded(model: Esm2, tokens: Sequence[Tensor], sequences_per_batch: int) -> Tensor:
    """Return embeddings FP32 [n, d], computed in batches of this many sequences."""
    vectors = []
    for begin in range(0, len(tokens), sequences_per_batch):
        batch = tokens[begin : begin + sequences_per_batch]
        layout = SequenceLayout.from_lengths(
            [len(sequence) for sequence in batch], model.embedding.weight.device
        )
        vectors.append(model.embed(torch.cat(list(batch)).int(), layout))
    return torch.cat(vectors)

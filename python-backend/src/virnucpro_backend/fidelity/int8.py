"""INT8 products, tried for the sake of an answer: ESM-2's linear layers, each row with a scale of its own.

Nothing in the program runs this way. `products` times the matrix products alone beside those of BF16 and FP8,
and `to_int8` makes a model whose embeddings can be compared.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from virnucpro_backend.encoders.esm2 import Esm2, Esm2Config, Esm2Layer
from virnucpro_backend.encoders.fp8 import quantized as fp8_quantized

INT8_LARGEST = 127
LINEAR_LAYERS = ("qkv", "attention_output", "fc1", "fc2")
REPEATS = 15


def quantized(x: Tensor) -> tuple[Tensor, Tensor]:
    """x [rows, width] as int8 [rows, width] and FP32 scale [rows, 1]: a row's largest number becomes 127."""
    x = x.float()
    scale = x.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / INT8_LARGEST
    return (x / scale).round().to(torch.int8), scale


class Int8Linear(nn.Module):
    """A linear layer of INT8 products. `rows` int8 [outputs, inputs], `scale` FP32 [1, outputs].

    `weight` is empty: its dtype tells the encoder in which precision activations come and go.
    """

    weight: Tensor
    rows: Tensor
    scale: Tensor
    bias: Tensor

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        rows, scale = quantized(linear.weight)
        self.register_buffer("weight", linear.weight.new_empty(0))
        self.register_buffer("rows", rows)
        self.register_buffer("scale", scale.t().contiguous())
        self.register_buffer("bias", linear.bias.float())

    def forward(self, x: Tensor) -> Tensor:
        """x [T, inputs] to [T, outputs] in the same precision; T more than 16."""
        values, scale = quantized(x)
        sums = torch._int_mm(values, self.rows.t())
        return torch.addcmul(self.bias, sums.float() * scale, self.scale).to(x.dtype)


def to_int8(model: Esm2) -> None:
    """Replace the linear layers of a half-precision ESM-2, in place."""
    for layer in model.layers:
        assert isinstance(layer, Esm2Layer)
        for name in LINEAR_LAYERS:
            setattr(layer, name, Int8Linear(getattr(layer, name)))


@dataclass(frozen=True)
class Products:
    """Rates of a layer's four products in 10^12 operations per second; None where the device has none."""

    tokens: int
    bf16: float
    fp8: float | None
    int8: float | None
    int8_with_scaling: float | None
    """With activations quantized and sums scaled back to BF16 by plain PyTorch."""


@torch.inference_mode()
def products(config: Esm2Config, tokens: int, device: torch.device) -> Products:
    """Time the products of one layer of these sizes on a GPU, on random numbers."""
    width, feed_forward = config.width, config.feed_forward
    shapes = ((width, 3 * width), (width, width), (width, feed_forward), (feed_forward, width))
    operations = sum(2 * tokens * inputs * outputs for inputs, outputs in shapes)
    linears = [nn.Linear(*shape, device=device, dtype=torch.bfloat16) for shape in shapes]
    inputs = [torch.randn(tokens, shape[0], device=device, dtype=torch.bfloat16) for shape in shapes]

    def rate(launches: list[Callable[[], object]]) -> float | None:
        try:
            seconds = sum(_median_seconds(launch) for launch in launches)
        except (RuntimeError, NotImplementedError):
            return None
        return float(operations / seconds / 1e12)

    int8_linears = [Int8Linear(linear) for linear in linears]
    int8_inputs = [quantized(x)[0] for x in inputs]
    bf16 = rate([lambda a=x, b=y: a @ b.weight.t() for x, y in zip(inputs, linears, strict=True)])  # type: ignore[misc]
    assert bf16 is not None
    return Products(
        tokens,
        bf16,
        rate([_fp8_product(x, linear) for x, linear in zip(inputs, linears, strict=True)]),
        rate(
            [
                lambda a=x, b=y.rows: torch._int_mm(a, b.t())  # type: ignore[misc]
                for x, y in zip(int8_inputs, int8_linears, strict=True)
            ]
        ),
        rate([lambda a=x, b=y: b(a) for x, y in zip(inputs, int8_linears, strict=True)]),  # type: ignore[misc]
    )


def _fp8_product(x: Tensor, linear: nn.Linear) -> Callable[[], object]:
    rows, weight = fp8_quantized(x), fp8_quantized(linear.weight)
    scale = weight.scale.t().contiguous()
    return lambda: torch._scaled_mm(
        rows.values,
        weight.values.t(),
        scale_a=rows.scale,
        scale_b=scale,
        out_dtype=torch.bfloat16,
        use_fast_accum=True,
    )


def _median_seconds(launch: Callable[[], object]) -> float:
    times: list[float] = []
    for repeat in range(REPEATS + 5):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        begin.record()
        launch()
        end.record()
        end.synchronize()
        if repeat >= 5:
            times.append(begin.elapsed_time(end) / 1000)
    return statistics.median(times)

"""Linear layers for processors, with weights in the order in which oneDNN's products read them."""

from __future__ import annotations

import platform
from pathlib import Path

import torch
from torch import Tensor, nn


class PackedLinear(nn.Module):
    """A linear layer for a processor, whose weight oneDNN has arranged in the blocks that its products read.

    A plain `nn.Linear` has a BF16 weight arranged anew for every product. In FP32 it uses MKL, which is as
    fast on Intel's processors and slower on AMD's (docs/performance.md).
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.shape, self.bias = linear.weight.shape, linear.bias
        self.weight = torch.empty(0, dtype=linear.weight.dtype)

    def clear(self) -> None:
        """Free the memory of the weight."""
        self.weight = torch.empty(0, dtype=self.weight.dtype)

    def pack(self, weight: Tensor) -> None:
        """Pack a weight [outputs, inputs] in the products' precision, once `clear` has freed the last."""
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight)

    def forward(self, x: Tensor) -> Tensor:
        """Compute x W^T + b, [T, outputs], from x [T, inputs], both in the precision of the products."""
        out: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return out


def packing_is_faster(dtype: torch.dtype) -> bool:
    """Whether oneDNN's own products are faster than those of `nn.Linear` in this precision on this processor.

    The answer depends on the processor alone, never on a measurement, because the last digits depend on it.
    """
    has_onednn = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
    if not has_onednn or platform.machine() not in ("x86_64", "AMD64"):
        return False
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return dtype == torch.float32 and _made_by_amd()


def _made_by_amd() -> bool:
    try:
        processor = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        processor = platform.processor()
    return "AuthenticAMD" in processor


def pack_linears(layer: nn.Module) -> dict[str, PackedLinear]:
    """Replace the linear layers of a layer by packed ones, in place; return them by name."""
    packed = {
        name: PackedLinear(linear) for name, linear in layer.named_children() if isinstance(linear, nn.Linear)
    }
    for name, linear in packed.items():
        setattr(layer, name, linear)
    return packed

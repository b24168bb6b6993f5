# mypy: ignore-errors
"""Checks that the general kernels fit GPUs that nobody has here, by compiling them, which needs no GPU.

A process of its own, because the tests beside it have Triton interpret kernels where there is no GPU.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from virnucpro_backend.encoders.kernels import triton_attention, triton_gelu, triton_norm
from virnucpro_backend.encoders.kernels.attention_work import BLOCK

SHARED_BYTES = {80: 163 << 10, 86: 99 << 10, 89: 99 << 10, 120: 99 << 10}
"""What a block of threads may take of a multiprocessor's memory, by compute capability (CUDA's programming
guide): A100; RTX 30 and A10; RTX 40, L4 and L40; RTX 50."""
REGISTERS, THREADS = 65_536, 128
"""Of a multiprocessor, and of a block of each of these kernels."""

POINTERS = {"residual_ptr": "*fp32", "weight_ptr": "*fp32", "bias_ptr": "*fp32", "scale_ptr": "*fp32"}
POINTERS |= {"ranges_ptr": "*i32", "blocks_ptr": "*i32", "cos_ptr": "*fp32", "sin_ptr": "*fp32"}
POINTERS |= {"slopes_ptr": "*fp32", "scale_log2": "fp32", "eps": "fp32", "rows": "i32"}

ESM2 = {"HEADS": 40, "HEAD_DIM": 64, "ROTARY": True, "ALIBI": False, "BLOCK": BLOCK, "slopes_ptr": None}
DNABERT_S = {"HEADS": 12, "HEAD_DIM": 64, "ROTARY": False, "ALIBI": True, "BLOCK": BLOCK}
DNABERT_S |= {"cos_ptr": None, "sin_ptr": None}
NORM = {"HAS_DELTA": True, "STORE_SUM": True, "STORE_NORM": False, "QUANTIZE": False, "LARGEST": 448.0}
NORM |= {"scale_ptr": None}
KERNELS: dict[str, tuple[Any, dict[str, Any], int | None]] = {
    **{
        f"attention of {name}, {blocks * BLOCK} tokens": (
            triton_attention._attend_short,
            {**model, "BLOCKS": blocks},
            triton_attention.REGISTERS[blocks],
        )
        for name, model in (("ESM-2", ESM2), ("DNABERT-S", DNABERT_S))
        for blocks in (1, 2, 3)
    },
    "attention of ESM-2, any length": (triton_attention._attend_long, ESM2, None),
    "attention of DNABERT-S, any length": (triton_attention._attend_long, DNABERT_S, None),
    "GELU": (triton_gelu._gelu_inplace, {"WIDTH": 10240, "BLOCK": 2048}, None),
    "gated GELU": (triton_gelu._gated_gelu, {"HALF": 3072, "BLOCK": 1024}, None),
    "LayerNorm of ESM-2": (triton_norm._norm_row, {**NORM, "WIDTH": 2560, "HEAD": 2048, "TAIL": 512}, None),
    "LayerNorm of DNABERT-S": (triton_norm._norm_row, {**NORM, "WIDTH": 768, "HEAD": 512, "TAIL": 256}, None),
}


def compiled(name: str, capability: int) -> tuple[int, bytes]:
    """Bytes of shared memory, and the machine code, as the launches in the kernels' modules ask for it."""
    kernel, constants, registers = KERNELS[name]
    names = kernel.arg_names
    types = {each: POINTERS.get(each, "*bf16") for each in names if each not in constants}
    source = ASTSource(
        kernel,
        {each: types.get(each, "constexpr") for each in names},
        {(names.index(each),): value for each, value in constants.items()},
    )
    options = {"num_warps": 4, **({} if "attention" not in name else {"num_stages": 1})}
    options |= {} if registers is None else {"maxnreg": registers}
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    return made.metadata.shared, made.asm["cubin"]


def registers(code: bytes, folder: Path) -> int:
    """The registers that a thread takes."""
    file = folder / "kernel.cubin"
    file.write_bytes(code)
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    said = subprocess.check_output([tool, "--dump-resource-usage", file], text=True)
    found = re.search(r"REG:(\d+)", said)
    assert found, said
    return int(found[1])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in KERNELS:
            for capability, room in SHARED_BYTES.items():
                shared, code = compiled(name, capability)
                assert shared <= room, (name, capability, shared)
                taken = registers(code, Path(folder))
                assert taken * THREADS <= REGISTERS, (name, capability, taken)


if __name__ == "__main__":
    main()

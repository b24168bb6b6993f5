"""What this computer can compute on, and the devices that a process opens to do so.

- `probe`: which GPUs, processor and memory there are. A process of its own that imports no PyTorch and opens
  no device; so does everything that it uses: `nvml` (NVIDIA's driver), `amdgpu` (the kernel's files on AMD
  GPUs), `cuda_visibility` and `rocm_visibility` (which GPUs the user's environment variables leave visible),
  `torch_build` (whose GPUs the installed PyTorch can use) and `host` (processor and main memory).
- `monitor`: load, memory, temperature and power of the devices in use, once a second, from the same sources.
- `precisions`: which GPU has the arithmetic of which precision; the probe reports it for every GPU.
- `opening`: how a worker opens its one device with PyTorch. `allocator`: PyTorch's settings for a GPU's
  memory, made before PyTorch is imported.
"""

"""Finds the devices of this computer, and opens the one that a process computes on.

- `probe`: which GPUs, processor and memory there are. It runs as a process of its own that neither imports
  PyTorch nor opens a device. The same holds for the modules it uses: `nvml` (NVIDIA's driver), `visibility`
  (which GPUs CUDA_VISIBLE_DEVICES leaves visible) and `host` (processor and main memory).
- `monitor`: load, memory, temperature and power of the devices in use, once a second, from the same sources.
- `precisions`: which precisions each GPU supports; the probe reports it for every GPU.
- `opening`: opens a worker's one device with PyTorch. `allocator`: PyTorch's settings for GPU memory, made
  before PyTorch is imported.
"""

"""ESM-2 and DNABERT-S on PyTorch, with their tokens, batches, attention, pooling and the head."""

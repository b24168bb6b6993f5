"""ESM-2 and DNABERT-S on PyTorch, and what feeds them: tokens, batches, attention, pooling, the head."""

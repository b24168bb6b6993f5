"""The whole `predict`, timed."""

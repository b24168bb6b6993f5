"""Measures and plans how a model and its batches use a device's memory."""

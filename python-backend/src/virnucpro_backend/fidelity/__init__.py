"""Measures how far each precision of a model differs from FP32, on the same weights and real frames."""

"""What each precision of a model costs: measured against FP32, on the same weights and real frames."""

"""How far each precision is from FP32 on the same weights, on real reading frames, and which one to use."""

"""Measures how fast the encoders run on a GPU, with random weights of the published shapes."""

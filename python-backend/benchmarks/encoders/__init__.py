"""How fast the encoders run on a GPU: random weights of the published shapes, made on the device."""

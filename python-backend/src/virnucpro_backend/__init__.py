"""The Python side of VirNucPro Desktop: frames, embeddings and scores."""

__version__ = "0.1.0"

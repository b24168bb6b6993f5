"""Imports embeddings from folders of the original tool and of its fork into a run, after checks."""

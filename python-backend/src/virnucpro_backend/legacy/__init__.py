"""Folders of the original tool and of its fork: their embeddings, checked, for a run of this program."""

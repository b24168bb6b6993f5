"""Model folders: where weights come from, how they are checked, converted and loaded."""

"""From input files to parts: read, check, chunk, translate, write."""

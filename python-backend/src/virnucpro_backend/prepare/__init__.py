"""From input files to shards: read, check, chunk, translate, write."""

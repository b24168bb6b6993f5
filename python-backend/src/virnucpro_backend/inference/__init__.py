"""From shards of frames to scores on one device."""

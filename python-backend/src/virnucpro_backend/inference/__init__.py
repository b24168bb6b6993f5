"""From parts of frames to scores on one device."""

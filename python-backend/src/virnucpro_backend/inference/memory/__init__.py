"""What a model and its batches take of a device's memory: measured, remembered, and divided."""

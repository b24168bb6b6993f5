"""Prepares a run: reads and checks inputs, cuts chunks, translates frames and writes parts."""

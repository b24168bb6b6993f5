"""Assembles scanned blocks into records, and checks what they hold and what is wrong with them."""

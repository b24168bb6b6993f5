"""From scanned blocks to whole records: what they hold, and what is wrong with them."""

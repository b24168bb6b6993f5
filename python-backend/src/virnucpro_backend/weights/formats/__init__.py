"""Recognises, reads and converts files of weights in other formats, without running code in them."""

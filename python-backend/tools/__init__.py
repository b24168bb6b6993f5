"""Programs that make files of this repository; not part of the shipped program."""

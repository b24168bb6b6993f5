"""Programs that make files of this repository; they are not part of the shipped program."""

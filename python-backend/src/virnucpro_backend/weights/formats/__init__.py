"""Files of weights as others write them: read without running anything in them, recognised, converted."""

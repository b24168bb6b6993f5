"""Controls of a model: sequences with a known answer, scored as a run would score them."""
